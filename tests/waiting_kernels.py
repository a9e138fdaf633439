"""Kernels that hang when told to, compiled to record their waits; for the simulator and for a GPU."""

from __future__ import annotations

from fa4dsl import Pointer, block, cluster, i32, kernel, mbarrier, named_barrier, role, thread


@kernel(threads=128, debug_waits=True)
def stuck(out: Pointer[i32], arrive: i32):
    """Warps 0 and 1 wait at an mbarrier that lacks an arrival where `arrive` is 0, the others for them at the CTA's barrier."""
    ready = mbarrier(3, count=2)
    block.sync()
    if thread.index() == 0:
        ready[1].arrive(2)
        if arrive == 1:
            ready[1].arrive()
    if thread.index() < 64:
        ready[1].wait()
    block.sync()
    out[block.index() * 128 + thread.index()] = arrive


@kernel(cluster=2, debug_waits=True)
def stuck_cluster(out: Pointer[i32], arrive: i32):
    """The consumer of CTA 0 waits at a named barrier to which its producer does not come where `arrive` is 0; all others for it at the cluster's."""
    full = named_barrier(64)
    with role("producer", warps=1):
        if arrive == 1:
            full.arrive()
    with role("consumer", warps=1):
        if cluster.rank() == 0:
            full.sync()
        else:
            if arrive == 1:
                full.sync()
    cluster.sync()
    out[block.index() * 64 + thread.index()] = arrive


@kernel(threads=32, debug_waits=True)
def numbered(out: Pointer[i32]):
    """Never waits."""
    out[thread.index()] = thread.index()
