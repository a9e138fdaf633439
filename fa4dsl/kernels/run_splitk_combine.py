"""Runs the combine on random inputs and holds its result against the float64 reference."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_case import CombineCase, Judgement
from fa4dsl.kernels.combine_config import LARGEST_TILE, CombineConfig
from fa4dsl.kernels.combine_design import Choice, choose
from fa4dsl.runtime.diagnostics import fail


@dataclass(frozen=True)
class CombineRun:
    """What a run showed."""

    kernel: str
    device: str
    config: CombineConfig
    choice: Choice
    """The design and the reason for it."""
    rows: int
    tiles: int
    heads: int
    seed: int
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    judgement: Judgement
    verdict: str
    """The simulator's word ("clean", or the findings' codes); "not checked" on a GPU."""
    seconds: float
    """The launch, without compilation."""
    compile_seconds: float
    report: Any = field(default=None, repr=False, compare=False)

    @property
    def partitions(self) -> int:
        """Partial results of a tile: of all its clusters."""
        return self.config.partitions * self.config.clusters

    @property
    def depth(self) -> int:
        return self.config.depth

    @property
    def max_abs_error(self) -> float:
        return self.judgement.max_abs_error

    @property
    def tolerance(self) -> float:
        return self.judgement.tolerance

    @property
    def worst_share(self) -> float:
        return self.judgement.worst_share

    @property
    def relative_l2(self) -> float:
        return self.judgement.relative_l2

    @property
    def neighbours_untouched(self) -> bool:
        return self.judgement.neighbours_untouched

    @property
    def ok(self) -> bool:
        """Right within rounding, nothing else written, and nothing found by the simulator."""
        return self.judgement.ok and self.verdict in ("clean", "not checked")

    def as_dict(self) -> dict[str, Any]:
        """The fields that ``fa4dsl run --json`` prints."""
        names = ("kernel", "device", "partitions", "depth", "rows", "tiles", "heads", "seed", "max_abs_error", "tolerance")
        design = {
            "design": self.config.design,
            "threads": self.config.threads,
            "pieces": self.config.pieces,
            "reason": self.choice.reason,
        }
        options = {name: getattr(self.config, name) for name in OPTIONS}
        return {
            **{name: getattr(self, name) for name in names},
            **design,
            **options,
            "ok": self.ok,
            "verdict": self.verdict,
            "seconds": self.seconds,
        }


OPTIONS = ("output", "use_fma", "sink", "lse", "group", "swizzle", "blocks_per_store", "clusters")
"""Fields of the configuration that a run may set, beside the sizes and the design."""


def tile_rows(design: str, rows: int) -> int:
    """BM for tiles of at most `rows` rows: `pull` takes whole warps, the others the next power of two from 4 on."""
    least = 32 if design == "pull" else 4
    return max(least, 1 << (rows - 1).bit_length())


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
    design: str = "auto",
    threads: int = 0,
    pieces: int = 0,
    **options: Any,
) -> CombineRun:
    """Compiles the combine, runs it on random partials and compares with float64.

    `rows` valid rows in each of `tiles` tiles, `heads` heads; with ``group=G`` positions and key heads, of which each has G rows of the tile.
    `options` are fields of `CombineConfig`: output, use_fma, sink, lse, group, swizzle, blocks_per_store, clusters. "auto" takes a Hopper GPU
    if there is one, else the simulator, and the design, threads and pieces (where they are 0) of `combine_design.choose`; `progress` and `schedule` are for the simulator. Raises L065,
    L066, L096, L097, L200 to L209 for what the kernels do not support.
    """
    group = options.get("group", 1)
    if rows < 1 or rows * group > LARGEST_TILE:
        fail("L096", rows=rows * group, limit=LARGEST_TILE)
    for name, value in (("tiles", tiles), ("heads", heads)):
        if value < 1:
            fail("L097", name=name, value=value)
    chosen = _choice(design, threads, pieces, rows * group, partitions, depth, options)
    height = tile_rows(chosen.design, rows * group)
    if height % group:
        height = -(-rows * group // 32) * 32 if chosen.design == "pull" else rows * group
    config = CombineConfig(partitions, depth, height, chosen.design, chosen.threads, pieces=chosen.pieces, **options)
    device = _device(device)
    started = time.perf_counter()
    bound = combine_kernel(config)
    artifact = bound.compile()
    compile_seconds = time.perf_counter() - started
    case = CombineCase(config, rows, tiles, heads, seed)
    launching: dict[str, Any] = {"copy": True} if device == "cuda" else {"schedule": schedule, "seed": seed, "progress": progress}
    started = time.perf_counter()
    result = bound.launch(case.grid, case.arguments, device=device, **launching)
    seconds = time.perf_counter() - started
    return CombineRun(
        kernel="splitk-combine",
        device=device,
        config=config,
        choice=chosen,
        rows=rows,
        tiles=tiles,
        heads=heads,
        seed=seed,
        cluster=artifact.manifest.cluster,
        grid=case.grid,
        judgement=case.judge(),
        verdict="not checked" if result.report is None else str(result.report.verdict),
        seconds=result.seconds if result.seconds is not None else seconds,
        compile_seconds=compile_seconds,
        report=result.report,
    )


def _choice(design: Any, threads: int, pieces: int, rows: int, partitions: int, depth: int, options: dict[str, Any]) -> Choice:
    if design != "auto":
        return Choice(design, threads, pieces or 1, "asked for")
    known = {name: options[name] for name in ("output", "swizzle", "blocks_per_store", "group") if name in options}
    found = choose(rows, partitions, depth, **known)
    return Choice(found.design, threads or found.threads, pieces or found.pieces, found.reason)


def _device(device: str) -> Literal["cuda", "simulator"]:
    if device == "auto":
        from fa4dsl.runtime.cuda.device import capability_if_any

        found = capability_if_any()
        return "cuda" if found is not None and found[0] == 9 else "simulator"
    return "cuda" if device == "cuda" else "simulator"
