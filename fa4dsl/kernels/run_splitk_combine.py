"""Runs the combine on random inputs and holds its result against the float64 reference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fa4dsl.kernels.reference import combine_reference, combine_tolerance, is_untouched, poisoned_output, random_combine_inputs
from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
from fa4dsl.runtime.diagnostics import fail

LARGEST_TILE = 128


@dataclass(frozen=True)
class CombineRun:
    """What a run showed."""

    kernel: str
    device: str
    partitions: int
    depth: int
    rows: int
    tiles: int
    heads: int
    seed: int
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    max_abs_error: float
    """Largest |result - reference|; infinity where the result has a NaN."""
    tolerance: float
    """The bound at the element with the largest error; every element has its own (`worst_share`)."""
    worst_share: float
    """Largest error as a share of its own element's bound; at most 1 when the result is right."""
    relative_l2: float
    """|result - reference| / |reference|, Euclidean."""
    neighbours_untouched: bool
    """Rows before the first and behind the last still hold what they held."""
    verdict: str
    """The simulator's word ("clean", or the findings' codes); "not checked" on a GPU."""
    seconds: float
    """The launch, without compilation."""
    compile_seconds: float
    report: Any = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Right within rounding, nothing else written, and nothing found by the simulator."""
        return self.worst_share <= 1.0 and self.neighbours_untouched and self.verdict in ("clean", "not checked")

    def as_dict(self) -> dict[str, Any]:
        """The fields that ``fa4dsl run --json`` prints."""
        names = ("kernel", "device", "partitions", "depth", "rows", "tiles", "heads", "seed", "max_abs_error", "tolerance")
        return {**{name: getattr(self, name) for name in names}, "ok": self.ok, "verdict": self.verdict, "seconds": self.seconds}


def run_splitk_combine(
    partitions: int = 8,
    depth: int = 128,
    rows: int = 128,
    tiles: int = 2,
    heads: int = 1,
    seed: int = 0,
    device: Literal["auto", "cuda", "simulator"] = "auto",
    progress: Callable[..., Any] | None = None,
    schedule: str = "eager",
) -> CombineRun:
    """Compiles the combine, runs it on random partials and compares with float64.

    `rows` valid rows in each of `tiles` tiles, `heads` heads. "auto" takes a Hopper GPU if there is one, else the simulator; `progress` and
    `schedule` are for the simulator. Raises L065, L066, L096, L097 for what the kernel does not support.
    """
    config = CombineConfig(partitions, depth, LARGEST_TILE)
    if not 1 <= rows <= LARGEST_TILE:
        fail("L096", rows=rows, limit=LARGEST_TILE)
    for name, value in (("tiles", tiles), ("heads", heads)):
        if value < 1:
            fail("L097", name=name, value=value)
    chosen = _device(device)
    started = time.perf_counter()
    bound = splitk_combine.bind(c=config)
    artifact = bound.compile()
    compile_seconds = time.perf_counter() - started
    inputs = random_combine_inputs(partitions, depth, rows, tiles, heads, seed)
    output, whole = poisoned_output(inputs.total_rows, heads, depth, config.rows)
    grid = (tiles * partitions, heads, 1)
    arguments = {
        "partial": inputs.partial,
        "statistics": inputs.statistics,
        "row_offsets": inputs.row_offsets,
        "output": output,
        "total_rows": inputs.total_rows,
        "heads": heads,
        "scale_log2e": inputs.scale_log2e,
    }
    options: dict[str, Any] = {"copy": True} if chosen == "cuda" else {"schedule": schedule, "seed": seed, "progress": progress}
    started = time.perf_counter()
    result = bound.launch(grid, arguments, device=chosen, **options)
    seconds = time.perf_counter() - started
    error, bound_at, share, l2 = _compare(output.astype(np.float64), combine_reference(inputs), combine_tolerance(inputs))
    return CombineRun(
        kernel="splitk-combine",
        device=chosen,
        partitions=partitions,
        depth=depth,
        rows=rows,
        tiles=tiles,
        heads=heads,
        seed=seed,
        cluster=artifact.manifest.cluster,
        grid=grid,
        max_abs_error=error,
        tolerance=bound_at,
        worst_share=share,
        relative_l2=l2,
        neighbours_untouched=is_untouched(whole[: config.rows]) and is_untouched(whole[config.rows + inputs.total_rows :]),
        verdict=_verdict(result.report),
        seconds=result.seconds if result.seconds is not None else seconds,
        compile_seconds=compile_seconds,
        report=result.report,
    )


def _device(device: str) -> Literal["cuda", "simulator"]:
    if device == "auto":
        from fa4dsl.runtime.cuda.device import capability_if_any

        found = capability_if_any()
        return "cuda" if found is not None and found[0] == 9 else "simulator"
    return "cuda" if device == "cuda" else "simulator"


def _verdict(report: Any) -> str:
    if report is None:
        return "not checked"
    return str(report.verdict)


def _compare(result: Any, exact: Any, bound: Any) -> tuple[float, float, float, float]:
    """Largest error, the bound there, the largest share of its own bound that an error takes, and the relative L2 error."""
    error = np.abs(result - exact)
    if not np.isfinite(error).all():
        return float("inf"), float(bound.max()), float("inf"), float("inf")
    share = np.divide(error, bound, out=np.zeros_like(error), where=bound > 0.0)
    share[(bound == 0.0) & (error > 0.0)] = np.inf
    largest = np.unravel_index(int(error.argmax()), error.shape)
    norm = float(np.linalg.norm(exact))
    l2 = float(np.linalg.norm(result - exact)) / norm if norm else 0.0
    return float(error[largest]), float(bound[largest]), float(share.max()), l2
