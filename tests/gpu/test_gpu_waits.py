"""Records of waits on a GPU: a hung kernel says who waits for what while it hangs. It can only be ended with its process, so each runs in one of its own.

The kernels come from `prepare.py` where no compiler is installed: FA4DSL_GPU_FOLDER names the folder it wrote.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

TESTS = Path(__file__).parent.parent

PRELUDE = f"""
import os, sys, time
sys.path[:0] = [{str(TESTS)!r}]
import torch
from fa4dsl.runtime import dump_waits, load
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import launch
def kernel(name):
    folder = os.environ.get("FA4DSL_GPU_FOLDER")
    if folder:
        return load(f"{{folder}}/waiting.fa4", name=name)
    import waiting_kernels
    return getattr(waiting_kernels, name).compile()
out = torch.zeros(512, dtype=torch.int32, device="cuda")
"""


def run(program: str) -> str:
    """The program ends itself with os._exit: leaving Python would wait for the kernel that hangs."""
    done = subprocess.run([sys.executable, "-c", PRELUDE + program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mbarrier() -> None:
    printed = run(
        """
try:
    launch(kernel("stuck"), 4, (out, 0), watchdog=2.0)
except Fa4dslError as error:
    print(error, flush=True)
print(dump_waits(), flush=True)
os._exit(0)
"""
    )
    rows = [line.replace("note:", "").split() for line in printed.splitlines() if "waiting_kernels.py:" in line and "parity" in line]
    assert "R077" in printed and rows, printed
    # The state as observed: 1 of the 3 arrivals is missing, in the phase of parity 0, without bytes.
    assert all(row[:3] == ["0-3", "0-63", "0-1"] for row in rows), printed
    assert "mbarrier ready[1]" in printed and "1 of 3 arrivals pending, phase parity 0, 0 bytes outstanding" in printed, printed
    assert "block barrier" in printed, printed


def test_named_and_cluster_barriers() -> None:
    printed = run(
        """
result = launch(kernel("stuck_cluster"), 4, (out, 0))
time.sleep(2.0)
for record in result.waits():
    print(record.cta, *record.warps, record.wait.kind, record.wait.name, record.wait.role)
sys.stdout.flush()
os._exit(0)
"""
    )
    expected = {f"{cta} 0 0 cluster cluster barrier " for cta in (0, 2)} | {f"{cta} 1 1 named full consumer" for cta in (0, 2)}
    expected |= {f"{cta} 0 1 cluster cluster barrier " for cta in (1, 3)}
    assert set(printed.splitlines()) == expected, printed


def test_what_ends_leaves_nothing() -> None:
    printed = run(
        """
for name, threads in (("stuck", 128), ("stuck_cluster", 64)):
    for _ in range(20):
        out.zero_()
        result = launch(kernel(name), 4, (out, 1), watchdog=10.0)
        assert result.waits() == (), result.dump_waits()
        assert out[: 4 * threads].bool().all() and not out[4 * threads :].any()
print("good")
"""
    )
    assert printed == "good\n"


def test_a_captured_launch_keeps_its_records() -> None:
    printed = run(
        """
artifact = kernel("stuck")
artifact[4](out, 1)
torch.cuda.synchronize()
out.zero_()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    artifact[4](out, 1)
for _ in range(3):
    artifact[4](out, 1)
    graph.replay()
torch.cuda.synchronize()
print(bool(out.bool().all()))
"""
    )
    assert printed == "True\n"
