"""Barriers that count: mbarriers with tracked phases, named barriers, warpgroup barriers."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal

from fa4dsl.frontend.arguments import Integer, Kind, between, one_of, whole
from fa4dsl.frontend.arithmetic import binary
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, as_value, constant, describe, is_integer, is_number
from fa4dsl.language.shared import unique_name
from fa4dsl.runtime.diagnostics import Location
from fa4dsl.types import bool_, i32

Scope = Literal["cta", "cluster"]
Bytes = Annotated[Any, whole(0, (1 << 20) - 1)]
"""A barrier counts up to 2^20 - 1 bytes (PTX ISA, tx-count)."""


class Phases:
    """The phases that a thread has seen of each barrier of a group; control flow carries them."""

    def __init__(self, name: str, count: int) -> None:
        self.state_name = f"the phase of the barrier {name!r}"
        self.values: list[Any] = [0] * count
        self.lost: tuple[str, Location] | None = None

    def state(self) -> list[Any]:
        return self.values

    def set_state(self, values: list[Any]) -> None:
        self.values = values

    def left_role(self, words: str, where: Location) -> None:
        """Only some threads have waited: the others' count differs, so it is not known after the role."""
        self.lost = (words, where)


class Barrier:
    """One mbarrier, or a group of them (``barrier[i]`` is one). Made by `mbarrier`."""

    run_time = True
    kind_in_words = "an mbarrier"
    __iter__ = None

    def __init__(
        self, handle: Any, name: str, count: int, arrivals: int, scope: Scope, phases: Phases, index: Any = None, rank: Any = None
    ) -> None:
        self.handle = handle
        self.name = name
        self.count = count
        self.arrivals = arrivals
        self.scope: Scope = scope
        self.phases = phases
        self.index = index
        self.rank = rank

    @property
    def in_words(self) -> str:
        return f"the barrier {self.name!r}{' of a peer' if self.rank is not None else ''}"

    def __getitem__(self, index: Any) -> Barrier:
        trace = current()
        if is_number(index):
            if not 0 <= index < self.count:
                trace.fail("L074", trace.place_of(index), name=self.name, index=index, axis=0, extent=self.count)
        else:
            as_value(index, i32)
        return Barrier(self.handle, self.name, self.count, self.arrivals, self.scope, self.phases, index, self.rank)

    def on(self, rank: Integer) -> Barrier:
        """The same barrier in the CTA of that rank: a peer's can be arrived at, not waited for."""
        trace = current()
        if self.scope != "cluster":
            trace.fail("L081", name=self.name)
        size = prod(trace.cluster)
        if is_number(rank) and not 0 <= rank < size:
            trace.fail("L071", trace.place_of(rank), rank=rank, size=size)
        return Barrier(self.handle, self.name, self.count, self.arrivals, self.scope, self.phases, self.index, as_value(rank, i32))

    def operands(self) -> list[Any]:
        """The barrier and its index, as MLIR values."""
        trace = current()
        if self.index is None and self.count > 1:
            trace.fail("L082", name=self.name, count=self.count)
        index = constant(0, i32) if self.index is None else as_value(self.index, i32)
        return [self.handle, index.ir]

    def arrive(self, count: int = 1, *, bytes: Bytes | None = None, order: Literal["release", "relaxed"] = "release") -> None:
        """This thread arrives `count` times; its earlier accesses are released at the barrier's scope.

        With `bytes` the phase also waits for that many bytes of asynchronous copies (arrive.expect_tx). On a peer's barrier
        (``barrier.on(rank).arrive()``) the arrival goes through the cluster, once. Raises L083 for a count that is not a compile-time number.
        """
        trace = current()
        if not is_integer(count) or not 1 <= count < 1 << 20:
            trace.fail("L083", trace.place_of(count), name=self.name, given=describe(count))
        attributes: dict[str, Any] = {"order": order, "scope": self.scope}
        remote = [] if self.rank is None else [self.rank.ir]
        suffix = "_remote" if remote else ""
        if bytes is not None:
            amount = constant(bytes, i32) if is_number(bytes) else as_value(bytes, i32)
            trace.fa4(f"mbarrier_arrive_expect_tx{suffix}", [*self.operands(), *remote, amount.ir], attributes)
            if count > 1:
                trace.fa4(f"mbarrier_arrive{suffix}", [*self.operands(), *remote], {**attributes, "count": count - 1})
        else:
            trace.fa4(f"mbarrier_arrive{suffix}", [*self.operands(), *remote], {**attributes, "count": count})

    def expect(self, bytes: Bytes) -> None:
        """Adds bytes to those that the phase waits for, without arriving: mbarrier.expect_tx."""
        amount = constant(bytes, i32) if is_number(bytes) else as_value(bytes, i32)
        self._own("expect")
        current().fa4("mbarrier_expect_tx", [*self.operands(), amount.ir], {"scope": self.scope})

    def _own(self, what: str) -> None:
        if self.rank is not None:
            current().fail("L084", name=self.name, what=what)

    def wait(self, phase: Integer | None = None, *, order: Literal["acquire", "relaxed"] = "acquire") -> None:
        """Blocks this thread until the phase completes; acquires what the arrivals released, and the bytes that were expected.

        Without `phase` the barrier's own count is used: the first wait is for phase 0, the next for phase 1, and so on, for each thread as
        it executes its waits. `phase` by hand is a number of the phase (its parity counts).
        """
        self._own("wait")
        trace = current()
        if phase is None:
            parity = self._tracked()
        else:
            parity = phase & 1 if is_number(phase) else binary("&", as_value(phase, i32), 1)
        operand = constant(parity, i32) if is_number(parity) else parity
        trace.fa4("mbarrier_wait", [*self.operands(), operand.ir], {"order": order, "scope": self.scope})

    def _tracked(self) -> Any:
        trace = current()
        phases = self.phases
        if phases.lost is not None and trace.role is None:
            words, where = phases.lost
            trace.fail("L085", trace.location, where, name=self.name, role=words)
        position = 0 if self.index is None else self.index
        if not is_number(position):
            trace.fail("L086", name=self.name)
        parity = phases.values[position]
        advanced = parity ^ 1 if is_number(parity) else binary("^", parity, 1)
        phases.values = [*phases.values[:position], advanced, *phases.values[position + 1 :]]
        return parity

    def test(self, phase: Integer, *, order: Literal["acquire", "relaxed"] = "acquire", suspend: bool = False) -> Value:
        """Whether the phase has completed, without blocking (bool). `suspend`: try_wait, which may wait a little first."""
        self._own("test")
        parity = constant(phase & 1, i32) if is_number(phase) else binary("&", as_value(phase, i32), 1)
        attributes = {"order": order, "scope": self.scope, "suspend": suspend}
        return Value(current().fa4("mbarrier_test", [*self.operands(), parity.ir], attributes).result, bool_)

    def invalidate(self) -> None:
        """Ends the barriers' life, so that their memory can be reused after a barrier. All threads of the CTA reach it."""
        current().fa4("mbarrier_invalidate", [self.handle])


