"""Every example runs, is right (it asserts so itself), and the simulator finds nothing under any schedule."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from language_running import load_text

from fa4dsl import BoundKernel
from fa4dsl.runtime.diagnostics import Fa4dslError

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NAMES = (
    "vector_add",
    "dsmem_rotate",
    "warp_reduction",
    "tma_ring",
    "multicast_ring",
    "wgmma_gemm",
    "persistent_gemm",
    "pingpong_gemm",
    "flash_attention",
    "causal_attention",
    "cluster_softmax",
    "splitk_decode",
)


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


@pytest.mark.parametrize(
    ("before", "after"), [("ring.use(behind=1)", "ring.use()"), ("wgmma_wait(pending=1)", "wgmma_wait(pending=2)")], ids=["freed", "waited"]
)
def test_a_slot_freed_while_its_product_runs_is_reported(before: str, after: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "persistent_gemm.py").read_text()
    assert before in text
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text.replace(before, after)).gemm.compile()
    assert [item.code for item in caught.value.diagnostics] == ["C124"]


def test_roles_that_take_other_tiles_of_a_rank_are_reported(tmp_path: Path) -> None:
    """The bound less the CTA's rank is followed for each rank: one role starts a tile later than the other."""
    text = (EXAMPLES / "splitk_decode.py").read_text()
    loop = "for tile in range(rank, tiles, CONFIG.partitions):\n            with ring.fill"
    assert loop in text
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text.replace(loop, loop.replace("rank,", "rank + 1,"))).decode.compile()
    assert [item.code for item in caught.value.diagnostics] == ["C105"]
