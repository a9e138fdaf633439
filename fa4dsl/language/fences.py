"""Fences of the executing thread."""

from __future__ import annotations

from typing import Literal

from fa4dsl.frontend.trace import current


def fence(
    order: Literal["acq_rel", "sc", "acquire", "release"] = "acq_rel", scope: Literal["cta", "cluster", "gpu", "sys"] = "gpu"
) -> None:
    """Orders this thread's accesses at a scope: fence.acq_rel and the like. Synchronises with another thread only through an atomic or ordered
    access, or a barrier, after it."""
    current().fa4("fence", [], {"order": order, "scope": scope})


def fence_proxy_async(space: Literal["shared::cta", "shared::cluster", "global", "all"] = "shared::cta") -> None:
    """Orders this thread's generic accesses and those of the async proxy (TMA, bulk copies, wgmma): fence.proxy.async.

    The compiler inserts it unless the kernel says ``fences="manual"``. It belongs in each writing thread, before the barrier.
    """
    current().fa4("fence_proxy_async", [], {"space": space})
