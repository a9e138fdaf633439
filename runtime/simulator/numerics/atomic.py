"""The arithmetic of atom, red and the reducing copies (PTX 9.7.13.5 to 9.7.13.7, cp.reduce.async.bulk)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics import float32, float64, half
from fa4dsl.runtime.simulator.numerics.floats import flush32
from fa4dsl.runtime.simulator.numerics.operation import Bits, joined, pieces, signed, unsigned

_INTEGER = ("u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64")
_HALF = ("f16", "bf16", "f16x2", "bf16x2")
KINDS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")


def supports(kind: str, type_name: str) -> bool:
    """Whether `atomic_update` knows the combination."""
    if kind in ("exch", "cas"):
        return type_name in ("b16", "b32", "b64", "u32", "s32", "u64", "s64", "f32", "f64")
    if kind in ("inc", "dec"):
        return type_name == "u32"
    if kind in ("and", "or", "xor"):
        return type_name in _INTEGER
    if kind == "add":
        return type_name in (*_INTEGER, *_HALF, "f32", "f64")
    return kind in ("min", "max") and type_name in (*_INTEGER, *_HALF, "f32", "f64")


def _float_extreme(kind: str, type_name: str, old: Bits, value: Bits) -> Bits:
    function: Any = np.minimum if kind == "min" else np.maximum
    if type_name == "f32":
        return float32.extreme(old, value, function, False)
    if type_name == "f64":
        return float64.extreme(old, value, function)
    base = type_name.removesuffix("x2")
    if base == type_name:
        return half.extreme(old, value, base, function, False)
    return joined(half.extreme(pieces(old, 16), pieces(value, 16), base, function, False), 32)


def _float_add(type_name: str, old: Bits, value: Bits, flush: bool) -> Bits:
    if type_name == "f32":
        if flush:
            return flush32(float32.add(flush32(old).view(np.float32), flush32(value).view(np.float32)))
        return float32.add(old.view(np.float32), value.view(np.float32))
    if type_name == "f64":
        total = float64.add(old.view(np.float64), value.view(np.float64))
        if flush:
            # the unit at global memory hands a NaN on as it is
            return np.where(float64.is_nan(old), old, np.where(float64.is_nan(value), value, total))
        return float64.propagate(total, (old, value))
    base = type_name.removesuffix("x2")
    if base == type_name:
        return half.add(old, value, base)
    return joined(half.add(pieces(old, 16), pieces(value, 16), base), 32)


def atomic_update(kind: str, type_name: str, old: Bits, value: Bits, compare: Bits | None = None, *, flush: bool = False) -> Bits:
    """What an atomic leaves in memory, as raw bits; the instruction returns `old`.

    `kind`: one of `KINDS`; `type_name`: PTX type without the dot. `compare` is the second operand of cas (``old == compare ? value : old``).
    `flush`: the additions of global memory's own unit: subnormals of f32 become zero, and a NaN of f64 is not made quiet; shared memory's do neither.
    """
    with np.errstate(all="ignore"):
        result: Bits
        if kind == "exch":
            result = np.broadcast_to(value, np.broadcast_shapes(old.shape, value.shape)).copy()
        elif kind == "cas":
            if compare is None:
                raise ValueError("cas needs the value to compare with")
            result = np.where(old == compare, value, old)
        elif kind in ("and", "or", "xor"):
            result = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind](old, value)
        elif kind == "inc":
            result = np.where(old >= value, np.uint32(0), old + np.uint32(1))
        elif kind == "dec":
            result = np.where((old == 0) | (old > value), value, old - np.uint32(1))
        elif type_name not in _INTEGER:
            result = _float_add(type_name, old, value, flush) if kind == "add" else _float_extreme(kind, type_name, old, value)
        elif kind == "add":
            result = old + value
        else:
            width = int(type_name[1:])
            dtype = signed(width) if type_name[0] == "s" else unsigned(width)
            function: Any = np.minimum if kind == "min" else np.maximum
            result = function(old.view(dtype), value.view(dtype)).view(unsigned(width))
        return result


def update_in_order(
    kind: str, type_name: str, cells: Bits, slots: np.ndarray[Any, Any], values: Bits, compare: Bits | None = None, *, flush: bool = False
) -> Bits:
    """Apply one atomic for each entry of `slots` (indices into `cells`, changed in place), equal slots one after the other in entry order.

    Returns the old value that each entry saw.
    """
    slots = np.asarray(slots)
    seen = np.empty(slots.shape, cells.dtype)
    if slots.size == 0:
        return seen
    order = np.argsort(slots, kind="stable")
    ordered = slots[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    # how many earlier entries hit the same slot
    turn = np.arange(slots.size) - np.repeat(starts, np.diff(np.append(starts, slots.size)))
    rounds = int(turn.max()) + 1
    for number in range(rounds):
        entries = order[turn == number] if rounds > 1 else order
        here = slots[entries]
        old = cells[here]
        seen[entries] = old
        chosen = values[entries] if values.shape == slots.shape else values
        other = None if compare is None else compare[entries] if compare.shape == slots.shape else compare
        cells[here] = atomic_update(kind, type_name, old, chosen, other, flush=flush)
    return seen
