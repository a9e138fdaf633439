"""Kernels of the library without a launch file: check, profile, show, opt and compile take each of them, and --set says what it is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fa4dsl.cli.app import UNUSABLE, invoke
from fa4dsl.cli.kernels import LIBRARY
from fa4dsl.cli.library_runs import RUNS
from fa4dsl.cli.run import command

DECODE = ["splitk-decode", "--set", "lengths=130,7", "--set", "depth=64", "--set", "partitions=2"]


def test_every_kernel_of_the_library_can_be_run() -> None:
    assert set(LIBRARY) == set(RUNS) == set(command.commands)


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", *DECODE, "--set", "page=64", "--set", "lse=1", "--schedules", "late,random:3", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["verdict"] == "clean" and shown["runs"] == ["late", "random (seed 3)"]


def test_one_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--set", "lengths=70", "--set", "depth=64", "--set", "dependent=True", "--schedules", "eager"]
    assert invoke(["check", "splitk-decode", *arguments]) == 0
    assert "splitk_decode: clean" in capsys.readouterr().out


def test_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html, trace = tmp_path / "out.html", tmp_path / "out.json"
    assert invoke(["profile", *DECODE, "--html", str(html), "--trace", str(trace)]) == 0
    printed = capsys.readouterr().out
    assert "clean" in printed and "Warp instructions by role" in printed and "values.full[0]" in printed
    assert "Shared memory over time" in html.read_text()
    assert json.loads(trace.read_text())["traceEvents"]


def test_stages_and_artifacts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "partitions=4", "--set", "depth=64", "--set", "stages=2"]
    assert invoke(["show", "splitk-decode", *options]) == 0
    assert "st.async" in capsys.readouterr().out
    assert invoke(["opt", "place-shared-memory", "splitk-decode", *options]) == 0
    assert "keys.full" in capsys.readouterr().out
    assert invoke(["compile", "splitk-decode", *options, "-o", str(tmp_path / "decode.fa4")]) == 0
    assert "cluster of 4 x 1 x 1" in capsys.readouterr().out and (tmp_path / "decode.fa4").stat().st_size > 0


@pytest.mark.parametrize(
    ("kernel", "setting", "words"),
    [
        ("splitk-decode", "leng=5", "Did you mean 'lengths'?"),
        ("splitk-decode", "lengths=many", "lengths is whole numbers parted by commas, not 'many'"),
        ("splitk-decode", "lengths=5,True", "lengths is whole numbers parted by commas"),
        ("splitk-decode", "lengths=", "lengths is whole numbers parted by commas"),
        ("splitk-decode", "group=8.0", "group is a whole number, not 8.0"),
        ("splitk-decode", "group=True", "group is a whole number, not True"),
        ("splitk-decode", "lse=yes", "lse is True or False, not 'yes'"),
        ("splitk-decode", "device=cuda", "has no argument 'device'"),
        ("splitk-combine", "seed=3", "has no argument 'seed'"),
        ("splitk-combine", "rows=many", "rows is a whole number, not 'many'"),
        ("splitk-combine", "nothing=3", "a run of splitk-combine has no argument 'nothing'"),
        ("splitk-combine", "swizzle=64b", "swizzle is one of none, 32B, 64B, 128B, not '64b'. Did you mean '64B'?"),
    ],
)
@pytest.mark.parametrize("name", ["check", "profile"])
def test_settings_that_are_none(name: str, kernel: str, setting: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([name, kernel, "--set", setting]) == UNUSABLE
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("kernel", "setting", "code"),
    [
        ("splitk-decode", "group=33", "L212"),
        ("splitk-decode", "page=48", "L212"),
        ("splitk-decode", "lengths=()", "L212"),
        ("splitk-decode", "lengths=(5,-1)", "L212"),
        ("splitk-combine", "design=pul", "L200"),
    ],
)
def test_values_a_kernel_refuses(kernel: str, setting: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", kernel, "--schedules", "eager", "--set", setting]) == UNUSABLE
    assert f"error[{code}]" in capsys.readouterr().err
