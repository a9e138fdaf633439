"""Warp collectives, atomics, matrix instructions, inline PTX: values against numpy, in the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from language_running import launch, load_text

from fa4dsl import (
    Pointer,
    TensorMap,
    accumulator,
    atomic,
    ballot,
    bf16,
    block,
    clock,
    cluster,
    copy_async,
    copy_async_commit,
    copy_async_wait,
    elect,
    f16,
    f32,
    f64,
    fence,
    i32,
    i64,
    inline_ptx,
    kernel,
    lane,
    launch_dependents,
    load_matrix,
    match_any,
    mbarrier,
    mma,
    nanosleep,
    reduce,
    registers,
    shared,
    shuffle,
    shuffle_down,
    shuffle_up,
    shuffle_xor,
    static_range,
    store_async,
    store_matrix,
    swizzle32,
    swizzle64,
    swizzle128,
    thread,
    tma,
    trap,
    u8,
    u16,
    u32,
    vote_all,
    vote_any,
    wait_dependencies,
    warp,
    warp_reduce,
    wgmma,
    wgmma_commit,
    wgmma_wait,
)

N = 32


@kernel(threads=N)
def collectives(values: Pointer[i32], result: Pointer[i32], wide: Pointer[f64], halves: Pointer[f16], masks: Pointer[u32]):
    i = thread.index()
    x = values[i]
    rows = (
        shuffle(x, 5),
        shuffle(x, (i + 1) % 8, width=8),
        shuffle_xor(x, 3),
        shuffle_up(x, 2),
        shuffle_down(x, 2),
        warp_reduce(x, "add"),
        warp_reduce(x, "min"),
        warp_reduce(x, "max", lanes=8),
        i32(vote_any(x > 90)),
        i32(vote_all(x > -1)),
    )
    for k, row in enumerate(rows):
        result[N * k + i] = row
    wide[i] = warp_reduce(f64(x) * 0.5)
    halves[i] = shuffle_xor(f16(x), 1)
    masks[i] = ballot(x > 50)
    masks[N + i] = match_any(x % 4)


def test_collectives() -> None:
    x = np.random.default_rng(0).integers(0, 100, N, np.int32)
    result, wide, halves, masks = np.zeros((10, N), np.int32), np.zeros(N), np.zeros(N, np.float16), np.zeros((2, N), np.uint32)
    launch(collectives, x, result, wide, halves, masks)
    i = np.arange(N)
    expected = [
        np.full(N, x[5]),
        x[(i & ~7) + (i + 1) % 8],
        x[i ^ 3],
        np.where(i < 2, x, x[i - 2]),
        np.where(i > 29, x, x[(i + 2) % 32]),
        np.full(N, x.sum()),
        np.full(N, x.min()),
        np.repeat(x.reshape(4, 8).max(axis=1), 8),
        np.full(N, int((x > 90).any())),
        np.full(N, 1),
    ]
    for k, row in enumerate(expected):
        assert result[k].tolist() == row.tolist(), f"operation {k}"
    assert wide.tolist() == [x.sum() * 0.5] * N
    assert halves.tolist() == x[i ^ 1].astype(np.float16).tolist()
    assert masks[0].tolist() == [sum(1 << k for k in range(N) if x[k] > 50)] * N
    assert masks[1].tolist() == [sum(1 << k for k in range(N) if x[k] % 4 == x[j] % 4) for j in range(N)]


@kernel(threads=64)
def atomics(counts: Pointer[u32], floats: Pointer[f32], longs: Pointer[i64], old: Pointer[u32]):
    i = thread.index()
    local = shared(i32, 2)
    if i < 2:
        local[i] = 0
    block.sync()
    old[i] = atomic.add(counts, 2)
    reduce.max(counts + 1, i.to(u32) * 3)
    atomic.bit_or(counts + 2, u32(1) << (i % 32).to(u32))
    atomic.increment(counts + 3, 9)
    atomic.compare_and_swap(counts + 4, 7, 100)
    reduce.add(floats, 0.5)
    atomic.min(longs, i.to(i64) - 5, order="acq_rel", scope="cta")
    reduce.add(local.pointer((i % 2,)), 1, scope="cta")
    block.sync()
    if i == 0:
        counts[5] = (local[0] * 100 + local[1]).to(u32)
        counts.store(6, 9, order="release", scope="gpu")
        fence("sc", "gpu")
        counts[7] = counts.load(6, order="acquire", scope="gpu")


def test_atomics() -> None:
    counts, floats = np.array([0, 0, 0, 0, 7, 0, 0, 0], np.uint32), np.zeros(1, np.float32)
    longs, old = np.zeros(1, np.int64), np.zeros(64, np.uint32)
    launch(atomics, counts, floats, longs, old)
    assert counts.tolist() == [128, 189, 2**32 - 1, 64 % 10, 100, 32 * 100 + 32, 9, 9]
    assert sorted(old) == list(range(0, 128, 2))
    assert floats[0] == 32.0
    assert longs[0] == -5


@kernel(threads=N)
def warp_product(a: Pointer[bf16], b: Pointer[bf16], c: Pointer[f32], copy: Pointer[bf16]):
    """C (16 x 8) = A (16 x 16) @ B (16 x 8), B stored row-major: transposed on the way by ldmatrix."""
    rows, columns, back = shared(bf16, (16, 16)), shared(bf16, (16, 8)), shared(bf16, (16, 16))
    i = thread.index()
    for k in static_range(8):
        rows[i // 2, 8 * (i % 2) + k] = a[8 * i + k]
    for k in static_range(4):
        columns[i // 2, 4 * (i % 2) + k] = b[4 * i + k]
    block.sync()
    left = load_matrix(rows.pointer((i % 16, 8 * (i // 16))), 4)
    right = load_matrix(columns.pointer((i % 16, 0)), 2, transpose=True)
    product = mma(left, right, registers(f32, 4))
    for k in static_range(4):
        c[8 * (i // 4 + 8 * (k // 2)) + 2 * (i % 4) + k % 2] = product[k]
    store_matrix(back.pointer((i % 16, 8 * (i // 16))), left)
    block.sync()
    for k in static_range(8):
        copy[8 * i + k] = back[i // 2, 8 * (i % 2) + k]


@kernel(threads=32)
def transposed_pairs(a: Pointer[u8], result: Pointer[u32]):
    i = thread.index()
    tile = shared(u8, (8, 16))
    for k in static_range(4):
        tile[i // 4, 4 * (i % 4) + k] = a[4 * i + k]
    block.sync()
    result[i] = load_matrix(tile.pointer((i % 8, 0)), 1, transpose=True).bitcast(u32)


def test_transposing_keeps_pairs_of_8_bits_together() -> None:
    a, result = np.arange(128, dtype=np.uint8), np.zeros(32, np.uint32)
    launch(transposed_pairs, a, result)
    pairs = a.reshape(8, 16).view(np.uint16).T.copy()  # [8 pairs, 8 rows]: lane 4r + i has rows 2i and 2i + 1 of pair r
    assert (result == pairs.view(np.uint32).reshape(32)).all()


def test_warp_matrices() -> None:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((16, 16)).astype(ml_dtypes.bfloat16), random.standard_normal((16, 8)).astype(ml_dtypes.bfloat16)
    c, copy = np.zeros((16, 8), np.float32), np.zeros((16, 16), ml_dtypes.bfloat16)
    launch(warp_product, a, b, c, copy)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)
    assert (a == copy).all()


@kernel(threads=128)
def warpgroup_product(a: TensorMap, b: TensorMap, c: Pointer[f32], *, swizzle, columns, transposed, registers_a, n):
    if transposed:  # B is stored (K, N): N contiguous
        left, right = shared(bf16, (64, columns), swizzle=swizzle), shared(bf16, (columns, columns), swizzle=swizzle)
    else:
        left, right = shared(bf16, (64, columns), swizzle=swizzle), shared(bf16, (n, columns), swizzle=swizzle)
    arrived = mbarrier(1)
    block.sync()
    with elect():
        arrived.arrive(bytes=left.bytes + right.bytes)
        a.load(left, (0, 0), arrived)
        b.load(right, (0, 0), arrived)
    arrived.wait()
    acc = accumulator(f32, n)
    product = right if transposed else right.T
    if registers_a:
        first = accumulator(f32, n)
        wgmma(left, product, into=first, accumulate=False)
        wgmma_commit()
        wgmma_wait(first)
        wgmma(first.to(bf16), product, into=acc)
    else:
        wgmma(left, product, into=acc)
    wgmma_commit()
    wgmma_wait(acc)
    i = thread.index()
    for k in static_range(n // 2):
        row = 16 * (i // 32) + lane.index() // 4 + 8 * (k // 2 % 2)
        c[row * n + 8 * (k // 4) + 2 * (i % 4) + k % 2] = acc[k]


@pytest.mark.parametrize(("swizzle", "columns"), [(swizzle128, 64), (swizzle64, 32), (swizzle32, 16)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("registers_a", [False, True])
def test_warpgroup_matrices(swizzle: Any, columns: int, transposed: bool, registers_a: bool) -> None:
    random = np.random.default_rng(2)
    n = columns if transposed or registers_a else 24
    a = (random.standard_normal((64, columns)) / 4).astype(ml_dtypes.bfloat16)
    b = (random.standard_normal((columns, columns) if transposed else (n, columns)) / 4).astype(ml_dtypes.bfloat16)
    c = np.zeros((64, n), np.float32)
    bound = warpgroup_product.bind(swizzle=swizzle, columns=columns, transposed=transposed, registers_a=registers_a, n=n)
    launch(bound, a, b, c)
    left, right = a.astype(np.float64), b.astype(np.float64) if transposed else b.astype(np.float64).T
    exact = left @ right
    if registers_a:
        exact = exact.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64) @ right
    assert np.allclose(c, exact, atol=2e-2 if registers_a else 1e-4)


@kernel(threads=128)
def unswizzled_product(a: Pointer[bf16], b: Pointer[bf16], c: Pointer[f32]):
    """Operands without swizzle: panels of 8 columns, (K / 8, rows, 8), written by generic stores."""
    left, right = shared(bf16, (4, 64, 8)), shared(bf16, (4, 16, 8))
    i = thread.index()
    for panel in static_range(4):
        if i < 64:
            left[panel, i] = a.load(32 * i + 8 * panel, width=8)
        if i < 16:
            right[panel, i] = b.load(32 * i + 8 * panel, width=8)
    block.sync()
    acc = wgmma(left, right.T)
    wgmma_commit()
    wgmma_wait(acc)
    for k in static_range(8):
        row = 16 * (i // 32) + lane.index() // 4 + 8 * (k // 2 % 2)
        c[row * 16 + 8 * (k // 4) + 2 * (i % 4) + k % 2] = acc[k]


def test_unswizzled_operands_get_their_fence() -> None:
    random = np.random.default_rng(3)
    a, b = (random.standard_normal((rows, 32)).astype(ml_dtypes.bfloat16) for rows in (64, 16))
    c = np.zeros((64, 16), np.float32)
    launch(unswizzled_product, a, b, c)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, atol=1e-3)
    assert "fence.proxy.async" in unswizzled_product.bind().artifact.ptx


@kernel(threads=N)
def own_ptx(values: Pointer[i32], result: Pointer[i32]):
    i = thread.index()
    total = inline_ptx("add.s32 $0, $1, $2;", values[i], 5, results=i32, pure=True)
    low, high = inline_ptx("{ mul.lo.s32 $0, $2, $3; mul.hi.s32 $1, $2, $3; }", values[i], total, results=(i32, i32))
    inline_ptx("st.global.b32 [$0], $1;", result + i, low + high + total)
    wait_dependencies()
    launch_dependents()
    if clock() < 0:
        trap()
    nanosleep(20)


def test_inline_ptx() -> None:
    values, result = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    launch(own_ptx, values, result)
    assert result.tolist() == [x * (x + 5) + x + 5 for x in range(N)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("warp_reduce(n, 'mean')", "L101"),
        ("shuffle(n > 0, 1)", "L064"),
        ("match_any(f32(n))", "L064"),
        ("atomic.max(x, 1.0)", "L063"),
        ("atomic.add(n, 1)", "L063"),
        ("mma(registers(bf16, 8), registers(bf16, 4), registers(bf16, 4))", "L068"),
        ("mma(registers(bf16, 4), registers(bf16, 4), registers(f32, 4))", "L068"),
        ("load_matrix(x, 4)", "L068"),
        ("store_matrix(shared(bf16, (8, 8)).pointer((0, 0)), registers(bf16, 6))", "L068"),
        ("accumulator(f32, 60)", "L068"),
        ("wgmma(shared(f32, (64, 32), swizzle=swizzle128), shared(f32, (64, 32), swizzle=swizzle128).T)", "L068"),
        ("wgmma(n, shared(bf16, (64, 64), swizzle=swizzle128))", "L068"),
        ("wgmma(shared(bf16, (64, 64), swizzle=swizzle128), n)", "L068"),
        ("wgmma(registers(bf16, 16), shared(bf16, (64, 64), swizzle=swizzle128))", "L068"),
        ("wgmma_wait(n)", "L100"),
        ("wgmma_wait(pending=n)", "L021"),
        ("inline_ptx(n)", "L021"),
        ("copy_async(shared(f32, 32), 0, n)", "L100"),
        ("copy_async(shared(f32, 32), 0, x, bytes=5)", "L102"),
        ("bulk_push(shared(f32, 32), shared(f32, 32), mbarrier(1))", "L095"),
    ],
)
def test_misuse_is_named(line: str, code: str, tmp_path: Path) -> None:
    from fa4dsl import Fa4dslError

    text = f"from fa4dsl import *\n\n@kernel(threads=128, cluster=2)\ndef example(x: Pointer[f32], n: i32):\n    {line}\n"
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text).example.bind().trace()
    assert caught.value.code == code, str(caught.value)
    assert caught.value.diagnostic.frames[0].location.line == 5


@kernel(threads=128)
def through_swizzled(source: TensorMap, target: TensorMap, seen: Pointer[u16], *, swizzle: str, span: int):
    """A tile by TMA, transposed elementwise into another by plain, vector and matrix stores, and out by TMA."""
    columns = span // 2
    tile, out = shared(u16, (64, columns), swizzle=swizzle), shared(u16, (64, columns), swizzle=swizzle)
    full = mbarrier(1)
    block.sync()
    with thread(0):
        full.arrive(bytes=tile.bytes)
        source.load(tile, (0, 0), full)
    full.wait()
    for place in range(thread.index(), 64 * columns, 128):
        row, column = place // columns, place % columns
        seen[place] = tile[row, column]
    for chunk in range(thread.index(), 64 * columns // 8, 128):
        row, first = chunk // (columns // 8), chunk % (columns // 8) * 8
        values = tile.load(63 - row, first, width=8)
        if row % 2 == 0:
            out.store((row, first), values)
        else:
            for i in static_range(8):
                out[row, first + i] = values[i]
    block.sync()
    if warp.index() == 0:
        lanes = lane.index()
        fragment = load_matrix(tile.pointer((lanes % 16, lanes // 16 * 8)), 4, dtype=u16)
        block_row = 16 + lanes % 16
        store_matrix(out.pointer((block_row, lanes // 16 * 8)), fragment)
    block.sync()
    with thread(0):
        target.store(out, (0, 0))
        tma.commit_and_wait()


@pytest.mark.parametrize(("swizzle", "span"), [("32B", 32), ("64B", 64), ("128B", 128)])
def test_elements_of_swizzled_arrays(swizzle: str, span: int) -> None:
    columns = span // 2
    source = np.arange(64 * columns, dtype=np.uint16).reshape(64, columns)
    target, seen = np.zeros_like(source), np.zeros_like(source)
    launch(through_swizzled.bind(swizzle=swizzle, span=span), source, target, seen)
    assert np.array_equal(seen, source)
    expected = source[::-1].copy()
    expected[16:32, :16] = source[:16, :16]
    assert np.array_equal(target, expected)


@kernel(threads=64, cluster=2)
def copied_into_swizzled(source: Pointer[f32], target: TensorMap):
    """Chunks by cp.async into the own tile and by st.async into the peer's, both swizzled, and out by TMA."""
    tile = shared(f32, (2, 8, 32), swizzle=swizzle128)
    arrived = mbarrier(1, scope="cluster")
    rank, place = cluster.rank(), thread.index()
    row, first = place // 8, place % 8 * 4
    with thread(0):
        arrived.arrive(bytes=tile.bytes // 2)
    cluster.sync()
    copy_async(tile, (0, row, first), source + (rank * 256 + row * 32 + first))
    copy_async_commit()
    store_async(tile.on(1 - rank), (1, row, first), source.load(rank * 256 + row * 32 + first, width=4), arrived.on(1 - rank))
    copy_async_wait()
    arrived.wait()
    block.sync()
    with thread(0):
        target.store(tile, (2 * rank, 0, 0))
        tma.commit_and_wait()
    cluster.sync()


def test_asynchronous_chunks_of_swizzled_arrays() -> None:
    source, target = np.arange(512, dtype=np.float32).reshape(2, 8, 32), np.zeros((4, 8, 32), np.float32)
    launch(copied_into_swizzled, source, target, grid=2)
    assert np.array_equal(target, source[[0, 1, 1, 0]])


@kernel(threads=64)
def raced(out: Pointer[f32]):
    """Warp 1 reads row 3, which warp 0 writes, without a barrier."""
    tile = shared(f32, (8, 32), swizzle=swizzle128)
    with warp(0):
        tile[3, lane.index()] = 1.0
    with warp(1):
        out[lane.index()] = tile[3, lane.index()]


def test_findings_name_elements_of_swizzled_arrays() -> None:
    report = raced.bind().check(1, [np.zeros(32, np.float32)])[0]
    assert report.verdict == "error" and "tile[96]" in report.text(), report.text()
