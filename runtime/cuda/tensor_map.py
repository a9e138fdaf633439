"""Tensor maps encoded by the driver: the 128 bytes a kernel takes, made once for each map and GPU."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from fa4dsl.runtime.cuda.driver import driver, status_text
from fa4dsl.runtime.cuda.library import TENSOR_MAP_TYPES
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DTYPES

if TYPE_CHECKING:
    from fa4dsl.runtime.tensor_map import TensorMap, TensorMapDescription

CACHE_LIMIT = 4096

_cache: dict[tuple[int, int, TensorMapDescription], bytes] = {}


def encode(tensor_map: TensorMap, ordinal: int, name: str = "") -> bytes:
    """The descriptor of a map whose array lies on GPU `ordinal`, cached by address, sizes, strides, box and mode. A context must be current.

    Raises R035 where the driver refuses what all documented rules allow.
    """
    known = tensor_map.encoded.get(ordinal)
    if known is None:
        known = encode_at(tensor_map.description, tensor_map.address, ordinal, name)
        tensor_map.encoded[ordinal] = known
    return known


def encode_at(description: TensorMapDescription, address: int, ordinal: int, name: str) -> bytes:
    """The descriptor of a map with its base at `address`."""
    key = (ordinal, address, description)
    known = _cache.get(key)
    if known is None:
        if len(_cache) >= CACHE_LIMIT:
            _cache.clear()
        known = _cache[key] = _encode(description, address, name)
    return known


def _encode(description: TensorMapDescription, address: int, name: str) -> bytes:
    status, encoded = driver().cuTensorMapEncodeTiled(
        TENSOR_MAP_TYPES[DTYPES[description.dtype].tensor_map],
        address,
        description.sizes,
        description.strides_bytes,
        description.box,
        description.element_strides,
        (
            ("none", "16B", "32B").index(description.interleave),
            ("none", "32B", "64B", "128B").index(description.swizzle),
            ("none", "64B", "128B", "256B").index(description.l2_promotion),
            ("zero", "nan").index(description.oob_fill),
        ),
    )
    if int(status):
        fields = ", ".join(f"{key}={value}" for key, value in asdict(description).items())
        fail("R035", name=name or "the tensor map", status=status_text(int(status))[0], fields=f"base={address:#x}, {fields}")
    return encoded
