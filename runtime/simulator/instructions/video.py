"""Video instructions: vadd to vset, vadd2 to vset2, vadd4 to vset4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Negated, Operand, Selected
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.numerics import video
from fa4dsl.runtime.simulator.numerics.operation import Bits, Words
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection

_TYPES = ("u32", "s32")
_SIMPLE = ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
_PARTS = ("", "b0", "b1", "b2", "b3", "h0", "h1")
_LANES = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")


def _operand(decoder: Decoder, instruction: Instruction, operand: Operand) -> tuple[Row, str, bool]:
    """(row, selector, negated)."""
    negated = isinstance(operand, Negated)
    inner = operand.operand if isinstance(operand, Negated) else operand
    selector = ""
    if isinstance(inner, Selected):
        selector, inner = inner.selector, inner.register
    row = decoder.source(instruction, inner, np.uint32)
    if row.dtype != np.uint32:
        decoder.wrong(instruction, "operands of video instructions are 32 bits wide")
    return row, selector, negated


def _step(decoder: Decoder, instruction: Instruction, rows: list[Row], compute: Callable[..., Bits]) -> Step:
    head = instruction.operands[0]
    out = decoder.register_of(instruction, head.register if isinstance(head, Selected) else head)
    if out.dtype != np.uint32:
        decoder.wrong(instruction, "the destination must be 32 bits wide")

    def run(threads: Selection) -> None:
        out[threads] = compute(*[row[threads] for row in rows])

    return Step(run)


def _selector(decoder: Decoder, instruction: Instruction) -> str:
    head = instruction.operands[0] if instruction.operands else None
    return head.selector if isinstance(head, Selected) else ""


def _sources(decoder: Decoder, instruction: Instruction, count: int, negatable: bool = False) -> tuple[list[Row], list[str], list[bool]]:
    if len(instruction.operands) != count + 1:
        decoder.wrong(instruction, f"takes {count} sources, has {len(instruction.operands) - 1}")
    found = [_operand(decoder, instruction, operand) for operand in instruction.operands[1:]]
    if any(negated for _, _, negated in found) and not negatable:
        decoder.wrong(instruction, "takes no negated operand")
    return [row for row, _, _ in found], [selector for _, selector, _ in found], [negated for _, _, negated in found]


@handles(*_SIMPLE, "vshl", "vshr", "vset")
def scalar(decoder: Decoder, instruction: Instruction) -> Step:
    """``vop.dtype.atype.btype{.sat}{.mode}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}``; vset has no dtype, its result counts as unsigned."""
    words = Words(instruction.mnemonic)
    name = instruction.name[1:]
    shifts, compares = name in ("shl", "shr"), name == "set"
    # ptxas takes the saturation in front of the types too
    saturate = words.one("sat") is not None
    d_type = "u32" if compares else words.one(*_TYPES)
    a_type, b_type = words.one(*_TYPES), words.one(*_TYPES)
    comparison = words.one(*video.COMPARISONS) if compares else None
    saturate |= not compares and words.one("sat") is not None
    mode = words.one("clamp", "wrap") if shifts else None
    operation = words.one(*video.SECOND)
    place = _selector(decoder, instruction)
    if d_type is None or a_type is None or b_type is None or words.left or (shifts and (mode is None or b_type != "u32")):
        decoder.unknown(instruction)
    if (compares and comparison is None) or (operation and place):
        decoder.unknown(instruction)
    third = operation is not None or bool(place)
    rows, selectors, _ = _sources(decoder, instruction, 3 if third else 2)
    if any(selector not in _PARTS for selector in (place, *selectors)) or (third and selectors[2]):
        decoder.wrong(instruction, "selectors are .b0 to .b3, .h0 and .h1")
    signed = d_type == "s32"
    width = 32 if not place else 8 if place[0] == "b" else 16

    def compute(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        x, y = video.part(a, selectors[0], a_type == "s32"), video.part(b, selectors[1], b_type == "s32")
        value = video.COMPARISONS[comparison](x, y).astype(np.int64) if comparison else video.combine(name, x, y, mode or "")
        if saturate:
            value = video.clamped(value, width, signed)
        if operation and c is not None:
            value = video.second(operation, value, c, signed)
        return video.merged(place, value, a if c is None else c)

    return _step(decoder, instruction, rows, compute)


@handles("vmad")
def multiply_add(decoder: Decoder, instruction: Instruction) -> Step:
    """``vmad.dtype.atype.btype{.po}{.sat}{.shr7|.shr15} d, {-}a{.asel}, {-}b{.bsel}, {-}c``."""
    words = Words(instruction.mnemonic)
    kinds = [words.one(*_TYPES) for _ in range(3)]
    plus_one = words.one("po") is not None
    saturate = words.one("sat") is not None
    scale = words.one("shr7", "shr15")
    if None in kinds or words.left or _selector(decoder, instruction):
        decoder.unknown(instruction)
    rows, selectors, negated = _sources(decoder, instruction, 3, negatable=True)
    if any(selector not in _PARTS for selector in selectors[:2]) or selectors[2]:
        decoder.wrong(instruction, "selectors of a and b are .b0 to .b3, .h0 and .h1")
    product_negated = negated[0] != negated[1]
    if (plus_one and any(negated)) or (product_negated and negated[2]):
        decoder.wrong(instruction, "either the product or c may be negated, and nothing with .po")
    signed = "s32" in kinds[1:] or product_negated or negated[2]

    def compute(a: Bits, b: Bits, c: Bits) -> Bits:
        return video.multiply_add(
            video.part(a, selectors[0], kinds[1] == "s32"),
            video.part(b, selectors[1], kinds[2] == "s32"),
            c,
            signed=signed,
            negate_product=product_negated,
            negate_c=negated[2],
            plus_one=plus_one,
            shift=int(scale[3:]) if scale else 0,
            saturate=saturate,
        )

    return _step(decoder, instruction, rows, compute)


@handles(*(name + count for name in _LANES for count in "24"))
def lanes(decoder: Decoder, instruction: Instruction) -> Step:
    """``vop2.dtype.atype.btype{.sat|.add} d{.mask}, a{.asel}, b{.bsel}, c`` and vop4; vset2 and vset4 have a comparison instead of dtype."""
    words = Words(instruction.mnemonic)
    name, count = instruction.name[1:-1], int(instruction.name[-1])
    compares = name == "set"
    d_type = "u32" if compares else words.one(*_TYPES)
    a_type, b_type = words.one(*_TYPES), words.one(*_TYPES)
    comparison = words.one(*video.COMPARISONS) if compares else None
    saturate = not compares and words.one("sat") is not None
    accumulate = not saturate and words.one("add") is not None
    if d_type is None or a_type is None or b_type is None or words.left or (compares and comparison is None):
        decoder.unknown(instruction)
    rows, selectors, _ = _sources(decoder, instruction, 3)
    letter, highest = ("h", 3) if count == 2 else ("b", 7)
    defaults = ("h10", "h32") if count == 2 else ("b3210", "b7654")
    orders = [selector or default for selector, default in zip(selectors, defaults, strict=False)]
    place = _selector(decoder, instruction) or defaults[0]
    if selectors[2] or any(order[0] != letter or len(order) != count + 1 or int(max(order[1:])) > highest for order in orders):
        decoder.wrong(instruction, f"sources are selected by .{letter} and {count} digits up to {highest}")
    chosen = {int(digit) for digit in place[1:]}
    if place[0] != letter or max(chosen) >= count:
        decoder.wrong(instruction, f"the destination's mask is .{letter} and digits below {count}")
    signed = d_type == "s32"

    def compute(a: Bits, b: Bits, c: Bits) -> Bits:
        xs = video.lanes(a, b, orders[0][1:], count, a_type == "s32")
        ys = video.lanes(a, b, orders[1][1:], count, b_type == "s32")
        if comparison:
            values = [video.COMPARISONS[comparison](x, y).astype(np.int64) for x, y in zip(xs, ys, strict=True)]
        else:
            values = [video.combine(name, x, y) for x, y in zip(xs, ys, strict=True)]
        if saturate:
            values = [video.clamped(value, 32 // count, signed) for value in values]
        return video.lanes_added(values, chosen, c) if accumulate else video.lanes_merged(values, chosen, c)

    return _step(decoder, instruction, rows, compute)
