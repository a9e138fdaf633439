"""Integer arithmetic (PTX 9.7.1, 9.7.2): add to dp2a, with carry, saturating and packed forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import (
    Bits,
    Container,
    Family,
    PureOp,
    Run,
    Words,
    container,
    joined,
    pieces,
    repeated,
    signed,
    unsigned,
)

_TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")


def _dtype(kind: str) -> np.dtype[Any]:
    width = int(kind[1:])
    return signed(width) if kind[0] == "s" else unsigned(width)


def _operation(words: Words, kind: str, sources: int, run: Run, result_width: int = 0) -> PureOp | None:
    if words.left:
        return None
    width = int(kind[1:])
    return PureOp(words.mnemonic, repeated(container(width), sources), (container(result_width or width),), run, kind[0] == "s")


def high_product(a: Bits, b: Bits, kind: str) -> Bits:
    """The upper half of the full product, as unsigned bits. Widths 16, 32, 64."""
    width = int(kind[1:])
    if width < 64:
        wide = signed(2 * width) if kind[0] == "s" else unsigned(2 * width)
        product = a.view(_dtype(kind)).astype(wide) * b.view(_dtype(kind)).astype(wide)
        upper: Bits = (product >> wide.type(width)).astype(unsigned(width))
        return upper
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & low)
    high: Bits = a_high * b_high + (middle >> half) + (other >> half)
    if kind == "s64":
        # a signed operand is its unsigned bits less 2^64 when negative
        high = high - np.where(a >> np.uint64(63), b, np.uint64(0)) - np.where(b >> np.uint64(63), a, np.uint64(0))
    return high


def product(kind: str, part: str) -> Any:
    """The function ``(a, b) -> bits`` of mul.`part`.`kind`; `part` is lo, hi or wide."""
    if part == "lo":
        return np.multiply
    if part == "hi":
        return lambda a, b: high_product(a, b, kind)
    width = int(kind[1:])
    dtype, wide = _dtype(kind), _dtype(f"{kind[0]}{2 * width}")
    raw = unsigned(2 * width)
    return lambda a, b: (a.view(dtype).astype(wide) * b.view(dtype).astype(wide)).view(raw)


def _saturated(total: Bits) -> Bits:
    clamped: Bits = np.clip(total, -(2**31), 2**31 - 1).astype(np.int32).view(np.uint32)
    return clamped


def _packed(words: Words, kind: str, function: Any, relu: bool = False) -> PureOp | None:
    dtype = _dtype(kind[:3])

    def run(a: Bits, b: Bits) -> tuple[Bits]:
        result = function(pieces(a, 16).view(dtype), pieces(b, 16).view(dtype))
        return (joined(np.maximum(result, 0) if relu else result, 32),)

    return None if words.left else PureOp(words.mnemonic, ("b32", "b32"), ("b32",), run)


def _add_sub(words: Words) -> PureOp | None:
    function = np.add if words.name == "add" else np.subtract
    if words.one("cc"):
        return _carry(words, False, True)
    saturate = words.one("sat")
    kind = words.one(*_TYPES, "u16x2", "s16x2")
    if kind is None:
        return None
    if saturate:
        if kind != "s32":
            return None
        return _operation(words, kind, 2, lambda a, b: (_saturated(function(a.view(np.int32), b.view(np.int32), dtype=np.int64)),))
    if kind.endswith("x2"):
        return _packed(words, kind, function) if words.name == "add" else None
    return _operation(words, kind, 2, lambda a, b: (function(a, b),))


def _carry(words: Words, carry_in: bool, carry_out: bool) -> PureOp | None:
    """add.cc addc{.cc} sub.cc subc{.cc}: for a subtraction the flag is the borrow."""
    kind = words.one(*_TYPES) if carry_in and not carry_out else words.one("u32", "s32", "u64", "s64")
    if kind is None or words.left:
        return None
    subtract = words.name.startswith("sub")
    width = int(kind[1:])
    raw = unsigned(width)

    def run(a: Bits, b: Bits, carry: Bits | None = None) -> tuple[Bits, ...]:
        total = a - b if subtract else a + b
        flag = a < b if subtract else total < a
        if carry is not None:
            step = carry.astype(raw)
            before = total
            total = before - step if subtract else before + step
            flag = flag | (before < step if subtract else total < before)
        return (total, flag) if carry_out else (total,)

    register: Container = container(width)
    sources: tuple[Container, ...] = (register, register, "cc") if carry_in else (register, register)
    return PureOp(words.mnemonic, sources, (register, "cc") if carry_out else (register,), run, kind[0] == "s")


def _addc(words: Words) -> PureOp | None:
    return _carry(words, True, words.one("cc") is not None)


def _mul(words: Words) -> PureOp | None:
    part = words.one("lo", "hi", "wide")
    kind = words.one(*_TYPES)
    if part is None or kind is None or (part == "wide" and kind.endswith("64")):
        return None
    function = product(kind, part)
    return _operation(words, kind, 2, lambda a, b: (function(a, b),), 2 * int(kind[1:]) if part == "wide" else 0)


def _mad(words: Words) -> PureOp | None:
    part = words.one("lo", "hi", "wide")
    if part is None:
        return None
    if words.name == "madc" or words.one("cc"):
        return _mad_carry(words, part)
    saturate = words.one("sat")
    kind = words.one(*_TYPES)
    if kind is None or words.left or (part == "wide" and kind.endswith("64")) or (saturate and (part, kind) != ("hi", "s32")):
        return None
    function = product(kind, part)
    width = int(kind[1:]) * (2 if part == "wide" else 1)

    def run(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        return (function(a, b) + c,)

    def run_saturated(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        return (_saturated(function(a, b).view(np.int32).astype(np.int64) + c.view(np.int32)),)

    narrow, wide = container(int(kind[1:])), container(width)
    return PureOp(words.mnemonic, (narrow, narrow, wide), (wide,), run_saturated if saturate else run, kind[0] == "s")


def _mad_carry(words: Words, part: str) -> PureOp | None:
    """mad.{lo,hi}.cc and madc.{lo,hi}{.cc}: the carry out of the addition of c (and of the carry in)."""
    carry_in = words.name == "madc"
    carry_out = not carry_in or words.one("cc") is not None
    kind = words.one("u32", "s32", "u64", "s64") if carry_out else words.one(*_TYPES)
    if kind is None or words.left or part == "wide":
        return None
    function = product(kind, part)
    width = int(kind[1:])
    raw = unsigned(width)

    def run(a: Bits, b: Bits, c: Bits, carry: Bits | None = None) -> tuple[Bits, ...]:
        first = function(a, b)
        total = first + c
        flag = total < first
        if carry is not None:
            step = carry.astype(raw)
            before = total
            total = before + step
            flag = flag | (total < before)
        return (total, flag) if carry_out else (total,)

    register: Container = container(width)
    sources: tuple[Container, ...] = (register, register, register, "cc") if carry_in else (register, register, register)
    return PureOp(words.mnemonic, sources, (register, "cc") if carry_out else (register,), run, kind[0] == "s")


def _low24(bits: Bits, kind: str) -> Bits:
    if kind == "u32":
        return (bits & np.uint32(0xFFFFFF)).astype(np.int64)
    return ((bits << np.uint32(8)).view(np.int32) >> np.int32(8)).astype(np.int64)


def _mul24(words: Words) -> PureOp | None:
    """mul24 and mad24: `lo` is bits 0..31 of the 48-bit product, `hi` bits 16..47."""
    part = words.one("lo", "hi")
    saturate = words.name == "mad24" and words.one("sat")
    kind = words.one("u32", "s32")
    if part is None or kind is None or (saturate and (part, kind) != ("hi", "s32")):
        return None
    shift = np.int64(16 if part == "hi" else 0)

    def run(a: Bits, b: Bits, c: Bits | None = None) -> tuple[Bits]:
        result = ((_low24(a, kind) * _low24(b, kind)) >> shift).astype(np.uint32)
        if c is None:
            return (result,)
        if saturate:
            return (_saturated(result.view(np.int32).astype(np.int64) + c.view(np.int32)),)
        return (result + c,)

    return _operation(words, kind, 3 if words.name == "mad24" else 2, run)


def _sad(words: Words) -> PureOp | None:
    kind = words.one(*_TYPES)
    if kind is None:
        return None
    dtype, raw = _dtype(kind), unsigned(int(kind[1:]))

    def run(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        x, y = a.view(dtype), b.view(dtype)
        return (c + np.where(x > y, x - y, y - x).view(raw),)

    return _operation(words, kind, 3, run)


def divide(a: Bits, b: Bits, kind: str) -> tuple[Bits, Bits]:
    """Quotient towards zero and remainder. Division by zero is unspecified in the ISA: both all ones, as measured on an H200."""
    raw = unsigned(int(kind[1:]))
    if kind[0] == "u":
        zero = b == 0
        quotient = np.where(zero, ~raw.type(0), a // np.where(zero, raw.type(1), b))
        return quotient, a - quotient * b if not zero.any() else np.where(zero, ~raw.type(0), a - quotient * b)
    dtype = _dtype(kind)
    negative_a, negative_b = a.view(dtype) < 0, b.view(dtype) < 0
    size_a = np.where(negative_a, raw.type(0) - a, a)
    size_b = np.where(negative_b, raw.type(0) - b, b)
    zero = b == 0
    size = size_a // np.where(zero, raw.type(1), size_b)
    quotient = np.where(zero, ~raw.type(0), np.where(negative_a != negative_b, raw.type(0) - size, size))
    return quotient, np.where(zero, ~raw.type(0), a - quotient * b)


def _div_rem(words: Words) -> PureOp | None:
    kind = words.one(*_TYPES)
    if kind is None:
        return None
    which = 0 if words.name == "div" else 1
    return _operation(words, kind, 2, lambda a, b: (divide(a, b, kind)[which],))


def _abs_neg(words: Words) -> PureOp | None:
    kind = words.one("s16", "s32", "s64")
    if kind is None:
        return None
    dtype, raw = _dtype(kind), unsigned(int(kind[1:]))
    if words.name == "neg":
        return _operation(words, kind, 1, lambda a: (np.negative(a),))
    return _operation(words, kind, 1, lambda a: (np.abs(a.view(dtype)).view(raw),))


def _min_max(words: Words) -> PureOp | None:
    function: Any = np.minimum if words.name == "min" else np.maximum
    relu = words.one("relu") is not None
    kind = words.one(*_TYPES, "u16x2", "s16x2")
    if kind is None or (relu and kind not in ("s16x2", "s32")):
        return None
    if not relu:
        relu = kind in ("s16x2", "s32") and words.one("relu") is not None
    if kind.endswith("x2"):
        return _packed(words, kind, function, relu)
    dtype, raw = _dtype(kind), unsigned(int(kind[1:]))
    if relu:
        return _operation(words, kind, 2, lambda a, b: (np.maximum(function(a.view(dtype), b.view(dtype)), 0).view(raw),))
    return _operation(words, kind, 2, lambda a, b: (function(a.view(dtype), b.view(dtype)).view(raw),))


def _dot(words: Words) -> PureOp | None:
    """dp4a: four byte products; dp2a: two 16-bit times byte products, the bytes from the lower or upper half of b."""
    four = words.name == "dp4a"
    half = None if four else words.one("lo", "hi")
    first, second = words.one("u32", "s32"), words.one("u32", "s32")
    if first is None or second is None or words.left or not (four or half):
        return None
    first_dtype = np.dtype(f"{first[0].replace('s', 'i')}{1 if four else 2}")
    second_dtype = np.dtype(f"{second[0].replace('s', 'i')}1")
    chosen = slice(None) if four else slice(0, 2) if half == "lo" else slice(2, 4)

    def run(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        x = pieces(a, 8 if four else 16).view(first_dtype).astype(np.int64)
        y = pieces(b, 8)[..., chosen].view(second_dtype).astype(np.int64)
        return ((x * y).sum(axis=-1).astype(np.uint32) + c,)

    return PureOp(words.mnemonic, ("b32", "b32", "b32"), ("b32",), run, "s32" in (first, second))


FAMILIES: dict[str, Family] = {
    "add": _add_sub,
    "sub": _add_sub,
    "addc": _addc,
    "subc": _addc,
    "mul": _mul,
    "mad": _mad,
    "madc": _mad,
    "mul24": _mul24,
    "mad24": _mul24,
    "sad": _sad,
    "div": _div_rem,
    "rem": _div_rem,
    "abs": _abs_neg,
    "neg": _abs_neg,
    "min": _min_max,
    "max": _min_max,
    "dp4a": _dot,
    "dp2a": _dot,
}
