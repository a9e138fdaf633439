"""The recorder of a run: who ran what when, who waited for which barrier, who released it, what copies were in flight, who touched which bytes.

Time is counted in machine steps: the schedule lets some threads run a straight piece of code together, and each instruction of it is one step for
all of them. It says nothing of a GPU's time; it is the order that this schedule chose.

What is kept is bounded. Only the first wave's first clusters are recorded (whole clusters, up to `MOST_CTAS` CTAs, at least one cluster), and
recording stops at `limit` records, whatever comes first; `cut` says so in words.

Without a recorder the machine pays one comparison with None for each turn, barrier and copy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.asynchronous import Operation
    from fa4dsl.runtime.simulator.events import Range
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints, Selection

MOST_CTAS = 16
RECORDS = 400_000
MERGE_STEPS = 48
"""Accesses to one object by the same warps that lie at most this far apart are drawn as one."""

Barrier: TypeAlias = tuple[Literal["mbarrier", "bar", "cluster"], int, int]
"""("mbarrier", physical address, 0), ("bar", CTA, id) or ("cluster", cluster, 0)."""


@dataclass(eq=False)
class Arrived:
    """Warps that arrived at a barrier with one instruction, or bytes that landed."""

    time: int
    site: Instruction
    warps: tuple[int, ...]
    count: int
    kind: Literal["arrive", "drop", "expect_tx", "bytes"]
    operation: int = -1
    """bytes: the copy that brought them, by its place in `Trace.flights`."""


@dataclass(eq=False)
class Release:
    """A barrier's phase is complete."""

    time: int
    barrier: Barrier
    phase: int
    arrivals: list[Arrived]


@dataclass(eq=False)
class Wait:
    """Lanes of a warp stood at one instruction from `begin` to `end`; at once past it where the two are equal."""

    warp: int
    lanes: int
    begin: int
    end: int
    pc: int
    gathering: bool
    """Waited for other lanes of the warp or warps of the warpgroup, not for a barrier."""
    barrier: Barrier | None
    release: int
    """Index of the `Release` that ended it; -1: none."""
    open: bool = False
    """Never ended."""


@dataclass(eq=False)
class Flight:
    """An asynchronous operation from its issue until it has landed."""

    kind: str
    site: Instruction
    warp: int
    begin: int
    reads: tuple[tuple[str, int, int], ...]
    """(space, first byte, bytes): shared bytes as physical addresses within the wave."""
    writes: tuple[tuple[str, int, int], ...]
    read: int = -1
    end: int = -1


@dataclass(eq=False)
class Touch:
    """Bytes of shared memory that threads of a CTA read or wrote within a stretch of time."""

    begin: int
    end: int
    low: int
    high: int
    count: int
    warps: set[int] = field(default_factory=set)
    sites: dict[int, Instruction] = field(default_factory=dict)
    """By PTX line."""


