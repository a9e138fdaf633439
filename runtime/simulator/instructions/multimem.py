"""multimem: loads that reduce over all copies of multicast memory, stores and reductions that reach every copy.

On hardware the copies lie on several GPUs. Here a launch description names the buffers that a multicast buffer stands for, all on one device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Operand, Vector
from fa4dsl.runtime.ptx.module import TYPE_BYTES
from fa4dsl.runtime.simulator.access import Resolver
from fa4dsl.runtime.simulator.decoder import WIDTH_DTYPE, Decoder, handles
from fa4dsl.runtime.simulator.instructions.loads_stores import MemoryWords, memory_words, needs_watch, watch
from fa4dsl.runtime.simulator.layout import GLOBAL_BASE
from fa4dsl.runtime.simulator.numerics.atomic import atomic_update, supports, update_in_order
from fa4dsl.runtime.simulator.numerics.floats import to_double
from fa4dsl.runtime.simulator.numerics.half import narrow
from fa4dsl.runtime.simulator.numerics.operation import Bits, joined, pieces
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection

_WIDE_SUM = "acc::f32"


@handles("multimem")
def multimem(decoder: Decoder, instruction: Instruction) -> Step:
    """``multimem.{ld_reduce,st,red}{.sem}{.scope}{.global}{.op}{.acc::f32}{.v2|.v4}.type``."""
    kind = instruction.modifiers[0] if instruction.modifiers else ""
    if kind not in ("ld_reduce", "st", "red"):
        decoder.unknown(instruction)
    words = memory_words(decoder, instruction, "relaxed" if kind == "red" else "weak", "gpu" if kind == "red" else "sys")
    rest = [word for word in words.rest if word != kind]
    wide_sum = _WIDE_SUM in rest
    rest = [word for word in rest if word != _WIDE_SUM]
    operation = rest[0] if rest else ""
    if len(rest) != (0 if kind == "st" else 1) or words.space not in (None, "global"):
        decoder.unknown(instruction)
    if kind != "st" and not supports(operation, words.type):
        decoder.unknown(instruction)
    if wide_sum and (kind, operation) != ("ld_reduce", "add"):
        decoder.unknown(instruction)
    decoder.count(instruction, 2)
    address, data = instruction.operands if kind != "ld_reduce" else reversed(instruction.operands)
    rows = _registers(decoder, instruction, data, words, kind == "ld_reduce")
    if kind == "ld_reduce":
        return _load(decoder, instruction, words, address, rows, operation, wide_sum)
    return _store(decoder, instruction, words, address, rows, operation)


def _registers(decoder: Decoder, instruction: Instruction, operand: Operand, words: MemoryWords, destination: bool) -> list[Row]:
    items = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(items) != words.vector:
        decoder.wrong(instruction, f"needs {words.vector} registers, {len(items)} given")
    dtype = WIDTH_DTYPE[TYPE_BYTES[words.type]]
    rows = [decoder.register_of(instruction, item) if destination else decoder.source(instruction, item, dtype) for item in items]
    if any(row.dtype != dtype for row in rows):
        decoder.wrong(instruction, "a register has the wrong width")
    return rows


class _Copies:
    """From multicast addresses to the places of every copy."""

    def __init__(self, decoder: Decoder, instruction: Instruction, operand: Operand, size: int) -> None:
        row, offset = decoder.address(instruction, operand)
        self.machine, self.instruction = decoder.machine, instruction
        self.row, self.offset, self.size = row, offset, size
        # the checker and the measures see accesses to the copies
        self.resolver = Resolver(decoder.machine, instruction, "global", row, offset, size)
        self.areas = decoder.machine.memory.buffers.multicast

    def places(self, threads: Selection) -> list[Ints]:
        """Arena offsets, one array for each copy."""
        offsets = (self.row[threads].astype(np.int64) + self.offset) - GLOBAL_BASE
        low, high = int(offsets.min()), int(offsets.max()) + self.size
        for start, size, copies in self.areas:
            if start <= low and high <= start + size:
                if (offsets % self.size).any():
                    self.resolver.misaligned(threads, offsets)
                return [offsets - start + copy for copy in copies]
        inside = np.zeros(len(offsets), np.bool_)
        for start, size, _ in self.areas:
            inside |= (offsets >= start) & (offsets + self.size <= start + size)
        bad = int(np.flatnonzero(~inside)[0]) if not inside.all() else 0
        address = hex(int(offsets[bad]) + GLOBAL_BASE & (1 << 64) - 1)
        return self.machine.fault("S064", self.instruction, int(self.machine.grid.arange[threads][bad]), address=address)


def _load(
    decoder: Decoder, instruction: Instruction, words: MemoryWords, address: Operand, rows: list[Row], operation: str, wide_sum: bool
) -> Step:
    """Copies are combined in the order in which the launch names them; each sum is rounded to the type, with .acc::f32 only the last one."""
    width = TYPE_BYTES[words.type]
    copies = _Copies(decoder, instruction, address, width * words.vector)
    machine = decoder.machine
    tell = (
        watch(decoder, instruction, "read", words.order, words.scope, width, words.vector)
        if needs_watch(decoder, copies.resolver)
        else None
    )
    view = machine.memory.globals.views[width]
    shift = width.bit_length() - 1
    strong = words.order != "weak"

    def run(threads: Selection) -> None:
        places = copies.places(threads)
        if tell is not None:
            for offsets in places:
                tell(copies.resolver, threads, offsets)
        for element, row in enumerate(rows):
            values = [view[(offsets >> shift) + element] for offsets in places]
            row[threads] = _summed(values, words.type) if wide_sum else _combined(values, operation, words.type)
        machine.polled |= strong

    return Step(run, visible=strong)


def _combined(values: list[Bits], operation: str, kind: str) -> Bits:
    result = values[0]
    for value in values[1:]:
        result = atomic_update(operation, kind, result, value)
    return result


def _summed(values: list[Bits], kind: str) -> Bits:
    """f16x2 or bf16x2, added in f32."""
    element = kind.removesuffix("x2")
    with np.errstate(all="ignore"):
        total: Any = to_double(pieces(values[0], 16), element).astype(np.float32)
        for value in values[1:]:
            total = total + to_double(pieces(value, 16), element).astype(np.float32)
        return joined(narrow(total.astype(np.float64), element), 32)


def _store(decoder: Decoder, instruction: Instruction, words: MemoryWords, address: Operand, rows: list[Row], operation: str) -> Step:
    width = TYPE_BYTES[words.type]
    copies = _Copies(decoder, instruction, address, width * words.vector)
    machine = decoder.machine
    access: Any = "atomic" if operation else "write"
    tell = (
        watch(decoder, instruction, access, words.order, words.scope, width, words.vector)
        if needs_watch(decoder, copies.resolver)
        else None
    )
    view = machine.memory.globals.views[width]
    shift = width.bit_length() - 1
    flush = words.type in ("f32", "f64")

    def stored(threads: Selection) -> Any:
        """The values written, one row for each thread."""
        return None if operation else lambda: np.stack([row[threads] for row in rows], axis=1)

    def run(threads: Selection) -> None:
        machine.progress_marks += 1
        for offsets in copies.places(threads):
            if tell is not None:
                tell(copies.resolver, threads, offsets, stored(threads))
            for element, row in enumerate(rows):
                slots = (offsets >> shift) + element
                if operation:
                    update_in_order(operation, words.type, view, slots, row[threads], flush=flush)
                else:
                    view[slots] = row[threads]

    return Step(run, visible=True)
