"""A peer's shared memory lives from the peer's start to its exit; who touches it must know of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.parties import Party

if TYPE_CHECKING:
    from fa4dsl.passes.checks.machine import Machine


class Touches:
    """Remote accesses of one run: that the peer had started is checked at once, that it has not left is checked at the end."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.last: dict[tuple[int, int, int], tuple[int, Event, Party]] = {}
        """By operation, party and target: the time of the last access."""
        self.members = [[party.number for party in machine.parties if party.rank == rank] for rank in range(machine.launch.ranks)]

    def _knows(self, party: Party, rank: int) -> bool:
        if rank not in party.known and party.clock[self.members[rank]].any():
            party.known.add(rank)
        return rank in party.known

    def remote(self, event: Event, party: Party, rank: int) -> None:
        """An access of `party` to the CTA `rank`."""
        machine = self.machine
        if not 0 <= rank < machine.launch.ranks:
            machine.findings.add("C113", event.node, object=event.array or event.barrier, rank=rank, ranks=machine.launch.ranks)
            machine.stopped = True
            return
        if "cluster" in machine.doubts:
            return
        blamed = event.barrier and event.barrier in machine.findings.blamed
        if not self._knows(party, rank) and not blamed:
            who = machine.launch.words(event.mask, machine.program.roles)
            machine.findings.add("C120", event.node, who=who, object=event.array or event.barrier)
        self.last[(event.node.number, party.number, rank)] = (int(party.clock[party.number]), event, party)

    def somewhere(self, event: Event, party: Party) -> None:
        """An access to a peer that only the run names: any peer will do."""
        machine = self.machine
        if machine.launch.ranks == 1 or "cluster" in machine.doubts:
            return
        others = [rank for rank in range(machine.launch.ranks) if rank != party.rank]
        if not any(self._knows(party, rank) for rank in others):
            who = machine.launch.words(event.mask, machine.program.roles)
            machine.findings.add("C120", event.node, who=who, object=event.array or event.barrier)
        for rank in others:
            self.last[(event.node.number, party.number, rank)] = (int(party.clock[party.number]), event, party)

    def finish(self) -> None:
        """Whether each target knows, when it exits, that the accesses to it are over."""
        machine = self.machine
        if machine.stopped or machine.blocked or not self.last:
            return
        final = numpy.stack([party.clock for party in machine.parties])
        ranks = numpy.array([party.rank for party in machine.parties])
        latest = {rank: final[ranks == rank].max(axis=0) for rank in range(machine.launch.ranks)}
        for (_, number, rank), (time, event, _) in self.last.items():
            if latest[rank][number] < time:
                who = machine.launch.words(event.mask, machine.program.roles)
                machine.findings.add("C121", event.node, who=who, object=event.array or event.barrier)
