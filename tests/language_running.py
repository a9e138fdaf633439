"""Runs kernels of the tests in the simulator."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fa4dsl import BoundKernel, Kernel

_numbers = itertools.count()


def launch(kernel: Kernel | BoundKernel, *arguments: Any, grid: Any = 1, schedule: str = "eager") -> Any:
    """Runs a kernel and gives the simulator's report, which must be clean."""
    result = kernel.launch(grid, arguments, device="simulator", schedule=schedule)
    assert result.report.verdict == "clean", result.report.text()
    return result.report


def load_text(folder: Path, text: str) -> ModuleType:
    """A module from source text, in a file of its own so that kernels find their source."""
    name = f"generated_{next(_numbers)}"
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module


def integers(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)
