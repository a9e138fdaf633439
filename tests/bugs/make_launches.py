"""Writes NAME.launch.json beside the cases that docs/comparison.md shows, so that ``fa4dsl simulate`` runs them: python tests/bugs/make_launches.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MAPS: dict[str, tuple[str, str, list[int], list[int], str]] = {
    "mapA128": ("a", "bfloat16", [64, 64], [64, 64], "128B"),
    "mapB": ("b", "bfloat16", [64, 8], [64, 8], "128B"),
    "mapIn": ("in", "uint32", [32, 32], [32, 8], "none"),
}
SIZES = {"a": 8192, "b": 1024, "in": 4096, "out": 4096, "scratch": 1024}


def argument(name: str | int) -> dict[str, Any]:
    if isinstance(name, int):
        return {"scalar": name, "dtype": "int32"}
    if name not in MAPS:
        return {"buffer": "out" if name == "outf" else name, "offset": 0}
    buffer, dtype, sizes, box, swizzle = MAPS[name]
    item = 2 if dtype == "bfloat16" else 4
    record = {"buffer": buffer, "dtype": dtype, "sizes": sizes, "strides_bytes": [sizes[0] * item], "box": box, "element_strides": [1, 1]}
    return {"tensor_map": {**record, "swizzle": swizzle, "oob_fill": "zero", "offset": 0}}


def launch(meta: dict[str, Any]) -> dict[str, Any]:
    arguments = [argument(name) for name in meta["args"]]
    used = [item.get("tensor_map", item).get("buffer") for item in arguments]
    fills = {"out": 255, "scratch": 0}
    return {
        "kernel": "k",
        "grid": [meta["grid"], 1, 1],
        "block": [meta["block"], 1, 1],
        "cluster": [meta["cluster"], 1, 1],
        "dynamic_shared_bytes": meta.get("smem", 0),
        "buffers": {name: {"bytes": SIZES[name], "fill": fills.get(name, 1)} for name in SIZES if name in used},
        "arguments": arguments,
        "outputs": {"out": "uint32"} if "out" in used else {},
    }


def main() -> None:
    sys.path.insert(0, str(HERE.parent.parent / "docs"))
    from compare import ROWS

    for row in ROWS:
        source = HERE.parent.parent / "tests" / "bugs" / f"{row.folder}.cu"
        if source.exists():
            meta = json.loads(source.read_text(encoding="utf-8").splitlines()[0].removeprefix("// "))
            source.with_suffix(".launch.json").write_text(json.dumps(launch(meta), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
