"""Arithmetic of the language: explicit signedness, no implicit narrowing, Python's meaning of // and %.

Numbers written in the source take the type of the other operand. Two run-time types meet in the wider one where every value of both
fits (i32 with i64, u8 with i32, bf16 with f32); everything else is L010, which shows where both came from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, as_value, constant, describe, is_number
from fa4dsl.runtime.diagnostics import Frame
from fa4dsl.types import DType, PointerType, bool_, f32

COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_INTEGER_PREDICATE = {"==": (0, 0), "!=": (1, 1), "<": (2, 6), "<=": (3, 7), ">": (4, 8), ">=": (5, 9)}
_FLOAT_PREDICATE = {"==": 1, ">": 2, ">=": 3, "<": 4, "<=": 5, "!=": 13}
_FLOAT_OPERATION = {"+": "arith.addf", "-": "arith.subf", "*": "arith.mulf", "/": "arith.divf"}
_INTEGER_OPERATION = {"+": "arith.addi", "-": "arith.subi", "*": "arith.muli", "&": "arith.andi", "|": "arith.ori", "^": "arith.xori"}


def common_type(left: DType, right: DType) -> DType | None:
    """The type in which two run-time types meet without losing a value, or None."""
    if left == right:
        return left
    if left.is_float and right.is_float:
        if 8 in (left.bits, right.bits):
            return None
        if left.bits == right.bits:
            return f32
        return left if left.bits > right.bits else right
    if left.is_integer and right.is_integer:
        if left.kind == right.kind:
            return left if left.bits > right.bits else right
        signed, unsigned = (left, right) if left.kind == "int" else (right, left)
        return signed if signed.bits > unsigned.bits else None
    return None


def widen(value: Value, dtype: DType) -> Value | None:
    """`value` as the wider `dtype`, or None where that could lose something."""
    if isinstance(value.type, PointerType) or common_type(value.type, dtype) != dtype:
        return None
    from fa4dsl.frontend.convert import convert

    widened = convert(value, dtype)
    assert isinstance(widened, Value)
    return widened


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """Applies a scalar function to vectors element by element (scalars and numbers go to every element)."""
    from fa4dsl.language.registers import RegisterArray

    for operand in operands:
        if isinstance(operand, RegisterArray):
            return operand.combine(function, operands)
    widths = {operand.width for operand in operands if isinstance(operand, Vector)}
    if not widths:
        return function(*operands)
    if len(widths) > 1:
        current().fail("L013", widths=" and ".join(str(width) for width in sorted(widths)))
    width = widths.pop()
    rows = [operand.elements if isinstance(operand, Vector) else [operand] * width for operand in operands]
    results = [function(*items) for items in zip(*rows, strict=True)]
    return Vector(results[0].type, width, elements=results)


def _is_operand(value: Any) -> bool:
    from fa4dsl.language.registers import RegisterArray

    return isinstance(value, Value | Vector | RegisterArray) or is_number(value)


def binary(name: str, left: Any, right: Any) -> Any:
    """``left <name> right``, where at least one is a run-time value."""
    if not (_is_operand(left) and _is_operand(right)):
        current().fail("L010", operation=name, left=describe(left), right=describe(right), origins="")
    return elementwise(lambda a, b: _scalar(name, a, b), left, right)


def _scalar(name: str, left: Any, right: Any) -> Value:
    for operand in (left, right):
        if isinstance(operand, Value) and isinstance(operand.type, PointerType):
            return _pointer(name, left, right)
    if name in ("<<", ">>"):
        return _shift(name, left, right)
    if name == "**":
        return _power(left, right)
    left, right = same_type(name, left, right)
    dtype = left.type
    if name in COMPARISONS:
        return compare(name, left, right)
    if dtype.is_float:
        operation = _FLOAT_OPERATION.get(name)
        if operation is None or dtype.bits == 8:
            _no_operation(name, left, right)
        return _emit(operation, left, right, contract=name != "/")
    if name == "/":
        current().fail("L014", dtype=dtype)
    if dtype.kind == "bool":
        if name not in ("&", "|", "^"):
            _no_operation(name, left, right)
        return _emit(_INTEGER_OPERATION[name], left, right)
    if name in ("//", "%"):
        return _divide(name, left, right)
    operation = _INTEGER_OPERATION.get(name)
    if operation is None:
        _no_operation(name, left, right)
    both = left.nonnegative and right.nonnegative
    either = left.nonnegative or right.nonnegative
    return _emit(operation, left, right, nonnegative=(both and name in "+*|^") or (either and name == "&"))


def same_type(name: str, left: Any, right: Any) -> tuple[Any, Any]:
    """Both operands as values of their common type. Raises L010 with both origins."""
    if not isinstance(left, Value):
        return _literal(name, left, right), right
    if not isinstance(right, Value):
        return left, _literal(name, right, left)
    if left.type == right.type:
        return left, right
    common = common_type(left.dtype, right.dtype)
    if common is None:
        _mismatch(name, left, right)
    return as_value(left, common), as_value(right, common)


def _literal(name: str, number: Any, other: Value) -> Value:
    dtype = other.dtype
    if not is_number(number) or (isinstance(number, float) and not dtype.is_float) or (isinstance(number, bool) != (dtype.kind == "bool")):
        _mismatch(name, number, other)
    return constant(number, dtype)


def _mismatch(name: str, left: Any, right: Any) -> NoReturn:
    trace = current()
    places: list[Any] = [trace.location]
    for value in (left, right):
        if isinstance(value, Value) and value.origin != trace.location:
            places.append(Frame(value.origin, f"{value.type} comes from here"))
    words = [value.type if isinstance(value, Value) else describe(value) for value in (left, right)]
    trace.fail("L010", *places, operation=name, left=words[0], right=words[1], origins="")


def _no_operation(name: str, left: Any, right: Any) -> NoReturn:
    dtype = left.type if isinstance(left, Value) else right.type
    current().fail("L015", operation=name, dtype=dtype)


def _emit(operation: str, left: Value, right: Value, nonnegative: bool = False, contract: bool = False) -> Value:
    trace = current()
    attributes = {"fastmath": trace.attribute("#arith.fastmath<contract>")} if contract else None
    made = trace.create(operation, [left.ir, right.ir], [left.type.mlir], attributes)
    return Value(made.result, left.type, nonnegative=nonnegative)


def compare(name: str, left: Value, right: Value) -> Value:
    """A comparison of two values of one type; floats compare ordered (false with NaN), except != (true with NaN)."""
    trace = current()
    i64 = trace.type("i64")
    if left.dtype.is_float:
        predicate, operation = _FLOAT_PREDICATE[name], "arith.cmpf"
    else:
        predicate, operation = _INTEGER_PREDICATE[name][left.dtype.kind != "int"], "arith.cmpi"
    attributes = {"predicate": trace.ir.IntegerAttr.get(i64, predicate)}
    return Value(trace.create(operation, [left.ir, right.ir], ["i1"], attributes).result, bool_)


def _shift(name: str, left: Any, right: Any) -> Value:
    if not isinstance(left, Value):
        left = constant(left, right.type)
    if not left.type.is_integer:
        _no_operation(name, left, right)
    if is_number(right):
        if not 0 <= right < left.type.bits:
            current().fail(
                "L012", current().place_of(right), number=right, dtype=left.type, range=f"shifts go from 0 to {left.type.bits - 1}"
            )
        right = constant(right, left.type)
    elif right.type != left.type:
        left, right = same_type(name, left, right)
    operation = "arith.shli" if name == "<<" else "arith.shrsi" if left.type.kind == "int" and not left.nonnegative else "arith.shrui"
    return _emit(operation, left, right, nonnegative=left.nonnegative)


def _power(left: Any, right: Any) -> Value:
    if not (isinstance(left, Value) and isinstance(right, int) and 1 <= right <= 8):
        current().fail("L015", operation="**", dtype=describe(right) if isinstance(left, Value) else describe(left))
    result = left
    for _ in range(right - 1):
        result = _scalar("*", result, left)
    return result


def _divide(name: str, left: Value, right: Value) -> Value:
    """Python's // and %: towards minus infinity, the remainder with the divisor's sign."""
    dtype = left.dtype
    quotient = name == "//"
    if dtype.kind == "uint" or (left.nonnegative and right.nonnegative):
        return _emit("arith.divui" if quotient else "arith.remui", left, right, nonnegative=True)
    remainder = _emit("arith.remsi", left, right)
    zero = constant(0, dtype)
    differs = _emit("arith.andi", compare("!=", remainder, zero), compare("<", _emit("arith.xori", remainder, right), zero))
    if quotient:
        towards_zero = _emit("arith.divsi", left, right)
        return select(differs, _emit("arith.subi", towards_zero, constant(1, dtype)), towards_zero)
    return select(differs, _emit("arith.addi", remainder, right), remainder)


def _pointer(name: str, left: Any, right: Any) -> Value:
    from fa4dsl.language.memory import PointerValue

    if name in ("+", "-") and isinstance(left, PointerValue) and not isinstance(getattr(right, "type", None), PointerType):
        return left.offset(right if name == "+" else -right)
    if name == "+" and isinstance(right, PointerValue):
        return right.offset(left)
    _no_operation(name, left if isinstance(getattr(left, "type", None), PointerType) else right, right)


def select(condition: Value, yes: Value, no: Value) -> Value:
    """One of two values of one type, without a branch."""
    chosen = current().create("arith.select", [condition.ir, yes.ir, no.ir], [yes.type.mlir])
    return type(yes)(chosen.result, yes.type, nonnegative=yes.nonnegative and no.nonnegative)


def _zero_like(value: Value) -> Value:
    return constant(0.0 if value.dtype.is_float else 0, value.dtype)


def negate(value: Any) -> Any:
    """-value; unsigned and bool have no negative (L015)."""

    def scalar(x: Value) -> Value:
        if x.dtype.kind in ("uint", "bool") or isinstance(x.type, PointerType) or (x.dtype.bits == 8 and x.dtype.is_float):
            current().fail("L015", operation="-", dtype=x.type)
        if x.dtype.is_float:
            return Value(current().create("arith.negf", [x.ir], [x.type.mlir]).result, x.type)
        return _emit("arith.subi", _zero_like(x), x)

    return elementwise(scalar, value)


def invert(value: Any) -> Any:
    """~value: all bits flipped; of a bool: not."""

    def scalar(x: Value) -> Value:
        if x.dtype.kind == "bool":
            return _emit("arith.xori", x, constant(True, bool_))
        if not x.dtype.is_integer:
            current().fail("L015", operation="~", dtype=x.type)
        ones = constant(x.dtype.limits()[1] if x.dtype.kind == "uint" else -1, x.dtype)
        return _emit("arith.xori", x, ones)

    return elementwise(scalar, value)


def absolute(value: Any) -> Any:
    """The magnitude."""

    def scalar(x: Value) -> Value:
        if x.dtype.kind in ("uint", "bool"):
            return x
        operation = "math.absf" if x.dtype.is_float else "math.absi"
        return Value(current().create(operation, [x.ir], [x.type.mlir]).result, x.type, nonnegative=True)

    return elementwise(scalar, value)


def truth(value: Any) -> Value:
    """A condition: a bool as it is, an integer compared with zero. Raises L016 for anything else."""
    if isinstance(value, Value) and not isinstance(value.type, PointerType):
        if value.dtype.kind == "bool":
            return value
        if value.dtype.is_integer:
            return compare("!=", value, _zero_like(value))
    raise current().error("L016", current().place_of(value), given=describe(value))
