"""Floating-point formats as bits: decoding to numpy numbers, and correctly rounded encoding from float64.

Formats: f16, bf16, tf32 (f32 container, low 13 bits zero), e4m3 (no infinity, NaN 0x7f), e5m2, f32, f64. NaNs are written as an H200 writes them:
f32 0x7fffffff, f16 and bf16 0x7fff, tf32 0x7fffe000, e4m3 and e5m2 0x7f; f64 0xfff8000000000000, CUDA's own CUDART_NAN (not measured).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import Bits

FLOAT_WIDTH = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f32": 32, "f64": 64}

NAN32, NAN16, NAN_TF32 = np.uint32(0x7FFFFFFF), np.uint16(0x7FFF), np.uint32(0x7FFFE000)
NAN64 = np.uint64(0xFFF8000000000000)
SIGN32, SIGN16, SIGN64 = np.uint32(0x80000000), np.uint16(0x8000), np.uint64(1 << 63)


@dataclass(frozen=True)
class Format:
    """`precision` counts the hidden bit; `minimum_exponent` is that of the least normal number; `largest` the greatest finite one."""

    name: str
    precision: int
    minimum_exponent: int
    largest: float
    has_infinity: bool = True


FORMATS = {
    "f16": Format("f16", 11, -14, 65504.0),
    "bf16": Format("bf16", 8, -126, float.fromhex("0x1.fep127")),
    "tf32": Format("tf32", 11, -126, float.fromhex("0x1.ffcp127")),
    "e4m3": Format("e4m3", 4, -6, 448.0, has_infinity=False),
    "e5m2": Format("e5m2", 3, -14, 57344.0),
    "f32": Format("f32", 24, -126, float.fromhex("0x1.fffffep127")),
}

_FP8: dict[str, Any] = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def flush32(bits: Bits) -> Bits:
    """f32 bits with subnormals replaced by zero of the same sign."""
    # unsigned: zero wraps to the top
    tiny = (bits & np.uint32(0x7FFFFFFF)) - np.uint32(1) < np.uint32(0x7FFFFF)
    return np.where(tiny, bits & SIGN32, bits) if tiny.any() else bits


def flush16(bits: Bits, kind: str) -> Bits:
    """f16 or bf16 bits with subnormals replaced by zero of the same sign."""
    tiny = (bits & np.uint16(0x7C00 if kind == "f16" else 0x7F80)) == 0
    return np.where(tiny, bits & SIGN16, bits)


def flush(bits: Bits, kind: str) -> Bits:
    """`flush32` or `flush16` by `kind`; f64 is left alone (it has no .ftz)."""
    if kind == "f32":
        return flush32(bits)
    return flush16(bits, kind) if kind in ("f16", "bf16") else bits


def is_subnormal(bits: Bits, kind: str) -> Bits:
    """Truth for nonzero numbers below the least normal one; f32 or f64 bits."""
    if kind == "f32":
        tiny: Bits = ((bits & np.uint32(0x7F800000)) == 0) & ((bits & np.uint32(0x7FFFFFFF)) != 0)
    else:
        tiny = ((bits & np.uint64(0x7FF0000000000000)) == 0) & ((bits & ~SIGN64) != 0)
    return tiny


def _decode_e4m3(code: int) -> float:
    sign, exponent, mantissa = -1.0 if code & 0x80 else 1.0, code >> 3 & 15, code & 7
    if code & 0x7F == 0x7F:
        return float("nan")
    return sign * (mantissa / 8 * 2.0**-6 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7))


E4M3_TABLE = np.array([_decode_e4m3(code) for code in range(256)], np.float32)
"""Value of each e4m3 code."""

# Decoding tables: faster than numpy's own half conversion. Signalling NaNs among the codes would warn.
with np.errstate(all="ignore"):
    F16_TABLE = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    """Value of each f16 code."""
    F16_TABLE64 = F16_TABLE.astype(np.float64)
    F16_TO_F32 = np.where(np.isnan(F16_TABLE), NAN32, F16_TABLE.view(np.uint32))
    """f32 bits of each f16 code, NaNs as the hardware converts them."""
    E5M2_TABLE = np.ascontiguousarray(F16_TABLE[::256])
    """Value of each e5m2 code: the upper byte of an f16."""
    E4M3_TABLE64 = E4M3_TABLE.astype(np.float64)
    E5M2_TABLE64 = E5M2_TABLE.astype(np.float64)


def bf16_to_f32(bits: Bits) -> Bits:
    """bf16 bits to float32 numbers (exact, payloads kept)."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_number(bits: Bits, kind: str, ftz: bool = False) -> Bits:
    """Bits of any format to exact numpy numbers: float32, or float64 for f64."""
    if ftz:
        bits = flush(bits, kind)
    if kind == "f32":
        return bits.view(np.float32)
    if kind == "f64":
        return bits.view(np.float64)
    if kind == "bf16":
        return bf16_to_f32(bits)
    if kind == "f16":
        return F16_TABLE[bits]
    if kind == "tf32":
        return (bits & np.uint32(0xFFFFE000)).view(np.float32)
    return (E4M3_TABLE if kind == "e4m3" else E5M2_TABLE)[bits]


