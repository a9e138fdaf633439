"""What the benchmarks beside a peers' script have in common: `prepare` kernels, `run` the script over them, print the `table` of a run."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"


def main(doc: str | None, script: str, prepare: Callable[[Path, tuple[int, int]], None], table: Callable[[Path], str]) -> int:
    """The command line. `script`: of `peers/`, which takes the folder of kernels as ``--ours``, and all other options."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("prepare", "run", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", default="0/1", help="prepare: only every n-th kernel, from number i on, as i/n")
    options, rest = parser.parse_known_args()
    if options.action == "prepare":
        first, of = map(int, options.share.split("/"))
        prepare(options.folder, (first, of))
        return 0
    if options.action == "table":
        print(table(options.folder), end="")
        return 0
    return subprocess.run([sys.executable, "-P", str(PEERS / script), "--ours", str(options.folder), *rest], check=False).returncode
