"""Fences. They change no values here; the checker learns of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Address, Instruction
from fa4dsl.runtime.simulator.access import Generic
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection

_MEMBAR = {"cta": "cta", "gl": "gpu", "sys": "sys"}


@handles("fence", "membar")
def fence(decoder: Decoder, instruction: Instruction) -> Step:
    """``fence{.sem}.scope``, ``fence.proxy.*``, ``fence.mbarrier_init``, ``membar.*``."""
    words = list(instruction.modifiers)
    machine = decoder.machine
    grid = decoder.grid
    checker: Any = machine.checker
    nothing = Step(lambda threads: None, visible=True)

    def told(tell: Any) -> Step:
        if checker is None:
            return nothing

        def run(threads: Selection) -> None:
            tell(grid.event_thread[threads])

        return Step(run, visible=True)

    if words[:1] == ["proxy"]:
        kind = words[1] if len(words) > 1 else ""
        if kind.startswith("async"):
            space = next((word for word in words[2:] if word in ("global", "shared::cta", "shared::cluster", "shared")), "all")
            if "::" in kind and kind != "async":  # fence.proxy.async::generic.{acquire,release}.sync_restrict::<space>.cluster
                space = next((word.partition("sync_restrict::")[2] for word in words if word.startswith("sync_restrict::")), "all")
            name: Any = "shared::cta" if space == "shared" else space
            return told(lambda threads: checker.proxy_fence(instruction, threads, name))
        if kind.startswith("tensormap") or kind == "alias":
            return _tensormap_fence(decoder, instruction, words[2:]) if kind.startswith("tensormap") and checker is not None else nothing
        decoder.unknown(instruction)
    if words[:1] == ["mbarrier_init"]:
        return told(lambda threads: checker.init_fence(instruction, threads))
    if instruction.name == "membar":
        if words[:1] == ["proxy"] or not words or words[0] not in _MEMBAR:
            decoder.unknown(instruction)
        scope: Any = _MEMBAR[words[0]]
        return told(lambda threads: checker.fence(instruction, threads, "sc", scope))
    order: Any = next((word for word in words if word in ("sc", "acq_rel", "acquire", "release")), "acq_rel")
    reach: Any = next((word for word in words if word in ("cta", "cluster", "gpu", "sys")), None)
    if reach is None:
        decoder.unknown(instruction)
    return told(lambda threads: checker.fence(instruction, threads, order, reach))


def _tensormap_fence(decoder: Decoder, instruction: Instruction, words: Sequence[str]) -> Step:
    """``fence.proxy.tensormap::generic.release.scope`` or ``...acquire.scope [map], 128``."""
    machine, grid = decoder.machine, decoder.grid
    checker = machine.checker
    order: Any = "acquire" if "acquire" in words else "release"
    scope: Any = next((word for word in words if word in ("cta", "cluster", "gpu", "sys")), "gpu")
    place = None
    if instruction.operands and isinstance(instruction.operands[0], Address):
        row, offset = decoder.address(instruction, instruction.operands[0])
        place = Generic(machine, instruction, row, offset, 128)

    def run(threads: Selection) -> None:
        assert checker is not None
        if place is None:
            checker.tensormap_fence(instruction, grid.event_thread[threads], order, scope, None)
            return
        for resolver, part in place.pieces(grid.arange[threads]):
            maps = np.asarray(resolver.resolve(part), np.int64) + resolver.event_base() if resolver.event_space == "global" else None
            checker.tensormap_fence(instruction, grid.event_thread[part], order, scope, maps)

    return Step(run, visible=True)
