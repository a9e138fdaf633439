"""C = A @ B.T, ping-pong: two warpgroups take turns, so that one stores its tile while the other has the tensor cores.

One thread loads the tiles' slots in order through one ring. Each warpgroup reads every other tile's slots (`readers=4`) and passes over
those of the other (`ring.skip`). Two named barriers hand the tensor cores back and forth.
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
    named_barrier,
    pipeline,
    role,
    shared,
    static_range,
    store_accumulator,
    swizzle128,
    tma,
    warpgroup,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

ROWS, COLUMNS, K = 64, 128, 64
"""The tile of a warpgroup, and depth of a slot: 128 bytes of bf16, the swizzle's span."""


@kernel
def gemm(a: TensorMap, b: TensorMap, c: TensorMap, tiles: i32, tiles_across: i32, depth: i32) -> None:
    ring = pipeline(stages=4, slot={"a": (bf16, (ROWS, K), swizzle128), "b": (bf16, (COLUMNS, K), swizzle128)}, readers=4)
    packed = shared(bf16, (2, COLUMNS // 64, ROWS, 64), swizzle=swizzle128)
    turn = named_barrier(256, count=2)
    block.sync()
    steps = depth // K

    with role("multiply", warps=8, registers=240) as multiply:
        group = warpgroup.index()
        if group == 1:
            ring.skip(steps)  # the first tile is the other's
            turn[0].arrive()  # who may begin
        for tile in range(block.index() + group * grid.dim(), tiles, 2 * grid.dim()):
            acc = accumulator(f32, COLUMNS)
            turn[group].sync()
            for _ in range(steps):
                with ring.use() as slot:
                    wgmma(slot.a, slot.b.T, into=acc)
                    wgmma_commit()
                    wgmma_wait(acc)
            turn[1 - group].arrive()
            ring.skip(steps)

            with elect(each_warp=True):
                tma.wait(read=True)  # the last tile's store has read `packed`
            warpgroup.sync()
            store_accumulator(packed.part(group), acc.to(bf16))
            warpgroup.sync()
            if multiply.warp() % 4 == 0:
                with elect(each_warp=True):
                    for panel in static_range(COLUMNS // 64):
                        place = (tile // tiles_across * ROWS, tile % tiles_across * COLUMNS + 64 * panel)
                        c.store(packed.part(group, panel), place)
                    tma.commit()
        mine = (tiles - block.index() + grid.dim() - 1) // grid.dim()
        if group == mine % 2:
            turn[group].sync()  # meets the last arrival, which no tile waits for
        with elect(each_warp=True):
            tma.wait()

    with role("load", warps=4, registers=24), elect():
        for tile in range(block.index(), tiles, grid.dim()):
            for k in range(0, depth, K):
                with ring.fill() as slot:
                    a.load(slot.a, (tile // tiles_across * ROWS, k))
                    b.load(slot.b, (tile % tiles_across * COLUMNS, k))


def main(device: str = "simulator", ctas: int = 2) -> None:
    rows, columns, depth = 320, 128, 192  # five tiles: one CTA has an odd number of them, one an even
    random = np.random.default_rng(5)
    a = random.standard_normal((rows, depth)).astype(ml_dtypes.bfloat16)
    b = random.standard_normal((columns, depth)).astype(ml_dtypes.bfloat16)
    c = np.zeros((rows, columns), ml_dtypes.bfloat16)
    across = columns // COLUMNS
    arguments = [a, b, c, rows // ROWS * across, across, depth]
    gemm.bind().launch(ctas, arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.allclose(c.astype(np.float64), exact, rtol=2**-8, atol=1e-3)
    print(f"{rows} x {columns} products of depth {depth} on {ctas} CTAs are right ({device})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "simulator")
