"""fa4dsl cache: what it shows and what it removes."""

from __future__ import annotations

import json
import linecache
from pathlib import Path

import pytest

from fa4dsl.cli.app import invoke


def test_info_then_clear(cache_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache_directory.mkdir()
    (cache_directory / "a.fa4").write_bytes(b"x" * 2**20)
    (cache_directory / "notes.txt").write_text("the user's own")
    assert invoke(["cache", "info", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"folder": str(cache_directory), "entries": 1, "size": 2**20, "limit": 2**30, "usable": True}
    assert invoke(["cache", "info"]) == 0
    assert "1.0 MiB of at most 1024 MiB" in capsys.readouterr().out
    assert invoke(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "removed 1 kernel, 1.0 MiB\n"
    assert [path.name for path in cache_directory.iterdir()] == ["notes.txt"]


def test_an_empty_cache_is_no_error(cache_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cache", "clear"]) == 0
    assert invoke(["cache", "info"]) == 0
    assert "removed 0 kernels" in capsys.readouterr().out
    assert not cache_directory.exists(), "looking makes nothing"


def test_a_folder_that_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("FA4DSL_CACHE_DIR", str(file / "below"))
    assert invoke(["cache", "info"]) == 0
    assert "cannot be written" in capsys.readouterr().out


def test_a_kernel_is_compiled_once_until_its_source_changes(cache_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fa4dsl.cli.kernels import find_kernel
    from fa4dsl.passes import pipeline

    compiled = []
    compile_module = pipeline.compile_module
    monkeypatch.setattr(pipeline, "compile_module", lambda *arguments: compiled.append(1) or compile_module(*arguments))
    file = tmp_path / "cached_example.py"

    def compile_anew(number: int) -> str:
        file.write_text(
            "from fa4dsl import Pointer, f32, kernel, thread\n\n\n@kernel(threads=32)\ndef fill(x: Pointer[f32]):\n"
            f"    x[thread.index()] = {number}.0\n"
        )
        linecache.checkcache(str(file))
        return find_kernel(f"{file}:fill").bind().compile().ptx

    first = compile_anew(1)
    assert compile_anew(1) == first and len(compiled) == 1, "the second kernel object found the first one's artifact"
    assert compile_anew(2) != first and len(compiled) == 2
