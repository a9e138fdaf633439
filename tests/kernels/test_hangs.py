"""Hangs of kernels in the language: the likeliest cause comes first, with the lines of both sides."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl import Pointer, TensorMap, block, elect, f32, i32, kernel, pipeline, role, shared, thread


@kernel
def uneven(source: TensorMap, out: Pointer[f32], fills: i32, uses: i32, *, meet: str):
    """The roles go round a ring by counts of their own, then meet: at the CTA's barrier, or not at all."""
    ring = pipeline(stages=2, slot={"tile": (f32, (1, 32))})
    total = shared(f32, 32)
    block.sync()
    with role("load", warps=1), elect():
        for tile in range(fills):
            with ring.fill() as slot:
                source.load(slot.tile, (tile, 0))
    with role("add", warps=1):
        result = f32(0)
        for _ in range(uses):
            with ring.use() as slot:
                result += slot.tile[0, thread.index() - 32]
        total[thread.index() - 32] = result
    if meet == "block":
        block.sync()
        if thread.index() < 32:
            out[thread.index()] = total[thread.index()]


@pytest.mark.parametrize("meet", ["block", "exit"])
@pytest.mark.parametrize(
    ("fills", "uses", "barrier", "waits", "arrives"),
    [(3, 5, "ring.full", "ring.use", "ring.fill"), (6, 3, "ring.empty", "ring.fill", "ring.use")],
)
def test_one_role_goes_round_more_often(fills: int, uses: int, barrier: str, waits: str, arrives: str, meet: str) -> None:
    source, out = np.ones((6, 32), np.float32), np.zeros(32, np.float32)
    report = uneven.bind(meet=meet).check(1, [source, out, fills, uses], schedules=("late",))[0]
    assert report.verdict == "error"
    finding = report.findings[0].diagnostic
    assert finding.code == "S053", report.text()
    assert f"{barrier}[" in finding.message and "gets no more arrivals" in finding.message
    assert "once more" in finding.mend and "once less" in finding.mend
    shown = report.text()
    assert waits in shown and arrives in shown


@pytest.mark.parametrize("meet", ["block", "exit"])
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
def test_even_rounds_are_silent(meet: str, schedule: str) -> None:
    source, out = np.ones((6, 32), np.float32), np.zeros(32, np.float32)
    report = uneven.bind(meet=meet).check(1, [source, out, 6, 6], schedules=(schedule,))[0]
    assert report.verdict == "clean", report.text()
