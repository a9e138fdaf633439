"""cvt in every form that sm_90a has (PTX 9.7.9.21, 9.7.9.22): integers, floats, packed pairs and cvt.pack."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import (
    F16_TABLE,
    F16_TO_F32,
    FLOAT_WIDTH,
    NAN32,
    SIGN32,
    f32_to_bf16,
    f32_to_f16,
    f32_to_fp8,
    flush32,
    odd,
    round_to,
    to_double,
    two_sum,
)
from fa4dsl.runtime.simulator.numerics.operation import (
    Bits,
    Family,
    PureOp,
    Words,
    container,
    joined,
    pack_elements,
    pieces,
    quiet,
    signed,
    unsigned,
)

_INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_ROUNDINGS = ("rn", "rz", "rm", "rp")
_PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}


def _limits(kind: str) -> tuple[int, int]:
    width = int(kind[1:])
    return (0, 2**width - 1) if kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def _typed(bits: Bits, kind: str) -> Bits:
    return bits.view(signed(int(kind[1:]))) if kind[0] == "s" else bits


def _integer_to_integer(result: str, source: str, sat: bool) -> Any:
    dtype, raw = (signed if result[0] == "s" else unsigned)(int(result[1:])), unsigned(int(result[1:]))
    (low, high), (source_low, source_high) = _limits(result), _limits(source)
    if not sat or (low <= source_low and source_high <= high):
        return lambda a: _typed(a, source).astype(dtype).view(raw)
    # limits that the source type itself can hold
    least, most = max(low, source_low), min(high, source_high)
    return lambda a: np.clip(_typed(a, source), least, most).astype(dtype).view(raw)


def float_to_integer(x: Bits, result: str, rounding: str, wide_source: bool) -> Bits:
    """float64 numbers to integer bits, clamped to the range. NaN gives 0 for targets up to 32 bits from f32 and narrower, else the sign bit alone."""
    width = int(result[1:])
    low, high = _limits(result)
    whole = _TO_INTEGER[rounding](x)
    if width == 64:
        top = 2.0**64 if result[0] == "u" else 2.0**63
        over, under = whole >= top, whole < float(low)
        inside = np.where(over | under | (x != x), 0.0, whole)
        wide: Bits = inside.astype(np.uint64) if result[0] == "u" else inside.astype(np.int64).view(np.uint64)
        wide = np.where(over, np.uint64(high), np.where(under, np.uint64(low & (2**64 - 1)), wide))
        return np.where(x != x, np.uint64(1 << 63), wide)
    raw = unsigned(width)
    # a NaN passes through clip; no target this narrow keeps a bit of what it becomes as int64 (0 or the least number)
    bits: Bits = np.clip(whole, float(low), float(high)).astype(np.int64).astype(raw)
    return np.where(x != x, raw.type(1 << (width - 1)), bits) if wide_source else bits


def integer_to_double(bits: Bits, source: str) -> Bits:
    """Integers to float64, rounded to odd where 64 bits do not fit."""
    number = _typed(bits, source)
    if int(source[1:]) < 64:
        return number.astype(np.float64)
    upper = (number >> number.dtype.type(32)).astype(np.float64) * 2.0**32
    lower = (bits & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return odd(*two_sum(upper, lower))


def _round_double(x: Bits, kind: str, rounding: str, flags: frozenset[str]) -> Bits:
    return round_to(x, kind, rounding, relu="relu" in flags, saturate="sat" in flags, finite="satfinite" in flags)


def _integer_to_float(result: str, source: str, rounding: str, flags: frozenset[str]) -> Any:
    if result == "f64":
        if int(source[1:]) < 64 or "sat" in flags:
            return lambda a: _round_double(integer_to_double(a, source), "f64", rounding, flags)
        return lambda a: _wide_to_f64(a, source, rounding)
    return lambda a: _round_double(integer_to_double(a, source), result, rounding, flags)


def _wide_to_f64(bits: Bits, source: str, rounding: str) -> Bits:
    """64-bit integers to f64 in any rounding: the nearest, moved by one where it lies on the wrong side."""
    number = _typed(bits, source)
    upper = (number >> number.dtype.type(32)).astype(np.float64) * 2.0**32
    total, error = two_sum(upper, (bits & np.uint64(0xFFFFFFFF)).astype(np.float64))
    result: Bits = total.view(np.uint64)
    negative = total < 0
    if rounding == "rz":
        return result - np.where(negative, error > 0, error < 0).astype(np.uint64)
    if rounding == "rm":
        return np.where(error < 0, np.where(negative, result + np.uint64(1), result - np.uint64(1)), result)
    if rounding == "rp":
        return np.where(error > 0, np.where(negative, result - np.uint64(1), result + np.uint64(1)), result)
    return result


_PAYLOAD_SHIFT = {"f32": 29, "f16": 42, "bf16": 45}


def _widen(result: str, source: str, flags: frozenset[str]) -> Any:
    """Exact conversions to a wider float. NaN payloads are kept from bf16 to f32 and to f64 (not with .ftz), as measured."""
    # .ftz concerns f32: subnormals of f16 pass, as measured
    ftz = "ftz" in flags and source != "f16"
    if (source, result) == ("bf16", "f32") and not flags:
        return lambda a: a.astype(np.uint32) << np.uint32(16)
    if (source, result) == ("f16", "f32") and not flags:
        return lambda a: F16_TO_F32[a]
    if result == "f64" and "sat" not in flags:
        width, shift = FLOAT_WIDTH[source], np.uint64(_PAYLOAD_SHIFT[source])
        fraction = np.uint64((1 << (52 - int(shift))) - 1)

        def run(a: Bits) -> Bits:
            number = to_double(a, source, ftz)
            bits: Bits = number.view(np.uint64)
            missing = number != number
            if not missing.any():
                return bits
            if ftz:
                return np.where(missing, np.uint64(0x7FFFFFFFE0000000), bits)
            wide = a.astype(np.uint64)
            payload = ((wide & fraction) << shift) | ((wide >> np.uint64(width - 1)) << np.uint64(63)) | np.uint64(0x7FF8000000000000)
            return np.where(missing, payload, bits)

        return run
    return lambda a: _finish_f32(_round_double(to_double(a, source, ftz), result, "rn", flags), result, ftz)


def _finish_f32(bits: Bits, kind: str, ftz: bool) -> Bits:
    return flush32(bits) if ftz and kind == "f32" else bits


def _float_to_float(result: str, source: str, rounding: str | None, flags: frozenset[str]) -> Any:
    ftz = "ftz" in flags
    if result == source:
        whole = _TO_INTEGER.get(rounding or "")
        if rounding and whole is None:
            return None

        def run(a: Bits) -> Bits:
            x = to_double(a, source, ftz)
            if whole is not None:
                x = np.copysign(whole(x), x)
            elif not flags:
                return a
            bits = _round_double(x, result, "rn", flags)
            if result == "f64" and "sat" not in flags:
                # a NaN stays the same one, made quiet
                return np.where(x != x, a | np.uint64(1 << 51), bits)
            return bits

        return run
    if FLOAT_WIDTH[result] > FLOAT_WIDTH[source]:
        if rounding and (rounding not in _ROUNDINGS or source != "bf16"):
            return None
        return _widen(result, source, flags)
    if rounding not in _ROUNDINGS:
        # between the two 16-bit formats the rounding may be left out
        if rounding or {result, source} != {"f16", "bf16"}:
            return None
        rounding = "rn"
    if (result, source, rounding) == ("bf16", "f32", "rn") and not flags:
        return f32_to_bf16
    if (result, source, rounding) == ("f16", "f32", "rn") and not flags:
        return f32_to_f16

    def narrow(a: Bits) -> Bits:
        # a subnormal f32 is not flushed on its way to f16, as measured: a directed rounding sees it
        x = to_double(a, source, ftz and result != "f16")
        bits = _round_double(x, result, rounding, flags)
        if ftz and result == "f32" and source == "f64":
            # what stays below the least normal number in 24 digits of any exponent is flushed
            bits = np.where(round_to(x * 2.0**64, "f32", rounding) & ~SIGN32 < np.uint32(0x20800000), bits & SIGN32, bits)
        if source == "f64" and not flags - {"ftz"}:
            bits = _narrow_nan(a, bits, result)
        return _finish_f32(bits, result, ftz)

    return narrow


def _narrow_nan(a: Bits, bits: Bits, result: str) -> Bits:
    """`bits` with each NaN of the f64 `a` as the hardware narrows it: quiet, with its sign and the upper part of its fraction."""
    missing = (a & np.uint64((1 << 63) - 1)) > np.uint64(0x7FF << 52)
    if not missing.any():
        return bits
    width, shift = FLOAT_WIDTH[result], np.uint64(_PAYLOAD_SHIFT[result])
    raw = unsigned(width)
    infinity = raw.type({"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}[result])
    fraction = ((a & np.uint64((1 << 52) - 1) | np.uint64(1 << 51)) >> shift).astype(raw)
    sign = (a >> np.uint64(63)).astype(raw) << raw.type(width - 1)
    return np.where(missing, sign | infinity | fraction, bits)


def _tf32(words: Words) -> PureOp | None:
    """cvt.{rna,rn,rz}{.relu}{.satfinite}.tf32.f32. Measured: rna does not treat NaN apart, it rounds the bits and masks them, also with .satfinite."""
    rounding = words.one("rna", "rn", "rz")
    flags = words.flags("relu", "satfinite")
    if rounding is None or words.one("tf32") is None or words.one("f32") is None or words.left:
        return None
    if ("relu" if rounding == "rna" else "satfinite") in flags:
        return None
    low = np.uint32(0x1FFF)

    def run(a: Bits) -> tuple[Bits]:
        bits: Bits
        special = (a & np.uint32(0x7F800000)) == np.uint32(0x7F800000)
        if rounding == "rna":
            bits = np.where(special, a, a + np.uint32(0x1000)) & ~low
        elif rounding == "rz":
            bits = a & ~low
        else:
            bits = np.where(special, a, a + np.uint32(0xFFF) + ((a >> np.uint32(13)) & np.uint32(1))) & ~low
        if "satfinite" in flags:
            # one unit less, which makes the greatest number of an infinity; a NaN fares alike
            bits = np.where((bits & np.uint32(0x7F800000)) == np.uint32(0x7F800000), bits - np.uint32(0x2000), bits)
        if "relu" in flags:
            bits = np.where(bits >> np.uint32(31), np.uint32(0), bits)
        if rounding != "rna":
            missing = (a & ~SIGN32) > np.uint32(0x7F800000)
            bits = np.where(missing, NAN32 & ~low, bits)
        return (bits,)

    return PureOp(words.mnemonic, ("b32",), ("b32",), run)


def _quick_narrowing(inner: str, rounding: str, flags: frozenset[str]) -> Any:
    """The short ways of the plain nearest-even conversions from f32; None for the others."""
    if rounding != "rn" or flags - {"satfinite"}:
        return None
    if inner in ("e4m3", "e5m2"):
        return lambda bits: f32_to_fp8(bits.view(np.float32), inner)
    if flags:
        return None
    return f32_to_bf16 if inner == "bf16" else f32_to_f16


def _pair(words: Words, rounding: str | None, flags: frozenset[str], result: str) -> PureOp | None:
    """Packed conversions: with two f32 sources the first goes to the upper half."""
    inner = _PAIRS[result]
    source = words.one("f32", *_PAIRS)
    if source is None or words.left or rounding not in ("rn", "rz"):
        return None
    narrow = inner in ("e4m3", "e5m2")
    if narrow and ("satfinite" not in flags or rounding != "rn"):
        return None
    width = 8 if narrow else 16
    if source == "f32":
        quick = _quick_narrowing(inner, rounding, flags)

        def run(a: Bits, b: Bits) -> tuple[Bits]:
            if quick is not None:
                return (pack_elements((quick(b), quick(a))),)
            upper = _round_double(to_double(a, "f32"), inner, rounding, flags)
            lower = _round_double(to_double(b, "f32"), inner, rounding, flags)
            raw = unsigned(2 * width)
            return ((upper.astype(raw) << raw.type(width)) | lower.astype(raw),)

        return PureOp(words.mnemonic, ("b32", "b32"), (container(2 * width),), quiet(run))
    outer = _PAIRS[source]
    source_width = FLOAT_WIDTH[outer]
    if rounding != "rn" or (not narrow and "satfinite" in flags):
        return None
    if narrow == (source_width == 8) or (narrow and outer != "f16") or (not narrow and inner != "f16"):
        return None

    def run_pair(a: Bits) -> tuple[Bits]:
        if narrow and "relu" not in flags:
            return (joined(f32_to_fp8(F16_TABLE[pieces(a, 16)], inner), 16),)
        return (joined(_round_double(to_double(pieces(a, source_width), outer), inner, "rn", flags), 2 * width),)

    return PureOp(words.mnemonic, (container(2 * source_width),), (container(2 * width),), quiet(run_pair))


def _pack(words: Words) -> PureOp | None:
    """cvt.pack.sat: a above b, each clamped; the narrow forms put the pair below the low bits of c."""
    if words.one("sat") is None:
        return None
    kind = words.one("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")
    if kind is None or words.one("s32") is None:
        return None
    width = int(kind[1:])
    with_c = words.one("b32") is not None
    if words.left or with_c != (width < 16):
        return None
    low, high = _limits(kind)
    mask, shift = np.uint32(2**width - 1), np.uint32(width)

    def run(a: Bits, b: Bits, c: Bits | None = None) -> tuple[Bits]:
        upper = np.clip(a.view(np.int32), low, high).view(np.uint32) & mask
        lower = np.clip(b.view(np.int32), low, high).view(np.uint32) & mask
        both = (upper << shift) | lower
        return (both if c is None else both | (c << np.uint32(2 * width)),)

    return PureOp(words.mnemonic, ("b32", "b32", "b32") if with_c else ("b32", "b32"), ("b32",), run)


def _allowed(result: str, source: str, rounding: str | None, flags: frozenset[str]) -> bool:
    """The ISA's restrictions on scalar forms, as ptxas applies them for sm_90a."""
    if flags & {"relu", "satfinite"} and (
        source != "f32" or result not in ("f16", "bf16") or rounding not in ("rn", "rz") or "ftz" in flags
    ):
        return False
    if "ftz" in flags and "f32" not in (result, source):
        return False
    if "bf16" in (result, source) and ("sat" in flags or result in ("u8", "s8") or source in ("u8", "s8")):
        return False
    if result in _INTEGERS and source in _INTEGERS and "sat" in flags:
        (low, high), (source_low, source_high) = _limits(result), _limits(source)
        return source_low < low or high < source_high
    return True


