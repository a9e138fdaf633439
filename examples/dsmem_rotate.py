"""Each CTA of a cluster hands its data to the next one, through distributed shared memory.

``array.on(rank)`` is the same array in another CTA; everything else is ordinary loads and stores.
"""

import sys

import numpy as np

from fa4dsl import Pointer, cluster, f32, kernel, shared, thread

THREADS = 64
CLUSTER = 4


@kernel(threads=THREADS, cluster=CLUSTER)
def rotate(source: Pointer[f32], target: Pointer[f32]) -> None:
    rank, i = cluster.rank(), thread.index()
    box = shared(f32, THREADS)
    cluster.sync()  # every CTA has started before anybody writes into its memory

    right = (rank + 1) % CLUSTER
    box.on(right)[i] = source[rank * THREADS + i]
    cluster.sync()  # releases the stores to the CTA that reads them

    target[rank * THREADS + i] = box[i]


def main(device: str = "simulator") -> None:
    source = np.arange(CLUSTER * THREADS, dtype=np.float32)
    target = np.zeros_like(source)
    rotate.launch(CLUSTER, [source, target], device=device, **({"copy": True} if device == "cuda" else {}))
    assert (target == np.roll(source, THREADS)).all()
    print(f"{CLUSTER} CTAs passed their data on ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
