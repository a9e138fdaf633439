"""What the simulator's checks cost: the processor time of a run with all of them, beside that of one that only computes.

    python benchmarks/checking_overhead.py [--only WORD] [--repeat N] [--json]

Rows: every design of the combine, the examples, and the kernels of tests/bugs/corpus. A row runs with and without checks in turn, and shows the least
time of each, since other work on the machine can only add to it. Compilation is not part of it; parsing the PTX and decoding are part of both.
"""

from __future__ import annotations

import argparse
import copy
import json
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from fa4dsl.runtime.simulator import run as simulator
from fa4dsl.runtime.simulator.launch import Launch, load_launch

ROOT = Path(__file__).resolve().parent.parent
DESIGNS = ("pull", "pull_wide", "push", "push_bulk")
COMBINES = ((8, 128, 128, 2), (8, 128, 1, 2), (16, 64, 128, 2), (8, 128, 128, 16))
"""Partitions, depth, rows, tiles."""
SMALL = ((2, 64, 4, 1),)
EXAMPLES = ("vector_add", "warp_reduction", "dsmem_rotate", "tma_ring", "multicast_ring", "wgmma_gemm", "flash_attention")


@dataclass(frozen=True)
class Case:
    """A kernel and one launch of it."""

    kernel: str
    design: str
    ptx: str
    launch: Launch
    manifest: Any = None


@dataclass(frozen=True)
class Row:
    """Seconds of processor time."""

    kernel: str
    design: str
    checked: float
    numbers_only: float

    @property
    def ratio(self) -> float:
        return self.checked / self.numbers_only


def launches(work: Callable[[], Any]) -> list[tuple[str, Launch, Any]]:
    """PTX, launch and manifest of all that `work` runs in the simulator, which computes nothing meanwhile."""
    found: list[tuple[str, Launch, Any]] = []
    simulate = simulator.simulate

    def keep(ptx: str, launch: Launch, **options: Any) -> Any:
        found.append((ptx, copy.deepcopy(launch), options.get("manifest")))
        return simulate(ptx, launch, **{**options, "check": False})

    simulator.simulate = keep
    try:
        with redirect_stdout(StringIO()):
            work()
    finally:
        simulator.simulate = simulate
    return found


def combines(shapes: tuple[tuple[int, int, int, int], ...]) -> Iterator[Case]:
    from fa4dsl.kernels.combine import combine_kernel
    from fa4dsl.kernels.combine_case import CombineCase
    from fa4dsl.kernels.combine_config import CombineConfig

    for partitions, depth, rows, tiles in shapes:
        for design in DESIGNS:
            block_rows = max(rows, 32) if design == "pull" else rows
            case = CombineCase(CombineConfig(partitions, depth, block_rows, design), rows, tiles=tiles)
            for ptx, launch, manifest in launches(
                lambda case=case: combine_kernel(case.config).launch(case.grid, case.arguments, device="simulator")
            ):
                yield Case(f"combine P={partitions} D={depth}, {rows} rows, {tiles} tiles", design, ptx, launch, manifest)


def examples() -> Iterator[Case]:
    for name in EXAMPLES:
        main = runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="example")["main"]
        for ptx, launch, manifest in launches(lambda main=main: main("simulator"))[:1]:
            yield Case(f"examples/{name}.py", "", ptx, launch, manifest)


def corpus() -> Iterator[Case]:
    for folder in sorted((ROOT / "tests" / "bugs" / "corpus").iterdir()):
        if (folder / "twin.ptx").exists():
            yield Case(
                f"corpus/{folder.name}", "", (folder / "twin.ptx").read_text(encoding="utf-8"), load_launch(folder / "twin.launch.json")
            )


def measure(case: Case, repeat: int) -> Row:
    """Least time of `repeat` runs with and as many without checks, after one of each that warms up."""
    least = {True: float("inf"), False: float("inf")}
    for turn in range(repeat + 1):
        for check in (True, False):
            launch = copy.deepcopy(case.launch)
            start = time.process_time()
            simulator.simulate(case.ptx, launch, manifest=case.manifest, check=check)
            took = time.process_time() - start
            if turn:
                least[check] = min(least[check], took)
    return Row(case.kernel, case.design, least[True], least[False])


def line(row: Row) -> str:
    return f"| {row.kernel} | {row.design} | {row.checked:.3f} | {row.numbers_only:.3f} | {row.ratio:.1f} |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose kernel or design holds the word")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each kind (5)")
    parser.add_argument("--small", action="store_true", help="one small combine of each design, to try the script")
    parser.add_argument("--json", action="store_true", help="a list of objects instead of a table")
    options = parser.parse_args(arguments)
    sources = [combines(SMALL)] if options.small else [combines(COMBINES), examples(), corpus()]
    rows = []
    if not options.json:
        print("| kernel | design | all checks, s | numbers only, s | ratio |\n|---|---|---|---|---|")
    for case in (case for source in sources for case in source):
        if options.only not in f"{case.kernel} {case.design}":
            continue
        row = measure(case, options.repeat)
        rows.append(row)
        if not options.json:
            print(line(row), flush=True)
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows], indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
