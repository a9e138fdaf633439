"""Kernels written in the language: the examples and the library are silent, and a fault shows the author's own line and names."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from fa4dsl import BoundKernel, Kernel, Pointer, block, cluster, elect, f32, kernel, mbarrier, shared, thread
from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
from fa4dsl.passes.checks import run_checks
from fa4dsl.runtime.diagnostics import Diagnostic

EXAMPLES = sorted((Path(__file__).resolve().parent.parent.parent.parent / "examples").glob("*.py"))


DECIDED_BY_RUNS = {"pingpong_gemm"}
"""Which slots a warpgroup reads there depends on a run-time number of steps: the checks say in notes that they do not follow it."""


def findings(bound: BoundKernel) -> list[Diagnostic]:
    traced = bound.trace()
    with traced.context:
        return run_checks(traced.module)


def load(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "removed_fence"], ids=lambda path: path.stem)
def test_examples_are_silent(path: Path) -> None:
    found = [item for item in load(path).values() if isinstance(item, Kernel)]
    assert found
    for item in found:
        told = findings(item.bind())
        assert path.stem in DECIDED_BY_RUNS or told == []
        assert {(note.severity, note.code) for note in told} <= {("review", "C131"), ("review", "C133")}


@pytest.mark.parametrize("depth", [64, 128])
@pytest.mark.parametrize("partitions", [2, 4, 8, 16])
@pytest.mark.parametrize("rows", [32, 128])
def test_the_combine_is_silent(partitions: int, depth: int, rows: int) -> None:
    found = findings(splitk_combine.bind(c=CombineConfig(partitions=partitions, depth=depth, rows=rows)))
    assert [item.code for item in found] == (["C142"] if partitions == 16 else [])


@kernel(threads=128)
def counts_wrong(out: Pointer[f32]):
    ready = mbarrier(128, name="ready")
    block.sync()
    with elect(warp=0):
        ready.arrive()  # one arrival
    ready.wait()
    out[thread.index()] = 1.0


@kernel(threads=128, cluster=2)
def leaves_early(out: Pointer[f32]):
    stage = shared(f32, (128,), name="stage")
    stage[thread.index()] = 1.0
    cluster.sync()
    out[thread.index()] = stage.on(1 - cluster.rank())[thread.index()]  # the peer may be gone


@pytest.mark.parametrize(
    ("faulty", "code", "words", "line"),
    [
        (counts_wrong, "C100", "'ready' is declared for 128 arrivals", "one arrival"),
        (leaves_early, "C121", "'stage'", "the peer may be gone"),
    ],
)
def test_faults_show_the_authors_line(faulty: Kernel, code: str, words: str, line: str) -> None:
    found = findings(faulty.bind())
    assert [item.code for item in found] == [code]
    assert words in found[0].message
    lines = Path(__file__).read_text().splitlines()
    assert any(line in lines[frame.location.line - 1] for frame in found[0].frames if frame.location.file == __file__)
