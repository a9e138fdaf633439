"""Tensor maps: what TMA copies between global and shared memory.

The hardware's descriptor is 128 opaque bytes that only the driver can make. Here a map is a plain record, `TensorMapDescription`, which both
devices read: `cuda/` has the driver encode it, the simulator works from it. A `TensorMap` is a description together with the array it lies over.

All tuples are innermost dimension first, as the hardware counts them; `sizes`, `box` and `element_strides` are in elements, `strides_bytes` in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from fa4dsl.runtime.arguments_arrays import ArrayView, view_array
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.tensor_map_rules import check_description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.manifest import Swizzle, TensorMapTemplate

Interleave = Literal["none", "16B", "32B"]
L2Promotion = Literal["none", "64B", "128B", "256B"]
OobFill = Literal["zero", "nan"]
Form = Literal["tiled", "ragged", "wrapped", "wrapped_blocks"]

WRAP_POSITIONS = 1 << 30
"""Size of a wrapped map's dimension of positions, and the coordinate along its dimension that wraps."""
WRAP_SPAN = 1 << 34
"""Bytes that `WRAP_POSITIONS` steps of turn the 64-bit address space once around."""
LARGEST_EXTENT = 0x7FFF0000


@dataclass(frozen=True)
class Im2col:
    """What a map for the im2col mode has in place of a box: corners of the bounding box along W, H, D (innermost first), relative to an image's ends; `pixels` a column."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    pixels: int


@dataclass(frozen=True)
class TensorMapDescription:
    """A tensor map without its address. Build it with `tiled` or `ragged`; the constructor checks nothing, `check` does."""

    dtype: str
    sizes: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    """Of dimensions 1 and up: one entry fewer than `sizes`. Dimension 0 is dense."""
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: Swizzle = "none"
    oob_fill: OobFill = "zero"
    interleave: Interleave = "none"
    l2_promotion: L2Promotion = "none"
    offset: int = 0
    """Bytes from the array's first element to the map's base; negative for a ragged map, whose base lies before the array."""
    im2col: Im2col | None = None
    """For the im2col mode, which the simulator runs; `box` is then the channels of a pixel, and 1 along all other dimensions."""

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def check(self, address: int | None = None, name: str = "") -> None:
        """Every rule of the descriptor, before the driver sees it. `address` is that of the array's first element; `name` the parameter's.

        Raises R020 to R029, R031 and R036, which say dimension, value and rule.
        """
        check_description(self, address, name)

    def as_launch_json(self, buffer: str, offset: int = 0) -> dict[str, Any]:
        """The `tensor_map` object of a LAUNCH.json argument; `offset` is the array's own place in the buffer, in bytes."""
        return {
            "buffer": buffer,
            "dtype": LAUNCH_JSON_TYPES[self.dtype],
            "sizes": list(self.sizes),
            "strides_bytes": list(self.strides_bytes),
            "box": list(self.box),
            "element_strides": list(self.element_strides),
            "swizzle": self.swizzle,
            "oob_fill": self.oob_fill,
            "offset": offset + self.offset,
        }


