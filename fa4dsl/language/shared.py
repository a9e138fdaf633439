"""Shared arrays: named, shaped, typed shared memory, of this CTA or of a peer.

``stage[f, row]`` with all indices is one element; with the last left off, a vector of up to 16 bytes; with more left off, a part of the
array that TMA, bulk copies and matrix instructions take. ``stage.on(peer)`` is the same array in another CTA of the cluster.

In an array with a swizzle an index still means the element: its 16-byte chunk is looked up where TMA and wgmma have it, at the byte offset
``o ^ (o >> 7 & m) << 4`` with m = 1, 3, 7 for "32B", "64B", "128B" (PTX ISA, "Swizzling modes"); arrays are aligned to the pattern's period.
"""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

from fa4dsl.frontend.arguments import Integer, Kind, Position, Stored, one_of
from fa4dsl.frontend.trace import Trace, current
from fa4dsl.frontend.values import Value, as_value, constant, describe, is_integer, is_number
from fa4dsl.language.memory import LOADS, PointerValue, read, write
from fa4dsl.language.registers import check_sizes
from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.types import SWIZZLE_BYTES, DType, PointerType, Swizzle, i32, u8

ALIGNMENT = {"none": 128, "32B": 256, "64B": 512, "128B": 1024}
"""Byte alignment of an array by its swizzle: the pattern's period, so that element (0, 0) is where the pattern starts; 128 for TMA."""


class Allocation:
    """One `shared(...)` statement."""

    def __init__(self, handle: Any, name: str, dtype: DType, shape: tuple[int, ...], swizzle: Swizzle, place: Location) -> None:
        self.handle = handle
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.swizzle: Swizzle = swizzle
        self.place = place

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.dtype.bytes


