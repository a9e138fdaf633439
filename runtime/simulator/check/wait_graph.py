"""Who waits for what in a hang: groups of waiters, who could still bring what they lack, cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.waiting import BarrierState, Hang, Waiter


@dataclass
class Party:
    """Threads blocked at one place for one thing; equal parties of other CTAs are counted in `repeats`."""

    waiter: Waiter
    threads: list[int]
    repeats: int = 0
    arrivers: list[int] = field(default_factory=list)
    """Threads that could still arrive."""

    @property
    def barrier(self) -> BarrierState | None:
        return self.waiter.barrier


@dataclass(frozen=True)
class History:
    """What the run did before it hung: for each mbarrier address the threads that have arrived on it, by site."""

    arrivers: Mapping[int, Mapping[Instruction, set[int]]]
    last_change: Callable[[int], tuple[str, Instruction | None, str]] | None = None
    """Of what a thread polls: its name, and who wrote there last with which instruction."""


class WaitGraph:
    """The machine's `Hang`, sorted into parties."""

    def __init__(self, hang: Hang, naming: Naming, history: History | None = None, flow: Flow | None = None) -> None:
        self.hang = hang
        self.naming = naming
        self.history = history or History({})
        self.flow = flow or Flow()
        self.exited = set(hang.exited)
        self.parties = self._merge()
        self.where: dict[int, Party] = {thread: party for party in self.parties for thread in party.threads}
        for party in self.parties:
            party.arrivers = self._arrivers(party)

    def _merge(self) -> list[Party]:
        parties: list[Party] = []
        for waiter in (*self.hang.waiters, *self.hang.spinning):
            for party in parties:
                old = party.waiter
                same = old.site is waiter.site and old.kind == waiter.kind and old.waited_phase == waiter.waited_phase
                if (
                    same
                    and (old.barrier is None) == (waiter.barrier is None)
                    and (
                        old.barrier is None
                        or waiter.barrier is None
                        or (old.barrier.address == waiter.barrier.address and old.barrier.cta == waiter.barrier.cta)
                    )
                ):
                    party.threads.extend(waiter.threads)
                    break
            else:
                parties.append(Party(waiter, list(waiter.threads)))
        return parties

    # -- who could still come
    def _arrivers(self, party: Party) -> list[int]:
        barrier = party.barrier
        per = self.naming.threads.per_cta
        size = self.naming.threads.cluster_size
        if barrier is None:
            return []
        if barrier.kind == "mbarrier":
            known: set[int] = set()
            for threads in self.history.arrivers.get(barrier.address, {}).values():
                known |= threads
            done = {thread for arrival in barrier.arrivals if arrival.kind in ("arrive", "drop") for thread in arrival.threads}
            return sorted(known - done) or sorted(known)
        first, count = (barrier.cta * per, per) if barrier.kind == "bar" else (barrier.cta * per, per * size)
        done = {thread for arrival in barrier.arrivals for thread in arrival.threads}
        return [thread for thread in range(first, first + count) if thread not in done and thread not in self.exited]

    def _stands(self, threads: Sequence[int]) -> str:
        """Where these threads are: waiting in which line for what, or ended."""
        parts = []
        gone = [thread for thread in threads if thread in self.exited]
        rest: dict[int, list[int]] = {}
        for thread in threads:
            if thread not in self.exited:
                rest.setdefault(id(self.where.get(thread)), []).append(thread)
        for group in rest.values():
            party = self.where.get(group[0])
            place = f"wait on {self.naming.line(party.waiter.site)} for {self.name(party.waiter)}" if party is not None else "can run"
            parts.append(f"{self.naming.crowd(group)} {place}")
        if gone:
            parts.append(f"{self.naming.crowd(gone)} exited")
        return "; ".join(parts)

    def name(self, waiter: Waiter) -> str:
        """``full[1] of CTA rank 0``, ``named barrier 1``, ``the cluster barrier``."""
        barrier = waiter.barrier
        if barrier is None:
            return {
                "registers": "registers (setmaxnreg)",
                "warp": "the other lanes of the warp",
                "warpgroup": "the other warps of the warpgroup",
                "polling": "memory to change",
            }.get(waiter.kind, waiter.kind)
        if barrier.kind == "mbarrier":
            return f"{self.naming.barrier(barrier.address)} of {self.naming.cta(barrier.cta)}"
        if barrier.kind == "bar":
            name = self.naming.named_barriers.get(barrier.address)
            return f"named barrier {barrier.address}{f' ({name})' if name else ''} of {self.naming.cta(barrier.cta)}"
        return "the cluster barrier"

    def counts(self, barrier: BarrierState) -> str:
        """``arrivals 1 of 128``, and bytes where any are expected or have come."""
        text = f"arrivals {barrier.expected - barrier.pending} of {barrier.expected}"
        if barrier.kind == "mbarrier":
            got, expected = self._bytes(barrier)
            if got or expected or barrier.transactions:
                text += f", bytes {got} of {expected} expected"
        return text

    def _bytes(self, barrier: BarrierState) -> tuple[int, int]:
        got = sum(arrival.count for arrival in barrier.arrivals if arrival.kind == "bytes")
        return got, got + barrier.transactions

    def sentence(self, party: Party) -> str:
        waiter, barrier = party.waiter, party.barrier
        text = f"{self.naming.crowd(sorted(party.threads))} {'poll' if waiter.kind == 'polling' else 'wait'} on {self.naming.line(waiter.site)} for {self.name(waiter)}"
        if barrier is not None:
            if barrier.kind == "mbarrier":
                text += f": parity {waiter.waited_phase & 1} asked, phase {barrier.phase} (parity {barrier.phase & 1}) current"
            text += f", {self.counts(barrier)}"
        elif waiter.detail:
            text += f": {waiter.detail}"
        if party.arrivers:
            text += f"; could still arrive: {self._stands(party.arrivers)}"
        elif barrier is not None and barrier.kind == "mbarrier" and barrier.pending > 0:
            text += (
                "; nobody has ever arrived on it" if not self.history.arrivers.get(barrier.address) else "; all known arrivers have arrived"
            )
        return text

    # -- the cycle
    def consequence(self, party: Party, loose: bool) -> bool:
        """Whether all that this party lacks is held up in other parties that do not wait for it in turn: then those hold the cause.
        `loose`: who waits for an mbarrier that nobody has ever arrived on may wait for anybody."""
        if not party.arrivers or any(self.where.get(thread) in (None, party) for thread in party.arrivers):
            return False
        edges = self.edges(loose)
        reached: set[int] = set()
        queue = list(edges[id(party)])
        while queue:
            one = queue.pop()
            if one is party:
                return False
            if id(one) not in reached:
                reached.add(id(one))
                queue.extend(edges[id(one)])
        return True

    def edges(self, loose: bool) -> dict[int, list[Party]]:
        """By party (its identity): the parties whose threads it waits for. `loose` as in `consequence`."""
        edges: dict[int, list[Party]] = {}
        for party in self.parties:
            targets = []
            for thread in party.arrivers:
                other = self.where.get(thread)
                if other is not None and other not in targets:
                    targets.append(other)
            if loose and party.barrier is not None and party.barrier.kind == "mbarrier" and not party.arrivers:
                targets = [other for other in self.parties if other is not party]
            edges[id(party)] = targets
        return edges

    def cycle(self) -> list[Party]:
        """Parties that wait for each other, in order; empty if there is no cycle."""
        edges = self.edges(loose=True)
        for start in self.parties:
            path: list[Party] = [start]
            seen = {id(start)}
            found = self._walk(start, start, path, seen, edges)
            if found:
                return found
        return []

    def _walk(self, at: Party, start: Party, path: list[Party], seen: set[int], edges: dict[int, list[Party]]) -> list[Party]:
        for target in edges[id(at)]:
            if target is start and len(path) > 1:
                return list(path)
            if id(target) not in seen:
                seen.add(id(target))
                path.append(target)
                found = self._walk(target, start, path, seen, edges)
                if found:
                    return found
                path.pop()
        return []
