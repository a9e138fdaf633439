"""Asynchronous stores into peers and non-bulk asynchronous copies."""

from __future__ import annotations

from typing import Annotated, Literal

from fa4dsl.frontend.arguments import Position, Stored, between, one_of
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Vector, as_value
from fa4dsl.language.barriers import Barrier
from fa4dsl.language.memory import GlobalPointer
from fa4dsl.language.registers import RegisterArray
from fa4dsl.language.shared import Own, SharedArray, both_of_a_peer


def store_async(array: SharedArray, indices: Position, value: Stored, barrier: Barrier) -> None:
    """Stores 4, 8 or 16 bytes into a peer's array; they complete on the peer's barrier: st.async. Executed by any thread.

    `array` and `barrier` are views of the same peer: ``store_async(buffer.on(peer), (row,), value, arrived.on(peer))``. The owner expects
    the bytes on its barrier and waits for it before it reads. Raises L095 where one is no peer's, L060 for a size that does not exist.
    """
    trace = current()
    both_of_a_peer("store_async", array, barrier)
    given = value
    if isinstance(value, RegisterArray):
        value = Vector(value.dtype, value.width, elements=value.elements)
    if isinstance(value, tuple | list):
        items = [as_value(item, array.dtype) for item in value]
        value = Vector(array.dtype, len(items), elements=items)
    width = value.width if isinstance(value, Vector) else 1
    stored = value if isinstance(value, Vector) else as_value(value, array.dtype)
    if stored.dtype != array.dtype:
        trace.fail("L062", trace.place_of(given), given=stored.dtype, expected=array.dtype)
    if width * array.dtype.bytes not in (4, 8, 16):
        trace.fail("L060", trace.place_of(given), dtype=array.dtype, width=width, legal="4, 8 or 16 bytes")
    operand = stored.packed if isinstance(stored, Vector) else stored.ir
    operands = [operand, array.allocation.handle, array.element_offset_value(indices), *barrier.operands(), barrier.rank.ir]
    trace.fa4("store_async", operands)


def copy_async(
    array: Own,
    indices: Position,
    source: GlobalPointer,
    bytes: Annotated[int, one_of(4, 8, 16, code="L102")] = 16,
    cache: Literal["ca", "cg"] | None = None,
) -> None:
    """Copies 4, 8 or 16 bytes from global memory (a pointer) to element `indices` of a shared array: cp.async. Executed by any thread.

    Only the executing thread sees the data after `copy_async_wait`; a barrier shows it to the others.
    """
    trace = current()
    if cache == "cg" and bytes != 16:
        trace.fail("L103", trace.place_of(cache), problem=f'cache="cg" copies 16 bytes, not {bytes}', mend='leave cache out, or write "ca"')
    operands = [array.allocation.handle, array.element_offset_value(indices), source.ir]
    trace.fa4("copy_async", operands, {"bytes": bytes, "cache": cache or ("cg" if bytes == 16 else "ca")})


def copy_async_commit() -> None:
    """Closes this thread's group of copies: cp.async.commit_group."""
    current().fa4("copy_async_commit")


def copy_async_wait(pending: Annotated[int, between(0, 63)] = 0) -> None:
    """Waits until at most `pending` of this thread's groups are unfinished: cp.async.wait_group."""
    current().fa4("copy_async_wait", [], {"pending": pending})
