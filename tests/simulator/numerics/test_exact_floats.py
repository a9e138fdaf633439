"""Float arithmetic in every rounding against exact fractions."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.runtime.simulator.numerics import lookup

PARAMETERS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
"""Precision, least and greatest exponent."""
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INFINITY = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}


def decode_exactly(bits: int, kind: str) -> Fraction | None:
    """The value of finite bits; None for infinities and NaNs."""
    precision, least, _ = PARAMETERS[kind]
    width = WIDTH[kind]
    sign = -1 if bits >> (width - 1) else 1
    bits &= (1 << (width - 1)) - 1
    if bits >= INFINITY[kind]:
        return None
    exponent, mantissa = bits >> (precision - 1), bits & ((1 << (precision - 1)) - 1)
    if exponent == 0:
        return sign * Fraction(mantissa) * Fraction(2) ** (least - precision + 1)
    return sign * Fraction(mantissa + (1 << (precision - 1))) * Fraction(2) ** (exponent - 1 + least - precision + 1)


def encode_exactly(value: Fraction, kind: str, mode: str = "rn") -> int:
    """A nonzero value to bits: find the neighbours on the grid of its binade and choose."""
    precision, least, greatest = PARAMETERS[kind]
    width = WIDTH[kind]
    negative = value < 0
    size = abs(value)
    # one too low or right
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - 1, least)
    if Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (exponent - precision + 1)
    below = size // unit
    rest = size - below * unit
    if rest == 0:
        up = False
    elif mode == "rn":
        up = 2 * rest > unit or (2 * rest == unit and below % 2 == 1)
    else:
        up = mode == ("rm" if negative else "rp")
    whole = below + up
    if whole * unit >= Fraction(2) ** (greatest + 1):
        inward = mode == "rz" or mode == ("rp" if negative else "rm")
        code = INFINITY[kind] - 1 if inward else INFINITY[kind]
    elif size < Fraction(2) ** least:
        code = whole  # carries into the least normal number by itself
    else:
        code = ((exponent - least + 1) << (precision - 1)) + (whole - (1 << (precision - 1)))
    return int(code) | (negative << (width - 1))


def f32_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


ROUNDINGS = ("rn", "rz", "rm", "rp")
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}
DTYPE: dict[str, Any] = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def run(mnemonic: str, *operands: list[int]) -> list[int]:
    operation = lookup(mnemonic)
    assert operation is not None, mnemonic
    dtypes = {"b16": np.uint16, "b32": np.uint32, "b64": np.uint64}
    (result,) = operation.run(*[np.array(x, dtypes[c]) for x, c in zip(operands, operation.sources, strict=True)])
    return [int(x) for x in result]


def interesting(kind: str) -> list[int]:
    """Zeros, subnormals, powers, neighbours of powers, the greatest numbers."""
    precision, least, greatest = PARAMETERS[kind]
    hidden = 1 << (precision - 1)
    bias = 1 - least
    codes = [0, 1, 2, 3, hidden - 1, hidden, hidden + 1, INFINITY[kind] - 1, INFINITY[kind] - 2]
    for exponent in (
        least + 1,
        least + precision,
        -precision,
        -1,
        0,
        1,
        2,
        precision - 1,
        precision,
        precision + 1,
        greatest - 1,
        greatest,
    ):
        codes += [(exponent + bias) * hidden + offset for offset in (-1, 0, 1, hidden >> 1, (hidden >> 1) + 1)]
    codes = [c for c in codes if 0 <= c < INFINITY[kind]]
    return codes + [c | 1 << (WIDTH[kind] - 1) for c in codes]


def finite(kind: str) -> st.SearchStrategy[int]:
    width = WIDTH[kind]
    anything = st.integers(0, 2**width - 1).filter(lambda bits: decode_exactly(bits, kind) is not None)
    bias = 1 - PARAMETERS[kind][1]
    shift = PARAMETERS[kind][0] - 1
    # exponents near each other make sums whose last bits matter
    near = st.builds(
        lambda s, e, m: s << (width - 1) | (e << shift) | m,
        st.integers(0, 1),
        st.integers(max(bias - 30, 1), bias + 30),
        st.integers(0, (1 << shift) - 1),
    ).filter(lambda bits: decode_exactly(bits, kind) is not None)
    return st.one_of(st.sampled_from(interesting(kind)), near, anything)


def wanted(value: Fraction, kind: str, mode: str, signs: list[int]) -> int:
    """`signs`: the signs of the terms of a sum, or the one sign of a product."""
    if value:
        return encode_exactly(value, kind, mode)
    negative = any(signs) if mode == "rm" else all(signs)
    return int(negative) << (WIDTH[kind] - 1)


def check(
    mnemonic: str, kind: str, mode: str, function: Callable[..., Fraction], signs: Callable[..., list[int]], *columns: list[int]
) -> None:
    got = run(mnemonic, *columns)
    top = WIDTH[kind] - 1
    for row, result in zip(zip(*columns, strict=True), got, strict=True):
        values = [decode_exactly(x, kind) for x in row]
        expected = wanted(function(*values), kind, mode, signs(*[x >> top for x in row]))
        assert result == expected, f"{mnemonic} {[hex(x) for x in row]}: {result:#x}, exactly {expected:#x}"


def batches(kind: str, count: int, size: int = 20) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.lists(finite(kind), min_size=size, max_size=size), min_size=count, max_size=count)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", ROUNDINGS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_rounded_arithmetic(kind: str, mode: str, data: st.DataObject) -> None:
    a, b, c = data.draw(batches(kind, 3))
    check(f"add.{mode}.{kind}", kind, mode, operator.add, lambda x, y: [x, y], a, b)
    check(f"sub.{mode}.{kind}", kind, mode, operator.sub, lambda x, y: [x, 1 - y], a, b)
    check(f"mul.{mode}.{kind}", kind, mode, operator.mul, lambda x, y: [x ^ y], a, b)
    check(f"fma.{mode}.{kind}", kind, mode, lambda x, y, z: x * y + z, lambda x, y, z: [x ^ y, z], a, b, c)
    divisors = [x if decode_exactly(x, kind) else 1 for x in b]
    check(f"div.{mode}.{kind}", kind, mode, operator.truediv, lambda x, y: [x ^ y], a, divisors)
    check(f"rcp.{mode}.{kind}", kind, mode, lambda x: 1 / x, lambda x: [x], divisors)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_products_that_cancel(kind: str) -> None:
    """a * b + c where c is near -a * b: the exact low half of the product decides."""
    rng = np.random.default_rng(7)
    dtype = DTYPE[kind]
    precision, least, _ = PARAMETERS[kind]
    exponents = rng.integers(-20, 20, 400) - least + 1
    a, b = ((exponents << (precision - 1)) | rng.integers(0, 1 << (precision - 1), 400) for _ in range(2))
    product = run(f"mul.rn.{kind}", a.tolist(), b.tolist())
    c = [(x + int(d)) ^ 1 << (WIDTH[kind] - 1) for x, d in zip(product, rng.integers(-2, 3, 400), strict=True)]
    for mode in ROUNDINGS:
        check(
            f"fma.{mode}.{kind}",
            kind,
            mode,
            lambda x, y, z: x * y + z,
            lambda x, y, z: [x ^ y, z],
            a.astype(dtype).tolist(),
            b.astype(dtype).tolist(),
            c,
        )


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_ties_broken_by_a_tiny_term(kind: str) -> None:
    """1 + half an ulp, plus or minus something too small for the wider format: double rounding would go the wrong way."""
    precision, least, _ = PARAMETERS[kind]
    bias = 1 - least
    hidden = 1 << (precision - 1)
    one = bias * hidden
    rows = []
    for odd in (0, 1):
        for tiny in (-70, -100, least + 1):
            for sign in (0, 1):
                # (1 + odd ulp) * 1 is given as a product of c's ulp half: a * b = half ulp of one, c = one + odd, third by the sign of a tiny b offset
                half_ulp = (bias - precision) * hidden
                rows.append(((half_ulp + sign) if tiny == -70 else half_ulp, one, (one + odd) | 0))
                small = max(tiny + bias, 1) * hidden | sign << (WIDTH[kind] - 1)
                rows.append((small, one, one + odd))
    a, b, c = (list(column) for column in zip(*rows, strict=True))
    for mode in ROUNDINGS:
        check(f"fma.{mode}.{kind}", kind, mode, lambda x, y, z: x * y + z, lambda x, y, z: [x ^ y, z], a, b, c)


@settings(max_examples=40, deadline=None)
@given(st.lists(finite("f32"), min_size=30, max_size=30), st.lists(finite("f64"), min_size=10, max_size=10))
def test_square_roots(singles: list[int], doubles: list[int]) -> None:
    for kind, bits in (("f32", singles), ("f64", doubles)):
        bits = [b & ~(1 << (WIDTH[kind] - 1)) for b in bits]
        for mode in ROUNDINGS:
            for x, root in zip(bits, run(f"sqrt.{mode}.{kind}", bits), strict=True):
                value, got = decode_exactly(x, kind), decode_exactly(root, kind)
                assert value is not None and got is not None
                below, above = decode_exactly(max(root - 1, 0), kind), decode_exactly(root + 1, kind)
                if got * got == value:
                    continue
                assert below is not None and above is not None
                assert below * below < value < above * above
                if mode in ("rz", "rm"):
                    assert got * got < value
                elif mode == "rp":
                    assert got * got > value
                else:
                    middle = (got + (above if got * got < value else below)) / 2
                    assert (middle * middle > value) == (got * got < value)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_half_arithmetic(kind: str, data: st.DataObject) -> None:
    a, b, c = data.draw(batches(kind, 3))
    check(f"add.rn.{kind}", kind, "rn", operator.add, lambda x, y: [x, y], a, b)
    check(f"sub.rn.{kind}", kind, "rn", operator.sub, lambda x, y: [x, 1 - y], a, b)
    check(f"mul.rn.{kind}", kind, "rn", operator.mul, lambda x, y: [x ^ y], a, b)
    for mode in ROUNDINGS if kind == "bf16" else ("rn",):
        check(f"fma.{mode}.{kind}", kind, mode, lambda x, y, z: x * y + z, lambda x, y, z: [x ^ y, z], a, b, c)
    # the packed form is the scalar one on each half
    pair = [x | y << 16 for x, y in zip(a, reversed(a), strict=True)]
    other = [x | y << 16 for x, y in zip(b, reversed(b), strict=True)]
    single = run(f"add.rn.{kind}", a, b)
    assert run(f"add.rn.{kind}x2", pair, other) == [x | y << 16 for x, y in zip(single, reversed(single), strict=True)]


@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ROUNDINGS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_narrowing(source: str, kind: str, mode: str, data: st.DataObject) -> None:
    if source == kind:
        source = "f64"
    bits = data.draw(st.lists(finite(source), min_size=40, max_size=40))
    got = run(f"cvt.{mode}.{kind}.{source}", bits)
    for x, result in zip(bits, got, strict=True):
        value = decode_exactly(x, source)
        assert value is not None
        assert result == wanted(value, kind, mode, [x >> (WIDTH[source] - 1)]), hex(x)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("mode", ROUNDINGS)
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=20, max_size=20), st.lists(st.integers(0, 62), min_size=20, max_size=20))
def test_integers_to_floats(kind: str, mode: str, numbers: list[int], shifts: list[int]) -> None:
    numbers = [n >> s for n, s in zip(numbers, shifts, strict=True)] + [2**63 - 1, -(2**63), 2**62 + 1, (2**53 + 1) << 9]
    signed = run(f"cvt.{mode}.{kind}.s64", [n & (2**64 - 1) for n in numbers])
    unsigned = run(f"cvt.{mode}.{kind}.u64", [n & (2**64 - 1) for n in numbers])
    for n, s, u in zip(numbers, signed, unsigned, strict=True):
        assert s == wanted(Fraction(n), kind, mode, [0]), n
        assert u == wanted(Fraction(n & (2**64 - 1)), kind, mode, [0]), n


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_nans_and_infinities(kind: str) -> None:
    infinity, top = INFINITY[kind], 1 << (WIDTH[kind] - 1)
    missing = infinity + 1
    one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}[kind]
    rows = [(infinity, infinity | top), (missing, one), (one, missing | top), (infinity, one), (infinity | top, one)]
    a, b = (list(x) for x in zip(*rows, strict=True))
    # f64 hands a NaN on, made quiet; the others give one NaN for all
    kept = missing | 1 << 51 if kind == "f64" else NAN[kind]
    kept_negative = kept | top if kind == "f64" else kept
    assert run(f"add.rn.{kind}", a, b) == [NAN[kind], kept, kept_negative, infinity, infinity | top]
    assert run(f"mul.rn.{kind}", [infinity, missing, infinity | top], [0, one, one]) == [NAN[kind], kept, infinity | top]
    assert run(f"fma.rn.{kind}", [infinity, infinity, one], [one, one, infinity], [infinity | top, one, missing]) == [
        NAN[kind],
        infinity,
        kept,
    ]
    if kind in ("f32", "f64"):
        assert run(f"div.rn.{kind}", [one, 0, infinity, one | top], [0, 0, infinity, infinity]) == [infinity, NAN[kind], NAN[kind], top]
        for mode in ROUNDINGS:
            assert run(f"fma.{mode}.{kind}", [infinity], [one], [one]) == [infinity]
            assert run(f"div.{mode}.{kind}", [one, one], [0, infinity]) == [infinity, 0]
            assert run(f"sqrt.{mode}.{kind}", [one | top, top, infinity]) == [NAN[kind], top, infinity]


def test_flush_and_saturate() -> None:
    tiny, half, two = 1, f32_bits(0.5), f32_bits(2.0)
    assert run("add.rn.ftz.f32", [tiny, tiny | 1 << 31], [0, 1 << 31]) == [0, 1 << 31]
    assert run("mul.rn.ftz.f32", [0x00800000], [half]) == [0]
    assert run("fma.rn.ftz.f32", [0x80800000], [half], [0x80000000]) == [1 << 31]
    assert run("fma.rn.sat.f32", [two, two | 1 << 31, 0x7FC00000], [two] * 3, [0] * 3) == [f32_bits(1.0), 0, 0]


def test_approximations_within_the_documented_bounds() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-120, 120, 2000), rng.uniform(-2, 2, 2000)]).astype(np.float32)
    positive = np.exp(rng.uniform(-80, 80, 4000)).astype(np.float32)
    cases: list[tuple[str, Any, Any]] = [
        ("ex2", x, np.exp2),
        ("rcp", positive, lambda v: 1 / v),
        ("rsqrt", positive, lambda v: 1 / np.sqrt(v)),
        ("sqrt", positive, np.sqrt),
        ("tanh", x, np.tanh),
    ]
    for name, argument, function in cases:
        for ftz in ("", ".ftz") if name != "tanh" else ("",):
            got = np.array(run(f"{name}.approx{ftz}.f32", argument.view(np.uint32).tolist()), np.uint32).view(np.float32)
            reference = function(argument.astype(np.float64))
            inside = np.abs(reference) > 2.0**-126
            assert (np.abs(got - reference)[inside] <= 2.0**-23 * np.abs(reference)[inside]).all(), name
    for name, function2 in (("sin", np.sin), ("cos", np.cos)):
        angles = rng.uniform(-np.pi, np.pi, 2000).astype(np.float32)
        got = np.array(run(f"{name}.approx.f32", angles.view(np.uint32).tolist()), np.uint32).view(np.float32)
        assert (np.abs(got - function2(angles.astype(np.float64))) <= 2.0**-20.5).all()
    got = np.array(run("lg2.approx.f32", positive.view(np.uint32).tolist()), np.uint32).view(np.float32)
    reference = np.log2(positive.astype(np.float64))
    assert (np.abs(got - reference) <= np.maximum(2.0**-22, 2.0**-22 * np.abs(reference))).all()


def test_approximations_at_the_edges() -> None:
    inf, nan, zero, minus = 0x7F800000, 0x7FFFFFFF, 0, 1 << 31
    one = f32_bits(1.0)
    assert run("ex2.approx.f32", [zero, minus, inf, inf | minus, 0x7FC00001]) == [one, one, inf, zero, nan]
    assert run("ex2.approx.ftz.f32", [1, f32_bits(-126.0), f32_bits(-127.0)]) == [one, 0x00800000, zero]
    assert run("lg2.approx.f32", [zero, minus, f32_bits(-1.0), inf, one]) == [inf | minus, inf | minus, nan, inf, zero]
    assert run("rcp.approx.f32", [zero, minus, inf, inf | minus]) == [inf, inf | minus, zero, minus]
    assert run("rsqrt.approx.f32", [zero, minus, f32_bits(-1.0), inf]) == [inf, inf | minus, nan, zero]
    assert run("sin.approx.f32", [inf, zero]) == [nan, zero]
    assert run("tanh.approx.f32", [inf, inf | minus]) == [one, one | minus]
    assert run("div.approx.f32", [one, inf], [f32_bits(2.0**127), f32_bits(2.0**127)]) == [zero, nan]
    assert run("div.full.f32", [one], [f32_bits(2.0**127)]) == [f32_bits(2.0**-127)]
    x = 0x4008000012345678  # 3.0 and low bits that the approximation ignores
    assert run("rcp.approx.ftz.f64", [x]) == [0x3FD5555500000000]
    assert run("rsqrt.approx.f64", [0x4010000000000000]) == [0x3FE0000000000000]


def test_accepted_mnemonics() -> None:
    """All 2,172 forms in data/ (what ptxas 13.0 takes for sm_90a out of a product of modifiers) decode, run on vectors and broadcast."""
    names = (Path(__file__).parent / "data" / "accepted_mnemonics.txt").read_text().split()
    assert len(names) > 2000
    rng = np.random.default_rng(5)
    dtypes: dict[str, Any] = {"b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64}
    for name in names:
        operation = lookup(name)
        assert operation is not None, name
        flags = ("pred", "cc")
        sources = [
            rng.integers(0, 2, 8).astype(bool) if c in flags else rng.integers(0, 2 ** (8 * dtypes[c]().itemsize) - 1, 8, dtypes[c], True)
            for c in operation.sources
        ]
        results = operation.run(*sources)
        assert len(results) == len(operation.results), name
        for result, kind in zip(results, operation.results, strict=True):
            assert result.shape == (8,), name
            assert result.dtype == (np.bool_ if kind in flags else dtypes[kind]), name
        if len(sources) > 1 and not name.startswith("lop3"):
            # an immediate as an array of one
            uniform = [*sources[:-1], sources[-1][:1]]
            spread = [*sources[:-1], np.repeat(sources[-1][:1], 8)]
            for x, y in zip(operation.run(*uniform), operation.run(*spread), strict=True):
                assert (np.broadcast_to(x, (8,)) == y).all(), name


@pytest.mark.parametrize(
    "name",
    [
        "add.f8",
        "add.rn.s32",
        "fma.f32",
        "mul.wide.u64",
        "cvt.f16.f32",
        "cvt.e4m3x2.f32",
        "cvt.rn.e4m3x2.f32",
        "min.f32x2",
        "setp.lo.s32",
        "nothing",
        "ld.global.u32",
    ],
)
def test_rejected_mnemonics(name: str) -> None:
    assert lookup(name) is None
