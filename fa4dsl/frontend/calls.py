"""Calls: language functions, device functions (inlined), and Python itself on compile-time values."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from typing import Any

from fa4dsl.frontend.arguments import callable_name, check, explained, signature_of
from fa4dsl.frontend.familiar_names import familiar
from fa4dsl.frontend.trace import CallFrame, Trace
from fa4dsl.frontend.values import Arithmetic, Value, as_value, describe, needs_constant
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.types import DType, PointerType

MAXIMUM_DEPTH = 64
"""Device functions inlined into one another; deeper means recursion."""


def is_run_time(value: Any) -> bool:
    """Whether a value holds anything known at run time only."""
    if isinstance(value, Arithmetic) or getattr(type(value), "run_time", False):
        return True
    if isinstance(value, tuple | list | set | frozenset):
        return any(map(is_run_time, value))
    if isinstance(value, dict):
        return any(map(is_run_time, value.values()))
    return False


def has_items(value: Any) -> bool:
    """Whether Python may take `value` apart. What has elements but no end of them (a pointer, a kernel by grids) has no `__iter__`."""
    return not isinstance(value, Value) and getattr(type(value), "__iter__", None) is not None


def call(trace: Trace, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Calls `function` as the language understands it; the place of the call is `trace.location`."""
    from fa4dsl.frontend.functions import DeviceFunction

    if isinstance(function, DeviceFunction):
        return inline(trace, function, arguments, keywords)
    replacement = _replacement(function)
    if replacement is not None:
        check(trace, replacement, arguments, keywords)
        return _language(trace, replacement, arguments, keywords, function)
    if not callable(function):
        trace.fail("L026", what=describe(function))
    if _is_language(function):
        check(trace, function, arguments, keywords)
        return _language(trace, function, arguments, keywords)
    for value in [*arguments, *keywords.values()]:
        if is_run_time(value) and function not in _TRANSPARENT:
            _run_time_argument(trace, function, value)
    return _language(trace, function, arguments, keywords)


def _replacement(function: Any) -> Callable[..., Any] | None:
    from fa4dsl.language import python_functions

    try:
        return python_functions.REPLACEMENTS.get(function)
    except TypeError:  # not hashable
        return None


_TRANSPARENT: tuple[Any, ...] = (tuple, list, zip, enumerate, reversed, len, isinstance, type, dict, range)
"""Python's own functions that only move values about, so run-time values may pass through them."""


def _is_language(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    if isinstance(function, DType) or isinstance(owner, list | dict):
        return True
    module = getattr(function, "__module__", None) or getattr(type(owner), "__module__", "")
    if inspect.isclass(owner):
        module = owner.__module__
    return str(module).startswith(("fa4dsl.language", "fa4dsl.frontend", "fa4dsl.types"))


PYTHON_ONLY: dict[Any, str] = {
    float: "convert it: value.to(f32)",
    int: "convert it: value.to(i32), which rounds towards zero",
    bool: "compare it: value != 0",
    round: "write floor(value + 0.5), or value.to(i32)",
    str: "print it with device_print",
    repr: "print it with device_print",
    format: "print it with device_print",
    pow: "write value ** 2, or exp2(exponent * log2(value))",
    sorted: "compare and exchange with min and max",
}
"""Python's own functions that authors call on run-time values, and what to write instead."""


def _run_time_argument(trace: Trace, function: Any, value: Any) -> None:
    name = getattr(function, "__name__", str(function))
    if function in PYTHON_ONLY:
        trace.fail("L005", what=f"Python's {name}() of {describe(value)}", mend=PYTHON_ONLY[function])
    if getattr(function, "__module__", "") == builtins.__name__:
        needs_constant(value, f"an argument of Python's {name}()")
    import fa4dsl

    if name in fa4dsl.__all__:
        mend = f"use the operation of that name: from fa4dsl import {name}"
    elif inspect.isfunction(function):
        mend = familiar(name) or f"decorate {name} with @device_function"
    else:
        mend = familiar(name) or "write it as a @device_function of the operations of fa4dsl"
    trace.fail("L027", trace.location, name=name, given=describe(value), mend=mend)


def _language(trace: Trace, function: Any, arguments: list[Any], keywords: dict[str, Any], stands_for: Any = None) -> Any:
    """Calls a function of the language, or Python's own (`stands_for`: the one that it replaces); whatever it raises is put at the call."""
    place, places = trace.location, trace.arguments
    try:
        return function(*arguments, **keywords)
    except Fa4dslError as error:
        raise explained(error, trace, function, places, len(arguments), keywords) from error.__cause__
    except Exception as error:
        trace.location, trace.arguments = place, places
        if isinstance(error, TypeError):
            problem = _binding_problem(function, arguments, keywords)
            if problem:
                trace.fail("L020", name=callable_name(function), problem=problem[0], signature=problem[1])
        if stands_for is None and _is_language(function) and not isinstance(function, type):
            words = ", ".join([*map(describe, arguments), *(f"{name} = {describe(value)}" for name, value in keywords.items())])
            given = f" (given: {words})" if words else ""
            expected = f"the arguments against {signature_of(function)}"
            trace.fail("L099", name=callable_name(function), error=type(error).__name__, reason=str(error), given=given, expected=expected)
        trace.fail("L007", error=type(error).__name__, reason=_in_words(str(error), arguments) or "no message")


def _in_words(reason: str, arguments: list[Any]) -> str:
    """Python's message with run-time values as the author knows them, in place of the classes that stand for them here."""
    for value in arguments:
        if is_run_time(value):
            name = type(value).__name__
            reason = reason.replace(f"object of type '{name}'", describe(value)).replace(f"'{name}' object", describe(value))
    return reason


def _binding_problem(function: Any, arguments: list[Any], keywords: dict[str, Any]) -> tuple[str, str] | None:
    """What is wrong with the arguments, and the signature; None where they fit."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        return str(error), signature_of(function)
    return None


def inline(trace: Trace, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Traces a device function's body at the place of the call. Its operations carry both places."""
    from fa4dsl.frontend.statements import run_function

    if len(trace.frames) >= MAXIMUM_DEPTH:
        trace.fail("L028", name=function.name, depth=MAXIMUM_DEPTH)
    problem = _binding_problem(function.function, arguments, keywords)
    if problem:
        trace.fail("L020", name=function.name, problem=problem[0], signature=problem[1])
    bound = inspect.signature(function.function).bind(*arguments, **keywords)
    bound.apply_defaults()
    names = dict(bound.arguments)
    for name, wanted in function.annotations.items():
        if name in names and isinstance(wanted, DType | PointerType):
            names[name] = _argument(trace, name, names[name], wanted)
    frame = CallFrame(function.source, names, trace.location)
    place = trace.location
    trace.frames.append(frame)
    trace.remember_source(function.source.file)
    try:
        return run_function(trace, frame)
    finally:
        trace.frames.pop()
        trace.location = place


def _argument(trace: Trace, name: str, value: Any, wanted: DType | PointerType) -> Any:
    """An argument checked against its annotation; numbers take the annotated type."""
    if isinstance(wanted, PointerType):
        if isinstance(value, Value) and isinstance(value.type, PointerType) and value.type.dtype == wanted.dtype:
            return value
        trace.fail("L011", trace.place_of(value), expected=wanted, given=describe(value))
    if isinstance(value, Arithmetic) and not isinstance(value, Value):
        trace.fail("L011", trace.place_of(value), expected=wanted, given=describe(value))
    return as_value(value, wanted)
