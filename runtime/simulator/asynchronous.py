"""Asynchronous operations: agents that read their sources and land their writes when the schedule lets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Token
    from fa4dsl.runtime.simulator.machine import Machine


@dataclass(eq=False)
class Operation:
    """One copy, reduction, remote store or matrix multiplication in flight."""

    site: Instruction
    thread: int
    """The issuing thread, as the machine counts."""
    read: Callable[[], None]
    """Takes the sources."""
    write: Callable[[Token | None], None]
    """Lands the result and signals. The token is the checker's for these bytes."""
    number: int | None = None
    """The checker's number."""
    before: tuple[Operation, ...] = ()
    """Operations that must land first (earlier products of a warpgroup)."""
    state: int = 0
    """0 issued, 1 sources read, 2 landed."""
    vector: tuple[int, ...] = field(default=())
    """Further checker numbers, where one operation stands for many threads' (cp.async)."""

    @property
    def landed(self) -> bool:
        return self.state == 2


class Asynchronous:
    """The operations in flight, oldest first."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.pending: list[Operation] = []
        machine.wave_hooks.append(self.pending.clear)

    def issue(self, operation: Operation) -> Operation:
        """Starts an operation; the schedule may let it complete at once."""
        self.pending.append(operation)
        self.machine.progress_marks += 1
        if self.machine.schedule.issued(self.machine, operation):
            self.complete(operation)
        return operation

    def step(self, operation: Operation) -> None:
        """Read the sources, or land."""
        for earlier in operation.before:
            if not earlier.landed:
                self.step(earlier)
                return
        operation.before = ()
        checker = self.machine.checker
        numbers = operation.vector or (() if operation.number is None else (operation.number,))
        self.machine.progress_marks += 1
        trace = self.machine.trace
        if trace is not None:
            trace.progressed(operation, operation.state + 1)
        if operation.state == 0:
            operation.read()
            operation.state = 1
            if checker is not None:
                for number in numbers:
                    checker.async_read_done(number)
        elif operation.state == 1:
            operation.state = 2
            self.pending.remove(operation)
            token = None
            if checker is not None:
                for number in numbers:
                    token = checker.async_write_done(number)
            operation.write(token)

    def read_sources(self, operation: Operation) -> None:
        """Brings an operation at least to the point where its sources may be overwritten."""
        while operation.state < 1:
            self.step(operation)

    def complete(self, operation: Operation) -> None:
        while operation.state < 2:
            self.step(operation)

    def advance(self, index: int) -> None:
        """One step of the operation at `index`."""
        self.step(self.pending[index])

    def advance_late(self) -> bool:
        """Completes the oldest operation; False if none is in flight."""
        if not self.pending:
            return False
        self.complete(self.pending[0])
        return True