class Trace:
    """Filled by the machine's hooks; `timeline.build` makes a picture of it."""

    def __init__(self, machine: Machine, boundaries: Sequence[int] = (), limit: int = RECORDS) -> None:
        grid = machine.grid
        self.machine, self.grid, self.limit = machine, grid, limit
        clusters = min(max(MOST_CTAS // grid.cluster_size, 1), grid.wave_clusters)
        self.ctas = clusters * grid.cluster_size
        self.width = self.ctas * grid.stride
        self.position = {id(site): pc for pc, site in enumerate(machine.program.sites)}
        self.boundaries = np.array(sorted({0, *boundaries}), np.int64)
        """Offsets in a CTA's shared memory where objects begin or end: accesses are told apart between them."""
        self.clock = 0
        self.records = 0
        self.stopped_at = -1
        self.start = self.pc = self.now = 0
        self.turns: list[tuple[int, int, int, Ints]] = []
        """(time, pc, instructions, warps)"""
        self.releases: list[Release] = []
        self.waits: list[Wait] = []
        self.flights: list[Flight] = []
        self.flying: dict[Operation, int] = {}
        self.touches: dict[tuple[int, int, str, int], list[Touch]] = {}
        """By (CTA whose memory it is, piece between `boundaries`, "read" or "write", accessing CTA)."""
        self.arriving: dict[Barrier, list[Arrived]] = {}
        self.last: dict[Barrier, int] = {}
        self.seen: set[tuple[int, int, int]] = set()
        self.since: Ints = np.full(self.width, -1, np.int64)
        self.at_pc: Ints = np.zeros(self.width, np.int64)
        self.gathering = np.zeros(self.width, np.bool_)
        self.released: Ints = np.full(self.width, -1, np.int64)
        self.landing = -1

    @property
    def active(self) -> bool:
        return self.stopped_at < 0 and self.grid.first_cluster == 0

    @property
    def cut(self) -> str:
        """What was left out, in words; empty if nothing."""
        parts = []
        if self.ctas < self.grid.ctas:
            parts.append(f"the first {self.ctas} of {self.grid.ctas} CTAs")
        if self.stopped_at >= 0:
            parts.append(f"the first {self.stopped_at:,} steps ({self.limit:,} records)")
        return " and ".join(parts)

    def _record(self, count: int = 1) -> None:
        self.records += count
        if self.records > self.limit and self.stopped_at < 0:
            self.stopped_at = self.clock

    def _own(self, numbers: Ints) -> Ints:
        return numbers if not len(numbers) or numbers[-1] < self.width else numbers[numbers < self.width]

    def at(self, site: Instruction) -> int:
        """When the instruction that is being executed began."""
        pc = self.position.get(id(site), self.pc)
        if self.start <= self.start + pc - self.pc < self.clock:
            self.now = max(self.now, self.start + pc - self.pc)
        return self.now

    # -- running

    def turn(self, threads: Selection, pc: int, count: int) -> None:
        """`threads` run `count` instructions from `pc` on."""
        self.start = self.now = self.clock
        self.pc = pc
        self.clock += count
        if not self.active:
            return
        numbers = self._own(self.grid.arange[threads])
        if not len(numbers):
            return
        if (self.since[numbers] >= 0).any():
            self._close(numbers, self.start)
        warps = np.unique(numbers >> 5)
        self.turns.append((self.start, pc, count, warps))
        self._record(len(warps))

    def blocked(self, threads: Selection, pc: int) -> None:
        if not self.active:
            return
        numbers = self._own(self.grid.arange[threads])
        self.since[numbers] = self.at(self.machine.program.sites[pc])
        self.at_pc[numbers] = pc
        self.gathering[numbers] = self.machine.rendezvous_at[numbers] != 0
        self.released[numbers] = -1

    def woken(self, threads: Selection) -> None:
        if self.active:
            self._close(self._own(self.grid.arange[threads]), self.now)

    def _close(self, numbers: Ints, time: int, unfinished: bool = False) -> None:
        """Ends the waits of those threads that wait."""
        numbers = numbers[self.since[numbers] >= 0]
        if not len(numbers):
            return
        address = self.machine.mbarriers.wait_address[numbers]
        table = np.stack(
            (numbers >> 5, self.since[numbers], self.at_pc[numbers], self.gathering[numbers], self.released[numbers], address), 1
        )
        rows, counts = np.unique(table, axis=0, return_counts=True)
        for (warp, begin, pc, gathering, release, where), lanes in zip(rows.tolist(), counts.tolist(), strict=True):
            site = self.machine.program.sites[pc]
            barrier: Barrier | None = None
            if release >= 0:
                barrier = self.releases[release].barrier
                self.seen.add((warp, release, pc))
            elif not gathering and site.name == "mbarrier":
                barrier = ("mbarrier", where, 0)
            elif not gathering and "cluster" in site.modifiers:
                barrier = ("cluster", warp // self.grid.warps_per_cta // self.grid.cluster_size, 0)
            self.waits.append(Wait(warp, lanes, begin, max(time, begin), pc, bool(gathering), barrier, release, unfinished))
        self.since[numbers] = -1
        self._record(len(rows))

    def finish(self) -> None:
        """The run is over: whoever waits now waits for ever."""
        if self.grid.first_cluster == 0:
            self._close(np.arange(self.width), self.clock, True)

    # -- barriers

    def arrived(
        self, barrier: Barrier, site: Instruction, numbers: Ints, count: int, kind: Literal["arrive", "drop", "expect_tx", "bytes"]
    ) -> None:
        if not self.active:
            return
        warps = tuple(np.unique(self._own(numbers) >> 5).tolist())
        time = self.now if kind == "bytes" else self.at(site)
        self.arriving.setdefault(barrier, []).append(Arrived(time, site, warps, count, kind, self.landing if kind == "bytes" else -1))
        self._record()

    def completed(self, barrier: Barrier, phase: int, waiting: Sequence[Ints] = ()) -> None:
        """A phase is complete; the threads of `waiting` are about to be woken."""
        if not self.active:
            return
        number = len(self.releases)
        self.releases.append(Release(self.now, barrier, phase, self.arriving.pop(barrier, [])))
        self.last[barrier] = number
        for threads in waiting:
            own = self._own(threads)
            self.released[own] = number
        self._record()

    def passed(self, barrier: Barrier, site: Instruction, numbers: Ints) -> None:
        """Threads found the barrier's last phase complete."""
        release = self.last.get(barrier, -1)
        if release < 0 or not self.active:
            return
        time, pc = self.at(site), self.position.get(id(site), self.pc)
        warps, counts = np.unique(self._own(numbers) >> 5, return_counts=True)
        for warp, lanes in zip(warps.tolist(), counts.tolist(), strict=True):
            if (warp, release, pc) not in self.seen:
                self.seen.add((warp, release, pc))
                self.waits.append(Wait(warp, lanes, time, time, pc, False, barrier, release))
                self._record()

    # -- asynchronous operations

    def issued(self, operation: Operation, kind: str, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        if not self.active or operation.thread >= self.width:
            return
        base = self.grid.first_cta * self.grid.shared_stride
        self.flying[operation] = len(self.flights)
        time = self.at(operation.site)
        self.flights.append(Flight(kind, operation.site, operation.thread >> 5, time, _extents(reads, base), _extents(writes, base)))
        self._record()

    def progressed(self, operation: Operation, state: int) -> None:
        """The sources have been read (`state` 1), or the result lands (2) and its barriers are told next."""
        number = self.flying.get(operation, -1)
        if not self.machine.schedule.immediate:
            # held back by the schedule: it happens behind the last turn
            self.now = self.clock
        if state == 2:
            self.landing = number
        if number >= 0:
            flight = self.flights[number]
            if state == 1:
                flight.read = self.now
            else:
                flight.end = self.now

    # -- memory

    def accessed(self, site: Instruction, numbers: Ints, offsets: Ints, size: int, access: str) -> None:
        """A generic-proxy access to shared memory, at physical offsets within the wave."""
        if not self.active:
            return
        inside = (offsets < self.ctas * self.grid.shared_stride) & (numbers < self.width)
        if not inside.all():
            numbers, offsets = numbers[inside], offsets[inside]
            if not len(numbers):
                return
        time = self.at(site)
        stride = self.grid.shared_stride
        targets, places = offsets // stride, offsets % stride
        pieces = np.searchsorted(self.boundaries, places, "right") - 1
        keys = (targets * len(self.boundaries) + pieces) * self.ctas + self.grid.cta[numbers]
        kinds = ("read", "write") if access == "atomic" else (access,)
        for key in np.unique(keys).tolist():
            here = keys == key
            rest, by = divmod(key, self.ctas)
            cta, piece = divmod(rest, len(self.boundaries))
            low, high = int(places[here].min()), int(places[here].max()) + size
            for kind in kinds:
                self._touch((cta, piece, kind, by), time, low, high, int(np.count_nonzero(here)) * size, numbers[here], site)

    def _touch(self, key: tuple[int, int, str, int], time: int, low: int, high: int, count: int, numbers: Ints, site: Instruction) -> None:
        known = self.touches.setdefault(key, [])
        if not known or time - known[-1].end > MERGE_STEPS:
            known.append(Touch(time, time + 1, low, high, 0))
            self._record()
        touch = known[-1]
        touch.end = max(touch.end, time + 1)
        touch.low, touch.high = min(touch.low, low), max(touch.high, high)
        touch.count += count
        touch.warps.update(np.unique(numbers >> 5).tolist())
        touch.sites.setdefault(site.ptx_line, site)


def _extents(ranges: Sequence[Range], base: int) -> tuple[tuple[str, int, int], ...]:
    found = []
    for part in ranges:
        if len(part.starts):
            first = int(part.starts.min())
            found.append((str(part.space), first - (base if part.space == "shared" else 0), len(part.starts) * part.length))
    return tuple(found)
