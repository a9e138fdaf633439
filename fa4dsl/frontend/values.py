"""What a name holds at run time: one thread's scalar or vector.

A `Value` is an SSA value with a type that knows its signedness and with the place in the source where it came into being (for error
messages). A `Vector` is a short row of scalars of one type, as vector loads return it; it is kept packed or taken apart, whichever was
last needed. Arithmetic is in `arithmetic.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fa4dsl.frontend.trace import current
from fa4dsl.types import DType, PointerType, i32

if TYPE_CHECKING:
    from mlir import ir

    from fa4dsl.runtime.diagnostics import Fa4dslError, Location


class Arithmetic:
    """Python's operators, shared by scalars, vectors and register arrays."""

    __slots__ = ()

    def _binary(self, name: str, left: Any, right: Any) -> Any:
        from fa4dsl.frontend.arithmetic import binary

        return binary(name, left, right)

    def __add__(self, other: Any) -> Any:
        return self._binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary("/", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._binary("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._binary("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._binary("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._binary("%", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._binary("**", self, other)

    def __and__(self, other: Any) -> Any:
        return self._binary("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._binary("&", other, self)

    def __or__(self, other: Any) -> Any:
        return self._binary("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._binary("|", other, self)

    def __xor__(self, other: Any) -> Any:
        return self._binary("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._binary("^", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._binary("<<", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._binary("<<", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._binary(">>", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._binary(">>", other, self)

    def __lt__(self, other: Any) -> Any:
        return self._binary("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self._binary("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._binary(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._binary(">=", self, other)

    def __eq__(self, other: object) -> Any:
        return self._binary("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self._binary("!=", self, other)

    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        from fa4dsl.frontend.arithmetic import negate

        return negate(self)

    def __invert__(self) -> Any:
        from fa4dsl.frontend.arithmetic import invert

        return invert(self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        from fa4dsl.frontend.arithmetic import absolute

        return absolute(self)

    def __bool__(self) -> bool:
        needs_constant(self, "a Python truth value")

    def __index__(self) -> int:
        needs_constant(self, "a number that Python itself counts with, as in a comprehension or a list,")

    def to(self, dtype: DType) -> Any:
        """Converts to `dtype`: floats round to nearest even, float to integer goes towards zero, narrower integers keep the low bits."""
        from fa4dsl.frontend.convert import convert

        return convert(self, dtype)

    def bitcast(self, dtype: DType) -> Any:
        """The same bits as another type of the same size (vectors: of the same total size)."""
        from fa4dsl.frontend.convert import bitcast

        return bitcast(self, dtype)


class Value(Arithmetic):
    """One thread's scalar of type `type`."""

    __slots__ = ("ir", "nonnegative", "origin", "type")

    def __init__(self, value: ir.Value, dtype: DType | PointerType, origin: Location | None = None, nonnegative: bool = False) -> None:
        self.ir = value
        self.type = dtype
        self.origin = origin if origin is not None else current().location
        self.nonnegative = nonnegative
        """Known not to be below zero: divisions and remainders then need no correction towards minus infinity."""

    @property
    def dtype(self) -> DType:
        """The scalar type (of a pointer: of what it points to)."""
        return self.type.dtype if isinstance(self.type, PointerType) else self.type

    def __repr__(self) -> str:
        return f"a run-time {self.type}"


class Vector(Arithmetic):
    """A short row of scalars of one type: what a 4, 8 or 16-byte load returns. Indexing is by compile-time integers; it unpacks like a tuple."""

    __slots__ = ("_elements", "_packed", "dtype", "origin", "width")

    def __init__(
        self,
        dtype: DType,
        width: int,
        *,
        packed: ir.Value | None = None,
        elements: Sequence[Value] | None = None,
        origin: Location | None = None,
    ) -> None:
        self.dtype = dtype
        self.width = width
        self._packed = packed
        self._elements = None if elements is None else list(elements)
        self.origin = origin if origin is not None else current().location

    @property
    def type(self) -> str:
        return f"{self.dtype}x{self.width}"

    @property
    def elements(self) -> list[Value]:
        """The scalars."""
        if self._elements is None:
            trace = current()
            assert self._packed is not None
            self._elements = []
            with trace.right_after(self._packed):  # so that every later block may use them
                for position in range(self.width):
                    attributes = {"static_position": trace.attribute(f"array<i64: {position}>")}
                    taken = trace.create("vector.extract", [self._packed], [self.dtype.mlir], attributes)
                    self._elements.append(Value(taken.result, self.dtype, self.origin))
        return self._elements

    @property
    def packed(self) -> ir.Value:
        """The MLIR vector."""
        if self._packed is None:
            trace = current()
            assert self._elements is not None
            made = trace.create("vector.from_elements", [element.ir for element in self._elements], [self.mlir])
            # The value may be defined in an inner block, so it is not kept for later uses outside.
            return made.result
        return self._packed

    @property
    def mlir(self) -> str:
        return f"vector<{self.width}x{self.dtype.mlir}>"

    def __len__(self) -> int:
        return self.width

    def __iter__(self) -> Iterator[Value]:
        return iter(list(self.elements))

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            picked = self.elements[position]
            return Vector(self.dtype, len(picked), elements=picked)
        return self.elements[static_position(position, self.width)]

    def __repr__(self) -> str:
        return f"a run-time vector {self.type}"


def static_position(position: Any, length: int) -> int:
    """A compile-time index into something of `length` elements. Raises L021 for run-time indices and L022 outside."""
    if not isinstance(position, int):
        raise needs_constant_error(position, "the index of a vector or register array (registers have no addresses)")
    if not -length <= position < length:
        current().fail("L022", current().place_of(position), index=position, length=length)
    return position % length


def needs_constant(value: Any, what: str) -> NoReturn:
    """Raises L021: `value` is known at run time only, where `what` is needed."""
    raise needs_constant_error(value, what)


def needs_constant_error(value: Any, what: str) -> Fa4dslError:
    """The error that `needs_constant` raises."""
    trace = current()
    from fa4dsl.runtime.diagnostics import Frame

    origin = getattr(value, "origin", None)
    places: list[Any] = [trace.place_of(value)]
    if origin is not None and origin != places[0]:
        places.append(Frame(origin, "its value comes from here"))
    return trace.error("L021", *places, needed=what, given=describe(value))


def constant(number: float | bool, dtype: DType, nonnegative: bool | None = None) -> Value:
    """A number as a run-time value of `dtype`. Raises L012 where it does not fit."""
    trace = current()
    if dtype.kind == "bool":
        attribute = trace.ir.IntegerAttr.get(trace.type("i1"), int(bool(number)))
    elif dtype.is_integer:
        if isinstance(number, float) and not number.is_integer():
            trace.fail("L012", trace.place_of(number), number=number, dtype=dtype, range="it has a fraction")
        number = int(number)
        low, high = dtype.limits()
        if not low <= number <= high:
            trace.fail("L012", trace.place_of(number), number=number, dtype=dtype, range=f"it holds {low} to {high}")
        wrapped = number - (1 << dtype.bits) if number >= 1 << (dtype.bits - 1) else number
        attribute = trace.ir.IntegerAttr.get(trace.type(dtype.mlir), wrapped)
    elif dtype.bits == 8:
        attribute = trace.ir.IntegerAttr.get(trace.type("i8"), _float8_bits(float(number), dtype))
    else:
        attribute = trace.ir.FloatAttr.get(trace.type(dtype.mlir), float(number))
    return Value(trace.constant(attribute, dtype.mlir), dtype, nonnegative=dtype.is_integer and number >= 0)


def _float8_bits(number: float, dtype: DType) -> int:
    import ml_dtypes
    import numpy

    bits = numpy.array(number, {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[dtype.name]).view(numpy.int8)
    return int(bits)


def is_number(value: Any) -> bool:
    """Whether `value` is a Python number (or truth value)."""
    return isinstance(value, int | float)


def is_integer(value: Any) -> bool:
    """Whether `value` is a Python integer; a truth value is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def default_type(number: Any) -> DType:
    """The type a Python number takes where nothing else decides: i32 (i64 where it does not fit), f32, bool."""
    from fa4dsl.types import bool_, f32, i64

    if isinstance(number, bool):
        return bool_
    if isinstance(number, int):
        return i32 if -(1 << 31) <= number < 1 << 31 else i64
    return f32


def as_value(value: Any, dtype: DType | None = None) -> Value:
    """`value` as a scalar of `dtype` (no narrowing): numbers become constants. Raises L010 or L011 where that cannot be."""
    if is_number(value):
        number_type = dtype or default_type(value)
        if isinstance(value, float) and number_type.is_integer:
            current().fail("L011", current().place_of(value), expected=number_type, given=describe(value))
        return constant(value, number_type)
    if isinstance(value, Value):
        if dtype is None or value.type == dtype:
            return value
        from fa4dsl.frontend.arithmetic import widen

        widened = widen(value, dtype)
        if widened is not None:
            return widened
        current().fail("L011", current().place_of(value), expected=dtype, given=value.type)
    raise current().error("L011", current().place_of(value), expected=dtype or "a scalar", given=describe(value))


def describe(value: Any) -> str:
    """A value in words, for messages."""
    if isinstance(value, Value):
        return f"a run-time {value.type}"
    if isinstance(value, Vector):
        return f"a run-time vector of {value.width} {value.dtype}"
    if is_number(value) or isinstance(value, str):
        return f"{type(value).__name__} {value!r}"
    if value is None:
        return "None"
    if isinstance(value, tuple | list) and 0 < len(value) <= 5:
        return f"the {type(value).__name__} ({', '.join(map(describe, value))})"
    words = getattr(value, "in_words", None)
    if isinstance(words, str):
        return words
    name = getattr(value, "__name__", None) or getattr(value, "name", "")
    for kind, what in _OTHERS.items():
        if kind in (item.__name__ for item in type(value).__mro__):
            return f"{what} {name}"
    module = str(getattr(value, "__module__", "") or "")
    if callable(value) and inspect.isroutine(value):
        return f"the language's function {name}" if module.startswith("fa4dsl.language") else f"the Python function {name}"
    if module.startswith("fa4dsl.language"):
        return f"the language's `{type(value).__name__.lower()}`"
    return f"{'an' if type(value).__name__[0] in 'aeiouAEIOU' else 'a'} {type(value).__name__}"


_OTHERS = {
    "DType": "the type",
    "PointerType": "the type",
    "type": "the class",
    "Kernel": "the kernel",
    "BoundKernel": "the kernel",
    "DeviceFunction": "the device function",
    "module": "the module",
}
"""What some objects that are no values are called, by their class (the modules that define them import this one)."""
