"""Waves of CTAs, one after the other: what is kept of shared memory is that of the CTAs that run, and findings are those of one wave; CTAs that meet at
their block barriers together are judged as one by one."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "machine"))
from drive import STRIDE, Drive
from kernels import kernel, launch

from fa4dsl.runtime.simulator import build, run
from fa4dsl.runtime.simulator.check import sync
from fa4dsl.runtime.simulator.check.checker import HappensBefore
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.check.shadow import PAGE, READ, WRITTEN, Shadow
from fa4dsl.runtime.simulator.check.sync import Step, Steps
from fa4dsl.runtime.simulator.events import Geometry
from fa4dsl.runtime.simulator.run import simulate

LARGE = 128 << 10
"""Bytes of shared memory of which a multiprocessor holds one CTA."""
HEAD = f"""
.shared .align 16 .b8 A[{LARGE}];
.reg .b32 %A, %mine, %next;
.reg .pred %even, %first;
mov.u32 %A, A;
shl.b32 %mine, %r1, 2;
xor.b32 %next, %mine, 128;
add.u32 %mine, %A, %mine;
add.u32 %next, %A, %next;
setp.eq.u32 %first, %r1, 0;
"""
"""%mine: the thread's own word, %next: that of the thread in the next warp."""
WRITE, READ_NEXT, MEET = "st.shared.u32 [%mine], %r4;\n", "ld.shared.u32 %r20, [%next];\n", "bar.sync 0;\n"