class SharedArray:
    """A shared array or a part of one. Made by `shared`; parts, views and peers share its memory."""

    run_time = True
    kind_in_words = "a shared array"
    __iter__ = None

    def __init__(
        self, allocation: Allocation, dtype: DType, shape: tuple[int, ...], offset: Any = 0, rank: Value | None = None, barrier: Any = None
    ) -> None:
        self.allocation = allocation
        self.dtype = dtype
        self.shape = shape
        self.byte_offset = offset
        """Bytes from the start of the allocation: a number or an i32 value."""
        self.rank = rank
        """The CTA of the cluster it lies in; None for this one."""
        self.barrier = barrier
        """In a ring's slot: the barrier and index that count the bytes loaded into it."""

    @property
    def name(self) -> str:
        return self.allocation.name

    @property
    def swizzle(self) -> Swizzle:
        return self.allocation.swizzle

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return prod(self.shape) * self.dtype.bytes

    @property
    def in_words(self) -> str:
        where = " of a peer" if self.rank is not None else ""
        return f"the shared array {self.name!r}{where}, {self.dtype} {list(self.shape)}"

    def on(self, rank: Integer) -> SharedArray:
        """The same array in the CTA of that rank of this cluster. Loads and stores go through distributed shared memory.

        The peer must have started (a `cluster.sync()` before the first access) and must not end before the last one.
        """
        trace = current()
        if trace.cluster == (1, 1, 1):
            trace.fail("L070", what=self.in_words)
        if is_number(rank) and not 0 <= rank < prod(trace.cluster):
            trace.fail("L071", trace.place_of(rank), rank=rank, size=prod(trace.cluster))
        return SharedArray(self.allocation, self.dtype, self.shape, self.byte_offset, as_value(rank, i32), self.barrier)

    def as_(self, dtype: DType) -> SharedArray:
        """The same bytes read as another type: the last dimension grows or shrinks with the size of the element."""
        total = self.shape[-1] * self.dtype.bytes
        if total % dtype.bytes:
            current().fail("L072", name=self.name, size=total, dtype=dtype)
        return SharedArray(self.allocation, dtype, (*self.shape[:-1], total // dtype.bytes), self.byte_offset, self.rank, self.barrier)

    def reshape(self, *shape: int | tuple[int, ...]) -> SharedArray:
        """The same elements in another shape (row-major)."""
        sizes: Any = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        check_sizes(shape)
        if prod(sizes) != prod(self.shape):
            current().fail(
                "L073", current().place_of(shape[0]) if len(shape) == 1 else None, name=self.name, given=list(sizes), shape=list(self.shape)
            )
        return SharedArray(self.allocation, self.dtype, sizes, self.byte_offset, self.rank, self.barrier)

    @property
    def T(self) -> Transposed:  # noqa: N802
        """The array with its two dimensions exchanged, as an operand of `wgmma`."""
        if len(self.shape) not in (2, 3):
            current().fail("L073", name=self.name, given="its transpose", shape=list(self.shape))
        return Transposed(self)

    # --- addresses

    def _offset_of(self, indices: tuple[Any, ...]) -> Any:
        """Byte offset of the element (or part) at `indices` from the start of the allocation."""
        trace = current()
        offset = self.byte_offset
        size = prod(self.shape) * self.dtype.bytes
        constant_part = 0
        for axis, (index, extent) in enumerate(zip(indices, self.shape, strict=False)):
            size //= extent
            if is_number(index):
                if not 0 <= index < extent:
                    trace.fail("L074", trace.place_of(index), name=self.name, index=index, axis=axis, extent=extent)
                constant_part += index * size
            else:
                item = as_value(index, i32) if not (isinstance(index, Value) and index.dtype.bits == 32) else Value(index.ir, i32)
                step = item * size if size > 1 else item
                offset = step if is_number(offset) and offset == 0 else offset + step
        return offset + constant_part if constant_part or is_number(offset) else offset

    def offset_value(self) -> Any:
        """The byte offset of the part as an MLIR value, for instructions that permute by themselves (TMA, wgmma) or move it as it lies."""
        return _value(self.byte_offset)

    def element_offset(self, indices: tuple[Any, ...]) -> Any:
        """The byte offset of an element, where the swizzle has it."""
        offset = self._offset_of(indices)
        chunks = SWIZZLE_BYTES[self.swizzle] // 16 - 1
        return offset ^ (offset >> 7 & chunks) << 4 if chunks else offset

    def element_offset_value(self, indices: Any) -> Any:
        """`element_offset` as an MLIR value."""
        return _value(self.element_offset(self._indices(indices)))

    def pointer(self, indices: Position = ()) -> PointerValue:
        """The address of an element: shared::cta, or shared::cluster for a peer's. With a swizzle it leads no further than its 16-byte chunk."""
        trace = current()
        offset = self.element_offset(self._indices(indices))
        if self.rank is None:
            address = trace.fa4("shared_address", [self.allocation.handle, _value(offset)]).result
            return PointerValue(address, PointerType(self.dtype, "shared"))
        # The peer's base once, offsets on top of it: one mapa serves all accesses to that peer.
        base = trace.fa4("shared_address", [self.allocation.handle, constant(0, i32).ir]).result
        peer = PointerValue(trace.fa4("peer_address", [base, self.rank.ir]).result, PointerType(u8, "cluster"))
        return PointerValue(peer.offset(offset).ir, PointerType(self.dtype, "cluster"))

    # --- elements

    def _indices(self, index: Any) -> tuple[Any, ...]:
        trace = current()
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) > len(self.shape):
            trace.fail("L023", trace.place_of(index), name=self.in_words, given=len(indices), rank=len(self.shape))
        for item in indices:
            if isinstance(item, slice) or not (isinstance(item, int) or (isinstance(item, Value) and item.dtype.is_integer)):
                trace.fail("L075", trace.place_of(item), name=self.name, given="a slice" if isinstance(item, slice) else describe(item))
        return indices

    def __getitem__(self, index: Any) -> Any:
        indices = self._indices(index)
        missing = len(self.shape) - len(indices)
        if missing == 0:
            return self.load(*indices)
        if missing == 1 and self._is_vector():
            return self.load(*indices, 0, width=self.shape[-1])
        return SharedArray(self.allocation, self.dtype, self.shape[len(indices) :], self._offset_of(indices), self.rank, self.barrier)

    def __setitem__(self, index: Any, value: Any) -> None:
        indices = self._indices(index)
        missing = len(self.shape) - len(indices)
        if missing > 1 or (missing == 1 and not self._is_vector()):
            current().fail("L076", name=self.name, shape=list(self.shape[len(indices) :]), dtype=self.dtype)
        self.store((*indices, *([0] * missing)), value)

    def _is_vector(self) -> bool:
        """Whether a row of the last dimension is one load or store."""
        return self.shape[-1] * self.dtype.bytes in LOADS

    def load(self, *indices: Any, width: int = 1) -> Any:
        """Element `indices`, or `width` elements from there on along the last dimension: ld.shared, or ld.shared::cluster of a peer's."""
        return read(self.pointer(indices), width)

    def store(self, indices: Position, value: Stored) -> None:
        """Stores a scalar, vector or tuple of scalars at element `indices`: st.shared, or st.shared::cluster into a peer's."""
        write(self.pointer(indices), value)

    def part(self, *indices: Any) -> SharedArray:
        """The part of the array at leading indices, whatever its size."""
        checked = self._indices(indices)
        return SharedArray(self.allocation, self.dtype, self.shape[len(checked) :], self._offset_of(checked), self.rank, self.barrier)

    def window(self, first: Any, count: int) -> SharedArray:
        """`count` rows of the leading dimension, from row `first` on, whatever their size."""
        (checked,) = self._indices(first)
        if not isinstance(count, int) or not 1 <= count <= self.shape[0]:
            current().fail("L074", current().place_of(count), name=self.name, index=describe(count), axis=0, extent=self.shape[0])
        return SharedArray(self.allocation, self.dtype, (count, *self.shape[1:]), self._offset_of((checked,)), self.rank, self.barrier)


Own = Annotated[
    SharedArray,
    Kind(
        "a shared array of this CTA",
        lambda value: isinstance(value, SharedArray) and value.rank is None,
        mend="pass this CTA's array (or a part of it); a peer's takes plain stores, store_async and bulk_push",
    ),
]
"""This CTA's own."""


def both_of_a_peer(what: str, array: SharedArray, barrier: Any) -> None:
    """Raises L095 where the array or the barrier is this CTA's own."""
    trace = current()
    for item in (array, barrier):
        if item.rank is None:
            trace.fail("L095", trace.place_of(item), what=what, given=item.in_words)


def _value(offset: Any) -> Any:
    """A byte offset, number or value, as an MLIR value."""
    return (constant(offset, i32) if is_number(offset) else offset).ir


class Transposed:
    """A shared array read with rows and columns exchanged; only `wgmma` takes it."""

    run_time = True
    kind_in_words = "the transpose of a shared array"

    def __init__(self, array: SharedArray) -> None:
        self.array = array
        self.in_words = f"the transpose of {array.in_words}"


def shared(
    dtype: DType,
    shape: int | tuple[int, ...],
    *,
    name: str = "",
    swizzle: Annotated[Swizzle, one_of("none", "32B", "64B", "128B", code="L048")] = "none",
    alignment: Annotated[int, one_of(0, *(1 << bits for bits in range(11)), code="L102")] = 0,
    overlay: Own | None = None,
) -> SharedArray:
    """An array in this CTA's shared memory.

    Args:
        dtype: element type.
        shape: compile-time sizes, row-major.
        name: shown in errors, maps of shared memory and simulator reports; by default the variable's name.
        swizzle: "none", "32B", "64B" or "128B": how TMA and wgmma permute 16-byte chunks of it; each row of its last dimension is exactly
            the swizzle's span. Indices mean the same elements with and without.
        alignment: bytes, at least what the swizzle needs (128, 256, 512, 1024).
        overlay: an array whose memory it takes; the author sees to it that the uses do not overlap in time.

    Raises L024 for a shape that is not known at compile time, L078 for a row that is not the swizzle's span, L079 for an overlay that is larger.
    """
    trace = current()
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if not sizes or not all(is_integer(size) and size > 0 for size in sizes):
        trace.fail("L024", trace.place_of(shape), shape=", ".join(describe(size) for size in sizes))
    row = sizes[-1] * dtype.bytes
    if swizzle != "none" and row != SWIZZLE_BYTES[swizzle]:
        span = SWIZZLE_BYTES[swizzle]
        trace.fail("L078", name=name or "the array", row=row, swizzle=swizzle, span=span, columns=span // dtype.bytes)
    if overlay is not None and (not isinstance(overlay, SharedArray) or overlay.bytes < prod(sizes) * dtype.bytes):
        given = f"{overlay.bytes} bytes" if isinstance(overlay, SharedArray) else describe(overlay)
        trace.fail("L079", trace.place_of(overlay), needed=prod(sizes) * dtype.bytes, given=given)
    wanted = max(alignment, ALIGNMENT[swizzle])
    allocation = _allocate(trace, dtype, tuple(sizes), unique_name(trace, name or "shared"), swizzle, wanted, overlay)
    return _Unnamed(allocation, dtype, tuple(sizes)) if not name else SharedArray(allocation, dtype, tuple(sizes))


class _Unnamed(SharedArray):
    """A whole array that takes the name of the variable it is first assigned to."""

    adopted = False

    def adopt_name(self, name: str) -> None:
        trace = current()
        if not self.adopted:
            self.adopted = True
            trace.shared_names.pop(self.allocation.name, None)
            self.allocation.name = unique_name(trace, name)
            owner = self.allocation.handle.owner
            owner.attributes["name"] = trace.ir.StringAttr.get(self.allocation.name)


def _allocate(
    trace: Trace, dtype: DType, shape: tuple[int, ...], name: str, swizzle: Swizzle, alignment: int, overlay: SharedArray | None
) -> Allocation:
    attributes = {
        "name": name,
        "dtype": dtype.memory_type,
        "shape": list(shape),
        "alignment": alignment,
        "swizzle": swizzle,
        "overlay": overlay.name if overlay is not None else None,
    }
    before = trace.last_allocation
    with trace.at_entry():
        operation = trace.fa4("shared_alloc", [], attributes)
    trace.last_allocation = operation

    def undo() -> None:
        trace.last_allocation = before
        operation.erase()

    trace.undo_later(undo)
    return Allocation(operation.result, name, dtype, shape, swizzle, trace.location)


def unique_name(trace: Trace, name: str) -> str:
    """A name for a shared object; a name that is taken gets a number. Raises L080 where the same name was given by hand at another place."""
    if not isinstance(name, str):
        trace.fail("L021", trace.place_of(name), needed="the name of a shared object", given=describe(name))
    candidate, number = name, 2
    while candidate in trace.shared_names:
        candidate, number = f"{name}_{number}", number + 1
    trace.shared_names[candidate] = trace.location

    def undo() -> None:
        trace.shared_names.pop(candidate, None)

    trace.undo_later(undo)
    return candidate


def frame_of(array: SharedArray) -> Frame:
    """Where an array was allocated, for messages."""
    return Frame(array.allocation.place, f"{array.name} is allocated here")
