"""run: the main job from the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke
from fa4dsl.kernels import combine_case

SMALL = ["--device", "sim", "--partitions", "2", "--depth", "64", "--rows", "5", "--tiles", "1"]
KEYS = {"kernel", "device", "partitions", "depth", "rows", "tiles", "max_abs_error", "tolerance", "ok", "verdict", "seconds"}


def test_right_result_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-combine", *SMALL]) == 0
    text = capsys.readouterr().out
    for words in ("simulator", "2 x 1 x 1", "bound", "clean", "right", "P=2, D=64, 5 rows, 1 tile, 1 head"):
        assert words in text


def test_right_result_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-combine", *SMALL, "--schedule", "random", "--seed", "4", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) >= KEYS
    assert shown["ok"] is True and shown["verdict"] == "clean" and shown["partitions"] == 2 and shown["rows"] == 5
    assert 0 < shown["max_abs_error"] < 0.1 and shown["seconds"] > 0


def test_wrong_result_is_told_by_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    exact = combine_case.combine_reference
    monkeypatch.setattr(combine_case, "combine_reference", lambda inputs: exact(inputs) + 1.0)
    assert invoke(["run", "splitk-combine", *SMALL]) == WRONG
    assert "WRONG" in capsys.readouterr().out
    assert invoke(["run", "splitk-combine", *SMALL, "--json"]) == WRONG
    assert json.loads(capsys.readouterr().out)["ok"] is False


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--rows", "129"], "L096"),
        (["--rows", "0"], "L096"),
        (["--partitions", "3"], "L065"),
        (["--depth", "65"], "L066"),
        (["--tiles", "0"], "L097"),
        (["--heads", "0"], "L097"),
    ],
)
def test_what_the_kernel_does_not_take(options: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-combine", "--device", "sim", *options]) == WRONG
    text = capsys.readouterr().err
    assert f"error[{code}]" in text and "mend:" in text


def test_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-combin"]) == UNUSABLE
    assert "Did you mean 'splitk-combine'?" in " ".join(capsys.readouterr().err.split())
    assert invoke(["run", "splitk-combine", "--device", "tpu"]) == UNUSABLE
    assert invoke(["run", "splitk-combine", "--rows", "many"]) == UNUSABLE
    assert invoke(["run", "splitk-combine", "--schedule", "random:3"]) == UNUSABLE
    assert "--seed" in capsys.readouterr().err


def test_no_gpu_is_a_catalogued_error() -> None:
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    words = [sys.executable, "-m", "fa4dsl", "run", "splitk-combine", "--device", "cuda"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == WRONG and done.stderr.startswith("error[R0") and "Traceback" not in done.stderr
