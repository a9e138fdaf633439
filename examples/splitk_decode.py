"""Split-K decode attention in one kernel: the CTAs of a cluster each attend to a part of the keys, and the library's `push` combines them.

One new token, `HEADS` query heads that share a key head. Each CTA of the cluster takes every P-th tile of the keys, runs FlashAttention over
them, and keeps its normalised result with the maximum and sum of each row. The epilogue is a call: quads of the result go from shared memory
to their owners by st.async, and each CTA writes its share of the output. No workspace, no second kernel.
"""

import sys
from typing import Any

import ml_dtypes
import numpy as np

from fa4dsl import (
    Pointer,
    RegisterArray,
    TensorMap,
    accumulator,
    bf16,
    block,
    cluster,
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
    where,
)
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.exchange import push

HEADS, DEPTH, KEYS = 8, 128, 64
"""Query heads of a key head, depth, and keys of a tile. A wgmma has 64 rows; the rows past the heads are zeros and cost no memory traffic."""
CONFIG = CombineConfig(partitions=4, depth=DEPTH, rows=HEADS, design="push", threads=256)


@device_function
def running_softmax(scores: RegisterArray, row_max: RegisterArray, row_sum: RegisterArray, out: RegisterArray, scale_log2e: f32) -> None:
    """One tile of scores becomes weights; sums and the output so far are brought to the new maximum. Only this thread's lower row is a head's."""
    mine = [4 * j + k for j in range(len(scores) // 4) for k in range(2)]
    largest = warp_reduce(max(row_max[0], *(scores[i] for i in mine)), "max", lanes=4)
    correction = exp2((row_max[0] - largest) * scale_log2e)
    for i in mine:
        scores[i] = exp2((scores[i] - largest) * scale_log2e)
    row_sum[0] = row_sum[0] * correction + sum(scores[i] for i in mine)
    row_max[0] = largest
    for i in [4 * j + k for j in range(DEPTH // 8) for k in range(2)]:
        out[i] *= correction


@device_function
def staged_quad(source: Any, row: i32, quad: i32, *, c: CombineConfig) -> Any:
    return source[0].load(row, 4 * quad, width=4)


@device_function
def staged_statistics(source: Any, row: i32, *, c: CombineConfig) -> Any:
    return source[1][row, 0], source[1][row, 1]


@device_function
def write(sink: Any, row: i32, quad: i32, values: Any, largest: f32, total: f32, *, c: CombineConfig) -> None:
    sink.store(row * c.depth + 4 * quad, values.to(bf16))


@kernel(cluster=(CONFIG.partitions, 1, 1), threads=CONFIG.threads)
def decode(q: TensorMap, k: TensorMap, v: TensorMap, o: Pointer[bf16], tiles: i32, scale_log2e: f32) -> None:
    """Grid: (P, key heads). q: [key heads, HEADS, DEPTH]; k, v: [key heads, keys, DEPTH]; o as q. All bf16."""
    rank, head = cluster.rank(), block.index("y")
    queries, queries_arrived = shared(bf16, (DEPTH // 64, 64, 64), swizzle=swizzle128), mbarrier(1)
    ring = pipeline(stages=3, slot={"k": (bf16, (DEPTH // 64, KEYS, 64), swizzle128), "v": (bf16, (DEPTH // 64, KEYS, 64), swizzle128)})
    result, statistics = shared(f32, (HEADS, DEPTH)), shared(f32, (HEADS, 2))
    block.sync()

    with role("multiply", warps=4):
        out, row_max, row_sum = accumulator(f32, DEPTH), registers(f32, 1, fill=float("-inf")), registers(f32, 1)
        queries_arrived.wait()
        for _ in range(rank, tiles, CONFIG.partitions):
            with ring.use() as slot:
                scores = wgmma(queries, slot.k.T)
                wgmma_commit()
                wgmma_wait(scores)
                running_softmax(scores, row_max, row_sum, out, scale_log2e)
                wgmma(scores.to(bf16), slot.v, into=out)
                wgmma_commit()
                wgmma_wait(out)
        with warp(0):  # the heads' rows are the first warp's lower ones
            row, total = lane.index() // 4, warp_reduce(row_sum[0], "add", lanes=4)
            weight = where(total > 0.0, rcp(total), 0.0)
            for j in static_range(DEPTH // 8):
                result.store((row, 8 * j + 2 * (lane.index() % 4)), (out[4 * j] * weight, out[4 * j + 1] * weight))
            if lane.index() % 4 == 0:
                statistics[row] = row_max[0], total

    with role("load", warps=4), elect():
        queries_arrived.arrive(bytes=queries.bytes)
        for half in static_range(DEPTH // 64):
            q.load(queries.part(half), (head, 0, 64 * half), queries_arrived)  # rows past the heads are out of bounds: zeros
        for tile in range(rank, tiles, CONFIG.partitions):
            with ring.fill() as slot:
                for half in static_range(DEPTH // 64):
                    k.load(slot.k.part(half), (head, KEYS * tile, 64 * half))
                    v.load(slot.v.part(half), (head, KEYS * tile, 64 * half))

    block.sync()
    push(staged_quad, staged_statistics, (result, statistics), write, o + head * HEADS * DEPTH, rank, i32(HEADS), scale_log2e, c=CONFIG)


def main(device: str = "simulator") -> None:
    key_heads, keys = 2, 7 * KEYS
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((key_heads, n, DEPTH)).astype(ml_dtypes.bfloat16) for n in (HEADS, keys, keys))
    o = np.zeros_like(q)
    scale_log2e = DEPTH**-0.5 * 1.4426950408889634
    arguments = [q, k, v, o, keys // KEYS, scale_log2e]
    decode.launch((CONFIG.partitions, key_heads), arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * scale_log2e
    weights = np.exp2(scores - scores.max(axis=2, keepdims=True))
    exact = np.einsum("hij,hjd->hid", weights / weights.sum(axis=2, keepdims=True), v.astype(np.float64))
    error = np.abs(o.astype(np.float64) - exact).max()
    assert error < 6e-3, error
    print(
        f"decode of {key_heads} x {HEADS} heads over {keys} keys by clusters of {CONFIG.partitions} is right, largest error {error:.1e} ({device})"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
