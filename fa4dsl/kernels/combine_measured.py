"""Microseconds of the exchanges on an H200; printed by ``benchmarks/combine_on_chip.py table``, to be replaced by a run on another GPU."""

from fa4dsl.kernels.combine_config import Design

GPU = "an H200"

MEASURED: dict[tuple[int, int], dict[Design, tuple[int, float]]] = {
    (4, 2): {"pull_wide": (64, 1.46), "push": (64, 1.28), "push_bulk": (64, 1.64)},
    (4, 4): {"pull_wide": (128, 1.79), "push": (128, 1.45), "push_bulk": (128, 1.7)},
    (4, 8): {"pull_wide": (128, 2.1), "push": (128, 1.51), "push_bulk": (128, 1.87)},
    (4, 16): {"pull_wide": (128, 2.11), "push": (128, 1.68), "push_bulk": (128, 2.17)},
    (8, 2): {"pull_wide": (128, 1.71), "push": (128, 1.47), "push_bulk": (128, 1.7)},
    (8, 4): {"pull_wide": (64, 1.89), "push": (128, 1.53), "push_bulk": (64, 1.83)},
    (8, 8): {"pull_wide": (128, 2.13), "push": (128, 1.54), "push_bulk": (128, 1.89)},
    (8, 16): {"pull_wide": (256, 2.15), "push": (64, 1.76), "push_bulk": (128, 2.22)},
    (16, 2): {"pull_wide": (256, 1.91), "push": (256, 1.62), "push_bulk": (128, 1.86)},
    (16, 4): {"pull_wide": (128, 2.23), "push": (128, 1.75), "push_bulk": (128, 2.08)},
    (16, 8): {"pull_wide": (64, 2.43), "push": (128, 1.89), "push_bulk": (64, 2.24)},
    (16, 16): {"pull_wide": (128, 2.73), "push": (256, 2.07), "push_bulk": (128, 2.52)},
    (64, 2): {"pull_wide": (256, 3.28), "push": (128, 2.75), "push_bulk": (256, 2.86), "pull": (64, 5.76)},
    (64, 4): {"pull_wide": (512, 4.38), "push": (256, 3.24), "push_bulk": (256, 3.87), "pull": (64, 5.26)},
    (64, 8): {"pull_wide": (256, 4.74), "push": (256, 3.36), "push_bulk": (256, 4.09), "pull": (64, 5.48)},
    (64, 16): {"pull_wide": (128, 5.08), "push": (256, 4.32), "push_bulk": (128, 5.02), "pull": (64, 6.28)},
    (128, 2): {"pull_wide": (512, 4.65), "push": (256, 3.97), "push_bulk": (256, 4.2), "pull": (128, 7.14)},
    (128, 4): {"pull_wide": (256, 7.03), "push": (256, 5.37), "push_bulk": (256, 7.95), "pull": (128, 7.32)},
    (128, 8): {"pull_wide": (512, 7.39), "push": (128, 5.72), "push_bulk": (256, 8.36), "pull": (128, 7.82)},
    (128, 16): {"pull_wide": (256, 8.61), "push": (128, 7.3), "push_bulk": (256, 9.48), "pull": (128, 9.44)},
}
"""(rows, P) of a tile 128 columns wide, 128 CTAs in all: for each design its best number of threads, and the microseconds of a launch."""
