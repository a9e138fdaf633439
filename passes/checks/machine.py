"""Runs the events of all parties against each other: barriers count, phases turn, waiters block, and clocks say who knows of whom.

One schedule is followed: each party runs as far as it can before the next moves, so the one ahead gets as far ahead as the barriers let it.
Copies complete at once. A correct protocol ends in every schedule; what is reported here happens in a legal one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from fa4dsl.passes.checks.collectives import Collectives
from fa4dsl.passes.checks.events import Doubt, Event
from fa4dsl.passes.checks.explain import lapped, left_over, surplus, too_many
from fa4dsl.passes.checks.findings import Findings
from fa4dsl.passes.checks.lanes import Launch
from fa4dsl.passes.checks.lifetime import Touches
from fa4dsl.passes.checks.parties import Party
from fa4dsl.passes.checks.program import Node, Program
from fa4dsl.passes.checks.slots import Slots
from fa4dsl.passes.checks.values import uniform

Instance = tuple[int, str, int]
"""(CTA rank, barrier, index)"""
EVERYTHING = 1 << 40
"""A clock component later than any event."""


@dataclass(eq=False)
class Barrier:
    """One mbarrier of one CTA."""

    instance: Instance
    declared: int
    pending: int
    phase: int = 0
    expected: int = 0
    """Transaction bytes expected less bytes that came, in this phase."""
    bytes_expected: int = 0
    bytes_came: int = 0
    last_expected: int = 0
    """Bytes expected in the phase before."""
    surplus: tuple[Event, int, int] | None = None
    """A copy whose bytes no phase had expected yet, what the phase before expected, and the copy's bytes."""
    waited: bool = True
    """Whether some wait has seen the last completed phase."""
    gathered: NDArray[numpy.int64] | None = None
    """Clocks released in this phase."""
    released: NDArray[numpy.int64] | None = None
    """Clocks released by the last completed phase."""
    arrivals: list[tuple[Event, Party, int]] = field(default_factory=list)
    """Of this phase."""
    turned_by: set[frozenset[int]] = field(default_factory=set)
    """The sets of parties that have completed phases."""
    all_arrivals: dict[tuple[int, int], tuple[Event, Party, int]] = field(default_factory=dict)
    """One for each operation and party, ever."""
    copies: list[Event] = field(default_factory=list)
    expects: list[Event] = field(default_factory=list)
    initialised: tuple[int, int] | None = None
    """(party, time)"""
    init: Event | None = None
    repeated: tuple[Event, Party] | None = None
    """A wait that asked for a phase which the same party had already waited for."""
    seen: dict[int, int] = field(default_factory=dict)
    """By party: the last phase it waited for."""


