"""PTX that Triton emitted: right numbers and nothing to find, under every schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.simulator.launch import load_launch
from fa4dsl.runtime.simulator.run import simulate

FOLDER = Path(__file__).resolve().parents[1] / "corpus" / "triton"
SCHEDULES = ["eager", "late", "random", "adversarial"]


def result(name: str, output: str, schedule: str) -> np.ndarray:
    launch = load_launch(FOLDER / f"{name}.launch.json")
    report = simulate((FOLDER / f"{name}.ptx").read_text(), launch, schedule=schedule, seed=1)
    assert report.verdict == "clean", report.text()
    return launch.buffers[output].view(np.float32)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_softmax(schedule: str) -> None:
    x = np.load(FOLDER / "x.npy").astype(np.float64)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    exact = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result("softmax", "o", schedule).reshape(x.shape), exact, rtol=1e-6)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_product_by_wgmma(schedule: str) -> None:
    a, b = (np.load(FOLDER / f"{name}.npy").view(np.float16).astype(np.float64) for name in "ab")
    np.testing.assert_allclose(result("matmul", "c", schedule).reshape(128, 128), a @ b, atol=1e-4)
