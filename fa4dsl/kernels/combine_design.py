"""Which exchange combines a tile fastest: chosen from a table of measurements, with the reason in words.

| design | the CTAs exchange by | what it costs |
|---|---|---|
| `pull` | DSMEM loads, a thread for each row, output by TMA: the original's | one warpgroup cannot fill DSMEM |
| `pull_wide` | DSMEM loads of all threads | two trips through the cluster and a closing barrier |
| `push` | st.async from registers into the owner's slots | one trip, no closing barrier |
| `push_bulk` | one bulk copy for each owner | staging, one trip, a closing barrier |

The table (`combine_measured`) is printed by ``benchmarks/combine_on_chip.py table`` from a run of that script; replace it on another GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from fa4dsl.kernels.combine_config import CombineConfig, Design
from fa4dsl.kernels.combine_measured import GPU, MEASURED
from fa4dsl.runtime.diagnostics import Fa4dslError

MEASURED_DEPTH = 128


@dataclass(frozen=True)
class Choice:
    """A design for a tile, and why."""

    design: Design
    threads: int
    pieces: int
    """Pieces into which the tile's rows are cut, each with a cluster of its own."""
    reason: str


def measured_shape(rows: int, partitions: int, depth: int) -> tuple[int, int]:
    """(rows, P) of the table that stands for a tile: the next that is as large, in bytes and in partitions."""
    wanted = -(-rows * depth // MEASURED_DEPTH)
    rows_there = sorted({r for r, _ in MEASURED})
    partitions_there = sorted({p for _, p in MEASURED})
    row = next((r for r in rows_there if r >= wanted), rows_there[-1])
    return row, next((p for p in partitions_there if p >= partitions), partitions_there[-1])


def choose(
    rows: int, partitions: int, depth: int, *, output: str = "bf16", swizzle: str = "none", blocks_per_store: int = 0, group: int = 1
) -> Choice:
    """The design for tiles of `rows` rows (the tile's own rows, `group` fused heads included), combined by clusters of `partitions`.

    Options of the TMA store choose `pull`, which alone has one. Else the fastest measured design that fits in shared memory. Raises what
    `CombineConfig` raises where none can run.
    """
    if swizzle != "none" or blocks_per_store:
        option = f"swizzle={swizzle}" if swizzle != "none" else f"blocks_per_store={blocks_per_store}"
        return Choice("pull", 0, 1, f"{option} is an option of the TMA store, which pull alone has")
    shape = measured_shape(rows, partitions, depth)
    ranked = sorted(MEASURED[shape].items(), key=lambda item: item[1][2])
    error: Fa4dslError | None = None
    for place, (design, (threads, pieces, microseconds)) in enumerate(ranked):
        height, threads = (-(-rows // 32) * 32, 0) if design == "pull" else (rows, threads)  # pull has a thread for each row
        pieces = min(pieces, max(rows // group, 1))
        try:
            config = CombineConfig(partitions, depth, height, design, threads, output, pieces=pieces)
        except Fa4dslError as found:
            if found.code not in ("L204", "L206"):
                raise
            error = found
            continue
        others = ", ".join(f"{other} {us:.2f}" for other, (_, _, us) in ranked[place + 1 :])
        cut = f" with the rows cut into {pieces} pieces" if pieces > 1 else ""
        figures = f"{design} {microseconds:.2f} us{cut}" + (f" against {others}" if others else "")
        return Choice(config.design, threads, pieces, f"measured on {GPU} for {shape[0]} rows x {MEASURED_DEPTH}, P={shape[1]}: {figures}")
    assert error is not None
    raise error
