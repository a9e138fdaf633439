"""TMA: tensor maps as kernel parameters, boxes loaded and stored, bulk groups.

The box of a map is never typed: it is the shape of the shared arrays that are loaded and stored with it, which must agree. Coordinates
are in elements and outermost first, like the shape of the array in Python.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fa4dsl.frontend.arguments import Integer, Kind, Position, between, whole
from fa4dsl.frontend.arithmetic import binary
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, as_value, constant, describe, is_integer, is_number
from fa4dsl.language.barriers import Barrier, OwnBarrier
from fa4dsl.language.indices import special
from fa4dsl.language.memory import GlobalPointer
from fa4dsl.language.shared import Own, SharedArray, both_of_a_peer, frame_of
from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.types import i16, i32

Cache = Literal["evict_first", "evict_last", "evict_normal", "evict_unchanged"]
Reduction = Literal["add", "min", "max", "inc", "dec", "and", "or", "xor"]
LARGEST_RANK = 5


def as_index(value: Any) -> Any:
    """An i32 operand."""
    return (constant(value, i32) if is_number(value) else as_value(value, i32)).ir


def _is_group(value: Any) -> bool:
    if is_integer(value):
        return bool(1 <= value <= 0xFFFF)
    return isinstance(value, str) or (isinstance(value, Value) and value.type == i16)


Multicast = Annotated[Any, Kind('"cluster", "x", "y", "z" or a mask of ranks (1 to 0xFFFF, or a run-time i16)', _is_group)]


class MapValue:
    """A TMA descriptor parameter (`TensorMap`)."""

    run_time = True
    kind_in_words = "a tensor map"
    form = "tiled"

    def __init__(self, handle: Any, name: str, place: Location) -> None:
        self.handle = handle
        self.name = name
        self.place = place
        self.template: dict[str, Any] | None = None
        self.template_place: Location | None = None

    @property
    def in_words(self) -> str:
        return f"the tensor map {self.name!r}"

    def prefetch(self) -> None:
        """Fetches the descriptor into its cache: prefetch.tensormap. Executed by one thread."""
        current().fa4("tensor_map_prefetch", [self.handle])

    def _use(self, array: Any, rank: int, oob_fill: str | None) -> int:
        """Takes the box from a shared array (or checks it against the first use) and gives its bytes."""
        trace = current()
        if not isinstance(array, SharedArray):
            trace.fail("L011", trace.place_of(array), expected="a shared array or a part of one", given=describe(array))
        shape = (1,) * (rank - len(array.shape)) + array.shape
        if rank > LARGEST_RANK or len(shape) != rank:
            trace.fail("L090", trace.place_of(array), name=self.name, shape=list(array.shape), rank=rank)
        template = {
            "dtype": array.dtype.name,
            "rank": rank,
            "box": tuple(reversed(shape)),
            "swizzle": array.swizzle,
            "oob_fill": oob_fill or (self.template or {}).get("oob_fill", "zero"),
            "form": self.form,
        }
        self._remember(template, array)
        return array.bytes

    def _remember(self, template: dict[str, Any], array: SharedArray) -> None:
        trace = current()
        if self.template is None:
            self.template, self.template_place = template, trace.location

            def undo() -> None:
                self.template = self.template_place = None

            trace.undo_later(undo)
        for key, value in template.items():
            if self.template[key] != value:
                first = Frame(self.template_place, "first used here") if self.template_place else None
                trace.fail("L091", trace.location, first, frame_of(array), name=self.name, what=key, value=value, first=self.template[key])

    def manifest_fields(self) -> dict[str, Any]:
        """The parameter's entry in `fa4.parameters`. Raises L092 for a map that was never used."""
        trace = current()
        ir = trace.ir
        if self.template is None:
            trace.fail("L092", self.place, name=self.name)
        integer = ir.IntegerType.get_signless(64)
        fields = {
            "dtype": ir.StringAttr.get(self.template["dtype"]),
            "rank": ir.IntegerAttr.get(integer, self.template["rank"]),
            "box": ir.DenseI64ArrayAttr.get(list(self.template["box"])),
            "swizzle": ir.StringAttr.get(self.template["swizzle"]),
            "oob_fill": ir.StringAttr.get(self.template["oob_fill"]),
            "form": ir.StringAttr.get(self.template["form"]),
        }
        return {"dtype": ir.StringAttr.get(self.template["dtype"]), "tensor_map": ir.DictAttr.get(fields)}

    def _coordinates(self, coordinates: Any) -> list[Any]:
        trace = current()
        items = coordinates if isinstance(coordinates, tuple | list) else (coordinates,)
        if not 1 <= len(items) <= LARGEST_RANK:
            trace.fail("L093", trace.place_of(coordinates), name=self.name, given=len(items))
        return [as_index(item) for item in reversed(items)]

    def load(
        self,
        destination: Own,
        coordinates: Position,
        barrier: OwnBarrier | None = None,
        *,
        multicast: Multicast | None = None,
        cache: Cache | None = None,
        out_of_bounds: Literal["zero", "nan"] | None = None,
    ) -> None:
        """Loads the box at `coordinates` into `destination`; its bytes complete on `barrier`. Executed by one thread.

        Args:
            destination: a shared array whose shape is the box (leading ones may be left off); 128-byte aligned.
            coordinates: of the box's first element, outermost first; may be negative or past the end.
            barrier: the mbarrier that counts the bytes; not given for a ring's slot, which has its own.
            multicast: who receives the box, at the same place, and counts it on the same barrier of theirs: "cluster" for all CTAs of the
                cluster, "x", "y" or "z" for those along that axis of it, or a mask of ranks. In a slot of a ring made with `multicast=True` by
                word only: each CTA of the group then loads as much, and the slot expects all of it.
            out_of_bounds: what elements outside the array read as; part of the map.

        The whole box counts as bytes, whatever lies outside. Raises L090 to L094.
        """
        trace = current()
        items = self._coordinates(coordinates)
        size = self._use(destination, len(items), out_of_bounds)
        signal = barrier if barrier is not None else destination.barrier
        if not isinstance(signal, Barrier):
            given = next((place for value, place in trace.arguments[2:] if value is None and barrier is None), None)
            trace.fail("L094", given, name=destination.name)
        if barrier is None:
            destination.barrier.slot.add_bytes(size, multicast)
        operands = [self.handle, destination.allocation.handle, destination.offset_value(), *signal.operands()]
        attributes = {"bytes": size, "cache": cache}
        if multicast is not None:
            trace.fa4("tma_load_multicast", [*operands, multicast_mask(multicast), *items], attributes)
        else:
            trace.fa4("tma_load", [*operands, *items], attributes)

    def store(self, source: Own, coordinates: Position, *, reduce: Reduction | None = None, cache: Cache | None = None) -> None:
        """Stores the box from `source` to `coordinates`; elements past the end are dropped. Executed by one thread.

        `reduce` combines with what is there ("add", "min", ...). Complete only after `tma.commit()` and `tma.wait()` by the same thread.
        Generic stores into `source` must be fenced for the async proxy (the compiler inserts it) and ordered before by a barrier.
        """
        items = self._coordinates(coordinates)
        size = self._use(source, len(items), None)
        operands = [self.handle, source.allocation.handle, source.offset_value(), *items]
        current().fa4("tma_store", operands, {"reduce": reduce or "none", "bytes": size, "cache": cache})


