"""What a run counts: bytes, bank conflicts, sectors, traffic between blocks, instructions, waits.

Units. A request is one instruction executed by a warp (the active lanes of it). Shared memory has 32 banks of 4 bytes; a request is served in
phases: the whole warp at once for elements of up to 4 bytes, half warps for 8 bytes, quarter warps for 16 bytes (so also for the rows of
ldmatrix and stmatrix). In a phase, lanes that want the same 4-byte word share it, different words of one bank take turns: the phase takes as
many wavefronts as its busiest bank has different words. Conflicts are wavefronts beyond one for each phase. Global memory moves in sectors
of 32 bytes; a request moves each sector that one of its lanes touches once. Instructions are counted by warp, each time they are issued: a wait
that blocks and looks again is issued again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.instruction_classes import CLASSES, classify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.access import Resolver
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.events import Range
    from fa4dsl.runtime.simulator.grid import Grid
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints, Selection
    from fa4dsl.runtime.simulator.trace import Trace

Place = tuple[str, int]
SECTOR = 32
BANKS = 32
BETWEEN_BLOCKS = ("bulk_push", "st_async", "red_async", "bulk_reduce")
"""Asynchronous operations whose data comes from the issuing block itself; other writes into a peer (multicast loads) come from global memory."""


@dataclass
class Line:
    """Counts of one source line."""

    requests: int = 0
    """Warp-level memory requests."""
    wavefronts: int = 0
    """Passes over the 32 shared-memory banks."""
    ideal: int = 0
    """Phases: passes that the bytes alone would need."""
    sectors: int = 0
    """32-byte sectors of global memory."""
    bytes: int = 0
    """What the lanes asked for together."""
    distinct: int = 0
    """Global memory: bytes without those that several lanes of a request share."""

    @property
    def conflicts(self) -> int:
        return self.wavefronts - self.ideal


@dataclass
class WaitLine:
    """Waits of one instruction for one barrier (by name), counted by warp."""

    passed: int = 0
    """Found the phase complete."""
    blocked: int = 0
    """Had to wait."""


class Measures:
    """Filled during a run; `as_dict` gives plain numbers."""

    def __init__(self, grid: Grid, name: str) -> None:
        self.grid = grid
        self.name = name
        self.naming: Naming | None = None
        """Names of roles and barriers, where they are known."""
        self.trace: Trace | None = None
        self.bytes: dict[str, int] = {}
        """By "space.direction", e.g. "shared.read", "dsmem.write", "global.async.read"."""
        self.shared_lines: dict[Place, Line] = {}
        self.global_lines: dict[Place, Line] = {}
        ranks = (grid.cluster_size, grid.cluster_size)
        self.reads = np.zeros(ranks, np.int64)
        """[rank, peer] bytes that threads of `rank` loaded from `peer`'s shared memory (atomics too)."""
        self.writes = np.zeros(ranks, np.int64)
        """[rank, peer] bytes that threads or copies of `rank` wrote into `peer`'s shared memory."""
        self.multicast = np.zeros(ranks, np.int64)
        """[rank, peer] bytes of global memory that copies issued by `rank` delivered to `peer`."""
        self.arrivals = np.zeros(ranks, np.int64)
        """[rank, peer] mbarrier arrivals of `rank`'s threads at `peer`'s barriers."""
        self.role_bytes: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}
        """By "space.direction": bytes by warp of the block; of asynchronous operations, by the warp that issued them."""
        self.waiting: dict[tuple[str, str, int], WaitLine] = {}
        self.lengths: dict[tuple[int, int], np.ndarray[Any, np.dtype[np.int64]]] = {}
        """By (program counter, instructions) of a straight run: how often warps ran it, by warp of the block."""
        self.instructions = 0
        self.by_class: dict[str, np.ndarray[Any, np.dtype[np.int64]]] = {}
        self.lines: dict[Place, int] = {}
        """Warp instructions by source line."""
        self.ptx_lines: dict[int, int] = {}

    def place(self, site: Instruction) -> Place:
        return (site.place.file, site.place.line) if site.place is not None else (self.name, site.ptx_line)

    # -- memory

    def _count(self, key: str, numbers: Ints, amount: int | Ints) -> None:
        """`amount` bytes for each of the threads."""
        by_warp = self.role_bytes.get(key)
        if by_warp is None:
            by_warp = self.role_bytes[key] = np.zeros(self.grid.warps_per_cta, np.int64)
        np.add.at(by_warp, self.grid.local_thread[numbers] >> 5, amount)
        total = int(amount.sum()) if isinstance(amount, np.ndarray) else len(numbers) * amount
        self.bytes[key] = self.bytes.get(key, 0) + total

    def access(self, site: Instruction, resolver: Resolver, threads: Selection, offsets: Ints, size: int, access: str) -> None:
        """A generic-proxy access of `size` bytes at each offset."""
        grid = self.grid
        space = resolver.space
        numbers = grid.arange[threads]
        word = "write" if access == "write" else "read" if access == "read" else "atomic"
        if space == "shared::cluster":
            targets = offsets // grid.shared_stride
            foreign = targets != grid.cta[numbers]
            if foreign.any():
                table = self.writes if access == "write" else self.reads
                np.add.at(table, (grid.rank[numbers[foreign]], targets[foreign] % grid.cluster_size), size)
                self._count(f"dsmem.{word}", numbers[foreign], size)
            if not foreign.all():
                self._count(f"shared.{word}", numbers[~foreign], size)
        else:
            self._count(f"{space}.{word}", numbers, size)
        if space.startswith("shared"):
            self._banks(self.shared_lines.setdefault(self.place(site), Line()), numbers, offsets, size)
            if self.trace is not None:
                self.trace.accessed(site, numbers, offsets, size, access)
        elif space == "global":
            self._sectors(site, numbers, offsets, size)

    def _sectors(self, site: Instruction, numbers: Ints, offsets: Ints, size: int) -> None:
        line = self.global_lines.setdefault(self.place(site), Line())
        line.sectors += len(np.unique((numbers >> 5) << 40 | offsets // SECTOR))
        line.requests += len(np.unique(numbers >> 5))
        line.bytes += len(offsets) * size
        line.distinct += len(np.unique((numbers >> 5) << 40 | offsets)) * size

    def _banks(self, line: Line, numbers: Ints, offsets: Ints, size: int) -> None:
        """Bank conflicts of one instruction, as the module's text says; words of different blocks do not meet."""
        per_phase = 32 if size <= 4 else 16 if size == 8 else 8
        words = max(size // 4, 1)
        blocks = self.grid.wave_ctas
        phase = ((numbers >> 5) * 4 + (numbers & 31) // per_phase) * blocks + offsets // self.grid.shared_stride
        word = (offsets % self.grid.shared_stride >> 2)[:, None] + np.arange(words)
        distinct = np.unique((np.repeat(phase, words) << 16) | word.reshape(-1))
        bank, counts = np.unique((distinct >> 16) * BANKS + distinct % BANKS, return_counts=True)
        owners, index = np.unique(bank // BANKS, return_inverse=True)
        worst = np.zeros(len(owners), np.int64)
        np.maximum.at(worst, index.reshape(-1), counts)
        line.requests += len(np.unique(numbers >> 5))
        line.wavefronts += int(worst.sum())
        line.ideal += len(owners)
        line.bytes += len(offsets) * size

    def thread_copy(self, site: Instruction, threads: Selection, sources: Ints, taken: Ints, size: int) -> None:
        """cp.async: each thread reads `taken` of `size` bytes and fills all `size`."""
        numbers = self.grid.arange[threads]
        reading = taken > 0
        if reading.any():
            self._count("global.async.read", numbers[reading], taken[reading])
            self._sectors(site, numbers[reading], sources[reading], 0)
            line = self.global_lines[self.place(site)]
            line.bytes += int(taken.sum())
            line.distinct += int(taken.sum())
        self._count("shared.async.write", numbers, size)

    def copy(self, kind: str, thread: int, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        """An asynchronous operation was issued."""
        grid = self.grid
        one = grid.arange[thread : thread + 1]
        for direction, ranges in (("read", reads), ("write", writes)):
            for part in ranges:
                count = len(part.starts) * part.length
                if not count:
                    continue
                space: str = part.space
                if part.space == "shared":
                    targets = part.starts // grid.shared_stride - grid.first_cta
                    foreign = targets != grid.cta[thread]
                    if foreign.any():
                        table = self.writes if kind in BETWEEN_BLOCKS else self.multicast
                        np.add.at(table, (int(grid.rank[thread]), targets[foreign] % grid.cluster_size), part.length)
                        if kind in BETWEEN_BLOCKS:
                            away = int(np.count_nonzero(foreign)) * part.length
                            self._count(f"dsmem.async.{direction}", one, away)
                            count -= away
                            if not count:
                                continue
                self._count(f"{space}.async.{direction}", one, count)

    # -- barriers

    def waited(self, site: Instruction, numbers: Ints, addresses: Ints, done: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Threads look at mbarriers; those not `done` block, or poll again."""
        for address in np.unique(addresses).tolist():
            here = addresses == address
            name = self._barrier(address)
            passed = len(np.unique(numbers[here & done] >> 5))
            self._wait(name, site, passed, len(np.unique(numbers[here & ~done] >> 5)))

    def met(self, site: Instruction, name: str, warps: int, blocked: bool) -> None:
        """`warps` come to a block's or the cluster's barrier."""
        self._wait(name, site, 0 if blocked else warps, warps if blocked else 0)

    def _wait(self, name: str, site: Instruction, passed: int, blocked: int) -> None:
        line = self.waiting.setdefault((name, *self.place(site)), WaitLine())
        line.passed += passed
        line.blocked += blocked

    def _barrier(self, address: int) -> str:
        grid = self.grid
        if self.naming is not None:
            return self.naming.barrier(address + grid.first_cta * grid.shared_stride)
        return f"mbarrier at {address % grid.shared_stride:#x}"

    def arrived(self, numbers: Ints, address: int) -> None:
        """Arrivals at one mbarrier."""
        grid = self.grid
        target = address // grid.shared_stride
        foreign = numbers[grid.cta[numbers] != target]
        if len(foreign):
            np.add.at(self.arrivals, (grid.rank[foreign], target % grid.cluster_size), 1)

    # -- instructions

    def ran(self, threads: Selection, pc: int, count: int) -> None:
        """`threads` run `count` instructions from `pc` on."""
        grid = self.grid
        if isinstance(threads, slice):
            warps = np.arange(threads.start >> 5, (threads.stop - 1 >> 5) + 1)
        else:
            warps = np.unique(threads >> 5)
        table = self.lengths.get((pc, count))
        if table is None:
            table = self.lengths[(pc, count)] = np.zeros(grid.warps_per_cta, np.int64)
        np.add.at(table, warps % grid.warps_per_cta, 1)

    def finish(self, machine: Machine) -> None:
        """Adds up the instructions, by class, warp and line."""
        sites = machine.program.sites
        self.by_class = {kind: np.zeros(self.grid.warps_per_cta, np.int64) for kind in CLASSES}
        for (pc, count), warps in self.lengths.items():
            total = int(warps.sum())
            for site in sites[pc : pc + count]:
                self.by_class[classify(site)] += warps
                place = self.place(site)
                self.lines[place] = self.lines.get(place, 0) + total
                self.ptx_lines[site.ptx_line] = self.ptx_lines.get(site.ptx_line, 0) + total
        self.instructions = int(sum(values.sum() for values in self.by_class.values()))

    # -- results

    def roles(self) -> list[tuple[str, range]]:
        """Names and warps of the block: its roles, then the warps that are in none."""
        found = [(role.name, range(role.first_warp, role.first_warp + role.warps)) for role in (self.naming.roles if self.naming else ())]
        taken = {warp for _, warps in found for warp in warps}
        rest = [warp for warp in range(self.grid.warps_per_cta) if warp not in taken]
        if not found:
            return [("all warps", range(self.grid.warps_per_cta))]
        return found + [(f"warp {warp}", range(warp, warp + 1)) for warp in rest]

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        roles = self.roles()

        def by_role(values: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, int]:
            return {name: int(values[warps.start : warps.stop].sum()) for name, warps in roles}

        waits: dict[str, int] = {}
        for (name, _, _), line in sorted(self.waiting.items()):
            waits[name] = waits.get(name, 0) + line.blocked
        return {
            "instructions": self.instructions,
            "instructions_by_role": {
                name: {kind: int(values[warps.start : warps.stop].sum()) for kind, values in self.by_class.items()} for name, warps in roles
            },
            "bytes": dict(sorted(self.bytes.items())),
            "bytes_by_role": {key: by_role(values) for key, values in sorted(self.role_bytes.items())},
            "bytes_by_warp": {key: values.tolist() for key, values in sorted(self.role_bytes.items())},
            "bank_conflicts": [
                {
                    "file": file,
                    "line": number,
                    "requests": line.requests,
                    "wavefronts": line.wavefronts,
                    "conflicts": line.conflicts,
                    "bytes": line.bytes,
                }
                for (file, number), line in sorted(self.shared_lines.items())
            ],
            "global_requests": [
                {
                    "file": file,
                    "line": number,
                    "requests": line.requests,
                    "sectors": line.sectors,
                    "bytes": line.bytes,
                    "distinct_bytes": line.distinct,
                }
                for (file, number), line in sorted(self.global_lines.items())
            ],
            "dsmem_traffic": (self.reads + self.writes).tolist(),
            "dsmem_reads": self.reads.tolist(),
            "dsmem_writes": self.writes.tolist(),
            "multicast_traffic": self.multicast.tolist(),
            "remote_arrivals": self.arrivals.tolist(),
            "waits": waits,
            "barrier_waits": [
                {"barrier": name, "file": file, "line": number, "passed": line.passed, "blocked": line.blocked}
                for (name, file, number), line in sorted(self.waiting.items())
            ],
        }
