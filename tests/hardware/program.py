"""One random program: an entry kernel of PTX, the input it reads, and which instruction each part of its output came from."""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from hardware.values import make

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEADER = ".version 8.8\n.target sm_90a\n.address_size 64\n"
FILL = 0xFD
"""What the output holds before the launch."""


@dataclass
class Saved:
    """`count` elements of `size` bytes at `offset` of the output: what the statement of index `line` left, one element a thread."""

    offset: int
    size: int
    count: int
    line: int
    what: str


@dataclass
class Program:
    """A kernel of parameters (x, o, tensor maps...): the input buffer, the output buffer, and 128 bytes for each map.

    `inputs`: (flavour, seed, count) of the arrays that make up x, one after the other. `maps`: descriptions as LAUNCH.json has them, with a field
    `buffer` of "x" or "o". `body` has one statement an entry, in order; `before` stands ahead of the entry (functions, module variables).
    """

    name: str
    kind: str
    block: int
    cluster: int
    body: list[str]
    inputs: list[tuple[str, int, int]]
    output_bytes: int
    saved: list[Saved] = field(default_factory=list)
    before: str = ""
    maps: list[dict[str, Any]] = field(default_factory=list)
    check: bool = True
    """Whether the simulator also checks for races: then its verdict must be "clean"."""
    dynamic: int = 0
    """Bytes of dynamic shared memory."""
    registers: int = 0
    """.maxnreg, 0 for none."""

    def entry(self) -> str:
        """The entry without the header of the file."""
        parameters = [".param .u64 x", ".param .u64 o"]
        parameters += [f".param .align 64 .b8 map{index}[128]" for index in range(len(self.maps))]
        limit = f".maxnreg {self.registers}\n" if self.registers else ""
        shape = limit + (f".reqnctapercluster {self.cluster}, 1, 1\n.explicitcluster\n" if self.cluster > 1 else "")
        return (
            f"{self.before}.visible .entry {self.name}({', '.join(parameters)})\n.reqntid {self.block}, 1, 1\n{shape}{{\n"
            + "\n".join(self.body)
            + "\n\tret;\n}\n"
        )

    def text(self) -> str:
        """A whole PTX file with this kernel alone."""
        return HEADER + self.entry()

    def input(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of x."""
        parts = [make(flavour, seed, count).view(np.uint8) for flavour, seed, count in self.inputs]
        return np.concatenate(parts) if parts else np.zeros(16, np.uint8)

    def output(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of o before the launch."""
        return np.full(self.output_bytes, FILL, np.uint8)


def write_programs(path: Path, programs: Sequence[Program]) -> None:
    """All programs in one compressed file."""
    lines = "\n".join(json.dumps(asdict(program), separators=(",", ":")) for program in programs)
    path.write_bytes(lzma.compress(lines.encode(), preset=6))


def read_programs(path: Path) -> list[Program]:
    """What `write_programs` wrote."""
    programs = []
    for line in lzma.decompress(path.read_bytes()).decode().split("\n"):
        entry = json.loads(line)
        entry["inputs"] = [tuple(item) for item in entry["inputs"]]
        entry["saved"] = [Saved(**item) for item in entry["saved"]]
        programs.append(Program(**entry))
    return programs
