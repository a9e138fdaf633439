"""A ring of shared-memory slots between a role that loads by TMA and a role that reads.

The ring computes arrival counts, bytes, slots and phases; the roles only say when they fill and when they use a slot.
"""

import sys

import numpy as np

from fa4dsl import Pointer, TensorMap, block, elect, f32, i32, kernel, pipeline, role, thread

ROWS, COLUMNS = 16, 64
CONSUMERS = 2
"""Warps that read; each thread adds up one column."""


@kernel
def column_sums(matrix: TensorMap, sums: Pointer[f32], tiles: i32) -> None:
    ring = pipeline(stages=3, slot={"tile": (f32, (ROWS, COLUMNS))})
    block.sync()  # the ring's barriers are initialised

    with role("producer", warps=1), elect():
        for tile in range(tiles):
            with ring.fill() as slot:  # waits until a slot is free
                matrix.load(slot.tile, (tile * ROWS, 0))

    with role("consumer", warps=CONSUMERS):
        column = thread.index() - 32
        total = f32(0)
        for _ in range(tiles):
            with ring.use() as slot:  # waits until its bytes have landed; each warp frees it at the end
                for row in range(ROWS):
                    total += slot.tile[row, column]
        sums[column] = total


def main(device: str = "simulator") -> None:
    tiles = 7
    matrix = np.random.default_rng(2).standard_normal((tiles * ROWS, COLUMNS)).astype(np.float32)
    sums = np.zeros(COLUMNS, np.float32)
    column_sums.launch(1, [matrix, sums, tiles], device=device, **({"copy": True} if device == "cuda" else {}))
    assert np.allclose(sums, matrix.astype(np.float64).sum(axis=0), atol=1e-4)
    print(f"{tiles} tiles went through the ring ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
