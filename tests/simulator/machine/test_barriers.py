"""Block, named and cluster barriers, mbarriers, warp collectives, register pools, and what a hang shows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.ptx.parser import parse
from fa4dsl.runtime.simulator.build import Build, run_waves
from fa4dsl.runtime.simulator.machine import Stopped
from fa4dsl.runtime.simulator.schedule import make_schedule
from fa4dsl.runtime.simulator.waiting import Hang

sys.path.insert(0, str(Path(__file__).parent))
from kernels import codes, kernel, launch, run

SCHEDULES = ["eager", "late", "random", "adversarial"]
MBARRIER = ".shared .align 8 .b8 bars[64]; mov.u32 %r20, bars; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [%r20], {count}; bar.sync 0;"


def wait(parity: str | int, address: str = "%r20") -> str:
    return f"{{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [{address}], {parity}; @!done bra AGAIN; }}"


def hang_of(body: str, threads: int = 32, blocks: int = 1, cluster: int = 1, schedule: str = "eager", **build: str) -> Hang:
    """The machine's picture of a hang."""
    made = Build(
        parse(kernel(body, **build)), launch(threads, blocks, cluster), make_schedule(schedule, 0), 1_000_000, lambda geometry, build: None
    )
    with pytest.raises(Stopped):
        run_waves(made)
    assert made.machine.hang is not None
    return made.machine.hang


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bar_sync_orders_shared_memory(schedule: str) -> None:
    body = """
    .shared .align 4 .b8 s[512]; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r1; bar.sync 0;
    xor.b32 %r8, %r1, 96; shl.b32 %r8, %r8, 2; add.u32 %r8, %r5, %r8; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd3], %r9;
    """
    out, report = run(body, threads=128, schedule=schedule, check=True)
    assert report.verdict == "clean", report.text()
    assert (out == np.arange(128) ^ 96).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_named_barriers_producer_consumer(schedule: str) -> None:
    body = """
    .shared .align 4 .b8 s[128]; mov.u32 %r5, s; and.b32 %r6, %r1, 31; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; mov.u32 %r8, 0; mov.u32 %r9, 0;
    setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUME;
    P: add.u32 %r7, %r1, %r8; barrier.cta.sync 2, 64; st.shared.u32 [%r5], %r7; barrier.cta.arrive 1, 64; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 4; @%p2 bra P; bra DONE;
    CONSUME: barrier.cta.arrive 2, 64; barrier.cta.sync 1, 64; ld.shared.u32 %r7, [%r5]; add.u32 %r9, %r9, %r7; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 4; @%p2 bra CONSUME;
    DONE: st.global.u32 [%rd3], %r9;
    """
    out, report = run(body, threads=64, schedule=schedule, seed=5, check=True)
    assert report.verdict == "clean", report.text()
    assert (out[32:] == 4 * np.arange(32) + 6).all()


def test_barrier_reductions() -> None:
    body = """
    and.b32 %r5, %r1, 3; setp.eq.u32 %p1, %r5, 1; bar.red.popc.u32 %r6, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 1, 64, !%p1;
    selp.u32 %r7, 1000, 0, %p2; selp.u32 %r8, 2000, 0, %p3; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; st.global.u32 [%rd3], %r6;
    """
    out, report = run(body, threads=64)
    assert report.verdict == "clean", report.text()
    assert (out == 2016).all()


def test_exited_warps_release_a_barrier() -> None:
    out, report = run("setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0; st.global.u32 [%rd3], 1;", threads=96)
    assert report.verdict == "clean"
    assert (out[:32] == 1).all()


BAD_BARRIERS = [
    ("bar.sync 16;", "S017"),
    ("bar.sync 1, 48;", "S017"),
    ("setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;", "S017"),
    ("bar.arrive 1, 32; bar.arrive 1, 64;", "S017"),
]


