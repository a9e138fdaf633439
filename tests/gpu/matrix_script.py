"""The command line of a kernel's matrix: `prepare` its kernels where MLIR is installed, `run` them where the GPU is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import prod
from pathlib import Path
from typing import Any

RESIDENT_OF_16 = 7
"""Clusters of 16 on an H200."""


def beyond_resident(partitions: int, grid: tuple[int, int, int]) -> bool:
    """Whether these are clusters of 16, more than are resident at once."""
    return partitions == 16 and prod(grid) > 16 * RESIDENT_OF_16


def main(configs: Sequence[Any], kernel_of: Callable[[Any], Any], run: Callable[[Path, bool, bool], int]) -> int:
    """`configs`: dataclasses; `kernel_of` gives the bound kernel of one. A folder holds an artifact for each, and configs.json, which names them all. `run` gets it,
    whether a quick choice will do, and whether clusters that are not all resident are left out (see `synccheck_clusters.cu`)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("prepare", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--resident", action="store_true", help="run: leave out launches of more clusters of 16 than are resident at once")
    parser.add_argument("--share", default="0/1", help="prepare: only every n-th kernel, from number i on, as i/n")
    options = parser.parse_args()
    if options.action == "run":
        return run(options.folder, options.quick, options.resident)
    first, of = map(int, options.share.split("/"))
    options.folder.mkdir(parents=True, exist_ok=True)
    listed = {}
    for number, config in list(enumerate(configs))[first::of]:
        path = options.folder / f"kernel_{number:03d}.fa4"
        listed[path.name] = asdict(config)
        kernel_of(config).artifact.save(path)
    (options.folder / "configs.json").write_text(json.dumps(listed))
    return 0
