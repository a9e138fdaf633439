"""What all asynchronous copies share: starting them, their groups, their barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.asynchronous import Operation
from fa4dsl.runtime.simulator.events import Range, SharedLayout

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import AsyncKind, Token
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints


@dataclass(eq=False)
class CopyBatch:
    """One cp.async instruction of several threads, each with its own group number."""

    operation: Operation
    number: int | None
    threads: Ints
    groups: Ints
    waited: np.ndarray[Any, np.dtype[np.bool_]]


class CopyGroups:
    """Per thread: cp.async groups and bulk groups."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        width = machine.grid.width
        self.committed: Ints = np.zeros(width, np.int64)
        self.batches: list[CopyBatch] = []
        self.bulk_open: dict[int, list[Operation]] = {}
        self.bulk_groups: dict[int, list[list[Operation]]] = {}
        machine.wave_hooks.append(self.reset)

    def reset(self) -> None:
        self.committed[:] = 0
        self.batches.clear()
        self.bulk_open.clear()
        self.bulk_groups.clear()

    def wait_copies(self, site: Instruction, numbers: Ints, newest: int | None) -> None:
        """cp.async.wait_group: all but the `newest` committed groups of each thread; None: everything, committed or not."""
        machine = self.machine
        limit = np.full(machine.grid.width, -1, np.int64)
        limit[numbers] = np.iinfo(np.int64).max if newest is None else self.committed[numbers] - newest
        kept = []
        for batch in self.batches:
            due = (batch.groups < limit[batch.threads]) & ~batch.waited
            if due.any():
                machine.asynchronous.complete(batch.operation)
                batch.waited |= due
                if machine.checker is not None and batch.number is not None:
                    machine.checker.async_waited(site, machine.grid.event_thread[batch.threads[due]], [batch.number], False)
            if not batch.waited.all():
                kept.append(batch)
        self.batches = kept

    def commit_bulk(self, thread: int) -> None:
        self.bulk_groups.setdefault(thread, []).append(self.bulk_open.pop(thread, []))

    def wait_bulk(self, site: Instruction, thread: int, newest: int, read_only: bool) -> None:
        """cp.async.bulk.wait_group{.read}: all but the `newest` groups of the thread."""
        machine = self.machine
        groups = self.bulk_groups.get(thread, [])
        due = groups[: len(groups) - newest] if newest else list(groups)
        numbers = []
        for group in due:
            for operation in group:
                if read_only:
                    machine.asynchronous.read_sources(operation)
                else:
                    machine.asynchronous.complete(operation)
                if operation.number is not None:
                    numbers.append(operation.number)
        if not read_only:
            self.bulk_groups[thread] = groups[len(due) :]
        if machine.checker is not None and numbers:
            machine.checker.async_waited(site, machine.grid.event_thread[thread : thread + 1], numbers, read_only)


def groups_of(machine: Machine) -> CopyGroups:
    """The machine's copy groups, made at first use."""
    if machine.copy_groups is None:
        machine.copy_groups = CopyGroups(machine)
    return machine.copy_groups


def shared_range(machine: Machine, starts: Ints | Sequence[int], length: int) -> Range:
    """A checker range from physical offsets within the wave. Chunks that tile one stretch become one range."""
    array = np.sort(np.asarray(starts, np.int64))
    if len(array) > 1 and int(array[-1] - array[0]) == (len(array) - 1) * length:
        array, length = array[:1], length * len(array)
    return Range("shared", array + machine.grid.first_cta * machine.grid.shared_stride, length)


def tell_counters(machine: Machine, operation: Operation, kind: str, reads: Sequence[Range], writes: Sequence[Range]) -> None:
    """Tells measures and trace about an operation that is about to be issued."""
    if machine.measures is not None:
        machine.measures.copy(kind, operation.thread, reads, writes)
    if machine.trace is not None:
        machine.trace.issued(operation, kind, reads, writes)


@dataclass(frozen=True)
class Signal:
    """A barrier that a copy tells about `count` bytes; `address` physical within the wave."""

    address: int
    count: int


def start(
    machine: Machine,
    site: Instruction,
    thread: int,
    kind: AsyncKind,
    reads: Sequence[Range],
    writes: Sequence[Range],
    read: Callable[[], None],
    write: Callable[[], None],
    signals: Sequence[Signal] = (),
    bulk_group: bool = False,
    layouts: Sequence[SharedLayout] = (),
    begun: int | None = None,
) -> Operation:
    """Issues a copy: `read` takes the sources, `write` lands the data, then the barriers of `signals` are told. `begun`: its number, where the checker has been
    told of it already."""
    checker, grid = machine.checker, machine.grid
    number = begun
    if checker is not None and begun is None:
        event_thread = int(grid.event_thread[thread])
        base = grid.first_cta * grid.shared_stride
        for signal in signals:
            remote = signal.address // grid.shared_stride != grid.cta[thread]
            checker.mbarrier_access(site, np.array([event_thread]), np.array([signal.address + base]), "complete_tx", bool(remote))
        number = checker.async_begin(site, event_thread, kind, reads, writes, None, layouts)
    for signal in signals:
        machine.mbarriers.find(site, thread, signal.address)

    def land(token: Token | None) -> None:
        write()
        for signal in signals:
            machine.mbarriers.complete(site, thread, signal.address, signal.count, token)

    operation = Operation(site, thread, read, land, number)
    if bulk_group:
        groups_of(machine).bulk_open.setdefault(thread, []).append(operation)
    tell_counters(machine, operation, kind, reads, writes)
    return machine.asynchronous.issue(operation)


def start_stores(
    machine: Machine, site: Instruction, kind: AsyncKind, numbers: Ints, places: Ints, size: int, signal: int, write: Callable[[], None]
) -> Operation:
    """Issues one st.async or red.async of several threads that signal the same barrier, as one operation: `size` bytes at each of `places`."""
    checker, grid = machine.checker, machine.grid
    thread, number = int(numbers[0]), None
    if checker is not None:
        base = grid.first_cta * grid.shared_stride
        threads = grid.event_thread[numbers]
        remote = bool((grid.cta[numbers] != signal // grid.shared_stride).any())
        checker.mbarrier_access(site, threads, np.full(len(threads), signal + base, np.int64), "complete_tx", remote)
        number = checker.store_begin(site, threads, kind, places + base, size)
    barrier = machine.mbarriers.find(site, thread, signal)

    def land(token: Token | None) -> None:
        write()
        # More bytes than the phase still expects may belong to the next one: then they are counted store by store.
        parts = len(numbers) if 0 < barrier.transactions < len(numbers) * size else 1
        for _ in range(parts):
            machine.mbarriers.complete(site, thread, signal, len(numbers) * size // parts, token)

    operation = Operation(site, thread, lambda: None, land, number)
    if machine.measures is not None:
        tell_counters(machine, operation, kind, (), [shared_range(machine, places, size)])
    return machine.asynchronous.issue(operation)
