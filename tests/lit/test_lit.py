"""Runs the lit tests: each file's RUN lines in this process (MLIR loads once), and two files through lit itself."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fa4dsl.passes.opt import main

ROOT = Path(__file__).parent
FILES = sorted(path for path in ROOT.rglob("*") if path.suffix in (".mlir", ".ll"))


def filecheck() -> str:
    spec = find_spec("llvm")
    assert spec is not None and spec.submodule_search_locations
    return str(Path(next(iter(spec.submodule_search_locations))) / "bin" / "FileCheck")


def run_lines(path: Path) -> list[str]:
    return re.findall(r"RUN: (.*)", path.read_text())


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_file(path: Path) -> None:
    lines = run_lines(path)
    assert lines, "no RUN line"
    for line in lines:
        *tools, check = (part.strip() for part in line.split(" | "))
        text: str | None = None
        for tool in tools:
            text = run_tool(shlex.split(tool), path, text)
        arguments = [str(path) if word == "%s" else word for word in shlex.split(check)]
        assert arguments[0] == "FileCheck"
        done = subprocess.run([filecheck(), *arguments[1:]], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def run_tool(words: list[str], path: Path, text: str | None) -> str:
    assert words[0] == "%opt", "a RUN line begins with %opt"
    output, error = io.StringIO(), io.StringIO()
    arguments = [str(path) if word == "%s" else word for word in words[1:]]
    before = sys.stdin
    sys.stdin = io.StringIO(text or "")
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
            status = main(arguments)
    finally:
        sys.stdin = before
    assert status == 0, error.getvalue() or f"no error was reported:\n{output.getvalue()}"
    return output.getvalue()


def test_lit_itself() -> None:
    files = [str(ROOT / "dialect" / "round_trip.mlir"), str(ROOT / "passes" / "place_shared_memory.mlir")]
    command = [sys.executable, "-m", "lit.main", "-sv", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LIT_XUNIT": ""})
    assert done.returncode == 0, done.stdout + done.stderr
