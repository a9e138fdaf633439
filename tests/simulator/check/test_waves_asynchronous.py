"""mbarriers, bulk copies and proxy fences of many CTAs at once: findings are those of CTAs that are followed one by one, and one wrong CTA among many is found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "machine"))
from kernels import kernel, launch

from fa4dsl.runtime.simulator import build
from fa4dsl.runtime.simulator.check import together
from fa4dsl.runtime.simulator.check.checker import HappensBefore
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.events import Checker
from fa4dsl.runtime.simulator.run import simulate

HEAD = """
.shared .align 128 .b8 T[512];
.shared .align 16 .b8 A[131072];
.shared .align 8 .b64 F;
.shared .align 8 .b64 G;
.reg .b32 %tile, %mine, %next, %parity;
.reg .pred %first, %done, %here, %low;
shl.b32 %mine, %r1, 2;
mov.u32 %tile, T;
add.u32 %tile, %tile, %mine;
xor.b32 %next, %mine, 128;
mov.u32 %r10, A;
add.u32 %mine, %r10, %mine;
add.u32 %next, %r10, %next;
setp.eq.u32 %first, %r1, 0;
setp.lt.u32 %low, %r1, 32;
mov.u32 %parity, 0;
"""
"""%tile: the thread's word of a tile that bulk copies fill, %mine its word of ordinary data, %next that of the thread in the other warp."""
MEET, FENCE = "bar.sync 0;\n", "fence.proxy.async.shared::cta;\n"
WRITE, READ_NEXT, READ = "st.shared.u32 [%mine], %r4;\n", "ld.shared.u32 %r20, [%next];\n", "ld.shared.u32 %r21, [%tile];\n"
INIT = "@%first mbarrier.init.shared::cta.b64 [F], 1;\n@%first mbarrier.init.shared::cta.b64 [G], 64;\n"
INIT_FENCE = "@%first fence.mbarrier_init.release.cluster;\n"
EXPECT = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [F], 256;\n"
ARRIVE_ONLY = "@%first mbarrier.arrive.shared::cta.b64 _, [F];\n"
COPY = "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [T], [%rd1], 256, [F];\n"
FLIP = "xor.b32 %parity, %parity, 1;\n"
CTAS = 12


def wait(label: str, barrier: str = "F", parity: str = "%parity") -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %done, [{barrier}], {parity};\n@!%done bra {label};\n"


def only(cta: int, body: str, label: str, otherwise: str = "") -> str:
    """`body` in one CTA, `otherwise` in the others."""
    return f"setp.ne.u32 %p7, %r2, {cta};\n@%p7 bra {label};\n{body}bra {label}E;\n{label}:\n{otherwise}{label}E:\n"


def checked(body: str, ctas: int = CTAS, threads: int = 64, **options: Any) -> Report:
    return simulate(kernel(HEAD + body), launch(threads, ctas, words=1024), **options)


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """Every CTA is followed by itself."""
    patch.setattr(HappensBefore, "meet_blocks", lambda *_: False)
    patch.setattr(HappensBefore, "release_each", Checker.release_each)
    patch.setattr(HappensBefore, "join_each", Checker.join_each)
    patch.setattr(HappensBefore, "copies_begin", Checker.copies_begin)
    patch.setattr(together, "fence", lambda *_: False)


def texts(report: Report) -> list[str]:
    return [str(one.diagnostic) for one in report.findings]


def rounds(*bodies: str) -> str:
    return INIT + INIT_FENCE + MEET + "".join(bodies)


def fill(number: int, before_wait: str = "", after: str = READ + FENCE + MEET) -> str:
    return EXPECT + COPY + before_wait + wait(f"W{number}") + FLIP + after


# -- one of many is wrong

FILLS = fill(0) + fill(1)


