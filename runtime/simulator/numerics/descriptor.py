"""Matrix descriptors of wgmma on sm_90 (PTX 9.7.15.5.1): which 16-byte pieces of shared memory an operand tile is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import Bits

SWIZZLE_NAMES = ("none", "128B", "64B", "32B")
"""The descriptor's code to the swizzle's name (not the tensor map's order)."""
_SPANS = (0, 128, 64, 32)
_ADDRESS_MASK = 0x3FFFF


@dataclass(frozen=True)
class Descriptor:
    """The fields of one descriptor, offsets in bytes."""

    start: int
    leading: int
    """Leading dimension byte offset (LBO)."""
    stride: int
    """Stride dimension byte offset (SBO)."""
    base_offset: int
    swizzle: str


def decode(bits: int) -> Descriptor:
    """One 64-bit descriptor."""
    bits = int(bits)
    return Descriptor(
        (bits & 0x3FFF) << 4,
        (bits >> 16 & 0x3FFF) << 4,
        (bits >> 32 & 0x3FFF) << 4,
        bits >> 49 & 7,
        SWIZZLE_NAMES[bits >> 62 & 3],
    )


def encode(start: int, leading: int, stride: int, swizzle: str = "none", base_offset: int = 0) -> int:
    """The inverse of `decode`."""
    code = SWIZZLE_NAMES.index(swizzle)
    field = [(value & _ADDRESS_MASK) >> 4 for value in (start, leading, stride)]
    return field[0] | field[1] << 16 | field[2] << 32 | base_offset << 49 | code << 62


@lru_cache(maxsize=512)
def _offsets(high: int, rows: int, row_bytes: int, mn_major: bool, element: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Offsets from the start address of the 16-byte pieces, before the swizzle. `high` is the descriptor without its start address.

    K-major: ``[rows, K bytes / 16]``, a piece runs along k. MN-major: ``[K, rows bytes / 16]``, a piece runs along the row index.
    """
    field = decode(high << 14)
    leading, stride, span = field.leading, field.stride, _SPANS[SWIZZLE_NAMES.index(field.swizzle)]
    per_piece = 16 // element
    if not mn_major:
        r, piece = np.arange(rows, dtype=np.int64)[:, None], np.arange(row_bytes // 16, dtype=np.int64)[None, :]
        if span == 0:
            return r % 8 * 16 + r // 8 * stride + piece * leading
        # rows of sparse products hold 64 bytes, twice the narrowest span
        pieces_in_span = span // 16
        return r % 8 * span + r // 8 * stride + piece % pieces_in_span * 16 + piece // pieces_in_span * leading
    k, piece = np.arange(row_bytes // element, dtype=np.int64)[:, None], np.arange(rows // per_piece, dtype=np.int64)[None, :]
    if span == 0:
        return piece * stride + k % 8 * 16 + k // 8 * leading
    pieces_in_span = span // 16
    return piece % pieces_in_span * 16 + piece // pieces_in_span * leading + k % 8 * span + k // 8 * stride


@lru_cache(maxsize=1024)
def _pieces(bits: int, rows: int, row_bytes: int, mn_major: bool, element: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """`piece_addresses` of one descriptor."""
    addresses = ((bits & 0x3FFF) << 4) + _offsets(bits >> 14, rows, row_bytes, mn_major, element)
    mask, base = _phase(bits >> 14)
    if mask:
        addresses = addresses ^ ((((addresses >> 7) - base) & mask) << 4)
    return addresses


def piece_addresses(
    descriptors: Bits, rows: int, row_bytes: int, mn_major: bool = False, element: int = 2
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Shared addresses of the 16-byte pieces of operand tiles, swizzle applied: ``[groups, rows, row_bytes / 16]``.

    `descriptors` is uint64 ``[groups]``; `rows` is 64 for A and N for B, `row_bytes` the bytes of one row's K elements (32; 64 for B of sparse products), `element` the bytes
    of an element. With `mn_major` (imm-trans = 1) the shape is ``[groups, K, rows * element / 16]`` instead.

    The swizzle works on the absolute address; a base offset b (for patterns that begin off their natural boundary) shifts the phase by b rows
    of 128 bytes.
    """
    return np.stack([_pieces(bits, rows, row_bytes, mn_major, element) for bits in descriptors.tolist()])


def _phase(high: int) -> tuple[int, int]:
    """XOR mask and base offset."""
    field = decode(high << 14)
    return {"none": 0, "32B": 1, "64B": 3, "128B": 7}[field.swizzle], field.base_offset
