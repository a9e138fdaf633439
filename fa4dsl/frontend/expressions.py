"""Evaluates expressions: what is known at compile time by Python itself, the rest by emitting IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from fa4dsl.frontend import regions
from fa4dsl.frontend.arithmetic import COMPARISONS, select, truth
from fa4dsl.frontend.calls import call, has_items, is_run_time
from fa4dsl.frontend.familiar_names import familiar, familiar_attribute
from fa4dsl.frontend.operators import BINARY, COMPARE, UNARY
from fa4dsl.frontend.source import MISSING
from fa4dsl.frontend.state import leaves, rebuild
from fa4dsl.frontend.trace import CallFrame, Trace
from fa4dsl.frontend.unsupported import EXPRESSIONS
from fa4dsl.frontend.values import Arithmetic, Value, constant, describe, needs_constant
from fa4dsl.runtime.diagnostics import Fa4dslError, Frame, Location
from fa4dsl.types import bool_

PURE = ("arith.", "math.", "vector.", "llvm.getelementptr", "fa4.index", "fa4.shared_address", "fa4.peer_address", "fa4.approximate")
IMPURE = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
"""Integer division traps or is undefined for a zero divisor, so it may not be moved in front of the test that guards it."""


def closest(name: str, names: list[str]) -> list[str]:
    """The name that a misspelt one most likely means, if any: the same letters in another order come first."""
    letters = sorted(name)
    return [other for other in names if sorted(other) == letters][:1] or get_close_matches(name, names, 1)


def public_names(value: Any) -> list[str]:
    """The attributes that a misspelling could have meant."""
    return [name for name in dir(value) if not name.startswith("_")]


def _among(value: Any, items: tuple[Any, ...] | list[Any]) -> Any:
    """``value in (a, b)`` of run-time values: compared with each, nothing branches."""
    result: Any = False
    for item in items:
        equal = value == item
        result = equal if result is False else equal if equal is False and not isinstance(result, Arithmetic) else result | equal
    return result


def _not_among(value: Any, items: tuple[Any, ...] | list[Any]) -> Any:
    found = _among(value, items)
    return ~found if isinstance(found, Arithmetic) else not found


class Expressions:
    """The part of the interpreter that gives expressions their values."""

    def __init__(self, trace: Trace, frame: CallFrame) -> None:
        self.trace = trace
        self.frame = frame
        self.source = frame.source
        self.value_place: Location | None = None
        """Where the value being assigned is written."""

    def at(self, node: ast.AST) -> Location:
        """Makes `node` the place of what is emitted and reported next."""
        place = self.source.location(node)
        self.trace.location = place
        return place

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression: a Python object known at compile time, or something with run-time values in it."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            self.at(node)
            what, mend = EXPRESSIONS.get(type(node).__name__, (type(node).__name__, "write it with simpler statements"))
            self.trace.fail("L005", what=what, mend=mend)
        return method(node)

    @contextmanager
    def python(self, node: ast.AST) -> Iterator[None]:
        """Runs Python on compile-time values: what it raises becomes L007 at `node`."""
        try:
            yield
        except Fa4dslError:
            raise
        except Exception as error:
            self.at(node)
            self.trace.fail("L007", error=type(error).__name__, reason=str(error) or "no message")

    # --- names and constants

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.frame.names:
            return self.frame.names[name]
        local = name in self.source.function.__code__.co_varnames
        if not local:
            found = self.source.lookup(name)
            if found is not MISSING:
                return found
        self.at(node)
        if name in self.frame.vanished:
            why, where = self.frame.vanished[name]
            self.trace.fail("L004", self.trace.location, Frame(where, "set in here"), name=name, why=why)
        if local:
            self.trace.fail("L004", name=name, why="is used before it is set")
        import fa4dsl

        candidates = set(self.frame.names) | self.source.visible_names()
        near = get_close_matches(name, sorted(candidates), 1, 0.7) or get_close_matches(name, sorted(fa4dsl.__all__), 1, 0.7)
        if name in fa4dsl.__all__:
            mend = f"add it to the imports: from fa4dsl import {name}"
        elif familiar(name):
            mend = familiar(name)
        else:
            mend = f"did you mean {near[0]!r}?" if near else "define it, or import it from fa4dsl"
        raise self.trace.error("L003", name=name, mend=mend)

    def _attribute(self, node: ast.Attribute) -> Any:
        base = self.evaluate(node.value)
        self.at(node)
        name = node.attr
        if not name.startswith("_"):
            try:
                return getattr(base, name)
            except Fa4dslError:
                raise
            except AttributeError:
                pass
        near = closest(name, public_names(base))
        known = familiar_attribute(name)
        mend = (
            f"write {known}"
            if known and isinstance(base, Arithmetic)
            else f"did you mean .{near[0]}?"
            if near
            else "look at its documentation for what it has"
        )
        raise self.trace.error("L006", what=describe(base), attribute=name, mend=mend)

    # --- containers

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _list(self, node: ast.List) -> Any:
        return self._items(node.elts)

    def _set(self, node: ast.Set) -> Any:
        items = self._items(node.elts)
        with self.python(node):
            return set(items)

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                items.extend(self.iterate(item.value))
            else:
                items.append(self.evaluate(item))
        return items

    def _dict(self, node: ast.Dict) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                with self.python(value):
                    made.update(self.evaluate(value))
            else:
                made[self.constant(key, "the key of a dictionary")] = self.evaluate(value)
        return made

    def constant(self, node: ast.expr, what: str) -> Any:
        """A compile-time value. Raises L021 for run-time ones."""
        value = self.evaluate(node)
        if is_run_time(value):
            self.at(node)
            self.trace.arguments = [(value, self.trace.location)]
            needs_constant(value, what)
        return value

    def iterate(self, node: ast.expr) -> list[Any]:
        """The items of a compile-time sequence."""
        sequence = self.evaluate(node)
        self.at(node)
        if not has_items(sequence):
            self.trace.fail("L008", given=describe(sequence))
        with self.python(node):
            return list(sequence)

    def _listcomp(self, node: ast.ListComp) -> Any:
        return list(self._comprehension(node.elt, node.generators))

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        return tuple(self._comprehension(node.elt, node.generators))

    def _setcomp(self, node: ast.SetComp) -> Any:
        items = self._comprehension(node.elt, node.generators)
        with self.python(node):
            return set(items)

    def _dictcomp(self, node: ast.DictComp) -> Any:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        items = self._comprehension(pair, node.generators)
        with self.python(node):
            return dict(items)

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> list[Any]:
        if not generators:
            return [self.evaluate(element)]
        first, rest = generators[0], generators[1:]
        saved = dict(self.frame.names)
        results: list[Any] = []
        for item in self.iterate(first.iter):
            self.assign(first.target, item)
            if all(self.constant(test, "the condition of a comprehension") for test in first.ifs):
                results.extend(self._comprehension(element, rest))
        self.frame.names.clear()
        self.frame.names.update(saved)
        return results

    def assign(self, target: ast.expr, value: Any) -> None:
        """``target = value``: names, tuples of targets, elements of arrays."""
        if isinstance(target, ast.Name):
            self.frame.names[target.id] = value
            self.frame.vanished.pop(target.id, None)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            index, places = self.index(target.slice)
            self.at(target)
            self.trace.arguments = [*places, (value, self.value_place or self.trace.location)]
            if not hasattr(type(base), "__setitem__"):
                self.trace.fail("L018", what=describe(base))
            if isinstance(base, list | dict) and self.trace.divergence:
                self.trace.fail("L019", what=describe(base))
            with self.python(target):
                base[index] = value
        else:
            self.at(target)
            self.trace.fail("L018", what="an attribute" if isinstance(target, ast.Attribute) else "this")

    def _unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        self.at(target)
        if not has_items(value):
            self.trace.fail("L008", given=describe(value))
        with self.python(target):
            items = list(value)
        starred = [position for position, item in enumerate(target.elts) if isinstance(item, ast.Starred)]
        if starred:
            position, rest = starred[0], len(target.elts) - starred[0] - 1
            if len(items) >= len(target.elts) - 1:
                items = [*items[:position], items[position : len(items) - rest], *items[len(items) - rest :]]
        if len(items) != len(target.elts):
            self.trace.fail("L025", names=len(target.elts), values=len(items), given=describe(value))
        for inner, item in zip(target.elts, items, strict=True):
            self.assign(inner.value if isinstance(inner, ast.Starred) else inner, item)

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self.evaluate(node.value)
        index, places = self.index(node.slice)
        self.at(node)
        self.trace.arguments = places
        if isinstance(base, tuple | list | dict | str) and is_run_time(index):
            needs_constant(index, "the index of a tuple or list")
        if not hasattr(type(base), "__getitem__") and not (isinstance(base, type) and hasattr(base, "__class_getitem__")):
            self.trace.fail("L009", what=describe(base))
        with self.python(node):
            return base[index]

    def items_of(self, node: ast.Tuple | ast.List, values: Any) -> list[tuple[Any, Location]]:
        """The items of a tuple or list as written, with their places."""
        if len(values) != len(node.elts) or any(isinstance(item, ast.Starred) for item in node.elts):
            return []
        return [(value, self.source.location(item)) for value, item in zip(values, node.elts, strict=True)]

    def index(self, node: ast.expr) -> tuple[Any, list[tuple[Any, Location]]]:
        """An index and where each of its parts is written."""
        if isinstance(node, ast.Tuple):
            values = [self.evaluate(item) for item in node.elts]
            return tuple(values), [(value, self.source.location(item)) for value, item in zip(values, node.elts, strict=True)]
        value = self.evaluate(node)
        return value, [(value, self.source.location(node))]

    def _slice(self, node: ast.Slice) -> Any:
        parts = [None if part is None else self.constant(part, "the bound of a slice") for part in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.evaluate(part.value)
                spec = self.evaluate(part.format_spec) if part.format_spec else ""
                if isinstance(value, Arithmetic):
                    text += describe(value)
                else:
                    with self.python(part):
                        converted = {-1: value, 115: str(value), 114: repr(value), 97: ascii(value)}[part.conversion]
                        text += format(converted, spec)
            else:
                text += str(self.evaluate(part))
        return text

    # --- operators

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.operate(node, node.op, left, right, (node.left, node.right))

    def operate(
        self, node: ast.AST, op: ast.operator, left: Any, right: Any, nodes: tuple[ast.expr, ast.expr], in_place: bool = False
    ) -> Any:
        """A binary operator, on run-time or compile-time operands."""
        self.at(node)
        entry = BINARY.get(type(op))
        if entry is None:
            self.trace.fail("L005", what="matrix multiplication with @", mend="call wgmma(...) or mma(...)")
        name, function, update = entry
        self.trace.arguments = [(value, self.source.location(item)) for value, item in zip((left, right), nodes, strict=True)]
        for value, other in ((left, right), (right, left)):
            repeats = name == "*" and isinstance(other, int)
            mixed = isinstance(value, tuple) and is_run_time(value) and not isinstance(other, tuple) and not repeats
            if mixed or value is None or (not isinstance(value, Arithmetic) and isinstance(getattr(value, "in_words", None), str)):
                self.trace.fail("L010", operation=name, left=describe(left), right=describe(right), origins="")
        with self.python(node):
            return (update if in_place else function)(left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.evaluate(node.operand)
        self.at(node)
        if isinstance(node.op, ast.Not):
            return ~truth(value) if isinstance(value, Arithmetic) else not value
        function = UNARY[type(node.op)]
        with self.python(node):
            return function(value)

    def _compare(self, node: ast.Compare) -> Any:
        result: Any = True
        left_node, left = node.left, self.evaluate(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            self.at(node)
            name, function = COMPARE[type(op)]
            self.trace.arguments = [(left, self.source.location(left_node)), (right, self.source.location(right_node))]
            if name in ("in", "not in") and isinstance(right, tuple | list) and (is_run_time(left) or is_run_time(right)):
                function = _among if name == "in" else _not_among
            elif name not in COMPARISONS and name not in ("is", "is not"):
                for value in (left, right):
                    if is_run_time(value):
                        needs_constant(value, f"an operand of `{name}`")
            with self.python(node):
                one = function(left, right)
            result = one if result is True else (result & one if isinstance(result, Arithmetic) or isinstance(one, Arithmetic) else one)
            if result is False:
                return False
            left_node, left = right_node, right
        return result

    def _boolop(self, node: ast.BoolOp) -> Any:
        return self._connect(node.values, isinstance(node.op, ast.And))

    def _connect(self, nodes: list[ast.expr], conjunction: bool) -> Any:
        """``and`` and ``or``: the right side is evaluated only where the left does not decide, as in Python."""
        first = self.evaluate(nodes[0])
        if len(nodes) == 1:
            return first
        if not isinstance(first, Arithmetic):
            return self._connect(nodes[1:], conjunction) if bool(first) == conjunction else first
        place = self.at(nodes[0])
        self.trace.arguments = [(first, place)]
        left = truth(first)

        def right() -> Any:
            value = self._connect(nodes[1:], conjunction)
            self.at(nodes[1])
            return truth(value) if isinstance(value, Arithmetic) else constant(bool(value), bool_)

        def decided() -> Any:
            return constant(not conjunction, bool_)

        return self.choose(left, right, decided, place) if conjunction else self.choose(left, decided, right, place)

    def _ifexp(self, node: ast.IfExp) -> Any:
        condition = self.evaluate(node.test)
        if not isinstance(condition, Arithmetic):
            return self.evaluate(node.body if condition else node.orelse)
        place = self.at(node.test)
        self.trace.arguments = [(condition, place)]
        return self.choose(
            truth(condition), lambda: self.evaluate(node.body), lambda: self.evaluate(node.orelse), self.source.location(node)
        )

    def choose(self, condition: Value, yes: Callable[[], Any], no: Callable[[], Any], where: Location) -> Any:
        """One of two expressions, by a run-time condition: a select where both are free of side effects, else a branch."""
        names, key = self.frame.names, "<value>"

        def side(thunk: Callable[[], Any]) -> Callable[[], None]:
            def body() -> None:
                names[key] = thunk()

            return body

        outer = names.pop(key, None)
        regions.branch(self.trace, condition, where, "a conditional expression", side(yes), side(no))
        result = names.pop(key)
        if outer is not None:
            names[key] = outer
        return self._flattened(condition, result)

    def _flattened(self, condition: Value, result: Any) -> Any:
        """Turns the scf.if that made `result` into selects where its sides only compute."""
        parts = leaves(result)
        if not parts or not all(isinstance(part, Value) for part in parts):
            return result
        owner = parts[0].ir.owner
        if isinstance(owner, self.trace.ir.Block) or owner.operation.name != "scf.if" or len(owner.operation.results) != len(parts):
            return result
        operation = owner.operation
        blocks = [region.blocks[0] for region in operation.regions]
        bodies = [list(block.operations)[:-1] for block in blocks]
        if not all(self._is_pure(item.operation) for body in bodies for item in body):
            return result
        yields = [list(list(block.operations)[-1].operation.operands) for block in blocks]
        for body in bodies:
            for item in body:
                item.operation.move_before(operation)
        chosen: list[Any] = []
        for part, yes, no in zip(parts, *yields, strict=True):
            value = select(condition, type(part)(yes, part.type), type(part)(no, part.type))
            chosen.append(value)
        operation.erase()
        return rebuild(result, chosen)

    @staticmethod
    def _is_pure(operation: Any) -> bool:
        name = operation.name
        return name.startswith(PURE) and name not in IMPURE

    # --- calls

    def _call(self, node: ast.Call) -> Any:
        function = self.evaluate(node.func)
        arguments: list[Any] = []
        places: list[tuple[Any, Location]] = []
        for item in node.args:
            if isinstance(item, ast.Starred):
                expanded = self.iterate(item.value)
                arguments.extend(expanded)
                places.extend((value, self.source.location(item)) for value in expanded)
            else:
                value = self.evaluate(item)
                arguments.append(value)
                places.append((value, self.source.location(item)))
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is None:
                with self.python(keyword.value):
                    expanded_words = dict(value)
                for name in expanded_words:
                    if not isinstance(name, str) or name in keywords:
                        self.at(keyword.value)
                        self.trace.fail(
                            "L020", name="the function", problem=f"** gives the argument {name!r}", signature="name=value, each name once"
                        )
                keywords.update(expanded_words)
                places.extend((item, self.source.location(keyword.value)) for item in expanded_words.values())
            else:
                keywords[keyword.arg] = value
                places.append((value, self.source.location(keyword.value)))
        for item in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(item, ast.Tuple | ast.List):
                places.extend(self.items_of(item, next(value for value, place in places if place is self.source.location(item))))
        self.at(node)
        self.trace.arguments = places
        return call(self.trace, function, arguments, keywords)

    def _namedexpr(self, node: ast.NamedExpr) -> Any:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value