def multicast_mask(group: Any) -> Any:
    """The mask of ranks, i16, that `multicast=` stands for: bit r is the CTA of rank r. Raises L080 for another word."""
    trace = current()
    if not isinstance(group, str):
        return (constant(_signed(int(group)), i16) if is_number(group) else as_value(group, i16)).ir
    size_x, size_y, size_z = trace.cluster
    if group == "cluster":
        return constant(_signed(2 ** (size_x * size_y * size_z) - 1), i16).ir
    strides = {"x": (size_x, 1), "y": (size_y, size_x), "z": (size_z, size_x * size_y)}
    if group not in strides:
        trace.fail("L080", trace.place_of(group), name="multicast", problem=f'there is no group {group!r}: "cluster", "x", "y" or "z"')
    count, stride = strides[group]
    along = sum(1 << (stride * step) for step in range(count))
    # The group's first CTA has coordinate 0 on the axis.
    rank: Any = special("cluster.rank")
    own: Any = special(f"cluster_block.{group}")
    return (constant(along, i32) << (rank - own * stride)).to(i16).ir


def multicast_count(group: Any) -> int:
    """How many CTAs `multicast="cluster"` (or an axis) reaches."""
    size_x, size_y, size_z = current().cluster
    return {"cluster": size_x * size_y * size_z, "x": size_x, "y": size_y, "z": size_z}.get(group, 0)


def _signed(mask: int) -> int:
    return mask - (1 << 16) if mask >= 1 << 15 else mask


