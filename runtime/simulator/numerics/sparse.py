"""Structured-sparse products (PTX 9.7.14.6 and 9.7.15.6): A holds half of its elements, metadata says which.

Four bits of metadata describe one chunk of A's row: 4 elements of 8 or 16 bits (two kept), 8 of 4 bits (two pairs kept) or 2 of 32 bits (one kept).
Of the four lanes of a group, those that hold metadata are chosen by the sparsity selector:

* 16- and 32-bit elements: a lane has 4 chunks of row g in its low half and those of row g + 8 in the high half. The shorter K takes lane `selector`, the longer
  one lanes 2 `selector` and 2 `selector` + 1, the second for the upper half of K.
* 8- and 4-bit elements: a lane has 8 chunks of one row. The shorter K takes lanes 2 `selector` (row g) and 2 `selector` + 1 (row g + 8), the longer one all four:
  0 and 1 as before, 2 and 3 for the upper half of K.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from fa4dsl.runtime.simulator.numerics import fragments, product
from fa4dsl.runtime.simulator.numerics.operation import Bits

_SHAPE = re.compile(r"m16n8k(\d+)")
# (a, b) types to the accumulators and the two K
_FORMS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[int, ...]]] = {
    ("f16", "f16"): (("f16", "f32"), (16, 32)),
    ("bf16", "bf16"): (("f32",), (16, 32)),
    ("tf32", "tf32"): (("f32",), (8, 16)),
    **{(a, b): (("f32",), (64,)) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
    **{(a, b): (("s32",), (32, 64)) for a in ("s8", "u8") for b in ("s8", "u8")},
    **{(a, b): (("s32",), (64, 128)) for a in ("s4", "u4") for b in ("s4", "u4")},
}
_CHUNK = {4: 8, 8: 4, 16: 4, 32: 2}
"""Elements of A that four bits of metadata describe, by their width."""


@dataclass(frozen=True)
class Sparsity:
    """Where the metadata of one form lies. `k` counts A's columns, kept or not; `width` is in bits."""

    k: int
    width: int
    ordered: bool = False
    """Whether the first index of a chunk must be below the second."""

    @property
    def chunks(self) -> int:
        """Chunks of a row."""
        return self.k // _CHUNK[self.width]

    @property
    def selectors(self) -> int:
        """How many values the sparsity selector has."""
        per_lane = 4 if self.width >= 16 else 8
        lanes = self.chunks // per_lane * (1 if self.width >= 16 else 2)
        return 4 // lanes

    def nibbles(self, metadata: Bits, selector: int) -> Bits:
        """Metadata uint32 ``[warps, 32]`` to ``[warps, 16 rows, chunks]``."""
        warps = len(metadata)
        groups = metadata.reshape(warps, 8, 4)
        held = 4 // self.selectors
        words = groups[:, :, selector * held : (selector + 1) * held]
        parts = (words[..., None] >> (np.arange(8, dtype=np.uint32) * np.uint32(4))) & np.uint32(15)
        if self.width >= 16:
            #                warp, g, lane, half, chunk  ->  warp, (half, g), (lane, chunk)
            by_half: Bits = parts.reshape(warps, 8, held, 2, 4).transpose(0, 3, 1, 2, 4).reshape(warps, 16, -1)
            return by_half
        #                warp, g, upper, row half, chunk  ->  warp, (row half, g), (upper, chunk)
        by_lane: Bits = parts.reshape(warps, 8, held // 2, 2, 8).transpose(0, 3, 1, 2, 4).reshape(warps, 16, -1)
        return by_lane

    def valid(self, nibbles: Bits) -> Bits:
        """Whether each chunk's indices are meaningful."""
        if self.width == 32:
            good: Bits = (nibbles == 0b0100) | (nibbles == 0b1110)
            return good
        first, second = nibbles & np.uint32(3), nibbles >> np.uint32(2)
        ordered: Bits = (first < second) if self.ordered else (first != second)
        return ordered

    def positions(self, nibbles: Bits) -> Bits:
        """The column of A that each kept element stands in: ``[warps, 16 rows, K / 2]``."""
        starts = np.arange(self.chunks) * _CHUNK[self.width]
        first, second = (nibbles & np.uint32(3)).astype(np.int64), (nibbles >> np.uint32(2)).astype(np.int64)
        if self.width == 32:
            single: Bits = starts + (nibbles == 0b1110)
            return single
        if self.width == 4:
            kept = np.stack([2 * first, 2 * first + 1, 2 * second, 2 * second + 1], axis=-1)
        else:
            kept = np.stack([first, second], axis=-1)
        return (starts[:, None] + kept).reshape(*nibbles.shape[:-1], -1)


def multiply(
    a: Bits, positions: Bits, b: Bits, c: Bits | None, kind: str, k: int, *, saturate: bool = False, aligned: bool = False
) -> Bits:
    """Numbers a ``[..., M, K / 2]`` at columns `positions`, b ``[..., N, K]``, accumulator bits c ``[..., M, N]`` (None: zero) to accumulator bits."""
    if np.isfinite(b).all():
        dense = np.zeros((*a.shape[:-1], k))
        np.put_along_axis(dense, positions, a, axis=-1)
        return product.multiply_accumulate(dense, b, c, kind, saturate=saturate, aligned=aligned)
    # an element of B that is not chosen does not count, be it infinite
    chosen = np.take_along_axis(b[..., None, :, :], positions[..., :, None, :], axis=-1)
    start = None if c is None else c[..., :, None, :]
    result = product.multiply_accumulate(a[..., :, None, :], chosen, start, kind, saturate=saturate, aligned=aligned)
    return result[..., 0, :]


@dataclass(frozen=True)
class SparseMma:
    """One form of mma.sp with N = 8."""

    k: int
    d_type: str
    a_type: str
    b_type: str
    saturate: bool
    sparsity: Sparsity

    @property
    def a_registers(self) -> int:
        return 16 * self.k // 2 * product.WIDTHS[self.a_type] // 1024

    @property
    def b_registers(self) -> int:
        return 8 * self.k * product.WIDTHS[self.b_type] // 1024

    @property
    def d_registers(self) -> int:
        return 2 if self.d_type == "f16" else 4

    def multiply(self, a: Bits, b: Bits, c: Bits, positions: Bits) -> Bits:
        """D registers from A, B, C registers ``[registers, warps, 32]`` and the kept elements' columns."""
        width = product.WIDTHS[self.a_type]
        result = multiply(
            product.numbers(fragments.rows16(a, width), self.a_type),
            positions,
            product.numbers(fragments.rows8(b, width), self.b_type),
            fragments.accumulators(c, product.WIDTHS[self.d_type], 16),
            self.d_type,
            self.k,
            saturate=self.saturate,
            aligned=self.a_type in product.ALIGNED_TYPES,
        )
        return fragments.to_accumulators(result, 32)


@cache
def parse_sparse_mma(mnemonic: str) -> SparseMma | None:
    """Decode ``mma.sp{::ordered_metadata}.sync.aligned.m16n8kK.row.col...``; None for other forms."""
    words = mnemonic.split(".")
    if words[:1] != ["mma"] or words[1:2] not in (["sp"], ["sp::ordered_metadata"]) or words[2:4] != ["sync", "aligned"] or len(words) < 11:
        return None
    shape = _SHAPE.fullmatch(words[4])
    rest = words[7:]
    saturate = rest[0] == "satfinite"
    if saturate:
        rest = rest[1:]
    if shape is None or words[5:7] != ["row", "col"] or len(rest) != 4:
        return None
    d_type, a_type, b_type, c_type = rest
    form = _FORMS.get((a_type, b_type))
    k = int(shape[1])
    if form is None or c_type != d_type or d_type not in form[0] or k not in form[1] or (saturate and d_type != "s32"):
        return None
    return SparseMma(k, d_type, a_type, b_type, saturate, Sparsity(k, product.WIDTHS[a_type], words[1] != "sp"))
