"""f64 arithmetic (PTX 9.7.3): nearest-even by the host's own, fma by error-free sums, directed roundings by exact integers.

NaNs as an H200 gives them: an operand's, made quiet, with its sign; of several the one with the greatest fraction. Only a NaN that an operation makes
of numbers is 0xfff8000000000000. The ISA says only that the result is a NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import NAN64, SIGN64, odd, two_sum
from fa4dsl.runtime.simulator.numerics.operation import Bits, Family, PureOp, Words, quiet, repeated

ROUNDINGS = ("rn", "rz", "rm", "rp")


def canonical(number: Bits) -> Bits:
    """float64 numbers to bits, every NaN as 0xfff8000000000000."""
    bits: Bits = number.view(np.uint64)
    missing = number != number
    return np.where(missing, NAN64, bits) if missing.any() else bits


_FRACTION, _INFINITY, _QUIET = np.uint64((1 << 52) - 1), np.uint64(0x7FF << 52), np.uint64(1 << 51)


def is_nan(bits: Bits) -> Bits:
    """Truth of NaN for f64 bits."""
    return (bits & ~SIGN64) > _INFINITY


def propagate(result: Bits, operands: tuple[Bits, ...]) -> Bits:
    """`result` (bits) with the NaN of an operand where there is one: the first among those with the greatest fraction, made quiet."""
    chosen: Bits = np.uint64(0) * result
    best = chosen
    for operand in operands:
        size = np.where(is_nan(operand), operand & _FRACTION, np.uint64(0))
        chosen = np.where(size > best, operand, chosen)
        best = np.maximum(size, best)
    return np.where(best > 0, chosen | _QUIET, result) if best.any() else result


def first_nan(result: Bits, operands: tuple[Bits, ...]) -> Bits:
    """`result` (bits) with the first NaN among the operands, made quiet: what the division's code gives."""
    for operand in reversed(operands):
        missing = is_nan(operand)
        if missing.any():
            result = np.where(missing, operand | _QUIET, result)
    return result


def round_fraction(value: Fraction, rounding: str) -> float:
    """A nonzero exact value to f64 in rn, rz, rm or rp, subnormals and overflow included."""
    negative = value < 0
    size = -value if negative else value
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = max(exponent, -1022) - 52
    scaled = size / Fraction(2) ** unit
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * rest - scaled.denominator
    if rounding == "rn":
        up = twice > 0 or (twice == 0 and whole & 1 == 1)
    else:
        up = rest != 0 and ((rounding == "rp" and not negative) or (rounding == "rm" and negative))
    whole += up
    if whole.bit_length() + unit > 1024:
        inward = rounding == "rz" or (rounding == "rm" and not negative) or (rounding == "rp" and negative)
        result = math.ldexp(2**53 - 1, 971) if inward else math.inf
    else:
        result = math.ldexp(float(whole), unit)
    return -result if negative else result


def _exactly(near: Bits, operands: tuple[Bits, ...], exact: Callable[..., Fraction], rounding: str, where: Bits) -> Bits:
    """`near` with the entries at `where` recomputed one by one; `exact` of nonzero results only."""
    result = np.array(np.broadcast_to(near, where.shape))
    broad = [np.broadcast_to(x, where.shape) for x in operands]
    for index in zip(*np.nonzero(where), strict=True):
        value = exact(*[Fraction(float(x[index])) for x in broad])
        if value:
            result[index] = round_fraction(value, rounding)
    return result


def _finite(*operands: Bits) -> Bits:
    result = np.isfinite(operands[0])
    for operand in operands[1:]:
        result = result & np.isfinite(operand)
    return result


def add(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """Numbers to bits of ``a + b``."""
    near = a + b
    if rounding == "rn":
        return canonical(near)
    exact = _exactly(near, (a, b), lambda x, y: x + y, rounding, _finite(a, b))
    if rounding == "rm":
        exact = np.where(_finite(a, b) & (exact == 0), np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0), exact)
    return canonical(exact)