def to_double(bits: Bits, kind: str, ftz: bool = False) -> Bits:
    """Bits of any format to exact float64 numbers."""
    if kind == "f16":
        return F16_TABLE64[flush16(bits, kind) if ftz else bits]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return to_number(bits, kind, ftz).astype(np.float64)


def odd(total: Bits, error: Bits) -> Bits:
    """Round to odd: `total` is the float64 nearest to an exact value and `error` that value less `total`.

    The result is exact, or the neighbour with an odd last bit on the value's side: any later rounding to at most 51 bits then gives what
    rounding the exact value would have given (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    bits = total.view(np.int64)
    even = (bits & np.int64(1)) == 0
    # away from zero when the error has the sign of the total
    outward = (error > 0) == (total > 0)
    inexact = ((error > 0) | (error < 0)) & even & np.isfinite(total)
    step = np.where(outward, np.int64(1), np.int64(-1))
    return (bits + np.where(inexact, step, np.int64(0))).view(np.float64)


def two_sum(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """``a + b`` in float64 and its exact error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def sum_to_odd(a: Bits, b: Bits) -> Bits:
    """``a + b`` of float64 rounded to odd."""
    return odd(*two_sum(a, b))


def step_down(bits: Bits, where: Bits) -> Bits:
    """The next f32 below, for numbers that are not +0 (their rounding was upwards)."""
    negative = (bits & SIGN32) != 0
    return bits + np.where(where, np.where(negative, np.uint32(1), np.uint32(0xFFFFFFFF)), np.uint32(0))


def round_to_f32(x: Bits, rounding: str = "rn") -> Bits:
    """float64 (exact or rounded to odd) to f32 bits in rn, rz, rm, rp or odd. NaN becomes 0x7fffffff."""
    near = x.astype(np.float32)
    bits = near.view(np.uint32)
    if rounding != "rn":
        wide = near.astype(np.float64)
        one = np.uint32(1)
        if rounding == "rz":
            bits = bits - (np.abs(wide) > np.abs(x)).astype(np.uint32)
        elif rounding == "odd":
            low = np.abs(wide) > np.abs(x)
            inexact = wide != x
            truncated = bits - low.astype(np.uint32)
            bits = truncated | (inexact & (x == x)).astype(np.uint32)
        else:
            wrong = wide > x if rounding == "rm" else wide < x
            # a result on the wrong side moves: up in magnitude for (rm, negative) and (rp, positive), else down
            grows = (bits & SIGN32) != 0 if rounding == "rm" else (bits & SIGN32) == 0
            bits = bits + np.where(wrong, np.where(grows, one, np.uint32(0xFFFFFFFF)), np.uint32(0))
    missing = x != x
    if missing.any():
        bits = np.where(missing, NAN32, bits)
    return bits


def f32_to_bf16(bits: Bits) -> Bits:
    """f32 bits (exact or rounded to odd) to bf16 bits, nearest even; NaN becomes 0x7fff."""
    number = bits.view(np.float32)
    rounded: Bits = number.astype(ml_dtypes.bfloat16).view(np.uint16)
    missing = number != number
    return np.where(missing, NAN16, rounded) if missing.any() else rounded


def f32_to_f16(bits: Bits) -> Bits:
    """f32 bits to f16 bits, nearest even; NaN becomes 0x7fff."""
    number = bits.view(np.float32)
    rounded: Bits = number.astype(np.float16).view(np.uint16)
    missing = number != number
    return np.where(missing, NAN16, rounded) if missing.any() else rounded


