"""Operands worth trying: per format a mixture of edge cases and random bits, from integers alone, so that every machine makes the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[Any]

WIDTH = {
    "i16": 16,
    "f16": 16,
    "bf16": 16,
    "e4m3x2": 16,
    "e5m2x2": 16,
    "i32": 32,
    "f32": 32,
    "f16x2": 32,
    "bf16x2": 32,
    "small": 32,
    "i64": 64,
    "f64": 64,
}
"""Bits of each flavour of value. `small` is an integer of 0 to 40, for shift amounts and positions, `byte` one of 0 to 255."""

WHOLE = {"f16": "u2", "bf16": "u2", "f32": "u4", "e4m3": "u1", "e5m2": "u1"}
"""Formats of the flavours whole_FORMAT: 32-bit words of small integers in that format, whose products and sums are exact."""
WIDTH.update(byte=32, finite_f64=64)
WIDTH.update({f"real_{kind}": 32 for kind in ("f16", "bf16", "f32")})
WIDTH.update({f"whole_{kind}": 32 for kind in WHOLE}, whole_f64=64)

_EDGES: dict[str, list[int]] = {
    "i16": [0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFF80, 0xFFFE, 0xFFFF],
    "i32": [
        0,
        1,
        2,
        3,
        31,
        32,
        33,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x10000,
        0xFFFFFF,
        0x1000000,
        0x7FFFFFFE,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFF8000,
        0xFFFFFF80,
        0xFFFFFFFE,
        0xFFFFFFFF,
    ],
    "i64": [
        0,
        1,
        2,
        63,
        64,
        0xFF,
        0xFFFF,
        0x7FFFFFFF,
        0x80000000,
        0xFFFFFFFF,
        0x100000000,
        0x7FFFFFFFFFFFFFFF,
        1 << 63,
        (1 << 63) + 1,
        (1 << 64) - 2,
        (1 << 64) - 1,
        (1 << 53) - 1,
        (1 << 53) + 1,
        (1 << 24) + 1,
        (1 << 64) - (1 << 31),
        (1 << 64) - 0x80,
    ],
    "f32": [
        0,
        1,
        2,
        0x7FFFFF,
        0x7FFFFE,
        0x800000,
        0x800001,
        0x3F800000,
        0x3F7FFFFF,
        0x3F800001,
        0x40000000,
        0x3F000000,
        0x7F7FFFFF,
        0x7F7FFFFE,
        0x7F800000,
        0x7FC00000,
        0x7F800001,
        0x7FFFFFFF,
        0x7FA5A5A5,
        0x4B000000,
        0x4B800000,
        0x4F000000,
        0x4EFFFFFF,
        0x4F800000,
        0x5F000000,
        0x5F800000,
        0x477FE000,
        0x477FF000,
        0x387FC000,
        0x33000000,
        0x33000001,
        0x3F008000,
        0x43E00000,
        0x43E80000,
        0x7F7F8000,
        0x7F7F7FFF,
    ],
    "f16": [
        0,
        1,
        2,
        0x3FF,
        0x3FE,
        0x400,
        0x401,
        0x3C00,
        0x3BFF,
        0x3C01,
        0x4000,
        0x3800,
        0x7BFF,
        0x7BFE,
        0x7C00,
        0x7E00,
        0x7C01,
        0x7FFF,
        0x7FF7,
        0x6400,
        0x77FF,
        0x7800,
    ],
    "bf16": [
        0,
        1,
        2,
        0x7F,
        0x7E,
        0x80,
        0x81,
        0x3F80,
        0x3F7F,
        0x3F81,
        0x4000,
        0x3F00,
        0x7F7F,
        0x7F7E,
        0x7F80,
        0x7FC0,
        0x7F81,
        0x7FFF,
        0x7FF7,
        0x4300,
        0x4F00,
        0x5F00,
    ],
    "f64": [
        0,
        1,
        2,
        (1 << 52) - 1,
        1 << 52,
        (1 << 52) + 1,
        0x3FF << 52,
        (0x3FF << 52) - 1,
        (0x3FF << 52) + 1,
        0x400 << 52,
        0x3FE << 52,
        0x7FEFFFFFFFFFFFFF,
        0x7FEFFFFFFFFFFFFE,
        0x7FF << 52,
        0x7FF8 << 48,
        (0x7FF << 52) + 1,
        0x7FFFFFFFFFFFFFFF,
        0x7FF4A5A5A5A5A5A5,
        0x47EFFFFFE0000000,
        0x47EFFFFFF0000000,
        0x3690000000000000,
        0x36A0000000000001,
        0x380FFFFFE0000000,
        0x43E0000000000000,
        0x43F0000000000000,
        0x41DFFFFFFFC00000,
        0x41E0000000000000,
        0x40EFFC0000000000,
        0x40EFFE0000000000,
    ],
}
_FIELDS = {"f32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "f64": (11, 52)}
_ALL64 = (1 << 64) - 1


def mix(x: Words) -> Words:
    """A 64-bit finaliser (Steele, Lea and Flood's SplitMix): one well-mixed word for each input."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Words = x ^ (x >> np.uint64(31))
        return mixed


def random_words(seed: int, count: int) -> Words:
    """`count` uint64 of a stream named by `seed`."""
    with np.errstate(over="ignore"):
        return mix(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + mix(np.full(1, seed & _ALL64, np.uint64)))


def _float_like(words: Words, kind: str) -> Words:
    """Finite numbers whose exponents crowd around 1, with mantissas that are often sparse, so that sums cancel and products tie."""
    exponent_bits, mantissa_bits = _FIELDS[kind]
    bias, width = (1 << (exponent_bits - 1)) - 1, 1 + exponent_bits + mantissa_bits
    spread = np.uint64(min(2 * bias, 12))
    exponent = np.uint64(bias) - (spread >> np.uint64(1)) + ((words >> np.uint64(2)) % spread)
    mantissa = (words >> np.uint64(8)) & np.uint64((1 << mantissa_bits) - 1)
    sparse = (words & np.uint64(3)) == 0
    shift = np.uint64(mantissa_bits) - ((words >> np.uint64(58)) % np.uint64(min(6, mantissa_bits)) + np.uint64(1))
    mantissa = np.where(sparse, (mantissa >> shift) << shift, mantissa)
    sign = (words >> np.uint64(63)) << np.uint64(width - 1)
    number: Words = sign | (exponent << np.uint64(mantissa_bits)) | mantissa
    return number


def _whole(kind: str, words: Words) -> Words:
    """Integers from -3 to 3 in a format, from the bytes of `words`."""
    number = (words.view(np.uint8) % np.uint8(7)).astype(np.int8) - np.int8(3)
    if kind == "f64":
        return number[::8].astype(np.float64).view(np.uint64)
    if kind == "f32":
        return number[::8].astype(np.float32).view(np.uint32)
    if kind == "f16":
        return number.reshape(-1, 8)[:, :2].astype(np.float16).copy().view(np.uint32).reshape(-1)
    if kind == "bf16":
        wide = number.reshape(-1, 8)[:, :2].astype(np.float32)
        return (wide.copy().view(np.uint32) >> np.uint32(16)).astype(np.uint16).copy().view(np.uint32).reshape(-1)
    codes = {"e4m3": [0, 0x38, 0x40, 0x44], "e5m2": [0, 0x3C, 0x40, 0x42]}[kind]
    size = np.abs(number.reshape(-1, 8)[:, :4])
    code = np.array(codes, np.uint8)[size] | np.where(number.reshape(-1, 8)[:, :4] < 0, np.uint8(0x80), np.uint8(0))
    packed: Words = code.copy().view(np.uint32).reshape(-1)
    return packed


def _real(kind: str, words: Words, picks: Words) -> Words:
    """32-bit words of finite numbers around 1 in a format, zeros among them."""
    if kind == "f32":
        return np.where(picks % np.uint64(16) == 0, np.uint64(0), _float_like(words, kind)).astype(np.uint32)
    low = np.where(picks % np.uint64(16) == 0, np.uint64(0), _float_like(words, kind))
    pair: Words = (low | _float_like(picks, kind) << np.uint64(16)).astype(np.uint32)
    return pair


def make(flavour: str, seed: int, count: int) -> Words:
    """`count` values of a flavour as unsigned words of its width: edges, numbers near 1 (floats) or of few bits (integers), and any bits."""
    if flavour in ("f16x2", "bf16x2"):
        low = make(flavour[:-2], 2 * seed, count).astype(np.uint32)
        return low | (make(flavour[:-2], 2 * seed + 1, count).astype(np.uint32) << np.uint32(16))
    words = random_words(seed, count)
    width = WIDTH[flavour]
    dtype = np.dtype(f"u{width // 8}")
    if flavour.startswith("whole_"):
        return _whole(flavour.removeprefix("whole_"), words)
    if flavour.startswith("real_"):
        return _real(flavour.removeprefix("real_"), words, random_words(seed ^ 0x2545F491, count))
    if flavour == "finite_f64":
        bits = make("f64", seed, count)
        exponent = np.uint64(0x7FF << 52)
        # infinities and NaNs become numbers of a middling exponent
        return np.where(bits & exponent == exponent, bits & ~np.uint64(0x7 << 60), bits)
    if flavour == "byte":
        return np.asarray(words & np.uint64(0xFF), dtype)
    if flavour == "small":
        return (words % np.uint64(41)).astype(dtype)
    if flavour.endswith(("m3x2", "m2x2")):
        return words.astype(dtype)
    picks = random_words(seed ^ 0x5DEECE66D, count)
    edges = np.array(_EDGES[flavour], np.uint64)
    edge = edges[(words % np.uint64(len(edges))).astype(np.intp)]
    if flavour in _FIELDS:
        edge = edge ^ (((words >> np.uint64(40)) & np.uint64(1)) << np.uint64(width - 1))
        middle = _float_like(words, flavour)
    else:
        middle = words >> (np.uint64(64 - width) + (picks >> np.uint64(8)) % np.uint64(width))
    choice = picks % np.uint64(8)
    chosen = np.where(choice < 3, edge, np.where(choice < 6, middle, words))
    return chosen.astype(dtype)
