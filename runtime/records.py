"""Dataclasses from JSON, strictly: every field checked, nothing unknown accepted, the place of a fault named.

The reader builds plain dataclasses from their annotations and knows only the shapes that records on disk need: str, int, float, bool, None,
`Literal`, `X | None`, `tuple[X, ...]`, `tuple[X, Y, Z]`, `dict[str, X]`, `dict[int, X]`, nested dataclasses and, as `Any`, plain JSON.
"""

from __future__ import annotations

import json
import types
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class RecordError(ValueError):
    """What is wrong (`problem`) at which field (`where`, such as "parameters[2].dtype"). Callers turn it into their own code."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where or 'the record'}: {problem}")
        self.where = where or "the record"
        self.problem = problem


def parse_json(text: str) -> Any:
    """JSON without duplicate keys and without NaN or infinities; any fault, also nesting too deep, is a `RecordError`."""

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise RecordError("", "a key stands twice in one object")
        return found

    def no_constant(text: str) -> Any:
        raise RecordError("", f"{text} is not a JSON number")

    try:
        return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except RecordError:
        raise
    except RecursionError:
        raise RecordError("", "nested too deeply") from None
    except ValueError as error:
        raise RecordError("", str(error)) from None


_hints_of: dict[type, dict[str, Any]] = {}


def _hints(record: type) -> dict[str, Any]:
    found = _hints_of.get(record)
    if found is None:
        found = _hints_of[record] = get_type_hints(record)
    return found


def read_record(record: type[T], value: Any, where: str = "") -> T:
    """An instance of the dataclass `record` from a JSON object. Raises `RecordError`."""
    if not isinstance(value, dict):
        raise RecordError(where, f"expected an object, got {_shown(value)}")
    hints = _hints(record)
    known = {field.name: field for field in fields(record) if field.init}  # type: ignore[arg-type]
    for key in value:
        if key not in known:
            raise RecordError(_join(where, str(key)[:80]), "unknown field")
    arguments: dict[str, Any] = {}
    for name, field in known.items():
        if name in value:
            arguments[name] = _read(hints[name], value[name], _join(where, name))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise RecordError(_join(where, name), "missing")
    return record(**arguments)


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _read(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin is Literal:
        if not any(value == option and type(value) is type(option) for option in get_args(hint)):
            raise RecordError(where, f"expected one of {', '.join(map(repr, get_args(hint)))}, got {_shown(value)}")
        return value
    if origin in (Union, types.UnionType):
        options = get_args(hint)
        if value is None and type(None) in options:
            return None
        (option,) = (option for option in options if option is not type(None))
        return _read(option, value, where)
    if origin is tuple:
        return _read_tuple(get_args(hint), value, where)
    if origin is dict:
        return _read_dict(get_args(hint), value, where)
    if is_dataclass(hint) and isinstance(hint, type):
        return read_record(hint, value, where)
    return _read_plain(hint, value, where)


def _read_plain(hint: Any, value: Any, where: str) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        words = {str: "text", int: "an integer", bool: "true or false", float: "a number"}
        raise RecordError(where, f"expected {words.get(hint, hint)}, got {_shown(value)}")
    if hint is int and not -(1 << 63) <= value < 1 << 64:
        raise RecordError(where, "the integer does not fit 64 bits")
    if hint is str and "\0" in value:
        raise RecordError(where, "the text holds a NUL")
    return value


def _read_tuple(hints: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise RecordError(where, f"expected a list, got {_shown(value)}")
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(_read(hints[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if len(value) != len(hints):
        raise RecordError(where, f"expected {len(hints)} entries, got {len(value)}")
    return tuple(_read(hint, item, f"{where}[{index}]") for index, (hint, item) in enumerate(zip(hints, value, strict=True)))


def _read_dict(hints: tuple[Any, ...], value: Any, where: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise RecordError(where, f"expected an object, got {_shown(value)}")
    key_hint, value_hint = hints
    found: dict[Any, Any] = {}
    for key, item in value.items():
        name: Any = key
        if key_hint is int:
            # JSON has text keys only; a number goes out as its decimal text and must come back as exactly that.
            digits = key.removeprefix("-")
            if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20 and str(int(key)) == key):
                raise RecordError(_join(where, key[:80]), "expected an integer as the key")
            name = int(key)
        found[name] = _read(value_hint, item, _join(where, str(key)[:80]))
    return found
