"""Runs the combine on random inputs and holds its result against the float64 reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_case import CombineCase
from fa4dsl.kernels.combine_config import LARGEST_TILE, CombineConfig
from fa4dsl.kernels.combine_design import Choice, choose
from fa4dsl.kernels.kernel_run import Device, KernelRun, run_case
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.types import Swizzle


class CombineOptions(TypedDict, total=False):
    """Fields of the configuration that a run may set, beside the sizes and the design."""

    output: str
    use_fma: bool
    sink: bool
    lse: bool
    group: int
    swizzle: Swizzle
    blocks_per_store: int
    clusters: int


OPTIONS = tuple(CombineOptions.__annotations__)


@dataclass(frozen=True, kw_only=True)
class CombineRun(KernelRun):
    """What a run of the combine showed."""

    config: CombineConfig
    choice: Choice
    """The design and the reason for it."""
    rows: int
    tiles: int
    heads: int

    @property
    def partitions(self) -> int:
        """Partial results of a tile: of all its clusters."""
        return self.config.partitions * self.config.clusters

    @property
    def depth(self) -> int:
        return self.config.depth

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
    device: Device = "auto",
    progress: Callable[..., Any] | None = None,
    schedule: str = "eager",
    design: str = "auto",
    threads: int = 0,
    pieces: int = 0,
    **options: Unpack[CombineOptions],
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
    outcome = run_case(
        combine_kernel(config),
        lambda: CombineCase(config, rows, tiles, heads, seed),
        device=device,
        schedule=schedule,
        seed=seed,
        progress=progress,
    )
    return CombineRun(kernel="splitk-combine", config=config, choice=chosen, rows=rows, tiles=tiles, heads=heads, **outcome)


def _choice(design: Any, threads: int, pieces: int, rows: int, partitions: int, depth: int, options: CombineOptions) -> Choice:
    if design != "auto":
        return Choice(design, threads, pieces or 1, "asked for")
    known: dict[str, Any] = {name: value for name, value in options.items() if name in ("output", "swizzle", "blocks_per_store", "group")}
    found = choose(rows, partitions, depth, **known)
    return Choice(found.design, threads or found.threads, pieces or found.pieces, found.reason)
