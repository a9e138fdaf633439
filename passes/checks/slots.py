"""Ring slots: a slot may be released only when the wgmmas that read it are done, and filled again only when a reader has let go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.explain import refilled, surplus
from fa4dsl.passes.checks.parties import Party
from fa4dsl.passes.checks.values import uniform

if TYPE_CHECKING:
    from fa4dsl.passes.checks.machine import Barrier, Instance, Machine


@dataclass(eq=False)
class _Fill:
    """The last copy into a slot of one CTA: the barrier phase it completes, and who waited for that."""

    event: Event
    instance: Instance
    phase: int
    readers: dict[int, tuple[int, Event]] = field(default_factory=dict)
    """By party: the time after its wait, and the wait."""


class Slots:
    """What copies fill, which barriers guard it, and who reads it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        copies = [(event.barrier, party.number) for party in machine.parties for event in party.steps if event.kind == "copy"]
        self.signalled = {barrier for barrier, _ in copies}
        self.copiers = {number for _, number in copies}
        self.guards = self._guards()
        self.fills: dict[tuple[int, str, int], _Fill] = {}
        """By CTA, array and offset."""

    def _guards(self) -> dict[tuple[str, int], list[tuple[str, int, int, Event]]]:
        """Barrier and index: the array ranges that a party copies into after waiting for it."""
        machine = self.machine
        found: dict[tuple[str, int], list[tuple[str, int, int, Event]]] = {}
        for party in machine.parties:
            active: list[tuple[str, int]] = []
            copied = False
            for event in party.steps:
                if event.kind == "wait":
                    index = _at(event.index, party)
                    if event.barrier not in self.signalled and index is not None:
                        active = [] if copied else active
                        active.append((event.barrier, index))
                        copied = False
                elif event.kind == "copy":
                    offset, moved = _at(event.offset, party), _at(event.bytes, party)
                    copied = True
                    if offset is not None and moved is not None and event.array:
                        for guard in active:
                            found.setdefault(guard, []).append((event.array, offset, moved, event))
        return found

    def multiplied(self, event: Event, party: Party) -> bool:
        """wgmma: its operands are being read until a wait covers it."""
        reads = []
        for array, offset in event.multicast:
            start = _at(offset, party)
            if start is not None:
                reads.append((array, start))
        party.groups[-1].append((event, tuple(reads)))
        return True

    def released(self, event: Event, party: Party, instance: Instance) -> None:
        """An arrive on a barrier that guards a slot, while wgmmas still read the slot."""
        ranges = self.guards.get(instance[1:])
        if not ranges or not any(party.groups):
            return
        for group in party.groups:
            for wgmma, reads in group:
                for array, start in reads:
                    copy = next((item[3] for item in ranges if item[0] == array and item[1] <= start < item[1] + item[2]), None)
                    if copy is not None:
                        self.machine.findings.add(
                            "C124",
                            event.node,
                            (wgmma.node, "reads the slot, and is not yet waited for"),
                            (event.node, "releases the slot"),
                            (copy.node, "fills it again"),
                            array=array,
                            barrier=instance[1],
                        )
                        return

    def copied(self, event: Event, party: Party) -> None:
        """A copy into a slot that was filled before: some reader of the last fill must be known to have got past its wait."""
        machine = self.machine
        offset = _at(event.offset, party)
        if offset is None or not event.array or machine.in_doubt or machine.doubtful(event) or machine.stopped:
            return
        for instance, _ in machine._destinations(event, party):
            key = (instance[0], event.array, offset)
            last = self.fills.get(key)
            if last is not None and last.event.node is not None:
                others = {number: seen for number, seen in last.readers.items() if not self._one_warp(machine.parties[number], party)}
                phase = machine.barrier(last.instance).phase
                unread = phase >= last.phase and not others and self._will_wait(last, party)
                unknown = others and not any(party.clock[number] > seen[0] for number, seen in others.items())
                if unread or unknown:
                    wait = next(iter(others.values()))[1] if others else self._will_wait(last, party)
                    assert wait is not None
                    machine.stopped = True
                    barrier = machine.barrier(instance)
                    if instance[0] == party.rank and not barrier.expects and barrier.surplus is None and barrier.phase:
                        barrier.surplus = (event, barrier.last_expected, _at(event.bytes, party) or 0)
                    if refilled(machine, self._guarding(event.array, offset, party)) or surplus(machine, barrier):
                        return
                    machine.findings.add(
                        "C125",
                        event.node,
                        (event.node, "fills the slot again"),
                        (wait.node, "its reader waits for the data here"),
                        array=event.array,
                        barrier=instance[1],
                        where="of another CTA" if instance[0] != party.rank else "of this CTA",
                    )
            self.fills[key] = _Fill(event, instance, machine.barrier(instance).phase + 1)

    def _guarding(self, array: str, offset: int, party: Party) -> list[Barrier]:
        """The barriers that the copying party waits for before it fills a slot."""
        return [
            self.machine.barrier((party.rank, *guard))
            for guard, ranges in self.guards.items()
            if any(item[0] == array and item[1] == offset for item in ranges)
        ]

    def _one_warp(self, reader: Party, copier: Party) -> bool:
        """Whether a reader lives in the copier's warps: their lanes move together through the collectives between a read and the next copy."""
        return reader.rank == copier.rank and reader.warps <= copier.warps

    def is_reader(self, event: Event, party: Party) -> bool:
        """Whether a wait is one for copied data, by a party that does not copy itself."""
        return event.barrier in self.signalled and party.number not in self.copiers

    def _will_wait(self, fill: _Fill, copier: Party) -> Event | None:
        """A wait of another party, still to come, for the barrier of a fill."""
        rank, name, index = fill.instance
        for party in self.machine.parties:
            if party.rank == rank and not self._one_warp(party, copier):
                for event in party.steps[party.position :]:
                    if event.kind == "wait" and event.barrier == name and _at(event.index, party) == index:
                        return event
        return None

    def waited(self, event: Event, party: Party, instance: Instance, phase: int) -> None:
        for fill in self.fills.values():
            if fill.instance == instance and fill.phase == phase:
                fill.readers[party.number] = (int(party.clock[party.number]), event)


def _at(value: Any, party: Party) -> int | None:
    """A number as the party's one number, or None."""
    if isinstance(value, int):
        return value
    if isinstance(value, numpy.ndarray):
        return uniform(value[party.lanes])
    return None
