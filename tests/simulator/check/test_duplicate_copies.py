"""S107: one copy issued several times over; silent where lanes, warps, CTAs or turns copy things of their own."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument
from fa4dsl.runtime.simulator.run import simulate

LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%to], [%x], 64, [full];"
INIT = "@%first mbarrier.init.shared::cta.b64 [full], {count};\n bar.sync 0;\n"
WAIT = "wait{n}: mbarrier.try_wait.parity.shared::cta.b64 %done, [full], {parity};\n @!%done bra wait{n};\n"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {bytes};\n"
FILL = "mad.lo.u32 %to, %t, 4, %to;\n st.shared.u32 [%to], %t;\n mov.u32 %to, tile;\n fence.proxy.async;\n bar.sync 0;\n"
DRAIN = " cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;\n"


def run(body: str, schedule: str = "eager", block: int = 64, cluster: int = 1) -> Report:
    text = f""".version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{{
    .reg .pred %first, %done, %warp0, %lane0, %p<4>;
    .reg .b32 %t, %to, %lane, %warp, %r<9>;
    .reg .b64 %x, %y;
    .reg .b16 %h<3>;
    .shared .align 128 .b8 tile[8192];
    .shared .align 8 .b64 full;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %t, %tid.x;
    mov.u32 %to, tile;
    setp.eq.u32 %first, %t, 0;
    and.b32 %lane, %t, 31;
    shr.u32 %warp, %t, 5;
    setp.eq.u32 %warp0, %warp, 0;
    setp.eq.u32 %lane0, %lane, 0;
{body}
    ret;
}}
"""
    buffers = {"x": np.zeros(8192, np.uint8), "y": np.zeros(8192, np.uint8)}
    launch = Launch("k", (cluster, 1, 1), (block, 1, 1), (cluster, 1, 1), 0, buffers, [PointerArgument("x"), PointerArgument("y")])
    return simulate(text, launch, schedule=schedule, seed=3, name="k.ptx")


FAULTS = {
    "every lane loads, one expects": (
        INIT.format(count=1) + "@%first " + EXPECT.format(bytes=64) + f"@%warp0 {LOAD}\n bar.sync 0;\n" + WAIT.format(n=0, parity=0),
        "error",
        "32 times, by threads 0-31",
        "elect.sync",
    ),
    "every lane loads and arrives": (
        INIT.format(count=32) + "@%warp0 " + EXPECT.format(bytes=64) + f"@%warp0 {LOAD}\n bar.sync 0;\n" + WAIT.format(n=0, parity=0),
        "error",
        "32 times",
        "one lane alone",
    ),
    "each warp loads": (
        INIT.format(count=2) + "@%lane0 " + EXPECT.format(bytes=64) + f"@%lane0 {LOAD}\n" + WAIT.format(n=0, parity=0),
        "error",
        "2 times, by 2 threads (warps 0-1)",
        "one warp alone",
    ),
    "every lane stores": (
        FILL + "@!%warp0 bra out;\n cp.async.bulk.global.shared::cta.bulk_group [%y], [tile], 128;\n" + DRAIN + "out:\n",
        "error",
        "32 times",
        "elect.sync",
    ),
    "every thread reduces": (
        FILL + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y], [tile], 128;\n" + DRAIN,
        "review",
        "64 times",
        "in one warp",
    ),
}


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("name", FAULTS)
def test_reported_once(name: str, schedule: str) -> None:
    body, verdict, message, mend = FAULTS[name]
    report = run(body, schedule)
    (found,) = report.findings
    assert (found.diagnostic.code, report.verdict) == ("S107", verdict), report.text()
    assert message in found.diagnostic.message, found.diagnostic.message
    assert mend in found.diagnostic.mend, found.diagnostic.mend


ROWS = "mul.lo.u32 %r1, %t, 64; add.u32 %to, %to, %r1; cvt.u64.u32 %y, %r1; add.u64 %x, %x, %y;\n"
TURNS = """mov.u32 %r0, 0;
again: @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 64;
{issue}
 and.b32 %r3, %r0, 1;
wait: mbarrier.try_wait.parity.shared::cta.b64 %done, [full], %r3;
 @!%done bra wait;
 bar.sync 0;
 add.u32 %r0, %r0, 1;
 setp.lt.u32 %p1, %r0, 4;
 @%p1 bra again;
"""
SILENT = {
    "one lane": INIT.format(count=1) + "@!%first bra out;\n" + EXPECT.format(bytes=64) + LOAD + "\nout:\n" + WAIT.format(n=0, parity=0),
    "each lane its own row": INIT.format(count=1)
    + "@%first "
    + EXPECT.format(bytes=4096)
    + ROWS
    + f"bar.sync 0;\n {LOAD}\n"
    + WAIT.format(n=0, parity=0),
    "each warp its own slot, of one source": INIT.format(count=2)
    + f"mul.lo.u32 %r1, %warp, 64; add.u32 %to, %to, %r1;\n@%lane0 {EXPECT.format(bytes=64)}@%lane0 {LOAD}\n"
    + WAIT.format(n=0, parity=0),
    "the same again in later turns": INIT.format(count=1) + TURNS.format(issue=f"@%first {LOAD}"),
    "the warps in turn": INIT.format(count=1)
    + TURNS.format(issue=f" bar.sync 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p2, %r1, %warp; and.pred %p2, %p2, %lane0;\n @%p2 {LOAD}"),
    "lanes reduce rows of their own into one": FILL
    + "and.b32 %r1, %lane, 3; mad.lo.u32 %to, %r1, 32, %to; setp.lt.u32 %p1, %t, 4; @!%p1 bra out;\n"
    + " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y], [%to], 32;\n"
    + DRAIN
    + "out:\n",
    "prefetches": "cp.async.bulk.prefetch.L2.global [%x], 64;\n",
}


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("name", SILENT)
def test_silent(name: str, schedule: str) -> None:
    report = run(SILENT[name], schedule)
    assert report.verdict == "clean", report.text()


@pytest.mark.parametrize("schedule", ["eager", "late"])
def test_each_cta_multicasts_its_half(schedule: str) -> None:
    """The same instruction, in two CTAs of a cluster, to both: each sends what it loads, from one source to places of its own."""
    body = (
        "@%first mbarrier.init.shared::cta.b64 [full], 1;\n fence.mbarrier_init.release.cluster;\n"
        " barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n mov.u32 %r1, %cluster_ctarank; mad.lo.u32 %to, %r1, 64, %to;\n mov.b16 %h1, 3;\n"
        "@!%first bra out;\n"
        + EXPECT.format(bytes=128)
        + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%to], [%x], 64, [full], %h1;\nout:\n"
        + WAIT.format(n=0, parity=0)
        + "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n"
    )
    report = run(body, schedule, cluster=2)
    assert report.verdict == "clean", report.text()
