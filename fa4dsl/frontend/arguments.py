"""What the parameters of the language's functions take. Their annotations say it; it is checked in one place, when a kernel calls one.

    def copy_async(array: Own, indices: Any, source: GlobalPointer, bytes: OneOf[...] = 16) -> None

A class stands for its objects, `int`, `bool`, `str` and `float` for compile-time values, a `Literal` for its words, a union for either, and
``Annotated[T, Kind(...)]`` for what the `Kind` admits (a type checker sees T). `Any` is left to the function itself.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NoReturn

from fa4dsl.frontend.trace import Trace
from fa4dsl.frontend.values import Arithmetic, Value, Vector, describe, is_integer, is_number
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Frame, Location
from fa4dsl.types import DType, PointerType


@dataclass(frozen=True)
class Kind:
    """The values that a parameter takes."""

    expected: str
    """In words, as after "takes"."""
    admits: Callable[[Any], bool]
    constant: bool = False
    """Whether a run-time value is refused for being one (L021)."""
    mend: str = ""
    code: str = "L100"
    words: tuple[Any, ...] = ()
    """All values, where they are few."""


def _is_scalar(value: Any) -> bool:
    return is_number(value) or (isinstance(value, Value) and isinstance(value.type, DType))


def _is_integer_scalar(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, Value) and isinstance(value.type, DType) and value.type.is_integer)


def is_numeric(value: Any) -> bool:
    """Whether arithmetic takes it."""
    return is_number(value) or (isinstance(value, Arithmetic) and not isinstance(getattr(value, "type", None), PointerType))


def _is_stored(value: Any) -> bool:
    return all(map(_is_scalar, value)) if isinstance(value, tuple | list) else is_numeric(value)


def _is_position(value: Any) -> bool:
    return all(map(_is_integer_scalar, value)) if isinstance(value, tuple | list) else _is_integer_scalar(value)


def _is_condition(value: Any) -> bool:
    if isinstance(value, Value):
        return isinstance(value.type, DType) and not value.type.is_float
    return isinstance(value, bool) or (isinstance(value, Arithmetic) and not value.dtype.is_float)  # type: ignore[attr-defined]


def _one_type(value: Any) -> bool:
    return isinstance(value, DType)


Integer = Annotated[Any, Kind("an integer (a number or a run-time one)", _is_integer_scalar)]
Scalar = Annotated[Any, Kind("a scalar (a number or a run-time value)", _is_scalar)]
Numeric = Annotated[Any, Kind("a number, run-time value, vector or register array", is_numeric)]
Stored = Annotated[
    Any,
    Kind("a scalar, vector, register array or tuple of scalars", _is_stored),
]
Position = Annotated[Any, Kind("an integer or a tuple of integers (numbers or run-time ones)", _is_position)]
Condition = Annotated[Any, Kind("a condition (bool)", _is_condition, mend="compare it: value > 0", code="L016")]


def between(low: int, high: int | None = None, multiple: int = 1) -> Kind:
    """Compile-time integers of a range."""

    def admits(value: Any) -> bool:
        return is_integer(value) and value >= low and (high is None or value <= high) and value % multiple == 0

    span = f"of {low} or more" if high is None else f"from {low} to {high}"
    step = f", a multiple of {multiple}" if multiple > 1 else ""
    return Kind(f"an integer {span}{step}", admits, constant=True, code="L102")


def whole(low: int, high: int | None = None) -> Kind:
    """Run-time integers, and numbers of a range."""
    span = between(low, high)

    def admits(value: Any) -> bool:
        return span.admits(int(value)) if isinstance(value, int) else _is_integer_scalar(value)

    return replace(span, expected=f"{span.expected}, or a run-time one", admits=admits, constant=False)


def one_of(*words: Any, code: str = "L101") -> Kind:
    """Some words or numbers."""
    return Kind(
        "one of " + ", ".join(_quoted(word) for word in words),
        lambda value: any(type(value) is type(word) and value == word for word in words),
        constant=True,
        code=code,
        words=words,
    )


def _quoted(word: Any) -> str:
    return f'"{word}"' if isinstance(word, str) else str(word)


_SIMPLE: dict[Any, Kind] = {
    int: Kind("an integer known at compile time", is_integer, constant=True),
    bool: Kind("True or False", lambda value: isinstance(value, bool), constant=True),
    str: Kind("a string", lambda value: isinstance(value, str), constant=True),
    float: Kind("a number known at compile time", is_number, constant=True),
    type(None): Kind("None", lambda value: value is None),
    Value: Kind("a run-time value", lambda value: isinstance(value, Value)),
    DType: Kind("a scalar type such as f32", _one_type, constant=True, mend="write the type itself: f32"),
    Vector: Kind("a vector", lambda value: isinstance(value, Vector)),
}


def kind_of(annotation: Any) -> Kind | None:
    """What a parameter with this annotation takes; None where it says nothing."""
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        kind: Kind = annotation.__metadata__[0]
        return kind
    if origin is Literal:
        return one_of(*typing.get_args(annotation))
    if origin in (typing.Union, types.UnionType):
        return _either(typing.get_args(annotation))
    words = getattr(annotation, "kind_in_words", None)
    return Kind(words, lambda value: isinstance(value, annotation)) if isinstance(words, str) else None


def _either(alternatives: Sequence[Any]) -> Kind | None:
    kinds = [kind_of(item) for item in alternatives]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    others = [kind for kind in known if kind.expected != "None"]
    chosen = others[0]
    return replace(
        chosen,
        expected=" or ".join(kind.expected for kind in [*others, *(kind for kind in known if kind not in others)]),
        admits=lambda value: any(kind.admits(value) for kind in known),
        constant=all(kind.constant for kind in others),
        code=chosen.code if len(others) == 1 else "L100",
    )


class Plan:
    """The kinds of one function's parameters, by position and by name."""

    __slots__ = ("by_name", "names", "positional", "rest", "rest_name")

    def __init__(self, function: Any) -> None:
        parameters = list(inspect.signature(function).parameters.values())
        if parameters and parameters[0].name == "self":
            del parameters[0]
        space = function.__globals__
        self.by_name: dict[str, Kind] = {}
        self.names: list[str] = []
        self.rest: Kind | None = None
        self.rest_name = ""
        for parameter in parameters:
            annotation = parameter.annotation
            kind = kind_of(eval(annotation, space) if isinstance(annotation, str) else annotation)
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.rest, self.rest_name = kind, parameter.name
                continue
            if kind is not None:
                self.by_name[parameter.name] = kind
            if parameter.kind is not parameter.KEYWORD_ONLY:
                self.names.append(parameter.name)
        self.positional = [self.by_name.get(name) for name in self.names]


