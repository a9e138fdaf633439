"""compile, show and opt: each stage can be printed, written and fed back."""

from __future__ import annotations

from pathlib import Path

import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke
from fa4dsl.cli.reports import SCHEDULES
from fa4dsl.cli.show import STAGES
from fa4dsl.passes import pipeline
from fa4dsl.passes.registry import PASSES
from fa4dsl.runtime import load
from fa4dsl.runtime.simulator import schedule

TELLTALES = {
    "fa4": '"fa4.shared_alloc"',
    "placed": "fa4.shared_bytes",
    "fenced": "fa4.fence_proxy_async",
    "recorded": "fa4.fence_proxy_async",
    "nvvm": "nvvm.",
    "llvm-dialect": "llvm.br",
    "llvm": "define ptx_kernel",
    "ptx": ".entry splitk_combine",
    "sass": "EXIT",
}


def test_names_agree_with_their_sources() -> None:
    assert STAGES == pipeline.STAGES
    assert SCHEDULES == schedule.SCHEDULES


@pytest.mark.parametrize("stage", STAGES)
def test_show(stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "splitk-combine", "--stage", stage, "--set", "partitions=2", "--set", "depth=64"]) == 0
    assert TELLTALES[stage] in capsys.readouterr().out


def test_show_can_be_fed_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "splitk-combine", "--stage", "fa4", "--locations"]) == 0
    file = tmp_path / "combine.mlir"
    file.write_text(capsys.readouterr().out)
    lowering = "fa4-verify,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-ptx"
    assert invoke(["opt", lowering, str(file)]) == 0
    from_text = capsys.readouterr().out
    assert invoke(["show", "splitk-combine", "--stage", "ptx"]) == 0
    assert from_text == capsys.readouterr().out


def test_opt_takes_a_kernel_and_lists_its_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["opt", "place-shared-memory", "splitk-combine", "--set", "partitions=4"]) == 0
    assert "fa4.shared_bytes" in capsys.readouterr().out
    assert invoke(["opt", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(PASSES)
    assert all(len(line.split()) > 3 for line in listed), "each pass says what it does"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["opt"], UNUSABLE, "PIPELINE"),
        (["opt", "place-shared-memry", "splitk-combine"], WRONG, "did you mean place-shared-memory"),
        (["opt", "cse", "no-such-file.mlir"], WRONG, "[C060]"),
        (["show", "splitk-combine", "--stage", "cuda"], UNUSABLE, "'cuda' is not one of"),
        (["compile", "splitk-combine"], UNUSABLE, "--output"),
    ],
)
def test_bad_input(arguments: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(arguments) == status
    assert words in capsys.readouterr().err


def test_bad_mlir_is_catalogued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.mlir"
    file.write_text('module { "fa4.no_such_operation"() : () -> () }')
    assert invoke(["opt", "cse", str(file)]) == WRONG
    printed = capsys.readouterr().err
    assert "error[C" in printed and "Traceback" not in printed


def test_compile_writes_an_artifact_with_its_variants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "combine.fa4"
    assert (
        invoke(["compile", "splitk-combine", "-o", str(output), "--set", "partitions=2", "--set", "partitions=4", "--set", "depth=64"]) == 0
    )
    printed = capsys.readouterr().out
    assert "cluster of 2 x 1 x 1" in printed and "cluster of 4 x 1 x 1" in printed and "publish" in printed
    assert load(output, partitions=4).manifest.cluster == (4, 1, 1)


@pytest.mark.parametrize(("suffix", "start"), [(".ptx", b"//"), (".cubin", b"\x7fELF")])
def test_compile_writes_what_the_suffix_says(tmp_path: Path, suffix: str, start: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / f"combine{suffix}"
    assert invoke(["compile", "splitk-combine", "-o", str(output), "--timings"]) == 0
    assert output.read_bytes().startswith(start)
    printed = capsys.readouterr().out
    assert "assemble" in printed and "total" in printed and "lower-barriers" in printed
    assert invoke(["compile", "splitk-combine", "-o", str(output), "--set", "partitions=2", "--set", "partitions=4"]) == UNUSABLE


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in (".fa4", ".ptx"):
        assert invoke(["compile", "splitk-combine", "-o", str(tmp_path / "missing" / f"k{suffix}")]) == WRONG
        assert "error[R" in capsys.readouterr().err
