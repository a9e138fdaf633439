"""Tiled tensor copies (PTX 5.5, 9.7.9.25.5): which global bytes a box covers, where they land in shared memory, and what fills the rest.

A box is moved row by row: a row is the innermost dimension, dense in global memory, always a multiple of 16 bytes. In shared memory the rows
follow each other, innermost dimension first, and the swizzle then permutes 16-byte chunks by the absolute address. Without a swizzle the rows are
dense; with one, each row begins a span of its own, as measured: a row narrower than the span leaves the rest of it untouched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fa4dsl.runtime.dtypes import find_dtype
from fa4dsl.runtime.simulator.numerics.atomic import atomic_update
from fa4dsl.runtime.simulator.numerics.operation import Bits, unsigned

Ints = np.ndarray[Any, np.dtype[np.int64]]

SWIZZLE_BITS = {"none": 0, "32B": 1, "64B": 3, "128B": 7}
SWIZZLE_SPANS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}
"""Bytes that a row takes at least in shared memory."""
_FILL_NAN = np.uint16(0x7FF7)
CHUNK = 16


def element_type(dtype: str) -> str:
    """The PTX type that a reduction into a map of this dtype works on ("f32", "s32", "u64", ...); 8-bit types, which have no reductions, are "u8"."""
    found = find_dtype(dtype)
    if found is None:
        raise ValueError(f"{dtype!r} is not an element type")
    if found.size == 1:
        return "u8"
    if found.kind == "float":
        return found.name
    return f"{'s' if found.kind == 'signed' else 'u'}{8 * found.size}"


def element_bytes(dtype: str) -> int:
    """Bytes of an element of a tensor map's dtype."""
    found = find_dtype(dtype)
    if found is None:
        raise ValueError(f"{dtype!r} is not an element type")
    return found.size


def swizzle_address(addresses: Bits, mode: str) -> Bits:
    """Where bytes of a dense box go: XOR of address bits 4.. with bits 7.. (PTX 5.5.7). Absolute shared addresses; an involution."""
    mask = SWIZZLE_BITS[mode]
    if mask == 0:
        return addresses
    kind = addresses.dtype.type
    permuted: Bits = addresses ^ (((addresses >> kind(7)) & kind(mask)) << kind(4))
    return permuted


def chunk_addresses(destination: int, size: int, mode: str, row_bytes: int = 0) -> Ints:
    """Absolute shared address of each 16-byte chunk of a box of `size` bytes at `destination`, whose rows have `row_bytes` (0: as long as the span)."""
    offsets = np.arange(0, size, CHUNK, dtype=np.int64)
    span = SWIZZLE_SPANS[mode]
    if 0 < row_bytes < span:
        offsets = offsets // row_bytes * span + offsets % row_bytes
    return swizzle_address(destination + offsets, mode)


