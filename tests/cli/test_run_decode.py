"""run splitk-decode; and the kernels that run knows, each with options of its own."""

from __future__ import annotations

import json

import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke
from fa4dsl.cli.kernels import LIBRARY
from fa4dsl.kernels import decode_case

SMALL = ["run", "splitk-decode", "--device", "sim", "--lengths", "130,7", "--depth", "64"]


def test_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-decode", "--device", "sim"]) == 0
    text = capsys.readouterr().out
    for words in ("simulator", "measured on", "8 x 1 x 1, grid 8 x 1 x 2", "2 sequences of 1000 and 77 keys", "bound", "clean", "right"):
        assert words in text


def test_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--key-heads", "2", "--group", "3", "--partitions", "2", "--clusters", "2", "--stages", "2", "--page", "64", "--lse"]
    assert invoke([*SMALL, *options, "--schedule", "late"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "variant P=2, 2 clusters, 2 stages: asked for",
        "options bf16 in pages of 64 rows in any order, LSE",
        "cluster 2 x 1 x 1, grid 4 x 2 x 2",
        "problem 2 sequences of 130 and 7 keys, 2 key heads of 3 query heads, D=64, seed 0",
    ):
        assert words in text


@pytest.mark.parametrize(("lengths", "words"), [("1", "1 sequence of 1 key,"), ("3,0,5,1,1,1,9", "7 sequences of 0 to 9 keys,")])
def test_lengths_in_words(lengths: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-decode", "--device", "sim", "--depth", "64", "--lengths", lengths]) == 0
    assert words in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*SMALL, "--partitions", "2", "--schedule", "random", "--seed", "4", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == {
        *(
            "kernel",
            "device",
            "lengths",
            "key_heads",
            "group",
            "queries",
            "depth",
            "partitions",
            "clusters",
            "stages",
            "page",
            "cache",
            "lse",
            "reason",
        ),
        *("grid", "seed", "max_abs_error", "tolerance", "ok", "verdict", "seconds"),
    }
    assert shown["kernel"] == "splitk-decode" and shown["device"] == "simulator" and shown["lengths"] == [130, 7]
    assert shown["ok"] is True and shown["verdict"] == "clean" and shown["seed"] == 4
    assert shown["partitions"] == 2 and shown["reason"].startswith("partitions asked for, the rest measured on")
    assert 0 < shown["max_abs_error"] < 0.1 and shown["seconds"] > 0


def test_wrong_result_is_told_by_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    bound = decode_case.decode_bound
    monkeypatch.setattr(decode_case, "decode_bound", lambda weights, v, exact: bound(weights, v, exact) / 1e3)
    assert invoke(SMALL) == WRONG
    assert "WRONG" in capsys.readouterr().out
    assert invoke([*SMALL, "--json"]) == WRONG
    assert json.loads(capsys.readouterr().out)["ok"] is False


@pytest.mark.parametrize("lengths", ["many", "-5", "5,-5", "", "5,,6", "1.5", "9" * 5000])
def test_lengths_that_are_none(lengths: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-decode", "--device", "sim", "--lengths", lengths]) == UNUSABLE
    text = capsys.readouterr().err
    assert "--lengths" in text and "as in 4096,77" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--group", "33"], "33 rows"),
        (["--page", "48"], "pages of 48 rows"),
        (["--key-heads", "0"], "0 key heads"),
        (["--partitions", "3"], "3 partitions"),
        (["--partitions", "1", "--clusters", "2"], "2 clusters of 1"),
        (["--depth", "96"], "a depth of 96"),
        (["--stages", "50"], "50 stages"),
        (["--lengths", "99999999999"], "a sequence of 99999999999 keys"),
    ],
)
def test_what_the_kernel_does_not_take(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "splitk-decode", "--device", "sim", *options]) == WRONG
    text = capsys.readouterr().err
    assert "error[L212]" in text and words in text and "mend:" in text


def test_too_large_for_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(case: object) -> None:
        raise MemoryError("Unable to allocate 95 TiB")

    monkeypatch.setattr(decode_case.DecodeCase, "__post_init__", full)
    assert invoke(SMALL) == WRONG
    text = capsys.readouterr().err
    assert "too little memory" in text and "95 TiB" in text and "internal" not in text


def test_other_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run"]) == UNUSABLE
    assert "Missing KERNEL; the library has: splitk-combine, splitk-decode." in capsys.readouterr().err
    assert invoke(["run", "splitk-decod"]) == UNUSABLE
    assert "Did you mean 'splitk-decode'?" in " ".join(capsys.readouterr().err.split())
    assert invoke(["run", "splitk-decode", "--rows", "5"]) == UNUSABLE, "the combine's"
    assert invoke(["run", "splitk-decode", "--schedule", "random:3"]) == UNUSABLE
    assert "--seed" in capsys.readouterr().err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Of run: every kernel. Of a kernel: its own options, wherever --help stands."""
    assert invoke(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in LIBRARY)
    for words in (["splitk-decode", "--help"], ["--help", "splitk-decode"], ["-h", "splitk-decode"]):
        assert invoke(["run", *words]) == 0
        text = capsys.readouterr().out
        assert "--lengths" in text and "--key-heads" in text and "--design" not in text
    assert invoke(["run", "splitk-combine", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--design" in text and "--lengths" not in text


def test_options_in_front_of_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "--lengths", "7", "--device", "sim", "--depth", "64", "splitk-decode", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lengths"] == [7]
