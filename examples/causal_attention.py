"""Attention, forward, causal: two warpgroups of 64 rows of Q share the keys and values that one thread loads through a ring.

A CTA takes 128 rows of one head and only the keys up to its last row; scores past the diagonal become -inf where a tile meets it. The
output goes back through the shared memory of Q. The logarithm of each row's sum (LSE) is kept for the backward pass.
"""

import sys

import ml_dtypes
import numpy as np

from fa4dsl import (
    Pointer,
    RegisterArray,
    TensorMap,
    accumulator,
    accumulator_place,
    bf16,
    block,
    device_function,
    elect,
    exp2,
    f32,
    i32,
    kernel,
    lane,
    log,
    mbarrier,
    pipeline,
    rcp,
    registers,
    role,
    shared,
    static_range,
    store_accumulator,
    swizzle128,
    tma,
    warp_reduce,
    warpgroup,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

ROWS, DEPTH, KEYS = 64, 64, 64
"""Rows of a warpgroup, and keys of a tile."""
LN2 = 0.6931471805599453


@device_function
def running_softmax(scores: RegisterArray, row_max: RegisterArray, row_sum: RegisterArray, out: RegisterArray, scale_log2e: f32) -> None:
    """Scores become exp2((score - maximum) * scale); sums and the output so far are brought to the new maximum."""
    for half in static_range(2):  # the two rows of a thread
        mine = [i for i in range(len(scores)) if i // 2 % 2 == half]
        largest = warp_reduce(max(row_max[half], *(scores[i] for i in mine)), "max", lanes=4)
        correction = exp2((row_max[half] - largest) * scale_log2e)
        for i in mine:
            scores[i] = exp2((scores[i] - largest) * scale_log2e)
        row_sum[half] = row_sum[half] * correction + sum(scores[i] for i in mine)
        row_max[half] = largest
        for i in [i for i in range(len(out)) if i // 2 % 2 == half]:
            out[i] *= correction


@kernel
def attention(q: TensorMap, k: TensorMap, v: TensorMap, o: TensorMap, lse: Pointer[f32], rows: i32, scale_log2e: f32) -> None:
    head, first = block.index("y"), block.index("x") * 2 * ROWS
    queries, queries_arrived = shared(bf16, (2, ROWS, DEPTH), swizzle=swizzle128), mbarrier(1)
    ring = pipeline(stages=2, slot={"k": (bf16, (KEYS, DEPTH), swizzle128), "v": (bf16, (KEYS, DEPTH), swizzle128)})
    block.sync()
    tiles = (first + 2 * ROWS) // KEYS  # what lies behind the last row's key is not even loaded

    with role("multiply", warps=8, registers=240) as multiply:
        group = warpgroup.index()
        above = first + ROWS * group  # the warpgroup's first row
        out, row_max, row_sum = accumulator(f32, DEPTH), registers(f32, 2, fill=float("-inf")), registers(f32, 2)
        queries_arrived.wait()
        for tile in range(tiles):
            with ring.use() as slot:
                scores = wgmma(queries.part(group), slot.k.T)
                wgmma_commit()
                wgmma_wait(scores)
                if (tile + 1) * KEYS > above:
                    for i in static_range(len(scores)):
                        row, column = accumulator_place(i)
                        scores[i] = scores[i] if tile * KEYS + column <= above + row else float("-inf")
                running_softmax(scores, row_max, row_sum, out, scale_log2e)
                wgmma(scores.to(bf16), slot.v, into=out)
                wgmma_commit()
                wgmma_wait(out)
        for half in static_range(2):
            row_sum[half] = warp_reduce(row_sum[half], "add", lanes=4)
            row, _ = accumulator_place(2 * half)
            if lane.index() % 4 == 0:
                lse[head * rows + above + row] = row_max[half] * scale_log2e * LN2 + log(row_sum[half])
        for i in static_range(len(out)):
            out[i] *= rcp(row_sum[i // 2 % 2])
        store_accumulator(queries.part(group), out.to(bf16))  # only this warpgroup reads its rows of Q
        warpgroup.sync()
        if multiply.warp() % 4 == 0:
            with elect(each_warp=True):
                o.store(queries.part(group), (head, above, 0))
                tma.commit_and_wait()

    with role("load", warps=4, registers=24), elect():
        queries_arrived.arrive(bytes=queries.bytes)
        for group in static_range(2):
            q.load(queries.part(group), (head, first + ROWS * group, 0), queries_arrived)
        for tile in range(tiles):
            with ring.fill() as slot:
                k.load(slot.k, (head, tile * KEYS, 0))
                v.load(slot.v, (head, tile * KEYS, 0))


def main(device: str = "simulator") -> None:
    heads, rows = 1, 256
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((heads, rows, DEPTH)).astype(ml_dtypes.bfloat16) for _ in range(3))
    o, lse = np.zeros_like(q), np.zeros((heads, rows), np.float32)
    scale = DEPTH**-0.5
    arguments = [q, k, v, o, lse, rows, scale / LN2]
    attention.bind().launch((rows // (2 * ROWS), heads), arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * scale
    scores = np.where(np.tril(np.ones((rows, rows), bool)), scores, -np.inf)
    largest = scores.max(axis=2, keepdims=True)
    weights = np.exp(scores - largest)
    sums = weights.sum(axis=2, keepdims=True)
    exact = np.einsum("hij,hjd->hid", weights / sums, v.astype(np.float64))
    assert np.allclose(o.astype(np.float64), exact, atol=2e-2)
    assert np.allclose(lse, (largest + np.log(sums))[..., 0], atol=1e-3)
    print(f"causal attention of {heads} heads over {rows} rows is right ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
