"""The fastest variants of the stand-alone combine on an H200; printed by ``benchmarks/combine_standalone.py table``."""

MEASURED: dict[tuple[int, int], tuple[int, int, int, float]] = {
    (2, 32): (8, 1, 1, 1.17),
    (4, 32): (2, 2, 1, 1.25),
    (8, 32): (1, 4, 1, 1.29),
    (16, 32): (1, 4, 1, 1.36),
    (32, 32): (1, 8, 1, 1.55),
    (4, 256): (1, 1, 1, 1.34),
    (8, 256): (1, 1, 1, 1.47),
    (16, 256): (1, 4, 1, 1.70),
    (2, 1024): (4, 1, 1, 1.38),
    (4, 1024): (4, 2, 1, 1.64),
    (8, 1024): (4, 1, 1, 1.86),
    (2, 8192): (8, 1, 1, 2.37),
    (4, 8192): (8, 1, 2, 3.37),
    (8, 8192): (8, 1, 2, 5.31),
    (16, 8192): (1, 8, 1, 18.09),
    (8, 65536): (8, 1, 1, 67.91),
}
"""(P, rows) of partials 128 columns wide in L2: rows of a CTA, groups of threads, 16-byte pieces of a thread, and the microseconds of a launch."""