@pytest.mark.parametrize("cta", [0, 5, CTAS - 1])
@pytest.mark.parametrize(
    ("wrong", "right", "code"),
    [
        # read before the copy is complete
        (EXPECT + COPY + READ + wait("V"), EXPECT + COPY + wait("X") + READ, "S02"),
        # a wait for the other parity: of the phase that has not begun
        (EXPECT + COPY + wait("V", parity="1") + READ, EXPECT + COPY + wait("X", parity="0") + READ, "S050"),
        # and of the one before, which is over at once
        (wait("V", parity="1") + EXPECT + COPY + READ, EXPECT + COPY + wait("X", parity="0") + READ, "S02"),
        # nobody expects the bytes: the arrival alone completes the phase
        (ARRIVE_ONLY + wait("V") + COPY + READ, EXPECT + COPY + wait("X") + READ, "S02"),
        # one warp does not wait
        (EXPECT + COPY + "@%low bra V;\n" + wait("U") + "V:\n" + READ, EXPECT + COPY + wait("X") + READ, "S02"),
        # what was read is overwritten by the copy, with no barrier between
        (EXPECT + COPY + wait("V") + READ + FLIP + EXPECT + COPY + wait("U"), EXPECT + COPY + wait("X") + READ + MEET + FLIP + FENCE + MEET + EXPECT + COPY + wait("Y"), "S02"),
        # what the generic proxy wrote is overwritten by the copy, with no proxy fence between
        ("st.shared.u32 [%tile], 1;\n" + MEET + EXPECT + COPY + wait("V"), "st.shared.u32 [%tile], 1;\n" + FENCE + MEET + EXPECT + COPY + wait("X"), "S021"),
        # the barrier of all threads: read before the other warp has arrived
        (WRITE + "mbarrier.arrive.shared::cta.b64 %rd9, [G];\n" + READ_NEXT + wait("V", "G"), WRITE + "mbarrier.arrive.shared::cta.b64 %rd9, [G];\n" + wait("X", "G") + READ_NEXT, "S02"),
    ],
)  # fmt: skip
def test_one_wrong_cta_among_many(wrong: str, right: str, code: str, cta: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(rounds(right)).verdict == "clean"
    body = rounds(only(cta, wrong, "O", right))
    report = checked(body)
    assert [one.diagnostic.code for one in report.findings if one.diagnostic.code.startswith(code)], report.text()
    assert f"CTA {cta}" in report.text()
    assert not {f"of CTA {other}" for other in range(CTAS) if other != cta and f"of CTA {other}," in report.text()}
    with monkeypatch.context() as patch:
        one_by_one(patch)
        assert texts(checked(body)) == texts(report)


@pytest.mark.parametrize("cta", [0, 5, CTAS - 1])
def test_the_source_of_all_copies_is_written_by_one_cta(cta: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each copy reads 256 bytes, half of which the next CTA's copy reads too; the two CTAs whose copies read the word are named, whoever stores it."""
    copy = "mul.wide.u32 %rd8, %r2, 128;\nadd.u64 %rd8, %rd8, %rd1;\n" + COPY.replace("%rd1", "%rd8")
    body = rounds(EXPECT + copy + wait("W") + READ + only(cta, "@%first st.global.u32 [%rd1+{}], 1;\n", "O"))
    assert checked(body.format(128 * CTAS + 128)).verdict == "clean"
    for place in (128 * cta, 128 * (CTAS // 2)):
        report = checked(body.format(place))
        own = place == 128 * cta and cta == 0
        assert ({one.diagnostic.code[:3] for one in report.findings} or {""}) == ({""} if own else {"S02"}), report.text()
        with monkeypatch.context() as patch:
            one_by_one(patch)
            assert texts(checked(body.format(place))) == texts(report)


def test_copies_begin_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right ones do, in each of the waves; a wrong one among them does not, nor do those whose sizes differ."""
    begun: list[bool] = []
    begin = HappensBefore.copies_begin

    def count(*arguments: Any) -> Any:
        found = begin(*arguments)
        begun.append(found is not None)
        return found

    monkeypatch.setattr(HappensBefore, "copies_begin", count)
    monkeypatch.setattr(build, "SIMULATED_MULTIPROCESSORS", 6)
    assert checked(rounds(FILLS)).verdict == "clean"
    assert begun == [True] * 4
    begun.clear()
    assert checked(rounds(only(8, READ, "O"), FILLS)).verdict == "error"
    assert begun == [True, True, False, True]
    begun.clear()
    sizes = "mov.u32 %r30, 256;\n" + only(3, "mov.u32 %r30, 128;\n", "O") + rounds(FILLS).replace("256", "%r30")
    assert {one.diagnostic.code for one in checked(sizes, ctas=6).findings} == {"S101"}  # half of the tile is never written
    assert begun == []


@pytest.mark.parametrize("cta", [0, 7])
def test_an_expectation_that_is_missing_in_one_cta(cta: int) -> None:
    """Its threads wait for ever for a barrier that has had no arrival; those of the others do not."""
    right = rounds(FILLS)
    assert checked(right).verdict == "clean"
    report = checked(rounds(only(cta, COPY + wait("V"), "O", FILLS)))
    assert report.verdict == "error"
    assert f"CTA {cta}" in report.text()
    assert "F" in report.text()


@pytest.mark.parametrize("cta", [0, 7])
def test_an_init_that_one_cta_does_not_order(cta: int) -> None:
    body = INIT + INIT_FENCE + only(cta, "", "O", MEET) + "mbarrier.arrive.shared::cta.b64 %rd9, [G];\n" + wait("W", "G")
    report = checked(body)
    assert "S036" in {one.diagnostic.code for one in report.findings}
    assert f"CTA {cta}" in report.text()
    assert checked(body.replace(f"%r2, {cta}", f"%r2, {CTAS}")).verdict == "clean"


@pytest.mark.parametrize("issuer", [0, 32])
@pytest.mark.parametrize("cta", [0, 7])
def test_a_fence_for_a_lane_is_kept_over_the_block_barrier(cta: int, issuer: int) -> None:
    """Lane 5 writes, a warp barrier, lane 0 fences, a block barrier, and a thread starts the copy there: in one CTA without the warp barrier."""
    warp = "bar.warp.sync 0xffffffff;\n"
    write = "setp.eq.u32 %p5, %r1, 5;\n@%p5 st.shared.u32 [%tile], 1;\n"
    copy = f"setp.eq.u32 %p6, %r1, {issuer};\n" + (EXPECT + COPY).replace("%first", "%p6") + wait("W") + READ
    right = rounds(write, warp, "@%first " + FENCE, MEET, copy)
    assert checked(right).verdict == "clean"
    wrong = checked(rounds(write, only(cta, "", "O", warp), "@%first " + FENCE, MEET, copy))
    assert [one.diagnostic.code for one in wrong.findings] == ["S021"]
    assert f"CTA {cta}" in wrong.text()
    assert checked(right.replace("@%first " + FENCE, only(cta, "", "O", "@%first " + FENCE))).verdict == "error"


@pytest.mark.parametrize("cta", [0, 7])
def test_a_fence_is_told_by_an_arrival(cta: int) -> None:
    """All write, fence and arrive; who has waited for that starts the copy there: in one CTA without the fence."""
    arrive = "mbarrier.arrive.shared::cta.b64 %rd9, [G];\n" + wait("W", "G") + EXPECT + COPY + wait("V") + READ
    write = "st.shared.u32 [%tile], 1;\n"
    assert checked(rounds(write, FENCE, arrive)).verdict == "clean"
    wrong = checked(rounds(write, only(cta, "", "O", FENCE), arrive))
    assert [one.diagnostic.code for one in wrong.findings] == ["S021"]
    assert f"CTA {cta}" in wrong.text()


@pytest.mark.parametrize("cta", [0, 7])
def test_a_copy_over_what_others_have_read(cta: int) -> None:
    """All read one word, and the thread that was the last of them starts a copy there: in one CTA with no barrier between."""
    last = "setp.eq.u32 %p6, %r1, 63;\n" + (EXPECT + COPY).replace("%first", "%p6") + wait("V") + READ
    first = EXPECT + COPY + wait("W") + FLIP + "ld.shared.u32 %r21, [T];\n" + FENCE
    last = last.replace("%parity", "1")
    assert checked(rounds(first, MEET, last)).verdict == "clean"
    wrong = checked(rounds(first, only(cta, "", "O", MEET), last))
    assert wrong.verdict == "error"
    assert {one.diagnostic.code[:3] for one in wrong.findings} == {"S02"}, wrong.text()
    assert f"CTA {cta}" in wrong.text()


# -- together and one by one


def random_program(seed: int) -> str:
    """Copies, arrivals of all threads, block and warp barriers, proxy fences and accesses, some of which in one CTA only, or in parts of each; about half
    of the programs are careful: what they do is right."""
    random = np.random.default_rng(seed)
    careful = seed % 2 == 0
    body = INIT + (INIT_FENCE if random.random() < 0.5 else "") + (MEET if careful or random.random() < 0.9 else "")
    arrivals = 0
    for step in range(10):
        kind = random.random()
        cta = int(random.integers(6))
        end = FENCE + MEET if careful else random.choice(["", FENCE, FENCE]) + random.choice(["", MEET, MEET, MEET])
        if kind < 0.35:
            parts = [EXPECT, COPY, wait(f"W{step}"), FLIP, READ]
            if random.random() < 0.4:  # each CTA its own bytes, half of which others read
                parts[1] = "mul.wide.u32 %rd8, %r2, 128;\nadd.u64 %rd8, %rd8, %rd1;\n" + COPY.replace("%rd1", "%rd8")
            changed = parts
            if not careful and random.random() < 0.35:  # one of the CTAs does it in another order, or not all of it
                changed = [part for part in parts if random.random() < 0.85 or part in (FLIP, EXPECT)]
                if random.random() < 0.5:
                    changed = [*changed[:2], READ, *changed[2:]]
            if random.random() < 0.5:
                body += only(cta, "".join(changed).replace(f"W{step}", f"V{step}"), f"O{step}", "".join(parts)) + end
            else:
                body += "".join(parts) + end
        elif kind < 0.55:
            follow = wait(f"G{step}", "G", str(arrivals % 2))
            arrivals += 1
            body += WRITE + "mbarrier.arrive.shared::cta.b64 %rd9, [G];\n"
            if not careful and random.random() < 0.3:
                body += only(cta, READ_NEXT + follow.replace(f"G{step}", f"H{step}"), f"O{step}", follow)
            else:
                body += follow
            body += READ_NEXT + end
        elif kind < 0.65:
            body += MEET
        elif kind < 0.75:
            fence = random.choice([FENCE, "fence.proxy.async;\n", "fence.proxy.async.global;\n", "fence.proxy.async.shared::cluster;\n"])
            body += random.choice(["", "@%first ", "@%low "]) + fence
        elif kind < 0.77 and not careful:
            body += only(cta, "@%first st.global.u32 [%rd1+132], 1;\n", f"O{step}")
        elif kind < 0.79:
            body += random.choice(["bar.warp.sync 0xffffffff;\n" + FENCE, "fence.acq_rel.cta;\n"])
        else:
            access = random.choice(
                [WRITE, "ld.shared.u32 %r20, [%mine];\n", *([] if careful else [READ_NEXT, "st.shared.u32 [%tile], 5;\n", READ])]
            )
            guard = random.choice(["", "setp.lt.u32 %p5, %r1, 32;\n", "setp.eq.u32 %p5, %r2, 3;\n", "setp.eq.u32 %p5, %r1, 7;\n"])
            body += f"{guard}@!%p5 bra S{step};\n{access}S{step}:\n" if guard else access
            body += end if careful else ""
    return body


@pytest.mark.parametrize(("schedule", "first"), [("eager", 0), ("late", 10), ("random", 20)])
def test_together_is_one_by_one(schedule: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same findings, word for word."""
    wrong = 0
    for seed in range(first, first + 10):
        body = random_program(seed)
        found = []
        for ctas, alike in ((6, True), (6, False), (2, True), (2, False)):
            with monkeypatch.context() as patch:
                patch.setattr(build, "SIMULATED_MULTIPROCESSORS", ctas)
                if not alike:
                    one_by_one(patch)
                found.append(texts(checked(body, 6, schedule=schedule, seed=seed)))
        assert found[0] == found[1], f"seed {seed}"
        assert found[2] == found[3], f"seed {seed}"
        wrong += bool(found[0])
    assert 2 <= wrong <= 8
