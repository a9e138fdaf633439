"""Four CTAs of a cluster each hold a row; together they add the rows up, through each other's shared memory, and store the sum by TMA."""

import numpy as np

from fa4dsl import Pointer, TensorMap, block, cluster, elect, f32, kernel, shared, static_range, thread, tma


@kernel(threads=128, cluster=4)
def cluster_sum(x: Pointer[f32], total: TensorMap) -> None:
    rank, i = cluster.rank(), thread.index()
    row = shared(f32, 512)
    piece = shared(f32, (1, 128))
    for k in static_range(4):
        row[128 * k + i] = x[512 * block.index() + 128 * k + i]
    cluster.sync()  # every row is written, and every peer has started

    column = 128 * rank + i  # this CTA's quarter of the columns
    result = row[column]
    for step in static_range(1, 4):
        result += row.on((rank + step) % 4)[column]
    piece[0, i] = result
    block.sync()
    with elect(warp=0):
        total.store(piece, (cluster.index(), 128 * rank))
        tma.commit_and_wait()
    cluster.sync()  # nobody ends while a peer reads its row


if __name__ == "__main__":
    x = np.random.default_rng(0).standard_normal((8, 512), dtype=np.float32)
    total = np.zeros((2, 512), np.float32)
    cluster_sum[8](x, total)
    print("largest error", np.max(np.abs(total - x.reshape(2, 4, 512).sum(axis=1))))
