"""C = A @ B.T, persistent: each CTA takes tile after tile; two warpgroups multiply, one thread loads, and TMA stores what stmatrix packed.

A tile is 128 x 128: each warpgroup has 64 rows. One wgmma group stays in flight while the next slot is waited for (`behind=1`), and the
loader runs ahead into the next tile while the last one is converted and stored.
"""

import sys

import ml_dtypes
import numpy as np

from fa4dsl import (
    TensorMap,
    accumulator,
    bf16,
    block,
    elect,
    f32,
    grid,
    i32,
    kernel,
    lane,
    pipeline,
    role,
    shared,
    static_range,
    store_matrix,
    swizzle128,
    tma,
    warp,
    warpgroup,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

ROWS, COLUMNS, K = 64, 128, 64
"""Rows of a warpgroup's tile, columns of the tile, and depth of a slot: 128 bytes of bf16, the swizzle's span."""


@kernel
def gemm(a: TensorMap, b: TensorMap, c: TensorMap, tiles: i32, tiles_across: i32, depth: i32) -> None:
    ring = pipeline(stages=4, slot={"a": (bf16, (2, ROWS, K), swizzle128), "b": (bf16, (COLUMNS, K), swizzle128)})
    packed = shared(bf16, (2, COLUMNS // 64, ROWS, 64), swizzle=swizzle128)
    block.sync()

    with role("multiply", warps=8, registers=240):
        group, row = warpgroup.index(), 16 * (warp.index() % 4) + lane.index() % 16
        for tile in range(block.index(), tiles, grid.dim()):
            acc = accumulator(f32, COLUMNS)
            for _ in range(depth // K):
                with ring.use(behind=1) as slot:
                    wgmma(slot.a.part(group), slot.b.T, into=acc)
                    wgmma_commit()
                    wgmma_wait(pending=1)
            wgmma_wait(acc)

            with elect(each_warp=True):
                tma.wait(read=True)  # the last tile's store has read `packed`
            warpgroup.sync()
            for j in static_range(COLUMNS // 16):  # stmatrix takes the accumulator's own layout: 16 rows x 16 columns of each warp
                column = 16 * (j % 4) + 8 * (lane.index() // 16)
                store_matrix(packed.pointer((group, j // 4, row, column)), [acc[8 * j + i].to(bf16) for i in range(8)])
            warpgroup.sync()
            if warp.index() % 4 == 0:
                with elect(each_warp=True):
                    for panel in static_range(COLUMNS // 64):
                        place = (tile // tiles_across * 2 * ROWS + ROWS * group, tile % tiles_across * COLUMNS + 64 * panel)
                        c.store(packed.part(group, panel), place)
                    tma.commit()
        with elect(each_warp=True):
            tma.wait()

    with role("load", warps=4, registers=24), elect():
        for tile in range(block.index(), tiles, grid.dim()):
            for k in range(0, depth, K):
                with ring.fill() as slot:
                    a.load(slot.a, (tile // tiles_across * 2, 0, k))
                    b.load(slot.b, (tile % tiles_across * COLUMNS, k))


def main(device: str = "simulator", ctas: int = 3) -> None:
    rows, columns, depth = 256, 256, 320
    random = np.random.default_rng(5)
    a = random.standard_normal((rows, depth)).astype(ml_dtypes.bfloat16)
    b = random.standard_normal((columns, depth)).astype(ml_dtypes.bfloat16)
    c = np.zeros((rows, columns), ml_dtypes.bfloat16)
    across = columns // COLUMNS
    arguments = [a.reshape(-1, ROWS, depth), b, c, rows // (2 * ROWS) * across, across, depth]
    gemm.launch(ctas, arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.allclose(c.astype(np.float64), exact, rtol=2**-8, atol=1e-3)
    print(f"{rows} x {columns} products of depth {depth} on {ctas} CTAs are right ({device})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "simulator")