@pytest.mark.parametrize(("text", "code"), BAD_BARRIERS[:3])
def test_wrong_barriers(text: str, code: str) -> None:
    _, report = run(text, threads=64)
    assert code in codes(report), report.text()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_mbarrier_phases(schedule: str) -> None:
    """Every thread arrives and waits, over several phases; data goes round."""
    body = (
        MBARRIER.format(count=64)
        + """
    .shared .align 4 .b8 s[256]; mov.u32 %r21, s; shl.b32 %r6, %r1, 2; add.u32 %r22, %r21, %r6; add.u32 %r7, %r1, 1; and.b32 %r7, %r7, 63; shl.b32 %r7, %r7, 2; add.u32 %r23, %r21, %r7;
    mov.u32 %r8, 0; mov.u32 %r9, %r1;
    LOOP: st.shared.u32 [%r22], %r9; mbarrier.arrive.shared::cta.b64 %rd5, [%r20]; and.b32 %r10, %r8, 1;
    """
        + wait("%r10")
        + """
    ld.shared.u32 %r9, [%r23]; add.u32 %r8, %r8, 1; mbarrier.arrive.shared::cta.b64 %rd6, [%r20]; and.b32 %r10, %r8, 1;
    """
        + wait("%r10")
        + """
    add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 10; @%p2 bra LOOP; st.global.u32 [%rd3], %r9;
    """
    )
    out, report = run(body, threads=64, schedule=schedule, check=True)
    assert report.verdict == "clean", report.text()
    assert (out == (np.arange(64) + 5) % 64).all()


def test_fresh_barrier_passes_parity_one() -> None:
    out, report = run(MBARRIER.format(count=1) + wait(1) + "st.global.u32 [%rd3], 5;")
    assert report.verdict == "clean"
    assert (out == 5).all()


def test_states_and_pending_count() -> None:
    body = (
        MBARRIER.format(count=40)
        + """
    mbarrier.arrive.shared::cta.b64 %rd5, [%r20]; mbarrier.pending_count.b64 %r5, %rd5;
    mbarrier.test_wait.shared::cta.b64 %p2, [%r20], %rd5; selp.u32 %r6, 1000, 0, %p2;
    @%p1 mbarrier.arrive.shared::cta.b64 %rd6, [%r20], 8;
    mbarrier.test_wait.shared::cta.b64 %p3, [%r20], %rd5; selp.u32 %r7, 2000, 0, %p3;
    add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; st.global.u32 [%rd3], %r5;
    """
    )
    out, _ = run(body)
    assert out.tolist() == [2000 + 40 - t for t in range(32)]


def test_arrive_drop_lowers_later_phases() -> None:
    body = (
        MBARRIER.format(count=32)
        + """
    setp.lt.u32 %p2, %r1, 16; @%p2 mbarrier.arrive_drop.shared::cta.b64 _, [%r20]; @!%p2 mbarrier.arrive.shared::cta.b64 _, [%r20];
    """
        + wait(0)
        + "@!%p2 mbarrier.arrive.shared::cta.b64 _, [%r20];"
        + wait(1)
        + "st.global.u32 [%rd3], 1;"
    )
    out, report = run(body)
    assert report.verdict == "clean", report.text()
    assert (out == 1).all()


def test_transactions_may_land_before_they_are_expected() -> None:
    body = (
        MBARRIER.format(count=2)
        + """
    @%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r20], 64; @%p1 mbarrier.arrive.shared::cta.b64 _, [%r20];
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 64;
    """
        + wait(0)
        + "st.global.u32 [%rd3], 3;"
    )
    out, report = run(body)
    assert report.verdict == "clean", report.text()
    assert (out == 3).all()


BAD_MBARRIERS = [
    ("mbarrier.arrive.shared::cta.b64 _, [%r20+8];", "S014"),
    ("@%p1 mbarrier.inval.shared::cta.b64 [%r20]; bar.sync 0; mbarrier.arrive.shared::cta.b64 _, [%r20];", "S014"),
    ("mbarrier.arrive.shared::cta.b64 _, [%r20], 7;", "S042"),
    ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r20], 1048575;", "S015"),
    ("mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r20], 4;", "S042"),
    ("mbarrier.init.shared::cta.b64 [%r20+8], 0;", "S015"),
    ("mbarrier.arrive.shared::cta.b64 _, [%r20+4];", "S011"),
]


