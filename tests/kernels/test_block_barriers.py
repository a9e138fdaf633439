"""Block barriers that whole CTAs reach at once are followed for all of them together: findings are those of barriers followed CTA by CTA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl import Pointer, block, f32, fence, kernel, shared, static_range, thread, warp
from fa4dsl.runtime.simulator.check.checker import HappensBefore

CTAS, THREADS = 12, 128


@kernel(threads=THREADS)
def reduced(x: Pointer[f32], y: Pointer[f32], *, without: int, lanes: bool) -> None:
    """A tree in shared memory, without the barrier before step `without`; with `lanes` warps have met on their own and fenced before."""
    tile = shared(f32, THREADS)
    i = thread.index()
    tile[i] = x[block.index() * THREADS + i]
    if lanes:
        warp.sync()
        fence(scope="cta")
    for step in static_range(7):
        if step != without:
            block.sync()
        width = THREADS >> step + 1
        if i < width:
            tile[i] += tile[i + width]
    if without != 7:
        block.sync()
    if i == 64:
        y[block.index()] = tile[0]


def report_of(without: int, lanes: bool, schedule: str, seed: int) -> tuple[str, list[Any], np.ndarray[Any, Any]]:
    x, y = np.arange(CTAS * THREADS, dtype=np.float32) % 5, np.zeros(CTAS, np.float32)
    bound = reduced.bind(without=without, lanes=lanes)
    report = bound.launch(CTAS, [x, y], device="simulator", schedule=schedule, seed=seed).report
    return report.verdict, [finding.diagnostic for finding in report.findings], y


@pytest.mark.parametrize(("schedule", "seed"), [("eager", 0), ("late", 0), ("random", 3)])
@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("without", [-1, 0, 1, 3, 7])
def test_together_and_one_by_one(without: int, lanes: bool, schedule: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[bool] = []
    together = HappensBefore.meet_blocks

    def watched(self: HappensBefore, *arguments: Any) -> bool:
        met.append(together(self, *arguments))
        return met[-1]

    monkeypatch.setattr(HappensBefore, "meet_blocks", watched)
    verdict, findings, y = report_of(without, lanes, schedule, seed)
    monkeypatch.setattr(HappensBefore, "meet_blocks", lambda *_: False)
    again, others, z = report_of(without, lanes, schedule, seed)
    assert any(met) or lanes or schedule == "random"  # what lanes know of each other is looked at CTA by CTA
    assert verdict == again == ("clean" if without < 0 else "error")
    assert [str(item) for item in findings] == [str(item) for item in others]
    assert np.array_equal(y, z)
    if without < 0:
        assert np.array_equal(y, (np.arange(CTAS * THREADS) % 5).reshape(CTAS, THREADS).sum(axis=1))
