"""Attention, forward: one warpgroup multiplies and keeps a running softmax, one thread loads keys and values through a ring.

O = softmax(Q K^T * scale) V for heads of depth 64, bf16 in, f32 out. A CTA takes 64 rows of Q of one head. A thread holds two rows of the
scores, two neighbouring columns in every eight; four lanes share a row.
"""

import sys

import ml_dtypes
import numpy as np

from fa4dsl import (
    Pointer,
    RegisterArray,
    TensorMap,
    accumulator,
    bf16,
    block,
    device_function,
    elect,
    exp2,
    f32,
    i32,
    kernel,
    lane,
    mbarrier,
    pipeline,
    rcp,
    registers,
    role,
    shared,
    static_range,
    swizzle128,
    warp,
    warp_reduce,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

ROWS, DEPTH = 64, 64


@device_function
def running_softmax(scores: RegisterArray, row_max: RegisterArray, row_sum: RegisterArray, out: RegisterArray, scale_log2e: f32) -> None:
    """Scores become exp2((score - maximum) * scale); sums and the output so far are brought to the new maximum."""
    for half in static_range(2):
        mine = [4 * j + 2 * half + k for j in range(len(scores) // 4) for k in range(2)]
        largest = warp_reduce(max(row_max[half], *(scores[i] for i in mine)), "max", lanes=4)
        correction = exp2((row_max[half] - largest) * scale_log2e)
        for i in mine:
            scores[i] = exp2((scores[i] - largest) * scale_log2e)
        row_sum[half] = row_sum[half] * correction + sum(scores[i] for i in mine)
        row_max[half] = largest
        for i in [4 * j + 2 * half + k for j in range(DEPTH // 8) for k in range(2)]:
            out[i] *= correction


@kernel
def attention(
    q: TensorMap, k: TensorMap, v: TensorMap, o: Pointer[f32], rows: i32, tiles: i32, scale_log2e: f32, *, keys: int = 64
) -> None:
    head, first = block.index("y"), block.index("x") * ROWS
    queries, queries_arrived = shared(bf16, (ROWS, DEPTH), swizzle=swizzle128), mbarrier(1)
    ring = pipeline(stages=2, slot={"k": (bf16, (keys, DEPTH), swizzle128), "v": (bf16, (keys, DEPTH), swizzle128)})
    block.sync()

    with role("multiply", warps=4, registers=240):
        out, row_max, row_sum = accumulator(f32, DEPTH), registers(f32, 2, fill=float("-inf")), registers(f32, 2)
        queries_arrived.wait()
        for _ in range(tiles):
            with ring.use() as slot:
                scores = wgmma(queries, slot.k.T)
                wgmma_commit()
                wgmma_wait(scores)
                running_softmax(scores, row_max, row_sum, out, scale_log2e)
                wgmma(scores.to(bf16), slot.v, into=out)
                wgmma_commit()
                wgmma_wait(out)
        for half in static_range(2):
            row = first + 16 * warp.index() + lane.index() // 4 + 8 * half
            weight = rcp(warp_reduce(row_sum[half], "add", lanes=4))
            for j in static_range(DEPTH // 8):
                place = (head * rows + row) * DEPTH + 8 * j + 2 * (lane.index() % 4)
                o.store(place, (out[4 * j + 2 * half] * weight, out[4 * j + 2 * half + 1] * weight))

    with role("load", warps=4, registers=24), elect():
        queries_arrived.arrive(bytes=queries.bytes)
        q.load(queries, (head, first, 0), queries_arrived)
        for tile in range(tiles):
            with ring.fill() as slot:
                k.load(slot.k, (head, tile * keys, 0))
                v.load(slot.v, (head, tile * keys, 0))


def main(device: str = "simulator") -> None:
    heads, rows, length = 2, 64, 320
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((heads, n, DEPTH)).astype(ml_dtypes.bfloat16) for n in (rows, length, length))
    o = np.zeros((heads, rows, DEPTH), np.float32)
    scale_log2e = DEPTH**-0.5 * 1.4426950408889634
    arguments = [q, k, v, o, rows, length // 64, scale_log2e]
    attention.bind().launch((rows // ROWS, heads), arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * scale_log2e
    weights = np.exp2(scores - scores.max(axis=2, keepdims=True))
    exact = np.einsum("hij,hjd->hid", weights / weights.sum(axis=2, keepdims=True), v.astype(np.float64))
    assert np.allclose(o, exact, atol=4e-3)
    print(f"attention of {heads} heads over {length} keys is right, largest error {abs(o - exact).max():.1e} ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
