"""f32 arithmetic (PTX 9.7.3), exact in all four roundings.

Products of two f32 are exact in float64; sums are made exact by rounding to odd (`floats.odd`), so that the last rounding to f32 is the only one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import NAN32, SIGN32, flush32, odd, round_to_f32, sum_to_odd, two_sum
from fa4dsl.runtime.simulator.numerics.operation import Bits, Family, PureOp, Words, quiet, repeated

ROUNDINGS = ("rn", "rz", "rm", "rp")
_HALFWAY, _LOW29 = np.uint64(0x10000000), np.uint64(0x1FFFFFFF)
_ONE, _TINY = np.uint64(1), np.uint64((1023 - 126) << 53)


def canonical(result: Bits) -> Bits:
    """float32 numbers to bits, every NaN as 0x7fffffff."""
    bits: Bits = result.view(np.uint32)
    missing = result != result
    if missing.any():
        bits = np.where(missing, NAN32, bits)
    return bits


def _zero_sum(bits: Bits, a: Bits, b: Bits, rounding: str) -> Bits:
    """Exact zero sums are +0, except -0 when rounding down (or when both terms are -0). `a`, `b`: float numbers."""
    if rounding != "rm":
        return bits
    negative = np.signbit(a) | np.signbit(b)
    return np.where((bits & ~SIGN32) == 0, np.where(negative, bits | SIGN32, bits & ~SIGN32), bits)


def add(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """f32 numbers to bits of ``a + b``."""
    if rounding == "rn":
        return canonical(a + b)
    x, y = a.astype(np.float64), b.astype(np.float64)
    total = sum_to_odd(x, y)
    bits = round_to_f32(total, rounding)
    if rounding == "rm":
        exact_zero = total == 0
        bits = np.where(exact_zero, _zero_sum(bits, x, y, rounding), bits)
    return bits


def multiply(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """f32 numbers to bits of ``a * b``."""
    if rounding == "rn":
        return canonical(a * b)
    return round_to_f32(a.astype(np.float64) * b.astype(np.float64), rounding)


def fused(a: Bits, b: Bits, c: Bits, rounding: str = "rn") -> Bits:
    """f32 numbers to bits of ``a * b + c`` with one rounding."""
    exact = a.astype(np.float64) * b.astype(np.float64)
    term = c.astype(np.float64)
    total = exact + term
    if rounding == "rn":
        # the float64 sum may only mislead where it lies on, or within the subnormals near, a tie of f32
        bits = total.view(np.uint64)
        # unsigned: zero, which is exact, wraps to the top
        if ((bits & _LOW29) == _HALFWAY).any() or ((bits << _ONE) - _ONE < _TINY).any():
            total = odd(*two_sum(exact, term))
        return canonical(total.astype(np.float32))
    total = odd(*two_sum(exact, term))
    bits = round_to_f32(total, rounding)
    if rounding == "rm":
        bits = np.where(total == 0, _zero_sum(bits, exact, term, rounding), bits)
    return bits


def divide(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """f32 numbers to bits of ``a / b``."""
    near = a / b
    bits = canonical(near)
    if rounding == "rn":
        return bits
    # sign of (exact quotient - near): near * b is exact in float64, and the sign of a correctly rounded difference is right
    remainder = a.astype(np.float64) - near.astype(np.float64) * b.astype(np.float64)
    above = np.where(np.signbit(b), -remainder, remainder)
    overflow = np.isinf(near) & np.isfinite(a) & (b != 0)
    above = np.where(overflow, np.where(near > 0, -1.0, 1.0), np.where(np.isfinite(near) & np.isfinite(b), above, 0.0))
    return directed(bits, above, rounding)


def square_root(a: Bits, rounding: str = "rn") -> Bits:
    """f32 numbers to bits of the square root."""
    near = np.sqrt(a)
    bits = canonical(near)
    if rounding == "rn":
        return bits
    wide = near.astype(np.float64)
    above = np.where(np.isfinite(near), a.astype(np.float64) - wide * wide, 0.0)
    return directed(bits, above, rounding)


def directed(bits: Bits, above: Bits, rounding: str) -> Bits:
    """Nearest results `bits` moved by one where the exact value lies `above` them (positive: greater, negative: less)."""
    negative = (bits & SIGN32) != 0
    up, down = above > 0, above < 0
    if rounding == "rz":
        move = np.where(negative, up, down)
        return bits - move.astype(np.uint32)
    wrong = down if rounding == "rm" else up
    grows = negative if rounding == "rm" else ~negative
    return bits + np.where(wrong, np.where(grows, np.uint32(1), np.uint32(0xFFFFFFFF)), np.uint32(0))


def saturate(bits: Bits) -> Bits:
    """Clamp to [0, 1]; NaN and negative numbers give +0."""
    number = bits.view(np.float32)
    return np.where(number > 0, np.minimum(number, np.float32(1)), np.float32(0)).view(np.uint32)


_LEAST, _SCALE = np.uint32(0x00800000), 2.0**64
_SCALED_LEAST = np.uint32(0x00800000 + (64 << 23))


def _flush_result(bits: Bits, numbers: list[Bits], scaled: Any) -> Bits:
    """.ftz on a result. A result that rounding lifts to the least normal number is flushed as well, unless 24 digits of any exponent reach it, as measured.

    `scaled` gives the bits of the same result times 2^64; None for functions whose results near there are exact.
    """
    bits = flush32(bits)
    if scaled is not None:
        edge = (bits & ~SIGN32) == _LEAST
        if edge.any():
            bits = np.where(edge & ((scaled(*numbers) & ~SIGN32) < _SCALED_LEAST), bits & SIGN32, bits)
    return bits


def _finish(words: Words, sources: int, function: Any, flags: frozenset[str], scaled: Any = None) -> PureOp:
    """`function` takes f32 numbers and gives bits; `scaled` as in `_flush_result`."""
    ftz, sat = "ftz" in flags, "sat" in flags
    if ftz or sat:

        def run(*operands: Bits) -> tuple[Bits]:
            numbers = [(flush32(x) if ftz else x).view(np.float32) for x in operands]
            bits = function(*numbers)
            if ftz:
                bits = _flush_result(bits, numbers, scaled)
            return (saturate(bits) if sat else bits,)
    else:

        def run(*operands: Bits) -> tuple[Bits]:
            return (function(*[x.view(np.float32) for x in operands]),)

    return PureOp(words.mnemonic, repeated("b32", sources), ("b32",), quiet(run))


def _scaled_product(a: Bits, b: Bits, rounding: str) -> Bits:
    return round_to_f32(a.astype(np.float64) * b.astype(np.float64) * _SCALE, rounding)


def _scaled_fused(a: Bits, b: Bits, c: Bits, rounding: str) -> Bits:
    exact, term = a.astype(np.float64) * b.astype(np.float64) * _SCALE, c.astype(np.float64) * _SCALE
    return round_to_f32(odd(*two_sum(exact, term)), rounding)


def _scaled_quotient(a: Bits, b: Bits, rounding: str) -> Bits:
    # a quotient near the least normal number has a divisor above 2^-24: the scaled one is normal too
    return divide(a, b * np.float32(1 / _SCALE), rounding)


def _arithmetic(words: Words) -> PureOp | None:
    rounding = words.one(*ROUNDINGS)
    flags = words.flags("ftz", "sat")
    if words.one("f32") is None or words.left:
        return None
    how = rounding or "rn"
    name = words.name
    if name in ("fma", "mad"):
        if rounding is None:
            return None
        return _finish(words, 3, lambda a, b, c: fused(a, b, c, how), flags, lambda a, b, c: _scaled_fused(a, b, c, how))
    if name == "add":
        return _finish(words, 2, lambda a, b: add(a, b, how), flags)
    if name == "sub":
        return _finish(words, 2, lambda a, b: add(a, -b, how), flags)
    return _finish(words, 2, lambda a, b: multiply(a, b, how), flags, lambda a, b: _scaled_product(a, b, how))


def _div(words: Words) -> PureOp | None:
    """div.rn.. exact; .approx and .full: the correctly rounded quotient, except that .approx gives 0 beyond 2^126 as measured."""
    how = words.one("approx", "full", *ROUNDINGS)
    flags = words.flags("ftz")
    if how is None or words.one("f32") is None or words.left:
        return None
    if how in ROUNDINGS:
        return _finish(words, 2, lambda a, b: divide(a, b, how), flags, lambda a, b: _scaled_quotient(a, b, how))
    if how == "full":
        return _finish(words, 2, divide, flags)

    def approximate(a: Bits, b: Bits) -> Bits:
        bits = divide(a, b)
        large = (np.abs(b) > 2.0**126) & np.isfinite(b)
        if not large.any():
            return bits
        sign = (a.view(np.uint32) ^ b.view(np.uint32)) & SIGN32
        return np.where(large, np.where(np.isfinite(a), sign, NAN32), bits)

    return _finish(words, 2, approximate, flags)


def _reciprocal(words: Words) -> PureOp | None:
    how = words.one("approx", *ROUNDINGS)
    flags = words.flags("ftz")
    if how is None or words.one("f32") is None or words.left:
        return None
    if how == "approx":
        return _finish(words, 1, lambda a: divide(np.ones_like(a), a), flags)
    return _finish(words, 1, lambda a: divide(np.ones_like(a), a, how), flags, lambda a: _scaled_quotient(np.ones_like(a), a, how))


def _root(words: Words) -> PureOp | None:
    how = words.one("approx", *ROUNDINGS)
    flags = words.flags("ftz")
    if how is None or words.one("f32") is None or words.left:
        return None
    return _finish(words, 1, lambda a: square_root(a, "rn" if how == "approx" else how), flags)


def _wide(function: Any) -> Any:
    """An approximate function: computed in float64 and rounded once, so within an ulp of exact."""
    return lambda a: round_to_f32(function(a.astype(np.float64)))


_APPROXIMATE: dict[str, Any] = {
    "rsqrt": _wide(lambda x: 1.0 / np.sqrt(x)),
    "ex2": _wide(np.exp2),
    "lg2": _wide(np.log2),
    "sin": _wide(np.sin),
    "cos": _wide(np.cos),
    "tanh": _wide(np.tanh),
}


def _approximate(words: Words) -> PureOp | None:
    if words.one("approx") is None:
        return None
    flags = words.flags("ftz") if words.name != "tanh" else frozenset()
    if words.one("f32") is None or words.left:
        return None
    return _finish(words, 1, _APPROXIMATE[words.name], flags)


def extreme(a: Bits, b: Bits, function: Any, propagate: bool) -> Bits:
    """min or max (`function` np.minimum or np.maximum) of f32 bits: +0 above -0; a NaN loses unless `propagate`; NaN results are 0x7fffffff."""
    x, y = a.view(np.float32), b.view(np.float32)
    largest = function is np.maximum
    best: Bits = function(x, y)
    if not propagate:
        # not fmax or fmin of numpy: with a signalling NaN its answer depends on the machine
        best = np.where(x != x, y, np.where(y != y, x, best))
    bits = canonical(best)
    zero = best == 0
    if zero.any():
        both = zero & (x == y)
        bits = np.where(both, a & b if largest else a | b, bits)
    return bits


def _min_max(words: Words) -> PureOp | None:
    function: Any = np.minimum if words.name == "min" else np.maximum
    ftz, propagate = words.one("ftz") is not None, words.one("NaN") is not None
    xorsign = words.one("xorsign") is not None
    if xorsign and words.one("abs") is None:
        return None
    if words.one("f32") is None or words.left:
        return None

    def run(a: Bits, b: Bits) -> tuple[Bits]:
        if ftz:
            a, b = flush32(a), flush32(b)
        if xorsign:
            best = extreme(a & ~SIGN32, b & ~SIGN32, function, propagate)
            return (np.where(best == NAN32, NAN32, best | ((a ^ b) & SIGN32)),)
        return (extreme(a, b, function, propagate),)

    return PureOp(words.mnemonic, ("b32", "b32"), ("b32",), quiet(run))


def _sign(words: Words) -> PureOp | None:
    """abs, neg: a NaN becomes 0x7fffffff, as measured: the hardware adds."""
    ftz = words.one("ftz") is not None
    if words.one("f32") is None or words.left:
        return None
    negate = words.name == "neg"

    def run(a: Bits) -> tuple[Bits]:
        if ftz:
            a = flush32(a)
        size = a & ~SIGN32
        result = a ^ SIGN32 if negate else size
        missing = size > np.uint32(0x7F800000)
        return (np.where(missing, NAN32, result) if missing.any() else result,)

    return PureOp(words.mnemonic, ("b32",), ("b32",), run)


def _copysign(words: Words) -> PureOp | None:
    """copysign d, a, b: the sign of a, the magnitude of b."""
    if words.one("f32") is None or words.left:
        return None
    return PureOp(words.mnemonic, ("b32", "b32"), ("b32",), lambda a, b: ((a & SIGN32) | (b & ~SIGN32),))


FAMILIES: dict[str, Family] = {
    "add": _arithmetic,
    "sub": _arithmetic,
    "mul": _arithmetic,
    "fma": _arithmetic,
    "mad": _arithmetic,
    "div": _div,
    "rcp": _reciprocal,
    "sqrt": _root,
    "rsqrt": _approximate,
    "ex2": _approximate,
    "lg2": _approximate,
    "sin": _approximate,
    "cos": _approximate,
    "tanh": _approximate,
    "min": _min_max,
    "max": _min_max,
    "abs": _sign,
    "neg": _sign,
    "copysign": _copysign,
}
