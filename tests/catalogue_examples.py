"""Runs the catalogue's examples, each in a folder of its own, and tells which codes came out and how they were shown."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Fa4dslWarning
from fa4dsl.runtime.diagnostics.page import example_kind

PRINTED = re.compile(r"\b(?:error|warning|review)\[([LCRS]\d{3})\]")


@dataclass(frozen=True)
class Outcome:
    """What an example did: the diagnostics it raised, and all that it printed."""

    diagnostics: tuple[Diagnostic, ...]
    printed: str

    @property
    def codes(self) -> list[str]:
        """Codes raised, else codes printed, in order and each once."""
        found = [item.code for item in self.diagnostics] or PRINTED.findall(self.printed)
        return list(dict.fromkeys(found))

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.diagnostics), self.printed])


def run(example: str, folder: Path) -> Outcome:
    """A Python script or a sequence of commands. Anything but a catalogued error goes through."""
    if example_kind(example) == "console":
        return run_commands(example, folder)
    return run_script(example, folder)


def run_script(example: str, folder: Path) -> Outcome:
    """The example as a file's `__main__`, in `folder`. Python's warnings filters decide what becomes of a warning."""
    file = folder / "example.py"
    file.write_text(example, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(file), run_name="__main__")
        except Fa4dslError as error:
            return Outcome(error.diagnostics, printed.getvalue())
        except Fa4dslWarning as warning:
            return Outcome((warning.diagnostic,), printed.getvalue())
    return Outcome((), printed.getvalue())


def run_commands(example: str, folder: Path) -> Outcome:
    """Lines of ``$ fa4dsl ...``, up to the first that fails. ``$ pip uninstall NAME`` hides a package from the lines after it."""
    from fa4dsl.cli.app import invoke

    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        for line in example.strip().splitlines():
            command, *words = shlex.split(line.removeprefix("$ "), comments=True)
            if command == "fa4dsl":
                if invoke(words):
                    break
            elif command == "pip" and words[0] == "uninstall":
                stack.enter_context(without(*words[1:]))
            else:
                assert command == "pip" and words[0] == "install", line
                for package in words[1:]:
                    importlib.metadata.version(re.split(r"[<>=]", package)[0])
    return Outcome((), printed.getvalue())


MODULES = {
    "xtc-mlir-python-bindings": ("mlir",),
    "nvidia-cuda-nvcc": ("nvidia",),
    "nvidia-cuda-nvdisasm": ("nvidia",),
    "cuda-bindings": ("cuda.bindings",),
    "torch": ("torch",),
}
"""What a package brings."""


@contextlib.contextmanager
def without(*packages: str) -> Iterator[None]:
    """No such packages, and no CUDA toolkit of the machine's own."""
    from fa4dsl.passes.tools import find_tool

    hidden = [module for package in packages for module in MODULES[package]]
    gone = dict.fromkeys(hidden)
    gone |= {name: None for name in sys.modules if name.startswith(tuple(f"{module}." for module in hidden))}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")} | {"PATH": ""}
    with patch.dict(sys.modules, gone), patch.dict(os.environ, environment, clear=True):
        find_tool.cache_clear()
        try:
            yield
        finally:
            find_tool.cache_clear()
