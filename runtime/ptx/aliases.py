"""``.alias``: a second name of a function, as C++ constructors have. Everything that uses it is made to use the first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.instruction import Symbol, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fa4dsl.runtime.ptx.instruction import Operand
    from fa4dsl.runtime.ptx.module import Module, Variable


def _operand(item: Operand, names: Mapping[str, str]) -> Operand:
    if isinstance(item, Symbol) and item.name in names:
        return Symbol(names[item.name], item.offset)
    if isinstance(item, Vector):
        return Vector(tuple(_operand(element, names) for element in item.elements))
    return item


def _variable(item: Variable, names: Mapping[str, str]) -> Variable:
    entries = []
    for offset, value, size in item.initial:
        if isinstance(value, Symbol):
            prefix = "generic:" if value.name.startswith("generic:") else ""
            plain = value.name.removeprefix(prefix)
            value = Symbol(prefix + names.get(plain, plain), value.offset)
        entries.append((offset, value, size))
    return replace(item, initial=tuple(entries)) if entries else item


def rename(module: Module, aliases: Mapping[str, str]) -> None:
    """Replaces every alias by the function it stands for; an alias of an alias is followed to its end."""
    names = {}
    for alias in aliases:
        name, seen = alias, {alias}
        while name in aliases and aliases[name] not in seen:
            name = aliases[name]
            seen.add(name)
        names[alias] = name
        module.functions.pop(alias, None)
    for function in module.functions.values():
        function.instructions = [
            replace(instruction, operands=tuple(_operand(item, names) for item in instruction.operands))
            for instruction in function.instructions
        ]
        function.tables = {label: tuple(names.get(entry, entry) for entry in entries) for label, entries in function.tables.items()}
    module.variables = {name: _variable(item, names) for name, item in module.variables.items()}
