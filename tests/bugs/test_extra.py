"""More faults, twins and correct kernels, of kinds that the corpus does not hold. Each fault is tried under two schedules, or those that its first
line names, each correct kernel under four."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from extra_support import Case, cases, complaint, expected, run

CASES = cases()


@pytest.mark.parametrize("case", [case for case in CASES if case.kind != "none"], ids=str)
def test_fault_is_reported(case: Case) -> None:
    for schedule, seed in case.meta.get("schedules", (("eager", 0), ("random", 2))):
        report, _ = run(case, "fault", schedule, seed)
        assert complaint(report, case) == "", f"{schedule} {seed}: {report.text()}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_correct_kernel_is_silent(case: Case) -> None:
    for schedule, seed in (("eager", 0), ("late", 0), ("random", 1), ("adversarial", 2)):
        report, launch = run(case, "twin", schedule, seed)
        assert report.verdict == "clean", f"{schedule} {seed}: {report.text()}"
        words = expected(case)
        if words is not None and "close" in case.meta:  # sums of rounded probabilities: the order of the addends is the tensor cores' own
            found = launch.buffers["out"].view(np.float32)[: words.size]
            np.testing.assert_allclose(found, words.view(np.float32), rtol=0, atol=case.meta["close"])
        elif words is not None:
            np.testing.assert_array_equal(launch.buffers["out"].view(np.uint32)[: words.size], words)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("multicast_expects_own_half", "S035"),
        ("arrive_beyond_count", "S042"),
        ("wgmma_first_fence_missing", "S048"),
        ("old_token", "S049"),
        ("two_arrivers_one_counted", "S040"),
        ("multicast_halves_expect_one", "S052"),
        ("semaphore_without_barrier", "S027"),
    ],
)
def test_fault_has_its_own_code(name: str, code: str) -> None:
    report, _ = run(next(case for case in CASES if str(case) == name), "fault", "eager", 0)
    assert code in [finding.diagnostic.code for finding in report.findings]
