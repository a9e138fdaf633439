"""What a type checker says of kernels: nothing of right ones, under --strict, and the right thing of wrong ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

WRONG = """
from fa4dsl import Pointer, TensorMap, f32, i32, i64, kernel, pipeline, role, shared, thread


@kernel(threads=32)
def wrong(x: Pointer[f32], tiles: TensorMap, n: i32) -> None:
    a: i32 = x[0]  # a number of another type
    b = x.laod(3)  # a misspelt method
    c = x[thread.index()].to(i32) << 2
    d: i64 = c  # no widening without a word
    tiles.load(0, (0, 0))  # no shared array
    with role("consumer", warps=1) as consumer:
        consumer.warp_count  # no such attribute
"""
LINES = {7: "assignment", 8: "attr-defined", 10: "assignment", 11: "arg-type", 13: "attr-defined"}

RIGHT = """
from fa4dsl import Barrier, Pointer, RegisterArray, SharedArray, bf16, device_function, f32, i32, i64, kernel, mbarrier, registers, shared, thread


@device_function
def scaled(values: RegisterArray, factor: f32, tile: SharedArray, full: Barrier) -> f32:
    full.wait()
    total: f32 = values[0] * factor + tile[0]
    return -total / 2.0 + 1


@kernel(threads=lambda n: n)
def right(x: Pointer[f32], y: Pointer[bf16], n: i32, *, n_threads: int = 32) -> None:
    i = thread.index() % n
    row: i32 = (i + 1) * 2 - (n >> 3) & ~n
    value: f32 = x[row] * 2.0 + 1 - x[i]
    if value > 0.0 and row < n:
        y[i] = bf16(value)
    further: Pointer[f32] = x + i64(i) * 4
    for k in range(n):
        further[k] = f32(y[k]) + scaled(registers(f32, 2), value, shared(f32, 4), mbarrier(1))
    wide: i64 = i.to(i64)
    quad = x.load(4 * wide, width=4)
    x.store(0, quad)


right.bind(n_threads=32)[1](None, None, 3)
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """mypy's errors over the examples and both texts: one run, as the package itself takes most of its time."""
    tree = tmp_path_factory.mktemp("typed")
    package = tree / "fa4dsl"
    package.mkdir()
    for item in (ROOT / "fa4dsl").iterdir():
        (package / item.name).symlink_to(item)
    for floor in ("passes", "runtime"):
        (package / floor).symlink_to(ROOT / floor)
    (tree / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    (tree / "wrong.py").write_text(WRONG, encoding="utf-8")
    (tree / "right.py").write_text(RIGHT, encoding="utf-8")
    for example in EXAMPLES:
        (tree / example.name).write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    files = ["wrong.py", "right.py", *(example.name for example in EXAMPLES)]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tree / "cache"), *files]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error:" in line]


@pytest.mark.parametrize("name", ["right.py", *(example.name for example in EXAMPLES)])
def test_right_kernels_are_silent(name: str, reported: list[str]) -> None:
    assert [line for line in reported if line.startswith(f"{name}:")] == []


def test_wrong_kernels_are_not(reported: list[str]) -> None:
    found = {}
    for line in reported:
        match = re.match(r"wrong\.py:(\d+): error: .*\[([\w-]+)\]$", line)
        if match:
            found[int(match[1])] = match[2]
    assert found == LINES
