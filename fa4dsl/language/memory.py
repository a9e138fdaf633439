"""Global memory: pointers, loads and stores of scalars and vectors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fa4dsl.frontend.arguments import Integer, Kind, Stored
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, as_value, describe, is_integer, is_number
from fa4dsl.language.registers import RegisterArray
from fa4dsl.runtime.diagnostics import Location
from fa4dsl.types import DType, PointerType, i32, i64

LoadOrder = Literal["weak", "relaxed", "acquire", "volatile"]
StoreOrder = Literal["weak", "relaxed", "release", "volatile"]
LoadCache = Literal["nc", "ca", "cg", "cs", "lu", "cv"]
StoreCache = Literal["wb", "cg", "cs", "wt"]
Scope = Literal["cta", "cluster", "gpu", "sys"]
LOADS = (1, 2, 4, 8, 16)
"""Bytes that one load or store instruction moves."""


class PointerValue(Value):
    """A pointer: ``p[i]`` is element i, ``p + n`` points n elements on."""

    __slots__ = ()
    kind_in_words = "a pointer"
    __iter__ = None
    """Python would otherwise take elements until an index is out of range, which never comes."""

    def offset(self, elements: Integer) -> PointerValue:
        """A pointer `elements` further on."""
        trace = current()
        if is_number(elements):
            elements = as_value(elements, i32 if -(1 << 31) <= elements < 1 << 31 else i64)
        if not isinstance(elements, Value) or not elements.dtype.is_integer:
            trace.fail("L011", trace.place_of(elements), expected="an integer", given=describe(elements))
        index = elements if elements.dtype.bits >= 32 else as_value(elements.to(i32))
        if index.dtype.kind == "uint" and index.dtype.bits == 32:
            index = index.to(i64)
        attributes = {
            "rawConstantIndices": trace.attribute("array<i32: -2147483648>"),
            "elem_type": trace.ir.TypeAttr.get(trace.type(self.dtype.mlir)),
        }
        made = trace.create("llvm.getelementptr", [self.ir, index.ir], [self.type.mlir], attributes)
        assert isinstance(self.type, PointerType)
        return PointerValue(made.result, self.type)

    def load(
        self,
        index: Integer = 0,
        width: int = 1,
        *,
        order: LoadOrder = "weak",
        scope: Scope | None = None,
        cache: LoadCache | None = None,
    ) -> Any:
        """Element `index`, or a vector of `width` elements from there on (16 bytes at most, naturally aligned).

        A weak load without a cache hint is plain ld; `order` and `scope` make it ld.acquire.gpu and the like; `cache` is a hint such as
        "nc" (read-only data), "cg" (not in L1) or "cs" (read once). Raises L060 for a width that no instruction loads, L103 for an order and
        a hint together.
        """
        return read(self.offset(index) if not (is_number(index) and index == 0) else self, width, order, scope, cache)

    def store(
        self, index: Integer, value: Stored, *, order: StoreOrder = "weak", scope: Scope | None = None, cache: StoreCache | None = None
    ) -> None:
        """Stores a scalar, vector or tuple of scalars at element `index` on."""
        write(self.offset(index) if not (is_number(index) and index == 0) else self, value, order, scope, cache)

    def __getitem__(self, index: Any) -> Any:
        self._check_index(index)
        return self.load(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_index(index)
        self.store(index, value)

    def _check_index(self, index: Any) -> None:
        """Raises L023 for several indices, L075 for a slice: a pointer knows no shape."""
        trace = current()
        if isinstance(index, tuple):
            trace.fail("L023", trace.place_of(index), name=describe(self), given=len(index), rank=1)
        if isinstance(index, slice):
            trace.fail("L075", trace.place_of(index), name=describe(self), given="a slice")


GlobalPointer = Annotated[
    PointerValue,
    Kind(
        "a pointer to global memory",
        lambda value: isinstance(value, PointerValue) and value.type == PointerType(value.dtype),
        mend="pass a Pointer parameter, or one moved on: x + i is the address of element i, x[i] its value",
    ),
]


def check_width(dtype: DType, width: Any) -> int:
    """Bytes of a vector access. Raises L060 where no instruction moves that many."""
    trace = current()
    if not is_integer(width) or width < 1 or width * dtype.bytes not in LOADS:
        legal = ", ".join(str(size // dtype.bytes) for size in LOADS if size >= dtype.bytes)
        trace.fail("L060", trace.place_of(width), dtype=dtype, width=describe(width) if not is_integer(width) else width, legal=legal)
    return int(width) * dtype.bytes


def read(pointer: Value, width: int, order: str = "weak", scope: str | None = None, cache: str | None = None) -> Any:
    """A load of `width` elements through a pointer of any space."""
    trace = current()
    dtype = pointer.dtype
    size = check_width(dtype, width)
    mlir = dtype.mlir if width == 1 else f"vector<{width}x{dtype.mlir}>"
    if dtype.kind == "bool":
        trace.fail("L061", dtype=dtype)
    if order == "weak" and cache is None:
        alignment = trace.ir.IntegerAttr.get(trace.type("i64"), size)
        result = trace.create("llvm.load", [pointer.ir], [mlir], {"alignment": alignment}).result
    else:
        _go_together("a load", pointer, order, scope, cache)
        attributes = {"order": order, "scope": scope or _default_scope(order), "cache": cache}
        result = trace.fa4("load", [pointer.ir], attributes, [mlir]).result
    return Value(result, dtype) if width == 1 else Vector(dtype, width, packed=result)


def _go_together(what: str, pointer: Value, order: str, scope: str | None, cache: str | None) -> None:
    """Raises L103 for an order, scope and cache hint that no instruction has together."""
    trace = current()
    if cache is not None and order != "weak":
        trace.fail("L103", trace.place_of(cache), problem=f'{what} of order "{order}" takes no cache hint', mend="leave cache out")
    if scope is not None and order in ("weak", "volatile"):
        mend = 'leave scope out, or write order="relaxed"'
        trace.fail("L103", trace.place_of(scope), problem=f'{what} of order "{order}" has no scope', mend=mend)
    if cache == "nc" and pointer.type != PointerType(pointer.dtype):
        trace.fail("L103", trace.place_of(cache), problem='cache="nc" reads global memory only', mend="leave cache out")


def _default_scope(order: str) -> str | None:
    return None if order in ("weak", "volatile") else "gpu"


def write(pointer: Value, value: Any, order: str = "weak", scope: str | None = None, cache: str | None = None) -> None:
    """A store through a pointer of any space."""
    trace = current()
    dtype = pointer.dtype
    if isinstance(value, RegisterArray):
        value = Vector(value.dtype, value.width, elements=value.elements)
    if isinstance(value, tuple | list):
        items = [as_value(item, dtype) for item in value]
        value = Vector(dtype, len(items), elements=items)
    if isinstance(value, Vector):
        if value.dtype != dtype:
            trace.fail("L062", trace.place_of(value), given=value.dtype, expected=dtype)
        size, stored = check_width(dtype, value.width), value.packed
    else:
        if isinstance(value, Value) and value.type != dtype and value.dtype.is_float != dtype.is_float:
            trace.fail("L062", trace.place_of(value), given=value.type, expected=dtype)
        scalar = as_value(value, dtype)
        size, stored = dtype.bytes, scalar.ir
    if order == "weak" and cache is None:
        alignment = trace.ir.IntegerAttr.get(trace.type("i64"), size)
        trace.create("llvm.store", [stored, pointer.ir], attributes={"alignment": alignment})
    else:
        _go_together("a store", pointer, order, scope, cache)
        attributes = {"order": order, "scope": scope or _default_scope(order), "cache": cache}
        trace.fa4("store", [stored, pointer.ir], attributes)


def pointer_parameter(value: Any, dtype: PointerType, place: Location) -> PointerValue:
    """A kernel's pointer parameter."""
    return PointerValue(value, dtype, place)
