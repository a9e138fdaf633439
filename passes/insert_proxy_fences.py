"""insert-proxy-fences: puts `fence.proxy.async` where the generic and the async proxy meet, before the ordering barrier.

Fences made here carry `inserted = true`. A kernel with `fa4.fences = "manual"` is left as it is; what it lacks is then
reported by `missing_proxy_fences`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import op
from fa4dsl.passes.kernel import KernelInfo, kernels
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.memory_roots import UNKNOWN
from fa4dsl.passes.proxy_analysis import Need, needed_fences
from fa4dsl.runtime.diagnostics import Diagnostic, diagnostic

if TYPE_CHECKING:
    from mlir import ir


def insert_proxy_fences(module: ir.Module) -> None:
    from mlir import ir

    for function in kernels(module):
        if KernelInfo.of(function).fences == "manual":
            continue
        for place, spaces in _by_place(needed_fences(function)):
            op(
                "fence_proxy_async",
                [],
                {"space": _joined(spaces), "inserted": True},
                loc=place.location,
                ip=ir.InsertionPoint(place),
            )


def _by_place(needs: list[Need]) -> list[tuple[Any, set[str]]]:
    places: dict[Any, tuple[Any, set[str]]] = {}
    for need in needs:
        places.setdefault(need.place, (need.place, set()))[1].add(need.space)
    return list(places.values())


def _joined(spaces: set[str]) -> str:
    """One fence for all: shared::cluster covers the own CTA's memory too, nothing but an unqualified fence covers shared and global."""
    if len(spaces) == 1:
        return next(iter(spaces))
    return "all" if "global" in spaces else "shared::cluster"


def missing_proxy_fences(module: ir.Module) -> list[Diagnostic]:
    """What a kernel with manual fences lacks: C040 for each write that meets an async operation without a fence; C041, for review, for
    each read whose bytes one overwrites."""
    found = []
    for function in kernels(module):
        if KernelInfo.of(function).fences != "manual":
            continue
        for need in needed_fences(function):
            what = "the read" if need.read else "the write"
            frames = (*operation_frames(need.access, what), *operation_frames(need.use, "the async access"))
            place = operation_frames(need.place)
            fields = {
                "object": "a shared array" if need.root.name == UNKNOWN else need.root.name,
                "use": need.use.name.removeprefix("fa4."),
                "barrier": need.place.name.removeprefix("fa4."),
                "where": f" (line {place[0].location.line})" if place else "",
            }
            found.append(diagnostic("C041" if need.read else "C040", *frames, **fields))
    return found
