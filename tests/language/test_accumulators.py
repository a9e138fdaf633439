"""Products of all types that the tensor cores take, and the way of their accumulators: places, shared memory, mathematics; on the simulator."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fa4dsl import (
    Fa4dslError,
    Pointer,
    TensorMap,
    accumulator,
    accumulator_place,
    bf16,
    block,
    e4m3,
    e5m2,
    elect,
    erf,
    exp,
    f16,
    f32,
    i8,
    i32,
    kernel,
    lane,
    log,
    mbarrier,
    mma,
    registers,
    shared,
    static_range,
    store_accumulator,
    swizzle128,
    thread,
    tma,
    u8,
    warpgroup,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

RANDOM = np.random.default_rng(7)
NUMPY = {
    i8: np.int8,
    u8: np.uint8,
    i32: np.int32,
    f16: np.float16,
    f32: np.float32,
    bf16: ml_dtypes.bfloat16,
    e4m3: ml_dtypes.float8_e4m3fn,
    e5m2: ml_dtypes.float8_e5m2,
}


def random(dtype: Any, *shape: int) -> Any:
    if dtype in (i8, u8):
        limits = np.iinfo(NUMPY[dtype])
        return RANDOM.integers(limits.min, limits.max + 1, shape).astype(NUMPY[dtype])
    return RANDOM.standard_normal(shape).astype(NUMPY[dtype])


def exact(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64).T


@kernel(threads=128)
def product(a: TensorMap, b: TensorMap, c: TensorMap, *, left: Any, right: Any, total: Any, columns: int, panels: int) -> None:
    row = 128 // left.bytes
    first, second = shared(left, (64, row), swizzle=swizzle128), shared(right, (columns, row), swizzle=swizzle128)
    result = shared(total, (panels, 64, columns // panels)) if panels > 1 else shared(total, (64, columns))
    loaded = mbarrier(1)
    block.sync()
    with elect():
        loaded.arrive(bytes=first.bytes + second.bytes)
        a.load(first, (0, 0), loaded)
        b.load(second, (0, 0), loaded)
    loaded.wait()
    acc = accumulator(total, columns)
    wgmma(first, second.T, into=acc)
    wgmma_commit()
    wgmma_wait(acc)
    store_accumulator(result, acc)
    warpgroup.sync()
    with elect():
        for panel in static_range(panels):
            c.store(result.part(panel) if panels > 1 else result, (0, panel * (columns // panels)))
        tma.commit_and_wait()


@pytest.mark.parametrize(
    ("left", "right", "total", "columns", "panels"),
    [
        (i8, i8, i32, 64, 1),
        (u8, i8, i32, 24, 1),
        (f16, f16, f16, 64, 1),
        (f16, f16, f32, 40, 1),
        (e4m3, e5m2, f32, 128, 4),
        (e4m3, e4m3, f16, 96, 2),
        (bf16, bf16, f32, 128, 2),
    ],
    ids=str,
)
def test_products(left: Any, right: Any, total: Any, columns: int, panels: int) -> None:
    a, b = random(left, 64, 128 // left.bytes), random(right, columns, 128 // right.bytes)
    c = np.zeros((64, columns), NUMPY[total])
    bound = product.bind(left=left, right=right, total=total, columns=columns, panels=panels)
    for report in bound.check(1, (a, b, c), schedules=("late", "random:1")):
        report.require_clean()
    if total == i32:
        assert (c == exact(a, b)).all()
    else:
        assert np.allclose(c.astype(np.float64), exact(a, b), rtol=2e-2 if total == f16 else 1e-4, atol=0.1 if total == f16 else 1e-3)


@pytest.mark.parametrize(("left", "right", "total"), [(i8, i8, f32), (bf16, bf16, f16), (i8, e4m3, i32), (f32, f32, f32)], ids=str)
def test_products_that_do_not_exist(left: Any, right: Any, total: Any) -> None:
    with pytest.raises(Fa4dslError) as caught:
        product.bind(left=left, right=right, total=total, columns=64, panels=1).trace()
    assert caught.value.code == "L068"


@pytest.mark.parametrize(
    ("columns", "panels", "dtype"), [(64, 1, bf16), (24, 1, bf16), (128, 2, bf16), (48, 6, bf16), (64, 1, f32)], ids=str
)
def test_an_accumulator_in_shared_memory(columns: int, panels: int, dtype: Any) -> None:
    @kernel(threads=128)
    def stored(y: Pointer[f32]) -> None:
        result = shared(dtype, (panels, 64, columns // panels))
        acc = accumulator(f32, columns)
        for i in static_range(len(acc)):
            row, column = accumulator_place(i)
            acc[i] = f32(row) + f32(column) / 128
        store_accumulator(result, acc.to(dtype))
        block.sync()
        for i in range(thread.index(), 64 * columns, 128):
            row, column = i // columns, i % columns
            y[i] = result[column // (columns // panels), row, column % (columns // panels)].to(f32)

    y = np.zeros((64, columns), np.float32)
    for report in stored.bind().check(1, (y,)):
        report.require_clean()
    expected = np.arange(64)[:, None] + np.arange(columns)[None] / 128
    assert np.array_equal(y, expected.astype(NUMPY[dtype]).astype(np.float32))


@pytest.mark.parametrize(
    ("dtype", "total", "shape", "depth"),
    [
        (i8, i32, "m16n8k32", 32),
        (u8, i32, "m16n8k16", 16),
        (f16, f16, "m16n8k16", 16),
        (f16, f16, "m16n8k8", 8),
        (e4m3, f32, "m16n8k32", 32),
    ],
    ids=str,
)
def test_mma(dtype: Any, total: Any, shape: str, depth: int) -> None:
    together = 32 // dtype.bits

    @kernel(threads=32)
    def multiplied(a: Pointer[dtype], b: Pointer[dtype], c: Pointer[total]) -> None:
        quad, row = lane.index() % 4, lane.index() // 4
        first, second = registers(dtype, depth // 2), registers(dtype, depth // 4)
        for i in static_range(depth // 2):
            column = together * quad + i % together + 4 * together * (i // (2 * together))
            first[i] = a[(row + 8 * (i // together % 2)) * depth + column]
        for i in static_range(depth // 4):
            second[i] = b[row * depth + together * quad + i % together + 4 * together * (i // together)]
        sums = mma(first, second, registers(total, 4, fill=1), shape)
        for i in static_range(4):
            c[(row + 8 * (i // 2)) * 8 + 2 * quad + i % 2] = sums[i]

    a, b, c = random(dtype, 16, depth), random(dtype, 8, depth), np.zeros((16, 8), NUMPY[total])
    for report in multiplied.bind().check(1, (a, b, c)):
        report.require_clean()
    assert np.allclose(c.astype(np.float64), exact(a, b) + 1, rtol=1e-2, atol=2e-2 if total == f16 else 1e-3)


def test_exp_log_and_erf() -> None:
    @kernel(threads=128)
    def computed(x: Pointer[f32], y: Pointer[f32]) -> None:
        i = thread.index()
        y[i], y[128 + i], y[256 + i] = exp(x[i]), log(x[i] * x[i] + 0.5), erf(x[i])

    x, y = np.linspace(-6, 6, 128, dtype=np.float32), np.zeros((3, 128), np.float32)
    computed[1](x, y)
    wide = x.astype(np.float64)
    assert np.allclose(y[0], np.exp(wide), rtol=1e-5)
    assert np.allclose(y[1], np.log(wide * wide + 0.5), atol=1e-5)
    assert np.allclose(y[2], [math.erf(value) for value in wide], atol=1e-6, rtol=0)