OwnBarrier = Annotated[
    Barrier,
    Kind(
        "an mbarrier of this CTA",
        lambda value: isinstance(value, Barrier) and value.rank is None,
        mend="pass this CTA's barrier; a copy from global memory signals where it lands",
    ),
]


def mbarrier(
    arrivals: int,
    *,
    scope: Annotated[Scope, one_of("cta", "cluster", code="L049")] = "cta",
    count: Annotated[int, between(1, 4096)] = 1,
    name: str = "",
) -> Barrier:
    """`count` mbarriers in shared memory, initialised: each phase completes after `arrivals` arrivals and all expected bytes.

    All threads of the CTA reach it; thread 0 initialises and fences. Before another thread (or, with scope="cluster", a peer CTA) uses it,
    `block.sync()` (or `cluster.sync()`) must follow. scope="cluster" if peers arrive, so that their accesses are released to this CTA.
    Raises L083 for a count of arrivals outside 1..2^20-1, L050 inside a block that only some threads execute.
    """
    trace = current()
    if not is_integer(arrivals) or not 1 <= arrivals < 1 << 20:
        trace.fail("L083", trace.place_of(arrivals), name=name or "the barrier", given=describe(arrivals))
    trace.require_all_threads("mbarrier(...)")
    label = unique_name(trace, name or "mbarrier")
    before = trace.last_allocation
    with trace.at_entry():
        operation = trace.fa4("mbarrier_alloc", [], {"name": label, "count": count, "arrivals": arrivals, "scope": scope})
    trace.last_allocation = operation

    def undo() -> None:
        trace.last_allocation = before
        operation.erase()

    trace.undo_later(undo)
    trace.fa4("mbarrier_init", [operation.result])
    phases = Phases(label, count)
    trace.stateful.append(phases)
    made = Barrier(operation.result, label, count, arrivals, scope, phases)
    return made if name else _Unnamed(made)


class _Unnamed(Barrier):
    """A barrier that takes the name of the variable it is first assigned to."""

    adopted = False

    def __init__(self, barrier: Barrier) -> None:
        super().__init__(barrier.handle, barrier.name, barrier.count, barrier.arrivals, barrier.scope, barrier.phases)

    def adopt_name(self, name: str) -> None:
        trace = current()
        if not self.adopted:
            self.adopted = True
            trace.shared_names.pop(self.name, None)
            self.name = unique_name(trace, name)
            self.phases.state_name = f"the phase of the barrier {self.name!r}"
            self.handle.owner.attributes["name"] = trace.ir.StringAttr.get(self.name)
