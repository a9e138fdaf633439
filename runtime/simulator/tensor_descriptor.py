"""The simulator's own 128 bytes of a tensor map.

The hardware's encoding is opaque, so any one will do as long as the bytes can be copied by the kernel and read back where a copy uses them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.tensor_map import Im2col, OobFill, TensorMapDescription

if TYPE_CHECKING:
    from fa4dsl.runtime.manifest import Swizzle

MAGIC = 0x46344D41  # "FA4M" in spirit; lets a stray 128 bytes be told from a map
SIZE = 128
_SWIZZLES: tuple[Swizzle, ...] = ("none", "32B", "64B", "128B")
_FILLS: tuple[OobFill, ...] = ("zero", "nan")
_NAMES = tuple(DTYPES)
_FORMAT = "<IBBBBQ5Q4Q5H5B6hH"
"""Magic, dtype, rank, swizzle, fill, base address, sizes, strides, box, element strides; im2col: lower and upper corners, pixels (0 in tiled maps)."""


def encode(record: TensorMapDescription, base: int) -> bytes:
    """The 128 bytes; `base` is the virtual address of the map's element (0, 0, ...)."""

    def padded(values: tuple[int, ...], count: int) -> list[int]:
        return [*values, *([0] * (count - len(values)))]

    packed = struct.pack(
        _FORMAT,
        MAGIC,
        _NAMES.index(record.dtype),
        record.rank,
        _SWIZZLES.index(record.swizzle),
        _FILLS.index(record.oob_fill),
        base & (1 << 64) - 1,
        *padded(record.sizes, 5),
        *padded(record.strides_bytes, 4),
        *padded(record.box, 5),
        *padded(record.element_strides, 5),
        *padded(record.im2col.lower if record.im2col else (), 3),
        *padded(record.im2col.upper if record.im2col else (), 3),
        record.im2col.pixels if record.im2col else 0,
    )
    return packed.ljust(SIZE, b"\0")


def decode(data: bytes) -> tuple[TensorMapDescription, int] | None:
    """The map and its base address; None if the bytes are no tensor map."""
    fields: tuple[Any, ...] = struct.unpack_from(_FORMAT, data)
    magic, dtype, rank, swizzle, fill, base = fields[:6]
    if magic != MAGIC or not 1 <= rank <= 5 or dtype >= len(_NAMES) or swizzle >= 4 or fill >= 2:
        return None
    sizes, strides, box, steps = fields[6:11], fields[11:15], fields[15:20], fields[20:25]
    corners, pixels = fields[25:31], fields[31]
    record = TensorMapDescription(
        dtype=_NAMES[dtype],
        sizes=sizes[:rank],
        strides_bytes=strides[: rank - 1],
        box=box[:rank],
        element_strides=steps[:rank],
        swizzle=_SWIZZLES[swizzle],
        oob_fill=_FILLS[fill],
        im2col=Im2col(corners[: rank - 2], corners[3 : rank + 1], pixels) if pixels else None,
    )
    return record, base


FIELDS = {
    "global_address": (8, 8, 1),
    "rank": (5, 1, 1),
    "global_dim": (16, 8, 5),
    "global_stride": (56, 8, 4),
    "box_dim": (88, 2, 5),
    "element_stride": (98, 1, 5),
}
"""tensormap.replace's numeric fields: (byte offset, bytes, how many)."""

ELEMENT_TYPES = {
    0: "u8",
    1: "u16",
    2: "u32",
    3: "i32",
    4: "u64",
    5: "i64",
    6: "f16",
    7: "f32",
    8: "f32",
    9: "f64",
    10: "bf16",
    11: "f32",
    12: "f32",
}
"""tensormap.replace's numbers for element types (8 and 12 flush subnormals when reducing, 11 and 12 are tf32, moved as 32 bits)."""


def set_field(data: Any, field: str, ordinal: int, value: int) -> None:
    """tensormap.replace: changes one field of the 128 bytes in place. A map that starts as zeros becomes one by its first change."""
    data[:4] = list(MAGIC.to_bytes(4, "little"))
    if field == "elemtype":
        data[4] = _NAMES.index(ELEMENT_TYPES[value])
    elif field == "swizzle_mode":
        data[6] = value & 3
    elif field == "fill_mode":
        data[7] = value & 1
    elif field in FIELDS:
        start, width, count = FIELDS[field]
        if ordinal < count:
            if field == "rank":
                value += 1  # the instruction gives the rank less one
            at = start + ordinal * width
            data[at : at + width] = list((value & ((1 << 8 * width) - 1)).to_bytes(width, "little"))