def multiply(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """Numbers to bits of ``a * b``."""
    near = a * b
    return canonical(near if rounding == "rn" else _exactly(near, (a, b), lambda x, y: x * y, rounding, _finite(a, b)))


def _two_product(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """``a * b`` and its exact error (Dekker, Veltkamp splitting), away from overflow and underflow."""
    factor = 134217729.0
    product = a * b
    high_a = factor * a
    high_a = high_a - (high_a - a)
    high_b = factor * b
    high_b = high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def fused(a: Bits, b: Bits, c: Bits, rounding: str = "rn") -> Bits:
    """Numbers to bits of ``a * b + c`` with one rounding (Boldo and Melquiond's algorithm; extreme exponents by exact integers)."""
    finite = _finite(a, b, c)
    if rounding == "rn":
        high, low = _two_product(a, b)
        upper, lower = two_sum(c, low)
        top, rest = two_sum(high, upper)
        near = top + odd(*two_sum(rest, lower))
        size = np.abs(high)
        safe = (size < 2.0**900) & (size > 2.0**-900) & (np.abs(a) < 2.0**900) & (np.abs(b) < 2.0**900)
        safe = safe & (np.abs(c) < 2.0**900) & ((np.abs(c) > 2.0**-900) | (c == 0)) & (np.abs(near) > 2.0**-900)
        near = np.where(safe, near, a * b + c)
        near = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, near)
        doubtful = finite & ~safe & (a != 0) & (b != 0)
        if not doubtful.any():
            return canonical(near)
        where = doubtful
    else:
        near = a * b + c
        where = finite
    # infinities made by the plain product are repaired as well: the exact value decides
    exact = _exactly(near, (a, b, c), lambda x, y, z: x * y + z, rounding, where)
    # a product that only overflows does not cancel an infinite term
    exact = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, exact)
    zero = where & (_signless_zero(a, b, c))
    if zero.any():
        signs = np.signbit(a) ^ np.signbit(b), np.signbit(c)
        both, either = signs[0] & signs[1], signs[0] | signs[1]
        exact = np.where(zero, np.where(either if rounding == "rm" else both, -0.0, 0.0), exact)
    return canonical(exact)


def _signless_zero(a: Bits, b: Bits, c: Bits) -> Bits:
    """Where ``a * b + c`` is exactly zero."""
    high, low = _two_product(*[np.frexp(x)[0] for x in (a, b)])
    mantissa, exponent = np.frexp(c)
    shift = exponent - np.frexp(a)[1] - np.frexp(b)[1]
    near = np.ldexp(mantissa, np.clip(shift, -200, 200))
    zero: Bits = (high == -near) & (low == 0)
    return zero


def divide(a: Bits, b: Bits, rounding: str = "rn") -> Bits:
    """Numbers to bits of ``a / b``."""
    near = a / b
    return canonical(near if rounding == "rn" else _exactly(near, (a, b), lambda x, y: x / y, rounding, _finite(a, b) & (b != 0)))


def square_root(a: Bits, rounding: str = "rn") -> Bits:
    """Numbers to bits of the square root."""
    near = np.sqrt(a)
    if rounding == "rn":
        return canonical(near)
    result = np.array(near)
    for index in zip(*np.nonzero(np.isfinite(near) & (a > 0)), strict=True):
        root = Fraction(float(near[index]))
        excess = Fraction(float(a[index])) - root * root
        if excess < 0 and rounding in ("rz", "rm"):
            result[index] = math.nextafter(float(near[index]), 0.0)
        elif excess > 0 and rounding == "rp":
            result[index] = math.nextafter(float(near[index]), math.inf)
    return canonical(result)


def _operation(words: Words, sources: int, function: Any, nan: Any = propagate) -> PureOp | None:
    if words.one("f64") is None or words.left:
        return None

    def run(*operands: Bits) -> tuple[Bits]:
        result = function(*[x.view(np.float64) for x in operands])
        return (nan(result, operands) if is_nan(result).any() else result,)

    return PureOp(words.mnemonic, repeated("b64", sources), ("b64",), quiet(run))


