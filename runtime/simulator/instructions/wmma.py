"""wmma.load, wmma.store and wmma.mma: whole warps, in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Operand
from fa4dsl.runtime.simulator.access import Generic, Resolver, Target, pieces
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.instructions.loads_stores import needs_watch, watch
from fa4dsl.runtime.simulator.instructions.matrices import elements, table, whole_warps
from fa4dsl.runtime.simulator.instructions.warp import collective
from fa4dsl.runtime.simulator.numerics import product
from fa4dsl.runtime.simulator.numerics.half import narrow
from fa4dsl.runtime.simulator.numerics.warp_layouts import FORMS, SHAPES, Fragment, fragment, gather, spread
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection

if TYPE_CHECKING:
    from collections.abc import Callable

_SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared"}
_LAYOUTS = ("row", "col")


@handles("wmma")
def wmma(decoder: Decoder, instruction: Instruction) -> Step:
    """``wmma.load.{a,b,c}``, ``wmma.store.d``, ``wmma.mma``; layout and shape come in either order."""
    words = list(instruction.modifiers)
    if words[:1] == ["mma"]:
        return _multiply(decoder, instruction, words[1:])
    if words[:1] == ["load"] and words[1:2] in (["a"], ["b"], ["c"]):
        return _transfer(decoder, instruction, words[1], words[2:], loads=True)
    if words[:2] == ["store", "d"]:
        return _transfer(decoder, instruction, "c", words[2:], loads=False)
    return decoder.unknown(instruction)


def _pieces_of(layout: Fragment, by_rows: bool) -> tuple[list[tuple[Row, Row]], int, int]:
    """How a fragment is accessed: (line, place in the line) of each access ``[32]``, the elements of each, and its bytes.

    Elements of one register that lie side by side are one access.
    """
    lines, places = (layout.rows, layout.columns) if by_rows else (layout.columns, layout.rows)
    step = layout.per_register
    joined = step > 1 and bool((lines[1::step] == lines[0::step]).all() and (places[1::step] == places[0::step] + 1).all())
    size = step if joined or layout.width < 8 else 1
    return [(lines[at], places[at]) for at in range(0, len(lines), size)], size, size * layout.width // 8


def _transfer(decoder: Decoder, instruction: Instruction, operand: str, words: list[str], loads: bool) -> Step:
    """Every lane moves its own elements; the ISA calls these weak accesses."""
    if words[:2] != ["sync", "aligned"]:
        decoder.unknown(instruction)
    words = sorted(words[2:4], key=lambda word: word in SHAPES) + words[4:]
    space = _SPACES.get(words[2]) if len(words) == 4 else None
    if len(words) not in (3, 4) or words[0] not in _LAYOUTS or (len(words) == 4 and space is None):
        decoder.unknown(instruction)
    layout = fragment(operand, words[1], words[-1])
    by_rows = words[0] == "row"
    if layout is None or (layout.width < 8 and by_rows != (operand == "a")):
        decoder.unknown(instruction)
    decoder.count(instruction, 2, 3)
    position, registers = (1, 0) if loads else (0, 1)
    rows = elements(decoder, instruction, instruction.operands[registers], layout.registers, loads, layout.register_bytes)
    parts, size, width = _pieces_of(layout, by_rows)
    target, base = _target(decoder, instruction, instruction.operands[position], space, width)
    stride = None
    if len(instruction.operands) == 3:
        stride = decoder.source(instruction, instruction.operands[2], np.uint32)
    natural = layout.shape[1] if by_rows else layout.shape[0]
    tell = watch(decoder, instruction, "read" if loads else "write", "weak", "cta", width) if needs_watch(decoder, target) else None
    machine = decoder.machine
    move = _load if loads else _store

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        start = base(threads)
        step = np.full(1, natural, np.int64) if stride is None else stride[threads].astype(np.int64)
        if not loads:
            machine.progress_marks += 1
        move(layout, rows, parts, size, threads, warps, lambda part: _offsets(target, start, step, part, layout, threads, warps, tell))

    return collective(decoder, instruction, run, None)


def _target(
    decoder: Decoder, instruction: Instruction, operand: Operand, space: str | None, width: int
) -> tuple[Target, Callable[..., Row]]:
    """What resolves the accesses' addresses, which are written to its row first, and the matrix' own address."""
    row, offset = decoder.address(instruction, operand)
    named = decoder.address_space(instruction, operand)
    if space is None and named in ("global", "shared"):
        space = named
    # a register that holds the address of each access in turn
    scratch: Row = np.zeros(decoder.grid.width, row.dtype)
    machine = decoder.machine
    target: Target
    if space is None:
        target = Generic(machine, instruction, scratch, 0, width)
    else:
        target = Resolver(machine, instruction, space, scratch, 0, width)

    def base(threads: Selection) -> Row:
        return row[threads].astype(np.int64) + offset

    return target, base


def _offsets(
    target: Target, start: Row, step: Row, part: tuple[Row, Row], layout: Fragment, threads: Selection, warps: int, tell: Any
) -> Any:
    """(arena, offsets, threads) of one access of every lane."""
    lines, places = (np.tile(item, warps) for item in part)
    scratch = target.row
    scratch[threads] = (start + (lines * step + places) * layout.width // 8).astype(scratch.dtype)
    found = []
    for resolver, mine in pieces(target, threads):
        offsets = np.asarray(resolver.resolve(mine), np.int64)
        if tell is not None:
            tell(resolver, mine, offsets)
        found.append((resolver.arena, offsets, mine))
    return found


def _load(
    layout: Fragment, rows: list[Row], parts: list[tuple[Row, Row]], size: int, threads: Selection, warps: int, access: Callable[..., Any]
) -> None:
    width = size * layout.width // 8
    shift = width.bit_length() - 1
    count = len(parts) * size // layout.per_register
    values = [row.copy() for row in rows[:count]]
    for index, part in enumerate(parts):
        register, within = divmod(index * size, layout.per_register)
        for arena, offsets, mine in access(part):
            fetched = arena.views[width][offsets >> shift].astype(values[register].dtype)
            if size == layout.per_register:
                values[register][mine] = fetched
            else:
                amount = values[register].dtype.type(within * layout.width)
                kept = values[register][mine] if within else values[register].dtype.type(0)
                values[register][mine] = kept | (fetched << amount)
    for index, row in enumerate(rows):
        row[threads] = values[index % count][threads]


def _store(
    layout: Fragment, rows: list[Row], parts: list[tuple[Row, Row]], size: int, threads: Selection, warps: int, access: Callable[..., Any]
) -> None:
    width = size * layout.width // 8
    shift = width.bit_length() - 1
    for index, part in enumerate(parts):
        register, within = divmod(index * size, layout.per_register)
        for arena, offsets, mine in access(part):
            values = rows[register][mine] >> rows[register].dtype.type(within * layout.width)
            arena.views[width][offsets >> shift] = values.astype(arena.views[width].dtype)


def _multiply(decoder: Decoder, instruction: Instruction, words: list[str]) -> Step:
    """``wmma.mma{.xor.popc|.and.popc}.sync.aligned.alayout.blayout.shape{.rnd}.dtype{.atype.btype}.ctype{.satfinite} d, a, b, c``."""
    operation = ""
    if words[:2] in (["xor", "popc"], ["and", "popc"]):
        operation = words[0]
        words = words[2:]
    if words[:2] != ["sync", "aligned"] or len(words) < 7:
        decoder.unknown(instruction)
    a_layout, b_layout, shape, *rest = words[2:]
    rounding = "rn"
    if rest[0] in ("rn", "rz", "rm", "rp"):
        rounding = rest.pop(0)
    saturate = rest[-1:] == ["satfinite"]
    if saturate:
        rest.pop()
    if len(rest) == 2:
        rest = [rest[0], "f16", "f16", rest[1]]
    if len(rest) != 4 or rest[1] not in FORMS or rest[1] != rest[2]:
        decoder.unknown(instruction)
    d_type, kind, _, c_type = rest
    shapes, accumulators = FORMS[kind]
    known = shape in shapes and (d_type, c_type) in accumulators and a_layout in _LAYOUTS and b_layout in _LAYOUTS
    if not known or (kind == "b1") != bool(operation) or (saturate and d_type != "s32") or (rounding != "rn" and kind != "f64"):
        decoder.unknown(instruction)
    if kind in ("s4", "u4", "b1") and (a_layout, b_layout) != ("row", "col"):
        decoder.unknown(instruction)
    decoder.count(instruction, 4)
    layouts = [fragment("c", shape, d_type), fragment("a", shape, kind), fragment("b", shape, kind), fragment("c", shape, c_type)]
    found = [layout for layout in layouts if layout is not None]
    if len(found) != 4:
        decoder.unknown(instruction)
    d_form, a_form, b_form, c_form = found
    d, a, b, c = (
        elements(decoder, instruction, operand, layout.registers, index == 0, layout.register_bytes)
        for index, (operand, layout) in enumerate(zip(instruction.operands, found, strict=True))
    )

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        left = product.numbers(gather(a_form, table(a, threads, warps)), kind)
        right = product.numbers(gather(b_form, table(b, threads, warps)), kind).swapaxes(-1, -2)
        before = gather(c_form, table(c, threads, warps))
        sum_type = d_type
        if c_type != d_type:
            # the sum is formed in f32
            sum_type = "f32"
            if c_type == "f16":
                before = product.numbers(before, "f16").astype(np.float32).view(np.uint32)
        aligned = kind in product.ALIGNED_TYPES and sum_type == "f32"
        result = product.multiply_accumulate(
            left, right, before, sum_type, saturate=saturate, operation=operation, aligned=aligned, rounding=rounding
        )
        if sum_type != d_type:
            with np.errstate(all="ignore"):
                result = narrow(result.view(np.float32).astype(np.float64), "f16")
        for row, values in zip(d, spread(d_form, result), strict=True):
            row[threads] = values.reshape(-1)

    return collective(decoder, instruction, run, None)