@pytest.mark.parametrize(("text", "code"), BAD_MBARRIERS)
def test_wrong_mbarriers(text: str, code: str) -> None:
    _, report = run(MBARRIER.format(count=4) + text)
    assert code in codes(report), report.text()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_remote_arrivals(schedule: str) -> None:
    body = """
    .shared .align 8 .b8 bars[8]; .shared .align 4 .b8 s[128];
    mov.u32 %r20, bars; mov.u32 %r21, s; shl.b32 %r6, %r1, 2; add.u32 %r21, %r21, %r6; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r20], 32; fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r5, %cluster_ctarank; add.u32 %r5, %r5, 1; and.b32 %r5, %r5, 3; mapa.shared::cluster.u32 %r22, %r21, %r5; mapa.shared::cluster.u32 %r23, %r20, %r5;
    st.shared::cluster.u32 [%r22], %r4; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];
    { .reg .pred done; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%r20], 0; @!done bra AGAIN; }
    ld.shared.u32 %r9, [%r21]; st.global.u32 [%rd3], %r9; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    out, report = run(body, blocks=8, cluster=4, schedule=schedule, seed=2, check=True)
    assert report.verdict == "clean", report.text()
    expected = np.roll(np.arange(256).reshape(2, 4, 32), 1, axis=1)
    assert (out == expected.reshape(-1)).all()


def test_exited_blocks_leave_the_cluster_barrier() -> None:
    body = "mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p1, %r5, 0; @%p1 exit; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; st.global.u32 [%rd3], 1;"
    out, report = run(body, blocks=4, cluster=4)
    assert report.verdict == "clean"
    assert (out[:32] == 1).all()


def test_double_arrival_at_the_cluster_barrier() -> None:
    body = "mov.u32 %r5, %cluster_ctarank; setp.ne.u32 %p1, %r5, 0; @%p1 bra W; barrier.cluster.arrive; barrier.cluster.arrive; W: barrier.cluster.wait;"
    _, report = run(body, blocks=2, cluster=2)
    assert "S017" in codes(report)


def test_register_pool() -> None:
    """Two warpgroups: one gives, the other takes; the taker waits for the giver."""
    body = "setp.lt.u32 %p1, %r1, 128; @%p1 bra G; setmaxnreg.inc.sync.aligned.u32 {more}; bra D; G: nanosleep.u32 100; setmaxnreg.dec.sync.aligned.u32 40; D: st.global.u32 [%rd3], 1;"
    out, report = run(body.replace("{more}", "208"), threads=256, directives=".maxntid 256 .maxnreg 128")
    assert report.verdict == "clean", report.text()
    assert (out == 1).all()
    _, report = run(body.replace("{more}", "224"), threads=256, directives=".maxntid 256 .maxnreg 128")
    assert report.verdict == "error"
    _, report = run("setmaxnreg.inc.sync.aligned.u32 64;", threads=128, directives=".maxntid 128 .maxnreg 128")
    assert codes(report) == ["S100"]


def test_hang_names_an_mbarrier_and_its_counts() -> None:
    hang = hang_of(MBARRIER.format(count=3) + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 96;" + wait(0))
    (waiter,) = hang.waiters
    assert (hang.reason, waiter.kind, waiter.waited_phase, len(waiter.threads)) == ("deadlock", "mbarrier", 0, 32)
    barrier = waiter.barrier
    assert barrier is not None
    assert (barrier.expected, barrier.pending, barrier.transactions, barrier.phase) == (3, 2, 96, 0)
    assert [(arrival.kind, arrival.count, arrival.threads) for arrival in barrier.arrivals] == [
        ("expect_tx", 96, (0,)),
        ("arrive", 1, (0,)),
    ]
    assert barrier.initialised is not None


def test_hang_names_a_named_barrier_and_exited_threads() -> None:
    hang = hang_of(
        "setp.ge.u32 %p1, %r1, 64; @%p1 exit; setp.lt.u32 %p2, %r1, 32; @%p2 bar.sync 3, 128;" + MBARRIER.format(count=1) + wait(0),
        threads=96,
    )
    kinds = {waiter.kind: waiter for waiter in hang.waiters}
    named = kinds["bar"].barrier
    assert named is not None
    assert {waiter.barrier.address: waiter.barrier.pending for waiter in hang.waiters if waiter.kind == "bar" and waiter.barrier}[3] == 96
    assert hang.exited == tuple(range(64, 96))


def test_hang_of_a_partial_warp() -> None:
    hang = hang_of(MBARRIER.format(count=1) + "@%p1 bra ONE;" + wait(0) + "ONE: bar.sync 0;")
    warp = next(waiter for waiter in hang.waiters if waiter.kind == "warp")
    assert warp.threads == (0,)
    assert "[1, 2, 3" in warp.detail


def test_hang_at_the_cluster_barrier() -> None:
    hang = hang_of(
        "mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p1, %r5, 0; @%p1 barrier.cluster.arrive; barrier.cluster.wait;", blocks=2, cluster=2
    )
    details = {waiter.detail for waiter in hang.waiters}
    assert "waits without having arrived" in details
    assert all(waiter.kind == "cluster" for waiter in hang.waiters)


def test_bounded_polling_goes_on() -> None:
    """A try_wait that is counted may fail: the program gives up by itself."""
    body = (
        MBARRIER.format(count=1)
        + """
    mov.u32 %r5, 0; L: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r20], 0; @%p2 bra D; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 10; @%p3 bra L; D: st.global.u32 [%rd3], %r5;
    """
    )
    out, report = run(body)
    assert report.verdict == "clean"
    assert (out == 10).all()


@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_shuffles_wait_for_their_lanes(schedule: str) -> None:
    """Halves of the warp take different ways to shuffles of their own masks, then meet in a full one."""
    body = """
    setp.lt.u32 %p1, %r1, 16; @!%p1 bra HIGH; shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xffff; bra MEET;
    HIGH: add.u32 %r6, %r1, 100; shfl.sync.bfly.b32 %r5, %r6, 2, 31, 0xffff0000;
    MEET: shfl.sync.idx.b32 %r7|%p2, %r5, 16, 31, 0xffffffff; shl.b32 %r7, %r7, 8; add.u32 %r7, %r7, %r5; st.global.u32 [%rd3], %r7;
    """
    out, report = run(body, schedule=schedule)
    t = np.arange(32)
    own = np.where(t < 16, t ^ 1, (t ^ 2) + 100)
    assert report.verdict == "clean"
    assert (out == (118 << 8) + own).all()


def test_disjoint_masks_at_one_instruction() -> None:
    body = "setp.lt.u32 %p1, %r1, 16; selp.b32 %r5, 0xffff, 0xffff0000, %p1; redux.sync.add.u32 %r6, %r1, %r5; vote.sync.ballot.b32 %r7, %p1, %r5; add.u32 %r6, %r6, %r7; st.global.u32 [%rd3], %r6;"
    out, _ = run(body)
    assert (out[:16] == 120 + 0xFFFF).all()
    assert (out[16:] == 376).all()


def test_lane_outside_its_mask() -> None:
    _, report = run("shfl.sync.bfly.b32 %r5, %r1, 1, 31, 1;")
    assert codes(report) == ["S018"]


def test_elect() -> None:
    out, _ = run("elect.sync %r5|%p1, 0xffffffff; selp.u32 %r6, 10, 0, %p1; add.u32 %r5, %r5, %r6; st.global.u32 [%rd3], %r5;")
    assert out.tolist() == [10] + [0] * 31
