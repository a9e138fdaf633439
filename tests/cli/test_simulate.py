"""simulate and check: outputs, verdicts, exit statuses, JSON, schedules, and input that cannot be run."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke

KERNELS = """
    from fa4dsl import Pointer, block, f32, kernel, shared, thread

    @kernel(threads=64)
    def reverse(x: Pointer[f32], y: Pointer[f32]):
        tile = shared(f32, 64)
        i = thread.index()
        tile[i] = x[i]
        block.sync()
        y[i] = tile[63 - i]

    @kernel(threads=64)
    def racy(x: Pointer[f32], y: Pointer[f32]):
        tile = shared(f32, 64)
        i = thread.index()
        tile[i] = x[i]
        y[i] = tile[63 - i]
"""
STORE_LINE, LOAD_LINE = 16, 17
"""Lines of `racy` in the file."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """reverse.ptx (right), racy.ptx (a barrier is missing), the file they come from, and a launch for each."""
    place = tmp_path_factory.mktemp("simulate")
    source = place / "reverse_kernels.py"
    source.write_text(textwrap.dedent(KERNELS))
    np.save(place / "x.npy", np.arange(64, dtype=np.float32))
    for name in ("reverse", "racy"):
        assert invoke(["compile", f"{source}:{name}", "-o", str(place / f"{name}.ptx")]) == 0
        launch = {
            "kernel": name,
            "grid": [1, 1, 1],
            "block": [64, 1, 1],
            "dynamic_shared_bytes": 256,
            "buffers": {"x": {"file": "x.npy"}, "y": {"bytes": 256, "fill": 255}},
            "arguments": [{"buffer": "x"}, {"buffer": "y"}],
            "outputs": {"y": "float32"},
        }
        (place / f"{name}.json").write_text(json.dumps(launch))
    return place


def simulate(folder: Path, name: str, *options: str) -> int:
    return invoke(["simulate", str(folder / f"{name}.ptx"), "--launch", str(folder / f"{name}.json"), *options])


def printed_object(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_clean_run_writes_its_outputs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "reverse", "--output", str(tmp_path / "new" / "out"), "--json") == 0
    report = printed_object(capsys)
    assert report["verdict"] == "clean" and report["findings"] == [] and report["schedule"] == "eager" and report["seconds"] > 0
    assert (np.load(tmp_path / "new" / "out" / "y.npy") == np.arange(64, dtype=np.float32)[::-1]).all()


def test_fault_is_named_with_lines_and_mend(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "racy", "--json") == WRONG
    report = printed_object(capsys)
    assert report["verdict"] == "error"
    finding = report["findings"][0]
    assert {"code", "kind", "message", "lines", "mend"} <= set(finding)
    assert finding["kind"] == "race" and finding["mend"]
    assert {STORE_LINE, LOAD_LINE} <= {line for _, line in finding["lines"]}
    assert simulate(folder, "racy") == WRONG
    text = capsys.readouterr().out
    assert f"error[{finding['code']}]" in text and "y[i] = tile[63 - i]" in text and "mend:" in text


def test_measures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "reverse", "--measure", "--json") == 0
    assert printed_object(capsys)["measures"]["bytes"]["global.write"] == 256
    assert simulate(folder, "reverse", "--measure") == 0
    assert "global.write" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("schedule", "replay"), [("late", "late"), ("random:7", "random (seed 7)"), ("adversarial:2", "adversarial (seed 2)")]
)
def test_schedule_is_named_in_the_report(folder: Path, schedule: str, replay: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "reverse", "--schedule", schedule, "--json") == 0
    assert printed_object(capsys)["schedule"] == replay


@pytest.mark.parametrize(("given", "words"), [("lat", "Did you mean 'late'?"), ("random:x", "must be a number"), ("", "is not a schedule")])
def test_unknown_schedule(folder: Path, given: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate(folder, "reverse", "--schedule", given) == UNUSABLE
    assert words in " ".join(capsys.readouterr().err.split())


def test_unknown_instruction_is_named_and_incomplete(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "reverse.ptx").read_text().replace("bar.sync", "frobnicate.sync")
    assert "frobnicate" in text
    (tmp_path / "odd.ptx").write_text(text)
    assert invoke(["simulate", str(tmp_path / "odd.ptx"), "--launch", str(folder / "reverse.json"), "--json"]) == UNUSABLE
    report = printed_object(capsys)
    assert report["verdict"] == "incomplete"
    assert report["findings"][0]["code"] == "S003" and "frobnicate" in report["findings"][0]["message"]


BROKEN_LAUNCHES = {
    "not JSON": "{",
    "no kernel of that name": '{"kernel": "revers", "grid": [1,1,1], "block": [64,1,1]}',
    "no arguments": '{"kernel": "reverse", "grid": [1,1,1], "block": [64,1,1]}',
    "a missing file": '{"kernel": "reverse", "grid": [1,1,1], "block": [64,1,1], "buffers": {"x": {"file": "gone.npy"}}}',
    "a path that leads out": '{"kernel": "reverse", "grid": [1,1,1], "block": [64,1,1], "buffers": {"x": {"file": "../x.npy"}}}',
    "a block that is too large": '{"kernel": "reverse", "grid": [1,1,1], "block": [4096,1,1]}',
}


@pytest.mark.parametrize("text", BROKEN_LAUNCHES.values(), ids=BROKEN_LAUNCHES)
def test_a_launch_that_cannot_be_used(folder: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    launch = tmp_path / "launch.json"
    launch.write_text(text)
    words = ["simulate", str(folder / "reverse.ptx"), "--launch", str(launch)]
    assert invoke(words) == UNUSABLE
    text = capsys.readouterr().err
    assert text.startswith("error[S00") and "mend:" in text and "Traceback" not in text
    assert invoke([*words, "--json"]) == UNUSABLE
    report = printed_object(capsys)
    assert report["verdict"] == "incomplete" and report["findings"][0]["code"].startswith("S00")


@pytest.mark.parametrize("data", [b"", b"not PTX at all", b"\x7fELF\x02\x01\xff\xfe\x80", b".version 8.6\n.target sm_90a\n???"])
def test_files_that_are_no_ptx(folder: Path, tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file.ptx"
    file.write_bytes(data)
    assert invoke(["simulate", str(file), "--launch", str(folder / "reverse.json")]) == UNUSABLE
    assert capsys.readouterr().err.startswith("error[S0")


def test_the_launch_may_stand_in_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = json.dumps(json.loads((folder / "racy.json").read_text()), indent=1).splitlines()
    file = folder / "described.ptx"
    file.write_text("".join(f"// launch: {line}\n" for line in lines) + (folder / "racy.ptx").read_text())
    assert invoke(["simulate", str(file), "--json"]) == WRONG
    assert printed_object(capsys)["findings"][0]["code"] == "S020"

    file.write_text(file.read_text().replace('"kernel"', '"kernels"', 1))
    assert invoke(["simulate", str(file)]) == UNUSABLE
    assert "unknown key 'kernels'" in capsys.readouterr().err
    file.write_text("// as a comment\n" + file.read_text().replace("// launch: {", "// launch: {{", 1))
    assert invoke(["simulate", str(file)]) == UNUSABLE
    assert "at line 2, column" in capsys.readouterr().err, "a line of the PTX file"
    assert invoke(["simulate", str(folder / "racy.ptx")]) == UNUSABLE
    assert "--launch" in capsys.readouterr().err


def test_check_runs_every_schedule_and_gives_one_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kernel in (f"{folder / 'reverse_kernels.py'}:reverse", str(folder / "reverse.ptx")):
        words = ["check", kernel, "--launch", str(folder / "reverse.json"), "--schedules", "eager,late,random:3", "--json"]
        assert invoke(words) == 0
        report = printed_object(capsys)
        assert report["verdict"] == "clean" and report["runs"] == ["eager", "late", "random (seed 3)"]
    words = ["check", f"{folder / 'reverse_kernels.py'}:racy", "--launch", str(folder / "racy.json"), "--json"]
    assert invoke(words) == WRONG
    findings = printed_object(capsys)["findings"]
    assert len(findings) == len({(item["code"], str(item["lines"])) for item in findings}), "each finding once"


def test_check_of_a_library_kernel_brings_its_own_launch(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--set", "partitions=2", "--set", "depth=64", "--set", "tiles=1"]
    assert invoke(["check", "splitk-combine", "--schedules", "eager,late", *small]) == 0
    assert "clean" in capsys.readouterr().out


def test_check_needs_to_know_on_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", str(folder / "reverse.ptx")]) == UNUSABLE
    assert "--launch" in capsys.readouterr().err
    assert invoke(["check", "splitk-combine", "--schedules", ","]) == UNUSABLE
    assert invoke(["check", "splitk-combin"]) == UNUSABLE


SMALL = {
    "S005": ".reg .b32 %r<2>;\nmov.u32 %r1, nowhere;\nret;",
    "S050": ".reg .pred %p;\n.shared .align 8 .b64 bar;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;\n@!%p bra W;\nret;",
}


@pytest.mark.parametrize("code", SMALL)
def test_small_programs(tmp_path: Path, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(f".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n{SMALL[code]}\n}}\n")
    (tmp_path / "k.json").write_text('{"kernel": "k", "grid": [1, 1, 1], "block": [1, 1, 1]}')
    assert simulate(tmp_path, "k", "--json") in (WRONG, UNUSABLE)
    assert code in {finding["code"] for finding in printed_object(capsys)["findings"]}
