"""Fences. They change no values here; the checker learns of them."""

from __future__ import annotations

from typing import Any

from fa4dsl.runtime.ptx.instruction import Instruction
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
            # descriptors are read where they lie at the time of the copy; the checker's tensormap rule works on their bytes
            hook = getattr(checker, "tensormap_fence", None)
            return told(lambda threads: hook(instruction, threads, words[2:])) if hook is not None else nothing
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
