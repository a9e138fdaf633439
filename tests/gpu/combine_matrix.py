"""The combine over its whole matrix on a GPU, from artifacts compiled elsewhere: the GPU machine needs no MLIR.

    python tests/gpu/combine_matrix.py prepare FOLDER          # where MLIR is installed
    python tests/gpu/combine_matrix.py run FOLDER [--quick] [--resident]   # where the GPU is; --quick for compute-sanitizer, --resident for its synccheck

Every P and D with every design, and every output type, option and legal store. Each case: random partials with NaN where a partition is empty, stale
maxima, a row that is empty everywhere; poisoned output with guard rows; the float64 reference's own error bound, the LSE's too; the relative L2
error; both halves of the columns; and every launch waits with a watchdog. Last, an output at the very start of its mapped memory.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matrix_script import beyond_resident, main

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_case import CombineCase
from fa4dsl.kernels.combine_config import DEPTHS, OUTPUTS, PARTITIONS, CombineConfig
from fa4dsl.runtime import load
from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.launch import launch

WATCHDOG_SECONDS = 20.0
TILES = (4, 16, 64, 128)
WIDE = ("pull_wide", "push", "push_bulk")


def configs() -> list[CombineConfig]:
    """What is compiled: about 230 kernels."""
    found = []
    for number, (partitions, depth) in enumerate(product(PARTITIONS, DEPTHS)):
        found.append(CombineConfig(partitions, depth, lse=True))
        for design_number, design in enumerate(WIDE):
            rows = TILES[(number + design_number) % 4]
            if design == "push_bulk":
                rows = min(rows, 64)
            found.append(CombineConfig(partitions, depth, rows, design, lse=True))  # type: ignore[arg-type]
    for output, design in product(OUTPUTS, ("pull", *WIDE)):
        rows = 64 if design == "pull" else 16
        found.append(CombineConfig(6, 80, rows, design, output=output, use_fma=False, sink=True, lse=True))  # type: ignore[arg-type]
    found += [CombineConfig(4, 72, 16, "push", output=output) for output in ("e4m3", "e5m2")]
    for swizzle, output in product(("32B", "64B", "128B"), OUTPUTS):
        found.append(CombineConfig(4, 192, 128, swizzle=swizzle, output=output))  # type: ignore[arg-type]
    for partitions, depth, swizzle, blocks in (
        (2, 128, "none", 8),
        (4, 128, "none", 2),
        (8, 128, "none", 1),
        (6, 80, "none", 2),
        (2, 256, "64B", 4),
        (2, 256, "128B", 2),
    ):
        found.append(CombineConfig(partitions, depth, swizzle=swizzle, blocks_per_store=blocks))  # type: ignore[arg-type]
    for design, group in product(("pull", *WIDE), (2, 8)):
        found.append(CombineConfig(4, 128, 64, design, group=group, lse=True, sink=True, use_fma=False))  # type: ignore[arg-type]
    for design, clusters in product(WIDE, (2, 4, 8)):
        found.append(CombineConfig(8, 128, 16, design, clusters=clusters, lse=True))  # type: ignore[arg-type]
    for design, (rows, pieces, group) in product(WIDE, ((128, 8, 1), (64, 4, 4), (30, 4, 3))):
        found.append(CombineConfig(8, 128, rows, design, pieces=pieces, group=group, lse=True))  # type: ignore[arg-type]
    found.append(CombineConfig(16, 128, 64, "push", pieces=4, clusters=2, lse=True))
    found.append(CombineConfig(4, 64, 128, output="f16"))
    return list(dict.fromkeys(found))


def rows_of(config: CombineConfig, quick: bool) -> list[int]:
    """Valid positions to try: one, a ragged number, all."""
    most = config.positions
    return sorted({1, most}) if quick else sorted({1, max(most * 3 // 5, 1), most})


def name_of(config: CombineConfig) -> str:
    plain = CombineConfig(config.partitions, config.depth, config.rows, config.design, config.threads)
    options = [f"{key}={value}" for key, value in asdict(config).items() if value != asdict(plain)[key]]
    return f"P={config.partitions} D={config.depth} BM={config.rows} {config.design}({config.threads}) {' '.join(options)}"


def run(folder: Path, quick: bool, resident: bool) -> int:
    listed = json.loads((folder / "configs.json").read_text())
    started = time.perf_counter()
    wrong = cases = left_out = 0
    worst: dict[str, tuple[float, float]] = {}
    seeds = (0,) if quick else (time.time_ns() % 100_000, 1)
    print(f"seeds {seeds}")
    for number, (file, fields) in enumerate(listed.items()):
        if quick and number % 5:
            continue
        config = CombineConfig(**fields)
        artifact = load(folder / file)
        for rows, seed in product(rows_of(config, quick), seeds):
            case = CombineCase(config, rows, tiles=3, heads=2, seed=seed + number)
            if resident and beyond_resident(config.partitions, case.grid):
                left_out += 1
                continue
            cases += 1
            for _ in range(2 if config.clusters > 1 else 1):  # twice: the counters must have reset
                launch(artifact, case.grid, case.arguments, device="cuda", copy=True, watchdog=WATCHDOG_SECONDS)
            judged = case.judge()
            share, l2 = worst.get(config.design, (0.0, 0.0))
            worst[config.design] = (max(share, judged.worst_share), max(l2, judged.relative_l2 if config.output == "bf16" else 0.0))
            band_wrong = judged.worse_half > 5.0 and judged.relative_l2 > 1e-6
            if not judged.ok or band_wrong:
                wrong += 1
                print(f"WRONG {name_of(config)} rows={rows} seed={seed + number}: {judged}", flush=True)
    if not quick:
        cases += 1
        with current_context(gpu(None)) as device:
            at_start = first_byte(load(folder / list(listed)[-1]), CombineConfig(**list(listed.values())[-1]), device.ordinal)
        wrong += not at_start
        print(f"output at the start of its mapped memory: {'right' if at_start else 'WRONG'}")
    for design, (share, l2) in worst.items():
        print(f"{design:10s} worst error {share:.3f} of its bound, relative L2 of bf16 {l2:.2e}")
    if left_out:
        print(f"{left_out} cases of more clusters of 16 than are resident left out")
    print(f"{cases - wrong} of {cases} cases right in {time.perf_counter() - started:.1f} s")
    return 1 if wrong else 0


class DeviceArray:
    """A host array's copy on the GPU, or memory that is there already."""

    def __init__(self, host: np.ndarray, address: int | None = None) -> None:
        from fa4dsl.runtime.cuda.driver import call

        self.host = np.ascontiguousarray(host)
        self.address = int(call("cuMemAlloc", max(self.host.nbytes, 16))) if address is None else address
        call("cuMemcpyHtoD", self.address, self.host.ctypes.data, self.host.nbytes)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.host.shape, "typestr": self.host.dtype.str, "data": (self.address, False), "version": 3}

    def back(self) -> None:
        from fa4dsl.runtime.cuda.driver import call

        call("cuMemcpyDtoH", self.host.ctypes.data, self.address, self.host.nbytes)