def _cvt(words: Words) -> PureOp | None:
    if words.one("pack"):
        return _pack(words)
    if "tf32" in words.mnemonic.split("."):
        return _tf32(words)
    rounding = words.one(*_TO_INTEGER, *_ROUNDINGS)
    flags = words.flags("ftz", "sat", "relu", "satfinite")
    result = words.one(*_INTEGERS, *_FLOATS, *_PAIRS)
    if result is None:
        return None
    if result in _PAIRS:
        return _pair(words, rounding, flags, result)
    source = words.one(*_INTEGERS, *_FLOATS)
    if source is None or words.left:
        return None
    if not _allowed(result, source, rounding, flags):
        return None
    function: Any
    if result in _INTEGERS and source in _INTEGERS:
        if rounding or flags - {"sat"}:
            return None
        function = _integer_to_integer(result, source, "sat" in flags)
    elif result in _INTEGERS:
        if rounding not in _TO_INTEGER:
            return None
        function = _from_float(result, source, rounding, "ftz" in flags)
    elif source in _INTEGERS:
        if rounding not in _ROUNDINGS:
            return None
        function = _integer_to_float(result, source, rounding, flags)
    else:
        function = _float_to_float(result, source, rounding, flags)
    if function is None:
        return None
    source_width = FLOAT_WIDTH.get(source) or int(source[1:])
    result_width = FLOAT_WIDTH.get(result) or int(result[1:])

    def run(a: Bits) -> tuple[Bits]:
        return (function(a),)

    plain = result in _INTEGERS and source in _INTEGERS
    return PureOp(words.mnemonic, (container(source_width),), (container(result_width),), run if plain else quiet(run), result[0] == "s")


def _from_float(result: str, source: str, rounding: str, ftz: bool) -> Any:
    return lambda a: float_to_integer(to_double(a, source, ftz), result, rounding, source == "f64")


FAMILIES: dict[str, Family] = {"cvt": _cvt}
