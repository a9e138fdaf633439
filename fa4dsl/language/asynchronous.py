"""Asynchronous stores into peers and non-bulk asynchronous copies."""

from __future__ import annotations

from typing import Any, Literal

from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Vector, as_value, describe, is_integer
from fa4dsl.language.barriers import Barrier
from fa4dsl.language.memory import PointerValue
from fa4dsl.language.shared import SharedArray


def store_async(array: SharedArray, indices: Any, value: Any, barrier: Barrier) -> None:
    """Stores 4, 8 or 16 bytes into a peer's array; they complete on the peer's barrier: st.async. Executed by any thread.

    `array` and `barrier` are views of the same peer: ``store_async(buffer.on(peer), (row,), value, arrived.on(peer))``. The owner expects
    the bytes on its barrier and waits for it before it reads. Raises L095 where one is no peer's, L060 for a size that does not exist.
    """
    trace = current()
    if not isinstance(array, SharedArray) or not isinstance(barrier, Barrier) or array.rank is None or barrier.rank is None:
        trace.fail("L095", what="store_async")
    if isinstance(value, tuple | list):
        items = [as_value(item, array.dtype) for item in value]
        value = Vector(array.dtype, len(items), elements=items)
    width = value.width if isinstance(value, Vector) else 1
    stored = value if isinstance(value, Vector) else as_value(value, array.dtype)
    if stored.dtype != array.dtype:
        trace.fail("L062", trace.place_of(value), given=stored.dtype, expected=array.dtype)
    if width * array.dtype.bytes not in (4, 8, 16):
        trace.fail("L060", trace.place_of(value), dtype=array.dtype, width=width, legal="4, 8 or 16 bytes")
    operand = stored.packed if isinstance(stored, Vector) else stored.ir
    operands = [operand, array.allocation.handle, array.element_offset_value(indices), *barrier.operands(), barrier.rank.ir]
    trace.fa4("store_async", operands)


def copy_async(array: SharedArray, indices: Any, source: Any, bytes: int = 16, cache: Literal["ca", "cg"] | None = None) -> None:
    """Copies 4, 8 or 16 bytes from global memory (a pointer) to element `indices` of a shared array: cp.async. Executed by any thread.

    Only the executing thread sees the data after `copy_async_wait`; a barrier shows it to the others.
    """
    trace = current()
    if not isinstance(source, PointerValue):
        trace.fail("L011", trace.place_of(source), expected="a pointer", given=describe(source))
    if bytes not in (4, 8, 16):
        trace.fail("L060", trace.place_of(bytes), dtype=array.dtype, width=bytes, legal="4, 8 or 16 bytes")
    operands = [array.allocation.handle, array.element_offset_value(indices), source.ir]
    trace.fa4("copy_async", operands, {"bytes": bytes, "cache": cache or ("cg" if bytes == 16 else "ca")})


def copy_async_commit() -> None:
    """Closes this thread's group of copies: cp.async.commit_group."""
    current().fa4("copy_async_commit")


def copy_async_wait(pending: int = 0) -> None:
    """Waits until at most `pending` of this thread's groups are unfinished: cp.async.wait_group."""
    trace = current()
    if not is_integer(pending):
        trace.fail("L021", trace.place_of(pending), needed="the number of pending groups", given=describe(pending))
    trace.fa4("copy_async_wait", [], {"pending": pending})
