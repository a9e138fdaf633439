"""Arithmetic: Python's meaning for integers, IEEE's for floats, no silent change of type. Values against numpy, in the simulator."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from language_running import launch, load_text

from fa4dsl import (
    DType,
    Fa4dslError,
    Pointer,
    bf16,
    ceil,
    device_function,
    e4m3,
    e5m2,
    exp2,
    f16,
    f32,
    f64,
    floor,
    fma,
    i8,
    i16,
    i32,
    i64,
    kernel,
    leading_zeros,
    log2,
    popcount,
    rcp,
    rsqrt,
    thread,
    u8,
    u16,
    u32,
    u64,
    vector,
    where,
)

N = 64
NUMPY: dict[DType, Any] = {
    i8: np.int8,
    i16: np.int16,
    i32: np.int32,
    i64: np.int64,
    u8: np.uint8,
    u16: np.uint16,
    u32: np.uint32,
    u64: np.uint64,
    f16: np.float16,
    bf16: ml_dtypes.bfloat16,
    f32: np.float32,
    f64: np.float64,
    e4m3: ml_dtypes.float8_e4m3fn,
    e5m2: ml_dtypes.float8_e5m2,
}
INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)


def random_integers(dtype: DType, seed: int) -> Any:
    low, high = dtype.limits()
    random = np.random.default_rng(seed)
    found = random.integers(low, high, N, NUMPY[dtype], endpoint=True)
    small = random.integers(max(low, -5), 6, N).astype(NUMPY[dtype])
    return np.where(random.random(N) < 0.5, found, small)


def binary_kernel(tmp_path: Path, operator_text: str, dtype: DType) -> Any:
    text = f"""
from fa4dsl import *

@kernel(threads={N})
def example(a: Pointer[{dtype}], b: Pointer[{dtype}], result: Pointer[{dtype}]):
    i = thread.index()
    result[i] = a[i] {operator_text} b[i]
"""
    return load_text(tmp_path, text).example


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_operators(dtype: DType, tmp_path: Path) -> None:
    text = f"""
from fa4dsl import *

@kernel(threads={N})
def example(a: Pointer[{dtype}], b: Pointer[{dtype}], result: Pointer[{dtype}], truths: Pointer[u8]):
    i = thread.index()
    x, y = a[i], b[i]
    divisor = y if y != 0 else {dtype}(7)
    amount = y & {dtype.bits - 1}
    for k, value in enumerate((x + y, x - y, x * y, x // divisor, x % divisor, x & y, x | y, x ^ y, ~x, x << amount, x >> amount,
                               min(x, y), max(x, y), x ** 2)):
        result[{N} * k + i] = value
    for k, value in enumerate((x < y, x <= y, x > y, x >= y, x == y, x != y)):
        truths[{N} * k + i] = value.to(u8)
