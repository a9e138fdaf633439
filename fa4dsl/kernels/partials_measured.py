"""The fastest variants of the stand-alone combine on an H200; printed by ``benchmarks/combine_standalone.py table``."""

MEASURED: dict[tuple[int, int], tuple[int, int, int, int, float]] = {
    (2, 32): (8, 1, 1, 0, 1.14),
    (4, 32): (2, 1, 1, 0, 1.19),
    (8, 32): (1, 1, 1, 0, 1.25),
    (16, 32): (1, 4, 1, 0, 1.31),
    (32, 32): (1, 8, 1, 0, 1.51),
    (64, 32): (1, 16, 2, 0, 1.76),
    (4, 256): (4, 1, 1, 0, 1.26),
    (8, 256): (4, 2, 1, 0, 1.46),
    (16, 256): (2, 4, 1, 0, 1.70),
    (2, 1024): (8, 1, 1, 0, 1.35),
    (4, 1024): (4, 1, 1, 0, 1.50),
    (8, 1024): (4, 2, 1, 0, 1.91),
    (2, 8192): (8, 1, 1, 0, 2.31),
    (4, 8192): (8, 1, 1, 0, 3.29),
    (8, 8192): (8, 1, 2, 0, 5.44),
    (16, 8192): (1, 8, 1, 1, 16.50),
    (8, 65536): (1, 1, 1, 1, 61.35),
}
"""(P, rows) of partials 128 columns wide in L2: rows of a CTA, groups of threads, 16-byte pieces of a thread, whether
it reads and writes past the caches, and the microseconds of a launch."""
