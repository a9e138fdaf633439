"""The command line of a kernel's matrix: `prepare` its kernels where MLIR is installed, `run` them where the GPU is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any


def main(configs: Sequence[Any], kernel_of: Callable[[Any], Any], run: Callable[[Path, bool], int]) -> int:
    """`configs`: dataclasses; `kernel_of` gives the bound kernel of one. A folder holds an artifact for each, and configs.json, which names them all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("prepare", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--share", default="0/1", help="prepare: only every n-th kernel, from number i on, as i/n")
    options = parser.parse_args()
    if options.action == "run":
        return run(options.folder, options.quick)
    first, of = map(int, options.share.split("/"))
    options.folder.mkdir(parents=True, exist_ok=True)
    listed = {}
    for number, config in list(enumerate(configs))[first::of]:
        path = options.folder / f"kernel_{number:03d}.fa4"
        listed[path.name] = asdict(config)
        kernel_of(config).artifact.save(path)
    (options.folder / "configs.json").write_text(json.dumps(listed))
    return 0
