"""The combine of partial results in global memory, as a kernel of its own: fa4dsl beside Triton, FlashAttention, FlashInfer, torch and a plain copy.

    python benchmarks/combine_standalone.py prepare FOLDER                  # where MLIR is installed: compiles every variant
    python benchmarks/combine_standalone.py run FOLDER [options of the peers' script, such as --cases quick --only fa4dsl,triton]

    python benchmarks/combine_standalone.py table JSON                      # prints fa4dsl/kernels/partials_measured.py from a run's --json

`run` needs a GPU and torch; it is `peers/combine_peers.py`, which measures everything in one run by CUDA graphs, hot (partials in L2) and cold.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

from peer_script import main

PARTITIONS = (2, 4, 8, 16, 32, 64)
MOST_IN_FLIGHT = 16
"""Partial results that one thread holds at once; more need groups."""


def variants() -> list[tuple[int, int, int, int, int]]:
    """(partitions, rows of a CTA, groups, vectors, streaming) of every kernel that is measured: 32 lanes a row and group, 32 to 512 threads a CTA."""
    found = []
    for partitions, groups in product(PARTITIONS, (1, 2, 4, 8, 16)):
        each = -(-partitions // groups)
        if each > MOST_IN_FLIGHT or (groups > 1 and each < 2):
            continue
        for rows, vectors in product((1, 2, 4, 8) if groups == 1 else (1, 2, 4), (1, 2)):
            if 32 <= rows * groups * (32 // vectors) <= 512:
                found += [(partitions, rows, groups, vectors, streaming) for streaming in (0, 1) if not streaming or partitions <= 16]
    return found


def prepare(folder: Path, share: tuple[int, int]) -> None:
    from fa4dsl.kernels.combine_partials import PartialsConfig, combine_partials

    folder.mkdir(parents=True, exist_ok=True)
    for partitions, rows, groups, vectors, streaming in variants()[share[0] :: share[1]]:
        options = {"rows_per_block": rows, "groups": groups, "vectors": vectors, "streaming": bool(streaming)}
        config = PartialsConfig(partitions, finite=True, **options)  # type: ignore[arg-type]
        combine_partials("bf16").bind(c=config).artifact.save(
            folder / f"partials_p{partitions}_r{rows}_g{groups}_v{vectors}_s{streaming}.fa4"
        )


def table(measured: Path) -> str:
    """The text of fa4dsl/kernels/partials_measured.py: for each shape the fastest variant with the partials in L2, as a split kernel leaves them."""
    best: dict[tuple[int, int], tuple[float, str]] = {}
    for line in measured.read_text().splitlines():
        record = json.loads(line)
        if not record.get("peer", "").startswith("fa4dsl") or not record["ok"]:
            continue
        shape = record["P"], record["rows"]
        if shape not in best or record["hot_us"] < best[shape][0]:
            best[shape] = record["hot_us"], record["note"]
    lines = []
    for (partitions, rows), (us, note) in best.items():
        numbers = ", ".join(part[1:] for part in note.split("_"))
        lines.append(f"    ({partitions}, {rows}): ({numbers}, {us:.2f}),")
    head = """\"\"\"The fastest variants of the stand-alone combine on an H200; printed by ``benchmarks/combine_standalone.py table``.\"\"\"

MEASURED: dict[tuple[int, int], tuple[int, int, int, int, float]] = {
"""
    tail = """}
\"\"\"(P, rows) of partials 128 columns wide in L2: rows of a CTA, groups of threads, 16-byte pieces of a thread, whether
it reads and writes past the caches, and the microseconds of a launch.\"\"\"
"""
    return head + "\n".join(lines) + "\n" + tail


if __name__ == "__main__":
    sys.exit(main(__doc__, "combine_peers.py", prepare, table))
