"""Where the elements of a wgmma accumulator are, and their way into shared memory. Executed by whole warpgroups."""

from __future__ import annotations

from typing import Annotated, Any

from fa4dsl.frontend.arguments import between
from fa4dsl.frontend.trace import current
from fa4dsl.language.indices import lane, warp
from fa4dsl.language.matrix import store_matrix
from fa4dsl.language.registers import RegisterArray
from fa4dsl.language.shared import Own
from fa4dsl.language.warpgroup_mma import ROWS
from fa4dsl.types import i32

Register = Annotated[int, between(0, 127)]


def accumulator_place(register: Register) -> tuple[i32, i32]:
    """Row (0..63) and column of element `register` of this thread's part of an accumulator, in the product of its warpgroup; i32 both.

    Elements 2j and 2j + 1 lie side by side: ``for i in static_range(0, len(acc), 2):`` visits pairs. A thread has two rows, of the elements
    with ``i // 2 % 2`` 0 and 1; the four lanes of a quad share them. Arithmetic on the lane and the warp, no instruction of its own.
    Raises L102 for a number that no accumulator has.
    """
    row = 16 * (warp.index() % 4) + lane.index() // 4 + 8 * (register // 2 % 2)
    return row, 2 * (lane.index() % 4) + (8 * (register // 4) + register % 2)


def store_accumulator(array: Own, values: RegisterArray) -> None:
    """Stores an accumulator of 64 x N to a shared array of its type. Executed by all threads of a warpgroup.

    Args:
        array: (64, N), or panels of columns side by side, (panels, 64, N / panels), as a swizzle wants them. Of the accumulator's type:
            convert it first, ``store_accumulator(packed, acc.to(bf16))``.
        values: the accumulator, after `wgmma_wait`.

    16-bit elements take stmatrix, 32-bit ones st.shared of pairs. It does not wait for anybody: `warpgroup.sync()` (or a barrier of all
    readers) follows before another thread or a TMA store reads the array, and stands before where it was read. Raises L068 for an array
    that does not fit.
    """
    trace = current()
    shape, dtype = array.shape, values.dtype
    panels, rows, width = shape if len(shape) == 3 else (1, *shape) if len(shape) == 2 else (0, 0, 0)
    if rows != ROWS or width % 8 or array.dtype.bits not in (16, 32):
        problem = f"an accumulator goes to [{ROWS}, columns] or [panels, {ROWS}, columns] of 16 or 32 bits, not to {array.in_words}"
        trace.fail("L068", trace.place_of(array), problem=problem)
    columns = 2 * values.width
    if panels * width != columns or array.dtype != dtype:
        problem = f"{values.in_words} is an accumulator of {columns} columns, and {array.in_words} takes {panels * width} of {array.dtype}"
        trace.fail("L068", trace.place_of(values), problem=problem)

    def place(row: Any, first: int, within: Any) -> tuple[Any, ...]:
        """An element of column `first`, known, and a number of columns after it in the same panel."""
        inner = within + first % width
        return (first // width, row, inner) if len(shape) == 3 else (row, inner)

    if dtype.bits == 32:
        for register in range(0, values.width, 2):
            row, _ = accumulator_place(register)
            pair = (values.elements[register], values.elements[register + 1])
            array.store(place(row, 8 * (register // 4), 2 * (lane.index() % 4)), pair)
        return
    row = 16 * (warp.index() % 4) + lane.index() % 16
    step = 16 if width % 16 == 0 else 8
    within = 8 * (lane.index() // 16) if step == 16 else 0 * lane.index()
    for first in range(0, columns, step):
        fragment = values.elements[first // 2 : (first + step) // 2]
        store_matrix(array.pointer(place(row, first, within)), tuple(fragment))


__all__ = ["accumulator_place", "store_accumulator"]
