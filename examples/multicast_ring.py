"""A ring that a whole cluster fills: every CTA loads a part of each tile and sends it to all (TMA multicast).

The CTAs of a cluster multiply the same rows of a matrix by vectors of their own. Without multicast each would load every tile; here a tile
crosses the L2 cache once for the cluster. A slot is free when the readers of all CTAs have left it; the ring counts them.
"""

import sys

import numpy as np

from fa4dsl import Pointer, TensorMap, block, cluster, elect, f32, i32, kernel, pipeline, role, thread, warp_reduce

CLUSTER = 4
ROWS, COLUMNS = 16, 128
"""Rows of a tile, of which each CTA loads ROWS // CLUSTER, and columns, of which each lane takes COLUMNS // 32."""
WARPS = 4


@kernel(cluster=CLUSTER)
def products(matrix: TensorMap, vectors: Pointer[f32], results: Pointer[f32], tiles: i32) -> None:
    rank, column = cluster.rank(), thread.index() % 32
    ring = pipeline(stages=3, slot={"tile": (f32, (CLUSTER, ROWS // CLUSTER, COLUMNS))}, multicast=True)
    cluster.sync()  # the barriers of every CTA are initialised

    with role("load", warps=1), elect():
        for tile in range(tiles):
            with ring.fill() as slot:  # waits until every CTA has left the slot; expects what all of them send
                first = tile * ROWS + rank * (ROWS // CLUSTER)
                matrix.load(slot.tile.part(rank), (first, 0), multicast="cluster")

    with role("multiply", warps=WARPS):
        warp = thread.index() // 32 - 1
        vector = vectors.load(block.index() * COLUMNS + 4 * column, width=4)
        for tile in range(tiles):
            with ring.use() as slot:  # each warp frees the slot in all CTAs
                rows = slot.tile.reshape(ROWS, COLUMNS)
                for i in range(ROWS // WARPS):
                    row = WARPS * i + warp
                    terms = rows.load(row, 4 * column, width=4) * vector
                    total = warp_reduce(terms[0] + terms[1] + terms[2] + terms[3], "add")
                    with elect(each_warp=True):
                        results[(block.index() * tiles + tile) * ROWS + row] = total
    cluster.sync()  # nobody ends while a peer may still send to it or free a slot


def main(device: str = "simulator") -> None:
    tiles, clusters = 7, 2
    random = np.random.default_rng(5)
    matrix = random.standard_normal((tiles * ROWS, COLUMNS)).astype(np.float32)
    vectors = random.standard_normal((clusters * CLUSTER, COLUMNS)).astype(np.float32)
    results = np.zeros((len(vectors), len(matrix)), np.float32)
    arguments = [matrix, vectors, results, tiles]
    products.launch(len(vectors), arguments, device=device, **({"copy": True} if device == "cuda" else {}))
    assert np.allclose(results, vectors.astype(np.float64) @ matrix.T.astype(np.float64), atol=1e-4)
    print(f"{tiles} tiles went through the rings of {clusters} clusters of {CLUSTER} CTAs ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
