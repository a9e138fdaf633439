"""profile: outputs, JSON and exit statuses; show --map; warnings made errors; the list of all codes."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke
from fa4dsl.runtime.diagnostics import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]
RACY = """
from fa4dsl import Pointer, block, f32, kernel, shared, thread


@kernel(threads=64)
def racy(x: Pointer[f32], y: Pointer[f32]):
    tile = shared(f32, (64, 2), name="tile")
    i = thread.index()
    tile[i, 0] = x[i]
    y[i] = tile[63 - i, 0]
"""


@pytest.fixture
def racy(tmp_path: Path) -> tuple[str, str]:
    """A kernel with a race and a bank conflict, and its launch."""
    file = tmp_path / "profiled_racy.py"
    file.write_text(RACY)
    np.save(tmp_path / "x.npy", np.arange(64, dtype=np.float32))
    launch = {
        "kernel": "racy",
        "grid": [1, 1, 1],
        "block": [64, 1, 1],
        "buffers": {"x": {"file": "x.npy"}, "y": {"bytes": 256}},
        "arguments": [{"buffer": "x"}, {"buffer": "y"}],
        "outputs": {"y": "float32"},
    }
    (tmp_path / "launch.json").write_text(json.dumps(launch))
    return f"{file}:racy", str(tmp_path / "launch.json")


def test_a_library_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, trace = tmp_path / "out.html", tmp_path / "out.json"
    arguments = ["profile", "splitk-combine", "--set", "partitions=2", "--set", "depth=64", "--set", "rows=32", "--set", "tiles=1"]
    assert invoke([*arguments, "--html", str(html), "--trace", str(trace)]) == 0
    printed = capsys.readouterr().out
    assert "clean" in printed and "Warp instructions by role" in printed and str(html) in printed
    page = html.read_text()
    assert page.startswith("<!doctype html>") and "Shared memory over time" in page and "publish" in page
    assert {event["ph"] for event in json.loads(trace.read_text())["traceEvents"]} >= {"M", "X", "s", "f"}


def test_json_of_a_kernel_with_findings(racy: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    kernel, launch = racy
    assert invoke(["profile", kernel, "--launch", launch, "--json"]) == WRONG
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "error" and found["findings"][0]["code"] == "S020"
    assert found["steps"] > 0 and found["cut"] == ""
    conflicts = {item["line"]: item["conflicts"] for item in found["measures"]["bank_conflicts"]}
    # columns of two: lanes i and i + 16 share a bank, in two warps
    assert conflicts == {9: 2, 10: 2}


def test_a_ptx_file(racy: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, launch = racy
    ptx = tmp_path / "racy.ptx"
    assert invoke(["compile", kernel, "-o", str(ptx)]) == 0
    entry = re.search(r"\.entry (\w+)", ptx.read_text())
    assert entry is not None
    described = json.loads(Path(launch).read_text()) | {"kernel": entry.group(1), "dynamic_shared_bytes": 512}
    (tmp_path / "ptx.json").write_text(json.dumps(described))
    capsys.readouterr()
    html = tmp_path / "ptx.html"
    assert invoke(["profile", str(ptx), "--launch", str(tmp_path / "ptx.json"), "--html", str(html)]) == WRONG
    assert "st.shared" in html.read_text() and "Findings" in html.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["profile", "kernel.ptx"], "needs --launch"),
        (["profile", "splitk-combine", "--schedule", "exhaustive"], "a profile is of one"),
        (["profile", "splitk-combine", "--schedule", "lat"], "Did you mean 'late'"),
    ],
)
def test_unusable(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(arguments) == UNUSABLE
    assert words in capsys.readouterr().err


def test_a_page_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["profile", "splitk-combine", "--set", "partitions=2", "--set", "depth=64", "--set", "rows=32", "--set", "tiles=1"]
    assert invoke([*arguments, "--html", str(tmp_path / "nowhere" / "out.html")]) == WRONG
    assert "cannot be written" in capsys.readouterr().err


def test_map_of_shared_memory_and_registers(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", f"{ROOT / 'examples' / 'flash_attention.py'}:attention", "--map"]) == 0
    lines = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]
    rows = {row[3]: row for row in lines if len(row) > 5 and row[0][0].isdigit()}
    assert rows["ring.k"][:7] == ["8,192", "16,384", "1024", "ring.k", "bf16 2 x 64 x 64", "128B", rows["ring.k"][6]]
    assert rows["ring.k"][6].startswith("lines ")
    assert ["multiply", "0-3", "128", "240", "-16", "30,720"] in lines
    assert ["load", "4-7", "128", "24", "-232", "3,072"] in lines


MANUAL = """
from fa4dsl import Pointer, block, bulk_store, elect, f32, kernel, shared, thread, tma


@kernel(threads=128, fences="manual")
def stores(x: Pointer[f32]):
    tile = shared(f32, 128, name="tile")
    tile[thread.index()] = 1.0
    block.sync()
    with elect(warp=0):
        bulk_store(x, tile, bytes=512)
        tma.commit_and_wait()
"""


@pytest.mark.parametrize("option", ["--werror", "--warnings-as-errors"])
def test_warnings_made_errors(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing proxy fence with fences="manual" is a warning; the option makes it an error."""
    file = tmp_path / f"stores_{option.strip('-').replace('-', '_')}.py"
    file.write_text(MANUAL)
    arguments = ["compile", f"{file}:stores", "-o", str(tmp_path / "stores.ptx")]
    assert invoke([option, *arguments]) == WRONG
    assert "C040" in capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert invoke(arguments) == 0
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("C040") == 1


def test_every_code_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The list has every entry once; every code that the source names is an entry."""
    assert invoke(["explain", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted(CATALOGUE)
    named = set()
    for floor in ("fa4dsl", "passes", "runtime"):
        for path in (ROOT / floor).rglob("*.py"):
            named |= set(re.findall(r'"([LCRS]\d{3})"', path.read_text(encoding="utf-8")))
    assert named <= set(listed), named - set(listed)
