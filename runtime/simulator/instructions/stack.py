"""alloca, stacksave and stackrestore: memory of a thread's stack, which ends with the function that took it."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.layout import POISON
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Selection
from fa4dsl.runtime.simulator.storage import STACK_BYTES

GREATEST_ALIGNMENT = 1 << 23


def stack_pointer(decoder: Decoder) -> Ints:
    """Where each thread's free stack begins, as an offset in its local memory."""
    machine = decoder.machine
    if machine.stack_pointer is None:
        start = decoder.storage.stack_start
        assert start is not None
        pointer = machine.stack_pointer = np.full(decoder.grid.width, start, np.int64)

        def reset() -> None:
            pointer[:] = start

        machine.wave_hooks.append(reset)
    return machine.stack_pointer


def _kind(decoder: Decoder, instruction: Instruction) -> type[np.unsignedinteger]:
    if instruction.modifiers not in (("u32",), ("u64",)):
        decoder.unknown(instruction)
    return np.uint32 if instruction.modifiers[0] == "u32" else np.uint64


@handles("alloca")
def alloca(decoder: Decoder, instruction: Instruction) -> Step:
    """``alloca.type pointer, size{, alignment}``: a local address, aligned to 8 bytes unless the instruction says otherwise."""
    dtype = _kind(decoder, instruction)
    decoder.count(instruction, 2, 3)
    out = decoder.register_of(instruction, instruction.operands[0])
    sizes = decoder.source(instruction, instruction.operands[1], dtype)
    alignment = 8
    if len(instruction.operands) == 3:
        operand = instruction.operands[2]
        if not isinstance(operand, Immediate) or not 1 <= operand.bits <= GREATEST_ALIGNMENT or operand.bits & (operand.bits - 1):
            decoder.wrong(instruction, f"the alignment is a constant power of two up to {GREATEST_ALIGNMENT}")
        alignment = operand.bits
    pointer = stack_pointer(decoder)
    machine, grid = decoder.machine, decoder.grid
    limit = (decoder.storage.stack_start or 0) + STACK_BYTES
    memory = machine.memory

    def run(threads: Selection) -> None:
        start = (pointer[threads] + (alignment - 1)) & -alignment
        wanted = sizes[threads].astype(np.uint64)
        # in unsigned arithmetic, so that a negative size is a large one
        over = wanted > (limit - np.minimum(start, limit)).astype(np.uint64)
        if over.any():
            index = int(np.flatnonzero(over)[0])
            machine.fault(
                "S063",
                instruction,
                int(grid.arange[threads][index]),
                what=f"{int(wanted[index])} bytes asked for, {max(limit - int(start[index]), 0)} of {STACK_BYTES} are left",
                how="take less, or memory of another kind: the simulator gives a thread no more, a GPU by default less",
            )
        end = start + wanted.astype(np.int64)
        pointer[threads] = end
        out[threads] = start
        # a new object, whatever lay there before
        rows = memory.local.bytes.reshape(-1, memory.local_stride)
        marks = None if memory.local.written is None else memory.local.written.bytes.reshape(-1, memory.local_stride)
        numbers = grid.arange[threads]
        for first, last in set(zip(start.tolist(), end.tolist(), strict=True)):
            mine = numbers[(start == first) & (end == last)]
            rows[mine, first:last] = POISON
            if marks is not None:
                marks[mine, first:last] = 0

    return Step(run)


@handles("stacksave")
def stacksave(decoder: Decoder, instruction: Instruction) -> Step:
    """``stacksave.type d``."""
    _kind(decoder, instruction)
    decoder.count(instruction, 1)
    out = decoder.register_of(instruction, instruction.operands[0])
    pointer = stack_pointer(decoder)

    def run(threads: Selection) -> None:
        out[threads] = pointer[threads]

    return Step(run)


@handles("stackrestore")
def stackrestore(decoder: Decoder, instruction: Instruction) -> Step:
    """``stackrestore.type a``: everything taken since the stacksave is given back."""
    dtype = _kind(decoder, instruction)
    decoder.count(instruction, 1)
    row = decoder.source(instruction, instruction.operands[0], dtype)
    pointer = stack_pointer(decoder)
    start = decoder.storage.stack_start or 0
    machine, grid = decoder.machine, decoder.grid

    def run(threads: Selection) -> None:
        values = row[threads].astype(np.int64)
        bad = (values < start) | (values > pointer[threads])
        if bad.any():
            index = int(np.flatnonzero(bad)[0])
            machine.fault(
                "S063",
                instruction,
                int(grid.arange[threads][index]),
                what=f"{int(values[index]):#x} is no place that stacksave gave in this function",
                how="restore what a stacksave of the same function gave, the latest first",
            )
        pointer[threads] = values

    return Step(run)
