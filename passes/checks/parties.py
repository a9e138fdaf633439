"""Threads that do the same things, as one party; and what each party does, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy
from numpy.typing import NDArray

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.lanes import Lanes, Launch, Mask
from fa4dsl.passes.checks.values import uniform


@dataclass(eq=False)
class Party:
    """Threads of one CTA with one history. `steps` are its events; `position` the next one."""

    number: int
    rank: int
    lanes: Lanes
    steps: list[Event] = field(default_factory=list)
    position: int = 0
    arrived: bool = False
    """Whether it has arrived at the cluster barrier and not yet waited."""
    clock: NDArray[numpy.int64] = field(default_factory=lambda: numpy.zeros(0, dtype=numpy.int64))
    groups: list[list[tuple[Event, tuple[tuple[str, int], ...]]]] = field(default_factory=lambda: [[]])
    """wgmma groups with what they read; the last one is open."""

    @property
    def done(self) -> bool:
        return self.position >= len(self.steps)

    @property
    def size(self) -> int:
        return len(self.lanes)

    @property
    def event(self) -> Event:
        return self.steps[self.position]

    def mask(self, launch: Launch) -> Mask:
        made = numpy.zeros(launch.lanes, dtype=numpy.bool_)
        made[self.lanes] = True
        return made


def parties(launch: Launch, events: list[Event]) -> list[Party]:
    """The parties of a run, those of CTA 0 first. Threads part where one executes an event and another does not, where they wait
    for different barriers, and thread 0 from the rest where barriers are initialised (it does that alone)."""
    generator = numpy.random.default_rng(7)
    marks = generator.integers(1, 2**62, size=len(events) + 1, dtype=numpy.uint64)
    history = numpy.zeros(launch.lanes, dtype=numpy.uint64)
    for position, event in enumerate(events):
        whole = event.mask is launch.full or bool(event.mask.all())
        if event.kind in ("init", "invalidate"):
            history[event.mask & (launch.thread == 0)] += marks[position] * numpy.uint64(3)
        if not whole:
            history[event.mask] += marks[position]
        if event.kind in ("wait", "named", "named_arrive"):
            for value in (event.index, event.parity, event.number):
                if isinstance(value, numpy.ndarray) and uniform(value[event.mask]) is None:
                    history[event.mask] += marks[position] * value[event.mask].astype(numpy.uint64)
    found: list[Party] = []
    for rank in range(launch.ranks):
        part = history[rank * launch.threads : (rank + 1) * launch.threads]
        _, first, inverse = numpy.unique(part, return_index=True, return_inverse=True)
        for group in numpy.argsort(first, kind="stable"):
            lanes = numpy.flatnonzero(inverse == group) + rank * launch.threads
            found.append(Party(len(found), rank, lanes))
    first_lanes = numpy.array([party.lanes[0] for party in found])
    for event in events:
        for number in numpy.flatnonzero(event.mask[first_lanes]):
            found[number].steps.append(event)
    for party in found:
        party.clock = numpy.zeros(len(found), dtype=numpy.int64)
        party.clock[party.number] = 1
    return found