_PLANS: dict[Any, Plan | None] = {}


def plan_of(function: Any) -> Plan | None:
    """The plan of a function or method of the language; None of anything else."""
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, types.FunctionType):
        if isinstance(function, type | types.BuiltinFunctionType):
            return None
        plain = type(function).__call__
    try:
        return _PLANS[plain]
    except KeyError:
        made = Plan(plain) if isinstance(plain, types.FunctionType) else None
        _PLANS[plain] = made
        return made


def check(trace: Trace, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> None:
    """Raises L100 to L102, or L021 for a run-time value where a constant is needed, at the first argument that its parameter does not take."""
    plan = plan_of(function)
    if plan is None:
        return
    for position, (value, kind) in enumerate(zip(arguments, plan.positional, strict=False)):
        if kind is not None and not kind.admits(value):
            _refuse(trace, function, plan.names[position], value, kind, trace.arguments[position][1])
    if plan.rest is not None:
        for position in range(len(plan.names), len(arguments)):
            if not plan.rest.admits(arguments[position]):
                _refuse(trace, function, plan.rest_name, arguments[position], plan.rest, trace.arguments[position][1])
    for position, (name, value) in enumerate(keywords.items(), len(arguments)):
        kind = plan.by_name.get(name)
        if kind is not None and not kind.admits(value):
            _refuse(trace, function, name, value, kind, trace.arguments[position][1])


def _refuse(trace: Trace, function: Any, argument: str, value: Any, kind: Kind, place: Location) -> NoReturn:
    called = callable_name(function)
    if kind.constant and (isinstance(value, Arithmetic) or getattr(type(value), "run_time", False)) and isinstance(value, Value | Vector):
        from fa4dsl.frontend.values import needs_constant_error

        error = needs_constant_error(value, f"`{argument}` of {called}")
        first = error.diagnostic
        raise Fa4dslError(replace(first, frames=(Frame(place), *first.frames[1:])))
    code = kind.code
    if code == "L102" and not is_integer(value):
        code = "L100"
    mend = kind.mend or f"pass {kind.expected}"
    if kind.words and isinstance(value, str):
        near = get_close_matches(value, [word for word in kind.words if isinstance(word, str)], 1)
        mend = f"did you mean {_quoted(near[0])}?" if near else mend
    given = describe(value)
    problem = f"{called} takes {kind.expected} as `{argument}`, not {given}"
    fields: dict[str, Any] = {
        "function": called,
        "argument": argument,
        "expected": kind.expected,
        "given": given,
        "mend": mend,
        "problem": problem,
    }
    raise named(trace.error(code, place, **fields), function, argument)


def callable_name(function: Any) -> str:
    """``atomic.add``, ``SharedArray.window``, ``shared``: how a function is called in a kernel."""
    if isinstance(function, DType):
        return function.name
    name = getattr(function, "__qualname__", None)
    if name is None:
        return type(function).__name__.lower()
    holder = getattr(function, "__self__", None)
    if holder is None or inspect.isclass(holder) or inspect.ismodule(holder):
        return str(name)
    import fa4dsl

    owner = next(item.__name__ for item in type(holder).__mro__ if not item.__name__.startswith("_"))
    return f"{owner.lower() if owner.lower() in fa4dsl.__all__ else owner}.{str(name).rpartition('.')[2]}"


def signature_of(function: Any) -> str:
    """``name(a, b=1)``: the function without its annotations."""
    parameters = inspect.signature(function).parameters.values()
    return f"{callable_name(function)}({', '.join(str(parameter.replace(annotation=parameter.empty)) for parameter in parameters)})"


def named(error: Fa4dslError, function: Any, argument: str) -> Fa4dslError:
    """The error, with a word on which argument it is about, unless it says so itself."""
    first: Diagnostic = error.diagnostic
    if f"`{argument}`" in first.message:
        return error
    note = f"this is `{argument}` of {signature_of(function)}"
    return Fa4dslError(replace(first, notes=(*first.notes, note)), *error.diagnostics[1:])


def explained(
    error: Fa4dslError, trace: Trace, function: Any, places: list[tuple[Any, Location]], arguments: int, keywords: dict[str, Any]
) -> Fa4dslError:
    """An error that a function of the language raised, with the name of the argument that its caret is under."""
    frames = error.diagnostic.frames
    if not frames:
        return error
    where = frames[0].location
    plan = plan_of(function)
    if plan is None:
        return error
    for position, (_, place) in enumerate(places[: arguments + len(keywords)]):
        if place.file == where.file and place.line == where.line and place.column <= where.column and where.end_column <= place.end_column:
            if position < arguments:
                name = plan.names[position] if position < len(plan.names) else plan.rest_name
            else:
                name = list(keywords)[position - arguments]
            return named(error, function, name) if name else error
    return error