"""
    a, b = random_integers(dtype, 1), random_integers(dtype, 2)
    result, truths = np.zeros((14, N), NUMPY[dtype]), np.zeros((6, N), np.uint8)
    launch(load_text(tmp_path, text).example, a, b, result, truths)
    bits = dtype.bits

    def wrapped(value: int) -> int:
        value %= 1 << bits
        return value - (1 << bits) if dtype.kind == "int" and value >> (bits - 1) else value

    functions: list[Any] = [
        operator.add,
        operator.sub,
        operator.mul,
        lambda x, y: x // (y or 7),
        lambda x, y: x % (y or 7),
        operator.and_,
        operator.or_,
        operator.xor,
        lambda x, y: ~x,
        lambda x, y: x << (y & (bits - 1)),
        lambda x, y: x >> (y & (bits - 1)),
        min,
        max,
        lambda x, y: x**2,
    ]
    for k, function in enumerate(functions):
        assert result[k].tolist() == [wrapped(function(int(x), int(y))) for x, y in zip(a, b, strict=True)], f"operation {k}"
    comparisons = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    for k, compare in enumerate(comparisons):
        assert truths[k].tolist() == [int(compare(int(x), int(y))) for x, y in zip(a, b, strict=True)], f"comparison {k}"


@kernel(threads=N)
def floats(a: Pointer[f32], b: Pointer[f32], result: Pointer[f32]):
    i = thread.index()
    x, y = a[i], b[i]
    values = (x + y, x - y, x * y, x / y, -x, abs(x), min(x, y), max(x, y), fma(x, y, 1.5), floor(x), ceil(x), where(x > y, x, y))
    for k, value in enumerate(values):
        result[N * k + i] = value


def test_float_operators() -> None:
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(N).astype(np.float32) * 8 for _ in range(2))
    result = np.zeros((12, N), np.float32)
    launch(floats, a, b, result)
    fused = (a.astype(np.float64) * b + 1.5).astype(np.float32)
    expected = [
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        abs(a),
        np.minimum(a, b),
        np.maximum(a, b),
        fused,
        np.floor(a),
        np.ceil(a),
        np.maximum(a, b),
    ]
    for k, row in enumerate(expected):
        assert result[k].tolist() == row.tolist(), f"operation {k}"


@kernel(threads=N)
def approximations(a: Pointer[f32], result: Pointer[f32]):
    i = thread.index()
    for k, value in enumerate((exp2(a[i]), log2(a[i]), rcp(a[i]), rsqrt(a[i]))):
        result[N * k + i] = value


def test_approximations_are_close() -> None:
    a = np.random.default_rng(4).uniform(0.1, 10, N).astype(np.float32)
    result = np.zeros((4, N), np.float32)
    launch(approximations, a, result)
    exact = a.astype(np.float64)
    for row, expected in zip(result, (np.exp2(exact), np.log2(exact), 1 / exact, exact**-0.5), strict=True):
        assert np.allclose(row, expected, rtol=1e-6, atol=1e-6)


CONVERSIONS = [
    (f32, i32),
    (f32, u8),
    (i32, f32),
    (u32, f64),
    (i64, i32),
    (i8, i64),
    (u8, i32),
    (u16, f16),
    (f32, f16),
    (f32, bf16),
    (bf16, f32),
    (f16, bf16),
    (f64, f32),
    (f32, e4m3),
    (f32, e5m2),
    (e4m3, f32),
    (e5m2, f32),
    (e4m3, bf16),
    (e4m3, f16),
    (e5m2, f64),
]


@pytest.mark.parametrize(("source", "target"), CONVERSIONS, ids=str)
@pytest.mark.parametrize("width", [1, 2])
def test_conversions(source: DType, target: DType, width: int, tmp_path: Path) -> None:
    text = f"""
from fa4dsl import *

@kernel(threads={N})
def example(a: Pointer[{source}], result: Pointer[{target}]):
    i = thread.index() * {width}
    result.store(i, a.load(i, width={width}).to({target}))
