"""S106: shuffles whose result depends on a lane that takes no part; silent where the value is thrown away or every lane is there."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument
from fa4dsl.runtime.simulator.run import simulate


def run(body: str, block: int = 32, schedule: str = "eager", **options: bool) -> Report:
    text = f""".version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y)
{{
    .reg .pred %p<9>;
    .reg .b32 %lane, %r<9>;
    .reg .b64 %y;
    ld.param.u64 %y, [y];
    mov.u32 %lane, %tid.x;
    mad.wide.u32 %y, %lane, 4, %y;
    mov.u32 %r0, 100;
{body}
}}
"""
    launch = Launch("k", (1, 1, 1), (block, 1, 1), (1, 1, 1), 0, {"y": np.zeros(4 * block, np.uint8)}, [PointerArgument("y")])
    report = simulate(text, launch, schedule=schedule, name="k.ptx", **options)  # type: ignore[arg-type]
    report.measures = launch.buffers["y"].view(np.int32)
    return report


def line_of(report: Report) -> set[str]:
    return {finding.diagnostic.code for finding in report.findings}


LEAVE = "setp.ge.u32 %p1, %lane, 24; @%p1 ret;\n"
STORE = "st.global.u32 [%y], %r0; ret;\n"

FAULTS = {
    "an exited lane": (
        LEAVE + "shfl.sync.bfly.b32 %r0, %lane, 16, 31, 0xffffffff;\n" + STORE,
        "reads lane 24, which has exited (PTX line 13)",
        "return behind the shuffle",
    ),
    "the other half leaves later": (
        "setp.ge.u32 %p1, %lane, 16; @%p1 bra out;\nshfl.sync.idx.b32 %r0, %lane, 16, 31, 0xffffffff;\n" + "out: " + STORE,
        "reads lane 16, which has exited",
        "only lanes that are still there",
    ),
    "a lane outside of the mask": (
        "setp.ge.u32 %p1, %lane, 16; @%p1 bra out;\nshfl.sync.down.b32 %r0, %lane, 8, 31, 0xffff;\nout: bar.warp.sync -1; " + STORE,
        "reads lane 16, which is not in its member mask 0x0000ffff",
        "put lane 16 into the mask",
    ),
    "a mask in a register": (
        "mov.b32 %r1, 0xffff; setp.ge.u32 %p1, %lane, 16; @%p1 mov.b32 %r1, 0xffff0000;\nshfl.sync.bfly.b32 %r0, %lane, 16, 31, %r1;\n"
        + STORE,
        "reads lane 16, which is not in its member mask 0x0000ffff",
        "put lane 16 into the mask",
    ),
}


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("name", FAULTS)
def test_reported(name: str, schedule: str) -> None:
    body, message, mend = FAULTS[name]
    report = run(body, schedule=schedule)
    assert report.verdict == "review", report.text()
    (found,) = report.findings
    assert found.diagnostic.code == "S106" and found.kind == "barrier-misuse"
    assert message in found.diagnostic.message, found.diagnostic.message
    assert mend in found.diagnostic.mend
    assert run(body, schedule=schedule, strict=True).verdict == "error"
    assert run(body, schedule=schedule, check=False).verdict == "clean"


def test_a_thread_that_the_block_does_not_have() -> None:
    report = run("shfl.sync.down.b32 %r0, %lane, 4, 31, 0xffffffff;\n" + STORE, block=20)
    assert "reads lane 20, which this block does not have" in report.findings[0].diagnostic.message


def test_what_the_hardware_gives_stays() -> None:
    """An H200 gives 0 for a lane that has exited; the repeated runs change nothing of that."""
    report = run(LEAVE + "shfl.sync.bfly.b32 %r0, %lane, 16, 31, 0xffffffff;\n" + STORE)
    assert report.measures.tolist() == [lane ^ 16 if lane ^ 16 < 24 else 0 for lane in range(24)] + [0] * 8


def test_of_several_lines_those_that_matter() -> None:
    unused = "shfl.sync.down.b32 %r2, %lane, 16, 31, 0xffffffff;\n"
    report = run(LEAVE + unused + "shfl.sync.bfly.b32 %r0, %lane, 16, 31, 0xffffffff;\n" + STORE)
    (found,) = report.findings
    assert found.diagnostic.frames[0].location.line == 15


def test_a_branch_or_an_address_that_depends_on_it() -> None:
    branch = LEAVE + "shfl.sync.bfly.b32 %r1, %lane, 16, 31, -1; setp.gt.u32 %p2, %r1, 1000; @%p2 mov.u32 %r0, 7;\n" + STORE
    assert line_of(run(branch)) == {"S106"}
    address = LEAVE + "shfl.sync.bfly.b32 %r1, %lane, 16, 31, -1; mad.wide.u32 %y, %r1, 4, %y;\n st.global.u32 [%y], %r0; ret;\n"
    assert "S106" in line_of(run(address))


SILENT = {
    "whole warps": "shfl.sync.bfly.b32 %r0, %lane, 16, 31, 0xffffffff;\n" + STORE,
    "a mask of those who stay": LEAVE + "shfl.sync.bfly.b32 %r0, %lane, 7, 31, 0x00ffffff;\n" + STORE,
    "a full mask, read among those who stay": LEAVE + "shfl.sync.bfly.b32 %r0, %lane, 7, 31, 0xffffffff;\n" + STORE,
    "a segment of those who stay": LEAVE + "shfl.sync.down.b32 %r0, %lane, 4, 0x181f, 0xffffffff;\n" + STORE,
    "a value that a predicate keeps out": LEAVE
    + "shfl.sync.down.b32 %r1, %lane, 16, 31, 0xffffffff; add.u32 %r2, %lane, 16; setp.lt.u32 %p2, %r2, 24; @%p2 add.u32 %r0, %r0, %r1;\n"
    + STORE,
    "a value that a selection keeps out": LEAVE
    + "shfl.sync.down.b32 %r1, %lane, 16, 31, 0x00ffffff; add.u32 %r2, %lane, 16; setp.lt.u32 %p2, %r2, 24; add.u32 %r3, %r0, %r1; selp.u32 %r0, %r3, %r0, %p2;\n"
    + STORE,
    "both halves by their own masks": "setp.ge.u32 %p1, %lane, 16; @%p1 bra high;\nshfl.sync.bfly.b32 %r0, %lane, 8, 31, 0xffff; bra out;\n"
    "high: shfl.sync.bfly.b32 %r0, %lane, 4, 31, 0xffff0000;\nout: " + STORE,
    "only the first lane's sum is used": LEAVE
    + "".join(f"shfl.sync.down.b32 %r1, %lane, {step}, 31, 0x00ffffff; add.u32 %lane, %lane, %r1;\n" for step in (4, 2, 1))
    + "setp.eq.u32 %p3, %r0, 100; mov.u32 %r4, %tid.x; setp.ne.u32 %p4, %r4, 0; @%p4 ret; st.global.u32 [%y], %lane; ret;\n",
    "votes, match and redux count who is there": LEAVE
    + "vote.sync.ballot.b32 %r1, %p1, -1; match.any.sync.b32 %r2, %r0, -1; redux.sync.add.u32 %r3, %lane, -1; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;\n"
    + STORE,
}


@pytest.mark.parametrize("schedule", ["eager", "random"])
@pytest.mark.parametrize("name", SILENT)
def test_silent(name: str, schedule: str) -> None:
    report = run(SILENT[name], schedule=schedule)
    assert report.verdict == "clean", report.text()


def test_exhaustive_schedule_finds_it_too() -> None:
    report = run(FAULTS["an exited lane"][0], schedule="exhaustive")
    assert line_of(report) == {"S106"}
