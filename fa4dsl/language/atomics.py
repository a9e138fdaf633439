"""Atomic operations and ordered accesses on global, shared and peers' memory.

The address is a pointer (``p + i``) or an element of a shared array (``counts.pointer((i,))``). Default order "relaxed": no ordering of
other accesses; default scope "gpu".
"""

from __future__ import annotations

from typing import Any, Literal

from fa4dsl.frontend.arguments import Scalar
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, as_value, describe
from fa4dsl.language.memory import PointerValue

Order = Literal["relaxed", "acquire", "release", "acq_rel"]
ReduceOrder = Literal["relaxed", "release"]
Scope = Literal["cta", "cluster", "gpu", "sys"]
INTEGER_KINDS = ("add", "sub", "and", "or", "xor", "exch", "min", "max", "inc", "dec")
FLOAT_KINDS = ("add", "exch")


def _operands(kind: str, address: Any, value: Any, kinds_of_float: tuple[str, ...] = FLOAT_KINDS) -> tuple[PointerValue, Value, str]:
    trace = current()
    if not isinstance(address, PointerValue):
        trace.fail("L063", trace.place_of(address), what=f"atomic.{kind}", given=describe(address))
    dtype = address.dtype
    operand = as_value(value, dtype)
    word = kind
    if dtype.is_float:
        if kind not in kinds_of_float or dtype.bits == 8:
            trace.fail("L063", trace.place_of(address), what=f"atomic.{kind}", given=f"elements of type {dtype}")
        word = "fadd" if kind == "add" else kind
    elif dtype.bits not in (32, 64):
        trace.fail("L063", trace.place_of(address), what=f"atomic.{kind}", given=f"elements of type {dtype}")
    elif dtype.kind == "uint" and kind in ("min", "max"):
        word = f"u{kind}"
    return address, operand, word


class Atomic:
    """Atomic read-modify-write operations; each returns the old value."""

    def _update(self, kind: str, address: Any, value: Any, order: Order, scope: Scope) -> Value:
        pointer, operand, word = _operands(kind, address, value)
        attributes = {"kind": word, "order": order, "scope": scope}
        made = current().fa4("atomic", [pointer.ir, operand.ir], attributes, [operand.dtype.mlir])
        return Value(made.result, operand.dtype)

    def add(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = old + value: atom.add."""
        return self._update("add", address, value, order, scope)

    def max(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = max(old, value): atom.max."""
        return self._update("max", address, value, order, scope)

    def min(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = min(old, value): atom.min."""
        return self._update("min", address, value, order, scope)

    def bit_and(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = old & value: atom.and."""
        return self._update("and", address, value, order, scope)

    def bit_or(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = old | value: atom.or."""
        return self._update("or", address, value, order, scope)

    def bit_xor(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = old ^ value: atom.xor."""
        return self._update("xor", address, value, order, scope)

    def exchange(self, address: Any, value: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = value: atom.exch."""
        return self._update("exch", address, value, order, scope)

    def increment(self, address: Any, limit: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = 0 if old >= limit else old + 1, u32: atom.inc."""
        return self._update("inc", address, limit, order, scope)

    def decrement(self, address: Any, limit: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = limit if old == 0 or old > limit else old - 1, u32: atom.dec."""
        return self._update("dec", address, limit, order, scope)

    def compare_and_swap(self, address: Any, expected: Scalar, desired: Scalar, *, order: Order = "relaxed", scope: Scope = "gpu") -> Value:
        """old; memory = desired if old == expected: atom.cas."""
        pointer, first, _ = _operands("exch", address, expected)
        second = as_value(desired, first.dtype)
        attributes = {"order": order, "scope": scope}
        made = current().fa4("compare_and_swap", [pointer.ir, first.ir, second.ir], attributes, [first.dtype.mlir])
        return Value(made.result, first.dtype)


class Reduce:
    """Atomic updates without a result, which cost less: red."""

    def _update(self, kind: str, address: Any, value: Any, order: ReduceOrder, scope: Scope) -> None:
        pointer, operand, word = _operands(kind, address, value, ("add",))
        current().fa4("reduce", [pointer.ir, operand.ir], {"kind": word, "order": order, "scope": scope})

    def add(self, address: Any, value: Scalar, *, order: ReduceOrder = "relaxed", scope: Scope = "gpu") -> None:
        """memory += value: red.add."""
        self._update("add", address, value, order, scope)

    def max(self, address: Any, value: Scalar, *, order: ReduceOrder = "relaxed", scope: Scope = "gpu") -> None:
        """memory = max(memory, value): red.max."""
        self._update("max", address, value, order, scope)

    def min(self, address: Any, value: Scalar, *, order: ReduceOrder = "relaxed", scope: Scope = "gpu") -> None:
        """memory = min(memory, value): red.min."""
        self._update("min", address, value, order, scope)


atomic, reduce = Atomic(), Reduce()
