"""The combine over its whole matrix on a GPU, from artifacts compiled elsewhere: the GPU machine needs no MLIR.

    python tests/gpu/combine_matrix.py prepare FOLDER          # where MLIR is installed
    python tests/gpu/combine_matrix.py run FOLDER [--quick]    # where the GPU is; --quick for compute-sanitizer

Each case: random partials, empty partitions, stale maxima; poisoned output with guard rows; the float64 reference's own error bound; two
heads; the relative L2 error; and every launch waits with a watchdog.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

from fa4dsl.kernels.reference import combine_reference, combine_tolerance, is_untouched, poisoned_output, random_combine_inputs
from fa4dsl.runtime import load
from fa4dsl.runtime.launch import launch

PARTITIONS = (2, 4, 8, 16)
DEPTHS = (64, 128)
ROWS = (1, 77, 128)
WATCHDOG_SECONDS = 20.0


def path_of(folder: Path, partitions: int, depth: int) -> Path:
    return folder / f"combine_p{partitions}_d{depth}.fa4"


def prepare(folder: Path) -> None:
    from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine

    folder.mkdir(parents=True, exist_ok=True)
    for partitions, depth in product(PARTITIONS, DEPTHS):
        splitk_combine.bind(c=CombineConfig(partitions=partitions, depth=depth)).artifact.save(path_of(folder, partitions, depth))


def run_case(
    artifact: object, partitions: int, depth: int, rows: int, seed: int, tiles: int = 3, heads: int = 2
) -> tuple[float, float, bool]:
    """Largest error as a share of its bound, relative L2 error, and whether the guard rows are whole."""
    inputs = random_combine_inputs(partitions, depth, rows, tiles, heads, seed)
    output, whole = poisoned_output(inputs.total_rows, heads, depth, 128)
    arguments = (inputs.partial, inputs.statistics, inputs.row_offsets, output, inputs.total_rows, heads, inputs.scale_log2e)
    launch(artifact, (tiles * partitions, heads, 1), arguments, device="cuda", copy=True, watchdog=WATCHDOG_SECONDS)  # type: ignore[arg-type]
    exact = combine_reference(inputs)
    error = np.abs(output.astype(np.float64) - exact)
    bound = combine_tolerance(inputs)
    # A NaN anywhere fails: the comparison below is false for it.
    share = float(np.where(error <= bound, error / np.maximum(bound, 1e-300), np.inf).max())
    untouched = is_untouched(whole[:128]) and is_untouched(whole[128 + inputs.total_rows :])
    return share, float(np.linalg.norm(output.astype(np.float64) - exact) / np.linalg.norm(exact)), untouched


def run(folder: Path, quick: bool) -> int:
    wrong = 0
    started = time.perf_counter()
    cases = 0
    for partitions, depth in product(PARTITIONS, DEPTHS):
        artifact = load(path_of(folder, partitions, depth))
        worst, relative = 0.0, 0.0
        for rows, seed in product(ROWS, (0,) if quick else (0, 1, 2)):
            share, l2, untouched = run_case(artifact, partitions, depth, rows, seed + 1000 * partitions)
            cases += 1
            worst, relative = max(worst, share), max(relative, l2)
            if share > 1.0 or not untouched:
                wrong += 1
                print(
                    f"WRONG P={partitions} D={depth} rows={rows} seed={seed}: {share:.3g} of the bound, guard rows {'whole' if untouched else 'written'}"
                )
        print(f"P={partitions:2d} D={depth:3d}: worst error {worst:.3f} of its bound, relative L2 {relative:.2e}")
    print(f"{cases - wrong} of {cases} cases right in {time.perf_counter() - started:.1f} s")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("prepare", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if options.action == "prepare":
        prepare(options.folder)
        return 0
    return run(options.folder, options.quick)


if __name__ == "__main__":
    sys.exit(main())
