"""Register arrays: fixed arrays of one thread's scalars, indexed at compile time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from fa4dsl.frontend.arguments import Scalar
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Arithmetic, Value, Vector, as_value, constant, describe, is_integer, is_number, static_position
from fa4dsl.types import DType


class RegisterArray(Arithmetic):
    """``registers(f32, (2, 4))``: one thread's array of scalars that lives in registers.

    Indices are compile-time integers (registers have no addresses); leaving off trailing ones gives a row, as a vector, and a row may be
    assigned as a whole. Arithmetic works element by element; ``+=`` and its like change the array in place. Run-time loops carry it.
    """

    __slots__ = ("dtype", "elements", "shape", "state_name")
    kind_in_words = "a register array"

    def __init__(self, dtype: DType, shape: tuple[int, ...], elements: list[Any], name: str = "") -> None:
        self.dtype = dtype
        self.shape = shape
        self.elements = elements
        self.state_name = f"the register array {name!r}" if name else "a register array"
        current().stateful.append(self)

    @property
    def in_words(self) -> str:
        return f"a register array of {self.dtype} {list(self.shape)}"

    @property
    def width(self) -> int:
        return prod(self.shape)

    def state(self) -> list[Any]:
        return self.elements

    def set_state(self, values: list[Any]) -> None:
        self.elements = values

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[position] for position in range(len(self))])

    def _range(self, index: Any) -> tuple[int, int]:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) > len(self.shape):
            current().fail("L023", name=self.in_words, given=len(indices), rank=len(self.shape))
        start, size = 0, prod(self.shape)
        for position, length in zip(indices, self.shape, strict=False):
            size //= length
            start += static_position(position, length) * size
        return start, size

    def _row(self, start: int, size: int) -> Vector:
        return Vector(self.dtype, size, elements=self.elements[start : start + size])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if len(self.shape) != 1:
                current().fail("L023", name=self.in_words, given=1, rank=len(self.shape))
            taken = self.elements[index]
            return Vector(self.dtype, len(taken), elements=taken)
        start, size = self._range(index)
        scalar = len(index if isinstance(index, tuple) else (index,)) == len(self.shape)
        return self.elements[start] if scalar else self._row(start, size)

    def __setitem__(self, index: Any, value: Any) -> None:
        start, size = self._range(index)
        if isinstance(value, Vector | RegisterArray | tuple | list):
            items = list(value)
            if len(items) != size:
                current().fail("L013", widths=f"{size} and {len(items)}")
        else:
            items = [value] * size
        self.elements = list(self.elements)
        self.elements[start : start + size] = [as_value(item, self.dtype) for item in items]

    def combine(self, function: Callable[..., Any], operands: tuple[Any, ...]) -> RegisterArray:
        """A new array: `function` of the operands, element by element; scalars go to every element."""
        rows = []
        for operand in operands:
            if isinstance(operand, RegisterArray):
                if operand.shape != self.shape:
                    current().fail("L013", widths=f"{list(self.shape)} and {list(operand.shape)}")
                rows.append(operand.elements)
            elif isinstance(operand, Vector):
                if operand.width != self.width:
                    current().fail("L013", widths=f"{self.width} and {operand.width}")
                rows.append(operand.elements)
            else:
                rows.append([operand] * self.width)
        elements = [function(*items) for items in zip(*rows, strict=True)]
        return RegisterArray(elements[0].type, self.shape, elements)

    def _in_place(self, name: str, other: Any) -> RegisterArray:
        result = self._binary(name, self, other)
        self.elements = [as_value(item, self.dtype) for item in result.elements]
        return self

    def __iadd__(self, other: Any) -> RegisterArray:
        return self._in_place("+", other)

    def __isub__(self, other: Any) -> RegisterArray:
        return self._in_place("-", other)

    def __imul__(self, other: Any) -> RegisterArray:
        return self._in_place("*", other)

    def __itruediv__(self, other: Any) -> RegisterArray:
        return self._in_place("/", other)

    def fill(self, value: Scalar) -> None:
        """Sets every element."""
        item = as_value(value, self.dtype)
        self.elements = [item] * self.width

    def reshape(self, *shape: int) -> RegisterArray:
        """An array of its own with the same values in another shape (row-major). Raises L073 where the sizes differ."""
        check_sizes(shape)
        if prod(shape) != self.width:
            current().fail("L073", name=self.in_words, given=list(shape), shape=list(self.shape))
        return RegisterArray(self.dtype, tuple(shape), list(self.elements))

    def copy(self) -> RegisterArray:
        """An array of its own with the same values."""
        return RegisterArray(self.dtype, self.shape, list(self.elements))


LARGEST = 1 << 16
"""Elements of a register array; a thread has 255 registers, so this is far beyond what could be meant."""


def check_sizes(shape: tuple[Any, ...]) -> None:
    """Raises L024 for a new shape (sizes, or one tuple of them) that is not made of positive compile-time integers."""
    trace = current()
    for size in shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape:
        if not is_integer(size) or size < 1:
            trace.fail("L024", trace.place_of(size), shape=describe(size))


def registers(dtype: DType, shape: int | tuple[int, ...], fill: Scalar = 0, name: str = "") -> RegisterArray:
    """A register array of `shape`, every element `fill` (a number or a run-time scalar).

    Raises L024 for a shape that is not made of positive compile-time integers.
    """
    trace = current()
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if not sizes or not all(is_integer(size) and size > 0 for size in sizes):
        trace.fail("L024", trace.place_of(shape), shape=describe(shape) if not isinstance(shape, tuple) else [describe(s) for s in shape])
    if prod(sizes) > LARGEST:
        expected = f"at most {LARGEST} elements"
        mend = "keep large arrays in shared memory"
        trace.fail("L102", trace.place_of(shape), function="registers", argument="shape", expected=expected, given=prod(sizes), mend=mend)
    item = constant(fill, dtype) if is_number(fill) else as_value(fill, dtype)
    return RegisterArray(dtype, tuple(sizes), [item] * prod(sizes), name)


def vector(*items: Scalar, dtype: DType | None = None) -> Vector:
    """A vector of the given scalars (of one type, or converted by the rules of literals)."""
    found = next((item.dtype for item in items if isinstance(item, Value)), None)
    chosen = dtype or found
    elements = [as_value(item, chosen) for item in items]
    return Vector(elements[0].dtype, len(elements), elements=elements)


__all__ = ["RegisterArray", "registers", "vector"]