def f32_to_fp8(number: Bits, kind: str) -> Bits:
    """float32 numbers to e4m3 or e5m2 codes, nearest even, beyond the range the greatest finite number; NaN becomes 0x7f."""
    largest = np.float32(FORMATS[kind].largest)
    rounded: Bits = np.clip(number, -largest, largest).astype(_FP8[kind]).view(np.uint8)
    missing = number != number
    return np.where(missing, np.uint8(0x7F), rounded) if missing.any() else rounded


def round_value(x: Bits, form: Format, rounding: str) -> Bits:
    """float64 (exact or rounded to odd) to the nearest values of `form` in rn, rz, rm, rp or rna, still as float64; overflow by the rounding, NaN and infinity kept."""
    exponent = np.maximum(np.frexp(x)[1] - 1, form.minimum_exponent)
    scale = form.precision - 1 - exponent
    q = np.ldexp(x, scale)
    if rounding == "rn":
        q = np.rint(q)
    elif rounding == "rz":
        q = np.trunc(q)
    elif rounding == "rm":
        q = np.floor(q)
    elif rounding == "rp":
        q = np.ceil(q)
    else:
        q = np.trunc(q + np.copysign(0.5, q))
    value: Bits = np.copysign(np.ldexp(q, -scale), x)
    over = (np.abs(value) > form.largest) & np.isfinite(x)
    if over.any():
        toward = np.zeros(np.shape(x), np.bool_)
        if rounding == "rz":
            toward = ~toward
        elif rounding == "rm":
            toward = x > 0
        elif rounding == "rp":
            toward = x < 0
        value = np.where(over, np.copysign(np.where(toward, form.largest, np.inf), x), value)
    return value


def encode(value: Bits, kind: str) -> Bits:
    """float64 values that `kind` holds exactly (or NaN, infinity) to bits. e4m3 has no infinity: it becomes NaN."""
    if kind == "f64":
        bits: Bits = value.view(np.uint64)
        return np.where(value != value, NAN64, bits)
    missing = value != value
    if kind == "f16" or kind == "e5m2":
        half = value.astype(np.float16).view(np.uint16)
        if kind == "f16":
            return np.where(missing, NAN16, half)
        return np.where(missing, np.uint8(0x7F), (half >> np.uint16(8)).astype(np.uint8))
    single = value.astype(np.float32).view(np.uint32)
    if kind == "f32":
        return np.where(missing, NAN32, single)
    if kind == "bf16":
        return np.where(missing, NAN16, (single >> np.uint32(16)).astype(np.uint16))
    if kind == "tf32":
        return np.where(missing, NAN_TF32, single)
    magnitude = np.abs(value)
    missing = missing | np.isinf(value)
    magnitude = np.where(missing, 0.0, magnitude)
    normal = ((single & np.uint32(0x7FFFFFFF)) >> np.uint32(20)).astype(np.int32) - (120 << 3)
    code = np.where(magnitude < 2.0**-6, magnitude * 512.0, normal).astype(np.uint8)
    code = np.where(missing, np.uint8(0x7F), code | np.where(single & SIGN32, np.uint8(0x80), np.uint8(0)))
    return code.astype(np.uint8)


def round_to(x: Bits, kind: str, rounding: str = "rn", *, relu: bool = False, saturate: bool = False, finite: bool = False) -> Bits:
    """float64 (exact or rounded to odd) to bits of `kind`.

    `relu`: negative results become +0 (NaN stays NaN). `saturate`: clamp to [0, 1], NaN to +0. `finite`: overflow and infinities give the
    greatest finite number (.satfinite).
    """
    if kind == "f64":
        value = x
    elif kind == "f32" and not (relu or saturate or finite):
        return round_to_f32(x, rounding)
    elif kind == "f16" and rounding == "rn":
        value = x.astype(np.float16).astype(np.float64)
    else:
        value = round_value(x, FORMATS[kind], rounding)
    if finite:
        largest = FORMATS[kind].largest
        value = np.clip(value, -largest, largest)
    if saturate:
        value = np.where(value > 0, np.minimum(value, 1.0), 0.0)
    if relu:
        value = np.where(value <= 0, 0.0, value)
    return encode(value, kind)


def numbers(bits: Bits, kind: str) -> np.ndarray[Any, Any]:
    """`to_number` with warnings off, for callers outside an instruction."""
    with np.errstate(all="ignore"):
        return to_number(bits, kind)
