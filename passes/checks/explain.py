"""Why a barrier does not turn: the first cause of a stop, with both ends of the protocol as places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.parties import Party
from fa4dsl.passes.checks.program import Node

if TYPE_CHECKING:
    from fa4dsl.passes.checks.machine import Barrier, Machine


def _a_round(machine: Machine, barrier: Barrier) -> list[tuple[Event, Party, int]]:
    """One arrival for each operation and party that ever arrives at the barrier: what one turn of the protocol brings."""
    found = dict(barrier.all_arrivals)
    for party in machine.parties:
        for event in party.steps[party.position :]:
            if event.kind != "arrive" or event.barrier != barrier.instance[1] or event.node.name == "fa4.mbarrier_expect_tx":
                continue
            key = (event.node.number, party.number)
            if key not in found:
                threads = next((count for instance, count in machine.targets(event, party) if instance == barrier.instance), 0)
                if threads:
                    found[key] = (event, party, threads * event.arrivals)
    return list(found.values())


def _listed(machine: Machine, arrivals: list[tuple[Event, Party, int]]) -> tuple[str, list[tuple[Node, str]]]:
    """Arrivals in words, by operation, and their places."""
    by_node: dict[int, tuple[Event, int]] = {}
    for event, _, count in arrivals:
        known = by_node.get(event.node.number)
        by_node[event.node.number] = (event, count + (known[1] if known else 0))
    words, places = [], []
    for event, count in by_node.values():
        who = machine.launch.words(event.mask, machine.program.roles)
        words.append(f"{count} by {who}")
        places.append((event.node, f"{count} {'arrival' if count == 1 else 'arrivals'}: {who}"))
    return ", ".join(words) or "none", places


def _count_mismatch(machine: Machine, barrier: Barrier, site: Node, wait: Event | None = None) -> bool:
    arrivals = _a_round(machine, barrier)
    total = sum(count for _, _, count in arrivals)
    if total == barrier.declared or not arrivals:
        return False
    name = barrier.instance[1]
    listed, places = _listed(machine, arrivals)
    waits = [(wait.node, "waits here")] if wait else []
    allocation = machine.program.allocations[name]
    machine.findings.add(
        "C100", site, *waits, *places, (allocation, f"declared for {barrier.declared}"),
        barrier=name, declared=barrier.declared, arrivals=total, listed=listed, blame=name,
    )  # fmt: skip
    return True


def _repeated(machine: Machine, barrier: Barrier) -> bool:
    if barrier.repeated is None:
        return False
    event, _ = barrier.repeated
    name = barrier.instance[1]
    machine.findings.add(
        "C104",
        event.node,
        barrier=name,
        problem="waits a second time for a phase that it has already seen: the parity does not alternate",
        blame=name,
    )
    return True


def _bytes(machine: Machine, barrier: Barrier, site: Node) -> bool:
    if not barrier.expected:
        return False
    name = barrier.instance[1]
    came, expected = barrier.bytes_came, barrier.bytes_expected
    places = [(event.node, "expects") for event in _once(barrier.expects)] + [(event.node, "brings") for event in _once(barrier.copies)]
    copies = ", ".join(f"{event.node.name.removeprefix('fa4.')}" for event in _once(barrier.copies)) or "no copy"
    machine.findings.add("C101", site, *(places or [(site, "")]), barrier=name, expected=expected, came=came, copies=copies, blame=name)
    return True


def _once(events: list[Event]) -> list[Event]:
    return list({event.node.number: event for event in events}.values())


def surplus(machine: Machine, barrier: Barrier) -> bool:
    """Bytes that came to a phase which did not expect them."""
    if barrier.surplus is None:
        return False
    event, expected, moved = barrier.surplus
    name = barrier.instance[1]
    expects = [item for party in machine.parties for item in party.steps if item.barrier == name and "expect" in item.node.name]
    places = [(item.node, "expects") for item in _once(expects)] + [(event.node, "brings more")]
    copies = event.node.name.removeprefix("fa4.")
    machine.findings.add("C101", event.node, *places, barrier=name, expected=expected, came=expected + moved, copies=copies, blame=name)
    return True


def refilled(machine: Machine, guards: list[Barrier]) -> bool:
    """Whether a slot was filled too early because the barrier that guards it counts wrongly."""
    return any(_count_mismatch(machine, barrier, machine.program.allocations[barrier.instance[1]]) for barrier in guards)


def left_over(machine: Machine, barrier: Barrier) -> None:
    """The kernel ends in the middle of a phase, or different threads have completed phases that nobody waits for: an error where the
    arrivals do not add up to the declared count."""
    if barrier.arrivals:
        _count_mismatch(machine, barrier, barrier.arrivals[-1][0].node)
    elif len(barrier.turned_by) > 1 and barrier.phase > _turns(machine, barrier)[1]:
        _count_mismatch(machine, barrier, machine.program.allocations[barrier.instance[1]])


def too_many(machine: Machine, barrier: Barrier) -> None:
    """An arrival came to a phase that had no arrival left to wait for."""
    event, _, count = barrier.arrivals[-1]
    full = barrier.pending + count == 0
    if machine.in_doubt:
        if count > barrier.declared:
            _count_mismatch(machine, barrier, event.node)
        return
    if _repeated_somewhere(machine):
        return
    if full and barrier.expected and _bytes(machine, barrier, event.node):
        return
    if not _count_mismatch(machine, barrier, event.node):
        _reused(machine, barrier, event)


def _repeated_somewhere(machine: Machine) -> bool:
    """Whether some barrier that other threads still turn is waited for with a parity that does not alternate."""
    return any(
        _repeated(machine, barrier) for barrier in list(machine.barriers.values()) if barrier.repeated and _moves_on(machine, barrier)
    )


def _moves_on(machine: Machine, barrier: Barrier) -> bool:
    """Whether more phases than the one that was waited for twice have completed or are under way."""
    if barrier.arrivals or barrier.copies or barrier.phase > max(barrier.seen.values(), default=0):
        return True
    name = barrier.instance[1]
    return any(
        event.kind in ("arrive", "copy") and event.barrier == name for party in machine.parties for event in party.steps[party.position :]
    )


def lapped(machine: Machine, barrier: Barrier) -> None:
    """A phase completes although nobody has waited for the one before it."""
    if _repeated_somewhere(machine):
        return
    event = barrier.arrivals[-1][0] if barrier.arrivals else barrier.copies[-1]
    phases, waits = _turns(machine, barrier)
    if phases <= waits + 1 or not _count_mismatch(machine, barrier, event.node):
        _reused(machine, barrier, event)


def _turns(machine: Machine, barrier: Barrier) -> tuple[int, int]:
    """(phases that all arrivals of the kernel make, most waits of one party): a surplus of phases is a surplus of arrivals."""
    arrivals, waits = 0, 0
    for party in machine.parties:
        own = 0
        for event in party.steps:
            if event.barrier != barrier.instance[1] or event.kind not in ("arrive", "wait"):
                continue
            threads = next((count for instance, count in machine.targets(event, party) if instance == barrier.instance), 0)
            if event.kind == "wait":
                own += threads > 0
            elif event.node.name != "fa4.mbarrier_expect_tx":
                arrivals += threads * event.arrivals
        waits = max(waits, own)
    return arrivals // barrier.declared, waits


def _reused(machine: Machine, barrier: Barrier, event: Event) -> None:
    name = barrier.instance[1]
    waits = [item for party in machine.parties for item in party.steps if item.kind == "wait" and item.barrier == name]
    places = [(event.node, "completes the next phase")] + [(item.node, "has not waited for the phase before") for item in _once(waits)[:1]]
    machine.findings.add("C107", event.node, *places, barrier=name, blame=name)


def stopped(machine: Machine) -> None:
    """Nobody can move: finds the barrier that is at fault rather than those that wait because of it."""
    waiting: list[tuple[Party, Event, Barrier]] = []
    for party in machine.blocked:
        event = party.event
        if event.kind == "wait":
            waiting.append((party, event, machine.barrier(machine.targets(event, party)[0][0])))
    if machine.in_doubt:
        for _, event, barrier in waiting:
            _never_enough(machine, barrier, event)
        return
    if _repeated_somewhere(machine) or any(_own_fault(machine, barrier, event) for _, event, barrier in waiting):
        return
    if _short_collective(machine):
        return
    for _, event, barrier in waiting:
        if not _arrivers(machine, barrier):
            _ends_differ(machine, barrier, event)
            return
    _circle(machine, waiting)


def _own_fault(machine: Machine, barrier: Barrier, event: Event) -> bool:
    """What is wrong with the barrier itself, whoever waits."""
    if barrier.pending == 0 and _bytes(machine, barrier, event.node):
        return True
    name = barrier.instance[1]
    arrivals = _a_round(machine, barrier)
    if not arrivals and any(other.all_arrivals for key, other in machine.barriers.items() if key[1] == name):
        _ends_differ(machine, barrier, event)
        return True
    if not arrivals:
        expects = _once(barrier.expects + _expects(machine, name))
        if barrier.copies or expects:
            places = [(item.node, "expects bytes, which is no arrival") for item in expects]
            machine.findings.add(
                "C102", event.node, (event.node, "waits here"), *places, barrier=name, declared=barrier.declared, blame=name
            )
        else:
            machine.findings.add(
                "C103",
                event.node,
                (event.node, "waits here"),
                (machine.program.allocations[name], "declared here"),
                barrier=name,
                declared=barrier.declared,
                blame=name,
            )
        return True
    if barrier.phase and barrier.pending == barrier.declared:
        return False  # earlier phases completed, and nothing has come to this one: who should arrive is at fault, not the count
    return _count_mismatch(machine, barrier, event.node, event)


def _expects(machine: Machine, name: str) -> list[Event]:
    return [
        item for party in machine.parties for item in party.steps if item.barrier == name and item.node.name == "fa4.mbarrier_expect_tx"
    ]


def _never_enough(machine: Machine, barrier: Barrier, event: Event) -> None:
    """The only claim that stands while other barriers are in doubt: all arrivals of the whole kernel are fewer than one phase needs."""
    if barrier.phase or barrier.pending == 0:
        return
    total = barrier.declared - barrier.pending
    for party in machine.parties:
        for item in party.steps[party.position :]:
            if item.kind == "arrive" and item.barrier == barrier.instance[1]:
                total += sum(count * item.arrivals for instance, count in machine.targets(item, party) if instance == barrier.instance)
    if total < barrier.declared:
        _own_fault(machine, barrier, event)


def _arrivers(machine: Machine, barrier: Barrier) -> list[Party]:
    """Parties that would still arrive at a barrier."""
    name = barrier.instance[1]
    return [
        party
        for party in machine.blocked
        if any(
            event.kind == "arrive"
            and event.barrier == name
            and any(instance == barrier.instance for instance, _ in machine.targets(event, party))
            for event in party.steps[party.position :]
        )
    ]


def _ends_differ(machine: Machine, barrier: Barrier, event: Event) -> None:
    name = barrier.instance[1]
    arrivals = barrier.all_arrivals or next(
        (item.all_arrivals for key, item in machine.barriers.items() if key[1] == name and item.all_arrivals), {}
    )
    _, places = _listed(machine, list(arrivals.values()))
    waiter = machine.launch.words(event.mask, machine.program.roles)
    machine.findings.add(
        "C105", event.node, (event.node, "waits once more"), *places,
        barrier=name, who=waiter, phases="1 phase" if barrier.phase == 1 else f"{barrier.phase} phases", waits=barrier.phase + 1, blame=name,
    )  # fmt: skip


def _short_collective(machine: Machine) -> bool:
    """CTA and named barriers that some of their threads never reach."""
    for key, meeting in machine.collectives.meetings.items():
        if key[0] == "cluster" or not meeting.waiting:
            continue
        event = next(iter(meeting.waiting.values()))
        members = {number for number, _, _ in meeting.members}
        coming = [
            party for party in machine.blocked if party.rank == key[1] and party.number not in members and _comes(machine, party, key)
        ]
        if coming:
            continue
        if key[0] == "block":
            absent = [party for party in machine.parties if party.rank == key[1] and party.number not in members]
            mask = absent[0].mask(machine.launch)
            for party in absent[1:]:
                mask |= party.mask(machine.launch)
            who, missing = (machine.launch.words(item, machine.program.roles) for item in (event.mask, mask))
            machine.findings.add("C114", event.node, who=who, missing=missing)
        else:
            problem = f"it counts {meeting.needed} threads, and only {meeting.arrived} come to it"
            name = event.node.attribute("name") or f"named barrier {key[2]}"
            places = [
                (item.node, f"{machine.launch.words(item.mask, machine.program.roles)}")
                for item in _once([item for _, item, _ in meeting.members])
            ]
            machine.findings.add("C115", event.node, *places, barrier=name, number=key[2], problem=problem)
        return True
    return False


def _comes(machine: Machine, party: Party, key: tuple[object, ...]) -> bool:
    for event in party.steps[party.position :]:
        if key[0] == "block" and event.kind == "block":
            return True
        if key[0] == "named" and event.kind in ("named", "named_arrive") and machine.collectives._named_key(event, party) == key:
            return True
    return False


def _circle(machine: Machine, waiting: list[tuple[Party, Event, Barrier]]) -> None:
    """Everybody waits for somebody who waits."""
    for party, event, barrier in waiting:
        copies = any(item.kind == "copy" for item in party.steps[party.position :])
        if barrier.phase == 0 and not barrier.arrivals and copies:
            problem = "is its first, and asks for parity 0: on a fresh barrier only parity 1 passes, and those who arrive wait for what comes after this wait"
            machine.findings.add("C104", event.node, barrier=barrier.instance[1], problem=problem)
            return
    places: dict[int, tuple[Node, str]] = {}
    for party in machine.blocked:
        event = party.event
        what = f"waits for {event.barrier!r}" if event.kind == "wait" else f"waits at {event.node.name.removeprefix('fa4.')}"
        who = machine.launch.words(event.mask, machine.program.roles)
        places.setdefault(event.node.number, (event.node, f"{who} {what}"))
    if places:
        site = next(iter(places.values()))[0]
        listed = "; ".join(words for _, words in places.values())
        machine.findings.add("C106", site, *places.values(), listed=listed)
