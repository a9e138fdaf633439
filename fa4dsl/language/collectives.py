"""What the lanes of a warp do together: shuffles, votes, reductions. Executed by whole warps, all 32 lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fa4dsl.frontend.arguments import Condition, one_of, whole
from fa4dsl.frontend.arithmetic import binary, elementwise, truth
from fa4dsl.frontend.convert import bitcast, convert
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, as_value, constant, describe, is_number
from fa4dsl.language import math
from fa4dsl.types import DType, bool_, i32, u16, u32

Lane = Annotated[Any, whole(0, 31)]
Width = Annotated[int, one_of(1, 2, 4, 8, 16, 32, code="L102")]
"""Lanes of a group that exchange among themselves."""
Kind = Literal["add", "min", "max", "and", "or", "xor"]


def _exchange(mode: str, value: Any, lane: Any, width: int) -> Any:
    """A shuffle of any scalar: 32-bit values directly, narrower ones widened, 64-bit ones in halves; vectors element by element."""
    number = (constant(lane, i32) if is_number(lane) else as_value(lane, i32)).ir

    def once(x: Value, mlir: str) -> Any:
        return current().fa4("shuffle", [x.ir, number], {"mode": mode, "width": width}, [mlir]).result

    def scalar(x: Any) -> Value:
        if not isinstance(x, Value) or not isinstance(x.type, DType) or x.type.kind == "bool":
            current().fail("L064", current().place_of(x), what="a shuffle", given=describe(x))
        dtype = x.dtype
        if dtype.bits == 32:
            return Value(once(x, dtype.mlir), dtype)
        if dtype.bits == 64:
            halves = bitcast(Vector(dtype, 1, elements=[x]), u32)
            return bitcast(Vector(u32, 2, elements=[Value(once(half, "i32"), u32) for half in halves]), dtype)  # type: ignore[no-any-return]
        if dtype.bits == 16:
            moved = Value(once(convert(bitcast(x, u16), u32), "i32"), u32)
            return bitcast(convert(moved, u16), dtype)  # type: ignore[no-any-return]
        wide = Value(current().create("arith.extui", [x.ir], ["i32"]).result, u32)
        return Value(current().create("arith.trunci", [once(wide, "i32")], [dtype.mlir]).result, dtype)

    return elementwise(scalar, value)


def shuffle(value: Any, lane: Lane, width: Width = 32) -> Any:
    """The value of lane `lane` (of each group of `width` lanes): shfl.sync.idx."""
    return _exchange("idx", value, lane, width)


def shuffle_xor(value: Any, mask: Lane, width: Width = 32) -> Any:
    """The value of the lane whose number differs by the bits of `mask`: shfl.sync.bfly."""
    return _exchange("bfly", value, mask, width)


def shuffle_up(value: Any, delta: Lane, width: Width = 32) -> Any:
    """The value of the lane `delta` below; the lowest lanes keep their own: shfl.sync.up."""
    return _exchange("up", value, delta, width)


def shuffle_down(value: Any, delta: Lane, width: Width = 32) -> Any:
    """The value of the lane `delta` above; the highest lanes keep their own: shfl.sync.down."""
    return _exchange("down", value, delta, width)


def _vote(mode: str, condition: Any) -> Any:
    predicate = truth(condition) if not isinstance(condition, bool) else constant(condition, bool_)
    return current().fa4("vote", [predicate.ir], {"mode": mode}, ["i32" if mode == "ballot" else "i1"]).result


def vote_any(condition: Condition) -> Value:
    """Whether the condition holds in any lane: vote.sync.any."""
    return Value(_vote("any", condition), bool_)


def vote_all(condition: Condition) -> Value:
    """Whether the condition holds in every lane: vote.sync.all."""
    return Value(_vote("all", condition), bool_)


def ballot(condition: Condition) -> Value:
    """One bit for each lane, u32: vote.sync.ballot."""
    return Value(_vote("ballot", condition), u32)


def match_any(value: Any) -> Value:
    """The mask of the lanes that hold my value, u32: match.any.sync."""
    if not isinstance(value, Value) or not isinstance(value.type, DType) or value.dtype.bits not in (32, 64) or not value.dtype.is_integer:
        current().fail("L064", current().place_of(value), what="match_any", given=describe(value))
    return Value(current().fa4("match", [value.ir], {"mode": "any"}).result, u32)


def redux(value: Any, kind: Kind = "add") -> Value:
    """A 32-bit integer reduced over the warp, the result in every lane: redux.sync."""
    if not isinstance(value, Value) or not isinstance(value.type, DType) or value.dtype.bits != 32 or not value.dtype.is_integer:
        current().fail("L064", current().place_of(value), what="redux", given=describe(value))
    word = f"u{kind}" if value.dtype.kind == "uint" and kind in ("min", "max") else kind
    return Value(current().fa4("warp_reduce", [value.ir], {"kind": word}).result, value.dtype)


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: binary("+", a, b),
    "min": math.minimum,
    "max": math.maximum,
    "and": lambda a, b: binary("&", a, b),
    "or": lambda a, b: binary("|", a, b),
    "xor": lambda a, b: binary("^", a, b),
}


def warp_reduce(value: Any, kind: Kind = "add", lanes: Annotated[int, one_of(2, 4, 8, 16, 32, code="L102")] = 32) -> Any:
    """A value reduced over each group of `lanes` lanes (a power of two), the result in every lane.

    32-bit integers over the whole warp take redux.sync, everything else a butterfly of shuffles; floats add in the butterfly's order.
    """
    if isinstance(value, Value) and isinstance(value.type, DType) and value.dtype.is_integer and value.dtype.bits == 32 and lanes == 32:
        return redux(value, kind)
    step = lanes // 2
    while step:
        value = _COMBINE[kind](value, shuffle_xor(value, step))
        step //= 2
    return value
