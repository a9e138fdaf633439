"""Microseconds of the exchanges on an H200; printed by ``benchmarks/combine_on_chip.py table``, to be replaced by a run on another GPU."""

from fa4dsl.kernels.combine_config import Design

GPU = "an H200"

MEASURED: dict[tuple[int, int], dict[Design, tuple[int, int, float]]] = {
    (4, 2): {"pull_wide": (64, 1, 1.47), "push": (64, 1, 1.27), "push_bulk": (64, 1, 1.63)},
    (4, 4): {"pull_wide": (128, 1, 1.81), "push": (128, 1, 1.46), "push_bulk": (128, 1, 1.72)},
    (4, 8): {"pull_wide": (128, 1, 2.08), "push": (128, 1, 1.52), "push_bulk": (128, 1, 1.85)},
    (4, 16): {"pull_wide": (128, 1, 2.09), "push": (128, 1, 1.67), "push_bulk": (128, 1, 2.07)},
    (8, 2): {"pull_wide": (128, 1, 1.68), "push": (128, 1, 1.48), "push_bulk": (128, 1, 1.7)},
    (8, 4): {"pull_wide": (64, 1, 1.89), "push": (128, 1, 1.54), "push_bulk": (64, 1, 1.81)},
    (8, 8): {"pull_wide": (128, 1, 2.17), "push": (128, 1, 1.65), "push_bulk": (128, 1, 1.99)},
    (8, 16): {"pull_wide": (128, 1, 2.14), "push": (64, 1, 1.75), "push_bulk": (128, 1, 2.14)},
    (16, 2): {"pull_wide": (256, 1, 1.92), "push": (256, 1, 1.64), "push_bulk": (128, 1, 1.85)},
    (16, 4): {"pull_wide": (128, 1, 2.27), "push": (128, 1, 1.77), "push_bulk": (128, 1, 2.12)},
    (16, 8): {"pull_wide": (64, 1, 2.46), "push": (256, 1, 1.89), "push_bulk": (64, 1, 2.28)},
    (16, 16): {"pull_wide": (128, 1, 2.76), "push": (256, 1, 2.1), "push_bulk": (256, 1, 2.54)},
    (64, 2): {"pull_wide": (256, 1, 3.27), "push": (128, 4, 2.26), "push_bulk": (512, 1, 2.89), "pull": (64, 1, 6.17)},
    (64, 4): {"pull_wide": (512, 1, 4.45), "push": (128, 4, 2.56), "push_bulk": (256, 1, 3.89), "pull": (64, 1, 5.57)},
    (64, 8): {"pull_wide": (512, 1, 4.75), "push": (128, 4, 2.77), "push_bulk": (128, 1, 4.11), "pull": (64, 1, 6.76)},
    (64, 16): {"pull_wide": (128, 1, 5.16), "push": (256, 4, 2.96), "push_bulk": (512, 1, 5.02), "pull": (64, 1, 8.86)},
    (128, 2): {"pull_wide": (512, 1, 4.64), "push": (128, 4, 3.0), "push_bulk": (256, 1, 4.19), "pull": (128, 1, 7.58)},
    (128, 4): {"pull_wide": (256, 1, 7.01), "push": (128, 4, 3.56), "push_bulk": (256, 1, 7.99), "pull": (128, 1, 8.55)},
    (128, 8): {"pull_wide": (512, 1, 7.61), "push": (128, 8, 4.0), "push_bulk": (256, 1, 8.45), "pull": (128, 1, 10.61)},
    (128, 16): {"pull_wide": (256, 1, 8.72), "push": (256, 8, 4.73), "push_bulk": (256, 1, 9.58), "pull": (128, 1, 14.28)},
}
"""(rows, P) of a tile 128 columns wide, 128 CTAs in all: for each design its best number of threads, the pieces into which
the tile's rows are cut (among clusters beyond the 128 CTAs), and the microseconds of a launch."""
