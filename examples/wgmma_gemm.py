"""C = A @ B.T on tensor cores: bf16 tiles by TMA with the 128-byte swizzle, f32 accumulators in registers of one warpgroup.

The descriptors of the operands follow from the shared arrays: their swizzle, their place, and which dimension is contiguous.
"""

import sys

import ml_dtypes
import numpy as np

from fa4dsl import (
    Pointer,
    TensorMap,
    accumulator,
    bf16,
    block,
    elect,
    f32,
    i32,
    kernel,
    lane,
    pipeline,
    role,
    static_range,
    swizzle128,
    warp,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

M, K = 64, 64
"""Rows of a warpgroup's tile, and columns of A and B in one slot: 128 bytes of bf16, the swizzle's span."""


@kernel
def gemm(a: TensorMap, b: TensorMap, c: Pointer[f32], depth: i32, columns: i32, *, n: int = 128) -> None:
    row, column = block.index("x") * M, block.index("y") * n
    ring = pipeline(stages=3, slot={"a": (bf16, (M, K), swizzle128), "b": (bf16, (n, K), swizzle128)})
    block.sync()

    with role("multiply", warps=4):
        acc = accumulator(f32, n)
        for _ in range(depth // K):
            with ring.use() as slot:
                wgmma(slot.a, slot.b.T, into=acc)
                wgmma_commit()
                wgmma_wait(acc)
        first = row + 16 * warp.index() + lane.index() // 4
        for j in static_range(n // 8):  # a thread holds two neighbours in each of two rows of every 8 columns
            for half in static_range(2):
                place = (first + 8 * half) * columns + column + 8 * j + 2 * (lane.index() % 4)
                c.store(place, (acc[4 * j + 2 * half], acc[4 * j + 2 * half + 1]))

    with role("load", warps=1), elect():
        for k in range(0, depth, K):
            with ring.fill() as slot:
                a.load(slot.a, (row, k))
                b.load(slot.b, (column, k))


def main(device: str = "simulator", n: int = 64) -> None:
    rows, columns, depth = 128, 2 * n, 192
    random = np.random.default_rng(3)
    a = random.standard_normal((rows, depth)).astype(ml_dtypes.bfloat16)
    b = random.standard_normal((columns, depth)).astype(ml_dtypes.bfloat16)
    c = np.zeros((rows, columns), np.float32)
    grid = (rows // M, columns // n)
    gemm.bind(n=n).launch(grid, [a, b, c, depth, columns], device=device, **({"copy": True} if device == "cuda" else {}))
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.allclose(c, exact, atol=1e-3)
    print(f"{rows} x {columns} products of depth {depth} are right ({device})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "simulator")
