"""The stand-in for the driver library (`runtime/driver_stub.c`): building it, and running a program over it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).parent / "runtime" / "driver_stub.c"
EXCHANGE = SOURCE.with_name("exchange_stub.c")
AS_INSTALLED = """
if os.environ["LAUNCHES"] == "python":
    sys.modules["fa4dsl.runtime.cuda._native"] = None  # as where no C compiler was
"""
"""For the beginning of a program that imports os and sys: with LAUNCHES=python in its environment it runs without the package's C part."""


def build(folder: Path) -> Path:
    """Compiles it as libcuda.so.1 in `folder`, which then belongs into LD_LIBRARY_PATH; beside it the stand-in tensors' exchange table."""
    spec = find_spec("nvidia")
    includes = [Path(place) / "cu13" / "include" for place in (spec.submodule_search_locations or [])] if spec else []
    flags = [f"-I{folder}" for folder in [*includes, Path("/usr/local/cuda/include")] if (folder / "cuda.h").exists()]
    command = [shutil.which("cc") or "cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([*command, *flags, str(SOURCE), "-ldl", "-Wl,-soname,libcuda.so.1", "-o", str(folder / "libcuda.so.1")], check=True)
    subprocess.run([*command, str(EXCHANGE), "-o", str(folder / "libexchange_stub.so")], check=True)
    return folder


def run(library: Path, program: str, **environment: str) -> str:
    """What a program prints that runs in a process of its own with the stand-in for a driver."""
    variables = {**os.environ, "LD_LIBRARY_PATH": str(library), **environment}
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, env=variables, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
