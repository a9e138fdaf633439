"""device_print on a GPU: the driver prints what the simulator prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

PROGRAM = """
import sys

import numpy as np

from fa4dsl import Pointer, device_print, f32, f64, i32, i64, kernel, thread, u8, u64


@kernel(threads=1)
def show(x: Pointer[f32], a: i32, b: i64, c: u64, d: f64, e: u8):
    device_print("%d|%5d|%-6d|%x|%d|%u|%g|%.3e|%a|%d|%c|%%\\n", a, a, a, a, b, c, x[0], d, d, e, e)
    device_print("x =", x[0], "b =", b, d, e)
    device_print("%s [%6s] [%*d]\\n", "text", "abc", a, b)


x = np.array([1.5], np.float32)
arguments = (-7, -(1 << 40), (1 << 63) + 5, 1 / 3, 65)
if sys.argv[1] == "cuda":
    import torch

    show.launch(1, (torch.from_numpy(x).cuda(), *arguments))
    torch.cuda.synchronize()
else:
    show.launch(1, (x, *arguments), device="simulator")
"""


def test_it_prints_what_the_simulator_prints(tmp_path: Path) -> None:
    file = tmp_path / "show.py"
    file.write_text(PROGRAM, encoding="utf-8")
    shown = [
        subprocess.run([sys.executable, str(file), device], capture_output=True, text=True, timeout=120, check=True).stdout
        for device in ("simulator", "cuda")
    ]
    assert shown[0].count("\n") == 3
    assert shown[0] == shown[1]
