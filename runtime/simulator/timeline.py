"""A recorded run as rows over time, ready to be drawn: warps with what they run and wait for, copies, releases, shared memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.instruction_classes import Class, classify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.manifest import SharedObject
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.trace import Barrier, Flight, Release, Touch, Trace, Wait

Place = tuple[str, int]
"""File and line."""

MOST_ARROWS = 600
MOST_TARGETS = 3
"""Waiting rows that the arrival which completed a phase points at; the other arrivals point at the first."""
MOST_SLOTS = 16


@dataclass(frozen=True)
class Run:
    """A straight piece of code: one step for each instruction from `pc` on."""

    begin: int
    pc: int
    count: int


@dataclass(frozen=True)
class Waiting:
    """Part of a row in which its threads stand still."""

    begin: int
    end: int
    what: str
    """``waits for publish, phase 0``."""
    short: str
    place: Place
    release: int
    """Index into `Timeline.releases`, -1 for none."""
    gathering: bool
    open: bool


@dataclass(frozen=True)
class Row:
    """Warps of one CTA that did the same at the same time."""

    cta: int
    role: str
    warps: tuple[int, ...]
    """Within the CTA."""
    runs: tuple[Run, ...]
    waits: tuple[Waiting, ...]

    @property
    def label(self) -> str:
        """``producer`` or ``consumer, warps 4-7``."""
        first, last = self.warps[0], self.warps[-1]
        if first == last:
            words = f"warp {first}"
        elif last - first == len(self.warps) - 1:
            words = f"warps {first}-{last}"
        else:
            words = "warps " + ", ".join(map(str, self.warps))
        return f"{self.role}, {words}" if self.role else words


@dataclass(frozen=True)
class CopySpan:
    """An asynchronous operation in flight."""

    kind: str
    cta: int
    warp: int
    begin: int
    read: int
    end: int
    """-1: never landed."""
    what: str
    place: Place


@dataclass(frozen=True)
class Arrow:
    """From the last arrival of a row (or the landing of a copy) to a wait that it released."""

    begin: int
    end: int
    row: int
    """Source row; -1 where it is a copy."""
    copy: int
    target: int
    what: str
    last: bool
    """Whether this arrival completed the phase."""


@dataclass(frozen=True)
class Meeting:
    """Rows that met at a block's or the cluster's barrier."""

    time: int
    rows: tuple[int, ...]
    what: str


@dataclass(frozen=True)
class Use:
    """Bytes of an object that were read or written for a while."""

    cta: int
    """Whose memory it is."""
    begin: int
    end: int
    low: int
    high: int
    """Offsets in the CTA's shared memory."""
    count: int
    access: str
    """read, write, async read, async write."""
    by: str
    remote: bool
    place: Place


@dataclass(frozen=True)
class Memory:
    """A named object of shared memory, or bytes without a name."""

    name: str
    offset: int
    size: int
    kind: str
    detail: str
    overlay: str
    uses: tuple[Use, ...]


@dataclass
class Timeline:
    """The picture of one run."""

    steps: int
    cut: str
    ctas: int
    cluster_size: int
    shared_stride: int
    """Bytes from one CTA's shared memory to the next in physical addresses."""
    rows: list[Row]
    copies: list[CopySpan]
    arrows: list[Arrow]
    meetings: list[Meeting]
    memory: list[Memory]
    releases: list[Release]
    sites: Sequence[Instruction]
    classes: list[Class] = field(default_factory=list)
    """By program counter."""
    ptx: str = ""
    """What was run."""

    def place(self, pc: int) -> Place:
        return source_place(self.sites[pc])

    def cta_name(self, cta: int) -> str:
        if self.cluster_size > 1:
            rank = f"rank {cta % self.cluster_size}"
            return rank if self.ctas == self.cluster_size else f"cluster {cta // self.cluster_size}, {rank}"
        return f"CTA {cta}"


def source_place(site: Instruction) -> Place:
    """File and line of an instruction, in the innermost function; ("", PTX line) without source."""
    return (site.place.file, site.place.line) if site.place is not None else ("", site.ptx_line)