@dataclass(frozen=True)
class Box:
    """One copy: a box at given coordinates. Offsets are in bytes from the map's base address."""

    element: str
    """PTX type of the elements."""
    row_bytes: int
    row_offsets: Ints
    """[rows] where each row begins in global memory; meaningless bytes where the row lies outside."""
    row_inside: np.ndarray[Any, np.dtype[np.bool_]]
    """[rows] whether the outer coordinates lie inside the tensor."""
    first: int
    last: int
    """Bytes ``first <= i < last`` of every row lie inside along the innermost dimension."""
    fill: int
    """16-bit pattern of the elements outside: 0, or 0x7ff7 for NaN fill as measured."""

    @property
    def stored_last(self) -> int:
        """`last` of a store or reduction: the end of a row's last 16-byte chunk, as the hardware clips whole chunks (measured)."""
        return min(-(-self.last // CHUNK) * CHUNK, self.row_bytes)

    @property
    def size(self) -> int:
        """Bytes of the whole box: what a load counts towards the transaction, elements outside included."""
        return self.row_bytes * len(self.row_offsets)

    def extent(self, swizzle: str) -> int:
        """Bytes of shared memory from the first byte of the box to the end of its last row's span."""
        return max(self.row_bytes, SWIZZLE_SPANS[swizzle]) * len(self.row_offsets)

    @property
    def complete(self) -> bool:
        """Nothing lies outside."""
        return self.first == 0 and self.last == self.row_bytes and bool(self.row_inside.all())

    def global_ranges(self, base: int = 0, stored: bool = False) -> tuple[Ints, int]:
        """Starts and common length of the global byte ranges that the copy touches; `stored`: that a store or reduction does."""
        length = max((self.stored_last if stored else self.last) - self.first, 0)
        if length == 0:
            return np.empty(0, np.int64), 0
        return base + self.row_offsets[self.row_inside] + self.first, length

    def read(self, memory: Bits, base: int) -> Bits:
        """The dense box as uint8 [size] from byte array `memory`, in which the map's base lies at index `base`; fill where outside."""
        rows = len(self.row_offsets)
        inside = self.row_inside
        starts = base + self.row_offsets
        if (base | self.row_bytes | self.first) % CHUNK == 0 and self.complete and not (starts % CHUNK).any():
            chunks = memory[: len(memory) // CHUNK * CHUNK].view(np.complex128)
            index = (starts // CHUNK)[:, None] + np.arange(self.row_bytes // CHUNK)
            whole: Bits = chunks[index].view(np.uint8).reshape(-1)
            return whole
        dense = np.empty((rows, self.row_bytes), np.uint8)
        dense.view(np.uint16)[...] = np.uint16(self.fill)
        if self.first < self.last:
            dense[inside, self.first : self.last] = memory[starts[inside][:, None] + np.arange(self.first, self.last)]
        return dense.reshape(-1)

    def write(self, memory: Bits, base: int, dense: Bits) -> None:
        """Store the dense box (uint8 [size]) into `memory`; what lies outside is dropped, except that a row ends with a whole 16-byte chunk."""
        if self.first >= self.last:
            return
        source = dense.reshape(-1, self.row_bytes)
        starts = base + self.row_offsets
        if self.complete and not (starts % CHUNK).any():
            chunks = memory[: len(memory) // CHUNK * CHUNK].view(np.complex128)
            index = (starts // CHUNK)[:, None] + np.arange(self.row_bytes // CHUNK)
            chunks[index] = np.ascontiguousarray(source).view(np.complex128)
            return
        inside, last = self.row_inside, self.stored_last
        memory[starts[inside][:, None] + np.arange(self.first, last)] = source[inside, self.first : last]

    def reduce(self, memory: Bits, base: int, dense: Bits, kind: str, *, flush: bool = False) -> None:
        """cp.reduce.async.bulk.tensor: combine the dense box with `memory` by add, min, max, inc, dec, and, or, xor of the map's type."""
        if self.first >= self.last or not self.row_inside.any():
            return
        inside, last = self.row_inside, self.stored_last
        index = (base + self.row_offsets[inside])[:, None] + np.arange(self.first, last)
        source = np.ascontiguousarray(dense.reshape(-1, self.row_bytes)[inside, self.first : last])
        memory[index] = reduce_bytes(memory[index].reshape(-1), source.reshape(-1), kind, self.element, flush=flush).reshape(index.shape)


def reduce_bytes(old: Bits, value: Bits, kind: str, type_name: str, *, flush: bool = False) -> Bits:
    """Element-wise `atomic_update` over raw bytes (uint8 arrays of equal length), for bulk reductions."""
    width = 32 if type_name.endswith("x2") else int(type_name.lstrip("busf"))
    dtype = unsigned(width)
    result = atomic_update(kind, type_name, np.ascontiguousarray(old).view(dtype), np.ascontiguousarray(value).view(dtype), flush=flush)
    return result.view(np.uint8)


@dataclass(frozen=True)
class TensorLayout:
    """A tensor map, decoded once. Sizes, box and strides are innermost first; `strides_bytes` are those of dimensions 1 and up."""

    dtype: str
    sizes: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: str = "none"
    oob_fill: str = "zero"

    @staticmethod
    def of(record: Any) -> TensorLayout:
        """From a mapping or an object with these fields (other fields are ignored)."""

        def get(name: str, default: Any) -> Any:
            return record.get(name, default) if isinstance(record, Mapping) else getattr(record, name, default)

        sizes = tuple(get("sizes", ()))
        return TensorLayout(
            get("dtype", ""),
            sizes,
            tuple(get("strides_bytes", ())),
            tuple(get("box", ())),
            tuple(get("element_strides", None) or (1,) * len(sizes)),
            get("swizzle", "none"),
            get("oob_fill", "zero"),
        )

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Elements taken along each dimension: box over element stride, rounded up. The innermost element stride has no effect."""
        return tuple(
            extent if dimension == 0 else -(-extent // stride)
            for dimension, (extent, stride) in enumerate(zip(self.box, self.element_strides, strict=True))
        )

    @cached_property
    def box_bytes(self) -> int:
        """Bytes that a load of the box adds to the transaction count."""
        return int(np.prod(self.counts)) * element_bytes(self.dtype)

    @cached_property
    def _steps(self) -> tuple[Ints, ...]:
        """For each outer dimension its coordinates relative to the box's corner, shaped to broadcast over the rows [n_last, ..., n_1]."""
        steps = []
        for dimension in range(1, self.rank):
            shape = [1] * (self.rank - 1)
            shape[self.rank - 1 - dimension] = -1
            steps.append((np.arange(self.counts[dimension], dtype=np.int64) * self.element_strides[dimension]).reshape(shape))
        return tuple(steps)

    def at(self, coordinates: Sequence[int]) -> Box:
        """The box whose corner is at `coordinates` (signed, innermost first)."""
        width = element_bytes(self.dtype)
        rows_shape = tuple(reversed(self.counts[1:]))
        offsets = np.full(rows_shape, int(coordinates[0]) * width, np.int64)
        inside = np.ones(rows_shape, np.bool_)
        for dimension, steps in enumerate(self._steps, start=1):
            at = steps + int(coordinates[dimension])
            offsets += at * self.strides_bytes[dimension - 1]
            inside &= (at >= 0) & (at < self.sizes[dimension])
        extent = self.counts[0]
        first = min(max(-int(coordinates[0]), 0), extent)
        last = min(max(self.sizes[0] - int(coordinates[0]), 0), extent)
        fill = int(_FILL_NAN) if self.oob_fill == "nan" else 0
        return Box(element_type(self.dtype), extent * width, offsets.reshape(-1), inside.reshape(-1), first * width, last * width, fill)


def box_elements(record: Any, coordinates: Sequence[int]) -> tuple[Ints, np.ndarray[Any, Any], Ints]:
    """Element by element: global byte offsets from the base, whether each lies inside, and dense shared byte offsets; all flat, in box order."""
    layout = record if isinstance(record, TensorLayout) else TensorLayout.of(record)
    box = layout.at(coordinates)
    width = element_bytes(layout.dtype)
    within = np.arange(0, box.row_bytes, width, dtype=np.int64)
    offsets = (box.row_offsets[:, None] + within).reshape(-1)
    inside = (box.row_inside[:, None] & (within >= box.first) & (within < box.last)).reshape(-1)
    return offsets, inside, np.arange(0, box.size, width, dtype=np.int64)
