"""Sums of rows: lanes add up strided elements, the warp adds up its lanes, one lane stores."""

import sys

import numpy as np

from fa4dsl import Pointer, block, f32, i32, kernel, lane, warp, warp_reduce

WARPS = 4


@kernel(threads=32 * WARPS)
def row_sums(matrix: Pointer[f32], sums: Pointer[f32], rows: i32, columns: i32) -> None:
    row = block.index() * WARPS + warp.index()
    if row < rows:
        total = f32(0)
        for column in range(lane.index(), columns, 32):
            total += matrix[row * columns + column]
        total = warp_reduce(total, "add")
        if lane.index() == 0:
            sums[row] = total


def main(device: str = "simulator") -> None:
    rows, columns = 10, 333
    matrix = np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float32)
    sums = np.zeros(rows, np.float32)
    row_sums.launch(-(-rows // WARPS), [matrix, sums, rows, columns], device=device, **({"copy": True} if device == "cuda" else {}))
    assert np.allclose(sums, matrix.astype(np.float64).sum(axis=1), atol=1e-4)
    print(f"{rows} rows are summed ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
