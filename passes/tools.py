"""Where CUDA's command-line tools are."""

from __future__ import annotations

import os
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def find_tool(name: str) -> Path | None:
    """A CUDA tool: from the wheels of NVIDIA's compiler (nvidia/cu13/bin and its older places), from CUDA_HOME, or from PATH."""
    spec = find_spec("nvidia")
    roots = [Path(entry) for entry in (spec.submodule_search_locations or ())] if spec else []
    for root in roots:
        for pattern in (f"cu*/bin/{name}", f"cuda_nvcc/bin/{name}", f"*/bin/{name}"):
            found = sorted(root.glob(pattern))
            if found:
                return found[-1]
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home and (Path(home) / "bin" / name).exists():
        return Path(home) / "bin" / name
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None
