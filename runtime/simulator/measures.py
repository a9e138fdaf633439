"""What a run counts: bytes, bank conflicts, sectors, traffic between blocks, waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.access import Resolver
    from fa4dsl.runtime.simulator.events import Range
    from fa4dsl.runtime.simulator.grid import Grid
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints, Selection

Place = tuple[str, int]


@dataclass
class Line:
    """Counts of one source line."""

    requests: int = 0
    """Warp-level memory requests."""
    wavefronts: int = 0
    """Passes over the 32 shared-memory banks."""
    ideal: int = 0
    """Passes that the bytes alone would need."""
    sectors: int = 0
    """32-byte sectors of global memory."""
    bytes: int = 0

    @property
    def conflicts(self) -> int:
        return self.wavefronts - self.ideal


class Measures:
    """Filled during a run; `as_dict` gives plain numbers."""

    def __init__(self, grid: Grid, name: str) -> None:
        self.grid = grid
        self.name = name
        self.bytes: dict[str, int] = {}
        """By "space.direction", e.g. "shared.read", "dsmem.write", "global.async.read"."""
        self.shared_lines: dict[Place, Line] = {}
        self.global_lines: dict[Place, Line] = {}
        self.traffic = np.zeros((grid.cluster_size, grid.cluster_size), np.int64)
        """[from rank, to rank] bytes that threads or copies of one block moved to or from another's shared memory."""
        self.role_bytes: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}
        """By "space.direction": bytes by warp of the block, to be summed by role."""
        self.waits: dict[str, int] = {}
        self.instructions = 0

    def place(self, site: Instruction) -> Place:
        return (site.place.file, site.place.line) if site.place is not None else (self.name, site.ptx_line)

    def access(self, site: Instruction, resolver: Resolver, threads: Selection, offsets: Ints, size: int, access: str) -> None:
        """A generic-proxy access of `size` bytes at each offset."""
        grid = self.grid
        count = len(offsets) * size
        space = resolver.space
        numbers = grid.arange[threads]
        if space == "shared::cluster":
            targets = offsets // grid.shared_stride
            foreign = targets != grid.cta[numbers]
            if foreign.any():
                np.add.at(self.traffic, (grid.rank[numbers][foreign], targets[foreign] % grid.cluster_size), size)
                space = "dsmem"
            else:
                space = "shared"
        key = f"{space}.{'write' if access == 'write' else 'read' if access == 'read' else 'atomic'}"
        self.bytes[key] = self.bytes.get(key, 0) + count
        by_warp = self.role_bytes.get(key)
        if by_warp is None:
            by_warp = self.role_bytes[key] = np.zeros(grid.warps_per_cta, np.int64)
        np.add.at(by_warp, grid.local_thread[numbers] >> 5, size)
        if space in ("shared", "dsmem"):
            self._banks(self.shared_lines.setdefault(self.place(site), Line()), numbers, offsets, size)
        elif space == "global":
            line = self.global_lines.setdefault(self.place(site), Line())
            sectors = np.unique((numbers >> 5) << 40 | offsets >> 5)
            line.sectors += len(sectors) if size <= 32 else len(sectors) * (size // 32)
            line.requests += len(np.unique(numbers >> 5))
            line.bytes += count

    def _banks(self, line: Line, numbers: Ints, offsets: Ints, size: int) -> None:
        """Bank conflicts: a warp's request takes as many passes as the busiest bank has different words; wide accesses go by half or quarter warps."""
        per_pass = 32 if size <= 4 else 16 if size == 8 else 8
        words = max(size // 4, 1)
        lane = numbers & 31
        request = (numbers >> 5) * 4 + lane // per_pass
        word = (offsets >> 2)[:, None] + np.arange(words)
        keys = np.unique((np.repeat(request, words) << 36) | word.reshape(-1))
        bank = (keys >> 36) * 32 + (keys & 31)
        busy, counts = np.unique(bank, return_counts=True)
        requests = busy // 32
        owners, index = np.unique(requests, return_inverse=True)
        worst = np.zeros(len(owners), np.int64)
        np.maximum.at(worst, index.reshape(-1), counts)
        line.requests += len(np.unique(numbers >> 5))
        line.wavefronts += int(worst.sum())
        line.ideal += len(owners)
        line.bytes += len(offsets) * size

    def copy(self, site: Instruction, kind: str, thread: int, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        """An asynchronous copy was issued."""
        grid = self.grid
        base = grid.first_cta * grid.shared_stride
        for direction, ranges in (("read", reads), ("write", writes)):
            for part in ranges:
                count = len(part.starts) * part.length
                key = f"{part.space}.async.{direction}"
                self.bytes[key] = self.bytes.get(key, 0) + count
                if part.space == "shared" and len(part.starts):
                    target = int((part.starts[0] - base) // grid.shared_stride)
                    if target != grid.cta[thread]:
                        self.traffic[int(grid.rank[thread]), target % grid.cluster_size] += count

    def finish(self, machine: Machine) -> None:
        """Takes over what the machine counted itself."""
        self.instructions = machine.instructions_run
        for line, count in machine.mbarriers.waits.items():
            self.waits[f"mbarrier, PTX line {line}"] = count
        self.waits["barriers"] = machine.barriers.waits

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {
            "instructions": self.instructions,
            "bytes": dict(sorted(self.bytes.items())),
            "bytes_by_warp": {key: values.tolist() for key, values in sorted(self.role_bytes.items())},
            "bank_conflicts": [
                {"file": file, "line": number, "requests": line.requests, "wavefronts": line.wavefronts, "conflicts": line.conflicts}
                for (file, number), line in sorted(self.shared_lines.items())
            ],
            "global_requests": [
                {"file": file, "line": number, "requests": line.requests, "sectors": line.sectors, "bytes": line.bytes}
                for (file, number), line in sorted(self.global_lines.items())
            ],
            "dsmem_traffic": self.traffic.tolist(),
            "waits": dict(sorted(self.waits.items())),
        }
