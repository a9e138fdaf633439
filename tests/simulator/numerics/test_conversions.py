"""Formats: exhaustive over their codes, against ml_dtypes and against the nearest code found by search; float to integer against Python."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fa4dsl.runtime.simulator.numerics import floats, lookup

HALVES = np.arange(65536, dtype=np.uint16)
BYTES = np.arange(256, dtype=np.uint8)
ML: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def run(mnemonic: str, *operands: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    operation = lookup(mnemonic)
    assert operation is not None, mnemonic
    return operation.run(*operands)[0]


def singles(bits: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return bits.view(ML[kind]).astype(np.float32)


def all_codes(kind: str) -> np.ndarray[Any, Any]:
    return BYTES if kind in ("e4m3", "e5m2") else HALVES


@pytest.mark.parametrize("kind", ["f16", "bf16", "e4m3", "e5m2"])
def test_decoding_every_code(kind: str) -> None:
    codes = all_codes(kind)
    got, wanted = floats.numbers(codes, kind), singles(codes, kind)
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    number = ~np.isnan(wanted)
    assert (got.view(np.uint32)[number] == wanted.view(np.uint32)[number]).all()


def neighbours(kind: str) -> np.ndarray[Any, Any]:
    """f32 numbers on, between and just beside all codes of a format, of both signs."""
    codes = singles(all_codes(kind), kind)
    values = np.unique(codes[np.isfinite(codes)].astype(np.float64))
    middles = (values[1:] + values[:-1]) / 2
    exact = np.concatenate([values, middles]).astype(np.float32)
    with np.errstate(all="ignore"):
        beside = np.concatenate([np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf))])
    return np.concatenate([exact, beside, np.array([1e30, -1e30, np.inf, -np.inf, 65519.9, 65520, 500, -500], np.float32)])


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_nearest_16_bit(kind: str) -> None:
    x = neighbours(kind)
    with np.errstate(over="ignore"):
        wanted = x.astype(ML[kind]).view(np.uint16)
    assert (run(f"cvt.rn.{kind}.f32", x.view(np.uint32)) == wanted).all()
    assert run(f"cvt.rn.{kind}.f32", np.array([0x7FC00000, 0xFF800001], np.uint32)).tolist() == [0x7FFF, 0x7FFF]
    # the pair puts its first source above
    pair = run(f"cvt.rn.{kind}x2.f32", x.view(np.uint32), x[::-1].copy().view(np.uint32))
    assert ((pair >> np.uint32(16)) == wanted).all() and ((pair & np.uint32(0xFFFF)) == wanted[::-1]).all()
    relu = run(f"cvt.rn.relu.{kind}.f32", x.view(np.uint32))
    assert (relu == np.where(x <= 0, 0, wanted)).all()
    finite = run(f"cvt.rn.satfinite.{kind}.f32", x.view(np.uint32))
    largest = 0x7BFF if kind == "f16" else 0x7F7F
    assert (finite == np.where((wanted & 0x7FFF) > largest, (wanted & 0x8000) | largest, wanted)).all()


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_nearest_8_bit(kind: str) -> None:
    x = neighbours(kind)
    largest = 448.0 if kind == "e4m3" else 57344.0
    clipped = np.clip(x, -largest, largest)
    wanted = clipped.astype(ML[kind]).view(np.uint8).astype(np.uint16)
    got = run(f"cvt.rn.satfinite.{kind}x2.f32", x.view(np.uint32), np.zeros(1, np.uint32))
    assert (got == wanted << 8).all()
    nan = run(f"cvt.rn.satfinite.{kind}x2.f32", np.array([0x7FC00000], np.uint32), np.array([0xFFFFFFFF], np.uint32))
    assert nan.tolist() == [0x7F7F]
    relu = run(f"cvt.rn.satfinite.relu.{kind}x2.f32", np.zeros(1, np.uint32), x.view(np.uint32))
    assert (relu == np.where(x <= 0, 0, wanted)).all()


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_8_bit_pairs_and_f16(kind: str) -> None:
    codes = HALVES
    got = run(f"cvt.rn.f16x2.{kind}x2", codes)
    for byte, half in ((codes & 0xFF, got & 0xFFFF), (codes >> 8, got >> 16)):
        wanted = singles(byte.astype(np.uint8), kind)
        number = ~np.isnan(wanted)
        assert (half.astype(np.uint16).view(np.float16)[number] == wanted[number]).all()
        assert (half[~number] == 0x7FFF).all()
    # from f16 pairs: the same rounding as from f32
    halves = HALVES.astype(np.uint32)
    low = run(f"cvt.rn.satfinite.{kind}x2.f16x2", halves)
    same = run(f"cvt.rn.satfinite.{kind}x2.f32", np.zeros(1, np.uint32), run("cvt.f32.f16", HALVES))
    assert (low == same).all()


def test_widening_is_exact() -> None:
    number = ~np.isnan(singles(HALVES, "f16"))
    assert (run("cvt.f32.f16", HALVES)[number] == singles(HALVES, "f16").view(np.uint32)[number]).all()
    assert (run("cvt.f32.f16", HALVES)[~number] == 0x7FFFFFFF).all()
    assert (run("cvt.f32.bf16", HALVES) == HALVES.astype(np.uint32) << 16).all()
    doubles = run("cvt.f64.f16", HALVES).view(np.float64)
    assert (doubles[number] == singles(HALVES, "f16")[number]).all() and np.isnan(doubles[~number]).all()
    assert run("cvt.f64.f32", np.array([0x7F800001, 0xFFC12345], np.uint32)).tolist() == [0x7FF8000020000000, 0xFFF82468A0000000]


def test_between_16_bit_formats() -> None:
    for source, target in (("f16", "bf16"), ("bf16", "f16")):
        x = singles(HALVES, source)
        number = ~np.isnan(x)
        with np.errstate(all="ignore"):
            wanted = x.astype(ML[target]).view(np.uint16)
        for mnemonic in (f"cvt.rn.{target}.{source}", f"cvt.{target}.{source}"):
            assert (run(mnemonic, HALVES)[number] == wanted[number]).all()


def test_tf32() -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**32, 20000, np.uint32)
    bits[:4000] = (bits[:4000] & np.uint32(0xFFFFE000)) | np.uint32(0x1000)  # ties
    x = bits.view(np.float32)
    finite = np.isfinite(x)
    even = run("cvt.rn.tf32.f32", bits)
    away = run("cvt.rna.tf32.f32", bits)
    cut = run("cvt.rz.tf32.f32", bits)
    for result in (even, away, cut):
        assert (result & np.uint32(0x1FFF) == 0).all()
    assert (cut[finite] == bits[finite] & np.uint32(0xFFFFE000)).all()
    ulp = np.uint32(0x2000)
    low = bits & np.uint32(0x1FFF)
    up = (low > 0x1000) | ((low == 0x1000) & (bits & ulp != 0))
    assert (even[finite] == (cut + np.where(up, ulp, 0))[finite]).all()
    assert (away[finite] == (cut + np.where(low >= 0x1000, ulp, 0))[finite]).all()
    infinite = np.array([0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000], np.uint32)
    assert run("cvt.rna.tf32.f32", infinite).tolist() == [0x7F800000, 0xFF800000, 0x7F800000]
    assert run("cvt.rna.satfinite.tf32.f32", infinite).tolist() == [0x7F7FE000, 0xFF7FE000, 0x7F7FE000]


ROUND = {"rni": lambda v: round(v), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_floats_to_integers(source: str) -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate(
        [
            rng.uniform(-300, 300, 60),
            rng.uniform(-1, 1, 20),
            np.arange(-4, 4) + 0.5,
            2.0 ** np.arange(6, 66),
            -(2.0 ** np.arange(6, 66)),
            [0.0, -0.0, 1e30, -1e30],
        ]
    )
    with np.errstate(over="ignore"):
        typed = values.astype({"f32": np.float32, "f64": np.float64, **ML}[source])
    bits = typed.view(f"u{typed.dtype.itemsize}")
    exact = [float(v) for v in typed]
    for kind in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
        if source == "bf16" and kind in ("u8", "s8"):
            continue
        width = int(kind[1:])
        low, high = (0, 2**width - 1) if kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        for mode, function in ROUND.items():
            got = run(f"cvt.{mode}.{kind}.{source}", bits)
            for value, result in zip(exact, got.tolist(), strict=True):
                whole = (high if value > 0 else low) if math.isinf(value) else min(max(function(value), low), high)
                assert result == whole & (2**width - 1), (mode, kind, value)


def test_nan_to_integer() -> None:
    assert run("cvt.rzi.s32.f32", np.array([0x7FC00000], np.uint32)).tolist() == [0]
    assert run("cvt.rzi.u64.f32", np.array([0x7FC00000], np.uint32)).tolist() == [1 << 63]
    assert run("cvt.rzi.s32.f64", np.array([0x7FF8 << 48], np.uint64)).tolist() == [1 << 31]
    assert run("cvt.rzi.s16.f16", np.array([0x7E00], np.uint16)).tolist() == [0]


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
def test_rounding_to_whole_floats(mode: str) -> None:
    function = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    x = np.array([0.5, 1.5, -0.5, -2.5, 0.0, -0.0, 1e10, -0.2, 0.7, np.inf, 8388609.0, 3.999], np.float32)
    got = run(f"cvt.{mode}.f32.f32", x.view(np.uint32)).view(np.float32)
    assert (got == function(x)).all() and (np.signbit(got) == np.signbit(x)).all()
    doubles = x.astype(np.float64)
    assert (run(f"cvt.{mode}.f64.f64", doubles.view(np.uint64)).view(np.float64) == function(doubles)).all()
    halves = np.array([0.5, 1.5, -0.5, -2.5, 0.0, -0.0, 100.5, -0.2, 0.7], np.float16)
    assert (run(f"cvt.{mode}.f16.f16", halves.view(np.uint16)).view(np.float16) == function(halves)).all()


def test_integer_widths() -> None:
    x = np.array([0, 1, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    for source_kind, target_kind in ((s, t) for s in ("s32", "u32") for t in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")):
        width = int(target_kind[1:])
        numbers = x.view(np.int32).tolist() if source_kind == "s32" else x.tolist()
        if source_kind != target_kind:
            wrapped = run(f"cvt.{target_kind}.{source_kind}", x).tolist()
            assert wrapped == [n & (2**width - 1) for n in numbers]
        low, high = (0, 2**width - 1) if target_kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        if lookup(f"cvt.sat.{target_kind}.{source_kind}"):
            clamped = run(f"cvt.sat.{target_kind}.{source_kind}", x).tolist()
            assert clamped == [min(max(n, low), high) & (2**width - 1) for n in numbers]
    operation = lookup("cvt.s8.s32")
    assert operation is not None and operation.results == ("b8",) and operation.result_signed


def test_pack_of_narrow_integers() -> None:
    a, b, c = (np.array(v, np.int32).view(np.uint32) for v in ([300, -300, 5], [-5, 7, -9], [0x11223344, -1, 0]))
    assert run("cvt.pack.sat.u4.s32.b32", a, b, c).tolist() == [0x223344F0, 0xFFFFFF07, 0x00000050]
    assert run("cvt.pack.sat.s2.s32.b32", a, b, c).tolist() == [0x12233446, 0xFFFFFFF9, 0x00000006]
