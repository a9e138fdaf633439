"""A GPU's outputs kept as test data: for random programs a digest of each result, for the questions every byte."""

from __future__ import annotations

import base64
import json
import lzma
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardware.program import Program, Saved

if TYPE_CHECKING:
    from collections.abc import Sequence


def digests(program: Program, output: bytes) -> list[int]:
    """CRC-32 of each saved result, and of the whole output last."""
    return [zlib.crc32(output[saved.offset : saved.offset + saved.size * saved.count]) for saved in program.saved] + [zlib.crc32(output)]


def _entry(program: Program) -> dict[str, Any]:
    entry = asdict(program)
    entry["body"] = "\n".join(program.body)
    entry["saved"] = [[saved.offset, saved.size, saved.count, saved.line, saved.what] for saved in program.saved]
    return entry


def _program(entry: dict[str, Any]) -> Program:
    entry = dict(entry)
    entry["body"] = entry["body"].split("\n")
    entry["saved"] = [Saved(*item) for item in entry["saved"]]
    entry["inputs"] = [tuple(item) for item in entry["inputs"]]
    return Program(**entry)


def choose(programs: Sequence[Program], outputs: dict[str, bytes], count: int) -> list[Program]:
    """`count` programs, as many of each class as of any other where there are enough, the shortest texts first among the first ones."""
    kinds: dict[str, list[Program]] = {}
    for program in programs:
        if program.name in outputs:
            kinds.setdefault(program.kind, []).append(program)
    each = -(-count // len(kinds))
    return [program for kind in sorted(kinds) for program in sorted(kinds[kind][: 3 * each], key=lambda item: len(item.text()))[:each]]


def write(path: Path, programs: Sequence[Program], outputs: dict[str, bytes], whole: bool = False) -> None:
    """Writes programs with what the GPU gave; `whole`: every byte instead of digests."""
    parts = []
    for program in programs:
        output = outputs[program.name]
        result: Any = base64.b85encode(output).decode() if whole else digests(program, output)
        parts.append(json.dumps([_entry(program), result], separators=(",", ":")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress("\n".join(parts).encode(), preset=9 | lzma.PRESET_EXTREME))


def read(path: Path) -> list[tuple[Program, list[int]]]:
    """Programs and digests."""
    lines = lzma.decompress(path.read_bytes()).decode().split("\n")
    return [(_program(entry), result) for entry, result in map(json.loads, lines)]


def read_whole(path: Path) -> list[tuple[Program, bytes]]:
    """Programs and outputs."""
    lines = lzma.decompress(path.read_bytes()).decode().split("\n")
    return [(_program(entry), base64.b85decode(result)) for entry, result in map(json.loads, lines)]
