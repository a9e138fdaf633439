"""The benchmark of the checks' cost: its rows and its table, on small kernels. What it measures is not asserted."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "checking_overhead.py"


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT), run_name="benchmark")
    script["main"](["--small", "--repeat", "1"])
    head, rule, *rows = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["kernel", "design", "all checks, s", "numbers only, s", "ratio"]
    assert set(rule) == {"|", "-"}
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[1] for row in cells] == ["pull", "pull_wide", "push", "push_bulk"]
    for row in cells:
        assert row[0] == "combine P=2 D=64, 4 rows, 1 tiles"
        assert all(float(cell) >= 0 for cell in row[2:])


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT), run_name="benchmark")
    script["main"](["--small", "--repeat", "1", "--only", "push_bulk", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert set(row) == {"kernel", "design", "checked", "numbers_only", "ratio"}
    assert row["ratio"] == pytest.approx(row["checked"] / row["numbers_only"])


def test_kernels_of_the_corpus_are_found() -> None:
    cases = list(runpy.run_path(str(SCRIPT), run_name="benchmark")["corpus"]())
    assert len(cases) >= 20
    assert all(case.launch.buffers for case in cases)
