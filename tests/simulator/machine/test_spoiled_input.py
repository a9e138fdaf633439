"""`fa4dsl simulate` on spoiled files: one JSON object with catalogue codes and the documented exit status, whatever it is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fa4dsl.cli.app import invoke
from fa4dsl.runtime.diagnostics.catalogue import CATALOGUE

CASE = Path(__file__).resolve().parents[2] / "bugs" / "corpus" / "b22_release_before_wgmma_wait"
VALUES: tuple[Any, ...] = (None, -1, "x", [], {}, [0, 0], [10**12, 5, 1], [1.5, 1, 1], 10**30, 1.5, True)


def verdict(folder: Path, ptx: bytes, launch: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Runs it, and checks what holds for every outcome."""
    (folder / "kernel.ptx").write_bytes(ptx)
    (folder / "launch.json").write_text(json.dumps(launch))
    words = ["simulate", str(folder / "kernel.ptx"), "--launch", str(folder / "launch.json"), "--output", str(folder / "out"), "--json"]
    status = invoke(words)
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert status == {"clean": 0, "review": 1, "error": 1, "incomplete": 2}[report["verdict"]], report
    assert all(finding["code"] in CATALOGUE and finding["mend"] for finding in report["findings"])
    assert (report["verdict"] == "clean") == (not report["findings"])
    assert "Traceback" not in printed.err
    assert "internal error" not in printed.err
    return str(report["verdict"])


@pytest.fixture
def launch(tmp_path: Path) -> dict[str, Any]:
    for name in ("a.npy", "b.npy"):
        (tmp_path / name).write_bytes((CASE / name).read_bytes())
    content: dict[str, Any] = json.loads((CASE / "twin.launch.json").read_text())
    return content


@pytest.fixture(scope="module")
def ptx() -> bytes:
    return (CASE / "twin.ptx").read_bytes()


def test_cut_and_foreign_ptx(tmp_path: Path, launch: dict[str, Any], ptx: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, ptx, launch, capsys) == "clean"
    noise = np.random.default_rng(0).integers(0, 256, 2000, np.uint8).tobytes()
    for spoiled in (b"", ptx[:100], ptx[: len(ptx) // 2], ptx[: len(ptx) * 3 // 4], ptx[:-400], noise, b"\x7fELF" + bytes(100)):
        assert verdict(tmp_path, spoiled, launch, capsys) == "incomplete"


def test_spoiled_descriptions(tmp_path: Path, launch: dict[str, Any], ptx: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    mapped = launch["arguments"][0]["tensor_map"]
    for place in (launch, mapped, launch["arguments"][2], launch["buffers"]["a"], launch["buffers"]["out"]):
        for key in list(place):
            good = place.pop(key)
            verdict(tmp_path, ptx, launch, capsys)
            for value in VALUES:
                place[key] = value
                verdict(tmp_path, ptx, launch, capsys)
            place[key] = good
    assert verdict(tmp_path, ptx, launch, capsys) == "clean"


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0, np.float32),
        np.float32(3),
        np.array(["a", "bb"]),
        np.zeros(3, [("a", "i4"), ("b", "f4")]),
        np.asfortranarray(np.ones((4, 5))),
    ],
    ids=["empty", "scalar", "words", "records", "fortran"],
)
def test_arrays_of_other_sizes(array: Any, tmp_path: Path, launch: dict[str, Any], ptx: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "a.npy", array)
    assert verdict(tmp_path, ptx, launch, capsys) in ("error", "incomplete")  # too small for its map, or no array at all


def test_cut_array(tmp_path: Path, launch: dict[str, Any], ptx: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.npy").write_bytes((CASE / "a.npy").read_bytes()[:500])
    assert verdict(tmp_path, ptx, launch, capsys) == "incomplete"
