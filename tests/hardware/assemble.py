"""Programs to cubins: many entries in one module, ptxas in parallel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.program import HEADER, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

MODULE = 48
"""Entries of one module."""


def ptxas() -> str:
    """The assembler of the PATH, or of the nvidia-cuda-nvcc wheel."""
    found = shutil.which("ptxas")
    if found is None:
        from fa4dsl.passes.tools import find_tool

        tool = find_tool("ptxas")
        if tool is None:
            raise FileNotFoundError("no ptxas on PATH nor in the nvidia-cuda-nvcc wheel")
        found = str(tool)
    return found


def assemble(programs: Sequence[Program], folder: Path, name: str) -> tuple[bytes, dict[str, str]]:
    """One module of all programs that assemble, and the assembler's words for those that do not, by program."""
    rejected: dict[str, str] = {}
    source, target = folder / f"{name}.ptx", folder / f"{name}.cubin"
    while True:
        kept = [program for program in programs if program.name not in rejected]
        if not kept:
            return b"", rejected
        text, starts = HEADER, []
        for program in kept:
            starts.append(text.count("\n") + 1)
            text += program.entry()
        source.write_text(text)
        done = subprocess.run([ptxas(), "-arch=sm_90a", str(source), "-o", str(target)], capture_output=True, text=True)
        if done.returncode == 0:
            return target.read_bytes(), rejected
        before = len(rejected)
        for match in re.finditer(r"line (\d+); error\s*: (.*)", done.stderr):
            line = int(match[1])
            owner = max(index for index, start in enumerate(starts) if start <= line)
            rejected.setdefault(kept[owner].name, match[2])
        if len(rejected) == before:
            raise RuntimeError(f"ptxas failed without naming a line: {done.stderr[:500]}")


def assemble_all(
    programs: Sequence[Program], workers: int | None = None, size: int = MODULE
) -> tuple[list[tuple[bytes, list[Program]]], dict[str, str]]:
    """All modules, each with its programs, and the rejected programs."""
    chunks = [list(programs[start : start + size]) for start in range(0, len(programs), size)]
    rejected: dict[str, str] = {}
    modules = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        results = pool.map(lambda item: assemble(item[1], Path(folder), f"m{item[0]}"), enumerate(chunks))
        for chunk, (cubin, refused) in zip(chunks, results, strict=True):
            rejected |= refused
            if cubin:
                modules.append((cubin, [program for program in chunk if program.name not in refused]))
    return modules, rejected
