"""What C++ needs besides arithmetic, in nvcc's PTX of three builds: calls through pointers, recursion, printf, assert, constants, local arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument
from fa4dsl.runtime.simulator.run import simulate

FOLDER = Path(__file__).resolve().parents[1] / "corpus" / "nvcc"
THREADS, N = 64, 3


def launch(values: np.ndarray, kernel: str = "k") -> Launch:
    buffers = {"in": values.view(np.uint8).copy(), "out": np.full(4 * THREADS, 255, np.uint8)}
    arguments: list = [PointerArgument("in"), PointerArgument("out"), ScalarArgument(N, 4)]
    return Launch(kernel, (1, 1, 1), (THREADS, 1, 1), (1, 1, 1), 4 * THREADS, buffers, arguments, {"out": "int32"})


def expected(values: np.ndarray) -> np.ndarray:
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    stepped = [(v + 1 if v & 1 else v - 1) * 5 for v in values.tolist()]
    calls = (lambda v: v + 7, lambda v: v * 2, lambda v: v ^ 0x55)
    switch = (3, 1, 4, 1, 5)
    rows = enumerate(values.tolist())
    return np.array([calls[t % 3](stepped[t ^ 1]) + fibonacci[t % 9] + 11 + N + 2 + THREADS + switch[v % 5] for t, v in rows], np.int32)


@pytest.mark.parametrize("schedule", ["eager", "random"])
@pytest.mark.parametrize("build", ["O3", "O0", "G"])
def test_every_build_computes_the_same(build: str, schedule: str) -> None:
    values = np.random.default_rng(8).integers(0, 1000, THREADS, np.int32)
    run = launch(values)
    report = simulate((FOLDER / f"language.{build}.ptx").read_text(), run, schedule=schedule, seed=2)
    assert report.verdict == "clean", report.text()
    np.testing.assert_array_equal(run.buffers["out"].view(np.int32), expected(values))


@pytest.mark.parametrize("build", ["O3", "O0", "G"])
def test_failed_assert_is_told(build: str) -> None:
    values = np.arange(THREADS, dtype=np.int32)
    values[5] = -1
    report = simulate((FOLDER / f"language.{build}.ptx").read_text(), launch(values))
    (finding,) = report.findings
    assert finding.kind == "trap"
    assert "thread 5" in finding.diagnostic.message


def test_kernel_is_chosen_by_name() -> None:
    values = np.zeros(THREADS, np.int32)
    run = launch(values, "other")
    run.arguments, run.block = [PointerArgument("out")], (32, 1, 1)
    report = simulate((FOLDER / "language.O3.ptx").read_text(), run)
    assert report.verdict == "clean"
    assert run.buffers["out"].view(np.int32)[0] == -1
    with pytest.raises(Fa4dslError) as caught:
        simulate((FOLDER / "language.O3.ptx").read_text(), launch(values, "nobody"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "S006"
    assert "k, other" in diagnostic.message or "other, k" in diagnostic.message
