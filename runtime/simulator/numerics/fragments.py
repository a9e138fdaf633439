"""How matrices are spread over the registers of a warp or warpgroup (PTX 9.7.14.5, 9.7.15.5).

Registers come as ``[registers, groups, lanes]`` with 32 lanes for a warp and 128 for a warpgroup (four warps of 16 rows each); lane ``4 g + t`` of a
warp. The maps are pure reshapes and transposes. E is the number of elements in a register.

* A, 16 rows a warp: register ``2 b + h``, element e is row ``g + 8 h``, column ``4 E b + E t + e``.
* B (and A of the 8-row shapes): register b, element e is n (or row) ``g``, k ``4 E b + E t + e``.
* C and D: number ``4 j + 2 h + e`` is row ``g + 8 h``, column ``8 j + 2 t + e``; 8-row shapes have no h. Two f16 share a register.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import Bits, pieces


def elements(registers: Bits, width: int) -> Bits:
    """Registers ``[...]`` to their elements ``[..., E]`` as unsigned bits; widths 1 and 4 become bytes."""
    if width >= 8:
        return pieces(registers, width) if width < registers.dtype.itemsize * 8 else registers[..., None]
    parts = pieces(registers, 8)
    steps = np.arange(0, 8, width, dtype=np.uint8)
    split: Bits = (parts[..., None] >> steps) & np.uint8((1 << width) - 1)
    return split.reshape(*registers.shape, -1)


def rows16(registers: Bits, width: int) -> Bits:
    """A fragments to ``[groups, 16 or 64 rows, K]`` element bits."""
    parts = elements(registers, width)
    count, groups, lanes, per_register = parts.shape
    split = parts.reshape(count // 2, 2, groups, lanes // 32, 8, 4, per_register)
    #                       b       h  group   warp        g  t  e   ->  group, (warp, h, g), (b, t, e)
    return split.transpose(2, 3, 1, 4, 0, 5, 6).reshape(groups, lanes // 2, -1)


def rows8(registers: Bits, width: int) -> Bits:
    """B fragments to ``[groups, 8 columns n, K]`` element bits; A fragments of the 8-row shapes to ``[groups, 8 rows, K]``."""
    parts = elements(registers, width)
    count, groups, _, per_register = parts.shape
    return parts.reshape(count, groups, 8, 4, per_register).transpose(1, 2, 0, 3, 4).reshape(groups, 8, -1)


@lru_cache(maxsize=64)
def _order(numbers: int, lanes: int, rows: int, inverse: bool) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Where each element of the matrix ``[rows, N]`` lies among the accumulators ``[numbers, lanes]``, or the other way round. Both flat."""
    halves = 1 if rows == 8 else 2
    places = np.arange(numbers * lanes, dtype=np.intp).reshape(-1, halves, 2, lanes // 32, 8, 4)
    #                       j     h   e  warp        g  t  ->  (warp, h, g), (j, t, e)
    order = places.transpose(3, 1, 4, 0, 5, 2).reshape(-1)
    return np.argsort(order) if inverse else order


def accumulators(registers: Bits, width: int, rows: int) -> Bits:
    """C fragments to ``[groups, rows, N]`` element bits, `rows` being 8, 16 or 64."""
    count, groups, lanes = registers.shape
    if width == 16:
        # [group, register, lane, e] to [group, number, lane]
        parts = elements(registers, 16).transpose(1, 0, 3, 2).reshape(groups, -1)
        count *= 2
    else:
        parts = registers.swapaxes(0, 1).reshape(groups, -1)
    return parts.take(_order(count, lanes, rows, False), axis=1).reshape(groups, rows, -1)


def to_accumulators(matrix: Bits, lanes: int) -> Bits:
    """The inverse of `accumulators`: ``[groups, rows, N]`` bits of 16, 32 or 64 to registers ``[registers, groups, lanes]``."""
    groups, rows, columns = matrix.shape
    count = rows * columns // lanes
    numbers = matrix.reshape(groups, -1).take(_order(count, lanes, rows, True), axis=1).reshape(groups, count, lanes)
    if matrix.dtype.itemsize == 2:
        pairs = numbers.reshape(groups, -1, 2, lanes)
        numbers = pairs[:, :, 0].astype(np.uint32) | (pairs[:, :, 1].astype(np.uint32) << np.uint32(16))
    return np.ascontiguousarray(numbers.swapaxes(0, 1))
