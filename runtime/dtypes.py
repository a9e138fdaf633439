"""Element types under their short names ("f32", "bf16", "e4m3", ...), and what numpy, DLPack and the driver call them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

Kind = Literal["signed", "unsigned", "float", "bool"]


@dataclass(frozen=True)
class DType:
    """One element type. `size` in bytes; `limits` are the least and greatest value of an integer type."""

    name: str
    kind: Kind
    size: int
    numpy_name: str
    """The name numpy or ml_dtypes gives it; also torch's, where torch has the type."""
    tensor_map: str = ""
    """Suffix of the driver's CU_TENSOR_MAP_DATA_TYPE constant; empty where a tensor map cannot hold the type."""
    code: str = ""
    """`struct` code of a scalar kernel argument; empty where the value is converted to its bits first."""

    @property
    def limits(self) -> tuple[int, int]:
        bits = 8 * self.size
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if self.kind == "signed" else (0, (1 << bits) - 1)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy type; 8-bit floats and bf16 come from ml_dtypes, which is imported only for them."""
        return _numpy(self.numpy_name)


@cache
def _numpy(name: str) -> np.dtype[Any]:
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        special: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return special
    return np.dtype(name)


DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        DType("bool", "bool", 1, "bool", "UINT8", "?"),
        DType("i8", "signed", 1, "int8", "UINT8", "b"),
        DType("u8", "unsigned", 1, "uint8", "UINT8", "B"),
        DType("i16", "signed", 2, "int16", "UINT16", "h"),
        DType("u16", "unsigned", 2, "uint16", "UINT16", "H"),
        DType("i32", "signed", 4, "int32", "INT32", "i"),
        DType("u32", "unsigned", 4, "uint32", "UINT32", "I"),
        DType("i64", "signed", 8, "int64", "INT64", "q"),
        DType("u64", "unsigned", 8, "uint64", "UINT64", "Q"),
        DType("f16", "float", 2, "float16", "FLOAT16", "e"),
        DType("bf16", "float", 2, "bfloat16", "BFLOAT16"),
        DType("f32", "float", 4, "float32", "FLOAT32", "f"),
        DType("f64", "float", 8, "float64", "FLOAT64", "d"),
        DType("e4m3", "float", 1, "float8_e4m3fn", "UINT8"),
        DType("e5m2", "float", 1, "float8_e5m2", "UINT8"),
    )
}
"""All element types by short name."""

_BY_OTHER_NAME = {dtype.numpy_name: dtype for dtype in DTYPES.values()} | DTYPES


def find_dtype(name: str) -> DType | None:
    """The type of a short name ("bf16") or of numpy's and torch's name for it ("bfloat16", "torch.bfloat16"); None if there is none."""
    return _BY_OTHER_NAME.get(name.removeprefix("torch."))


DLPACK_TYPES: dict[tuple[int, int], str] = {
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (1, 64): "u64",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "bool",
    (10, 8): "e4m3",
    (12, 8): "e5m2",
}
"""DLPack's (type code, bits) of one lane."""
