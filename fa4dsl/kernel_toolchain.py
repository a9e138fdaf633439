"""What compiles kernels, identified without loading it: this package's own code, Python, MLIR, LLVM and ptxas."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

UNRELATED = frozenset({"__pycache__", "cli", "kernels", "simulator", "cuda", "check"})
"""Folders that no compilation passes through. Kernels count as code like the user's, file by file."""


@cache
def toolchain() -> dict[str, str]:
    """Name to version or digest. Equal ones compile equal kernels to equal artifacts."""
    from fa4dsl.passes.tools import find_tool

    found = {
        "code": _own_code(),
        "python": f"{sys.implementation.cache_tag} {'.'.join(map(str, sys.version_info[:3]))}",
    }
    ptxas = find_tool("ptxas")
    found["ptxas"] = _file_identity(ptxas) if ptxas is not None else "none"
    for package, library in (("mlir", "_mlir_libs"), ("llvm", "lib")):
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            folder = Path(place) / library
            found[package] = ";".join(sorted(map(_file_identity, folder.iterdir()))) if folder.is_dir() else "none"
    return found


def _file_identity(path: Path) -> str:
    """A large file by place, size and time: reading it would take longer than a launch."""
    status = path.stat()
    return f"{path}:{status.st_size}:{status.st_mtime_ns}"


def _own_code() -> str:
    """The digest of this package's files, wherever its three floors lie."""
    import fa4dsl

    state = hashlib.sha256()
    for root in fa4dsl.__path__:
        # In a checkout the second root holds the floors below beside folders that are not ours.
        top = [root] if root.endswith("fa4dsl") else []
        beside = [os.path.join(root, floor) for floor in ("passes", "runtime")]
        for folder in [*top, *(place for place in beside if os.path.isdir(place) and not place.startswith(tuple(top or ["\0"])))]:
            for path in _python_files(folder):
                state.update(path.removeprefix(root).encode() + b"\0")
                with open(path, "rb") as file:
                    state.update(hashlib.sha256(file.read()).digest())
    return state.hexdigest()


def _python_files(folder: str) -> list[str]:
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in UNRELATED:
                    found += _python_files(entry.path)
            elif entry.name.endswith(".py"):
                found.append(entry.path)
    return found
