"""Runs the catalogue's examples, each in a folder of its own, and tells which codes came out and how they were shown."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
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

    @property
    def unfilled(self) -> list[str]:
        """Fields of a template that nobody gave a value."""
        return [text for item in self.diagnostics for text in re.findall(r"\{\w+(?:![rs])?\}", item.message + item.mend)]

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.diagnostics), self.printed])


def run(example: str, folder: Path) -> Outcome:
    """A Python script, a sequence of commands, or MLIR. Anything but a catalogued error goes through."""
    kind = example_kind(example)
    return {"console": run_commands, "mlir": run_mlir, "python": run_script}[kind](example, folder)


LOWERING = "fa4-verify,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-ptx"


def run_mlir(example: str, folder: Path) -> Outcome:
    """The whole way to PTX, without the static checks."""
    from fa4dsl.passes.pipeline import run_pipeline

    file = folder / "example.mlir"
    file.write_text(example, encoding="utf-8")
    try:
        return Outcome((), run_pipeline(example, LOWERING, str(file)))
    except Fa4dslError as error:
        return Outcome(error.diagnostics, "")


def run_script(example: str, folder: Path) -> Outcome:
    """The example as a file's `__main__`, in `folder`. Python's warnings filters decide what becomes of a warning."""
    file = folder / "example.py"
    file.write_text(example, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), patch.object(tempfile, "tempdir", tempfile.gettempdir()):
        try:
            runpy.run_path(str(file), run_name="__main__")
        except Fa4dslError as error:
            return Outcome(error.diagnostics, printed.getvalue())
        except Fa4dslWarning as warning:
            return Outcome((warning.diagnostic,), printed.getvalue())
    return Outcome((), printed.getvalue())


def run_commands(example: str, folder: Path) -> Outcome:
    """Lines of ``$ fa4dsl ...`` and ``$ python -c ...``, up to the first that fails.

    After ``$ pip uninstall NAME`` the package cannot be found. Such examples run in a process of their own, where nothing is loaded yet.
    """
    if "$ pip uninstall" in example:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, __file__, example]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return Outcome((), done.stdout)
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        commands(example)
    return Outcome((), printed.getvalue())


def commands(example: str) -> None:
    from fa4dsl.cli.app import invoke, report

    for line in example.strip().splitlines():
        command, *words = shlex.split(line.removeprefix("$ "), comments=True)
        if command == "fa4dsl":
            if invoke(words):
                break
        elif command == "python" and words[0] == "-c":
            try:
                exec(words[1], {"__name__": "__main__"})
            except Fa4dslError as error:
                report(error)
                break
        elif command == "pip" and words[0] == "uninstall":
            hide(words[1])
        else:
            assert command == "pip" and words[0] == "install", line


MODULES = {"xtc-mlir-python-bindings": "mlir", "cuda-bindings": "cuda.bindings", "torch": "torch"}
"""What a package brings to Python."""
TOOLS = {"nvidia-cuda-nvcc": "ptxas", "nvidia-cuda-nvdisasm": "nvdisasm"}


def hide(package: str) -> None:
    """No such package in this process, and no CUDA toolkit of the machine's own."""
    os.environ["PATH"] = ""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        os.environ.pop(name, None)
    if package in MODULES:
        # Python's own way to forbid an import.
        sys.modules[MODULES[package]] = None  # type: ignore[assignment]
        return
    # NVIDIA's packages share a folder: another one, with the other tools.
    spec = find_spec("nvidia")
    tools = [tool for place in (spec.submodule_search_locations or () if spec else ()) for tool in Path(place).glob("cu*/bin/*")]
    rest = Path.cwd() / "nvidia"
    (rest / "cu13" / "bin").mkdir(parents=True)
    for tool in tools:
        if tool.name != TOOLS[package]:
            (rest / "cu13" / "bin" / tool.name).symlink_to(tool)
    sys.modules["nvidia"] = ModuleType("nvidia")
    sys.modules["nvidia"].__spec__ = ModuleSpec("nvidia", None, is_package=True)
    sys.modules["nvidia"].__spec__.submodule_search_locations = [str(rest)]


if __name__ == "__main__":
    with contextlib.redirect_stderr(sys.stdout):
        commands(sys.argv[1])
