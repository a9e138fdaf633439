"""mov in all its forms, and special registers that change while a kernel runs."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Negated, Operand, Register, Sink, Special, Vector
from fa4dsl.runtime.simulator.decoder import DYNAMIC_SPECIALS, WIDTH_DTYPE, Decoder, handles
from fa4dsl.runtime.simulator.numerics.operation import pack_elements, unpack_elements
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection

_BYTES = {"b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
          "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}  # fmt: skip

TIMER_START = 1_767_225_600 * 10**9
"""%globaltimer at the start of a launch: nanoseconds of a real date, as programs expect that measure or seed with it."""


def _dynamic(decoder: Decoder, instruction: Instruction, name: str) -> Step:
    machine = decoder.machine
    out = decoder.register_of(instruction, instruction.operands[0])
    high = name.endswith("_hi")
    scale = 1 if "clock" in name else 32
    timer = name.startswith("%globaltimer")

    def read(threads: Selection) -> None:
        machine.clock += 1
        machine.polled = True
        value = machine.clock + machine.instructions_run
        if timer:
            value = TIMER_START + value // 2 // scale * scale + machine.slept
        else:
            value += 2 * machine.slept
        out[threads] = np.uint64((value >> 32 if high else value) & ((1 << out.dtype.itemsize * 8) - 1)).astype(out.dtype)

    return Step(read, visible=True)


@handles("mov")
def mov(decoder: Decoder, instruction: Instruction) -> Step | None:
    """``mov.type d, a``; d or a may be a vector (pack, unpack); a may be a special register or a variable's address."""
    kind = instruction.mnemonic.partition(".")[2]
    if kind != "pred" and kind not in _BYTES:
        return None
    decoder.count(instruction, 2)
    target, source = instruction.operands
    if isinstance(source, Special) and source.name in DYNAMIC_SPECIALS:
        return _dynamic(decoder, instruction, source.name)
    if kind == "b128":
        return _wide(decoder, instruction, target, source)
    if any(isinstance(item, Vector) and (kind == "pred" or len(item.elements) not in (2, 4)) for item in (target, source)):
        decoder.wrong(instruction, "packs and unpacks two or four registers")
    if isinstance(target, Vector):
        return _unpack(decoder, instruction, target, source, _BYTES[kind])
    if isinstance(source, Vector):
        return _pack(decoder, instruction, target, source, _BYTES[kind])
    if isinstance(target, Sink):
        return Step(lambda threads: None)
    out = decoder.register_of(instruction, target)
    if isinstance(source, Negated):
        row = decoder.source(instruction, source.operand, np.bool_)

        def negated(threads: Selection) -> None:
            out[threads] = ~row[threads]

        return Step(negated)
    if isinstance(source, Special) and source.name.startswith(("%pm", "%envreg", "%current_graph_exec")):
        halves = {"%envreg1": decoder.machine.workspace >> 32, "%envreg2": decoder.machine.workspace & 0xFFFFFFFF}
        row = decoder.constant(halves.get(source.name, 0), out.dtype)
    else:
        row = decoder.source(instruction, source, out.dtype)
    if (row.dtype == np.bool_) != (out.dtype == np.bool_):
        decoder.wrong(instruction, "mixes a predicate with another register")
    if isinstance(source, Register) and row.dtype != out.dtype:
        decoder.wrong(instruction, "source and destination have different widths")

    def move(threads: Selection) -> None:
        out[threads] = row[threads]

    return Step(move)


def _elements(decoder: Decoder, instruction: Instruction, vector: Vector, width: int) -> list[Row | None]:
    dtype = WIDTH_DTYPE.get(width)
    if dtype is None:
        decoder.wrong(instruction, "a vector that does not divide the register")
    rows = [None if isinstance(item, Sink) else decoder.source(instruction, item, dtype) for item in vector.elements]
    if any(row is not None and (row.dtype == np.bool_ or not row.flags.writeable) for row in rows):
        decoder.wrong(instruction, "unpacks into data registers")
    return rows


def _unpack(decoder: Decoder, instruction: Instruction, target: Vector, source: Operand, width: int) -> Step:
    count = len(target.elements)
    rows = _elements(decoder, instruction, target, width // count)
    row = decoder.source(instruction, source, WIDTH_DTYPE[width])
    if row.dtype != WIDTH_DTYPE[width]:
        decoder.wrong(instruction, f"the source must be {width * 8} bits wide")
    outs = [(index, out) for index, out in enumerate(rows) if out is not None]

    def unpack(threads: Selection) -> None:
        parts = unpack_elements(row[threads], count)
        for index, out in outs:
            out[threads] = parts[index]

    return Step(unpack)


def _pack(decoder: Decoder, instruction: Instruction, target: Operand, source: Vector, width: int) -> Step:
    dtype = WIDTH_DTYPE.get(width // len(source.elements))
    if dtype is None:
        decoder.wrong(instruction, "a vector that does not divide the register")
    rows = [decoder.source(instruction, item, dtype) for item in source.elements]
    out = decoder.register_of(instruction, target)
    if out.dtype == np.bool_ or any(row.dtype == np.bool_ for row in rows):
        decoder.wrong(instruction, "packs data registers")

    def pack(threads: Selection) -> None:
        out[threads] = pack_elements(tuple(row[threads] if row.dtype == dtype else row[threads].astype(dtype) for row in rows))

    return Step(pack)


def _wide(decoder: Decoder, instruction: Instruction, target: Operand, source: Operand) -> Step:
    """128-bit registers are pairs of 64-bit halves."""
    if isinstance(target, Vector):
        row = decoder.source(instruction, source, np.uint64)
        outs = _elements(decoder, instruction, target, 8)
        if row.dtype.fields is None or len(outs) != 2:
            decoder.wrong(instruction, "mov.b128 unpacks a .b128 register into two .b64")

        def unpack(threads: Selection) -> None:
            for out, half in zip(outs, ("low", "high"), strict=True):
                if out is not None:
                    out[threads] = row[half][threads]

        return Step(unpack)
    out = decoder.register_of(instruction, target)
    if isinstance(source, Vector) and len(source.elements) == 2:
        low, high = (decoder.source(instruction, item, np.uint64) for item in source.elements)

        def pack(threads: Selection) -> None:
            out["low"][threads] = low[threads]
            out["high"][threads] = high[threads]

        return Step(pack)
    row = decoder.source(instruction, source, np.uint64)
    if row.dtype != out.dtype:
        decoder.wrong(instruction, "mov.b128 needs two .b128 registers")

    def move(threads: Selection) -> None:
        out[threads] = row[threads]

    return Step(move)
