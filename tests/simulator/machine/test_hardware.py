"""Kernels whose outputs a real H200 gave, under several schedules."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.simulator.launch import load_launch, output_array
from fa4dsl.runtime.simulator.run import simulate

sys.path.insert(0, str(Path(__file__).parent))
from comparer import compare

CORPUS = Path(__file__).parent.parent / "corpus" / "hardware"
CASES = sorted(path.parent.name for path in CORPUS.glob("*/launch.json"))


def test_corpus_is_there() -> None:
    assert len(CASES) >= 19


@pytest.mark.parametrize("schedule", ["eager", "late", "random", "adversarial"])
@pytest.mark.parametrize("case", CASES)
def test_outputs_equal(case: str, schedule: str) -> None:
    folder = CORPUS / case
    launch = load_launch(folder / "launch.json")
    report = simulate((folder / "kernel.ptx").read_text(), launch, schedule=schedule, seed=3, check=False)
    assert report.verdict == "clean", report.text()
    checks = json.loads((folder / "check.json").read_text())
    problems = [
        problem
        for name, check in checks.items()
        for problem in compare(output_array(launch, name), np.load(folder / f"expected/{name}.npy"), check, name)
    ]
    assert not problems


@pytest.mark.parametrize("case", ["cvt_ops", "wgmma_k", "tma_store"])
def test_comparer_sees_a_wrong_value(case: str) -> None:
    folder = CORPUS / case
    for name, check in json.loads((folder / "check.json").read_text()).items():
        expected = np.load(folder / f"expected/{name}.npy")
        wrong = expected.copy().reshape(-1)
        wrong.view(np.uint8).reshape(len(wrong), -1)[0, -1] ^= 0x44
        assert not compare(expected, expected, check, name)
        assert compare(wrong, expected, check, name)


@pytest.mark.parametrize("case", CASES)
def test_correct_kernels_are_silent(case: str) -> None:
    folder = CORPUS / case
    report = simulate((folder / "kernel.ptx").read_text(), load_launch(folder / "launch.json"))
    assert report.verdict == "clean", report.text()
