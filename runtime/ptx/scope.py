"""Names inside the nested braces of a function body."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.module import Function, Variable

_NUMBERED = re.compile(r"(.*?)(\d+)$")


class Scope:
    """One pair of braces. Names found here hide those outside; unique names carry the scope's number."""

    def __init__(self, function: Function, outer: Scope | None, number: int) -> None:
        self.function = function
        self.outer = outer
        self.suffix = f"'{number}" if number else ""
        self.registers: dict[str, str] = {}
        self.ranges: dict[str, tuple[int, str]] = {}
        self.variables: dict[str, str] = {}
        self.labels: dict[str, str] = {}

    def declare_register(self, name: str, kind: str, count: int | None) -> None:
        """``.reg .b32 r`` or ``.reg .b32 %r<count>``. Ranged registers come into being when first named, so that big ranges cost nothing."""
        if count is None:
            unique = name + self.suffix
            self.registers[name] = unique
            self.function.registers[unique] = kind
        else:
            self.ranges[name] = (count, kind)

    def register(self, name: str) -> str | None:
        """The unique name of register `name`, or None."""
        scope: Scope | None = self
        while scope is not None:
            unique = scope.registers.get(name)
            if unique is not None:
                return unique
            if scope.ranges:
                matched = _NUMBERED.match(name)
                # "%r10" may be number 10 of %r or number 0 of %r1: the longest declared stem wins
                if matched:
                    digits = len(name) - len(matched.group(1))
                    for length in range(1, digits + 1):
                        stem, number = name[:-length], name[-length:]
                        entry = scope.ranges.get(stem)
                        if entry is not None and int(number) < entry[0] and (number == "0" or number[0] != "0"):
                            unique = name + scope.suffix
                            scope.registers[name] = unique
                            scope.function.registers[unique] = entry[1]
                            return unique
            scope = scope.outer
        return None

    def declare_variable(self, variable: Variable) -> str:
        unique = variable.name + self.suffix
        self.variables[variable.name] = unique
        return unique

    def variable(self, name: str) -> str | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.outer
        return None

    def label(self, name: str) -> str | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.outer
        return None