def edges_of(naming: Naming, shared: Sequence[SharedObject]) -> list[int]:
    """Where accesses to shared memory are told apart: the ends of objects, and of the slots of those that are a few tiles (a ring)."""
    slots = {item.name: item.shape[0] for item in shared if len(item.shape) > 1 and 2 <= item.shape[0] <= MOST_SLOTS}
    edges = []
    for item in naming.shared:
        count = slots.get(item.name, 1)
        edges += [item.start + item.size * slot // count for slot in range(count + 1)]
    return edges


def build_timeline(trace: Trace, naming: Naming, shared: Sequence[SharedObject] = ()) -> Timeline:
    """The picture of a finished run; `shared` adds what a manifest knows of the objects."""
    return _Builder(trace, naming, shared).build()


class _Builder:
    def __init__(self, trace: Trace, naming: Naming, shared: Sequence[SharedObject]) -> None:
        self.trace, self.naming, self.shared = trace, naming, shared
        self.sites = trace.machine.program.sites
        self.per_cta = trace.grid.warps_per_cta
        self.row_of: dict[int, int] = {}

    def build(self) -> Timeline:
        trace = self.trace
        steps = trace.stopped_at if trace.stopped_at >= 0 else trace.clock
        rows = self._rows()
        return Timeline(
            steps=max(steps, 1),
            cut=trace.cut,
            ctas=trace.ctas,
            cluster_size=trace.grid.cluster_size,
            shared_stride=trace.grid.shared_stride,
            rows=rows,
            copies=[self._copy(flight) for flight in trace.flights],
            arrows=self._arrows(),
            meetings=self._meetings(),
            memory=self._memory(),
            releases=trace.releases,
            sites=self.sites,
            classes=[classify(site) for site in self.sites],
        )

    # -- rows

    def _rows(self) -> list[Row]:
        trace = self.trace
        runs: dict[int, list[Run]] = {}
        for time, pc, count, warps in trace.turns:
            run = Run(time, pc, count)
            for warp in warps.tolist():
                runs.setdefault(warp, []).append(run)
        waits: dict[int, list[Waiting]] = {}
        for wait in trace.waits:
            waits.setdefault(wait.warp, []).append(self._waiting(wait))
        rows: list[Row] = []
        known: dict[object, int] = {}
        for warp in range(trace.ctas * self.per_cta):
            cta, within = divmod(warp, self.per_cta)
            role = self.naming.role(cta * trace.grid.threads_per_cta + within * 32)
            mine, still = tuple(runs.get(warp, ())), tuple(waits.get(warp, ()))
            key = (cta, role, mine, still)
            at = known.get(key)
            if at is None:
                at = known[key] = len(rows)
                rows.append(Row(cta, role, (within,), mine, still))
            else:
                rows[at] = Row(cta, role, (*rows[at].warps, within), mine, still)
            self.row_of[warp] = at
        return rows

    def _waiting(self, wait: Wait) -> Waiting:
        site = self.sites[wait.pc]
        if wait.gathering:
            what = "waits for other warps of its warpgroup" if site.name in ("wgmma", "setmaxnreg") else "waits for other lanes of its warp"
            short = "gathers"
        elif wait.barrier is not None:
            name = self.barrier(wait.barrier, wait.barrier[1] // self.trace.grid.shared_stride)
            release = self.trace.releases[wait.release] if wait.release >= 0 else None
            phase = f", phase {release.phase}" if release is not None and wait.barrier[0] != "bar" else ""
            what, short = f"waits for {name}{phase}", name
        else:
            what, short = f"waits in {site.mnemonic}", site.name
        return Waiting(wait.begin, wait.end, what, short, source_place(site), wait.release, wait.gathering, wait.open)

    def barrier(self, barrier: Barrier, seen_from: int = -1) -> str:
        """A barrier in the author's words, with its rank unless that is the reader's own CTA."""
        kind, where, number = barrier
        if kind == "mbarrier":
            grid = self.trace.grid
            name = self.naming.barrier(where)
            cta = where // grid.shared_stride
            return f"{name} of rank {cta % grid.cluster_size}" if grid.cluster_size > 1 and cta != seen_from else name
        if kind == "bar":
            return self.naming.named_barriers.get(number, f"barrier {number}" if number else "the CTA barrier")
        return "the cluster barrier"

    # -- copies

    def _copy(self, flight: Flight) -> CopySpan:
        parts = [self._bytes(*part) for part in flight.reads[:1]] + ["to", *(self._bytes(*part) for part in flight.writes[:1])]
        if len(flight.writes) > 1:
            parts.append(f"and {len(flight.writes) - 1} more CTAs")
        words = " ".join(parts) if flight.writes else " and ".join(self._bytes(*part) for part in flight.reads)
        cta, warp = divmod(flight.warp, self.per_cta)
        what = f"{flight.kind.replace('_', ' ')}: {words.removeprefix('to ')}"
        return CopySpan(flight.kind, cta, warp, flight.begin, flight.read, flight.end, what, source_place(flight.site))

    def _bytes(self, space: str, start: int, count: int) -> str:
        found, _ = self.naming.find(space, start)
        return f"{found.name if found is not None else space + ' memory'} ({count:,} bytes)"

    # -- arrows

    def _arrows(self) -> list[Arrow]:
        targets: dict[int, dict[int, int]] = {}
        for wait in self.trace.waits:
            if wait.release >= 0 and not wait.gathering:
                rows = targets.setdefault(wait.release, {})
                row = self.row_of[wait.warp]
                rows[row] = min(rows.get(row, wait.end), wait.end)
        found: list[Arrow] = []
        for number, rows in targets.items():
            release = self.trace.releases[number]
            if release.barrier[0] != "mbarrier":
                continue
            name = self.barrier(release.barrier)
            sources = self._sources(release)
            first, *others = sorted(rows, key=lambda row: (rows[row], row))[:MOST_TARGETS]
            for index, (time, source, copy, words) in enumerate(sources):
                last = index == len(sources) - 1
                text = f"{words} at {name}, phase {release.phase}"
                for row in (first, *others) if last else (first,):
                    if len(found) < MOST_ARROWS:
                        found.append(Arrow(time, max(rows[row], time), source, copy, row, text, last))
        return found

    def _sources(self, release: Release) -> list[tuple[int, int, int, str]]:
        """(time, row, copy, words) of the arrivals, one for each CTA and copy (its latest), the one that completed the phase last."""
        found: dict[tuple[int, int], tuple[int, int, int, str]] = {}
        counts: dict[int, int] = {}
        for arrival in release.arrivals:
            if arrival.kind == "bytes":
                key = (-1, arrival.operation)
                if arrival.operation >= 0:
                    found.pop(key, None)
                    found[key] = (arrival.time, -1, arrival.operation, f"{arrival.count:,} bytes landed")
            elif arrival.kind != "expect_tx":
                share = max(arrival.count // max(len(arrival.warps), 1), 1)
                for warp in arrival.warps:
                    cta = warp // self.per_cta
                    counts[cta] = counts.get(cta, 0) + share
                    found.pop((cta, -1), None)
                    words = f"{counts[cta]:,} arrival{'s' if counts[cta] > 1 else ''}"
                    found[(cta, -1)] = (arrival.time, self.row_of[warp], -1, words)
        return list(found.values())

    def _meetings(self) -> list[Meeting]:
        found = []
        for release in self.trace.releases:
            if release.barrier[0] != "mbarrier":
                rows = {self.row_of[warp] for arrival in release.arrivals for warp in arrival.warps}
                found.append(Meeting(release.time, tuple(sorted(rows)), self.barrier(release.barrier)))
        return found

    # -- memory

    def _memory(self) -> list[Memory]:
        known = {item.name: item for item in self.shared}
        objects = [(item.name, item.start, item.size, "mbarrier" if item.barrier else "array") for item in self.naming.shared]
        touched = [use for key, items in self.trace.touches.items() for use in self._uses(key, items)] + self._flown()
        covered = [(start, start + size) for _, start, size, _ in objects]
        rest = [use for use in touched if not any(low < use.high and use.low < high for low, high in covered)]
        if rest:
            low, high = min(use.low for use in rest), max(use.high for use in rest)
            objects.append(("unnamed", low, high - low, "array"))
        found = []
        for name, start, size, kind in objects:
            detail = known.get(name)
            words = f"{detail.dtype} {' x '.join(map(str, detail.shape))}" if detail is not None else f"{size:,} bytes"
            if detail is not None and detail.swizzle != "none":
                words += f", swizzle {detail.swizzle}"
            uses = tuple(use for use in touched if use.low < start + size and start < use.high)
            overlay = (detail.overlay or "") if detail is not None else ""
            found.append(Memory(name, start, size, kind, words, overlay, uses))
        return sorted(found, key=lambda item: (item.offset, -item.size))

    def _uses(self, key: tuple[int, int, str, int], items: list[Touch]) -> list[Use]:
        cta, _, access, by = key
        size = self.trace.grid.cluster_size
        found = []
        for touch in items:
            threads = [by * self.trace.grid.threads_per_cta + warp % self.per_cta * 32 for warp in touch.warps]
            roles = sorted({self.naming.role(thread) for thread in threads} - {""})
            who = " and ".join(roles) if roles else f"{len(touch.warps)} warps" if len(touch.warps) > 1 else "a warp"
            who = f"{who} of rank {by % size}" if size > 1 else who
            site = next(iter(touch.sites.values()))
            found.append(Use(cta, touch.begin, touch.end, touch.low, touch.high, touch.count, access, who, by != cta, source_place(site)))
        return found

    def _flown(self) -> list[Use]:
        """What asynchronous operations read and wrote; those that threads issued together with one instruction (st.async, say) as one."""
        stride = self.trace.grid.shared_stride
        found: dict[tuple[object, ...], Use] = {}
        for flight in self.trace.flights:
            end = flight.end if flight.end >= 0 else self.trace.clock
            read = flight.read if flight.read >= 0 else end
            issuer = flight.warp // self.per_cta
            for access, parts, until in (("async read", flight.reads, read), ("async write", flight.writes, end)):
                for space, start, count in parts:
                    cta, low = divmod(start, stride)
                    if space != "shared" or cta >= self.trace.ctas:
                        continue
                    kind = flight.kind.replace("_", " ")
                    place = source_place(flight.site)
                    use = Use(cta, flight.begin, max(until, flight.begin + 1), low, low + count, count, access, kind, cta != issuer, place)
                    piece = int(np.searchsorted(self.trace.boundaries, low, "right"))
                    key = (id(flight.site), flight.begin, access, cta, issuer, piece)
                    old = found.get(key)
                    found[key] = use if old is None else _joined(old, use)
        return list(found.values())


def _joined(one: Use, other: Use) -> Use:
    """Two uses of one kind as one."""
    return replace(
        one,
        end=max(one.end, other.end),
        low=min(one.low, other.low),
        high=max(one.high, other.high),
        count=one.count + other.count,
    )
