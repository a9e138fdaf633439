"""f16 and bf16 arithmetic, scalar and packed (PTX 9.7.4).

Each value is computed in float64, rounded to odd where the sum is inexact, and rounded once to the format.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import (
    NAN16,
    SIGN16,
    bf16_to_f32,
    f32_to_bf16,
    flush16,
    odd,
    round_to,
    round_to_f32,
    to_double,
    to_number,
    two_sum,
)
from fa4dsl.runtime.simulator.numerics.operation import Bits, Family, PureOp, Words, container, joined, pieces, quiet, repeated

_KINDS = ("f16", "bf16", "f16x2", "bf16x2")
OOB_NAN = np.uint16(0x7FF7)
"""What TMA writes for elements outside a tensor with NaN fill, and what .oob looks for."""


def narrow(x: Bits, kind: str, rounding: str = "rn") -> Bits:
    """float64 (exact or rounded to odd) to f16 or bf16 bits, NaN 0x7fff."""
    if rounding != "rn":
        return round_to(x, kind, rounding)
    if kind == "bf16":
        return f32_to_bf16(round_to_f32(x, "odd"))
    bits: Bits = x.astype(np.float16).view(np.uint16)
    missing = x != x
    return np.where(missing, NAN16, bits) if missing.any() else bits


def add(a: Bits, b: Bits, kind: str) -> Bits:
    """Bits of ``a + b``. The f32 sum has more than twice the format's digits, so rounding it again is harmless."""
    if kind == "bf16":
        return f32_to_bf16((bf16_to_f32(a) + bf16_to_f32(b)).view(np.uint32))
    total = to_number(a, "f16") + to_number(b, "f16")
    bits: Bits = total.astype(np.float16).view(np.uint16)
    missing = total != total
    return np.where(missing, NAN16, bits) if missing.any() else bits


def multiply(a: Bits, b: Bits, kind: str) -> Bits:
    """Bits of ``a * b``; the product is exact in float64."""
    return narrow(to_double(a, kind) * to_double(b, kind), kind)


def fused(a: Bits, b: Bits, c: Bits, kind: str, rounding: str = "rn") -> Bits:
    """Bits of ``a * b + c`` with one rounding."""
    product, term = to_double(a, kind) * to_double(b, kind), to_double(c, kind)
    total = product + term
    if rounding == "rn" and kind == "bf16":
        # going through f32 misleads only where that lands on a tie
        near: Bits = total.astype(np.float32).view(np.uint32)
        if not ((near & np.uint32(0xFFFF)) == np.uint32(0x8000)).any():
            return f32_to_bf16(near)
    elif rounding == "rn":
        bits = total.view(np.uint64)
        tie = (bits & np.uint64((1 << 42) - 1)) == np.uint64(1 << 41)
        # unsigned: zero, which is exact, wraps to the top
        small = (bits << np.uint64(1)) - np.uint64(1) < np.uint64((1023 - 14) << 53)
        if not (tie | small).any():
            return narrow(total, kind)
    total = odd(*two_sum(product, term))
    bits = narrow(total, kind, rounding)
    if rounding == "rm":
        # an exact zero from terms of different sign is -0 when rounding down
        bits = np.where((total == 0) & (np.signbit(product) | np.signbit(term)), SIGN16, bits)
    return bits


_SCALE = 2.0**8


def _flush_edge(bits: Bits, scaled: Any) -> Bits:
    """f16 results that rounding lifted to the least normal number, flushed unless 11 digits of any exponent reach it. `scaled`: the results times 2^8."""
    edge = (bits & ~SIGN16) == np.uint16(0x0400)
    if not edge.any():
        return bits
    return np.where(edge & ((scaled() & ~SIGN16) < np.uint16(0x2400)), bits & SIGN16, bits)


def _clamp(bits: Bits, kind: str, flags: frozenset[str]) -> Bits:
    if "ftz" in flags:
        bits = flush16(bits, kind)
    infinity, one = np.uint16(0x7C00 if kind == "f16" else 0x7F80), np.uint16(0x3C00 if kind == "f16" else 0x3F80)
    if "sat" in flags:
        negative, missing = (bits & SIGN16) != 0, (bits & ~SIGN16) > infinity
        return np.where(negative | missing, np.uint16(0), np.minimum(bits, one))
    if "relu" in flags:
        # a NaN stays (it is canonical and positive by now)
        return np.where((bits & SIGN16) != 0, np.uint16(0), bits)
    return bits


def _build(words: Words, kind: str, sources: int, function: Any, flags: frozenset[str], raw: bool = False) -> PureOp | None:
    """`function` maps 16-bit lanes to 16-bit lanes; packed kinds get both halves in one call."""
    if words.left:
        return None
    packed = kind.endswith("x2")
    base = kind.removesuffix("x2")
    ftz = "ftz" in flags

    def lanes(operands: tuple[Bits, ...]) -> Bits:
        if ftz:
            operands = tuple(flush16(x, base) for x in operands)
        result: Bits = function(*operands)
        return _clamp(result, base, flags) if flags else result

    def run(*operands: Bits) -> tuple[Bits]:
        if packed:
            return (joined(lanes(tuple(pieces(x, 16) for x in operands)), 32),)
        return (lanes(operands),)

    register = container(32 if packed else 16)
    return PureOp(words.mnemonic, repeated(register, sources), (register,), run if raw else quiet(run))


