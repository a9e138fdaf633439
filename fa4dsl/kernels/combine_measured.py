"""Microseconds of the exchanges on an H200; printed by ``benchmarks/combine_on_chip.py table``, to be replaced by a run on another GPU."""

from fa4dsl.kernels.combine_config import Design

GPU = "an H200"

MEASURED: dict[tuple[int, int], dict[Design, tuple[int, float]]] = {
    (4, 2): {"pull_wide": (128, 1.77), "push": (128, 1.39), "push_bulk": (128, 1.67)},
    (4, 4): {"pull_wide": (128, 2.11), "push": (128, 1.53), "push_bulk": (128, 1.77)},
    (4, 8): {"pull_wide": (128, 2.37), "push": (128, 1.59), "push_bulk": (128, 1.84)},
    (4, 16): {"pull_wide": (128, 2.83), "push": (128, 1.71), "push_bulk": (128, 2.25)},
    (8, 2): {"pull_wide": (128, 1.91), "push": (128, 1.67), "push_bulk": (128, 1.82)},
    (8, 4): {"pull_wide": (128, 2.4), "push": (256, 1.69), "push_bulk": (128, 1.93)},
    (8, 8): {"pull_wide": (128, 2.5), "push": (128, 1.7), "push_bulk": (128, 1.91)},
    (8, 16): {"pull_wide": (128, 3.25), "push": (256, 1.99), "push_bulk": (128, 2.37)},
    (16, 2): {"pull_wide": (256, 2.13), "push": (128, 1.87), "push_bulk": (128, 2.1)},
    (16, 4): {"pull_wide": (128, 2.52), "push": (128, 1.91), "push_bulk": (128, 2.22)},
    (16, 8): {"pull_wide": (128, 2.84), "push": (128, 1.96), "push_bulk": (128, 2.4)},
    (16, 16): {"pull_wide": (128, 3.43), "push": (128, 2.28), "push_bulk": (128, 2.63)},
    (64, 2): {"pull_wide": (512, 3.8), "push": (256, 3.48), "push_bulk": (256, 4.03)},
    (64, 4): {"pull_wide": (256, 4.89), "push": (512, 3.98), "push_bulk": (256, 4.92)},
    (64, 8): {"pull_wide": (256, 4.89), "push": (256, 3.63), "push_bulk": (256, 4.45)},
    (64, 16): {"pull_wide": (128, 5.74), "push": (128, 4.86), "push_bulk": (128, 5.62)},
    (128, 2): {"pull_wide": (512, 5.04), "push": (256, 5.25), "push_bulk": (256, 6.43)},
    (128, 4): {"pull_wide": (256, 7.39), "push": (512, 7.54), "push_bulk": (512, 10.66)},
    (128, 8): {"pull_wide": (256, 7.85), "push": (512, 6.16), "push_bulk": (256, 10.91)},
    (128, 16): {"pull_wide": (256, 9.24), "push": (512, 8.1), "push_bulk": (128, 11.64)},
}
"""(rows, P) of a tile 128 columns wide, 128 CTAs in all: for each design its best number of threads, and the microseconds of a launch."""
