"""CTA, named, warp and cluster barriers among the parties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.parties import Party
from fa4dsl.passes.checks.values import uniform

if TYPE_CHECKING:
    from fa4dsl.passes.checks.machine import Machine


@dataclass(eq=False)
class Meeting:
    """One phase of a barrier: who is there, what it needs, what they know."""

    needed: int
    arrived: int = 0
    waiting: dict[int, Event] = field(default_factory=dict)
    """Parties that are blocked in it."""
    members: list[tuple[int, Event, int]] = field(default_factory=list)
    """(party, event, its time)"""
    clock: NDArray[numpy.int64] | None = None
    complete: bool = False


class Collectives:
    """The barriers of one run that are not mbarriers."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.meetings: dict[Any, Meeting] = {}
        self.before: dict[Any, Meeting] = {}
        """The last completed phase of each named barrier."""
        self.warps: dict[tuple[int, int], dict[int, Event]] = {}

    def _enter(self, key: Any, event: Event, party: Party, needed: int, blocks: bool) -> Meeting:
        meeting = self.meetings.setdefault(key, Meeting(needed))
        self.machine.version += 1
        meeting.arrived += party.size
        meeting.members.append((party.number, event, int(party.clock[party.number])))
        meeting.clock = party.clock.copy() if meeting.clock is None else numpy.maximum(meeting.clock, party.clock)
        if blocks:
            meeting.waiting[party.number] = event
        if meeting.arrived >= meeting.needed:
            meeting.complete = True
            self.before[key] = self.meetings.pop(key)
        return meeting

    def _meet(self, key: Any, event: Event, party: Party, needed: int) -> bool:
        """Blocks the party until the phase completes."""
        held = self._held(key, party)
        meeting = held if held is not None else self._enter(key, event, party, needed, True)
        if not meeting.complete:
            return False
        meeting.waiting.pop(party.number, None)
        self.machine.join(party, meeting.clock)
        return True

    def _held(self, key: Any, party: Party) -> Meeting | None:
        """The phase that the party is in already."""
        for store in (self.meetings, self.before):
            meeting = store.get(key)
            if meeting is not None and party.number in meeting.waiting:
                return meeting
        return None

    def block(self, event: Event, party: Party) -> bool:
        if "block" in self.machine.doubts:
            return True
        return self._meet(("block", party.rank), event, party, self.machine.launch.threads)

    def _named_key(self, event: Event, party: Party) -> Any:
        number = uniform(event.number[party.lanes]) if isinstance(event.number, numpy.ndarray) else event.number
        return ("named", party.rank, number)

    def named(self, event: Event, party: Party) -> bool:
        if "named" in self.machine.doubts:
            self._know_all(party)
            return True
        key = self._named_key(event, party)
        if self._held(key, party) is None and not self._admit(key, event, party):
            return True
        return self._meet(key, event, party, event.threads)

    def named_arrive(self, event: Event, party: Party) -> bool:
        if "named" not in self.machine.doubts:
            key = self._named_key(event, party)
            if self._admit(key, event, party):
                self._enter(key, event, party, event.threads, False)
        return True

    def _know_all(self, party: Party) -> None:
        for other in self.machine.parties:
            numpy.maximum(party.clock, other.clock, out=party.clock)

    def _admit(self, key: Any, event: Event, party: Party) -> bool:
        """Whether the party fits into the phase; reports where it does not."""
        machine, number = self.machine, key[2]
        name = event.node.attribute("name") or f"named barrier {number}"
        if number == 0:
            machine.findings.add("C118", event.node, barrier=name)
        meeting = self.meetings.get(key)
        if meeting is None:
            before = self.before.get(key)
            if before is not None and not any(member == party.number for member, _, _ in before.members):
                known = all(party.clock[member] >= time for member, _, time in before.members)
                if not known and before.members[0][1].node is not event.node:
                    first = before.members[0][1]
                    who = machine.launch.words(event.mask, machine.program.roles)
                    others = machine.launch.words(first.mask, machine.program.roles)
                    machine.findings.add(
                        "C116",
                        event.node,
                        (event.node, "one user"),
                        (first.node, "the other"),
                        barrier=name,
                        number=number,
                        who=who,
                        others=others,
                    )
                    machine.stopped = True
            return True
        first = meeting.members[0][1]
        if meeting.needed != event.threads:
            machine.findings.add(
                "C115", event.node, (event.node, f"{event.threads} threads"), (first.node, f"{meeting.needed} threads"),
                barrier=name, number=number, problem=f"one user counts {event.threads} threads, another {meeting.needed}",
            )  # fmt: skip
            machine.stopped = True
            return False
        if meeting.arrived + party.size > meeting.needed:
            taking = sorted({f"{machine.launch.words(item.mask, machine.program.roles)}" for _, item, _ in meeting.members})
            who = machine.launch.words(event.mask, machine.program.roles)
            if who in taking or len(taking) == 0:
                problem = f"it counts {meeting.needed} threads, and {who} come to it"
                code = "C115"
                machine.findings.add(code, event.node, barrier=name, number=number, problem=problem)
            else:
                machine.findings.add(
                    "C116", event.node, (event.node, "one user"), (first.node, "the other"),
                    barrier=name, number=number, who=who, others=" and ".join(taking),
                )  # fmt: skip
            machine.stopped = True
            return False
        return True

    # --- warps

    def warp(self, event: Event, party: Party) -> bool:
        """bar.warp.sync: the parties that share a warp with this one, and take part, meet."""
        machine = self.machine
        warps = set((machine.launch.warp[party.lanes]).tolist())
        fellows = [
            other
            for other in machine.parties
            if other.rank == party.rank and event.mask[other.lanes[0]] and warps & set(machine.launch.warp[other.lanes].tolist())
        ]
        seen = self.warps.setdefault((id(event), party.rank), {})
        if party.number not in seen:
            seen[party.number] = event
            machine.version += 1
        if any(other.number not in seen for other in fellows):
            return False
        for other in fellows:
            machine.join(party, other.clock)
        return True

    # --- the cluster

    def cluster_arrive(self, event: Event, party: Party) -> bool:
        if "cluster" in self.machine.doubts:
            return True
        if party.arrived:
            self.machine.findings.add("C117", event.node, problem="arrives a second time before it has waited", who=self._who(event))
            self.machine.stopped = True
            return True
        party.arrived = True
        meeting = self._enter(("cluster",), event, party, self._members(), False)
        if meeting.complete:
            self._note_absent(event, meeting)
        return True

    def cluster_wait(self, event: Event, party: Party) -> bool:
        machine = self.machine
        if "cluster" in machine.doubts:
            self._know_all(party)
            return True
        if not party.arrived:
            machine.findings.add("C117", event.node, problem="waits without having arrived", who=self._who(event))
            machine.stopped = True
            return True
        key = ("cluster",)
        meeting = self.meetings.get(key)
        if meeting is not None and any(number == party.number for number, _, _ in meeting.members):
            meeting.needed = self._members()
            if meeting.arrived < meeting.needed:
                return False
            meeting.complete = True
            self._note_absent(event, meeting)
            self.before[key] = self.meetings.pop(key)
        machine.join(party, self.before[key].clock)
        party.arrived = False
        return True

    def _members(self) -> int:
        """Threads that the cluster barrier waits for: those that have not exited, and those that arrived and left."""
        meeting = self.meetings.get(("cluster",))
        there = {number for number, _, _ in meeting.members} if meeting else set()
        parties = self.machine.parties
        return self.machine.live + sum(parties[number].size for number in there if parties[number].done)

    def _note_absent(self, event: Event, meeting: Meeting) -> None:
        machine = self.machine
        there = {number for number, _, _ in meeting.members}
        absent = [party for party in machine.parties if party.number not in there]
        if absent:
            mask = numpy.zeros(machine.launch.lanes, dtype=numpy.bool_)
            for party in absent:
                mask[party.lanes] = True
            machine.findings.add("C119", event.node, who=machine.launch.words(mask, machine.program.roles))

    def _who(self, event: Event) -> str:
        return self.machine.launch.words(event.mask, self.machine.program.roles)
