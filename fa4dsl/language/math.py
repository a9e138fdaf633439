"""Mathematics on scalars, vectors and register arrays, element by element."""

from __future__ import annotations

from math import log as natural_logarithm
from typing import Any

from fa4dsl.frontend.arguments import Condition, Numeric
from fa4dsl.frontend.arithmetic import elementwise, same_type, select, truth
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Arithmetic, Value, as_value, constant, describe, is_number
from fa4dsl.types import f32


def _approximate(function: str, value: Any, ftz: bool) -> Any:
    def scalar(x: Any) -> Value:
        if is_number(x):
            x = constant(float(x), f32)
        if not isinstance(x, Value) or x.type != f32:
            current().fail("L011", current().place_of(x), expected=f32, given=describe(x))
        return Value(current().fa4("approximate", [x.ir], {"function": function, "ftz": ftz}, ["f32"]).result, f32)

    return elementwise(scalar, value)


def exp2(value: Numeric, ftz: bool = False) -> Any:
    """2**x, f32, the hardware's approximation (ex2.approx: about 2 ulp; exp2(-inf) is 0)."""
    return _approximate("exp2", value, ftz)


def log2(value: Numeric, ftz: bool = False) -> Any:
    """The binary logarithm, f32: lg2.approx."""
    return _approximate("log2", value, ftz)


def exp(value: Numeric, ftz: bool = False) -> Any:
    """e**x, f32: ex2.approx of x * log2(e), whose rounding makes the relative error grow with |x|, 1e-5 at 80 (as CUDA's __expf).

    Where x is scaled anyway, `exp2` with log2(e) in the scale saves a multiplication and that rounding.
    """
    return exp2(value * (1 / natural_logarithm(2)), ftz)


def log(value: Numeric, ftz: bool = False) -> Any:
    """The natural logarithm, f32: lg2.approx times ln(2)."""
    return log2(value, ftz) * natural_logarithm(2)


