"""Puts examples into entries: words stand in one module of a floor, examples that take whole scripts in others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fa4dsl.runtime.diagnostics.entry import Entry

Examples = Mapping[str, tuple[str, str]]
"""A code's failing and fixed example."""


def illustrated(entries: Iterable[Entry], *tables: Examples) -> tuple[Entry, ...]:
    """The entries with the tables' examples. Raises ValueError for an example that no entry takes, or that has one already."""
    examples: dict[str, tuple[str, str]] = {}
    for table in tables:
        twice = examples.keys() & table.keys()
        if twice:
            raise ValueError(f"two examples for {', '.join(sorted(twice))}")
        examples.update(table)
    made = []
    for entry in entries:
        found = examples.pop(entry.code, None)
        if found is not None and entry.failing:
            raise ValueError(f"two examples for {entry.code}")
        made.append(replace(entry, failing=found[0], fixed=found[1]) if found is not None else entry)
    if examples:
        raise ValueError(f"examples for no entry: {', '.join(sorted(examples))}")
    return tuple(made)
