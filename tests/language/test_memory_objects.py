"""Shared arrays, barriers, TMA, bulk copies and pushes: numbers in the simulator, and its verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from language_running import launch, load_text

from fa4dsl import (
    Pointer,
    TensorMap,
    bf16,
    block,
    bulk_load,
    bulk_push,
    bulk_store,
    cluster,
    copy_async,
    copy_async_commit,
    copy_async_wait,
    elect,
    f32,
    fence_proxy_async,
    i32,
    kernel,
    mbarrier,
    named_barrier,
    pipeline,
    role,
    shared,
    static_range,
    store_async,
    swizzle128,
    thread,
    tma,
    u16,
    warp,
    warpgroup,
)
from fa4dsl.runtime.diagnostics import Fa4dslError

THREADS = 64


@kernel(threads=THREADS)
def views(result: Pointer[f32], halves: Pointer[u16]):
    i = thread.index()
    stage = shared(f32, (2, THREADS, 4))
    again = shared(f32, (THREADS, 8), overlay=stage)
    stage[0, i] = (f32(i), 1.0, 2.0, 3.0)
    stage[1, i, 2] = f32(i) * 10.0
    block.sync()
    other = THREADS - 1 - i
    result[i] = stage[0, other, 0] + stage.part(1)[other, 2]
    result[THREADS + i] = again[i // 2, 4 * (i % 2)]
    halves[i] = stage.as_(u16)[0, i, 1]
    halves[THREADS + i] = stage.reshape(2 * THREADS, 4)[i, 0].bitcast(u16)[1]


def test_views_share_the_bytes() -> None:
    result, halves = np.zeros((2, THREADS), np.float32), np.zeros((2, THREADS), np.uint16)
    launch(views, result, halves)
    i = np.arange(THREADS)
    assert result[0].tolist() == (11.0 * (THREADS - 1 - i)).tolist()
    assert result[1].tolist() == i.tolist()
    upper = (i.astype(np.float32).view(np.uint32) >> 16).tolist()
    assert halves.tolist() == [upper, upper]


@kernel(threads=2 * THREADS)
def ping_pong(result: Pointer[i32], rounds: i32):
    box = shared(i32, THREADS)
    full, empty = mbarrier(THREADS), mbarrier(THREADS)
    block.sync()
    with role("ping", warps=2):
        for k in range(rounds):
            if k > 0:
                empty.wait()
            box[thread.index()] = k * 100 + thread.index()
            full.arrive()
    with role("pong", warps=2):
        i = thread.index() - THREADS
        total = i32(0)
        for _ in range(rounds):
            full.wait()
            total += box[THREADS - 1 - i]
            empty.arrive()
        result[i] = total


def test_phases_are_tracked_by_each_role() -> None:
    for rounds in (1, 2, 5):
        result = np.zeros(THREADS, np.int32)
        launch(ping_pong, result, rounds, schedule="late")
        assert result.tolist() == [sum(100 * k + THREADS - 1 - i for k in range(rounds)) for i in range(THREADS)]


@kernel(threads=128)
def named(result: Pointer[i32]):
    values = shared(i32, 128)
    meet = named_barrier(128)
    i = thread.index()
    with role("left", warps=2):
        values[i] = i
        meet.arrive()
    with role("right", warps=2):
        meet.sync()
        result[i - 64] = values[127 - i]


def test_named_barriers_join_roles() -> None:
    result = np.zeros(64, np.int32)
    launch(named, result, schedule="late")
    assert result.tolist() == [63 - i for i in range(64)]


@kernel(threads=256)
def warpgroups(result: Pointer[i32]):
    values = shared(i32, (2, 128))
    group, i = warpgroup.index(), warpgroup.thread()
    values[group, i] = thread.index()
    warpgroup.sync()
    result[thread.index()] = values[group, 127 - i]


def test_each_warpgroup_has_a_barrier_of_its_own() -> None:
    result = np.zeros(256, np.int32)
    launch(warpgroups, result, schedule="random")
    assert result.tolist() == [128 * g + 127 - i for g in range(2) for i in range(128)]


@kernel(threads=96)
def elected(counts: Pointer[i32]):
    total = shared(i32, 4)
    if thread.index() < 4:
        total[thread.index()] = 0
    block.sync()
    with elect():
        total[0] = total[0] + 1
    with elect(warp=2):
        total[1] = thread.index() // 32
    with warp(1), elect():
        total[2] = thread.index() // 32
    with thread(33):
        total[3] = thread.index()
    block.sync()
    if thread.index() < 4:
        counts[thread.index()] = total[thread.index()]


def test_elect_is_one_thread() -> None:
    counts = np.zeros(4, np.int32)
    launch(elected, counts)
    assert counts.tolist() == [1, 2, 1, 33]


@kernel(threads=32)
def tma_round_trip(source: TensorMap, target: TensorMap, total: TensorMap, row: i32):
    tile = shared(f32, (8, 32), swizzle=swizzle128)
    arrived = mbarrier(1)
    block.sync()
    with elect():
        source.prefetch()
        arrived.arrive(bytes=tile.bytes)
        source.load(tile, (row, 0), arrived)
    arrived.wait()
    with elect():
        target.store(tile, (row + 8, 32))
        total.store(tile, (0, 0), reduce="add")
        tma.commit()
        tma.wait(read=True)
        tma.wait()


def test_tma_moves_boxes_and_clips_them() -> None:
    source = np.random.default_rng(0).standard_normal((30, 32)).astype(np.float32)
    target, total = np.zeros((36, 64), np.float32), np.ones((8, 32), np.float32)
    launch(tma_round_trip, source, target, total, 24, schedule="late")
    box = np.zeros((8, 32), np.float32)
    box[:6] = source[24:]
    assert (target[32:36, 32:] == box[:4]).all()
    assert not target[:32].any()
    assert not target[:, :32].any()
    assert (total == box + 1).all()


@kernel(threads=32, cluster=2)
def multicast(source: TensorMap, result: Pointer[f32]):
    tile = shared(f32, (4, 32))
    arrived = mbarrier(1)
    cluster.sync()
    with elect():
        arrived.arrive(bytes=tile.bytes)
    cluster.sync()
    if cluster.rank() == 0:
        with elect():
            source.load(tile, (0, 0), arrived, multicast=0b11)
    arrived.wait()
    for row in static_range(4):
        result[(cluster.rank() * 4 + row) * 32 + thread.index()] = tile[row, thread.index()]
    cluster.sync()


def test_multicast_reaches_every_masked_cta() -> None:
    source = np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)
    result = np.zeros((2, 4, 32), np.float32)
    launch(multicast, source, result, grid=2, schedule="late")
    assert (result == source).all()


@kernel(threads=32)
def bulk(source: Pointer[f32], target: Pointer[f32]):
    line = shared(f32, 128)
    arrived = mbarrier(1)
    block.sync()
    with elect():
        arrived.arrive(bytes=256)
        bulk_load(line, source + 4, arrived, bytes=256)
    arrived.wait()
    for k in static_range(2):
        line[64 + 32 * k + thread.index()] = line[32 * k + thread.index()] + 1.0
    block.sync()
    with elect():
        bulk_store(target, line.part().reshape(2, 64).part(1))
        tma.commit_and_wait()


def test_bulk_copies() -> None:
    source, target = np.arange(128, dtype=np.float32), np.zeros(64, np.float32)
    launch(bulk, source, target)
    assert target.tolist() == (source[4:68] + 1).tolist()


@kernel(threads=32, cluster=4)
def pushes(result: Pointer[f32]):
    rank, i = cluster.rank(), thread.index()
    mine, inbox, words = shared(f32, 32), shared(f32, (4, 32)), shared(i32, (4, 32, 2))
    arrived = mbarrier(1, scope="cluster")
    mine[i] = f32(rank * 100 + i)
    with elect():
        arrived.arrive(bytes=3 * 128 + 4 * 256)
    fence_proxy_async()
    cluster.sync()
    for step in static_range(1, 4):
        peer = (rank + step) % 4
        with elect():
            bulk_push(inbox.on(peer).part(rank), mine, arrived.on(peer))
    for peer in static_range(4):
        store_async(words.on(peer), (rank, i), (rank, i), arrived.on(peer))
    arrived.wait()
    total = mine[i]
    for step in static_range(1, 4):
        sender = (rank + step) % 4
        total += inbox[sender, i]
    for sender in static_range(4):
        a, b = words[sender, i]
        total += (a * 1000 + b).to(f32)
    result[rank * 32 + i] = total
    cluster.sync()


def test_pushes_land_at_the_peer_and_are_counted() -> None:
    result = np.zeros((4, 32), np.float32)
    launch(pushes, result, grid=4, schedule="late")
    i = np.arange(32)
    assert (result == 600 + 4 * i + 6000 + 4 * i).all()


@kernel(threads=32)
def asynchronous_copies(source: Pointer[f32], target: Pointer[f32]):
    line = shared(f32, (2, 32, 4))
    i = thread.index()
    for half in static_range(2):
        copy_async(line, (half, i), source + (half * 32 + i) * 4)
        copy_async_commit()
    copy_async_wait(1)
    target.store(4 * i, line[0, i])
    copy_async_wait()
    target.store(128 + 4 * i, line[1, i])


def test_asynchronous_copies() -> None:
    source, target = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    launch(asynchronous_copies, source, target)
    assert (source == target).all()


@kernel(threads=32)
def ring_without_roles(source: TensorMap, result: Pointer[f32], tiles: i32):
    ring = pipeline(stages=2, slot={"a": (f32, (2, 32)), "b": (bf16, (2, 64))}, name="pair")
    block.sync()
    total = f32(0)
    for tile in range(tiles):
        with elect(), ring.fill() as slot:
            source.load(slot.a, (2 * tile, 0))
        with ring.use() as slot:
            total += slot.a[0, thread.index()] + slot.a[1, thread.index()]
    result[thread.index()] = total


def test_a_ring_in_one_role() -> None:
    source, result = np.random.default_rng(1).standard_normal((10, 32)).astype(np.float32), np.zeros(32, np.float32)
    kernel_report = ring_without_roles.launch(1, [source, result, 5], device="simulator").report
    assert kernel_report.verdict in ("clean", "review")
    assert np.allclose(result, source.sum(axis=0), atol=1e-5)
    shared_objects = {item.name: item for item in ring_without_roles.bind().artifact.manifest.shared}
    assert set(shared_objects) == {"pair.a", "pair.b", "pair.full", "pair.empty"}
    assert shared_objects["pair.empty"].arrivals == 1


@kernel(threads=32)
def many_names(out: Pointer[f32]):
    left, right = shared(f32, 32), shared(f32, 32)
    rows = [shared(f32, 32) for _ in static_range(2)]
    again, _full = left, mbarrier(1)
    first: Any = shared(f32, 32)
    i = thread.index()
    for array in (left, right, *rows, first):
        array[i] = 1.0
    out[i] = again[i]


def test_objects_take_the_name_of_their_first_variable() -> None:
    assert [item.name for item in many_names.compile().manifest.shared] == ["left", "right", "rows_0", "rows_1", "first", "_full"]


@kernel
def behind(source: TensorMap, result: Pointer[f32], tiles: i32):
    """Each slot is freed two uses later; the sums are taken from the slot in use."""
    ring = pipeline(stages=3, slot={"a": (f32, (1, 32))})
    block.sync()
    with role("load", warps=1), elect():
        for tile in range(tiles):
            with ring.fill() as slot:
                source.load(slot.a, (tile, 0))
    with role("add", warps=1):
        total = f32(0)
        for _half in static_range(2):
            for _ in range(tiles // 2):
                with ring.use(behind=2) as slot:
                    total = total * 2.0 + slot.a[0, thread.index() % 32]
        result[thread.index() % 32] = total


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("tiles", [0, 2, 4, 12])
def test_slots_freed_later(tiles: int, schedule: str) -> None:
    source, result = np.arange(32 * 12, dtype=np.float32).reshape(12, 32) % 7, np.zeros(32, np.float32)
    launch(behind, source, result, tiles, schedule=schedule)
    expected = np.zeros(32, np.float32)
    for tile in range(tiles):
        expected = expected * 2 + source[tile]
    assert np.array_equal(result, expected)


def test_each_unrolled_reader_has_its_fence() -> None:
    """Both loops come from one source line and free their slots by operations that look alike."""
    assert behind.bind().stages["fenced"].count("inserted = true") == 2


@pytest.mark.parametrize(("uses", "problem"), [(["3"], "3 stages, so 0 to 2"), (["1", "0"], "use(behind=0) after use(behind=1)")])
def test_what_behind_cannot_be(uses: list[str], problem: str, tmp_path: Path) -> None:
    blocks = "".join(f"        with ring.use(behind={use}) as slot:\n            slot.a[0]\n" for use in uses)
    text = (
        "from fa4dsl import *\n\n\n@kernel\ndef example(m: TensorMap):\n    ring = pipeline(stages=3, slot={'a': (f32, 32)})\n"
        f"    block.sync()\n    with role('use', warps=1):\n{blocks}"
    )
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text).example.bind().trace()
    assert caught.value.code == "L080" and problem in str(caught.value)