LAUNCH_JSON_TYPES = {
    "bool": "uint8",
    "i8": "uint8",
    "u8": "uint8",
    "e4m3": "uint8",
    "e5m2": "uint8",
    "i16": "uint16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
"""The element type a map of our type carries in LAUNCH.json: TMA moves 8- and 16-bit integers and fp8 as raw unsigned ones."""


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A description over an array, ready to be passed to a kernel. Keeps the array alive."""

    array: ArrayView
    description: TensorMapDescription
    form: Form = "tiled"
    encoded: dict[Any, bytes] = field(default_factory=dict, init=False, repr=False)
    """The driver's 128 bytes, by device; filled at the first launch there."""

    @property
    def address(self) -> int:
        """The map's base address: the array's, shifted."""
        return self.array.address + self.description.offset

    def over(self, array: Any) -> TensorMap:
        """The same map over another array of equal shape, strides and type. Raises R034 where they differ."""
        other = view_array(array)
        for what, expected, got in (
            ("dtype", self.array.dtype, other.dtype),
            ("shape", self.array.shape, other.shape),
            ("strides", self.array.strides_bytes, other.strides_bytes),
        ):
            if expected != got:
                fail("R034", name="array", what=what, expected=expected, got=got)
        self.description.check(other.address)
        return TensorMap(other, self.description, self.form)


def tiled(
    array: Any,
    box: Sequence[int],
    swizzle: Swizzle = "none",
    *,
    element_strides: Sequence[int] | None = None,
    oob_fill: OobFill = "zero",
    l2_promotion: L2Promotion | None = None,
    offset: int = 0,
    name: str = "",
) -> TensorMap:
    """A map over all of `array`, moved in boxes.

    `array`: rank 1 to 5, any strides as long as its last dimension is dense. `box`: elements of each dimension, **innermost first** (the reverse
    of the array's shape order). `element_strides`: innermost first, take every n-th element. `l2_promotion`: how much of a line L2 fetches at a time; by
    default as much as a box takes in one piece. `offset`: bytes to shift the base by. `name`: the parameter's, for messages. Raises R020 to R036.
    """
    view = view_array(array, name)
    strides = view.strides_bytes[::-1]
    if view.elements and view.shape and strides[0] != view.itemsize and view.shape[-1] > 1:
        fail("R030", name=_label(name), stride=strides[0], size=view.itemsize)
    rank = len(view.shape)
    if l2_promotion is None:
        l2_promotion = "none" if element_strides is not None else _promotion(view.shape[::-1], strides, tuple(box), view.itemsize)
    description = TensorMapDescription(
        dtype=view.dtype,
        sizes=view.shape[::-1],
        # Any stride of a dimension of one element is as good as another; arrays report odd ones there, which the driver would refuse.
        strides_bytes=_mended(strides, view.shape[::-1], view.itemsize)[1:],
        box=tuple(box),
        element_strides=(1,) * rank if element_strides is None else tuple(element_strides),
        swizzle=swizzle,
        oob_fill=oob_fill,
        l2_promotion=l2_promotion,
        offset=offset,
    )
    description.check(view.address, name)
    return TensorMap(view, description)


def _promotion(sizes: tuple[int, ...], strides: tuple[int, ...], box: tuple[int, ...], itemsize: int) -> L2Promotion:
    """As much as a box takes in one piece: its innermost dimension, and the next ones as long as they follow without a gap; 128 bytes at most.

    On an H200 keys in pieces of 256 bytes came 5 % slower with fetches of 256 bytes, and as fast with 128 as with none (benchmarks/decode.py).
    """
    run = itemsize
    for size, stride, extent in zip(sizes, strides, box, strict=False):
        if stride != run:
            break
        run *= extent
        if extent != size:
            break
    return "128B" if run >= 128 else "64B" if run >= 64 else "none"


def _mended(strides: tuple[int, ...], sizes: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    mended: list[int] = []
    for index, (stride, size) in enumerate(zip(strides, sizes, strict=True)):
        if size == 1 and index > 0 and (stride % 16 or stride <= 0):
            span = mended[-1] * sizes[index - 1]
            stride = max((span + 15) // 16 * 16, 16)
        mended.append(itemsize if index == 0 else stride)
    return tuple(mended)


def ragged(
    array: Any,
    rows: int,
    columns: int,
    *,
    group: int = 1,
    swizzle: Swizzle = "none",
    l2_promotion: L2Promotion = "none",
    name: str = "",
) -> TensorMap:
    """A map that clips a store to the tile's valid rows, so that one map serves sequences of any length packed one behind the other.

    `array`: `[total_rows, depth]` or `[total_rows, heads, depth]`; with `group` > 1 (query heads that share a key head, fused into the tile)
    `[total_rows, heads, group, depth]`. `rows`: rows of the tile, of which each position takes `group`. `columns`: elements of a row moved at once.

    Dimensions, innermost first: `(depth, rows, merged)` with box `(columns, rows, 1)`; with a group `(depth, group, positions, merged)` with box
    `(columns, group, positions, 1)`, where `positions = rows / group`. The base lies `positions` sequence rows **before** the array. With `S` the
    bytes from one sequence row to the next, a store of `n` valid positions at sequence row `r`, head `h`, column `c` has the coordinates
    `(c, [0,] positions - n, (r + n) * heads + h)`: position `i` of the box then lands at `array + (r + i) * S + h * head + c`, and positions from `n`
    on have a coordinate beyond the dimension's size, which the hardware drops. Rows of the next sequence are never touched.

    The hardware touches no byte outside the array, and the base itself need not be mapped: on an H200 (driver 580) stores are right with the base in
    memory that is not reserved at all. No document promises it; `wrapped` does without. Raises R020 to R036.
    """
    view, total_rows, heads, row_stride, head_stride = _packed_rows(array, rows, group, name)
    depth, strides = view.shape[-1], view.strides_bytes
    positions = rows // group
    merged = heads * (total_rows + 1)
    if group == 1:
        sizes: tuple[int, ...] = (depth, rows, merged)
        strides_bytes: tuple[int, ...] = (row_stride, head_stride)
        box: tuple[int, ...] = (columns, rows, 1)
    else:
        sizes = (depth, group, positions, merged)
        strides_bytes = (strides[2], row_stride, head_stride)
        box = (columns, group, positions, 1)
    description = TensorMapDescription(
        dtype=view.dtype,
        sizes=sizes,
        strides_bytes=strides_bytes,
        box=box,
        element_strides=(1,) * len(sizes),
        swizzle=swizzle,
        l2_promotion=l2_promotion,
        offset=-row_stride * positions,
    )
    description.check(view.address, name)
    return TensorMap(view, description, "ragged")


def wrapped(
    array: Any,
    rows: int,
    columns: int,
    *,
    group: int = 1,
    blocks: int = 0,
    swizzle: Swizzle = "none",
    l2_promotion: L2Promotion = "none",
    name: str = "",
) -> TensorMap:
    """A ragged map whose base is the array itself: nothing in front of the array need be mapped.

    Arguments as `ragged`'s; `blocks` > 0 stores that many blocks of `columns` columns at once (no group then; `columns` divides the depth).

    Dimensions, innermost first: `(depth, [group,] positions, merged, wrap)`, or `(columns, positions, merged, wrap, blocks)`. A position's coordinate is
    clipped at 2**30. A store of `n` valid positions at sequence row `r`, head `h` has the coordinates
    `(c, [0,] 2**30 - n, (r + n) * heads + h, 2**30)`: position `i` lies at `2**30 * S + (r + i) * S + h * head` bytes plus 2**30 steps of the
    dimension that wraps, whose stride is `2**34 - S`. These make 2**64 together with the first term: the address turns once around and is
    `array + (r + i) * S + h * head + c`. (Triton's ragged descriptors rest on the same arithmetic.) Raises R020 to R036.
    """
    view, total_rows, heads, row_stride, head_stride = _packed_rows(array, rows, group, name)
    depth, strides = view.shape[-1], view.strides_bytes
    outer_sizes = (WRAP_POSITIONS, heads * (total_rows + 1), LARGEST_EXTENT)
    outer_strides = (row_stride, head_stride, WRAP_SPAN - row_stride)
    if blocks:
        if group > 1 or depth % columns:
            problem = (
                "a map with fused heads has no sixth dimension for blocks"
                if group > 1
                else f"{depth} columns are no whole blocks of {columns}"
            )
            fail("R032", name=_label(name), problem=problem)
        sizes: tuple[int, ...] = (columns, *outer_sizes, depth // columns)
        strides_bytes: tuple[int, ...] = (*outer_strides, columns * view.itemsize)
        box: tuple[int, ...] = (columns, rows, 1, 1, blocks)
    elif group > 1:
        sizes, strides_bytes, box = (depth, group, *outer_sizes), (strides[2], *outer_strides), (columns, group, rows // group, 1, 1)
    else:
        sizes, strides_bytes, box = (depth, *outer_sizes), outer_strides, (columns, rows, 1, 1)
    description = TensorMapDescription(view.dtype, sizes, strides_bytes, box, (1,) * len(sizes), swizzle, l2_promotion=l2_promotion)
    description.check(view.address, name)
    return TensorMap(view, description, "wrapped_blocks" if blocks else "wrapped")


def _packed_rows(array: Any, rows: int, group: int, name: str) -> tuple[ArrayView, int, int, int, int]:
    """The array of a ragged or wrapped map, its rows and heads, and the bytes from one row and one head to the next. Raises R030, R032, R033."""
    view = view_array(array, name)
    label = _label(name)
    if rows < 1 or group < 1 or rows % group:
        fail("R033", name=label, rows=rows, group=group)
    expected_ranks = (4,) if group > 1 else (2, 3)
    if len(view.shape) not in expected_ranks or (group > 1 and view.shape[2] != group):
        form = f"[rows, heads, {group}, depth]" if group > 1 else "[rows, depth] or [rows, heads, depth]"
        fail("R032", name=label, problem=f"its shape is {list(view.shape)}, expected {form}")
    total_rows, depth = view.shape[0], view.shape[-1]
    heads = 1 if len(view.shape) == 2 else view.shape[1]
    strides = view.strides_bytes
    if view.elements and strides[-1] != view.itemsize and depth > 1:
        fail("R030", name=label, stride=strides[-1], size=view.itemsize)
    head_stride = strides[0] if heads == 1 else strides[1]
    row_stride = strides[0] if total_rows > 1 or heads == 1 else head_stride * heads
    if row_stride != head_stride * heads:
        problem = f"rows are {row_stride} bytes apart but {heads} heads of {head_stride} bytes make {head_stride * heads}"
        fail("R032", name=label, problem=problem + "; rows and heads must merge into one dimension")
    return view, total_rows, heads, row_stride, head_stride


def from_template(template: TensorMapTemplate, array: Any, name: str) -> TensorMap:
    """The map that a manifest's parameter `name` describes, over the array given at launch. Raises R020 to R036."""
    if isinstance(array, TensorMap):
        check_template(template, array, name)
        return array
    view = view_array(array, name)
    if view.dtype != template.dtype:
        fail("R042", name=name, expected=template.dtype, got=view.dtype)
    if template.form == "ragged":
        grouped = template.rank == 4
        group = template.box[1] if grouped else 1
        rows = template.box[-2] * group
        return ragged(view, rows, template.box[0], group=group, swizzle=template.swizzle, name=name)
    if template.form == "wrapped":
        group = template.box[1] if template.rank == 5 else 1
        return wrapped(view, template.box[-3] * group, template.box[0], group=group, swizzle=template.swizzle, name=name)
    if template.form == "wrapped_blocks":
        return wrapped(view, template.box[1], template.box[0], blocks=template.box[-1], swizzle=template.swizzle, name=name)
    if len(view.shape) != template.rank:
        fail("R034", name=name, what="rank", expected=template.rank, got=len(view.shape))
    return tiled(view, template.box, template.swizzle, oob_fill=template.oob_fill, name=name)


def check_template(template: TensorMapTemplate, given: TensorMap, name: str) -> None:
    """A ready map must move what the kernel was compiled for. Raises R034."""
    description = given.description
    for what, expected, got in (
        ("dtype", template.dtype, description.dtype),
        ("form", template.form, given.form),
        ("rank", template.rank, description.rank),
        ("box", template.box, description.box),
        ("swizzle", template.swizzle, description.swizzle),
        ("oob_fill", template.oob_fill, description.oob_fill),
    ):
        if expected != got:
            fail("R034", name=name, what=what, expected=expected, got=got)


def reshaped(given: TensorMap, **changes: Any) -> TensorMap:
    """The same array under a changed description (`box=`, `swizzle=`, ...), checked again. Raises R020 to R036."""
    description = replace(given.description, **changes)
    description.check(given.array.address)
    return TensorMap(given.array, description, given.form)


def _label(name: str) -> str:
    return name or "the array"
