"""The fastest variants of the stand-alone combine on an H200; printed by ``benchmarks/combine_standalone.py table``."""

MEASURED: dict[tuple[int, int], tuple[int, int, int, int, float]] = {
    (2, 32): (4, 1, 1, 0, 1.14),
    (4, 32): (4, 1, 1, 0, 1.18),
    (8, 32): (1, 4, 1, 0, 1.24),
    (16, 32): (1, 4, 1, 0, 1.32),
    (32, 32): (1, 8, 1, 0, 1.47),
    (64, 32): (1, 16, 1, 0, 1.72),
    (4, 256): (4, 1, 1, 0, 1.25),
    (8, 256): (1, 1, 1, 0, 1.42),
    (16, 256): (2, 4, 1, 0, 1.67),
    (2, 1024): (8, 1, 1, 0, 1.34),
    (4, 1024): (4, 1, 1, 0, 1.50),
    (8, 1024): (4, 2, 1, 0, 1.89),
    (2, 8192): (8, 1, 1, 0, 2.34),
    (4, 8192): (8, 1, 1, 0, 3.31),
    (8, 8192): (8, 1, 2, 0, 5.44),
    (16, 8192): (1, 4, 1, 0, 17.97),
    (8, 65536): (4, 4, 1, 0, 67.10),
}
"""(P, rows) of partials 128 columns wide in L2: rows of a CTA, groups of threads, 16-byte pieces of a thread, and the microseconds of a launch."""
