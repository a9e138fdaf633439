"""Printing from a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, constant, describe, is_number
from fa4dsl.runtime.printf_format import FLOATS, INTEGERS, MOST_ARGUMENTS, Conversion, Malformed, convert_text, parse_format
from fa4dsl.types import DType, PointerType, f32, f64, i32, i64, u32, u64

MOST_VALUES = 24
"""What the dialect's operation takes; vprintf itself takes `MOST_ARGUMENTS`."""
assert MOST_VALUES <= MOST_ARGUMENTS


def device_print(*values: Any) -> None:
    """Prints from every thread that executes it: ``device_print("row %d of %d: %f\\n", row, rows, x)`` or ``device_print("x =", x, y)``.

    Where the first argument is a string with ``%`` in it, or the only one, it is a format as of C's printf, printed as it stands: a line
    ends where it says ``\\n``. Conversions are d i u x X o c for integers, f e g a (and capitals) for floats, p for pointers, s for
    compile-time strings, with C's flags, width (``*`` too) and precision. They fit themselves to the types of the values: ``%d`` prints an i64 as
    well as an i8, ``%f`` a bf16; ``%u`` is for unsigned ones. Otherwise the arguments are printed with spaces between them and a newline: integers as
    ``%d`` or ``%u``, floats as ``%g``, pointers as ``%p``, vectors and register arrays element by element.

    At most 24 run-time values. Raises L110 for a format that is none, and for arguments that do not fit it. Becomes a call of vprintf with the format in
    global memory and the values in local memory. A GPU's driver prints when the host synchronises, from a buffer of 1 MB that keeps the latest
    output; the simulator when the kernel has ended, and the launch's ``printed`` has it too.
    """
    first = values[0] if values else ""
    if isinstance(first, str) and ("%" in first or len(values) <= 1) and values:
        text, operands = _formatted(first, list(values[1:]))
    else:
        text, operands = _listed(values)
    if "\0" in text:
        _wrong("a printed text cannot hold a zero character", "leave it out", first)
    if len(operands) > MOST_VALUES:
        _wrong(f"{len(operands)} values; a print takes at most {MOST_VALUES}", "print in several calls", values[MOST_VALUES])
    current().fa4("device_print", [operand.ir for operand in operands], {"format": text})


def _wrong(what: str, how: str, at: Any = None) -> NoReturn:
    trace = current()
    trace.fail("L110", trace.place_of(at), what=what, how=how)


def _formatted(form: str, values: list[Any]) -> tuple[str, list[Value]]:
    """The format as vprintf gets it, with the sizes that fit the values and compile-time strings filled in, and the run-time values."""
    pieces = parse_format(form.encode())
    wanted = sum(1 + (piece.width == -1) for piece in pieces if isinstance(piece, Conversion))
    for piece in pieces:
        if isinstance(piece, Malformed):
            _wrong(
                f"a % of the format {form!r} begins no conversion", "write %% for a percent sign, or a conversion such as %d or %f", form
            )
    if wanted != len(values):
        _wrong(
            f"the format {form!r} takes {wanted} value{'s' * (wanted != 1)}, {len(values)} {'is' if len(values) == 1 else 'are'} given",
            "give one value for each conversion",
            values[wanted] if len(values) > wanted else form,
        )
    parts: list[str] = []
    operands: list[Value] = []
    rest = iter(values)
    for piece in pieces:
        if isinstance(piece, Conversion):
            parts.append(_converted(piece, rest, operands))
        elif isinstance(piece, bytes):
            parts.append(piece.decode().replace("%", "%%"))
    return "".join(parts), operands


def _converted(conversion: Conversion, values: Iterable[Any], operands: list[Value]) -> str:
    """One conversion with the size of its value, which goes to `operands`."""
    rest = iter(values)
    width = ""
    if conversion.width == -1:
        size = next(rest)
        if not (isinstance(size, int) or (isinstance(size, Value) and _is_integer(size) and size.dtype.bits <= 32)):
            _wrong(f"the width * of {_shown(conversion)} is {describe(size)}", "give an integer of 32 bits", size)
        operands.append(_integer(size, i32))
        width = "*"
    elif conversion.width is not None:
        width = str(conversion.width)
    precision = "" if conversion.precision is None else f".{conversion.precision}"
    value = next(rest)
    if conversion.type == "s":
        if not isinstance(value, str):
            _wrong(f"%s prints compile-time strings, not {describe(value)}", f"print it with {_fitting(value)}", value)
        if width == "*":
            _wrong("%*s has a run-time width, but its string is filled in at compile time", "give the width in the format", value)
        return convert_text(conversion, value.encode(), conversion.width or 0).decode("utf-8", "replace").replace("%", "%%")
    operand, size = _operand(conversion, value)
    operands.append(operand)
    return f"%{conversion.flags}{width}{precision}{size}{conversion.type}"


def _shown(conversion: Conversion) -> str:
    return conversion.text.decode()


def _is_integer(value: Value) -> bool:
    return not isinstance(value.type, PointerType) and (value.type.is_integer or value.type.kind == "bool")