class RaggedMapValue(MapValue):
    """A descriptor over packed sequences (`RaggedTensorMap`)."""

    form = "wrapped"

    def store(  # type: ignore[override]
        self,
        source: Own,
        *,
        column: Integer,
        row: Integer,
        rows: Annotated[Any, whole(0)],
        head: Integer = 0,
        heads: Annotated[Any, whole(1)] = 1,
        cache: Cache | None = "evict_first",
    ) -> None:
        """Stores the first `rows` rows of `source` to an array ``[total_rows, heads, depth]``. Executed by one thread.

        Args:
            source: shared array ``[tile_rows, columns]``; its shape is the map's box. ``[positions, group, columns]`` where `group` heads are fused
                into the tile and the array is ``[total_rows, heads, group, depth]``; ``[blocks, tile_rows, 1, columns]`` to store several blocks of
                columns, one beside the other, at once.
            column: first column written, in elements; of blocks the number of the first.
            row: row of the array that the tile's row (or position) 0 goes to.
            rows: valid rows (or positions) of the tile, 1 up to all; the others are dropped by the hardware.
            head, heads: which head, and how many the array has.

        The map's dimensions are (depth, [group,] positions, merged rows and heads, wrap), with its base at the array: see
        `fa4dsl.runtime.tensor_map.wrapped` for the arithmetic. Nothing outside the array's valid rows is touched.
        """
        from fa4dsl.runtime.tensor_map import WRAP_POSITIONS

        trace = current()
        if not isinstance(source, SharedArray) or len(source.shape) not in (2, 3, 4):
            trace.fail("L090", trace.place_of(source), name=self.name, shape=describe(source), rank=4)
        shape = source.shape
        blocks = len(shape) == 4
        if blocks:
            self.form = "wrapped_blocks"
        merged = binary("+", binary("*", binary("+", as_value(row, i32), as_value(rows, i32)), as_value(heads, i32)), as_value(head, i32))
        first = binary("-", WRAP_POSITIONS, as_value(rows, i32))
        wrap = constant(WRAP_POSITIONS, i32)
        # Outermost first: (blocks, wrap, merged, positions, [group,] columns).
        box = (shape[0], 1, 1, shape[1], shape[3]) if blocks else (1, 1, *shape)
        size = self._use(source.reshape(*box), len(box), None)
        zero = constant(0, i32).ir
        outer = [first.ir, merged.ir, wrap.ir]
        coordinates = [zero, *outer, as_index(column)] if blocks else [as_index(column), *([zero] if len(shape) == 3 else []), *outer]
        operands = [self.handle, source.allocation.handle, source.offset_value(), *coordinates]
        trace.fa4("tma_store", operands, {"reduce": "none", "bytes": size, "cache": cache})


class Tma:
    """Groups of bulk copies and TMA stores of the executing thread."""

    def commit(self) -> None:
        """Closes the thread's current group: cp.async.bulk.commit_group."""
        current().fa4("bulk_commit")

    def wait(self, pending: Annotated[int, between(0, 63)] = 0, *, read: bool = False) -> None:
        """Waits until at most `pending` of the thread's groups are unfinished; with `read`, only until their sources may be overwritten."""
        current().fa4("bulk_wait", [], {"pending": pending, "read": read})

    def commit_and_wait(self) -> None:
        """Closes the group and waits until all its bytes are written and visible to this thread."""
        self.commit()
        self.wait()


tma = Tma()


Bytes = Annotated[
    Any,
    Kind(
        "a number of bytes, a multiple of 16 from 16 to the array's",
        lambda value: (isinstance(value, Value) and value.type == i32) or (is_integer(value) and value >= 16 and value % 16 == 0),
        code="L102",
    ),
]


def _bytes_of(array: SharedArray, size: Any) -> Any:
    return as_index(array.bytes if size is None else size)


def bulk_load(
    destination: Own,
    source: GlobalPointer,
    barrier: OwnBarrier,
    *,
    bytes: Bytes | None = None,
    multicast: Multicast | None = None,
    cache: Cache | None = None,
) -> None:
    """Copies contiguous bytes from global memory (a pointer) into a shared array; they complete on `barrier`. Executed by one thread.

    `bytes`: by default the whole array; a multiple of 16. Both addresses are 16-byte aligned. `multicast`: as for `MapValue.load`.
    """
    trace = current()
    operands = [destination.allocation.handle, destination.offset_value(), source.ir, _bytes_of(destination, bytes), *barrier.operands()]
    if multicast is not None:
        trace.fa4("bulk_load_multicast", [*operands, multicast_mask(multicast)], {"cache": cache})
    else:
        trace.fa4("bulk_load", operands, {"cache": cache})


def bulk_store(destination: GlobalPointer, source: Own, *, bytes: Bytes | None = None, cache: Cache | None = None) -> None:
    """Copies a shared array (or its first `bytes`) to global memory (a pointer). Executed by one thread; commit and wait as for TMA stores."""
    operands = [destination.ir, source.allocation.handle, source.offset_value(), _bytes_of(source, bytes)]
    current().fa4("bulk_store", operands, {"cache": cache})


def bulk_push(destination: SharedArray, source: Own, barrier: Barrier, *, bytes: Bytes | None = None) -> None:
    """Copies from this CTA's shared memory into a peer's; the bytes complete on the peer's barrier. Executed by one thread.

    `destination` and `barrier` are views of the peer: ``bulk_push(buffer.on(peer), mine, arrived.on(peer))``. Raises L095 where one is not.
    """
    trace = current()
    both_of_a_peer("bulk_push", destination, barrier)
    operands = [destination.allocation.handle, destination.offset_value(), source.allocation.handle, source.offset_value()]
    trace.fa4("bulk_push", [*operands, _bytes_of(source, bytes), *barrier.operands(), barrier.rank.ir])
