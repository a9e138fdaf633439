"""The abstract execution: every thread of one cluster at once, through the slice, in one world.

Control flow on thread, warp and CTA indices is exact; what hangs on unknowns that all threads share is chosen by the world; what may differ
between threads for reasons only the run knows puts the barriers under it in doubt, and nothing is claimed about those.
"""

from __future__ import annotations

from typing import Any

import numpy

from fa4dsl.passes.checks.evaluate import Evaluator
from fa4dsl.passes.checks.events import Doubt, Event
from fa4dsl.passes.checks.lanes import Launch, Mask
from fa4dsl.passes.checks.program import COLLECTIVES, Body, Node, Program
from fa4dsl.passes.checks.record import record
from fa4dsl.passes.checks.values import UNKNOWN, Object, Sum, Test, add, is_number, key_of, scale, uniform, varies
from fa4dsl.passes.checks.worlds import World

MOST_EVENTS = 6_000
"""Executions of synchronising operations that are followed; longer kernels are the simulator's."""
MOST_ITERATIONS = 4_096


class TooLong(Exception):
    """The kernel does more than is worth following."""


class Execution:
    """One run. `events` is what happened, in an order that is program order for every thread."""

    def __init__(self, program: Program, launch: Launch, world: World) -> None:
        self.program = program
        self.launch = launch
        self.world = world
        self.events: list[Event] = []
        self.doubts: dict[str, Doubt] = {}
        """By object: a barrier's name, "block", "cluster" or "named"."""
        self.unsure: list[tuple[Node, str]] = []
        self.collectives: dict[Node, list[Mask]] = {}
        """Operations of whole warps that only some threads execute, with those threads."""
        self.reached: set[int] = set()
        """Numbers of the nodes that some thread executed."""
        self.evaluator = Evaluator(program, launch, world)
        self.environment: dict[int, Any] = {-1: UNKNOWN}

    def run(self) -> None:
        """Raises `TooLong`."""
        for position, argument in enumerate(self.program.body.arguments):
            self.environment[argument] = self.evaluator.atoms.named(("argument", position), False)
        self.body(self.program.body, self.launch.full)

    # --- blocks and operations

    def body(self, body: Body, mask: Mask) -> None:
        for node in body.nodes:
            if node.blocks:
                self.structure(node, mask)
            elif node.synchronises:
                self.operation(node, mask)
            else:
                if node.name in COLLECTIVES:
                    self.collective(node, mask)
                if not node.results or node.results[0] < 0:
                    continue
                self.environment[node.results[0]] = self.evaluator.value(
                    node, [self.environment.get(v, UNKNOWN) for v in node.operands], mask
                )

    def collective(self, node: Node, mask: Mask) -> None:
        """Who executes an operation of whole warps; nothing is claimed where that is not known."""
        self.reached.add(node.number)
        if mask is not self.launch.full and not self.unsure and not any(known is mask for known in self.collectives.get(node, ())):
            self.collectives.setdefault(node, []).append(mask)

    def operation(self, node: Node, mask: Mask) -> None:
        values = [self.environment.get(operand, UNKNOWN) for operand in node.operands]
        self.reached.add(node.number)
        event = record(self, node, values, mask)
        if event is not None and not self._repeats(event):
            self.events.append(event)
            if len(self.events) > MOST_EVENTS:
                raise TooLong
        if node.results and node.results[0] >= 0 and node.name not in ("fa4.wgmma", "fa4.wgmma_register_a", "fa4.wgmma_wait"):
            self.environment[node.results[0]] = self.evaluator.value(node, values, mask)

    def _repeats(self, event: Event) -> bool:
        """One of several neighbouring accesses to the same array of the same peer by the same threads: as good as one."""
        if event.kind != "touch" or not self.events:
            return False
        last = self.events[-1]
        return last.kind == "touch" and last.array == event.array and last.mask is event.mask and last.rank is event.rank

    def doubt(self, name: str, node: Node, reason: str, cause: Node | None = None) -> None:
        self.doubts.setdefault(name, Doubt(node, reason, cause))

    # --- control flow

    def structure(self, node: Node, mask: Mask) -> None:
        if node.name == "scf.if":
            self._if(node, mask)
        elif node.name == "scf.for":
            self._for(node, mask)
        elif node.name == "scf.while":
            self._while(node, mask)
        elif node.name == "scf.execute_region":
            inside = mask & self.launch.role(node.role) if node.role else mask
            if inside.any():
                self.body(node.blocks[0], inside)
            self._results(node, [(inside, node.blocks[0])])
        else:
            self._opaque(node, mask)

    def _values(self, body: Body) -> list[Any]:
        return [self.environment.get(value, UNKNOWN) for value in body.end_operands]

    def _results(self, node: Node, ways: list[tuple[Mask, Body]]) -> None:
        for position, result in enumerate(node.results):
            if result < 0:
                continue
            merged: Any = None
            for inside, body in ways:
                value = self._values(body)[position] if position < len(body.end_operands) else UNKNOWN
                merged = value if merged is None else self.merge(inside, value, merged)
            self.environment[result] = merged

    def merge(self, inside: Mask, value: Any, other: Any) -> Any:
        """`value` on the lanes of `inside`, `other` elsewhere."""
        if value is other or (
            not isinstance(value, numpy.ndarray) and not isinstance(other, numpy.ndarray) and key_of(value) == key_of(other)
        ):
            return value
        if is_number(value) and is_number(other):
            return numpy.where(inside, value, other)
        return self.evaluator.atoms.fresh(True)

    def _if(self, node: Node, mask: Mask) -> None:
        condition = self.world.resolve(self.environment.get(node.operands[0], UNKNOWN))
        if isinstance(condition, Test):
            condition = int(condition.negated)
        elif not is_number(condition):
            decided = self.world.decide("!=", condition, node) if isinstance(condition, Sum) else None
            condition = UNKNOWN if decided is None else decided
        if is_number(condition):
            whole = uniform(condition)
            if whole is not None:
                taken = node.blocks[0] if whole else node.blocks[1] if len(node.blocks) > 1 else None
                if taken is not None:
                    self.body(taken, mask)
                    self._results(node, [(mask, taken)])
                return
            ways = []
            for body, inside in zip(node.blocks, (mask & (condition != 0), mask & (condition == 0)), strict=False):
                if inside.any():
                    self.body(body, inside)
                    ways.append((inside, body))
            self._results(node, ways)
            return
        self.unsure.append((node, "the condition is known only at run time and may differ between threads"))
        for body in node.blocks:
            self.body(body, mask)
        self.unsure.pop()
        self._results(node, [(mask, body) for body in node.blocks if body.end or body.nodes])

    def _for(self, node: Node, mask: Mask) -> None:
        lower, upper, step = (self.world.resolve(self.environment.get(value, UNKNOWN)) for value in node.operands[:3])
        values = [self.environment.get(value, UNKNOWN) for value in node.operands[3:]]
        body = node.blocks[0]
        by = uniform(step) if is_number(step) else None
        known = isinstance(lower, int | numpy.ndarray | Sum) and isinstance(upper, int | numpy.ndarray | Sum)
        trips = None
        if known and by is not None and by > 0:
            trips = self.world.trips(add(upper, lower, -1), by, node)
        elif known and isinstance(step, Sum) and not varies(step):
            # A stride by an unknown (the grid, say): as often as the choice says, whatever the stride.
            distance = add(upper, lower, -1)
            if isinstance(distance, Sum) and not varies(distance):
                trips = self.world.trips(self.evaluator.quotient(distance, step), 1, node)
        if trips is None:
            self._unknown_loop(node, mask, values, lower)
            return
        if not node.synchronises and (uniform(trips) is None or uniform(trips) > 64):  # type: ignore[operator]
            self._unknown_loop(node, mask, values, lower)
            return
        most = trips if isinstance(trips, int) else int(trips[mask].max(initial=0))
        for iteration in self._turns(trips, most):
            inside = mask if isinstance(trips, int) else mask & (trips > iteration)
            self._bind(body, [add(lower, self._advance(step, iteration)), *values])
            self.body(body, inside)
            values = self._carried(body, inside, mask, values)
        for result, value in zip(node.results, values, strict=False):
            self.environment[result] = value

    def _turns(self, trips: Any, most: int) -> list[int]:
        turns = self.world.turns(most) if isinstance(trips, int) else [range(most)]
        if sum(map(len, turns)) > MOST_ITERATIONS:
            raise TooLong
        return [iteration for part in turns for iteration in part]

    @staticmethod
    def _advance(step: Any, iteration: int) -> Any:
        return scale(step, iteration)

    def _bind(self, body: Body, values: list[Any]) -> None:
        for argument, value in zip(body.arguments, values, strict=False):
            self.environment[argument] = value

    def _carried(self, body: Body, inside: Mask, mask: Mask, old: list[Any]) -> list[Any]:
        new = [value if end >= 0 else UNKNOWN for end, value in zip(body.end_operands, self._values(body), strict=True)]
        if inside is mask:
            return new
        return [self.merge(inside, value, before) for value, before in zip(new, old, strict=False)]

    def _unknown_loop(self, node: Node, mask: Mask, values: list[Any], lower: Any) -> None:
        """A loop whose count cannot be chosen: its body once, with nothing known of what it carries, and its barriers in doubt."""
        body = node.blocks[0]
        carried = [self.evaluator.atoms.fresh(varies(value)) for value in values]
        self._bind(body, [self.evaluator.atoms.fresh(varies(lower)), *carried])
        self.unsure.append((node, "the trip count is known only at run time and may differ between threads"))
        self.body(body, mask)
        self.unsure.pop()
        ends = self._values(body)
        for position, result in enumerate(node.results):
            end = ends[position] if position < len(ends) else UNKNOWN
            self.environment[result] = self.evaluator.atoms.fresh(varies(end) or varies(values[position]))

    def _while(self, node: Node, mask: Mask) -> None:
        before, after = node.blocks
        values = [self.environment.get(value, UNKNOWN) for value in node.operands]
        active = mask
        limit = max(self.world.choice.trips, 0)
        for iteration in range(MOST_ITERATIONS):
            self._bind(before, values)
            outer, self.world.while_truth = self.world.while_truth, iteration < limit
            self.body(before, active)
            self.world.while_truth = outer
            condition, *passed = self._values(before)
            condition = self.world.resolve(condition)
            if isinstance(condition, Test):
                self._spin(condition, active)
                condition = 0
            if isinstance(condition, Sum) and not varies(condition):
                condition = int(iteration < limit)
                self.world.loops += 1
            if not is_number(condition):
                self._unknown_while(node, active, passed)
                return
            going = active if uniform(condition) else active & (condition != 0) if isinstance(condition, numpy.ndarray) else active & False
            for position, result in enumerate(node.results):
                value = passed[position]
                self.environment[result] = value if active is mask else self.merge(active, value, self.environment[result])
            if not going.any():
                return
            if iteration > limit and not node.synchronises and iteration > 64:
                self._unknown_while(node, active, passed)
                return
            active = going
            self._bind(after, passed)
            self.body(after, active)
            values = self._values(after)
        raise TooLong

    def _spin(self, test: Test, mask: Mask) -> None:
        """A loop that ends when a barrier's phase completes is a wait."""
        event = record(self, test.node, [Object(test.barrier), test.index, test.parity], mask, kind="wait")
        if event is not None:
            self.events.append(event)

    def _unknown_while(self, node: Node, mask: Mask, passed: list[Any]) -> None:
        self._bind(node.blocks[1], [self.evaluator.atoms.fresh(True) for _ in passed])
        self.unsure.append((node, "how often the loop runs is known only at run time and may differ between threads"))
        self.body(node.blocks[1], mask)
        self.unsure.pop()
        for result in node.results:
            self.environment[result] = self.evaluator.atoms.fresh(True)

    def _opaque(self, node: Node, mask: Mask) -> None:
        """Other structured operations: every region may run."""
        self.unsure.append((node, f"{node.name} is not followed"))
        for body in node.blocks:
            self.body(body, mask)
        self.unsure.pop()
        for result in node.results:
            self.environment[result] = self.evaluator.atoms.fresh(True)
