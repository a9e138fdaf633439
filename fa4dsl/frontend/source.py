"""A function's source: its syntax tree with the file's own lines and columns, and the names it closes over."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fa4dsl.runtime.diagnostics import Location, fail

MISSING = object()
"""Returned by `Source.lookup` for a name that is nowhere."""


@dataclass
class Source:
    """A Python function as the front end sees it."""

    function: Callable[..., Any]
    file: str
    node: ast.FunctionDef
    locations: dict[int, Location] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__

    def location(self, node: ast.AST) -> Location:
        """The place of a node in the file: characters, counted from 1."""
        known = self.locations.get(id(node))
        if known is not None:
            return known
        line = getattr(node, "lineno", self.node.lineno)
        column = self._column(line, getattr(node, "col_offset", 0))
        end = 0
        if getattr(node, "end_lineno", None) == line:
            end = self._column(line, getattr(node, "end_col_offset", 0) or 0)
        place = Location(self.file, line, column, end)
        self.locations[id(node)] = place
        return place

    def _column(self, line: int, offset: int) -> int:
        """Python counts UTF-8 bytes, people count characters."""
        text = linecache.getline(self.file, line)
        if text.isascii():
            return offset + 1
        return (len(text.encode()[:offset].decode(errors="ignore")) if text else offset) + 1

    def lookup(self, name: str) -> Any:
        """The value of a name that is not local: closure, then module, then builtins."""
        closure = self.function.__closure__ or ()
        for free, cell in zip(self.function.__code__.co_freevars, closure, strict=True):
            if free == name:
                try:
                    return cell.cell_contents
                except ValueError:
                    return MISSING
        module = self.function.__globals__
        if name in module:
            return module[name]
        return getattr(builtins, name, MISSING)

    def visible_names(self) -> set[str]:
        """Names a misspelling could have meant, without Python's builtins that kernels cannot use."""
        return set(self.function.__globals__) | set(self.function.__code__.co_freevars)


def read_source(function: Callable[..., Any]) -> Source:
    """Parses the source of `function`. Raises L001 where it cannot be had."""
    plain = inspect.unwrap(function)
    code = getattr(plain, "__code__", None)
    if code is not None:
        file = inspect.getsourcefile(plain) or ""
        linecache.checkcache(file)
        node = _definitions("".join(linecache.getlines(file, plain.__globals__))).get((code.co_firstlineno, code.co_name))
        if node is not None:
            return Source(function, file, node)
    return _read_alone(function)


@lru_cache(maxsize=64)
def _definitions(text: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """The functions of a file by first line (their decorators' where there are any) and name; none where it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found: dict[tuple[int, str], ast.FunctionDef] = {}
    bodies: list[list[ast.stmt]] = [tree.body]
    while bodies:
        for statement in bodies.pop():
            if isinstance(statement, ast.FunctionDef):
                first = min([statement.lineno, *(item.lineno for item in statement.decorator_list)])
                found[(first, statement.name)] = statement
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list):
                    bodies.append(inner)
            for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                bodies.append(handler.body)
    return found


def _read_alone(function: Callable[..., Any]) -> Source:
    """Parses the function's own lines, where its file as a whole does not show it; says what is wrong with them."""
    try:
        file = inspect.getsourcefile(function) or ""
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        name = getattr(function, "__name__", repr(function))
        fail("L001", name=name, reason="Python has no source text for it (it was typed at a prompt or made by exec)")
    text = "".join(lines)
    indented = text[:1].isspace()  # a function inside another: give it a block to stand in, so that its columns stay the file's
    try:
        tree = ast.parse("if True:\n" + text if indented else text)
    except SyntaxError as error:
        fail("L001", Location(file, first), name=function.__name__, reason=f"its text does not stand alone ({error.msg})")
    node = tree.body[0]
    if indented:
        assert isinstance(node, ast.If)
        node = node.body[0]
    if not isinstance(node, ast.FunctionDef):
        fail("L001", Location(file, first), name=function.__name__, reason="it is not a function written with def")
    ast.increment_lineno(tree, first - (2 if indented else 1))
    return Source(function, file, node)