def _fitting(value: Any) -> str:
    """The conversion that prints a value."""
    if isinstance(value, Value):
        return "%p" if isinstance(value.type, PointerType) else "%u" if value.type.kind == "uint" else "%d" if _is_integer(value) else "%f"
    if isinstance(value, str):
        return "%s"
    if isinstance(value, float):
        return "%f"
    return "%d"


def _operand(conversion: Conversion, value: Any) -> tuple[Value, str]:
    """The value as vprintf takes it, and the conversion's size."""
    kind, shown = conversion.type, _shown(conversion)
    if not (isinstance(value, Value) or is_number(value)):
        words = (
            "print its elements one by one, or without a format"
            if isinstance(value, Vector) or hasattr(value, "combine")
            else "print a scalar"
        )
        _wrong(f"{shown} cannot print {describe(value)}", f"use {_fitting(value)}" if isinstance(value, str) else words, value)
    pointer = isinstance(value, Value) and isinstance(value.type, PointerType)
    integer = _is_integer(value) if isinstance(value, Value) else isinstance(value, int)
    if kind in FLOATS:
        if (integer and isinstance(value, Value)) or pointer:
            _wrong(f"{shown} prints floats, not {describe(value)}", f"use {_fitting(value)}, or convert it: f32(...)", value)
        return _float(value), ""
    if kind == "p":
        if not pointer:
            _wrong(f"%p prints pointers, not {describe(value)}", f"use {_fitting(value)}", value)
        return _pointer(value), ""
    assert kind in INTEGERS
    if not integer or pointer:
        _wrong(f"{shown} prints integers, not {describe(value)}", f"use {_fitting(value)}", value)
    dtype = value.type if isinstance(value, Value) else _type_of(value)
    assert isinstance(dtype, DType)
    signed, bits = dtype.kind == "int", dtype.bits
    if kind == "u" and signed and not (isinstance(value, int) and value >= 0):
        _wrong(f"%u prints unsigned integers, not {describe(value)}", "use %d, or convert it: u32(...)", value)
    if kind in "di" and not signed and bits == 64:
        _wrong(f"{shown} prints signed integers, and {describe(value)} may be larger than any", "use %u", value)
    if bits == 64 and (conversion.size in ("h", "hh") or kind == "c"):
        _wrong(f"{shown} prints fewer bits than {describe(value)} has", "leave out the h, or convert it: i32(...)", value)
    if bits == 64:
        return _integer(value, i64), "ll"
    if kind in "di" and not signed and bits == 32:
        return _integer(value, i64), "ll"
    size = conversion.size if conversion.size in ("h", "hh") else ""
    if kind in "xXo" and not size:
        size = {8: "hh", 16: "h"}.get(bits, "")
    return _integer(value, i32), size


def _type_of(number: int) -> DType:
    """The smallest of i32, u32, i64 and u64 that holds a number."""
    for dtype in (i32, u32, i64, u64):
        low, high = dtype.limits()
        if low <= number <= high:
            return dtype
    _wrong(f"the number {number} has more than 64 bits", "print it in parts", number)


def _integer(value: Any, dtype: DType) -> Value:
    """An integer in 32 or 64 bits, extended by its own sign."""
    from fa4dsl.frontend.convert import convert

    if isinstance(value, Value):
        converted = convert(value, dtype)
        assert isinstance(converted, Value)
        return converted
    low, high = dtype.limits()
    return constant(int(value) if low <= value <= high else int(value) - (1 << dtype.bits), dtype)


def _float(value: Any) -> Value:
    from fa4dsl.frontend.convert import convert

    if is_number(value):
        return constant(float(value), f64)
    wide = convert(convert(value, f32) if value.dtype.bits < 32 else value, f64)
    assert isinstance(wide, Value)
    return wide


def _pointer(value: Value) -> Value:
    assert isinstance(value.type, PointerType)
    generic = PointerType(value.type.dtype, "generic")
    if value.type.space == "generic":
        return value
    return Value(current().create("llvm.addrspacecast", [value.ir], [generic.mlir]).result, generic)


def _listed(values: Iterable[Any]) -> tuple[str, list[Value]]:
    """Values with spaces between them."""
    parts: list[str] = []
    operands: list[Value] = []
    for value in _flat(values):
        if isinstance(value, str):
            parts.append(value.replace("%", "%%"))
            continue
        form = {"%f": "%g"}.get(_fitting(value), _fitting(value))
        if is_number(value) and not isinstance(value, float) and _type_of(value) == u64:
            form = "%u"
        (conversion,) = (piece for piece in parse_format(form.encode()) if isinstance(piece, Conversion))
        parts.append(_converted(conversion, [value], operands))
    return " ".join(parts) + "\n", operands


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    """Vectors, register arrays and tuples taken apart."""
    from fa4dsl.language.registers import RegisterArray

    for value in values:
        if isinstance(value, RegisterArray):
            yield from _flat(value.elements)
        elif isinstance(value, Vector | tuple | list):
            yield from _flat(value)
        else:
            yield value