ERROR_FUNCTION = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Coefficients of powers 1 to 5 of 1 / (1 + 0.3275911 x) (Abramowitz and Stegun, 7.1.26)."""


def erf(value: Numeric) -> Any:
    """The error function, f32, to 1e-6 absolutely: a polynomial, rcp.approx and ex2.approx. For GELU: ``0.5 * x * (1 + erf(x * 0.70710678))``."""

    def scalar(x: Any) -> Any:
        if is_number(x):
            x = constant(float(x), f32)
        if not isinstance(x, Value) or x.type != f32:
            current().fail("L011", current().place_of(x), expected=f32, given=describe(x))
        size = maximum(x, -x)
        t = rcp(fma(size, 0.3275911, 1.0))
        series: Any = 0.0
        for coefficient in reversed(ERROR_FUNCTION):
            series = (series + coefficient) * t
        positive = 1.0 - series * exp(-(x * x))
        return where(x < 0.0, -positive, positive)

    return elementwise(scalar, value)


def rcp(value: Numeric, ftz: bool = False) -> Any:
    """1/x, f32: rcp.approx (1 ulp; rcp(0) is inf)."""
    return _approximate("rcp", value, ftz)


def rsqrt(value: Numeric, ftz: bool = False) -> Any:
    """1/sqrt(x), f32: rsqrt.approx."""
    return _approximate("rsqrt", value, ftz)


def sqrt(value: Numeric, ftz: bool = False) -> Any:
    """The square root, f32: sqrt.approx."""
    return _approximate("sqrt", value, ftz)


def tanh(value: Numeric) -> Any:
    """The hyperbolic tangent, f32: tanh.approx."""
    return _approximate("tanh", value, False)


def sin(value: Numeric) -> Any:
    """The sine, f32: sin.approx (the error grows with |x|)."""
    return _approximate("sin", value, False)


def cos(value: Numeric) -> Any:
    """The cosine, f32: cos.approx (the error grows with |x|)."""
    return _approximate("cos", value, False)


def fma(a: Numeric, b: Numeric, c: Numeric) -> Any:
    """a*b + c, rounded once: fma.rn."""

    def scalar(x: Any, y: Any, z: Any) -> Value:
        trace = current()
        dtype = next((item.dtype for item in (x, y, z) if isinstance(item, Value)), f32)
        for item in (x, y, z):
            if isinstance(item, Value) and item.type != dtype:
                same_type("fma", next(other for other in (x, y, z) if isinstance(other, Value)), item)
        values = [as_value(item, dtype) for item in (x, y, z)]
        if not dtype.is_float or dtype.bits == 8:
            trace.fail("L015", operation="fma", dtype=dtype)
        return Value(trace.create("math.fma", [item.ir for item in values], [dtype.mlir]).result, dtype)

    return elementwise(scalar, a, b, c)


def _extreme(name: str, left: Any, right: Any) -> Any:
    def scalar(x: Any, y: Any) -> Any:
        if is_number(x) and is_number(y):
            return max(x, y) if name == "max" else min(x, y)
        first, second = same_type(name, x, y)
        dtype = first.type
        if dtype.is_float:
            operation = f"arith.{name}numf"
        else:
            operation = f"arith.{name}{'s' if dtype.kind == 'int' else 'u'}i"
        made = current().create(operation, [first.ir, second.ir], [dtype.mlir]).result
        either, both = first.nonnegative or second.nonnegative, first.nonnegative and second.nonnegative
        return Value(made, dtype, nonnegative=either if name == "max" else both)

    return elementwise(scalar, left, right)


def maximum(left: Numeric, right: Numeric) -> Any:
    """The larger; of a number and a NaN, the number (max.f32)."""
    return _extreme("max", left, right)


def minimum(left: Numeric, right: Numeric) -> Any:
    """The smaller; of a number and a NaN, the number (min.f32)."""
    return _extreme("min", left, right)


def max3(a: Numeric, b: Numeric, c: Numeric) -> Any:
    """The largest of three (one instruction where the target has it)."""
    return maximum(maximum(a, b), c)


def min3(a: Numeric, b: Numeric, c: Numeric) -> Any:
    """The smallest of three (one instruction where the target has it)."""
    return minimum(minimum(a, b), c)


def where(condition: Condition, yes: Numeric, no: Numeric) -> Any:
    """`yes` where the condition holds, else `no`; both are evaluated, nothing branches."""

    def scalar(test: Any, x: Any, y: Any) -> Any:
        if not isinstance(test, Arithmetic):
            return x if test else y
        if is_number(x) and is_number(y):
            x = as_value(x, f32 if isinstance(x, float) or isinstance(y, float) else None)
        first, second = same_type("where", x, y)
        return select(truth(test), first, second)

    return elementwise(scalar, condition, yes, no)


def popcount(value: Numeric) -> Any:
    """The number of one bits: popc."""
    return _bits("math.ctpop", value)


def leading_zeros(value: Numeric) -> Any:
    """The number of zero bits above the highest one: clz."""
    return _bits("math.ctlz", value)


def _bits(operation: str, value: Any) -> Any:
    def scalar(x: Any) -> Value:
        if not isinstance(x, Value) or not x.dtype.is_integer:
            current().fail("L011", current().place_of(x), expected="an integer", given=describe(x))
        return Value(current().create(operation, [x.ir], [x.type.mlir]).result, x.type, nonnegative=True)

    return elementwise(scalar, value)


def floor(value: Numeric) -> Any:
    """The largest integer not above, as a float."""
    return _rounded("math.floor", value)


def ceil(value: Numeric) -> Any:
    """The smallest integer not below, as a float."""
    return _rounded("math.ceil", value)


def _rounded(operation: str, value: Any) -> Any:
    def scalar(x: Any) -> Value:
        if not isinstance(x, Value) or not x.dtype.is_float:
            current().fail("L011", current().place_of(x), expected="a float", given=describe(x))
        return Value(current().create(operation, [x.ir], [x.type.mlir]).result, x.type)

    return elementwise(scalar, value)
