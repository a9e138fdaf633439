"""Loops: `range` runs at run time, `static_range` and compile-time sequences unroll, `while` and `break` become scf.while."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fa4dsl.frontend import regions
from fa4dsl.frontend.arithmetic import binary, compare, truth
from fa4dsl.frontend.calls import has_items
from fa4dsl.frontend.state import as_leaf
from fa4dsl.frontend.values import Arithmetic, Value, as_value, constant, describe
from fa4dsl.runtime.diagnostics import Location
from fa4dsl.types import DType, bool_, i32

if TYPE_CHECKING:
    from fa4dsl.frontend.statements import Statements

UNROLL_LIMIT = 4096
"""Iterations an unrolled loop may have before L044 asks whether that was meant."""


class RunTimeRange:
    """What ``range(...)`` means in a kernel: a loop at run time."""

    in_words = "a range"

    def __init__(self, *bounds: Any) -> None:
        self.bounds = bounds

    def __iter__(self) -> Iterator[int]:
        """Where Python needs the numbers at once, as in a comprehension."""
        return iter(range(*self.bounds))


class StaticRange:
    """``static_range(...)``: compile-time bounds, unrolled."""

    in_words = "an unrolled range"

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)


class _Flag:
    """Whether a loop goes on; `break` clears it."""

    state_name = "the loop"

    def __init__(self) -> None:
        self.values: list[Any] = [True]

    def state(self) -> list[Any]:
        return self.values

    def set_state(self, values: list[Any]) -> None:
        self.values = values


def run_for(self: Statements, node: ast.For) -> str | None:
    """A `for` statement."""
    if node.orelse:
        self.at(node.orelse[0])
        self.trace.fail("L005", what="`else` on a loop", mend="test after the loop whether it ran to its end")
    sequence = self.evaluate(node.iter)
    self.at(node.iter)
    if isinstance(sequence, RunTimeRange):
        _run_time_for(self, node, sequence)
        return None
    if not has_items(sequence):
        self.trace.fail("L008", given=describe(sequence))
    with self.python(node.iter):
        items = list(sequence.numbers if isinstance(sequence, StaticRange) else sequence)
    if len(items) > UNROLL_LIMIT:
        self.trace.fail("L044", iterations=len(items), limit=UNROLL_LIMIT)
    self.around.append("static loop")
    try:
        for position, item in enumerate(items):
            self.trace.unroll.append(position)
            try:
                self.assign(node.target, item)
                signal = self.run(node.body)
            finally:
                self.trace.unroll.pop()
            if signal == "return":
                return signal
            if signal == "break":
                break
    finally:
        self.around.pop()
    return None


def _key(self: Statements, node: ast.AST) -> Any:
    return (id(node), tuple(frame.called_from for frame in self.trace.frames), tuple(self.trace.unroll))


def _run_time_for(self: Statements, node: ast.For, sequence: RunTimeRange) -> None:
    trace, place = self.trace, self.source.location(node.iter)
    if not isinstance(node.target, ast.Name):
        self.at(node.target)
        trace.fail("L005", what="unpacking in a run-time loop", mend="use one loop variable")
    lower, upper, step, dtype = _bounds(self, sequence)
    descending = isinstance(step, int) and step < 0
    first, last = as_value(lower, dtype), as_value(upper, dtype)
    count_up: Callable[[Value], Value] = lambda position: position  # noqa: E731
    if descending:  # scf.for counts up: run over the number of steps
        steps = binary("//", binary("-", first, last) + (-step - 1), -step)
        start, first, last = first, constant(0, dtype), steps
        count_up = lambda position: binary("-", start, binary("*", position, -step))  # noqa: E731
    stride = as_value(1 if descending else step, dtype)
    if isinstance(step, Value):
        _guard_step(self, stride, place)
    nonnegative = first.nonnegative and not descending
    breaks = _breaks(node.body)

    def body_with(position: Any) -> Callable[[], None]:
        def body() -> None:
            self.assign(node.target, count_up(position))
            _loop_body(self, node.body, flag)

        return body

    holder: list[Value] = []
    flag = _Flag() if breaks else None

    def body() -> None:
        body_with(holder[0])()

    def build(initial: list[Any], types: list[str], trace_body: regions.TraceBody, _: regions.TraceCondition) -> list[Any]:
        operands = [first.ir, last.ir, stride.ir, *initial]
        attributes = {"unsignedCmp": trace.ir.UnitAttr.get()} if dtype.kind == "uint" else None
        operation = trace.create("scf.for", operands, types, attributes, regions=1)
        arguments = [trace.type(dtype.mlir), *map(trace.type, types)]
        block = operation.regions[0].blocks.append(*arguments, arg_locs=[trace.mlir_location()] * len(arguments))
        holder[:] = [Value(block.arguments[0], dtype, place, nonnegative)]
        with trace.at_block(block):
            yielded = trace_body(list(block.arguments)[1:])
            trace.create("scf.yield", yielded)
        return list(operation.results)

    def build_breaking(initial: list[Any], types: list[str], trace_body: regions.TraceBody, _: regions.TraceCondition) -> list[Any]:
        def going_on(position: Value) -> Any:
            return compare("<", position, last)

        def step_on(position: Value) -> Value:
            return Value(trace.create("arith.addi", [position.ir, stride.ir], [dtype.mlir]).result, dtype)

        def carry(arguments: list[Any], inner: list[Any]) -> list[Any]:
            return [step_on(holder[0]).ir, *inner]

        assert flag is not None
        results = _scf_while(
            self,
            [first.ir, *initial],
            [dtype.mlir, *types],
            lambda arguments: going_on(Value(arguments[0], dtype, place)).ir,
            lambda arguments: (
                holder.__setitem__(slice(None), [Value(arguments[0], dtype, place, nonnegative)]),
                carry(arguments, trace_body(arguments[1:])),
            )[1],
            flag,
        )
        return results[1:]

    words = f"the loop over {node.target.id!r}"
    with trace.under(words):
        regions.loop(trace, _key(self, node), place, build_breaking if breaks else build, body)
    trace.frame.names.pop(node.target.id, None)
    trace.frame.vanished[node.target.id] = ("is the variable of a run-time loop that has ended", place)


def _guard_step(self: Statements, step: Value, place: Location) -> None:
    """A step that only the run knows must be positive: others trap, where they would loop for ever."""
    trace = self.trace
    owner = step.ir.owner
    if getattr(owner, "name", "") == "fa4.index" and str(owner.attributes["what"]).startswith('"grid_dim'):
        return
    regions.branch(trace, compare("<", step, constant(1, step.dtype)), place, "a step that is not positive", lambda: trace.fa4("trap"))


def _bounds(self: Statements, sequence: RunTimeRange) -> tuple[Any, Any, Any, DType]:
    bounds = sequence.bounds
    lower, upper, step = (0, bounds[0], 1) if len(bounds) == 1 else (bounds[0], bounds[1], 1) if len(bounds) == 2 else bounds
    trace = self.trace
    if not (isinstance(step, int) or (isinstance(step, Value) and step.dtype.is_integer)) or (isinstance(step, int) and step == 0):
        trace.fail("L045", trace.place_of(step), given=describe(step))
    types = []
    for bound in (lower, upper):
        if isinstance(bound, Value) and bound.dtype.is_integer:
            types.append(bound.dtype)
        elif not isinstance(bound, int):
            trace.fail("L011", trace.place_of(bound), expected="an integer", given=describe(bound))
    if len(types) == 2 and types[0] != types[1]:
        from fa4dsl.frontend.arithmetic import same_type

        return lower, upper, step, same_type("range", lower, upper)[0].dtype
    return lower, upper, step, types[0] if types else i32


def _loop_body(self: Statements, statements: list[ast.stmt], flag: _Flag | None) -> None:
    self.around.append("loop")
    self.flags.append(flag)
    if flag is not None:
        flag.values = [True]
        self.trace.stateful.append(flag)
    try:
        self.run(statements)
    finally:
        self.flags.pop()
        self.around.pop()


def _breaks(statements: list[ast.stmt]) -> bool:
    """Whether a `break` of this loop stands among its statements."""
    for statement in statements:
        if isinstance(statement, ast.Break):
            return True
        if isinstance(statement, ast.If) and (_breaks(statement.body) or _breaks(statement.orelse)):
            return True
        if isinstance(statement, ast.With) and _breaks(statement.body):
            return True
    return False


def run_while(self: Statements, node: ast.While) -> str | None:
    """A `while` statement."""
    if node.orelse:
        self.at(node.orelse[0])
        self.trace.fail("L005", what="`else` on a loop", mend="test after the loop whether it ran to its end")
    place = self.source.location(node.test)
    flag = _Flag() if _breaks(node.body) else None

    def condition() -> Value:
        value = self.evaluate(node.test)
        self.at(node.test)
        self.trace.arguments = [(value, self.trace.location)]
        if isinstance(value, Arithmetic):
            return truth(value)
        if value and flag is None and not self.trace.trials:
            self.trace.fail("L046", place)
        return constant(bool(value), bool_)

    def body() -> None:
        _loop_body(self, node.body, flag)

    def build(initial: list[Any], types: list[str], trace_body: regions.TraceBody, trace_condition: regions.TraceCondition) -> list[Any]:
        return _scf_while(self, initial, types, trace_condition, trace_body, flag)

    with self.trace.under(f"`while {ast.unparse(node.test)}`"):
        regions.loop(self.trace, _key(self, node), place, build, body, condition)
    return None


def _scf_while(
    self: Statements,
    initial: list[Any],
    types: list[str],
    trace_condition: regions.TraceCondition,
    trace_body: regions.TraceBody,
    flag: _Flag | None,
) -> list[Any]:
    """scf.while over `initial`; with a flag, one more carried i1 says whether no `break` was met."""
    trace = self.trace
    all_types = [*types, "i1"] if flag is not None else types
    operands = [*initial, constant(True, bool_).ir] if flag is not None else initial
    operation = trace.create("scf.while", operands, all_types, regions=2)
    block_types = [trace.type(item) for item in all_types]
    locations = [trace.mlir_location()] * len(block_types)
    test = operation.regions[0].blocks.append(*block_types, arg_locs=locations)
    inside = operation.regions[1].blocks.append(*block_types, arg_locs=locations)
    with trace.at_block(test):
        arguments = list(test.arguments)
        if flag is None:
            going_on = trace_condition(arguments)
        else:
            going_on = _if_still(self, arguments[-1], lambda: trace_condition(arguments[:-1]))
        trace.create("scf.condition", [going_on, *arguments])
    with trace.at_block(inside):
        arguments = list(inside.arguments)
        yielded = trace_body(arguments[:-1] if flag is not None else arguments)
        if flag is not None:
            yielded = [*yielded, as_leaf(flag.values[0], bool_).ir]
        trace.create("scf.yield", yielded)
    return list(operation.results)[: len(types)]


def _if_still(self: Statements, running: Any, thunk: Callable[[], Any]) -> Any:
    """``running and thunk()``: after a `break` the condition is not evaluated again."""
    trace = self.trace
    operation = trace.create("scf.if", [running], ["i1"], regions=2)
    for position, region in enumerate(operation.regions):
        with trace.at_block(region.blocks.append()):
            trace.create("scf.yield", [thunk() if position == 0 else constant(False, bool_).ir])
    return operation.results[0]
