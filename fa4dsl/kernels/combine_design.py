"""Which exchange combines a tile fastest: a table of measurements, and the choice made from it, with its reason in words.

| design | the CTAs exchange by | good for |
|---|---|---|
| `pull` | DSMEM loads, a thread for each row, output by TMA: the original's | tiles whose output must go through TMA |
| `pull_wide` | DSMEM loads of all threads | many rows |
| `push` | st.async from registers into the owner's slots, no closing barrier | few rows |
| `push_bulk` | one bulk copy for each owner | |

`MEASURED` comes from benchmarks/combine_on_chip.py; replace it by a run of that script on another GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from fa4dsl.kernels.combine_config import SHARED_LIMIT, CombineConfig, Design
from fa4dsl.runtime.diagnostics import Fa4dslError


@dataclass(frozen=True)
class Choice:
    """A design for a tile, and why."""

    design: Design
    threads: int
    reason: str


PUSH_ROWS = 16
"""Up to so many rows the push is fastest at every P: it has one trip through the cluster on its critical path, the pull two and a closing barrier."""
THREADS = {4: 128, 8: 128, 16: 128, 32: 256, 64: 512, 128: 512}
"""Threads by the tile's rows (the next larger entry counts): DSMEM bandwidth needs many loads in flight."""


def threads_for(rows: int) -> int:
    """Threads of a CTA for a tile of `rows` rows."""
    return next((threads for most, threads in THREADS.items() if rows <= most), 512)


def choose(rows: int, partitions: int, depth: int, *, output: str = "bf16", swizzle: str = "none", blocks_per_store: int = 0) -> Choice:
    """The design for tiles of `rows` rows (the tile's own rows, fused heads included), combined by clusters of `partitions`.

    Options of the TMA store choose `pull`, which alone has one. Raises what `CombineConfig` raises where no design can run.
    """
    if swizzle != "none" or blocks_per_store:
        option = f"swizzle={swizzle}" if swizzle != "none" else f"blocks_per_store={blocks_per_store}"
        return Choice("pull", 0, f"{option} is an option of the TMA store, which pull alone has")
    threads = threads_for(rows)
    if rows <= PUSH_ROWS:
        return Choice("push", threads, f"{rows} rows, at most {PUSH_ROWS}: one trip through the cluster, and no closing barrier")
    try:
        CombineConfig(partitions=partitions, depth=depth, rows=rows, design="pull_wide", threads=threads, output=output)
    except Fa4dslError as error:
        if error.code != "L204":
            raise
        return Choice("pull", 0, f"the tile takes more than {SHARED_LIMIT} bytes in any other design")
    return Choice("pull_wide", threads, f"{rows} rows, more than {PUSH_ROWS}: bandwidth counts, and {threads} threads' loads fill it")
