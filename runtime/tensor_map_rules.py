"""The rules of a tensor map, each checked with its dimension and value before the driver or the simulator sees the map.

Source: the CUDA driver's `cuTensorMapEncodeTiled` and the PTX ISA's chapter on tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from fa4dsl.runtime.diagnostics import fail, warn
from fa4dsl.runtime.dtypes import DTYPES

if TYPE_CHECKING:
    from fa4dsl.runtime.diagnostics import Frame
    from fa4dsl.runtime.tensor_map import TensorMapDescription

SWIZZLE_SPANS = {"32B": 32, "64B": 64, "128B": 128}
"""Bytes of a row that a swizzle permutes within."""


def check_description(description: TensorMapDescription, address: int | None, name: str) -> None:
    """Raises R020 to R029, R031 and R036."""
    label = name or "the tensor map"
    _check_words(description, label)
    rank = description.rank
    if not 1 <= rank <= 5:
        fail("R020", name=label, rank=rank)
    if description.interleave != "none" and rank < 3:
        fail("R031", name=label, problem=f"interleave {description.interleave} needs rank 3 to 5, got {rank}")
    for what, entries, needed in (
        ("box", description.box, rank),
        ("element_strides", description.element_strides, rank),
        ("strides_bytes", description.strides_bytes, rank - 1),
    ):
        if len(entries) != needed:
            fail("R027", name=label, what=what, needed=needed, rank=rank, got=len(entries))
    _check_extents(description, label)
    _check_strides(description, label)
    _check_inner_box(description, label)
    if address is not None:
        _check_address(description, address, label)


def warn_of_padding(description: TensorMapDescription, label: str, place: Frame | None = None) -> None:
    """Warns of R037 where TMA stores overwrite up to 15 bytes behind each row: the hardware clips whole 16-byte chunks (measured, H200)."""
    row = description.sizes[0] * DTYPES[description.dtype].size
    if row % 16:
        warn("R037", place, name=label, extent=description.sizes[0], dtype=description.dtype, row=row, rest=16 - row % 16)


def _check_words(description: TensorMapDescription, label: str) -> None:
    from fa4dsl.runtime.manifest import Swizzle
    from fa4dsl.runtime.tensor_map import Interleave, L2Promotion, OobFill

    for what, value, words in (
        ("dtype", description.dtype, tuple(DTYPES)),
        ("swizzle", description.swizzle, get_args(Swizzle)),
        ("oob_fill", description.oob_fill, get_args(OobFill)),
        ("interleave", description.interleave, get_args(Interleave)),
        ("l2_promotion", description.l2_promotion, get_args(L2Promotion)),
    ):
        if value not in words:
            fail("R036", name=label, what=what, got=repr(value), words=", ".join(map(repr, words)))
    if description.oob_fill == "nan" and DTYPES[description.dtype].tensor_map not in ("FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"):
        fail("R029", name=label, dtype=description.dtype)


def _check_extents(description: TensorMapDescription, label: str) -> None:
    for dimension, size in enumerate(description.sizes):
        if not 1 <= size <= 1 << 32:
            fail("R021", name=label, dimension=dimension, size=size)
    for dimension, extent in enumerate(description.box):
        if not 1 <= extent <= 256:
            fail("R023", name=label, dimension=dimension, extent=extent)
    for dimension, stride in enumerate(description.element_strides):
        if not 1 <= stride <= 8:
            fail("R026", name=label, dimension=dimension, stride=stride)


def _check_strides(description: TensorMapDescription, label: str) -> None:
    unit = 32 if description.interleave == "32B" else 16
    for dimension, stride in enumerate(description.strides_bytes, start=1):
        if stride % unit or not 0 < stride < 1 << 40:
            fail("R022", name=label, dimension=dimension, stride=stride, unit=unit, elements=f"{stride / DTYPES[description.dtype].size:g}")


def _check_inner_box(description: TensorMapDescription, label: str) -> None:
    size = DTYPES[description.dtype].size
    inner = description.box[0] * size
    if description.interleave == "none":
        if inner % 16:
            fail("R024", name=label, extent=description.box[0], dtype=description.dtype, size=inner, step=16 // size)
        span = SWIZZLE_SPANS.get(description.swizzle)
        if span is not None and inner > span:
            swizzle = description.swizzle
            fail("R025", name=label, extent=description.box[0], dtype=description.dtype, size=inner, swizzle=swizzle, most=span // size)
    elif description.interleave == "32B" and description.swizzle != "32B":
        fail("R031", name=label, problem=f"interleave 32B needs swizzle 32B, got {description.swizzle}")


def _check_address(description: TensorMapDescription, address: int, label: str) -> None:
    unit = 32 if description.interleave == "32B" else 16
    base = address + description.offset
    if base % unit:
        fail("R028", name=label, address=f"{base:#x}", unit=unit, rest=base % unit)
    if base < 0:
        fail("R028", name=label, address=f"{base:#x}", unit=unit, rest="a base before the address space")
