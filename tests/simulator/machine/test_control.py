"""Divergence, reconvergence, calls, fairness and special registers."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernels import codes, run

SCHEDULES = ["eager", "late", "random", "adversarial"]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", [1, 20, 32, 100, 256])
def test_divergent_loops(schedule: str, threads: int) -> None:
    """Collatz: every thread leaves at its own time, blocks need not be whole warps."""
    body = """
    add.u32 %r5, %r4, 1; mov.u32 %r6, 0;
    LOOP: setp.eq.u32 %p1, %r5, 1; @%p1 bra DONE;
    and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; add.u32 %r6, %r6, 1;
    @%p2 bra EVEN; mad.lo.u32 %r5, %r5, 3, 1; bra LOOP;
    EVEN: shr.u32 %r5, %r5, 1; bra.uni LOOP;
    DONE: st.global.u32 [%rd3], %r6;
    """
    out, report = run(body, threads=threads, blocks=2, schedule=schedule, seed=7)

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert report.verdict == "clean"
    assert out.tolist() == [steps(n + 1) for n in range(threads * 2)]


def test_lanes_meet_again() -> None:
    """After a divergent branch all lanes of a warp stand together: activemask is full."""
    body = "and.b32 %r5, %r1, 3; setp.lt.u32 %p1, %r5, 2; @%p1 bra A; add.u32 %r6, %r1, 1; bra B; A: add.u32 %r6, %r1, 2; B: activemask.b32 %r7; st.global.u32 [%rd3], %r7;"
    for schedule in ("eager", "random"):
        out, _ = run(body, threads=64, schedule=schedule)
        assert (out == 0xFFFFFFFF).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_lane_may_wait_for_another_of_its_warp(schedule: str) -> None:
    """Lane 0 spins on a flag that lane 31 sets later: independent thread scheduling."""
    body = """
    .shared .align 4 .b8 flag[4];
    mov.u32 %r5, flag; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r5], 0; bar.warp.sync 0xffffffff;
    @!%p1 bra OTHERS;
    SPIN: ld.volatile.shared.u32 %r6, [%r5]; setp.eq.u32 %p2, %r6, 0; @%p2 bra SPIN; bra DONE;
    OTHERS: setp.eq.u32 %p3, %r1, 31; @%p3 st.volatile.shared.u32 [%r5], 9; mov.u32 %r6, 1;
    DONE: st.global.u32 [%rd3], %r6;
    """
    out, report = run(body, schedule=schedule)
    assert report.verdict == "clean"
    assert out.tolist() == [9] + [1] * 31


def test_a_busy_loop_does_not_starve_others() -> None:
    """A loop without any polling instruction between its loads still lets the writer run."""
    body = """
    setp.lt.u32 %p1, %r1, 32; @%p1 bra READ;
    bra WRITE;
    READ: ld.global.u32 %r6, [%rd1+256]; setp.ne.u32 %p2, %r6, 77; @%p2 bra READ; bra DONE;
    WRITE: st.global.u32 [%rd1+256], 77; mov.u32 %r6, 1;
    DONE: st.global.u32 [%rd3], %r6;
    """
    out, report = run(body, threads=64, words=65)
    assert report.verdict == "clean"
    assert (out[:32] == 77).all()


@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_endless_polling_is_a_livelock(schedule: str) -> None:
    body = "SPIN: ld.volatile.global.u32 %r6, [%rd1]; setp.ne.u32 %p2, %r6, 77; @%p2 bra SPIN;"
    _, report = run(body, schedule=schedule)
    assert report.verdict == "error"
    assert report.findings


def test_step_limit() -> None:
    _, report = run(
        "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;", step_limit=5000
    )
    assert report.verdict == "error"


def test_brx_and_its_bounds() -> None:
    table = "T: .branchtargets A, B, C;"
    body = (
        table
        + "rem.u32 %r5, %r1, {n}; brx.idx %r5, T; A: mov.u32 %r6, 10; bra D; B: mov.u32 %r6, 20; bra D; C: mov.u32 %r6, 30; D: st.global.u32 [%rd3], %r6;"
    )
    out, _ = run(body.replace("{n}", "3"))
    assert (out == np.array([10, 20, 30])[np.arange(32) % 3]).all()
    _, report = run(body.replace("{n}", "4"))
    assert codes(report) == ["S016"]


FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 n)
{
.reg .b32 %r<9>; .reg .pred %p<3>;
ld.param.u32 %r1, [n]; mov.u32 %r2, 1; setp.le.u32 %p1, %r1, 1; @%p1 bra DONE;
sub.u32 %r3, %r1, 1;
{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r3; call.uni (r), factorial, (a); ld.param.b32 %r4, [r+0]; }
mul.lo.u32 %r2, %r1, %r4;
DONE: st.param.b32 [result+0], %r2; ret;
}
"""


@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_recursion(schedule: str) -> None:
    body = "rem.u32 %r5, %r1, 11; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r5; call (r), factorial, (a); ld.param.b32 %r6, [r]; } st.global.u32 [%rd3], %r6;"
    out, report = run(body, threads=64, before=FACTORIAL, schedule=schedule)
    assert report.verdict == "clean", report.text()
    assert out.tolist() == [math.factorial(t % 11) for t in range(64)]