def _arithmetic(words: Words) -> PureOp | None:
    rounding = words.one(*ROUNDINGS)
    how = rounding or "rn"
    name = words.name
    if name in ("fma", "mad"):
        return _operation(words, 3, lambda a, b, c: fused(a, b, c, how)) if rounding else None
    if name == "add":
        return _operation(words, 2, lambda a, b: add(a, b, how))
    if name == "sub":
        return _operation(words, 2, lambda a, b: add(a, -b, how))
    return _operation(words, 2, lambda a, b: multiply(a, b, how))


def _top_only(bits: Bits) -> Bits:
    """The f64 approximations look at, and give, the upper 32 bits alone."""
    return bits & np.uint64(0xFFFFFFFF00000000)


def _flush64(bits: Bits) -> Bits:
    return np.where((bits & np.uint64(0x7FF0000000000000)) == 0, bits & SIGN64, bits)


def _quotient(words: Words) -> PureOp | None:
    """div, rcp, sqrt, rsqrt."""
    name = words.name
    if words.one("approx"):
        ftz = words.one("ftz") is not None
        if words.one("f64") is None or words.left or name not in ("rcp", "rsqrt") or (name == "rcp" and not ftz):
            return None

        def run(a: Bits) -> tuple[Bits]:
            number = (_flush64(_top_only(a)) if ftz else _top_only(a)).view(np.float64)
            result = canonical(1.0 / (np.sqrt(number) if name == "rsqrt" else number))
            return (_top_only(_flush64(result) if ftz else result),)

        return PureOp(words.mnemonic, ("b64",), ("b64",), quiet(run))
    how = words.one(*ROUNDINGS)
    if how is None or name == "rsqrt":
        return None
    if name == "div":
        return _operation(words, 2, lambda a, b: divide(a, b, how), first_nan)
    if name == "rcp":
        return _operation(words, 1, lambda a: divide(np.ones_like(a), a, how))
    return _operation(words, 1, lambda a: square_root(a, how))


def extreme(a: Bits, b: Bits, function: Any) -> Bits:
    """min or max of f64 bits: +0 above -0, a NaN loses; of two NaNs, the one with the greater fraction, made quiet."""

    def key(bits: Bits) -> Bits:
        number = bits.view(np.int64)
        return number ^ ((number >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))

    best = key(function(key(a), key(b)).view(np.uint64)).view(np.uint64)
    x, y = a.view(np.float64), b.view(np.float64)
    missing_a, missing_b = x != x, y != y
    result = np.where(missing_a, b, np.where(missing_b, a, best))
    both = missing_a & missing_b
    return np.where(both, propagate(result, (a, b)), result) if both.any() else result


def _min_max(words: Words) -> PureOp | None:
    function: Any = np.minimum if words.name == "min" else np.maximum
    if words.one("f64") is None or words.left:
        return None
    return PureOp(words.mnemonic, ("b64", "b64"), ("b64",), lambda a, b: (extreme(a, b, function),))


def _sign(words: Words) -> PureOp | None:
    if words.one("f64") is None or words.left:
        return None
    if words.name == "copysign":
        return PureOp(words.mnemonic, ("b64", "b64"), ("b64",), lambda a, b: ((a & SIGN64) | (b & ~SIGN64),))
    negate = words.name == "neg"

    def run(a: Bits) -> tuple[Bits]:
        # the hardware adds zero: a NaN keeps its sign and becomes quiet
        return (np.where(is_nan(a), a | _QUIET, a ^ SIGN64 if negate else a & ~SIGN64),)

    return PureOp(words.mnemonic, ("b64",), ("b64",), run)


FAMILIES: dict[str, Family] = {
    "add": _arithmetic,
    "sub": _arithmetic,
    "mul": _arithmetic,
    "fma": _arithmetic,
    "mad": _arithmetic,
    "div": _quotient,
    "rcp": _quotient,
    "sqrt": _quotient,
    "rsqrt": _quotient,
    "min": _min_max,
    "max": _min_max,
    "abs": _sign,
    "neg": _sign,
    "copysign": _sign,
}
