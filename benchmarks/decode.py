"""Split-K decode attention: fa4dsl's kernel beside Triton, cuDNN, FlashAttention and FlashInfer.

    python benchmarks/decode.py prepare FOLDER                  # where MLIR is installed: compiles every variant
    python benchmarks/decode.py run FOLDER [options of the peers' script, such as --shapes quick --only fa4dsl,triton]
    python benchmarks/decode.py table JSON                      # prints fa4dsl/kernels/decode_measured.py from a run's --json, or several joined

`run` needs a GPU and torch; it is `peers/decode_peers.py`, which measures everything in one run by CUDA graphs, the KV cache in HBM.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path

from peer_script import main

from fa4dsl.kernels.decode_config import DecodeConfig

GROUPS = (4, 8, 16, 32)
STAGES = (2, 3, 4, 6)


def variants() -> list[tuple[int, int, int, int, int, str]]:
    """(group, P, clusters, stages, dependent, cache) of every kernel that is measured."""
    found = []
    for group, partitions, stages in product(GROUPS, (1, 2, 4, 8, 16), STAGES):
        for clusters in (1, 2, 4, 8) if partitions > 1 else (1,):
            # Many heads: fewer variants, as far as there is room.
            if group <= 8 or (stages in (2, 4) and DecodeConfig(partitions, group, clusters=clusters, stages=1).most_stages >= stages):
                kinds = (0, 1) if clusters <= 2 and group <= 8 else (0,)
                found += [(group, partitions, clusters, stages, dependent, "bf16") for dependent in kinds]
    for group, partitions, stages in product((4, 8), (1, 2, 4, 8, 16), (4, 8)):
        found += [(group, partitions, clusters, stages, 0, "e4m3") for clusters in ((1, 2, 8) if partitions > 1 else (1,))]
    return found


def prepare(folder: Path, share: tuple[int, int]) -> None:
    from fa4dsl.kernels.splitk_decode import splitk_decode

    folder.mkdir(parents=True, exist_ok=True)
    for group, partitions, clusters, stages, dependent, cache in variants()[share[0] :: share[1]]:
        config = DecodeConfig(partitions, group, stages=stages, clusters=clusters, cache=cache, dependent=bool(dependent))
        splitk_decode.bind(c=config).artifact.save(folder / f"decode_{cache}_g{group}_p{partitions}_c{clusters}_s{stages}_d{dependent}.fa4")


def table(measured: Path) -> str:
    """The text of fa4dsl/kernels/decode_measured.py: for each shape the fastest variant without programmatic dependent launch."""
    best: dict[tuple[int, int, int], tuple[int, int, int, float]] = {}
    for line in measured.read_text().splitlines():
        record = json.loads(line)
        if record.get("peer") == "fa4dsl" and record["ok"] and record.get("cache", "bf16") == "bf16":
            partitions, clusters, stages, _ = map(int, re.findall(r"\d+", record["note"]))
            group, units = record["hq"] // record["hkv"], record["b"] * record["hkv"]
            shape = group, units, record["s"]
            if shape not in best or record["us"] < best[shape][3]:
                best[shape] = partitions, clusters, stages, record["us"]
    lines = [f"    {shape}: ({p}, {c}, {stages}, {us:.2f})," for shape, (p, c, stages, us) in sorted(best.items())]
    head = """\"\"\"The fastest variants of split-K decode attention on an H200; printed by ``benchmarks/decode.py table``.\"\"\"

GPU = "an H200"

MEASURED: dict[tuple[int, int, int], tuple[int, int, int, float]] = {
"""
    tail = """}
\"\"\"(G, sequences x key heads, keys) at a depth of 128: P, clusters, stages, and the microseconds of a launch with the keys in HBM.\"\"\"
"""
    return head + "\n".join(lines) + "\n" + tail


if __name__ == "__main__":
    sys.exit(main(__doc__, "decode_peers.py", prepare, table))
