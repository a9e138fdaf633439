"""Softmax of rows that are spread over the CTAs of a cluster: every CTA sends its maximum and sum to all others with st.async.

A thread keeps a running maximum and sum (the online softmax); lanes, warps and CTAs merge theirs by the same rule.
"""

import sys

import numpy as np

from fa4dsl import (
    Pointer,
    block,
    cluster,
    device_function,
    elect,
    exp,
    f32,
    i32,
    kernel,
    mbarrier,
    shared,
    shuffle_xor,
    static_range,
    store_async,
    thread,
    warp,
)

CTAS, THREADS = 4, 128


@device_function
def merge(largest: f32, total: f32, other_largest: f32, other_total: f32) -> tuple[f32, f32]:
    """The maximum and the sum of exp(x - maximum) of two parts of a row."""
    top = max(largest, other_largest)
    return top, total * exp(largest - top) + other_total * exp(other_largest - top)


@kernel(threads=THREADS, cluster=CTAS)
def softmax(x: Pointer[f32], y: Pointer[f32], columns: i32) -> None:
    of_warps, of_ranks = shared(f32, (THREADS // 32, 2)), shared(f32, (CTAS, 2))
    arrived = mbarrier(1, scope="cluster")
    cluster.sync()  # every rank's barrier is initialised before anybody sends
    i, rank, each = thread.index(), cluster.rank(), columns // CTAS
    first = cluster.index() * columns + rank * each
    if i == 0:
        arrived.arrive(bytes=of_ranks.bytes)

    largest, total = x[first + i], f32(1)
    for column in range(i + THREADS, each, THREADS):
        largest, total = merge(largest, total, x[first + column], 1.0)
    for step in static_range(5):
        largest, total = merge(largest, total, shuffle_xor(largest, 1 << step), shuffle_xor(total, 1 << step))
    with elect(each_warp=True):
        of_warps[warp.index()] = largest, total
    block.sync()
    if i < CTAS:  # thread i tells rank i
        largest, total = of_warps[0, 0], of_warps[0, 1]
        for other in static_range(1, THREADS // 32):
            largest, total = merge(largest, total, of_warps[other, 0], of_warps[other, 1])
        store_async(of_ranks.on(i), (rank, 0), (largest, total), arrived.on(i))

    arrived.wait()
    largest, total = of_ranks[0, 0], of_ranks[0, 1]
    for other in static_range(1, CTAS):
        largest, total = merge(largest, total, of_ranks[other, 0], of_ranks[other, 1])
    for column in range(i, each, THREADS):
        y[first + column] = exp(x[first + column] - largest) / total
    cluster.sync()  # nobody ends while something is sent to it


def main(device: str = "simulator") -> None:
    rows, columns = 2, CTAS * 300
    x = (4 * np.random.default_rng(0).standard_normal((rows, columns))).astype(np.float32)
    y = np.zeros_like(x)
    softmax.bind().launch(rows * CTAS, [x, y, columns], device=device, **({"copy": True} if device == "cuda" else {}))
    weights = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.allclose(y, weights / weights.sum(axis=1, keepdims=True), rtol=1e-4)
    print(f"softmax of {rows} rows of {columns} columns is right ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
