"""Run-time control flow: builds scf.if, scf.for, scf.while and role regions around blocks of the author's statements.

A branch is traced into a draft; then the state of both sides is compared, and what differs becomes results. A loop's body is traced
once as a trial to learn what it changes, taken back, and traced again with exactly that carried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fa4dsl.frontend.state import (
    ABSENT,
    RETURN,
    Slot,
    Snapshot,
    as_leaf,
    leaf_types,
    leaves,
    new_leaf,
    put,
    rebuild,
    restore,
    same,
    slot_words,
    slots,
    take,
)
from fa4dsl.frontend.trace import Trace
from fa4dsl.frontend.values import Value
from fa4dsl.runtime.diagnostics import Location
from fa4dsl.types import DType, PointerType

if TYPE_CHECKING:
    from mlir import ir

Body = Callable[[], None]
Condition = Callable[[], Value]
TraceBody = Callable[[list[Any]], list[Any]]
TraceCondition = Callable[[list[Any]], Any]
Build = Callable[[list[Any], list[str], TraceBody, TraceCondition], list[Any]]


class Carried:
    """A slot that control flow carries, with the types of its leaves."""

    def __init__(self, slot: Slot, pattern: Any, types: list[DType | PointerType]) -> None:
        self.slot = slot
        self.pattern = pattern
        self.types = types

    def operands(self, value: Any) -> list[ir.Value]:
        found = leaves(value)
        assert found is not None
        return [as_leaf(leaf, dtype).ir for leaf, dtype in zip(found, self.types, strict=True)]

    def place(self, trace: Trace, results: list[Any], where: Location) -> None:
        """Sets the slot from MLIR values, taken off the front of `results`."""
        old = leaves(self.pattern)
        assert old is not None
        values = [new_leaf(leaf, results.pop(0), dtype, where) for leaf, dtype in zip(old, self.types, strict=True)]
        put(trace, self.slot, rebuild(self.pattern, list(values)))


def branch(trace: Trace, condition: Value, where: Location, words: str, then: Body, otherwise: Body | None = None) -> None:
    """scf.if. `words` describe the condition for messages; names that only one side sets vanish afterwards."""
    place = trace.location
    draft = trace.create("scf.if", [condition.ir], regions=2)
    before = take(trace)
    blocks = [region.blocks.append() for region in draft.regions]
    after: list[Snapshot] = []
    for block, body in zip(blocks, (then, otherwise), strict=True):
        restore(trace, before)
        if body is not None:
            with trace.at_block(block), trace.under(words):
                body()
        after.append(take(trace))
    restore(trace, before)
    trace.location = place
    carried = _merge(trace, before, after[0], after[1], where)
    types = [dtype.mlir for item in carried for dtype in item.types]
    final = trace.create("scf.if", [condition.ir], types, regions=2)
    for position, (block, snapshot) in enumerate(zip(blocks, after, strict=True)):
        if position == 1 and not types and otherwise is None:
            continue
        block.append_to(final.regions[position])
        with trace.at_block(block):
            trace.create("scf.yield", [value for item in carried for value in item.operands(snapshot.get(item.slot))])
    draft.erase()
    results = list(final.results)
    for item in carried:
        item.place(trace, results, where)


def _merge(trace: Trace, before: Snapshot, left: Snapshot, right: Snapshot, where: Location) -> list[Carried]:
    carried = []
    for slot in slots(before, left, right):
        a, b = left.get(slot), right.get(slot)
        if a is b or (a is not ABSENT and b is not ABSENT and same(a, b)):
            if a is not ABSENT and not same(a, before.get(slot)):
                put(trace, slot, a)
            continue
        if a is ABSENT or b is ABSENT:
            if slot[1] == RETURN:
                trace.fail("L032", where)
            trace.frame.names.pop(slot[1], None)
            trace.frame.vanished[slot[1]] = ("is set on one side of this `if` only", where)
            continue
        carried.append(Carried(slot, a if leaves(b) is None or not _numbers(a) else b, leaf_types(trace, slot, a, b, where, "this `if`")))
    return carried


def _numbers(value: Any) -> bool:
    return not isinstance(value, Value)


def loop(
    trace: Trace,
    key: Any,
    where: Location,
    build: Build,
    body: Body,
    condition: Condition | None = None,
) -> None:
    """A loop, whatever its form.

    `build(initial, types, trace_body, trace_condition)` makes the operation: it must call `trace_body(block_arguments)` at the insertion
    point of the body and yield the values that this returns, likewise `trace_condition` where the loop has one, and give back the
    operation's results. `key` identifies the loop from one tracing to the next.
    """
    before = take(trace)
    known = trace.loop_facts.get(key)
    found: dict[Slot, Carried] = dict(known) if known is not None else {}
    if known is None:
        _trial(trace, before, found, where, build, body, condition)
    for _ in range(16):
        extra: dict[Slot, Carried] = {}
        if _attempt(trace, before, found, extra, where, build, body, condition):
            trace.loop_facts[key] = dict(found)
            return
        found.update(extra)
    trace.fail("L031", where, name="a value", left="one type", right="another each time it is traced", what="this loop")


def _trial(
    trace: Trace, before: Snapshot, found: dict[Slot, Carried], where: Location, build: Build, body: Body, condition: Condition | None
) -> None:
    """Traces the body once and takes it back, to learn what it changes."""
    mark = trace.mark()
    holder = trace.create("scf.execute_region", regions=1)
    block = holder.regions[0].blocks.append()
    place = trace.location

    def trial_body(_: list[Any]) -> list[ir.Value]:
        body()
        found.update(_changes(trace, before, take(trace), {}, where))
        return []

    def trial_condition(_: list[Any]) -> Any:
        assert condition is not None
        return condition().ir

    trace.trials += 1
    with trace.at_block(block):
        build([], [], trial_body, trial_condition)
    trace.trials -= 1
    trace.location = place
    restore(trace, before)
    holder.erase()
    trace.undo_to(mark)


def _changes(trace: Trace, before: Snapshot, after: Snapshot, known: dict[Slot, Carried], where: Location) -> dict[Slot, Carried]:
    changed: dict[Slot, Carried] = {}
    for slot in slots(before):
        if slot in known or slot[1] == RETURN:
            continue
        a, b = before.get(slot), after.get(slot)
        if b is not ABSENT and not same(a, b):
            types = leaf_types(trace, slot, a, b, where, "this loop")
            changed[slot] = Carried(slot, a, types)
    return changed


def _attempt(
    trace: Trace,
    before: Snapshot,
    found: dict[Slot, Carried],
    extra: dict[Slot, Carried],
    where: Location,
    build: Build,
    body: Body,
    condition: Condition | None,
) -> bool:
    """Traces the loop with `found` carried; False, with everything taken back, where the body changes `extra` as well."""
    carried = [item for slot, item in found.items() if before.get(slot) is not ABSENT]
    mark = trace.mark()
    place = trace.location
    vanished_before = dict(trace.frame.vanished)
    initial = [value for item in carried for value in item.operands(before.get(item.slot))]
    types = [dtype.mlir for item in carried for dtype in item.types]
    new_names: list[str] = []

    def real_body(arguments: list[Any]) -> list[ir.Value]:
        rest = list(arguments)
        for item in carried:
            item.place(trace, rest, where)
        entry = take(trace)
        body()
        after = take(trace)
        new_names.extend(name for name in after.names if name not in before.names)
        extra.update(_changes(trace, entry, after, found, where))
        if extra:
            return []
        yielded: list[ir.Value] = []
        for item in carried:
            value = after.get(item.slot)
            if value is ABSENT:
                value = entry.get(item.slot)
            got = leaf_types(trace, item.slot, entry.get(item.slot), value, where, "this loop")
            if got != item.types:
                trace.fail("L031", where, name=slot_words(trace, item.slot), left=item.types[0], right=got[0], what="this loop")
            yielded.extend(item.operands(value))
        return yielded

    def real_condition(arguments: list[Any]) -> Any:
        assert condition is not None
        rest = list(arguments)
        for item in carried:
            item.place(trace, rest, where)
        result = condition().ir
        restore(trace, before)
        return result

    holder = trace.create("scf.execute_region", regions=1)
    block = holder.regions[0].blocks.append()
    with trace.at_block(block):
        results = build(initial, types, real_body, real_condition)
    trace.location = place
    restore(trace, before)
    if extra:
        for slot, item in extra.items():  # patterns must be those before the loop
            item.pattern = before.get(slot)
        trace.frame.vanished.clear()
        trace.frame.vanished.update(vanished_before)
        holder.erase()
        trace.undo_to(mark)
        return False
    for operation in list(block.operations):
        operation.move_before(holder)
    holder.erase()
    rest = list(results)
    for item in carried:
        item.place(trace, rest, where)
    for name in new_names:
        trace.frame.vanished[name] = ("is set inside this loop only, which may run zero times", where)
    return True


def block_of_role(trace: Trace, attributes: dict[str, ir.Attribute], where: Location, words: str, body: Body) -> None:
    """scf.execute_region with a role's attributes. What the block sets is gone after it: other threads never saw it."""
    place = trace.location
    before = take(trace)
    operation = trace.create("scf.execute_region", regions=1, attributes=attributes)
    block = operation.regions[0].blocks.append()
    with trace.at_block(block):
        with trace.under(words):
            body()
        after = take(trace)
        trace.location = place
        trace.create("scf.yield")
    restore(trace, before)
    for slot in slots(before, after):
        if slot[0] == "name" and not same(before.get(slot), after.get(slot)):
            trace.frame.names.pop(slot[1], None)
            trace.frame.vanished[slot[1]] = (f"is set inside {words} only", where)
    for position, item in enumerate(trace.stateful):
        if not same(before.objects[position], after.objects[position]):
            left_role = getattr(item, "left_role", None)
            if left_role is not None:
                left_role(words, where)
