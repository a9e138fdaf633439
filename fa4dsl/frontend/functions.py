"""Device functions: Python functions inlined into kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any

from fa4dsl.frontend.source import Source, read_source
from fa4dsl.runtime.diagnostics import Location, fail


class DeviceFunction:
    """A function that kernels call; its body is inlined. Made by `device_function`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def source(self) -> Source:
        return read_source(self.function)

    @cached_property
    def annotations(self) -> dict[str, Any]:
        return evaluated_annotations(self.function)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Only kernels can call it (L002)."""
        from fa4dsl.frontend.calls import inline
        from fa4dsl.frontend.trace import current

        return inline(current(), self, list(arguments), keywords)

    def __repr__(self) -> str:
        return f"<device function {self.name}>"


def device_function(function: Callable[..., Any]) -> DeviceFunction:
    """Decorator: makes a Python function callable from kernels.

    The body is inlined at each call, so that arguments may be anything: run-time values, compile-time values, shared arrays, barriers. A
    parameter annotated with a scalar type takes numbers as that type and refuses others. Operations carry the lines of the body and of
    the call.
    """
    return DeviceFunction(function)


def evaluated_annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of parameters as objects; names that do not resolve are left out (they may serve a type checker only)."""
    raw = dict(getattr(function, "__annotations__", {}))
    raw.pop("return", None)
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = {}
    for name, cell in closure.items():
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            continue
    found = {}
    for name, annotation in raw.items():
        if isinstance(annotation, str):
            try:
                found[name] = eval(annotation, function.__globals__, cells)
            except TypeError as error:
                where = Location(function.__code__.co_filename, function.__code__.co_firstlineno)
                fail("L034", where, name=name, reason=str(error))
            except Exception:  # a name for type checkers only
                continue
        else:
            found[name] = annotation
    return found
