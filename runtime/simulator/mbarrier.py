"""mbarrier objects (PTX ISA 9.7.13.15): phase, arrivals, transaction bytes, and who waits.

The object lives beside the memory it was initialised in, keyed by its physical address; the 64 bits in memory are only an opaque mark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.layout import RESERVED_SHARED
from fa4dsl.runtime.simulator.waiting import Arrival, BarrierState

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Token
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints

LIMIT = (1 << 20) - 1
PENDING_BITS = 20


@dataclass(eq=False)
class Mbarrier:
    """`expected` arrivals of each phase, `pending` of the current one, `transactions`: bytes expected minus bytes landed."""

    address: int
    expected: int
    pending: int
    initialised: Instruction
    phase: int = 0
    transactions: int = 0
    tokens: list[Token] = field(default_factory=list)
    done_tokens: list[Token] = field(default_factory=list)
    """Of the last completed phase."""
    arrivals: list[Arrival] = field(default_factory=list)
    done_arrivals: list[Arrival] = field(default_factory=list)
    waiting: list[Ints] = field(default_factory=list)
    consumed: int = -1
    """The latest phase that some wait has found complete."""
    last_expect: Instruction | None = None
    """Who expected bytes last."""


class Mbarriers:
    """All valid mbarriers of the wave."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.objects: dict[int, Mbarrier] = {}
        self.invalidated: dict[int, Instruction] = {}
        width = machine.grid.width
        self.wait_address: Ints = np.full(width, -1, np.int64)
        self.wait_phase: Ints = np.zeros(width, np.int64)
        machine.wave_hooks.append(self.reset)

    def reset(self) -> None:
        self.objects.clear()
        self.invalidated.clear()
        self.wait_address[:] = -1

    def find(self, site: Instruction, thread: int, address: int) -> Mbarrier:
        """The object at a physical address; S014 if there is none."""
        found = self.objects.get(address)
        if found is None:
            ended = self.invalidated.get(address)
            why = f": it was invalidated at {self.machine.location(ended)}" if ended is not None else ""
            self.machine.fault("S014", site, thread, address=self.shown(address), why=why)
        return found

    def shown(self, address: int) -> str:
        """A physical address in the program's terms, with the name of the barrier where it has one."""
        grid = self.machine.grid
        cta, offset = divmod(address, grid.shared_stride)
        text = hex(offset + RESERVED_SHARED)
        naming = getattr(self.machine.checker, "naming", None)
        physical = address + grid.first_cta * grid.shared_stride
        if naming is not None and naming.find("shared", physical)[0] is not None:
            text += f" ({naming.barrier(physical)})"
        return f"{text} of cluster rank {cta % grid.cluster_size}" if grid.cluster_size > 1 else text

    def init(self, site: Instruction, thread: int, address: int, count: int) -> None:
        if not 1 <= count <= LIMIT:
            self.machine.fault("S015", site, thread, address=self.shown(address), what=f"a count of {count}; it must be 1 to {LIMIT}")
        old = self.objects.get(address)
        self.objects[address] = Mbarrier(address, count, count, site)
        self.invalidated.pop(address, None)
        if old is not None and old.waiting:
            self.objects[address].waiting = old.waiting

    def inval(self, site: Instruction, thread: int, address: int) -> None:
        self.find(site, thread, address)
        del self.objects[address]
        self.invalidated[address] = site

    def expect(self, site: Instruction, thread: int, barrier: Mbarrier, count: int) -> None:
        barrier.transactions += count
        barrier.last_expect = site
        barrier.arrivals.append(Arrival(site, (int(self.machine.grid.event_thread[thread]),), count, "expect_tx"))
        if self.machine.trace is not None:
            self.machine.trace.arrived(("mbarrier", barrier.address, 0), site, np.array([thread]), count, "expect_tx")
        self._check_range(site, thread, barrier)

    def complete(self, site: Instruction, thread: int, address: int, count: int, token: Token | None) -> None:
        """Bytes have landed."""
        barrier = self.find(site, thread, address)
        barrier.transactions -= count
        if token is not None:
            barrier.tokens.append(token)
        barrier.arrivals.append(Arrival(site, (int(self.machine.grid.event_thread[thread]),), count, "bytes"))
        if self.machine.trace is not None:
            self.machine.trace.arrived(("mbarrier", address, 0), site, np.array([thread]), count, "bytes")
        self._check_range(site, thread, barrier)
        self._finish(barrier)

    def arrive(
        self,
        site: Instruction,
        numbers: Ints,
        barrier: Mbarrier,
        counts: Ints,
        tokens: list[Token],
        drop: bool = False,
        may_complete: bool = True,
    ) -> Ints:
        """Arrivals of `numbers` in thread order; returns the state tokens: phase and pending count before each arrival."""
        states = np.empty(len(numbers), np.int64)
        total = int(counts.sum())
        if total <= barrier.pending:
            before = barrier.pending - np.concatenate(([0], np.cumsum(counts[:-1])))
            states[:] = (barrier.phase << 32) | before
            self._arrive_once(site, numbers, barrier, total, tokens, drop)
            self._check_complete(site, int(numbers[0]), barrier, may_complete)
            self._finish(barrier)
            return states
        start = 0
        checker = self.machine.checker
        while start < len(numbers):
            # As many as this phase still takes; one more than that if even the first does not fit.
            sums = np.cumsum(counts[start:])
            fit = max(int(np.searchsorted(sums, barrier.pending, "right")), 1)
            part = numbers[start : start + fit]
            states[start : start + fit] = (barrier.phase << 32) | (barrier.pending - np.concatenate(([0], sums[: fit - 1])))
            own = [] if checker is None else [checker.split(token, self.machine.grid.event_thread[part]) for token in tokens]
            self._arrive_once(site, part, barrier, int(sums[fit - 1]), own, drop)
            if barrier.pending < 0:
                got = barrier.expected - barrier.pending
                self.machine.fault(
                    "S042",
                    site,
                    int(part[0]),
                    others=((barrier.initialised, "initialised with this count"),),
                    address=self.shown(barrier.address),
                    what=f"{got} arrivals in a phase that expects {barrier.expected}",
                )
            self._check_complete(site, int(part[-1]), barrier, may_complete)
            self._finish(barrier)
            start += fit
        return states

    def _check_complete(self, site: Instruction, thread: int, barrier: Mbarrier, may_complete: bool) -> None:
        if not may_complete and barrier.pending == 0 and barrier.transactions == 0:
            self.machine.fault(
                "S042",
                site,
                thread,
                others=((barrier.initialised, f"initialised with a count of {barrier.expected}"),),
                address=self.shown(barrier.address),
                what="arrive.noComplete would complete the phase",
            )

    def _arrive_once(self, site: Instruction, numbers: Ints, barrier: Mbarrier, count: int, tokens: list[Token], drop: bool) -> None:
        if drop:
            barrier.expected -= count
            if barrier.expected < 0:
                self.machine.fault(
                    "S042",
                    site,
                    int(numbers[0]),
                    others=((barrier.initialised, "initialised here"),),
                    address=self.shown(barrier.address),
                    what="arrive_drop leaves fewer than no expected arrivals",
                )
        barrier.pending -= count
        if barrier.consumed < barrier.phase - 1 and self.machine.checker is not None:
            address = barrier.address + self.machine.grid.first_cta * self.machine.grid.shared_stride
            self.machine.checker.unconsumed(site, self.machine.grid.event_thread[numbers], address, barrier.phase - 1)
        for token in tokens:
            if not barrier.tokens or barrier.tokens[-1] is not token:
                barrier.tokens.append(token)
        threads = tuple(self.machine.grid.event_thread[numbers].tolist())
        barrier.arrivals.append(Arrival(site, threads, count, "drop" if drop else "arrive"))
        if self.machine.measures is not None:
            self.machine.measures.arrived(numbers, barrier.address)
            if self.machine.trace is not None:
                self.machine.trace.arrived(("mbarrier", barrier.address, 0), site, numbers, count, "drop" if drop else "arrive")

    def _check_range(self, site: Instruction, thread: int, barrier: Mbarrier) -> None:
        if not -LIMIT <= barrier.transactions <= LIMIT:
            self.machine.fault(
                "S015", site, thread, address=self.shown(barrier.address), what=f"the transaction count becomes {barrier.transactions}"
            )

    def _finish(self, barrier: Mbarrier) -> None:
        """Completes the phase when all arrivals and bytes are there."""
        self.machine.progress_marks += 1
        if barrier.pending == 0 and barrier.transactions == 0:
            if self.machine.trace is not None:
                self.machine.trace.completed(("mbarrier", barrier.address, 0), barrier.phase, barrier.waiting)
            barrier.phase += 1
            barrier.pending = barrier.expected
            barrier.done_tokens, barrier.tokens = barrier.tokens, []
            barrier.done_arrivals, barrier.arrivals = barrier.arrivals, []
            waiting, barrier.waiting = barrier.waiting, []
            for threads in waiting:
                # some may have been woken spuriously in between
                still = threads[(self.wait_address[threads] == barrier.address) & (self.machine.key[threads] == self.machine.BLOCKED)]
                if len(still):
                    self.machine.wake(still)

    def finish_wave(self) -> None:
        """Tells of bytes that landed although no phase has expected them (S035)."""
        for barrier in self.objects.values():
            if barrier.transactions >= 0:
                continue
            copies = [arrival for arrival in barrier.arrivals if arrival.kind == "bytes"]
            if not copies:
                continue
            grid, site = self.machine.grid, copies[-1].site
            cta, local = divmod(copies[-1].threads[0], grid.threads_per_cta)
            others = [(barrier.initialised, "the barrier")]
            expected = "no expect_tx at all came before"
            mend = "announce the bytes with mbarrier.arrive.expect_tx in the block that receives them, before its threads wait"
            if barrier.last_expect is not None:
                others.insert(0, (barrier.last_expect, "expects too few bytes"))
                line = self.machine.line(barrier.last_expect)
                expected = f"{line} expects fewer than the copies of a phase bring"
                mend = f"expect all bytes that land on this barrier in one phase on {line}: {-barrier.transactions} more in the last phase"
            self.machine.note(
                "S035",
                site,
                (cta - grid.first_cta) * grid.stride + local,
                others=others,
                label="its bytes were not expected",
                address=self.shown(barrier.address),
                count=-barrier.transactions,
                expected=expected,
                how=mend,
            )

    def state(self, barrier: Mbarrier) -> BarrierState:
        """For explanations."""
        grid = self.machine.grid
        cta = barrier.address // grid.shared_stride + grid.first_cta
        address = barrier.address + grid.first_cta * grid.shared_stride
        return BarrierState(
            "mbarrier",
            address,
            cta,
            barrier.phase,
            barrier.expected,
            barrier.pending,
            barrier.transactions,
            tuple(barrier.arrivals),
            barrier.initialised,
            barrier.consumed,
            tuple(barrier.done_arrivals),
        )
