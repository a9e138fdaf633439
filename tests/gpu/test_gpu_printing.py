"""device_print on a GPU: the driver prints what the simulator prints.

The kernel comes from `prepare.py` where no compiler is installed: FA4DSL_GPU_FOLDER names the folder it wrote.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

PROGRAM = f"""
import os, sys
sys.path[:0] = [{str(Path(__file__).parent.parent)!r}]
import numpy as np
from fa4dsl.runtime import load
from fa4dsl.runtime.launch import launch
folder = os.environ.get("FA4DSL_GPU_FOLDER")
if folder:
    show = load(f"{{folder}}/printing.fa4")
else:
    import printing_kernels
    show = printing_kernels.show.compile()
x = np.array([1.5], np.float32)
arguments = (-7, -(1 << 40), (1 << 63) + 5, 1 / 3, 65)
if sys.argv[1] == "cuda":
    import torch
    launch(show, 1, (torch.from_numpy(x).cuda(), *arguments), device="cuda")
    torch.cuda.synchronize()
else:
    launch(show, 1, (x, *arguments), device="simulator")
"""


def test_it_prints_what_the_simulator_prints() -> None:
    shown = []
    for device in ("simulator", "cuda"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, device], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout)
    assert shown[0].count("\n") == 3
    assert shown[0] == shown[1]
