"""The combine of partial results that are on the chip, in a cluster: fa4dsl's exchanges beside hand-written CUDA C++, in one run.

    python benchmarks/combine_on_chip.py prepare FOLDER          # where MLIR is installed: compiles every kernel
    python benchmarks/combine_on_chip.py run FOLDER [--json F]   # where the GPU is: needs torch and nvcc
    python benchmarks/combine_on_chip.py table F                 # prints fa4dsl/kernels/combine_measured.py

`peers/floor_cluster.cu` (section E) and these kernels combine the same hashed partials, [groups, P, rows, 128] f32 to bf16, and are timed the same
way: a CUDA graph of 60 launches, the median of its replays. `base` is each side's kernel without an exchange, at the same number of threads.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DEPTH = 128
LAUNCHES = 60
REPLAYS = 9
WATCHDOG_SECONDS = 20.0
DESIGNS = ("pull", "pull_wide", "push", "push_bulk")
"""`pull`, a thread for each row, for whole warps of rows only."""
THREADS = (64, 128, 256, 512)
PIECES = (2, 4, 8, 16)
"""Clusters among which the rows of one tile are also cut (`push`), down to `LEAST_ROWS` each: more, smaller CTAs spread more evenly over the SMs."""
LEAST_ROWS = 16
"""Pieces of 4 and 8 rows won at most 5 % with 128 CTAs and lost up to 30 % with 1,024."""
CASES = [(rows, partitions) for rows in (4, 8, 16, 64, 128) for partitions in (2, 4, 8, 16)]
SOURCE = Path(__file__).resolve().parent / "peers" / "floor_cluster.cu"


@dataclass(frozen=True)
class Variant:
    design: str
    partitions: int
    rows: int
    threads: int

    @property
    def file(self) -> str:
        return f"onchip_{self.design}_p{self.partitions}_r{self.rows}_t{self.threads}.fa4"


def variants() -> list[Variant]:
    """Every kernel that is measured: no more threads than there are quads."""
    found = []
    for rows, partitions in CASES:
        for threads in THREADS:
            if threads > max(128, rows * DEPTH // 4) or (threads == 64 and rows > 16):
                continue
            found += [Variant(design, partitions, rows, threads) for design in ("base", *DESIGNS[1:])]
        if rows % 32 == 0:
            found.append(Variant("pull", partitions, rows, rows))
    return found


def cut(rows: int, partitions: int) -> list[tuple[int, Variant]]:
    """(pieces, kernel of one piece) for a tile whose rows are cut among several clusters."""
    found = []
    for pieces in PIECES:
        each = rows // pieces
        if each >= LEAST_ROWS:
            found += [
                (pieces, Variant("push", partitions, each, threads)) for threads in THREADS if 64 < threads <= max(128, each * DEPTH // 4)
            ]
    return found


def kernels() -> list[Variant]:
    """Every kernel once."""
    return list(dict.fromkeys([*variants(), *(variant for case in CASES for _, variant in cut(*case))]))


def prepare(folder: Path, share: tuple[int, int]) -> None:
    from onchip_kernels import onchip_base, onchip_exchange, onchip_pull

    from fa4dsl.kernels.combine_config import CombineConfig

    folder.mkdir(parents=True, exist_ok=True)
    for variant in kernels()[share[0] :: share[1]]:
        path = folder / variant.file
        design: Any = "push" if variant.design == "base" else variant.design
        config = CombineConfig(partitions=variant.partitions, rows=variant.rows, design=design, threads=variant.threads, depth=DEPTH)
        kernel = {"base": onchip_base, "pull": onchip_pull}.get(variant.design, onchip_exchange)
        kernel.bind(c=config).artifact.save(path)


def hashed(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    x = x ^ (x >> np.uint32(16))
    return (x >> np.uint32(8)).astype(np.float32) * np.float32(2.0 / 16777216.0) - np.float32(1.0)


def reference(groups: int, partitions: int, rows: int) -> np.ndarray:
    """float64 [groups, rows, 128]."""
    index = (np.arange(groups)[:, None] * 131 + np.arange(partitions))[..., None] * 257 + np.arange(rows)
    partial = hashed(index[..., None] * 128 + np.arange(DEPTH) + 17).astype(np.float64)
    scores = 3.0 * hashed(index + 0x51ED27).astype(np.float64)
    weight = np.exp2(scores - scores.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("gpr,gprd->grd", weight, partial)


def hand_written(folder: Path) -> dict[tuple[int, int, int], dict[str, float]]:
    """Builds and runs section E: (rows, P, groups) to microseconds by design."""
    program = folder / "floor_cluster"
    subprocess.run(["nvcc", "-O3", "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", str(SOURCE), "-o", str(program)], check=True)
    text = subprocess.run([str(program), "E"], check=True, capture_output=True, text=True, timeout=300).stdout
    found: dict[tuple[int, int, int], dict[str, float]] = {}
    for line in text.splitlines():
        head = re.match(r"\s+P(\d+)\s+rows (\d+)\s+x\s+(\d+)", line)
        if head:
            partitions, rows, groups = map(int, head.groups())
            if "WRONG" in line:
                print(f"hand-written, wrong: {line}")
            times = {name: float(value) for name, value in re.findall(r"(\w+) (\d+\.\d+)", line.partition(":")[2])}
            found[rows, partitions, groups] = times
    return found


def graph_microseconds(call: Any) -> float:
    """Median over replays of one graph of `LAUNCHES` launches, per launch."""
    import torch

    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            call()
    times = []
    for replay in range(REPLAYS + 2):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        if replay >= 2:
            times.append(start.elapsed_time(end) * 1e3)
    return statistics.median(times) / LAUNCHES


def measure(artifact: Any, variant: Variant, groups: int, exact: np.ndarray) -> float:
    """Microseconds of a launch; raises where the result is wrong."""
    import torch

    from fa4dsl.runtime.launch import launch

    grid = (groups * variant.partitions, 1, 1)
    output = torch.full((groups * variant.rows, 1, DEPTH), float("nan"), device="cuda", dtype=torch.bfloat16)
    launch(artifact, grid, (output,), device="cuda", watchdog=WATCHDOG_SECONDS)
    if variant.design != "base":
        error = np.linalg.norm(output.double().cpu().numpy().reshape(exact.shape) - exact) / np.linalg.norm(exact)
        if not error < 6e-3:
            print(f"WRONG {variant}: relative error {error:.3g}")
            return float("nan")
    bound = artifact[grid]
    return graph_microseconds(lambda: bound(output))


def run(folder: Path, output: Path | None, groups_of_wave: int) -> int:
    from fa4dsl.runtime import load

    peers = hand_written(folder)
    records = []
    print("us per launch; over base in brackets. hand: 128 threads, its own base")
    print(" P rows groups |  hand base    pull    push  2k+PDL | ours: design threads us (over base) ... | best / hand's best")
    for rows, partitions in CASES:
        groups = groups_of_wave // partitions
        times = peers.get((rows, partitions, groups), {})
        exact = reference(groups, partitions, rows)
        mine: dict[tuple[str, int], float] = {}
        for variant in variants():
            if (variant.rows, variant.partitions) == (rows, partitions):
                artifact = load(folder / variant.file)
                mine[variant.design, variant.threads] = measure(artifact, variant, groups, exact)
        in_pieces = {
            f"{pieces}:{variant.threads}": measure(
                load(folder / variant.file), variant, groups * pieces, reference(groups * pieces, partitions, variant.rows)
            )
            for pieces, variant in cut(rows, partitions)
        }
        cells = []
        for design in DESIGNS:
            times_of = [(us, threads) for (name, threads), us in mine.items() if name == design and us == us]
            if times_of:
                best, threads = min(times_of)
                base = mine.get(("base", threads), mine["base", 128])
                cells.append((best, design, threads, best - base))
        best = min(cells)
        hand = min((times[name] for name in ("dsmem_rs", "dsmem_push") if name in times), default=float("nan"))
        text = "  ".join(f"{design} {threads} {us:.2f} ({over:+.2f})" for us, design, threads, over in cells)
        peer = " ".join(f"{times.get(name, float('nan')):7.2f}" for name in ("base", "dsmem_rs", "dsmem_push", "twokernel_pdl"))
        pieces = min(in_pieces.items(), key=lambda item: item[1], default=("", float("nan")))
        cutting = f" | push cut in {pieces[0]} {pieces[1]:.2f}" if pieces[0] else ""
        print(f"{partitions:2d} {rows:4d} {groups:6d} | {peer} | {text} | {best[1]} {best[0] / hand:.3f}{cutting}", flush=True)
        records.append(
            {
                "P": partitions,
                "rows": rows,
                "groups": groups,
                "hand": times,
                "ours": {f"{d}:{t}": us for (d, t), us in mine.items()},
                "cut": in_pieces,
            }
        )
    if output is not None:
        output.write_text(json.dumps(records))
    return 0


def table(measured: Path) -> str:
    """The text of fa4dsl/kernels/combine_measured.py from a run's JSON: the best number of threads, and of pieces, of each design."""
    lines = []
    for record in json.loads(measured.read_text()):
        best: dict[str, tuple[int, int, float]] = {}
        for key, us in record["ours"].items():
            design, _, threads = key.partition(":")
            if design != "base" and us == us and (design not in best or us < best[design][2]):
                best[design] = (int(threads), 1, round(us, 2))
        for key, us in record["cut"].items():
            pieces, _, threads = key.partition(":")
            if us == us and us < best["push"][2] and record["rows"] // int(pieces) >= LEAST_ROWS:
                best["push"] = (int(threads), int(pieces), round(us, 2))
        cells = ", ".join(f'"{design}": {value}' for design, value in best.items())
        lines.append(f"    ({record['rows']}, {record['P']}): {{{cells}}},")
    head = """\"\"\"Microseconds of the exchanges on an H200; printed by ``benchmarks/combine_on_chip.py table``, to be replaced by a run on another GPU.\"\"\"

from fa4dsl.kernels.combine_config import Design

GPU = "an H200"

MEASURED: dict[tuple[int, int], dict[Design, tuple[int, int, float]]] = {
"""
    tail = """}
\"\"\"(rows, P) of a tile 128 columns wide, 128 CTAs in all: for each design its best number of threads, the pieces into which
the tile's rows are cut (among clusters beyond the 128 CTAs), and the microseconds of a launch.\"\"\"
"""
    return head + "\n".join(lines) + "\n" + tail


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("prepare", "run", "table"))
    parser.add_argument("folder", type=Path, help="artifacts; of `table` the run's JSON")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--share", default="0/1", help="prepare: only every n-th kernel, from number i on, as i/n")
    parser.add_argument("--ctas", type=int, default=128, help="CTAs of a launch: groups = CTAs / P")
    options = parser.parse_args()
    if options.action == "prepare":
        first, of = map(int, options.share.split("/"))
        prepare(options.folder, (first, of))
        return 0
    if options.action == "table":
        print(table(options.folder), end="")
        return 0
    return run(options.folder, options.json, options.ctas)


if __name__ == "__main__":
    sys.exit(main())
