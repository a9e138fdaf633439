"""Comparison and selection (PTX 9.7.5, 9.7.6): setp, set, selp, slct, testp, for integers and every float type."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import FLOAT_WIDTH, flush32, is_subnormal, to_number
from fa4dsl.runtime.simulator.numerics.operation import (
    Bits,
    Container,
    Family,
    PureOp,
    Words,
    container,
    joined,
    pieces,
    quiet,
    signed,
    unsigned,
)

_INTEGER = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64")
_FLOAT = ("f16", "bf16", "f32", "f64")
_PACKED = ("f16x2", "bf16x2")
_ORDERED: dict[str, Any] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
# unordered: true when the opposite ordered comparison is false
_UNORDERED: dict[str, Any] = {
    "equ": None,
    "neu": np.equal,
    "ltu": np.greater_equal,
    "leu": np.greater,
    "gtu": np.less_equal,
    "geu": np.less,
}
_COMPARISONS = (*_ORDERED, *_UNORDERED, "num", "nan")


def compare(x: Bits, y: Bits, how: str) -> Bits:
    """`x` and `y` are numbers (typed arrays): the truth of comparison `how`."""
    truth: Bits
    if how == "ne" and x.dtype.kind == "f":
        truth = (x < y) | (x > y)  # ordered and different
    elif how in _ORDERED:
        truth = _ORDERED[how](x, y)
    elif how == "num":
        truth = (x == x) & (y == y)
    elif how == "nan":
        truth = (x != x) | (y != y)
    elif how == "equ":
        truth = ~((x < y) | (x > y))
    else:
        truth = ~_UNORDERED[how](x, y)
    return truth


def _comparator(how: str, kind: str, ftz: bool) -> Any:
    """The function of raw bits to truth, or None when the combination does not exist."""
    if kind in _INTEGER:
        if how not in _ORDERED or ftz:
            return None
        if kind[0] == "b" and how not in ("eq", "ne"):
            return None
        if kind[0] == "s" and how in ("lo", "ls", "hi", "hs"):
            return None
        function = _ORDERED[how]
        if kind[0] == "s" and how not in ("eq", "ne"):
            dtype = signed(int(kind[1:]))
            return lambda a, b: function(a.view(dtype), b.view(dtype))
        return function
    if how in ("lo", "ls", "hi", "hs") or (ftz and kind not in ("f16", "f16x2", "f32")):
        return None
    if kind in _PACKED:
        base = kind[:-2]
        return lambda a, b: compare(to_number(pieces(a, 16), base, ftz), to_number(pieces(b, 16), base, ftz), how)
    return lambda a, b: compare(to_number(a, kind, ftz), to_number(b, kind, ftz), how)


def _combine(how: str | None, truth: Bits, other: Bits) -> Bits:
    if how == "and":
        return truth & other
    return truth | other if how == "or" else truth ^ other


def _setp(words: Words) -> PureOp | None:
    """Always two results: the comparison and its complement, each combined with c; for packed types the two halves' comparisons."""
    how = words.one(*_COMPARISONS)
    ftz = words.one("ftz") is not None
    combine = words.one("and", "or", "xor")
    ftz = ftz or words.one("ftz") is not None
    kind = words.one(*_INTEGER, *_FLOAT, *_PACKED)
    if how is None or kind is None or words.left:
        return None
    test = _comparator(how, kind, ftz)
    if test is None:
        return None
    packed = kind in _PACKED

    def run(a: Bits, b: Bits, c: Bits | None = None) -> tuple[Bits, Bits]:
        truth = test(a, b)
        first, second = (truth[..., 0], truth[..., 1]) if packed else (truth, ~truth)
        if c is None:
            return first, second
        return _combine(combine, first, c), _combine(combine, second, c)

    register: Container = "b32" if packed else container(FLOAT_WIDTH[kind] if kind in _FLOAT else int(kind[1:]))
    sources: tuple[Container, ...] = (register, register, "pred") if combine else (register, register)
    return PureOp(words.mnemonic, sources, ("pred", "pred"), quiet(run) if kind in (*_FLOAT, *_PACKED) else run)


