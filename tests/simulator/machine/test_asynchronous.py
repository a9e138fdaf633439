"""Copies in flight: when they read, when they land, whom they tell."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, TensorMapArgument
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import TensorMapDescription

sys.path.insert(0, str(Path(__file__).parent))
from kernels import codes, kernel, run

SCHEDULES = ["eager", "late", "random", "adversarial"]
SETUP = """
.shared .align 128 .b8 tile[512]; .shared .align 8 .b8 bar[8];
mov.u32 %r20, bar; mov.u32 %r21, tile; shl.b32 %r6, %r1, 2; add.u32 %r22, %r21, %r6; setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r20], 1; bar.sync 0;
"""
WAIT = "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r20], 0; @!done bra AGAIN; }"


def copy_run(body: str, data: np.ndarray, words: int, schedule: str = "eager", blocks: int = 1, cluster: int = 1, **options: object):
    described = Launch(
        "k", (blocks, 1, 1), (32, 1, 1), (cluster, 1, 1), 0,
        {"out": np.full(4 * words, 255, np.uint8), "x": np.ascontiguousarray(data).view(np.uint8).reshape(-1).copy()},
        [PointerArgument("out"), PointerArgument("x")],
    )  # fmt: skip
    report = simulate(kernel("ld.param.u64 %rd10, [x];" + body, ".param .u64 out, .param .u64 x"), described, schedule=schedule, **options)  # type: ignore[arg-type]
    return described.buffers["out"].view(np.uint32), report, described


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bulk_load(schedule: str) -> None:
    body = (
        SETUP
        + """
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd10], 128, [%r20];
    """
        + WAIT
        + "ld.shared.u32 %r5, [%r22]; st.global.u32 [%rd3], %r5;"
    )
    data = np.arange(32, dtype=np.uint32) * 3
    out, report, _ = copy_run(body, data, 32, schedule)
    assert report.verdict == "clean", report.text()
    assert (out == data).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bulk_store_and_reduction(schedule: str) -> None:
    body = (
        SETUP
        + """
    st.shared.u32 [%r22], %r1; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%rd10], [%r21], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd10], [%r21], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    END:
    """
    )
    _, report, described = copy_run(body, np.zeros(32, np.uint32), 1, schedule)
    assert report.verdict == "clean", report.text()
    assert (described.buffers["x"].view(np.uint32) == 2 * np.arange(32)).all()


def test_late_copies_read_late() -> None:
    """A source overwritten before the copy was waited for: eager copies the old value, late the new one, and the checker reports both."""
    body = (
        SETUP
        + """
    st.shared.u32 [%r22], %r1; fence.proxy.async.shared::cta; bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd10], [%r21], 128; @%p1 cp.async.bulk.commit_group;
    bar.sync 0; st.shared.u32 [%r22], 7; bar.sync 0; @%p1 cp.async.bulk.wait_group 0;
    """
    )
    results = {}
    for schedule in ("eager", "late"):
        _, report, described = copy_run(body, np.zeros(32, np.uint32), 1, schedule)
        assert report.verdict == "error"
        results[schedule] = described.buffers["x"].view(np.uint32).copy()
    assert (results["eager"] == np.arange(32)).all()
    assert (results["late"] == 7).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_multicast_signals_every_block(schedule: str) -> None:
    body = (
        SETUP.replace("bar.sync 0;", "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
        + """
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128; mov.u32 %r5, %cluster_ctarank; setp.eq.and.u32 %p2, %r5, 0, %p1; mov.u16 %h1, 3;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r21], [%rd10], 128, [%r20], %h1;
    """
        + WAIT
        + "ld.shared.u32 %r5, [%r22]; st.global.u32 [%rd3], %r5; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    )
    data = np.arange(32, dtype=np.uint32) + 9
    out, report, _ = copy_run(body, data, 64, schedule, blocks=2, cluster=2)
    assert report.verdict == "clean", report.text()
    assert (out.reshape(2, 32) == data).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_push_store_and_reduce_into_a_peer(schedule: str) -> None:
    """A bulk copy between blocks, st.async and red.async, all counted by the peer's barrier."""
    body = (
        SETUP.replace("bar.sync 0;", "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
        + """
    mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1; mapa.shared::cluster.u32 %r23, %r20, %r5; add.u32 %r24, %r21, 128; mapa.shared::cluster.u32 %r24, %r24, %r5;
    add.u32 %r25, %r22, 256; mapa.shared::cluster.u32 %r25, %r25, %r5; add.u32 %r28, %r21, 384; mapa.shared::cluster.u32 %r28, %r28, %r5;
    @%p1 st.shared.u32 [%r21+384], 100; st.shared.u32 [%r22], %r4; fence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 384;
    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r24], [%r21], 128, [%r23];
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r25], %r1, [%r23];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r28], %r1, [%r23];
    """
        + WAIT
        + """
    ld.shared.u32 %r5, [%r22+128]; ld.shared.u32 %r6, [%r22+256]; ld.shared.u32 %r7, [%r21+384];
    shl.b32 %r6, %r6, 8; shl.b32 %r7, %r7, 16; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; st.global.u32 [%rd3], %r5;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    )
    out, report, _ = copy_run(body, np.zeros(4, np.uint32), 64, schedule, blocks=2, cluster=2)
    assert report.verdict in ("clean",), report.text()
    t = np.arange(32)
    expected = np.concatenate([t + 32, t]) + np.tile(t << 8, 2) + (596 << 16)
    assert (out == expected).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cp_async_groups(schedule: str) -> None:
    body = (
        SETUP
        + """
    cvt.u64.u32 %rd11, %r6; add.u64 %rd12, %rd10, %rd11;
    cp.async.ca.shared.global [%r22], [%rd12], 4; cp.async.commit_group;
    cp.async.ca.shared.global [%r22+128], [%rd12], 4, 2; cp.async.commit_group;
    setp.lt.u32 %p2, %r1, 16; cp.async.ca.shared.global [%r22+256], [%rd12], 4, %p2; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.u32 %r7, [%r22]; ld.shared.u32 %r8, [%r22+128]; cp.async.wait_all; ld.shared.u32 %r9, [%r22+256];
    shl.b32 %r8, %r8, 8; shl.b32 %r9, %r9, 20; add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r9; st.global.u32 [%rd3], %r7;
    """
    )
    data = np.arange(32, dtype=np.uint32) | 0x10000
    out, report, _ = copy_run(body, data, 32, schedule)
    assert report.verdict == "clean", report.text()
    t = np.arange(32, dtype=np.uint32)
    assert (out == (data + (t << 8) + np.where(t < 16, 0, data << 20)).astype(np.uint32)).all()


@pytest.mark.parametrize("noinc", ["", ".noinc"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cp_async_arrives_on_a_barrier(schedule: str, noinc: str) -> None:
    setup = SETUP.replace("[%r20], 1;", f"[%r20], {32 if noinc else 1};")
    body = (
        setup
        + f"""
    cvt.u64.u32 %rd11, %r6; add.u64 %rd12, %rd10, %rd11; cp.async.ca.shared.global [%r22], [%rd12], 4; cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [%r20];
    {"" if noinc else "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r20];"}
    """
        + WAIT
        + "xor.b32 %r7, %r22, 64; ld.shared.u32 %r5, [%r7]; st.global.u32 [%rd3], %r5;"
    )
    data = np.arange(32, dtype=np.uint32) * 5
    out, report, _ = copy_run(body, data, 32, schedule)
    assert report.verdict == "clean", report.text()
    assert (out == data[np.arange(32) ^ 16]).all()


BAD_COPIES = [
    ("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd10], 120, [%r20];", "S012"),
    ("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21+8], [%rd10], 128, [%r20];", "S011"),
    ("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd10], 256, [%r20];", "S010"),
    ("@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd10], 128, [%r20+8];", "S014"),
    ("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd10+16], [%r21], 128;", "S010"),
    ("cp.async.ca.shared.global [%r22], [%rd10+2], 4;", "S011"),
    ("cp.async.ca.shared.global [%r22], [%rd10+128], 4;", "S010"),
    (
        "mov.u16 %h1, 2; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r21], [%rd10], 128, [%r20], %h1;",
        "S012",
    ),
]


@pytest.mark.parametrize(("text", "code"), BAD_COPIES)
def test_wrong_copies(text: str, code: str) -> None:
    _, report, _ = copy_run(SETUP.replace("bar[8]", "bar[16]") + text, np.zeros(32, np.uint32), 32, check=False)
    assert code in codes(report), report.text()


def tensor_run(body: str, record: TensorMapDescription, data: np.ndarray, schedule: str = "eager", pointer: bool = False, load: str = ""):
    described = Launch(
        "k", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0,
        {"out": np.full(2048, 255, np.uint8), "x": np.ascontiguousarray(data).view(np.uint8).reshape(-1).copy()},
        [PointerArgument("out"), TensorMapArgument(record, "x")],
    )  # fmt: skip
    parameter = ".param .u64 map" if pointer else ".param .align 64 .b8 map[128]"
    if not load:
        load = "ld.param.u64 %rd10, [map];" if pointer else "mov.b64 %rd10, map; cvta.param.u64 %rd10, %rd10;"
    report = simulate(kernel(load + body, ".param .u64 out, " + parameter), described, schedule=schedule)
    return described, report


RECORD = TensorMapDescription("f32", (20, 12), (80,), (8, 4), (1, 1))
TENSOR_LOAD = SETUP + """
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128; mov.u32 %r8, {x}; mov.u32 %r9, {y};
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r21], [%rd10, {%r8, %r9}], [%r20];
""" + WAIT + "ld.shared.u32 %r5, [%r22]; st.global.u32 [%rd3], %r5;"  # fmt: skip


@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("corner", [(0, 0), (16, 3), (-4, -2), (20, 0), (4, 11)])
def test_tensor_load_fills_outside(corner: tuple[int, int], pointer: bool) -> None:
    data = np.arange(240, dtype=np.float32).reshape(12, 20) + 1
    described, report = tensor_run(TENSOR_LOAD.replace("{x}", str(corner[0])).replace("{y}", str(corner[1])), RECORD, data, "late", pointer)
    assert report.verdict == "clean", report.text()
    padded = np.zeros((40, 60), np.float32)
    padded[10:22, 20:40] = data
    expected = padded[10 + corner[1] : 14 + corner[1], 20 + corner[0] : 28 + corner[0]]
    assert (described.buffers["out"][:128].view(np.float32) == expected.reshape(-1)).all()


def test_tensor_map_by_its_own_address() -> None:
    """mov gives a parameter's address in its own space; without cvta.param a GPU reads the map elsewhere (MISALIGNED_ADDRESS on an H200)."""
    text = TENSOR_LOAD.replace("{x}", "0").replace("{y}", "0")
    _, report = tensor_run(text, RECORD, np.zeros((12, 20), np.float32), load="mov.b64 %rd10, map;")
    assert codes(report) == ["S010"] and "cvta" in report.text()


@pytest.mark.parametrize(("x", "y"), [(1, 0), (30, 0)])
def test_tensor_coordinate_must_be_aligned(x: int, y: int) -> None:
    _, report = tensor_run(TENSOR_LOAD.replace("{x}", str(x)).replace("{y}", str(y)), RECORD, np.zeros((12, 20), np.float32))
    assert "S012" in codes(report)


TENSOR_STORE = (
    SETUP
    + """
st.shared.u32 [%r22], %r1; fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r8, {x}; mov.u32 %r9, {y};
@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd10, {%r8, %r9}], [%r21]; @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 0;
"""
)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tensor_store_clips(schedule: str) -> None:
    """The last rows and columns fall outside and are dropped; the copy lands even though only its reads were waited for."""
    described, report = tensor_run(TENSOR_STORE.replace("{x}", "16").replace("{y}", "10"), RECORD, np.zeros((12, 20), np.float32), schedule)
    assert report.verdict == "clean", report.text()
    expected = np.zeros((12, 20), np.uint32)
    expected[10:, 16:] = np.arange(32).reshape(4, 8)[:2, :4]
    assert (described.buffers["x"].view(np.uint32).reshape(12, 20) == expected).all()


def test_tensor_store_refuses_negative_coordinates() -> None:
    _, report = tensor_run(TENSOR_STORE.replace("{x}", "-4").replace("{y}", "0"), RECORD, np.zeros((12, 20), np.float32))
    assert "S012" in codes(report)


def test_map_changed_by_the_kernel() -> None:
    """tensormap.replace moves the base by one row; without the acquire fence of the tensormap proxy the copy may see the old map (S043)."""
    body = """
    ld.param.u64 %rd10, [map]; @%p1 bra SKIP; SKIP: setp.eq.u32 %p2, %r1, 0; ld.param.u64 %rd11, [x]; add.u64 %rd11, %rd11, 80;
    @%p2 tensormap.replace.tile.global_address.global.b1024.b64 [%rd10], %rd11; bar.warp.sync 0xffffffff; fence.proxy.tensormap::generic.acquire.gpu [%rd10], 128;
    """ + TENSOR_LOAD.replace("{x}", "0").replace("{y}", "0")
    data = np.arange(240, dtype=np.float32).reshape(12, 20)
    described = Launch(
        "k", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, {"out": np.zeros(128, np.uint8), "x": data.view(np.uint8).reshape(-1).copy()},
        [PointerArgument("out"), TensorMapArgument(RECORD, "x"), PointerArgument("x")],
    )  # fmt: skip
    report = simulate(kernel(body, ".param .u64 out, .param .u64 map, .param .u64 x"), described)
    assert report.verdict == "clean", report.text()
    assert (described.buffers["out"].view(np.float32).reshape(4, 8) == data[1:5, :8]).all()


def test_run_is_repeatable() -> None:
    """The same schedule and seed give the same order of everything."""
    body = "atom.global.add.u32 %r5, [%rd1], 1; bar.sync 0; atom.global.exch.b32 %r6, [%rd1+4], %r1; st.global.u32 [%rd3+8], %r5;"
    results = [run(body, threads=128, words=130, schedule="random", seed=seed)[0].copy() for seed in (4, 4, *range(5, 15))]
    assert (results[0] == results[1]).all()
    assert any((results[0] != other).any() for other in results[2:])


def test_exhaustive_finds_both_orders() -> None:
    """Two warps race for a word; the exhaustive schedule says how many paths it followed."""
    _, report = run(
        "and.b32 %r5, %r1, 31; setp.eq.u32 %p1, %r5, 0; @%p1 atom.global.exch.b32 %r6, [%rd1], %r1;",
        threads=64,
        schedule="exhaustive",
        check=True,
    )
    assert report.verdict == "clean", report.text()
    assert "all of them" in report.runs[0]


WGMMA = """
.shared .align 1024 .b8 b[256];
mov.u32 %r20, b; setp.lt.u32 %p1, %r1, 128; @!%p1 bra MULTIPLY;
// B[n][k] = n + k as f16, K-major: core matrices of 8 rows of 16 bytes, the second half of K 128 bytes further
shr.u32 %r5, %r1, 4; and.b32 %r6, %r1, 15; add.u32 %r7, %r5, %r6; cvt.rn.f32.u32 %f1, %r7; cvt.rn.f16.f32 %h1, %f1;
shl.b32 %r8, %r5, 4; and.b32 %r9, %r6, 7; shl.b32 %r9, %r9, 1; add.u32 %r8, %r8, %r9; shr.u32 %r9, %r6, 3; shl.b32 %r9, %r9, 7; add.u32 %r8, %r8, %r9;
add.u32 %r8, %r8, %r20; st.shared.b16 [%r8], %h1;
MULTIPLY: {fence} bar.sync 0;
// A from registers: A[row][k] = row % 8 (the same for all k)
shr.u32 %r10, %r1, 2; and.b32 %r10, %r10, 7; cvt.rn.f32.u32 %f2, %r10; cvt.rn.f16x2.f32 %r11, %f2, %f2;
mov.f32 %f4, 0f3F800000; mov.f32 %f5, 0f3F800000; mov.f32 %f6, 0f3F800000; mov.f32 %f7, 0f3F800000;
cvt.u64.u32 %rd4, %r20; and.b64 %rd4, %rd4, 0x3FFFF; shr.u64 %rd4, %rd4, 4; or.b64 %rd4, %rd4, 0x0000001000080000; mov.pred %p2, {keep};
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%r11, %r11, %r11, %r11}, %rd4, %p2, 1, {sign}, 0;
wgmma.commit_group.sync.aligned;
{early}
wgmma.wait_group.sync.aligned 0;
mul.wide.u32 %rd5, %r4, 16; add.u64 %rd5, %rd1, %rd5; st.global.v4.f32 [%rd5], {%f4, %f5, %f6, %f7};
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("keep", "sign"), [(1, 1), (0, 1), (1, -1)])
def test_wgmma_with_a_in_registers(schedule: str, keep: int, sign: int) -> None:
    body = (
        WGMMA.replace("{keep}", str(keep))
        .replace("{sign}", str(sign))
        .replace("{early}", "")
        .replace("{fence}", "fence.proxy.async.shared::cta;")
    )
    out, report = run(body, threads=256, words=1024, schedule=schedule, seed=1, check=True)
    assert report.verdict == "clean", report.text()
    thread = np.arange(256)
    row, column = thread // 4 % 8, 2 * (thread % 4)
    total = 16 * column + 120
    expected = np.stack([row * total, row * (total + 16)] * 2, axis=1) * sign + keep
    assert (out.view(np.float32).reshape(256, 4) == expected).all()


def test_accumulators_read_too_early_show_under_late() -> None:
    """The accumulator moved away before the wait: eager hides it, late shows the old value."""
    body = WGMMA.replace("{keep}", "1").replace("{sign}", "1").replace("{fence}", "fence.proxy.async.shared::cta;")
    early = body.replace("{early}", "mov.f32 %f9, %f5;").replace(
        "st.global.v4.f32 [%rd5], {%f4, %f5, %f6, %f7}", "st.global.v4.f32 [%rd5], {%f9, %f9, %f9, %f9}"
    )
    eager, _ = run(early, threads=128, words=512)
    late, _ = run(early, threads=128, words=512, schedule="late")
    assert (late.view(np.float32) == 1.0).all()
    assert (eager.view(np.float32) != late.view(np.float32)).any()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_test_wait_polling_lets_copies_land(schedule: str) -> None:
    body = (
        SETUP
        + """
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd10], 128, [%r20];
    POLL: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r20], 0; @!%p2 bra POLL;
    ld.shared.u32 %r5, [%r22]; st.global.u32 [%rd3], %r5;
    """
    )
    data = np.arange(32, dtype=np.uint32) * 7
    out, report, _ = copy_run(body, data, 32, schedule)
    assert report.verdict == "clean", report.text()
    assert (out == data).all()


def test_bulk_copy_within_a_block_is_for_review() -> None:
    body = (
        SETUP
        + """
    st.shared.u32 [%r22], %r1; fence.proxy.async.shared::cta; bar.sync 0; add.u32 %r24, %r21, 256;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 128;
    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r24], [%r21], 128, [%r20];
    """
        + WAIT
        + "add.u32 %r25, %r22, 256; ld.shared.u32 %r26, [%r25]; mul.wide.u32 %rd11, %r1, 4; add.u64 %rd12, %rd1, %rd11; st.global.u32 [%rd12], %r26;"
    )
    words, report, _ = copy_run(body, np.zeros(32, np.uint32), 32)
    assert codes(report) == ["S105"]
    np.testing.assert_array_equal(words, np.arange(32))
