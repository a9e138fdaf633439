"""The launch as memory: one block with the driver's config, its attributes, the parameter pointers and the parameter values.

Everything but stream and values is written once; a launch packs the values in one `struct` call where they are not the last launch's, and the stream
where it is another.

    0     attributes: 72 bytes each (CUlaunchAttribute: id, padding, 64 bytes of value)
    ...   parameter pointers: 8 bytes each
    ...   config (CUlaunchConfig): grid 3 x u32, block 3 x u32, dynamic shared bytes u32, 4 of padding, stream, attributes, count, 4 of padding
    ...   values, each aligned to its size, tensor maps to 64
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.arguments import scalar_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.launch import Extents, LaunchOptions
    from fa4dsl.runtime.manifest import Parameter

ATTRIBUTE_SIZE = 72
CONFIG_SIZE = 56
STREAM_OFFSET = 32
"""Of hStream in CUlaunchConfig."""

COOPERATIVE, CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 4, 6
"""CUlaunchAttributeID."""


def attributes(options: LaunchOptions) -> bytes:
    """The launch attributes as the driver's array."""
    found = []
    if options.cluster != (1, 1, 1):
        found.append(struct.pack("<I4x3I52x", CLUSTER_DIMENSION, *options.cluster))
    if options.cooperative:
        found.append(struct.pack("<I4xi60x", COOPERATIVE, 1))
    if options.programmatic:
        found.append(struct.pack("<I4xi60x", PROGRAMMATIC_STREAM_SERIALIZATION, 1))
    return b"".join(found)


def value_layout(parameters: Sequence[Parameter]) -> tuple[str, list[int]]:
    """The `struct` format of the values and each value's offset, from a start aligned to 64 bytes."""
    codes, offsets, position = [], [], 0
    for parameter in parameters:
        if parameter.kind == "pointer":
            code, size, alignment = "Q", 8, 8
        elif parameter.kind == "tensor_map":
            code, size, alignment = "128s", 128, 64
        else:
            code = scalar_bits(parameter.dtype, 0)[0]
            size = alignment = struct.calcsize("<" + code)
        padding = -position % alignment
        codes.append(f"{padding}x{code}" if padding else code)
        offsets.append(position + padding)
        position += padding + size
    return "".join(codes), offsets


def pointer_to(address: int) -> Any:
    """An address as a ctypes argument that is ready to be passed: numbers and pointer objects are converted at every call."""
    return ctypes.byref(ctypes.c_char.from_address(address))


class ParameterBlock:
    """One launch's memory. Not to be shared by two launches at the same time: the prepared launch keeps a few and hands them out."""

    __slots__ = ("_memory", "_stream_at", "arguments", "config_address", "last", "offset", "pack_into", "view")

    def __init__(self, parameters: Sequence[Parameter], grid: Extents, block: Extents, options: LaunchOptions, function: Any) -> None:
        attribute_bytes = attributes(options)
        codes, offsets = value_layout(parameters)
        pointers_at = len(attribute_bytes)
        # The values start at a multiple of 64, for tensor maps; the config directly before them.
        values_at = (pointers_at + 8 * len(parameters) + CONFIG_SIZE + 63) // 64 * 64
        config_at = values_at - CONFIG_SIZE
        packer = struct.Struct(f"<{codes}")
        size = values_at + packer.size
        self._memory = ctypes.create_string_buffer(size + 64)
        base = (ctypes.addressof(self._memory) + 63) // 64 * 64
        self.view = (ctypes.c_char * size).from_address(base)
        self.config_address = base + config_at
        self.arguments = (pointer_to(base + config_at), function, pointer_to(base + pointers_at), None)
        """Of `cuLaunchKernelEx`, as one tuple that every call passes on."""
        self.offset = values_at
        self._stream_at = config_at + STREAM_OFFSET
        ctypes.memmove(base, attribute_bytes, len(attribute_bytes))
        struct.pack_into(f"<{len(parameters)}Q", self.view, pointers_at, *(base + values_at + offset for offset in offsets))
        struct.pack_into("<7I4x", self.view, config_at, *grid, *block, options.dynamic_shared_bytes)
        count = len(attribute_bytes) // ATTRIBUTE_SIZE
        struct.pack_into("<QQI4x", self.view, self._stream_at, 0, base if count else 0, count)
        self.pack_into = packer.pack_into
        self.last: tuple[Any, ...] = (None,) * (1 + len(parameters))
        """Stream and values as they stand in the block; a launch that repeats them packs nothing."""

    def write(self, stream: int, values: Sequence[Any]) -> None:
        """Packs what changes from launch to launch."""
        self.write_stream(stream)
        self.pack_into(self.view, self.offset, *values)
        self.last = (stream, *values)

    def write_packed(self, stream: int, values: bytes) -> None:
        """Values that are packed already."""
        self.write_stream(stream)
        ctypes.memmove(ctypes.addressof(self.view) + self.offset, values, len(values))
        self.last = (None,) * len(self.last)

    def write_stream(self, stream: int) -> None:
        struct.pack_into("<Q", self.view, self._stream_at, stream)
