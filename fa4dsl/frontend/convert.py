"""Explicit conversions and bit casts of scalars and vectors."""

from __future__ import annotations

from typing import Any

from fa4dsl.frontend.arithmetic import compare, elementwise
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, constant, describe, is_number
from fa4dsl.types import DType, PointerType, bool_, f16, f32, i16


def convert(value: Any, dtype: DType) -> Any:
    """`value` as `dtype`. A Python number becomes a constant; floats round to nearest even; float to integer goes towards zero."""
    from fa4dsl.language.registers import RegisterArray

    if is_number(value):
        return constant(value, dtype)
    if isinstance(value, RegisterArray):
        return value.combine(lambda x: convert(x, dtype), (value,))
    if isinstance(value, Vector):
        return _vector(value, dtype)
    if isinstance(value, Value) and not isinstance(value.type, PointerType):
        return _scalar(value, dtype)
    raise current().error("L011", current().place_of(value), expected=f"a number or value to convert to {dtype}", given=describe(value))


def _scalar(value: Value, dtype: DType) -> Value:
    source = value.dtype
    if source == dtype:
        return value
    if 8 in (source.bits, dtype.bits) and (_is_float8(source) or _is_float8(dtype)):
        return _float8(value, dtype)
    if dtype.kind == "bool":
        return compare("!=", value, constant(0.0 if source.is_float else 0, source))
    if source.is_float and dtype.is_float and source.bits == dtype.bits:  # f16 and bf16 meet in f32
        return _scalar(_scalar(value, f32), dtype)
    operation = _operation(source, dtype)
    if operation is None:  # the same bits, read with the other signedness
        return Value(value.ir, dtype, nonnegative=dtype.kind == "int" and value.nonnegative)
    keeps = operation in ("arith.extsi", "arith.extui") and (value.nonnegative or source.kind != "int")
    return Value(current().create(operation, [value.ir], [dtype.mlir]).result, dtype, nonnegative=keeps)


def _operation(source: DType, dtype: DType) -> str | None:
    if source.is_float and dtype.is_float:
        return "arith.extf" if dtype.bits > source.bits else "arith.truncf"
    if source.is_float:
        return "arith.fptosi" if dtype.kind == "int" else "arith.fptoui"
    if dtype.is_float:
        return "arith.sitofp" if source.kind == "int" else "arith.uitofp"
    if source.bits == dtype.bits:
        return None
    if dtype.bits < source.bits:
        return "arith.trunci"
    return "arith.extsi" if source.kind == "int" else "arith.extui"


def _vector(value: Vector, dtype: DType) -> Vector:
    source = value.dtype
    packs = source.is_float and dtype.is_float and source.bits != dtype.bits and 8 not in (source.bits, dtype.bits)
    if packs:  # one operation on the whole vector becomes packed conversions
        operation = _operation(source, dtype)
        assert operation is not None
        made = current().create(operation, [value.packed], [f"vector<{value.width}x{dtype.mlir}>"])
        return Vector(dtype, value.width, packed=made.result)
    if _is_float8(dtype) and value.width % 2 == 0:
        elements: list[Value] = []
        for low, high in zip(value.elements[::2], value.elements[1::2], strict=True):
            elements.extend(_float8_pair(low, high, dtype))
        return Vector(dtype, value.width, elements=elements)
    if _is_float8(source) and dtype.is_float and value.width % 2 == 0:
        pairs = bitcast(value, i16)
        words = pairs.elements if isinstance(pairs, Vector) else [pairs]
        halves = Vector(f16, value.width, elements=[item for pair in words for item in _float16_pair(pair, source)])
        return halves if dtype == f16 else _vector(halves, dtype)
    result = elementwise(lambda x: _scalar(x, dtype), value)
    assert isinstance(result, Vector)
    return result


def _is_float8(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 8


def _float8_pair(low: Value, high: Value, dtype: DType) -> tuple[Value, Value]:
    """Two f32 values as two 8-bit floats, saturating: cvt.rn.satfinite.<e4m3|e5m2>x2.f32."""
    trace = current()
    both = trace.fa4("convert", [_scalar(low, f32).ir, _scalar(high, f32).ir], {"to": f"rn.satfinite.{dtype.name}x2.f32"}, ["i16"]).result
    first = trace.create("arith.trunci", [both], ["i8"]).result
    eight = constant(8, i16).ir
    second = trace.create("arith.trunci", [trace.create("arith.shrui", [both, eight], ["i16"]).result], ["i8"]).result
    return Value(first, dtype), Value(second, dtype)


def _float16_pair(pair: Value, source: DType) -> list[Value]:
    """Two 8-bit floats, 16 bits together, as two f16: cvt.rn.f16x2.<e4m3|e5m2>x2. Both have every value exactly."""
    halves = current().fa4("convert", [pair.ir], {"to": f"rn.f16x2.{source.name}x2"}, ["vector<2xf16>"]).result
    return Vector(f16, 2, packed=halves).elements


def _float8(value: Value, dtype: DType) -> Value:
    if _is_float8(dtype):
        return _float8_pair(value, constant(0.0, f32), dtype)[0]
    wide = current().create("arith.extui", [value.ir], ["i16"]).result
    return _scalar(_float16_pair(Value(wide, i16), value.dtype)[0], dtype)


def bitcast(value: Any, dtype: DType) -> Any:
    """The same bits as `dtype`. Raises L017 where the sizes differ."""
    from fa4dsl.language.registers import RegisterArray

    trace = current()
    if isinstance(value, RegisterArray) and value.dtype.bits == dtype.bits:
        return value.combine(lambda x: bitcast(x, dtype), (value,))
    if isinstance(value, Vector):
        bits = value.width * value.dtype.bits
        if bits % dtype.bits:
            trace.fail("L017", trace.place_of(dtype), source=describe(value), target=dtype)
        width = bits // dtype.bits
        made = trace.create("vector.bitcast", [value.packed], [f"vector<{width}x{dtype.mlir}>"])
        return Vector(dtype, width, packed=made.result) if width > 1 else Vector(dtype, 1, packed=made.result)[0]
    if (
        not isinstance(value, Value)
        or isinstance(value.type, PointerType)
        or value.dtype.bits != dtype.bits
        or bool_ in (dtype, value.dtype)
    ):
        if isinstance(value, Value) and not isinstance(value.type, PointerType) and value.dtype.bits > dtype.bits and bool_ != dtype:
            return bitcast(Vector(value.dtype, 1, elements=[value]), dtype)
        trace.fail("L017", trace.place_of(dtype), source=describe(value), target=dtype)
    if value.dtype.mlir == dtype.mlir:
        return Value(value.ir, dtype)
    return Value(trace.create("arith.bitcast", [value.ir], [dtype.mlir]).result, dtype)
