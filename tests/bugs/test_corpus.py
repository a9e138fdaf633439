"""Faulty kernels, their correct twins, and correct kernels that are easy to flag by mistake; PTX from nvcc.

A fault is reported if one finding has the right kind, names a line of every group and prescribes the mend. A twin is silent and computes what it should,
under every schedule.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import CORPUS, SCHEDULES, Case, complaint, corpus_faults, corpus_twins, own_cases, run_corpus, run_own

FAULTS = corpus_faults()
OWN_FAULTS = [case for case in own_cases() if case.kind != "none"]


def short(value: object) -> str:
    return value.name if isinstance(value, Case) else str(value)


@pytest.mark.parametrize("case", FAULTS, ids=short)
def test_fault_of_the_corpus_is_reported(case: Case) -> None:
    for schedule, seed in SCHEDULES:
        report, _ = run_corpus(case.name, "fault", schedule, seed)
        if case.name == "b27_multicast_refill" and any(f.diagnostic.code == "S052" for f in report.findings):
            # Rank 1 was so late that its barrier got all three refills in one phase: it hangs before the reads that the refill races with.
            assert report.verdict == "error"
            assert any(f.kind == "race" and "line 15" in f.diagnostic.message for f in report.findings)
            continue
        assert complaint(report, case) == "", f"{schedule} {seed}: {report.text()}"


@pytest.mark.parametrize("name", corpus_twins())
def test_twin_of_the_corpus_is_silent(name: str) -> None:
    for schedule, seed in SCHEDULES:
        report, launch = run_corpus(name, "twin", schedule, seed)
        assert report.verdict == "clean", f"{schedule} {seed}: {report.text()}"
        for output, dtype in launch.outputs.items():
            expected = np.load(CORPUS / name / f"expected.{output}.npy")
            np.testing.assert_array_equal(launch.buffers[output].view(dtype), expected.view(dtype).reshape(-1))


@pytest.mark.parametrize("case", OWN_FAULTS, ids=short)
def test_fault_is_reported(case: Case) -> None:
    for schedule, seed in SCHEDULES[:6]:
        report, _ = run_own(case, "fault", schedule, seed)
        assert complaint(report, case) == "", f"{schedule} {seed}: {report.text()}"


@pytest.mark.parametrize("case", own_cases(), ids=short)
def test_twin_is_silent(case: Case) -> None:
    for schedule, seed in SCHEDULES[:6]:
        report, _ = run_own(case, "twin", schedule, seed)
        assert report.verdict == "clean", f"{schedule} {seed}: {report.text()}"


def test_report_as_json() -> None:
    report, _ = run_corpus("b01_nofence", "fault", "random", 3)
    result = json.loads(json.dumps(report.to_dict()))
    assert result["verdict"] == "error"
    assert result["schedule"] == "random (seed 3)"
    (finding,) = result["findings"]
    assert finding["code"] == "S021"
    assert finding["kind"] == "proxy"
    assert ["fault.cu", 6] in finding["lines"]
    assert "covers the paths" in result["covers"]


def test_one_root_cause_is_told_once() -> None:
    for case in FAULTS:
        report, _ = run_corpus(case.name, "fault", "eager", 0)
        assert len(report.findings) <= 2, report.text()