def _arithmetic(words: Words) -> PureOp | None:
    rounding = words.one("rn")
    flags = words.flags("ftz", "sat")
    kind = words.one(*_KINDS)
    if kind is None or (kind.startswith("bf") and flags):
        return None
    base = kind.removesuffix("x2")
    if words.name == "add":
        return _build(words, kind, 2, lambda a, b: add(a, b, base), flags)
    if words.name == "sub":
        return _build(words, kind, 2, lambda a, b: add(a, b ^ SIGN16, base), flags)
    del rounding
    if "ftz" not in flags:
        return _build(words, kind, 2, lambda a, b: multiply(a, b, base), flags)

    def flushed(a: Bits, b: Bits) -> Bits:
        product = to_double(a, base) * to_double(b, base)
        return _flush_edge(narrow(product, base), lambda: narrow(product * _SCALE, base))

    return _build(words, kind, 2, flushed, flags)


def _fma(words: Words) -> PureOp | None:
    """fma.rn{.ftz}{.sat|.relu|.oob}: .oob gives 0 when a or b is the out-of-bounds NaN."""
    rounding = words.one("rn", "rz", "rm", "rp")
    flags = words.flags("ftz", "sat", "relu", "oob")
    kind = words.one(*_KINDS)
    if kind is None or {"sat", "relu"} <= flags or {"ftz", "oob"} <= flags or (kind.startswith("bf") and flags & {"ftz", "sat"}):
        return None
    # other roundings exist for plain bf16 alone: ptxas takes them, the ISA's text does not name them
    if rounding is None or (rounding != "rn" and (flags or not kind.startswith("bf"))):
        return None
    base = kind.removesuffix("x2")
    if "ftz" in flags:

        def flushed(a: Bits, b: Bits, c: Bits) -> Bits:
            def scaled() -> Bits:
                return narrow(odd(*two_sum(to_double(a, base) * to_double(b, base) * _SCALE, to_double(c, base) * _SCALE)), base)

            return _flush_edge(fused(a, b, c, base, rounding), scaled)

        return _build(words, kind, 3, flushed, flags)
    if "oob" not in flags:
        return _build(words, kind, 3, lambda a, b, c: fused(a, b, c, base, rounding), flags)

    def outside(a: Bits, b: Bits, c: Bits) -> Bits:
        # of either sign, as measured
        return np.where(((a & ~SIGN16) == OOB_NAN) | ((b & ~SIGN16) == OOB_NAN), np.uint16(0), fused(a, b, c, base))

    return _build(words, kind, 3, outside, flags)


def extreme(a: Bits, b: Bits, kind: str, function: Any, propagate: bool) -> Bits:
    """min or max of 16-bit floats: +0 above -0; a NaN loses unless `propagate`; NaN results are 0x7fff."""

    def key(bits: Bits) -> Bits:
        number = bits.view(np.int16)
        return number ^ ((number >> np.int16(15)) & np.int16(0x7FFF))

    best = key(function(key(a), key(b)).view(np.uint16)).view(np.uint16)
    infinity = np.uint16(0x7C00 if kind == "f16" else 0x7F80)
    missing_a, missing_b = (a & ~SIGN16) > infinity, (b & ~SIGN16) > infinity
    if propagate:
        return np.where(missing_a | missing_b, NAN16, best)
    return np.where(missing_a, np.where(missing_b, NAN16, b), np.where(missing_b, a, best))


def _min_max(words: Words) -> PureOp | None:
    function: Any = np.minimum if words.name == "min" else np.maximum
    flags = words.flags("ftz")
    propagate = words.one("NaN") is not None
    xorsign = words.one("xorsign") is not None
    if xorsign and words.one("abs") is None:
        return None
    kind = words.one(*_KINDS)
    if kind is None or (kind.startswith("bf") and flags):
        return None
    base = kind.removesuffix("x2")

    def lanes(a: Bits, b: Bits) -> Bits:
        if not xorsign:
            return extreme(a, b, base, function, propagate)
        best = extreme(a & ~SIGN16, b & ~SIGN16, base, function, propagate)
        return np.where(best == NAN16, NAN16, best | ((a ^ b) & SIGN16))

    return _build(words, kind, 2, lanes, flags, raw=True)


def _sign(words: Words) -> PureOp | None:
    """abs, neg: a NaN becomes 0x7fff, as measured for f16."""
    flags = words.flags("ftz")
    kind = words.one(*_KINDS)
    if kind is None or (kind.startswith("bf") and flags):
        return None
    infinity = np.uint16(0x7C00 if "bf" not in kind else 0x7F80)
    negate = words.name == "neg"

    def lanes(a: Bits) -> Bits:
        size = a & ~SIGN16
        return np.where(size > infinity, NAN16, a ^ SIGN16 if negate else size)

    return _build(words, kind, 1, lanes, flags, raw=True)


def _approximate(words: Words) -> PureOp | None:
    """ex2.approx, tanh.approx: the correctly rounded value. For ex2 .ftz is mandatory with bf16 and absent with f16."""
    if words.one("approx") is None:
        return None
    flags = words.flags("ftz")
    kind = words.one(*_KINDS)
    if kind is None or bool(flags) != (words.name == "ex2" and kind.startswith("bf")):
        return None
    base = kind.removesuffix("x2")
    function: Any = np.exp2 if words.name == "ex2" else np.tanh
    return _build(words, kind, 1, lambda a: narrow(function(to_double(a, base)), base), flags)


FAMILIES: dict[str, Family] = {
    "add": _arithmetic,
    "sub": _arithmetic,
    "mul": _arithmetic,
    "fma": _fma,
    "min": _min_max,
    "max": _min_max,
    "abs": _sign,
    "neg": _sign,
    "ex2": _approximate,
    "tanh": _approximate,
}
