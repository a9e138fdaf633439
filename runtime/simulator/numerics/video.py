"""Video instructions (PTX 9.7.18): 32-bit operations on bytes, half-words and words of mixed signs, scalar and in two or four lanes.

Values are int64 arrays. Where the ISA's text and ptxas' code for sm_90 differ, this is the ISA's: without `.sat` the second operation sees the exact
result of the first. A shift keeps the 34 bits that the ISA gives an intermediate result, which ptxas' code does too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import Bits

COMPARISONS: dict[str, Any] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
SECOND = ("add", "min", "max")


def part(bits: Bits, selector: str, signed: bool) -> Bits:
    """A word of uint32 `bits`, or its byte ``b0``..``b3`` or half ``h0``, ``h1``, extended by its own sign or by zeros to int64."""
    width, shift = 32, 0
    if selector:
        width = 8 if selector[0] == "b" else 16
        shift = width * int(selector[1])
    return extended((bits >> np.uint32(shift)).astype(np.int64), width, signed)


def extended(value: Bits, width: int, signed: bool) -> Bits:
    """The low `width` bits of int64 numbers, extended to 64."""
    spare = np.int64(64 - width)
    moved = value << spare
    return moved >> spare if signed else (moved.view(np.uint64) >> spare.astype(np.uint64)).view(np.int64)


def clamped(value: Bits, width: int, signed: bool) -> Bits:
    """`value` held within a type's range."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    held: Bits = np.clip(value, low, high)
    return held


def combine(name: str, a: Bits, b: Bits, mode: str = "") -> Bits:
    """The first stage: `name` without its ``v`` and lane count."""
    if name == "add":
        return a + b
    if name == "sub":
        return a - b
    if name == "absdiff":
        distance: Bits = np.abs(a - b)
        return distance
    if name == "min":
        return np.minimum(a, b)
    if name == "max":
        return np.maximum(a, b)
    if name == "avrg":
        # halves are rounded away from zero
        total = a + b
        return (total + (total >= 0)) >> np.int64(1)
    amount = b & 31 if mode == "wrap" else np.minimum(b, 32)
    return extended(a << amount, 34, True) if name == "shl" else a >> amount


def second(operation: str, value: Bits, c: Bits, signed: bool) -> Bits:
    """The second stage of a scalar instruction: `value` with the third operand (uint32 bits)."""
    other = part(c, "", signed)
    return value + other if operation == "add" else np.minimum(value, other) if operation == "min" else np.maximum(value, other)


def merged(selector: str, value: Bits, c: Bits) -> Bits:
    """`value` put into the byte or half `selector` of c; without a selector, all of it."""
    low = value.astype(np.uint64).astype(np.uint32)
    if not selector:
        return low
    width = 8 if selector[0] == "b" else 16
    shift = np.uint32(width * int(selector[1]))
    mask = np.uint32(((1 << width) - 1) << int(shift))
    return ((low << shift) & mask) | (c & ~mask)


def multiply_add(
    a: Bits, b: Bits, c: Bits, *, signed: bool, negate_product: bool, negate_c: bool, plus_one: bool, shift: int, saturate: bool
) -> Bits:
    """vmad: a, b extended numbers, c uint32 bits; `signed`: the final result is. Python integers where 64 bits may not do."""
    exact = saturate or shift > 0
    x, y, z = (value.astype(object) if exact else value for value in (a, b, part(c, "", signed)))
    total = x * y
    total = (-total if negate_product else total) + (-z if negate_c else z)
    if plus_one:
        total = total + 1
    if shift:
        total = total >> shift
    if saturate:
        total = clamped(total, 32, signed)
    # only the low word is kept
    whole: Bits = (total & 0xFFFFFFFF).astype(np.uint32)
    return whole


def lanes(a: Bits, b: Bits, order: str, count: int, signed: bool) -> list[Bits]:
    """The elements that a selector picks from both sources, lowest first; `order` as written, highest first, indices into ``{b, a}``."""
    width = 32 // count
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    return [extended((both >> np.uint64(width * int(index))).view(np.int64), width, signed) for index in reversed(order)]


def lanes_merged(values: list[Bits], chosen: set[int], c: Bits) -> Bits:
    """Elements of the positions `chosen`, the others from c (uint32)."""
    width = 32 // len(values)
    mask = np.uint32((1 << width) - 1)
    result = c.copy()
    for position in chosen:
        shift = np.uint32(width * position)
        low = values[position].astype(np.uint64).astype(np.uint32) & mask
        result = (result & ~(mask << shift)) | (low << shift)
    return result


def lanes_added(values: list[Bits], chosen: set[int], c: Bits) -> Bits:
    """c plus the elements of the positions `chosen`."""
    total = c.astype(np.int64)
    for position in chosen:
        total = total + values[position]
    return total.astype(np.uint64).astype(np.uint32)
