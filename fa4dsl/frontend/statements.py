"""Executes statements: assignments, control flow, `with` blocks, returns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from fa4dsl.frontend import regions
from fa4dsl.frontend.arithmetic import truth
from fa4dsl.frontend.expressions import Expressions
from fa4dsl.frontend.loops import run_for, run_while
from fa4dsl.frontend.state import RETURN
from fa4dsl.frontend.trace import CallFrame, Trace
from fa4dsl.frontend.unsupported import STATEMENTS
from fa4dsl.frontend.values import Arithmetic, describe
from fa4dsl.language.blocks import Block

Signal = str | None
"""How a list of statements ended: None at its end, else "return", "continue" or "break"."""


def run_function(trace: Trace, frame: CallFrame) -> Any:
    """Traces a function's body in `frame` (already on the trace's stack) and gives its return value."""
    interpreter = Statements(trace, frame)
    interpreter.run(frame.source.node.body)
    return frame.names.get(RETURN)


class Statements(Expressions):
    """The interpreter of one function."""

    def __init__(self, trace: Trace, frame: CallFrame) -> None:
        super().__init__(trace, frame)
        self.around: list[str] = []
        """What encloses the current statement inside this function: "if" (run-time), "static loop", "loop", "with"."""
        self.flags: list[Any] = []
        """For each run-time loop around: its flag that `break` clears, or None."""

    def run(self, statements: list[ast.stmt]) -> Signal:
        """Executes statements in order."""
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.If):
                signal, done = self._if(statement, statements[position + 1 :])
                if done or signal:
                    return signal
                continue
            method = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                self.at(statement)
                what, mend = STATEMENTS.get(type(statement).__name__, (type(statement).__name__, "write it with simpler statements"))
                self.trace.fail("L005", what=what, mend=mend)
            signal = method(statement)
            if signal:
                return str(signal)
        return None

    # --- simple statements

    def _do_expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _do_pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        self.value_place = self.source.location(node.value)
        for target in node.targets:
            self.at(node)
            self._name_objects(value, target)
            self.assign(target, value)

    @staticmethod
    def _name_objects(value: Any, target: ast.expr) -> None:
        """Objects without a name of their own take that of the variable they are first assigned to; those of a tuple or list too,
        each that of its own variable, or the one variable's with a number."""
        if isinstance(target, ast.Name):
            many = isinstance(value, tuple | list)
            for number, item in enumerate(value if many else [value]):
                adopt = getattr(item, "adopt_name", None)
                if adopt is not None:
                    adopt(f"{target.id}_{number}" if many else target.id)
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple | list):
            for part, item in zip(target.elts, value, strict=False):
                Statements._name_objects(item, part)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            self.at(node)
            self.trace.fail("L005", what="a declaration without a value", mend="give it its first value")
        value = self.evaluate(node.value)
        wanted = self.evaluate(node.annotation)
        from fa4dsl.frontend.values import as_value
        from fa4dsl.types import DType

        self.at(node.value)
        self.trace.arguments = [(value, self.trace.location)]
        if isinstance(wanted, DType):
            value = as_value(value, wanted)
        self._name_objects(value, node.target)
        self.assign(node.target, value)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            left = self._name(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            right = self.evaluate(node.value)
            self.frame.names[target.id] = self.operate(node, node.op, left, right, (target, node.value), in_place=True)
        elif isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            index, places = self.index(target.slice)
            right = self.evaluate(node.value)
            self.at(target)
            self.trace.arguments = places
            with self.python(target):
                left = base[index]
            result = self.operate(node, node.op, left, right, (target, node.value))
            self.at(target)
            self.trace.arguments = [*places, (result, self.source.location(node.value))]
            with self.python(target):
                base[index] = result
        else:
            self.at(target)
            self.trace.fail("L018", what="an attribute")

    def _do_assert(self, node: ast.Assert) -> None:
        condition = self.evaluate(node.test)
        self.at(node.test)
        if isinstance(condition, Arithmetic):
            self.trace.fail("L041", given=describe(condition))
        if not condition:
            message = self.evaluate(node.msg) if node.msg is not None else ast.unparse(node.test)
            self.at(node.test)
            self.trace.fail("L040", message=message)

    # --- jumps

    def _do_return(self, node: ast.Return) -> Signal:
        value = self.evaluate(node.value) if node.value is not None else None
        self.at(node)
        blocked = self._between("function")
        if "loop" in blocked or "with" in blocked or ("static loop" in blocked and self._if_above_static_loop(blocked)):
            self.trace.fail("L042", what="return", where=self._words(blocked))
        if value is not None:
            self.frame.names[RETURN] = value
        return "return"

    def _do_continue(self, node: ast.Continue) -> Signal:
        self.at(node)
        if "with" in self._between("loop"):
            self.trace.fail("L042", what="continue", where="a `with` block")
        return "continue"

    def _do_break(self, node: ast.Break) -> Signal:
        self.at(node)
        blocked = self._between("loop")
        if "with" in blocked:
            self.trace.fail("L042", what="break", where="a `with` block")
        loop = next(item for item in reversed(self.around) if item.endswith("loop"))
        if loop == "static loop":
            if "if" in blocked:
                self.trace.fail("L042", what="break", where="a run-time `if` of an unrolled loop")
            return "break"
        self.flags[-1].set_state([False])
        return "continue"

    def _between(self, outer: str) -> list[str]:
        """What stands between the current statement and the nearest loop (or the function), innermost first."""
        found = []
        for item in reversed(self.around):
            if outer == "loop" and item.endswith("loop"):
                break
            found.append(item)
        return found

    @staticmethod
    def _if_above_static_loop(blocked: list[str]) -> bool:
        return "if" in blocked[: blocked.index("static loop")]

    @staticmethod
    def _words(blocked: list[str]) -> str:
        if "loop" in blocked:
            return "a run-time loop"
        return "a `with` block" if "with" in blocked else "a run-time `if` of an unrolled loop"

    # --- control flow

    def _if(self, node: ast.If, rest: list[ast.stmt]) -> tuple[Signal, bool]:
        condition = self.evaluate(node.test)
        if not isinstance(condition, Arithmetic):
            with self.python(node.test):
                chosen = node.body if condition else node.orelse
            if _jumps(chosen):
                return self.run(chosen + rest), True
            return self.run(chosen), False
        place = self.at(node.test)
        self.trace.arguments = [(condition, place)]
        jumping = _jumps(node.body) or _jumps(node.orelse)
        tail = rest if jumping else []
        then, otherwise = self._side(node.body + tail), self._side(node.orelse + tail)
        words = f"`if {ast.unparse(node.test)}`"
        regions.branch(self.trace, truth(condition), place, words, then, otherwise if node.orelse or tail else None)
        return None, jumping

    def _side(self, statements: list[ast.stmt]) -> Callable[[], None]:
        def body() -> None:
            self.around.append("if")
            try:
                self.run(statements)
            finally:
                self.around.pop()

        return body

    def _do_for(self, node: ast.For) -> Signal:
        return run_for(self, node)

    def _do_while(self, node: ast.While) -> Signal:
        return run_while(self, node)

    def _do_with(self, node: ast.With) -> Signal:
        return self._with(node, 0)

    def _with(self, node: ast.With, position: int) -> Signal:
        if position == len(node.items):
            self.around.append("with")
            try:
                return self.run(node.body)
            finally:
                self.around.pop()
        item = node.items[position]
        manager = self.evaluate(item.context_expr)
        place = self.at(item.context_expr)
        if not isinstance(manager, Block):
            self.trace.fail("L029", given=describe(manager))

        def body(value: Any) -> None:
            if item.optional_vars is not None:
                self._name_objects(value, item.optional_vars)
                self.assign(item.optional_vars, value)
            self._with(node, position + 1)

        manager.trace_block(self.trace, place, body)
        return None


def _jumps(statements: list[ast.stmt]) -> bool:
    """Whether statements contain a return, continue or break that leaves them (those of inner loops do not)."""
    for statement in statements:
        if isinstance(statement, ast.Return | ast.Continue | ast.Break):
            return True
        if isinstance(statement, ast.If) and (_jumps(statement.body) or _jumps(statement.orelse)):
            return True
        if isinstance(statement, ast.With) and _jumps(statement.body):
            return True
        if isinstance(statement, ast.For | ast.While) and any(isinstance(inner, ast.Return) for inner in ast.walk(statement)):
            return True
    return False
