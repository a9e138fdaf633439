"""Every example runs, is right (it asserts so itself), and the simulator finds nothing under any schedule."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from fa4dsl import BoundKernel

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NAMES = ("vector_add", "dsmem_rotate", "warp_reduction", "tma_ring", "multicast_ring", "wgmma_gemm", "flash_attention")


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("name", NAMES)
def test_example(name: str, schedule: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    launch, reports = BoundKernel.launch, []

    def watched(self: BoundKernel, grid: Any, arguments: Any, **options: Any) -> Any:
        result = launch(self, grid, arguments, **options, schedule=schedule, seed=7)
        reports.append(result.report)
        return result

    monkeypatch.setattr(BoundKernel, "launch", watched)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="example")["main"]("simulator")
    assert [report.verdict for report in reports] == ["clean"], "\n".join(report.text() for report in reports)
    assert "simulator" in capsys.readouterr().out


@pytest.mark.parametrize("n", [8, 128, 256])
def test_gemm_of_any_width(n: int) -> None:
    runpy.run_path(str(EXAMPLES / "wgmma_gemm.py"), run_name="example")["main"]("simulator", n)