@pytest.fixture
def checkers(monkeypatch: pytest.MonkeyPatch) -> list[HappensBefore]:
    """The checkers of all runs."""
    made: list[HappensBefore] = []
    make = run.make_checker

    def keep(*arguments: Any, **options: Any) -> HappensBefore:
        made.append(make(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(run, "make_checker", keep)
    return made


def waves(monkeypatch: pytest.MonkeyPatch, ctas: int) -> None:
    """Lets so many CTAs with `LARGE` bytes run at a time."""
    monkeypatch.setattr(build, "SIMULATED_MULTIPROCESSORS", ctas)


def checked(body: str, blocks: int, threads: int = 64, **options: Any) -> Report:
    return simulate(kernel(HEAD + body), launch(threads, blocks), **options)


def only(cta: int, body: str, label: str = "N", otherwise: str = "") -> str:
    return f"setp.ne.u32 %p7, %r2, {cta};\n@%p7 bra {label};\n{body}bra {label}E;\n{label}:\n{otherwise}{label}E:\n"


def found(report: Report) -> set[tuple[Any, ...]]:
    """Code and PTX lines of each finding."""
    return {(one.diagnostic.code, *sorted({frame.location.line for frame in one.diagnostic.frames})) for one in report.findings}


def line_of(body: str, instruction: str, nth: int = 0) -> int:
    """The PTX line of an instruction of a body."""
    lines = kernel(HEAD + body).splitlines()
    return [number for number, line in enumerate(lines, 1) if instruction in line][nth]


# -- findings of each wave


@pytest.mark.parametrize("cta", [0, 3, 7])
@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_a_race_in_one_wave_is_told_with_both_accesses(cta: int, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waves(monkeypatch, 1)
    body = WRITE + only(cta, READ_NEXT, otherwise=MEET + READ_NEXT)
    report = checked(body, 8, schedule=schedule, seed=2)
    (finding,) = [one for one in report.findings if one.diagnostic.code == "S020"]
    lines = {frame.location.line for frame in finding.diagnostic.frames}
    assert lines == {line_of(body, "st.shared"), line_of(body, "ld.shared")}
    assert f"of CTA {cta}" in finding.diagnostic.message
    assert all(f"of CTA {cta}" in (frame.label or "") for frame in finding.diagnostic.frames)
    assert "A[" in finding.diagnostic.message


def test_the_same_bytes_of_another_wave_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each CTA has one writer of one word, in turn one of either warp, and no barrier: nobody races with the CTAs that had the place before."""
    waves(monkeypatch, 1)
    body = """
and.b32 %r10, %r2, 1;
shl.b32 %r10, %r10, 5;
setp.ne.u32 %p1, %r1, %r10;
@%p1 bra E;
st.shared.u32 [A+64], %r1;
ld.shared.u32 %r11, [A+64];
E:
"""
    assert checked(body, 6).verdict == "clean"
    racy = checked(body.replace("setp.ne.u32 %p1, %r1, %r10", "setp.ne.u32 %p1, %r1, %r1"), 6)
    assert {one.diagnostic.code for one in racy.findings} >= {"S020"}


def test_what_another_wave_wrote_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    waves(monkeypatch, 2)
    body = only(5, "", otherwise=WRITE) + "ld.shared.u32 %r20, [%mine];\n"
    report = checked(body, 6)
    assert [one.diagnostic.code for one in report.findings] == ["S101"]
    assert "CTA 5" in report.text()
    assert checked(body.replace("setp.ne.u32 %p7, %r2, 5", "setp.ne.u32 %p7, %r2, 6"), 6).verdict == "clean"


def test_barriers_of_another_wave_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """mbarriers that nobody invalidated end with their CTA; a later one may be initialised there, or ordinary data stand there."""
    waves(monkeypatch, 1)
    use = "@%first mbarrier.init.shared::cta.b64 [A], 64;\n" + MEET + "mbarrier.arrive.shared::cta.b64 %rd9, [A];\n"
    body = "and.b32 %r10, %r2, 1;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra O;\n" + use + "bra E;\nO:\n" + WRITE + "E:\n"
    report = checked(body, 6)
    assert report.verdict == "clean", report.text()
    wrong = checked(only(4, use + WRITE, otherwise=use), 6)
    assert {one.diagnostic.code for one in wrong.findings} == {"S034"}
    assert "CTA 4" in wrong.text()


def test_an_arrival_before_the_init_in_an_early_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told at the end only, after other waves have run."""
    waves(monkeypatch, 1)
    init = "@%first mbarrier.init.shared::cta.b64 [A], 64;\n"
    body = only(0, init, otherwise=init + MEET) + "mbarrier.arrive.shared::cta.b64 %rd9, [A];\n"
    report = checked(body, 4)
    assert "S036" in {one.diagnostic.code for one in report.findings}
    assert "CTA 0" in report.text()


def test_global_memory_is_kept_over_all_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    waves(monkeypatch, 1)
    body = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra E;\nsetp.eq.u32 %p2, %r2, 0;\n@!%p2 bra O;\nst.global.u32 [%rd1], 1;\nbra E;\nO:\nsetp.ne.u32 %p3, %r2, 5;\n@%p3 bra E;\nld.global.u32 %r20, [%rd1];\nE:\n"
    (finding,) = checked(body, 6).findings
    lines = {frame.location.line for frame in finding.diagnostic.frames}
    assert lines == {line_of(body, "st.global"), line_of(body, "ld.global")}
    assert "CTA 0" in str(finding.diagnostic) and "CTA 5" in str(finding.diagnostic)


def test_copies_and_products_of_each_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bulk copy that reads what its CTA wrote without a proxy fence, in one wave of several."""
    waves(monkeypatch, 1)
    copy = "@%first cp.async.bulk.global.shared::cta.bulk_group [%rd1], [A], 256;\n@%first cp.async.bulk.commit_group;\n@%first cp.async.bulk.wait_group 0;\n"
    leave = "setp.ge.u32 %p1, %r2, 3;\n@%p1 bra E;\n"  # one at a time may store to the output: the others write nothing
    right = leave + WRITE + "fence.proxy.async.shared::cta;\n" + MEET + only(2, copy) + "E:\n"
    assert checked(right, 4).verdict == "clean"
    report = checked(right.replace("fence.proxy.async.shared::cta;\n", ""), 4)
    assert {one.diagnostic.code for one in report.findings} == {"S021"}
    assert "CTA 2" in report.text()


# -- what is kept


def test_memory_is_that_of_the_ctas_that_run(monkeypatch: pytest.MonkeyPatch, checkers: list[HappensBefore]) -> None:
    waves(monkeypatch, 1)
    # a word of every other page
    body = f"mov.u32 %r10, 0;\nL:\nst.shared.u32 [%mine], %r4;\nadd.u32 %mine, %mine, 2048;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {LARGE // 2048};\n@%p1 bra L;\n"
    peaks = []
    checked(body, 1)  # what is made once in a process
    for blocks in (2, 24):
        tracemalloc.start()
        assert checked(body, blocks).verdict == "clean"
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        checkers[:-2] = []
    few, many = (one.spaces["shared"].shadow for one in checkers)
    assert (many.used, len(many.writer), len(many.state)) == (few.used, len(few.writer), len(few.state))
    assert peaks[1] < 1.3 * peaks[0]


def test_lists_and_tokens_end_with_their_wave(monkeypatch: pytest.MonkeyPatch, checkers: list[HappensBefore]) -> None:
    waves(monkeypatch, 1)
    flag = "@%first st.release.cta.shared.u32 [A+4096], 1;\nld.relaxed.cta.shared.u32 %r20, [A+4096];\n"
    body = "@%first st.shared.u32 [A+4096], 0;\n" + MEET + "ld.shared.u32 %r21, [A];\n" + flag + MEET + "bar.warp.sync 0xffffffff;\n"
    checked(body.replace(MEET, WRITE + MEET, 1), 8)
    check = checkers[0]
    shadow = check.spaces["shared"].shadow
    assert shadow.base == 7 * check.stride
    assert shadow.readers.run_count + len(shadow.readers.waiting) < 8
    assert all(address >= shadow.base for address in check.observations.tokens["shared"])
    assert check.observations.tokens["shared"]
    assert all(cta == 7 for cta, _ in check.named_phases)
    assert check.clocks.lanes.epochs.shape[1] == 64
    assert not check.clocks.clock[: 7 * 64].any()


def test_restarted_shadow() -> None:
    """As a new one at another address, with the rows that it had."""
    shadow = Shadow(1 << 14)
    random = np.random.default_rng(1)
    used = 0
    for base in (0, 1 << 14, 5 << 14):
        if base:
            shadow.restart(base)
        assert not (shadow.state & (WRITTEN | READ)).any()
        for size in (16, 4, 1, 8):
            starts = base + np.unique(random.integers(0, 1 << 10, 40)) * 16
            granules = shadow.locate(starts, size)
            assert not shadow.writer[granules.rows].any() or size != 16
            assert (shadow.addresses(granules.rows)[:: max(int(np.max(granules.repeats)), 1)][:1] == starts[:1]).all()
            assert shadow.first_address(granules) == starts[0] == base + shadow.page(int(starts[0])) * PAGE + starts[0] % PAGE
            shadow.writer[granules.rows] = 7
            shadow.writers.add(granules.rows, granules.rows, np.ones(granules.count, np.int32))
            shadow.note(granules, WRITTEN)
        used = used or shadow.used
        assert shadow.used <= 2 * used
    shadow.restart(0)
    every = shadow.locate(np.arange(0, 1 << 14, 16), 16)
    assert not shadow.writer[every.rows].any()
    assert shadow.writers.listed(every.rows) is None


@pytest.mark.parametrize("ordered", [True, False])
def test_waves_of_clusters(ordered: bool) -> None:
    """Two clusters, one after the other, in each a store into the peer; in the second one the peer reads it with or without a cluster barrier between."""
    drive = Drive()
    check = drive.check = HappensBefore(Geometry(4, 64, 2, STRIDE, STRIDE, 1 << 20, 2))
    for first in (0, 2):
        both = (first, first + 1)
        check.wave_start(first, 2)

        def meet(both: tuple[int, int] = both) -> None:
            tokens = [check.release(drive.site("barrier.cluster.arrive", 10), drive.threads(cta), "cluster") for cta in both]
            for cta in both:
                check.join(drive.site("barrier.cluster.wait", 11), drive.threads(cta), tokens, "cluster")

        meet()
        drive.st(cta=first, target=first + 1, line=20)
        if ordered or not first:
            meet()
        drive.ld(cta=first + 1, line=21)
        meet()
        for cta in both:
            check.thread_exit(drive.site("ret", 30), drive.threads(cta))
    check.finish()
    told = [(one.diagnostic.code, "cluster 1" in str(one.diagnostic)) for one in check.findings.listed()]
    assert told == ([] if ordered else [("S020", True)])


# -- CTAs that meet together


def random_program(seed: int) -> str:
    """Accesses by parts of each CTA to few words, block barriers, warp barriers, named barriers of all and of one warp."""
    random = np.random.default_rng(seed)
    body = ""
    for step in range(14):
        kind = random.random()
        if kind < 0.5:
            body += MEET
            continue
        if kind < 0.56:
            body += "bar.warp.sync 0xffffffff;\n"
            continue
        if kind < 0.62:
            body += random.choice(["bar.sync 1, 64;\n", "barrier.cta.sync.aligned 2;\n"])
            continue
        access = random.choice(
            [WRITE, READ_NEXT, "ld.shared.u32 %r20, [%mine];\n", "st.shared.u32 [%next], 5;\n", "st.shared.u8 [%mine+1], 5;\n"]
        )
        guard = random.choice(["", "setp.lt.u32 %p5, %r1, 32;\n", "setp.gt.u32 %p5, %r2, 3;\n", "setp.eq.u32 %p5, %r1, 7;\n"])
        body += f"{guard}@!%p5 bra S{step};\n{access}S{step}:\n" if guard else access
    return WRITE + MEET + body


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_meeting_together_is_meeting_one_by_one(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same findings, word for word; and those of a single wave."""
    racy = 0
    for seed in range(first, first + 20):
        body = random_program(seed)
        reports = []
        for together, ctas in ((True, 2), (False, 2), (True, 6), (False, 6)):
            with monkeypatch.context() as patch:
                waves(patch, ctas)
                if not together:
                    patch.setattr(HappensBefore, "meet_blocks", lambda *_: False)
                reports.append(checked(body, 6))
        texts = [[str(one.diagnostic) for one in report.findings] for report in reports]
        assert texts[0] == texts[1], f"seed {seed}"
        assert texts[2] == texts[3], f"seed {seed}"
        assert found(reports[0]) == found(reports[2]), f"seed {seed}"
        racy += bool(texts[0])
    assert 2 <= racy <= 18


def test_a_cta_keeps_its_clock(checkers: list[HappensBefore]) -> None:
    """However often the CTAs meet, each has one clock, and a meeting of all of them is one step."""
    report = checked((WRITE + MEET + READ_NEXT + MEET) * 20, 8)
    assert report.verdict == "clean"
    (check,) = checkers
    assert len(check.clocks.rows_of) == 9
    steps = list(check.sync.steps)
    assert len(steps) == 40
    assert all(step.groups == 8 and len(step.threads) == 8 * 64 for step in steps)
    part = steps[3].of_cta(5, 64)
    assert part.threads.tolist() == list(range(320, 384)) and set(part.epochs.tolist()) == {4}
    assert part.of_cta(5, 64) is part


def test_explanations_keep_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "STEPS", 10)
    steps = Steps()
    for number in range(30):
        groups = 4 if number % 2 else 1
        steps.append(Step(None, str(number), np.arange(4), np.zeros(4, np.int32), groups))
    kept = [step.kind for step in steps]
    assert kept == ["26", "27", "28", "29"]
    assert [step.kind for step in reversed(steps)] == kept[::-1]
