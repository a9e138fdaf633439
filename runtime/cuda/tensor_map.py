"""Tensor maps encoded by the driver: the 128 bytes a kernel takes, made once for each map and GPU."""

from __future__ import annotations

import ctypes
from dataclasses import asdict
from typing import TYPE_CHECKING

from fa4dsl.runtime.cuda.driver import driver, status_text
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DTYPES

if TYPE_CHECKING:
    from fa4dsl.runtime.tensor_map import TensorMap, TensorMapDescription

SIZE = 128
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
    cu = driver()
    swizzle = "NONE" if description.swizzle == "none" else description.swizzle
    interleave = "NONE" if description.interleave == "none" else description.interleave
    promotion = "NONE" if description.l2_promotion == "none" else f"L2_{description.l2_promotion}"
    fill = "NONE" if description.oob_fill == "zero" else "NAN_REQUEST_ZERO_FMA"
    # The driver wants one stride even for rank 1, where it reads none.
    strides = [cu.cuuint64_t(stride) for stride in description.strides_bytes] or [cu.cuuint64_t(16)]
    status, encoded = cu.cuTensorMapEncodeTiled(
        getattr(cu.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{DTYPES[description.dtype].tensor_map}"),
        description.rank,
        address,
        [cu.cuuint64_t(size) for size in description.sizes],
        strides,
        [cu.cuuint32_t(extent) for extent in description.box],
        [cu.cuuint32_t(stride) for stride in description.element_strides],
        getattr(cu.CUtensorMapInterleave, f"CU_TENSOR_MAP_INTERLEAVE_{interleave}"),
        getattr(cu.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
        getattr(cu.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{promotion}"),
        getattr(cu.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
    )
    if int(status):
        fields = ", ".join(f"{key}={value}" for key, value in asdict(description).items())
        fail("R035", name=name or "the tensor map", status=status_text(int(status))[0], fields=f"base={address:#x}, {fields}")
    return ctypes.string_at(encoded.getPtr(), SIZE)
