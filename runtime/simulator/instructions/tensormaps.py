"""tensormap.replace and tensormap.cp_fenceproxy: tensor maps that the kernel itself changes."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction
from fa4dsl.runtime.simulator.access import Resolver, pieces
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.instructions.loads_stores import make_target
from fa4dsl.runtime.simulator.instructions.warp import collective
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection
from fa4dsl.runtime.simulator.tensor_descriptor import ELEMENT_TYPES, FIELDS, SIZE, set_field

_INDEXED = ("box_dim", "global_dim", "global_stride", "element_stride")


@handles("tensormap")
def tensormap(decoder: Decoder, instruction: Instruction) -> Step:
    """``tensormap.replace.tile.field{.space}.b1024.type [map], {ordinal,} value`` and ``tensormap.cp_fenceproxy...``."""
    words = instruction.modifiers
    if words[:2] == ("replace", "tile") and len(words) >= 5 and words[-2] == "b1024":
        return _replace(decoder, instruction, words[2], words[3:-2])
    if words[:3] == ("cp_fenceproxy", "global", "shared::cta"):
        return _copy(decoder, instruction)
    return decoder.unknown(instruction)


def _replace(decoder: Decoder, instruction: Instruction, field: str, space: tuple[str, ...]) -> Step:
    if field not in FIELDS and field not in ("elemtype", "swizzle_mode", "fill_mode", "interleave_layout", "swizzle_atomicity"):
        decoder.unknown(instruction)
    operands = list(instruction.operands)
    ordinal = 0
    if field in _INDEXED:
        decoder.count(instruction, 3)
        place = operands.pop(1)
        if not isinstance(place, Immediate) or place.bits > 4:
            decoder.wrong(instruction, "the dimension is a constant from 0 to 4")
        ordinal = place.bits
    if len(operands) != 2:
        decoder.wrong(instruction, "takes an address and a value")
    target = make_target(
        decoder, instruction, operands[0], {"global": "global", "shared::cta": "shared"}.get(space[0]) if space else None, SIZE, 64
    )
    value = decoder.source(instruction, operands[1], np.uint64)
    machine = decoder.machine

    def run(threads: Selection) -> None:
        machine.progress_marks += 1
        for resolver, part in pieces(target, threads):
            offsets = np.asarray(resolver.resolve(part), np.int64)
            if machine.checker is not None and resolver.event_space is not None:
                machine.checker.tensor_map_changed(
                    instruction, machine.grid.event_thread[part], resolver.event_space, offsets + resolver.event_base()
                )
            for thread, offset in zip(machine.grid.arange[part].tolist(), offsets.tolist(), strict=True):
                number = int(value[thread])
                if field == "elemtype" and number not in ELEMENT_TYPES:
                    machine.fault(
                        "S012",
                        instruction,
                        thread,
                        what=f"the element type number {number}",
                        how="use an element type that tiled copies on sm_90 know",
                    )
                if field in ("interleave_layout", "swizzle_atomicity") and number:
                    machine.fault("S012", instruction, thread, what=f"{field} {number}", how="use no interleave and the 16-byte atom")
                set_field(resolver.arena.bytes[offset : offset + SIZE], field, ordinal, number)

    return Step(run, visible=True)


def _copy(decoder: Decoder, instruction: Instruction) -> Step:
    decoder.count(instruction, 3)
    row, offset = decoder.address(instruction, instruction.operands[0])
    target = Resolver(decoder.machine, instruction, "global", row, offset, SIZE)
    row, offset = decoder.address(instruction, instruction.operands[1])
    source = Resolver(decoder.machine, instruction, "shared", row, offset, SIZE)
    machine = decoder.machine

    def run(threads: Selection) -> None:
        machine.progress_marks += 1
        columns = np.arange(SIZE)
        if machine.checker is not None:
            # The warp copies together; its first lane stands for it, and all of its lanes release.
            numbers = machine.grid.arange[threads]
            first = numbers[np.unique(numbers >> 5, return_index=True)[1]]
            maps = np.asarray(target.resolve(first), np.int64) + target.event_base()
            machine.checker.tensor_map_changed(instruction, machine.grid.event_thread[first], "global", maps)
            machine.checker.tensormap_fence(instruction, machine.grid.event_thread[threads], "release", "gpu", None)
        data = machine.memory.shared.bytes[np.asarray(source.resolve(threads), np.int64)[:, None] + columns]
        machine.memory.globals.bytes[np.asarray(target.resolve(threads), np.int64)[:, None] + columns] = data

    return collective(decoder, instruction, run, None)
