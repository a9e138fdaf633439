"""Programmatic dependent launch, clocks, traps, compile-time checks and the author's own PTX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fa4dsl.frontend.arguments import Kind, whole
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Arithmetic, Value, as_value, constant, describe, is_number
from fa4dsl.types import DType, PointerType, i32, i64


def launch_dependents() -> None:
    """Lets the grids that depend on this one start: griddepcontrol.launch_dependents. Says nothing about memory."""
    current().fa4("launch_dependents")


def wait_dependencies() -> None:
    """Waits until the grids that this one depends on have ended and their writes are visible: griddepcontrol.wait."""
    current().fa4("wait_dependencies")


def clock() -> Value:
    """The SM's cycle counter, i64: %clock64."""
    return Value(current().fa4("clock").result, i64)


def nanosleep(duration: Annotated[Any, whole(0, 1_000_000)]) -> None:
    """Sleeps about `duration` nanoseconds (at most a millisecond): nanosleep."""
    current().fa4("nanosleep", [(constant(duration, i32) if is_number(duration) else as_value(duration, i32)).ir])


def trap() -> None:
    """Aborts the kernel: trap."""
    current().fa4("trap")


def static_assert(condition: Any, message: str = "") -> None:
    """Stops compilation with `message` (L040) unless the compile-time condition holds. Raises L041 for a run-time one."""
    trace = current()
    if isinstance(condition, Arithmetic):
        trace.fail("L041", trace.place_of(condition), given=describe(condition))
    if not condition:
        trace.fail("L040", trace.place_of(condition), message=message or "static_assert")


_LETTERS = {"i1": "b", "i16": "h", "i32": "r", "i64": "l", "f16": "h", "bf16": "h", "f32": "f", "f64": "d"}


def _letter(dtype: Any, what: Any) -> str:
    if isinstance(dtype, PointerType):
        return "r" if dtype.space in ("shared", "cluster") else "l"
    if dtype.mlir not in _LETTERS or dtype.kind == "bool":
        current().fail("L089", current().place_of(what), given=dtype)
    return _LETTERS[dtype.mlir]


Operand = Annotated[
    Any, Kind("a scalar or a pointer", lambda value: isinstance(value, Value) or is_number(value), mend="pass vectors element by element")
]
Results = Annotated[
    DType | Sequence[DType],
    Kind(
        "a scalar type such as f32, or a tuple of them",
        lambda value: isinstance(value, DType) or (isinstance(value, tuple | list) and all(isinstance(item, DType) for item in value)),
        constant=True,
    ),
]


def inline_ptx(text: str, *operands: Operand, results: Results = (), pure: bool = False) -> Any:
    """The author's own PTX: ``inline_ptx("add.u32 $0, $1, $2;", a, b, results=u32)``.

    ``$0``, ``$1`` ... are the results, then the operands. `results`: a type, or several; one result is returned as a value, several as a
    tuple. `pure`: has no effect but its results, so it may be moved or dropped; otherwise it is kept in place and may touch memory.
    Raises L089 for an operand that no register class holds (bool, 8-bit).
    """
    trace = current()
    types = [results] if isinstance(results, DType) else list(results)
    values = [item if isinstance(item, Value) else as_value(item) for item in operands]
    letters = [f"={_letter(dtype, results)}" for dtype in types]
    letters += [_letter(value.type, item) for value, item in zip(values, operands, strict=True)]
    if not pure:
        letters.append("~{memory}")
    attributes = {"text": text, "constraints": ",".join(letters), "pure": pure}
    made = trace.fa4("inline_ptx", [value.ir for value in values], attributes, [dtype.mlir for dtype in types])
    found = tuple(Value(result, dtype) for result, dtype in zip(made.results, types, strict=True))
    return found[0] if isinstance(results, DType) else found
