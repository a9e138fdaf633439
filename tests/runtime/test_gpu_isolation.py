"""The GPU tests' worker processes: a test that ends its process, or never ends, fails alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """
import os, time
import pytest

pytestmark = pytest.mark.gpu
main = os.environ["MAIN_PROCESS"]

def test_runs_elsewhere():
    assert str(os.getppid()) != main and "FA4DSL_GPU_TEST_PIPE" in os.environ

def test_fails():
    assert 1 + 1 == 3

def test_ends_the_process():
    os._exit(7)

def test_after():
    pass

def test_hangs():
    time.sleep(600)

@pytest.mark.parametrize("n", [1, 2])
def test_last(n):
    assert n
"""


def test_one_fault_fails_one_test(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent.parent / "gpu" / "conftest.py", tmp_path)
    (tmp_path / "test_things.py").write_text(TESTS)
    (tmp_path / "test_more.py").write_text(
        "import pytest\n\n@pytest.mark.gpu\ndef test_other_file():\n    pass\n\ndef test_without_gpu():\n    pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = gpu: needs a GPU\n")
    environment = {**os.environ, "FA4DSL_GPU_TEST_SECONDS": "3", "MAIN_PROCESS": str(os.getpid())}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "-p",
        "no:xdist",
        "-o",
        "addopts=--import-mode=importlib",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    words = done.stdout
    assert "3 failed, 6 passed" in words, words
    for failed in ("test_fails", "test_ends_the_process", "test_hangs"):
        assert f"test_things.py::{failed} FAILED" in words, words
    assert "assert (1 + 1) == 3" in words and "no end after 3 s" in words, words
