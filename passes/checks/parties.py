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
    tried: int = -1
    """The machine's version when the party was last found waiting or done."""
    arrived: bool = False
    """Whether it has arrived at the cluster barrier and not yet waited."""
    clock: NDArray[numpy.int64] = field(default_factory=lambda: numpy.zeros(0, dtype=numpy.int64))
    done: bool = False
    known: set[int] = field(default_factory=set)
    """CTAs that it knows to have started."""
    groups: list[list[tuple[Event, tuple[tuple[str, int], ...]]]] = field(default_factory=lambda: [[]])
    """wgmma groups with what they read; the last one is open."""

    warps: frozenset[int] = frozenset()
    """Its warps, numbered within the CTA."""

    def __post_init__(self) -> None:
        self.size = len(self.lanes)

    @property
    def event(self) -> Event:
        return self.steps[self.position]

    def again(self, parties: int) -> Party:
        """The same threads at their beginning, for another run among as many `parties`."""
        fresh = Party(self.number, self.rank, self.lanes, self.steps, warps=self.warps)
        fresh.clock = numpy.zeros(parties, dtype=numpy.int64)
        fresh.clock[fresh.number] = 1
        fresh.done = not fresh.steps
        return fresh

    def mask(self, launch: Launch) -> Mask:
        made = numpy.zeros(launch.lanes, dtype=numpy.bool_)
        made[self.lanes] = True
        return made


_ALONE = ("elect", "store", "registers")
"""Events that concern nobody else: they are checked one by one."""


def parties(launch: Launch, events: list[Event]) -> list[Party]:
    """The parties of a run, those of CTA 0 first; `Party.again` makes each ready to be followed. Threads part where one executes an event
    and another does not, where they wait for different barriers, and thread 0 from the rest where barriers are initialised (it does that
    alone)."""
    generator = numpy.random.default_rng(7)
    marks, of_masks = generator.integers(1, 2**62, size=(2, len(events) + 1), dtype=numpy.uint64)
    history = numpy.zeros(launch.lanes, dtype=numpy.uint64)
    # Events share their masks: one mark for a mask says the same as one for each of its events.
    masks = {id(event.mask): event.mask for event in events}
    for number, mask in enumerate(masks.values()):
        if mask is not launch.full and not mask.all():
            history[mask] += of_masks[number]
    for position, event in enumerate(events):
        if event.kind in ("init", "invalidate"):
            history[event.mask & (launch.thread == 0)] += marks[position] * numpy.uint64(3)
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
            found.append(Party(len(found), rank, lanes, warps=frozenset(launch.warp[lanes].tolist())))
    first_lanes = numpy.array([party.lanes[0] for party in found])
    members: dict[int, list[Party]] = {}
    for event in events:
        if event.kind in _ALONE:
            continue
        those = members.get(id(event.mask))
        if those is None:
            those = members[id(event.mask)] = [found[number] for number in numpy.flatnonzero(event.mask[first_lanes])]
        for party in those:
            party.steps.append(event)
    return found