class Machine:
    """One run of the parties."""

    def __init__(
        self, program: Program, launch: Launch, found: Sequence[Party], doubts: dict[str, Doubt], findings: Findings, reverse: bool = False
    ) -> None:
        self.program = program
        self.launch = launch
        self.parties = list(found)
        self.order = list(reversed(self.parties)) if reverse else self.parties
        self.doubts = doubts
        self.findings = findings
        self.barriers: dict[Instance, Barrier] = {}
        self.in_doubt = bool(doubts)
        self.passed: dict[tuple[int, Instance], tuple[int, NDArray[numpy.int64] | None]] = {}
        """By wait: the phase with which somebody passed it, and what that phase released."""
        self.slots = Slots(self)
        self.touches = Touches(self)
        self.collectives = Collectives(self)
        self.handlers: dict[str, Callable[[Event, Party], bool]] = {
            "init": self._init,
            "invalidate": self._invalidate,
            "arrive": self._arrive,
            "wait": self._wait,
            "copy": self._copy,
            "touch": self._touch,
            "block": self.collectives.block,
            "named": self.collectives.named,
            "named_arrive": self.collectives.named_arrive,
            "warp": self.collectives.warp,
            "cluster_arrive": self.collectives.cluster_arrive,
            "cluster_wait": self.collectives.cluster_wait,
            "wgmma": self.slots.multiplied,
            "wgmma_commit": self._wgmma_commit,
            "wgmma_wait": self._wgmma_wait,
        }
        """By kind of event: executes it for a party; False where the party must wait."""
        self.live = sum(party.size for party in self.parties if not party.done)
        """Threads that have not come to their end."""
        self.version = 0
        """Counts what may let a waiting party go on: a party is tried again only when it has changed."""
        self.stopped = False
        """Set where what follows would only be the echo of a fault."""

    def run(self) -> None:
        moved = True
        while moved and not self.stopped:
            moved = False
            for party in self.order:
                if party.tried == self.version:
                    continue
                while not party.done and not self.stopped and self.step(party):
                    moved = True
                party.tried = self.version
                if party.done:
                    self.version += 1
        if not self.stopped and not self.in_doubt and not self.blocked:
            for barrier in self.barriers.values():
                if barrier.expected < 0:
                    surplus(self, barrier)
                elif barrier.seen:
                    left_over(self, barrier)
        self.touches.finish()

    @property
    def blocked(self) -> list[Party]:
        return [party for party in self.parties if not party.done]

    def step(self, party: Party) -> bool:
        """Executes the party's next event; False where it must wait."""
        event = party.steps[party.position]
        if not self.handlers[event.kind](event, party):
            return False
        party.position += 1
        party.clock[party.number] += 1
        if party.position == len(party.steps):
            party.done = True
            self.live -= party.size
        return True

    def join(self, party: Party, clock: NDArray[numpy.int64] | None) -> None:
        if clock is not None:
            numpy.maximum(party.clock, clock, out=party.clock)

    # --- mbarriers

    def barrier(self, instance: Instance) -> Barrier:
        made = self.barriers.get(instance)
        if made is None:
            declared = int(self.program.allocations[instance[1]].attribute("arrivals", 1))
            made = self.barriers[instance] = Barrier(instance, declared, declared)
        return made

    def doubtful(self, event: Event) -> bool:
        return event.barrier in self.doubts or event.barrier not in self.program.allocations

    def targets(self, event: Event, party: Party) -> list[tuple[Instance, int]]:
        """The barriers that an event means, each with the number of the party's threads that mean it."""
        index, rank = event.index, party.rank if event.rank is None else event.rank
        if isinstance(index, int) and isinstance(rank, int):
            return [((rank, event.barrier, index), party.size)]
        index = index[party.lanes] if isinstance(index, numpy.ndarray) else index
        rank = rank[party.lanes] if isinstance(rank, numpy.ndarray) else rank
        one_index, one_rank = uniform(index), uniform(rank)
        if one_index is not None and one_rank is not None:
            return [((one_rank, event.barrier, one_index), party.size)]
        pairs = (
            numpy.stack(numpy.broadcast_arrays(rank, index), axis=1)
            if not (one_index is None and one_rank is None)
            else numpy.stack([rank, index], axis=1)
        )
        rows, counts = numpy.unique(pairs, axis=0, return_counts=True)
        return [((int(r), event.barrier, int(i)), int(n)) for (r, i), n in zip(rows, counts, strict=True)]

    def _init(self, event: Event, party: Party) -> bool:
        if self.launch.thread[party.lanes[0]] != 0 or self.doubtful(event):
            return True
        count = int(self.program.allocations[event.barrier].attribute("count", 1))
        for index in range(count):
            barrier = self.barrier((party.rank, event.barrier, index))
            if barrier.init is not None:
                self.findings.add(
                    "C110", event.node, (event.node, "initialised again"), (barrier.init.node, "first"), barrier=event.barrier
                )
                return True
            barrier.initialised = (party.number, int(party.clock[party.number]))
            barrier.init = event
        return True

    def _invalidate(self, event: Event, party: Party) -> bool:
        if self.launch.thread[party.lanes[0]] == 0 and not self.doubtful(event):
            for instance in [key for key in self.barriers if key[:2] == (party.rank, event.barrier)]:
                del self.barriers[instance]
        return True

    def valid(self, event: Event, party: Party, barrier: Barrier) -> bool:
        """Whether the barrier's initialisation happened before; reports where it did not."""
        rank, name, index = barrier.instance
        count = int(self.program.allocations[name].attribute("count", 1))
        if not 0 <= index < count:
            self.findings.add("C112", event.node, barrier=name, count=count, index=index, blame=name)
            return False
        if rank >= self.launch.ranks or rank < 0:
            self.findings.add("C113", event.node, object=name, rank=rank, ranks=self.launch.ranks, blame=name)
            return False
        if barrier.initialised is not None:
            by, when = barrier.initialised
            if party.clock[by] >= when:
                return True
        if name in self.findings.blamed:
            return True
        init = next((item for key, other in self.barriers.items() if key[1] == name and (item := other.init)), None)
        init = init or next((item for other in self.parties for item in other.steps if item.kind == "init" and item.barrier == name), None)
        who = self.launch.words(event.mask, self.program.roles)
        if init is None:
            self.findings.add(
                "C108",
                event.node,
                (event.node, "used here"),
                (self.program.allocations[name], "declared here"),
                barrier=name,
                who=who,
                blame=name,
            )
        elif rank == party.rank:
            self.findings.add(
                "C109", event.node, (event.node, "used here"), (init.node, "initialised here"), barrier=name, who=who, blame=name
            )
        else:
            self.findings.add(
                "C111", event.node, (event.node, "the remote use"), (init.node, "initialised here"), barrier=name, who=who, blame=name
            )
        self.stopped = init is None
        return True

    def _arrive(self, event: Event, party: Party) -> bool:
        if self.doubtful(event):
            return True
        for instance, threads in self.targets(event, party):
            barrier = self.barrier(instance)
            if not self.valid(event, party, barrier):
                self.stopped = True
                return True
            if instance[0] != party.rank:
                self.touches.remote(event, party, instance[0])
            self.slots.released(event, party, instance)
            expected = event.bytes[party.lanes[0]] if isinstance(event.bytes, numpy.ndarray) else event.bytes
            if event.node.name in ("fa4.mbarrier_expect_tx", "fa4.mbarrier_arrive_expect_tx", "fa4.mbarrier_arrive_expect_tx_remote"):
                barrier.expected += int(expected) * threads
                barrier.bytes_expected += int(expected) * threads
                barrier.expects.append(event)
            if event.arrivals and event.node.name != "fa4.mbarrier_expect_tx":
                self._count(event, party, barrier, threads * event.arrivals)
            self._gather(barrier, party)
            self._complete(barrier)
        return True

    def _gather(self, barrier: Barrier, party: Party) -> None:
        barrier.gathered = party.clock.copy() if barrier.gathered is None else numpy.maximum(barrier.gathered, party.clock)

    def _count(self, event: Event, party: Party, barrier: Barrier, arrivals: int) -> None:
        barrier.arrivals.append((event, party, arrivals))
        barrier.all_arrivals[(event.node.number, party.number)] = (event, party, arrivals)
        barrier.pending -= arrivals
        if barrier.pending < 0 and not self.stopped:
            too_many(self, barrier)
            self.stopped = True

    def _complete(self, barrier: Barrier) -> None:
        if barrier.pending or barrier.expected:
            return
        if not barrier.waited and not self.in_doubt and self._still_awaited(barrier):
            lapped(self, barrier)
            self.stopped = True
        barrier.phase += 1
        barrier.turned_by.add(frozenset(party.number for _, party, _ in barrier.arrivals))
        self.version += 1
        barrier.pending = barrier.declared
        barrier.waited = False
        barrier.released, barrier.gathered = barrier.gathered, None
        barrier.arrivals, barrier.expects, barrier.copies = [], [], []
        barrier.last_expected = barrier.bytes_expected
        barrier.bytes_expected = barrier.bytes_came = 0

    def _still_awaited(self, barrier: Barrier) -> bool:
        """Whether somebody has yet to wait for the phase that ends now or the one before."""
        rank, name, index = barrier.instance
        for party in self.parties:
            if party.rank == rank:
                for event in party.steps[party.position :]:
                    if event.kind == "wait" and event.barrier == name and self.targets(event, party)[0][0][2] == index:
                        return True
        return False

    def _wait(self, event: Event, party: Party) -> bool:
        if self.doubtful(event):
            party.clock[:] = numpy.maximum(party.clock, EVERYTHING * (numpy.arange(len(self.parties)) != party.number))
            return True
        instance = self.targets(event, party)[0][0]
        barrier = self.barrier(instance)
        if not self.valid(event, party, barrier):
            self.stopped = True
            return True
        parity = event.parity[party.lanes[0]] if isinstance(event.parity, numpy.ndarray) else event.parity
        # Threads that wait together see one phase: lanes of a warp do, and the warps of a warpgroup meet at its wgmma. So whoever
        # comes to a wait that a fellow has passed, passes too.
        phase, released = self.passed.get((id(event), instance), (barrier.phase, barrier.released))
        if (phase - 1) & 1 != int(parity) & 1:
            return False
        self.passed[(id(event), instance)] = (phase, released)
        if phase == 0 and self.slots.is_reader(event, party) and not self.in_doubt:
            problem = "passes at once: it asks a fresh barrier for parity 1, so it does not wait for the first data"
            self.findings.add("C104", event.node, barrier=event.barrier, problem=problem, blame=event.barrier)
            self.stopped = True
        if phase:
            barrier.waited |= phase == barrier.phase
            if barrier.seen.get(party.number) == phase and barrier.repeated is None:
                barrier.repeated = (event, party)
            barrier.seen[party.number] = phase
            self.join(party, released)
        self.slots.waited(event, party, instance, phase)
        return True

    def _copy(self, event: Event, party: Party) -> bool:
        self.slots.copied(event, party)
        if self.stopped or self.doubtful(event):
            return True
        moved = event.bytes[party.lanes[0]] if isinstance(event.bytes, numpy.ndarray) else event.bytes
        for instance, threads in self._destinations(event, party):
            barrier = self.barrier(instance)
            if not self.valid(event, party, barrier):
                self.stopped = True
                return True
            if instance[0] != party.rank:
                self.touches.remote(event, party, instance[0])
            barrier.expected -= int(moved) * threads
            barrier.bytes_came += int(moved) * threads
            barrier.copies.append(event)
            if barrier.expected < 0 and barrier.surplus is None and barrier.phase:
                barrier.surplus = (event, barrier.last_expected, int(moved) * threads)
            self._gather(barrier, party)
            self._complete(barrier)
        return True

    def _destinations(self, event: Event, party: Party) -> list[tuple[Instance, int]]:
        if event.multicast is None:
            return self.targets(event, party)
        mask = event.multicast[party.lanes[0]] if isinstance(event.multicast, numpy.ndarray) else event.multicast
        return [
            ((rank, event.barrier, instance[2]), threads)
            for instance, threads in self.targets(event, party)
            for rank in range(self.launch.ranks)
            if int(mask) >> rank & 1
        ]

    # --- the rest

    def _touch(self, event: Event, party: Party) -> bool:
        if not event.number:
            self.touches.somewhere(event, party)
            return True
        rank: Any = event.rank[party.lanes] if isinstance(event.rank, numpy.ndarray) else event.rank
        one = uniform(rank)
        for target in numpy.unique(rank).tolist() if one is None else [one]:
            if target != party.rank:
                self.touches.remote(event, party, int(target))
        return True

    def _wgmma_commit(self, event: Event, party: Party) -> bool:
        party.groups.append([])
        return True

    def _wgmma_wait(self, event: Event, party: Party) -> bool:
        closed, last = party.groups[:-1], party.groups[-1]
        keep = closed[len(closed) - int(event.number) :] if event.number else []
        party.groups = [*keep, last]
        return True


def place(node: Node, label: str = "") -> tuple[Node, str]:
    """A place of a finding."""
    return (node, label)
