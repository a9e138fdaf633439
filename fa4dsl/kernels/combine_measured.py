"""Microseconds of the exchanges on an H200; printed by ``benchmarks/combine_on_chip.py table``, to be replaced by a run on another GPU."""

from fa4dsl.kernels.combine_config import Design

GPU = "an H200"

MEASURED: dict[tuple[int, int], dict[Design, tuple[int, int, float]]] = {
    (4, 2): {"pull_wide": (64, 1, 1.43), "push": (64, 1, 1.25), "push_bulk": (64, 1, 1.61)},
    (4, 4): {"pull_wide": (128, 1, 1.77), "push": (128, 1, 1.43), "push_bulk": (128, 1, 1.68)},
    (4, 8): {"pull_wide": (128, 1, 2.01), "push": (128, 1, 1.48), "push_bulk": (128, 1, 1.82)},
    (4, 16): {"pull_wide": (128, 1, 2.07), "push": (64, 1, 1.63), "push_bulk": (128, 1, 2.06)},
    (8, 2): {"pull_wide": (128, 1, 1.7), "push": (128, 1, 1.46), "push_bulk": (128, 1, 1.69)},
    (8, 4): {"pull_wide": (64, 1, 1.9), "push": (128, 1, 1.54), "push_bulk": (64, 1, 1.81)},
    (8, 8): {"pull_wide": (128, 1, 2.12), "push": (128, 1, 1.53), "push_bulk": (128, 1, 1.86)},
    (8, 16): {"pull_wide": (256, 1, 2.23), "push": (64, 1, 1.85), "push_bulk": (128, 1, 2.21)},
    (16, 2): {"pull_wide": (256, 1, 1.86), "push": (256, 1, 1.62), "push_bulk": (128, 1, 1.81)},
    (16, 4): {"pull_wide": (128, 1, 2.26), "push": (128, 1, 1.75), "push_bulk": (128, 1, 2.1)},
    (16, 8): {"pull_wide": (64, 1, 2.44), "push": (256, 1, 1.84), "push_bulk": (64, 1, 2.25)},
    (16, 16): {"pull_wide": (128, 1, 2.73), "push": (256, 1, 2.09), "push_bulk": (256, 1, 2.54)},
    (64, 2): {"pull_wide": (256, 1, 3.25), "push": (128, 4, 2.25), "push_bulk": (256, 1, 2.83), "pull": (64, 1, 6.04)},
    (64, 4): {"pull_wide": (512, 1, 4.47), "push": (128, 4, 2.54), "push_bulk": (256, 1, 3.87), "pull": (64, 1, 5.7)},
    (64, 8): {"pull_wide": (512, 1, 4.78), "push": (256, 4, 2.79), "push_bulk": (256, 1, 4.12), "pull": (64, 1, 6.78)},
    (64, 16): {"pull_wide": (128, 1, 5.11), "push": (256, 4, 2.97), "push_bulk": (128, 1, 4.99), "pull": (64, 1, 8.87)},
    (128, 2): {"pull_wide": (512, 1, 4.61), "push": (128, 4, 2.99), "push_bulk": (256, 1, 4.15), "pull": (128, 1, 7.62)},
    (128, 4): {"pull_wide": (256, 1, 7.04), "push": (128, 8, 3.57), "push_bulk": (256, 1, 7.93), "pull": (128, 1, 8.46)},
    (128, 8): {"pull_wide": (512, 1, 7.46), "push": (256, 8, 3.98), "push_bulk": (256, 1, 8.39), "pull": (128, 1, 10.65)},
    (128, 16): {"pull_wide": (256, 1, 8.71), "push": (256, 8, 4.62), "push_bulk": (256, 1, 9.54), "pull": (128, 1, 14.18)},
}
"""(rows, P) of a tile 128 columns wide, 128 CTAs in all: for each design its best number of threads, the pieces into which
the tile's rows are cut (among clusters beyond the 128 CTAs), and the microseconds of a launch."""
