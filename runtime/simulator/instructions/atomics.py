"""atom and red. Threads that hit one address take turns in thread order, so results are the same in every run of a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Sink, Vector
from fa4dsl.runtime.ptx.module import TYPE_BYTES
from fa4dsl.runtime.simulator.access import pieces
from fa4dsl.runtime.simulator.decoder import WIDTH_DTYPE, Decoder, handles
from fa4dsl.runtime.simulator.instructions.loads_stores import make_target, memory_words, needs_watch, watch
from fa4dsl.runtime.simulator.numerics.atomic import supports, update_in_order
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection


@handles("atom")
def atom(decoder: Decoder, instruction: Instruction) -> Step:
    """``atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}``, also with `.v2`..`.v8` of 16- and 32-bit floats (sm_90)."""
    return _atomic(decoder, instruction, returns=True)


@handles("red")
def red(decoder: Decoder, instruction: Instruction) -> Step:
    """``red...``: an atom that returns nothing. (``red.async`` is elsewhere.)"""
    if instruction.modifiers[:1] == ("async",):
        from fa4dsl.runtime.simulator.instructions.copies import reduce_async

        return reduce_async(decoder, instruction)
    return _atomic(decoder, instruction, returns=False)


def _atomic(decoder: Decoder, instruction: Instruction, returns: bool) -> Step:
    words = memory_words(decoder, instruction, "relaxed", "gpu")
    rest = [word for word in words.rest if word != "noftz"]
    if len(rest) != 1:
        decoder.unknown(instruction)
    operation = rest[0]
    kind = words.type
    width = TYPE_BYTES[kind]
    if kind == "b128":
        return _wide(decoder, instruction, operation, words)
    if not supports(operation, kind):
        decoder.unknown(instruction)
    operands = list(instruction.operands)
    outs: list[Row | None] = []
    if returns:
        head = operands.pop(0)
        outs = [
            None if isinstance(item, Sink) else decoder.register_of(instruction, item)
            for item in (head.elements if isinstance(head, Vector) else (head,))
        ]
    needed = 3 if operation == "cas" else 2
    if len(operands) - (1 if words.cache_hint else 0) != needed:
        decoder.wrong(instruction, f"takes {needed} operands after the destination")
    sources = operands[1].elements if isinstance(operands[1], Vector) else (operands[1],)
    dtype = WIDTH_DTYPE[width]
    rows = [decoder.source(instruction, item, dtype) for item in sources]
    second = decoder.source(instruction, operands[2], dtype) if operation == "cas" else None
    if len(rows) != words.vector or (returns and len(outs) != words.vector):
        decoder.wrong(instruction, f"needs vectors of {words.vector}")
    if any(row.dtype.itemsize != width for row in rows) or (second is not None and second.dtype.itemsize != width):
        decoder.wrong(instruction, "a register has the wrong width")
    target = make_target(decoder, instruction, operands[0], words.space, width * words.vector)
    tell = watch(decoder, instruction, "atomic", words.order, words.scope, width, words.vector) if needs_watch(decoder, target) else None
    machine = decoder.machine
    shift = width.bit_length() - 1

    def run(threads: Selection) -> None:
        changed = not returns
        for resolver, part in pieces(target, threads):
            offsets = resolver.resolve(part)
            if tell is not None:
                tell(resolver, part, offsets)
            view = resolver.arena.views[width]
            before = view[offsets >> shift]
            # global f32 additions flush subnormals, global f64 ones hand NaNs on; shared ones do neither
            flush = resolver.space == "global" and kind in ("f32", "f64")
            for element, row in enumerate(rows):
                # atom.cas d, [a], compare, value
                value, compare = (row[part], None) if second is None else (second[part], row[part])
                old = update_in_order(operation, kind, view, (offsets >> shift) + element, value, compare, flush=flush)
                if returns and outs[element] is not None:
                    outs[element][part] = old  # type: ignore[index]
            # an atomic may be how a thread polls: it gets on only if something changed
            changed = changed or words.vector > 1 or bool((view[offsets >> shift] != before).any())
        machine.progress_marks += changed
        if returns:
            machine.polled = True

    return Step(run, visible=True)


def _wide(decoder: Decoder, instruction: Instruction, operation: str, words: Any) -> Step:
    """``atom.exch.b128`` and ``atom.cas.b128``, one thread after the other."""
    if operation not in ("exch", "cas"):
        decoder.unknown(instruction)
    operands = instruction.operands
    out = None if isinstance(operands[0], Sink) else decoder.register_of(instruction, operands[0])
    value = decoder.source(instruction, operands[2], np.uint64)
    swap = decoder.source(instruction, operands[3], np.uint64) if operation == "cas" else value
    target = make_target(decoder, instruction, operands[1], words.space, 16)
    tell = watch(decoder, instruction, "atomic", words.order, words.scope, 16) if needs_watch(decoder, target) else None
    machine = decoder.machine

    def run(threads: Selection) -> None:
        machine.progress_marks += 1
        machine.polled = True
        for resolver, part in pieces(target, threads):
            offsets = resolver.resolve(part)
            if tell is not None:
                tell(resolver, part, offsets)
            table = resolver.arena.rows(8, 2)
            for thread, offset in zip(machine.grid.arange[part].tolist(), offsets.tolist(), strict=True):
                old = table[offset >> 4].copy()
                if operation == "exch" or (old[0] == value["low"][thread] and old[1] == value["high"][thread]):
                    table[offset >> 4] = (swap["low"][thread], swap["high"][thread])
                if out is not None:
                    out["low"][thread], out["high"][thread] = old

    return Step(run, visible=True)