_TRUE: dict[str, int] = {
    "u32": 0xFFFFFFFF,
    "s32": 0xFFFFFFFF,
    "f32": 0x3F800000,
    "u16": 0xFFFF,
    "s16": 0xFFFF,
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f16x2": 0x3C00,
    "bf16x2": 0x3F80,
}


def _set(words: Words) -> PureOp | None:
    """set: all ones or 1.0 for true, by the destination type."""
    how = words.one(*_COMPARISONS)
    ftz = words.one("ftz") is not None
    combine = words.one("and", "or", "xor")
    ftz = ftz or words.one("ftz") is not None
    result, kind = words.one(*_TRUE), words.one(*_INTEGER, *_FLOAT, *_PACKED)
    if how is None or result is None or kind is None or words.left:
        return None
    packed = kind in _PACKED
    small = kind in ("f16", "bf16")
    if result.endswith("x2") != packed and not (packed and result in ("u32", "s32")):
        return None
    if (small and result == "f32") or (packed and result not in (kind, "u32", "s32")):
        return None
    if (kind, result) == ("bf16", "f16") or (ftz and result == "bf16"):
        return None
    if not small and not packed and result in ("u16", "s16"):
        return None
    test = _comparator(how, kind, ftz)
    if test is None:
        return None
    width = 16 if packed else int(result.lstrip("busf"))
    value = unsigned(width).type(_TRUE[result] & 0xFFFF if packed else _TRUE[result])
    zero = unsigned(width).type(0)

    def run(a: Bits, b: Bits, c: Bits | None = None) -> tuple[Bits]:
        truth = test(a, b)
        if c is not None:
            truth = _combine(combine, truth, c[..., None] if packed else c)
        bits = np.where(truth, value, zero)
        return (joined(bits, 32) if packed else bits,)

    register: Container = "b32" if packed else container(FLOAT_WIDTH[kind] if kind in _FLOAT else int(kind[1:]))
    sources: tuple[Container, ...] = (register, register, "pred") if combine else (register, register)
    return PureOp(words.mnemonic, sources, ("b32" if packed else container(width),), quiet(run))


def _selp(words: Words) -> PureOp | None:
    kind = words.one(*_INTEGER, "f32", "f64")
    if kind is None or words.left:
        return None
    register = container(int(kind[1:]))

    def run(a: Bits, b: Bits, p: Bits) -> tuple[Bits]:
        return (np.where(p, a, b),)

    return PureOp(words.mnemonic, (register, register, "pred"), (register,), run)


def _slct(words: Words) -> PureOp | None:
    """slct: a where c >= 0, else b (a NaN counts as less than zero)."""
    ftz = words.one("ftz") is not None
    kind, by = words.one(*_INTEGER, "f32", "f64"), words.one("s32", "f32")
    if kind is None or by is None or words.left or (ftz and by != "f32"):
        return None
    dtype = np.float32 if by == "f32" else np.int32

    def run(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        number = (flush32(c) if ftz else c).view(dtype)
        return (np.where(number >= 0, a, b),)

    register = container(int(kind[1:]))
    return PureOp(words.mnemonic, (register, register, "b32"), (register,), quiet(run) if by == "f32" else run)


def _testp(words: Words) -> PureOp | None:
    """testp. `number` is not NaN; `normal` counts zeros too, as measured on an H200."""
    what = words.one("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    kind = words.one("f32", "f64")
    if what is None or kind is None or words.left:
        return None

    def run(a: Bits) -> tuple[Bits]:
        number = to_number(a, kind)
        if what == "finite":
            return (np.isfinite(number),)
        if what == "infinite":
            return (np.isinf(number),)
        if what == "number":
            return (number == number,)
        if what == "notanumber":
            return (number != number,)
        if what == "subnormal":
            return (is_subnormal(a, kind),)
        return (np.isfinite(number) & ~is_subnormal(a, kind),)

    return PureOp(words.mnemonic, (container(FLOAT_WIDTH[kind]),), ("pred",), quiet(run))


FAMILIES: dict[str, Family] = {"setp": _setp, "set": _set, "selp": _selp, "slct": _slct, "testp": _testp}