def test_endless_recursion_is_a_fault() -> None:
    forever = ".func f() { call f; ret; }"
    _, report = run("call f;", before=forever)
    assert codes(report) == ["S013"]


def test_indirect_calls_and_register_parameters() -> None:
    before = """
    .func (.reg .u32 d) twice(.reg .u32 a) { shl.b32 d, a, 1; ret; }
    .func (.reg .u32 d) plus(.reg .u32 a) { add.u32 d, a, 100; ret; }
    .global .u64 both[2] = {twice, plus};
    """
    body = """
    and.b32 %r5, %r1, 1; mul.wide.u32 %rd4, %r5, 8; mov.u64 %rd5, both; add.u64 %rd5, %rd5, %rd4; ld.global.u64 %rd6, [%rd5];
    P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r6), %rd6, (%r1), P; st.global.u32 [%rd3], %r6;
    """
    out, report = run(body, before=before)
    assert report.verdict == "clean", report.text()
    t = np.arange(32)
    assert (out == np.where(t & 1, t + 100, 2 * t)).all()


def test_missing_function_is_refused() -> None:
    from fa4dsl.runtime.diagnostics import Fa4dslError

    with pytest.raises(Fa4dslError) as raised:
        run("call f;", before=".extern .func f();")
    assert raised.value.code == "S102"


def test_exit_and_guarded_exit() -> None:
    out, report = run("setp.ge.u32 %p1, %r1, 10; @%p1 exit; st.global.u32 [%rd3], %r1; bar.sync 0;", threads=64)
    assert report.verdict == "clean"
    assert (out[:10] == np.arange(10)).all()
    assert (out[10:] == 0xFFFFFFFF).all()


SPECIALS = [
    ("%ntid.x", 64), ("%nctaid.x", 4), ("%nctaid.y", 1), ("%cluster_nctarank", 2), ("%cluster_nctaid.x", 2), ("%nclusterid.x", 2), ("%tid.y", 0), ("WARP_SZ", 32),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SPECIALS)
def test_constant_specials(name: str, value: int) -> None:
    out, _ = run(f"mov.u32 %r5, {name}; st.global.u32 [%rd3], %r5;", threads=64, blocks=4, cluster=2)
    assert (out == value).all()


def test_thread_specials() -> None:
    body = """
    mov.u32 %r5, %laneid; mov.u32 %r6, %warpid; mov.u32 %r7, %cluster_ctarank; mov.u32 %r8, %clusterid.x; mov.u32 %r9, %lanemask_lt; popc.b32 %r9, %r9;
    shl.b32 %r6, %r6, 8; shl.b32 %r7, %r7, 12; shl.b32 %r8, %r8, 16; shl.b32 %r9, %r9, 20;
    or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8; or.b32 %r5, %r5, %r9; st.global.u32 [%rd3], %r5;
    """
    out, _ = run(body, threads=64, blocks=4, cluster=2)
    t = np.arange(256)
    lane, warp, block = t % 32, t % 64 // 32, t // 64
    assert (out == (lane | warp << 8 | block % 2 << 12 | block // 2 << 16 | lane << 20)).all()


def test_clocks_advance() -> None:
    body = "mov.u64 %rd5, %clock64; nanosleep.u32 1000; mov.u64 %rd6, %clock64; setp.gt.u64 %p1, %rd6, %rd5; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd3], %r5;"
    out, _ = run(body)
    assert (out == 1).all()


def test_big_grids_run_in_waves() -> None:
    out, report = run("st.global.u32 [%rd3], %r2;", threads=1024, blocks=600)
    assert report.verdict == "clean"
    assert (out.reshape(600, 1024) == np.arange(600)[:, None]).all()


@pytest.mark.parametrize(
    "mnemonic",
    [
        "frobnicate.u32",
        "add.u31",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        "ld.global.v8.f32",
        "wgmma.mma_async.sync.aligned.m64n9k16.f32.bf16.bf16",
    ],
)
def test_unknown_instructions_are_named(mnemonic: str) -> None:
    """Found when decoding: the branch around it does not help, and nothing runs."""
    out, report = run(f"st.global.u32 [%rd3], %r1; bra END; {mnemonic} %r5, %r6, %r7; END:")
    assert report.verdict == "incomplete"
    assert codes(report) == ["S003"]
    assert mnemonic in report.findings[0].diagnostic.message
    assert (out == 0xFFFFFFFF).all()


WRONG = [
    "add.u32 %r5, %r6;",
    "add.u32 %p1, %r5, %r6;",
    "add.u32 %h1, %r5, %r6;",
    "ld.global.u32 %h1, [%rd1];",
    "setp.eq.u32 %r5, %r6, %r7;",
    "mov.u32 %rd4, %r5;",
    "st.param.u32 [out], %r5;",
]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_operands_are_refused(text: str) -> None:
    from fa4dsl.runtime.diagnostics import Fa4dslError

    with pytest.raises(Fa4dslError) as raised:
        run(text)
    assert raised.value.code == "S004"
