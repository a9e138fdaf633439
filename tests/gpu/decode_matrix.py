"""Split-K decode attention over its matrix on a GPU, from artifacts compiled elsewhere: the GPU machine needs no MLIR.

    python tests/gpu/decode_matrix.py prepare FOLDER          # where MLIR is installed
    python tests/gpu/decode_matrix.py run FOLDER [--quick] [--resident]   # where the GPU is; --quick for compute-sanitizer, --resident for its synccheck

Every P with groups, depths, pages, one and several clusters, many heads, several new tokens, caches of e4m3; sequences without a key, with one, around a tile's end, and long ones. Each case: NaN behind the keys,
poisoned output with guard rows, fresh seeds, the float64 reference's own error bound, the LSE, and every launch waits with a watchdog.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import product
from pathlib import Path

from matrix_script import beyond_resident, main

from fa4dsl.kernels.decode import decode_kernel
from fa4dsl.kernels.decode_case import DecodeCase
from fa4dsl.kernels.decode_config import PARTITIONS, DecodeConfig
from fa4dsl.runtime import load
from fa4dsl.runtime.launch import launch

WATCHDOG_SECONDS = 20.0
LENGTHS = ((0, 1, 63, 64, 65), (4000, 129, 2048), (9000,))


def configs() -> list[DecodeConfig]:
    """What is compiled: about 90 kernels."""
    found = []
    for number, (partitions, depth) in enumerate(product(PARTITIONS, (64, 128, 256))):
        found.append(DecodeConfig(partitions, (1, 4, 8)[number % 3], depth, stages=1 + number % 3 if depth < 256 else 1, lse=True))
        found.append(DecodeConfig(partitions, (8, 3, 5)[number % 3], depth, stages=1, page=(64, 256)[number % 2]))
    for partitions, clusters in product(PARTITIONS[1:], (2, 3, 8)):
        found.append(DecodeConfig(partitions, 8, clusters=clusters, lse=True))
    found += [DecodeConfig(partitions, group, stages=2, dependent=True) for partitions, group in product(PARTITIONS, (4, 8))]
    for number, partitions in enumerate(PARTITIONS):
        for depth, groups in ((64, (16, 64)), (128, (12, 32)), (256, (16, 9))):
            found.append(DecodeConfig(partitions, groups[number % 2], depth, stages=1, lse=True, page=64 * (number % 2)))
        for group, queries in (((8, 2), (3, 5)), ((1, 4), (8, 4)), ((5, 3), (2, 16)))[number % 3]:
            clusters = 2 if partitions > 1 and number % 2 else 1
            found.append(DecodeConfig(partitions, group, stages=2, clusters=clusters, queries=queries, lse=True, page=128 * (number % 2)))
        for depth, group in ((64, 16), (128, 8), (256, 3)):
            found.append(
                DecodeConfig(partitions, group, depth, stages=2, cache="e4m3", queries=1 + number % 2, page=64 * (number % 2), lse=True)
            )
        found.append(DecodeConfig(partitions, 4, stages=8, cache="e4m3", clusters=3 if partitions > 1 else 1))
    return list(dict.fromkeys(found))


def run(folder: Path, quick: bool, resident: bool) -> int:
    listed = json.loads((folder / "configs.json").read_text())
    started = time.perf_counter()
    wrong = cases = left_out = 0
    share = l2 = 0.0
    seeds = (0,) if quick else (time.time_ns() % 100_000, 1)
    print(f"seeds {seeds}")
    for number, (file, fields) in enumerate(listed.items()):
        if quick and number % 4:
            continue
        config = DecodeConfig(**fields)
        artifact = load(folder / file)
        for lengths, seed in product(LENGTHS[:2] if quick else LENGTHS, seeds):
            case = DecodeCase(config, lengths, key_heads=2, seed=seed + number, spread=(1.0, 8.0)[number % 2])
            if resident and beyond_resident(config.partitions, case.grid):
                left_out += 1
                continue
            cases += 1
            for _ in range(2 if config.clusters > 1 else 1):  # twice: the counters must have reset
                launch(
                    artifact,
                    case.grid,
                    case.arguments,
                    device="cuda",
                    copy=True,
                    watchdog=WATCHDOG_SECONDS,
                    programmatic=config.dependent,
                )
            judged = case.judge()
            share, l2 = max(share, judged.worst_share), max(l2, judged.relative_l2)
            if not judged.ok:
                wrong += 1
                print(f"WRONG {config} lengths={lengths} seed={seed + number}: {judged}", flush=True)
    print(f"worst error {share:.3f} of its bound, relative L2 {l2:.2e}")
    if left_out:
        print(f"{left_out} cases of more clusters of 16 than are resident left out")
    print(f"{cases - wrong} of {cases} cases right in {time.perf_counter() - started:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(configs(), decode_kernel, run))