def first_byte(artifact: Any, config: CombineConfig, ordinal: int) -> bool:
    """Runs with the output at the first mapped byte of an address range whose part in front is not mapped."""
    from fa4dsl.runtime.cuda.driver import call, driver

    cu = driver()
    properties = cu.CUmemAllocationProp()
    properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = ordinal
    size = int(call("cuMemGetAllocationGranularity", properties, cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM))
    reserved = int(call("cuMemAddressReserve", 3 * size, 0, 0, 0))
    handle = call("cuMemCreate", size, properties, 0)
    mapped = reserved + size
    call("cuMemMap", mapped, size, 0, handle, 0)
    access = cu.CUmemAccessDesc()
    access.location = properties.location
    access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    call("cuMemSetAccess", mapped, size, [access], 1)
    right = True
    for rows in (1, 5, 128):
        case = CombineCase(config, rows, tiles=1, heads=1, seed=rows, rows_in_front=0)
        values = case.arguments
        output = DeviceArray(case.output, mapped)
        moved = [DeviceArray(value) if isinstance(value, np.ndarray) else value for value in values]
        moved[3] = output
        launch(artifact, case.grid, moved, device="cuda", watchdog=WATCHDOG_SECONDS)
        output.back()
        case.output[:] = output.host
        right = right and case.judge().ok
    return right


if __name__ == "__main__":
    sys.exit(main(configs(), combine_kernel, run))