"""
    random = np.random.default_rng(5)
    if source.is_integer:
        low, high = max(source.limits()[0], target.limits()[0] if target.is_integer else -1000), 1000
        values = random.integers(low if source.kind == "int" else 0, min(high, source.limits()[1]), N * width).astype(NUMPY[source])
    else:
        values = (random.uniform(0 if target.kind == "uint" else -100, 100, N * width)).astype(NUMPY[source])
    result = np.zeros(N * width, NUMPY[target])
    launch(load_text(tmp_path, text).example, values, result)
    expected = (
        values.astype(np.float64).astype(np.float32).astype(NUMPY[target])
        if target.bits <= 32 and target.is_float
        else values.astype(NUMPY[target])
    )
    if target.is_integer:
        expected = np.trunc(values.astype(np.float64)).astype(NUMPY[target])
    assert result.view(np.uint8).tolist() == expected.view(np.uint8).tolist()


@kernel(threads=64)
def all_of_8_bits(a: Pointer[e4m3], b: Pointer[e5m2], first: Pointer[f16], second: Pointer[f32]):
    i = 4 * thread.index()
    first.store(i, a.load(i, width=4).to(f16))
    second.store(i, b.load(i, width=4).to(f32))


def test_every_8_bit_float() -> None:
    """Two at a time by one instruction."""
    bytes_of = np.arange(256, dtype=np.uint8)
    a, b = bytes_of.view(ml_dtypes.float8_e4m3fn), bytes_of.view(ml_dtypes.float8_e5m2)
    first, second = np.zeros(256, np.float16), np.zeros(256, np.float32)
    launch(all_of_8_bits, a, b, first, second)
    assert np.array_equal(first, a.astype(np.float16), equal_nan=True)
    assert np.array_equal(second, b.astype(np.float32), equal_nan=True)
    ptx = all_of_8_bits.bind().artifact.ptx
    assert (ptx.count("cvt.rn.f16x2.e4m3x2"), ptx.count("cvt.rn.f16x2.e5m2x2")) == (2, 2)


@kernel(threads=N)
def bits(a: Pointer[u32], result: Pointer[u32], wide: Pointer[u64]):
    i = thread.index()
    x = a[i]
    result[i] = popcount(x)
    result[N + i] = leading_zeros(x)
    result[2 * N + i] = x.bitcast(f32).bitcast(u32)
    low, high = vector(x, x + 1).bitcast(u16)[1:3]
    result[3 * N + i] = low.to(u32) | (high.to(u32) << 16)
    wide[i] = vector(x, ~x).bitcast(u64)


def test_bits() -> None:
    a = random_integers(u32, 6)
    result, wide = np.zeros((4, N), np.uint32), np.zeros(N, np.uint64)
    launch(bits, a, result, wide)
    assert result[0].tolist() == [int(x).bit_count() for x in a]
    assert result[1].tolist() == [32 - int(x).bit_length() for x in a]
    assert result[2].tolist() == a.tolist()
    assert result[3].tolist() == [(int(x) >> 16) | ((int(x) + 1) % 2**32 % 2**16 << 16) for x in a]
    assert wide.tolist() == [int(x) | ((~int(x) % 2**32) << 32) for x in a]


@device_function
def type_of(value, expected):
    assert value.type == expected, f"is {value.type}, not {expected}"
    return value


MEETINGS = [
    ("i32(1) + i64(2)", "i64"),
    ("i8(1) + 3", "i8"),
    ("u8(1) + i16(2)", "i16"),
    ("u16(1) * i32(2)", "i32"),
    ("bf16(1) + f32(2)", "f32"),
    ("bf16(1) + f16(2)", "f32"),
    ("f32(1) + 2", "f32"),
    ("f32(1) + f64(2)", "f64"),
    ("f16(1) * 0.5", "f16"),
    ("u32(1) << 3", "u32"),
    ("i32(1) < 2", "bool_"),
    ("where(i32(1) > 0, 1.5, f16(2))", "f16"),
    ("max(u8(3), u32(4))", "u32"),
]


@pytest.mark.parametrize(("expression", "expected"), MEETINGS, ids=[expression for expression, _ in MEETINGS])
def test_types_meet_without_loss(expression: str, expected: str, tmp_path: Path) -> None:
    text = f"""
from fa4dsl import *
from tests_of_types import type_of

@kernel(threads=32)
def example():
    type_of({expression}, {expected})
""".replace("from tests_of_types import type_of\n", "")
    module = load_text(tmp_path, text)
    module.type_of = type_of
    module.example.bind().trace().module.operation.verify()


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("i32(1) + u32(2)", "L010"),
        ("i64(1) + u64(2)", "L010"),
        ("f32(1) + i32(2)", "L010"),
        ("i32(1) + 0.5", "L010"),
        ("i8(1) + 200", "L012"),
        ("u8(1) - 300", "L012"),
        ("u32(1) + -1", "L012"),
        ("(n > 0) + 1", "L010"),
        ("e4m3(1.0) + e4m3(1.0)", "L015"),
        ("u32(1) << 32", "L012"),
        ("-u32(1)", "L015"),
        ("x == x", "L015"),
        ("x - x", "L015"),
        ("n < x", "L015"),
        ("n ** n", "L015"),
        ("f32(1) & f32(2)", "L015"),
        ("exp2(f16(1))", "L011"),
        ("x + x", "L011"),
        ("not x", "L016"),
    ],
)
def test_what_does_not_meet(expression: str, code: str, tmp_path: Path) -> None:
    text = f"""
from fa4dsl import *

@kernel(threads=32)
def example(x: Pointer[f32], n: i32):
    value = {expression}
"""
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text).example.bind().trace()
    assert caught.value.code == code
    assert caught.value.diagnostic.frames[0].location.line == 6


def test_a_mismatch_shows_where_both_types_come_from(tmp_path: Path) -> None:
    text = """
from fa4dsl import *

@kernel(threads=32)
def example(x: Pointer[f32], n: i32):
    weight = x[0]
    count = n // 2
    x[1] = weight * count
"""
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text).example.bind().trace()
    shown = caught.value.diagnostic
    assert shown.message == "`*` takes operands of one type, not f32 and i32"
    assert [(frame.location.line, frame.location.column, frame.label) for frame in shown.frames] == [
        (8, 12, ""),
        (6, 14, "f32 comes from here"),
        (7, 13, "i32 comes from here"),
    ]
