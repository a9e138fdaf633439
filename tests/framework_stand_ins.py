"""Stand-ins for torch and cupy where no GPU is: objects with the attributes through which the runtime reads GPU arrays.

What a framework answers from C is answered from C here as well (slots, and bound methods of built-in types), so that measuring the launch path with
these measures that path and not the stand-ins. The memory is the host's, as the stand-in driver's is.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    found, step = [], 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(found[::-1])


def _dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    return all(size == 1 or stride == wanted for size, stride, wanted in zip(shape, strides, _strides(shape), strict=True))


def _aligned(size: int) -> tuple[Any, int]:
    raw = np.zeros(size + 256, np.uint8)
    return raw, raw.ctypes.data + -raw.ctypes.data % 256


class _Dtype:
    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size

    def __repr__(self) -> str:
        return f"torch.{self.name}"


TYPES = {name: _Dtype(name, size) for name, size in (("float32", 4), ("float64", 8), ("int32", 4), ("bfloat16", 2))}
DLPACK_CODES = {"float32": 2, "float64": 2, "int32": 0, "bfloat16": 4}


class _Exchange:
    """`runtime/exchange_stub.c`, where `stand_in_driver.build` has left it: torch's DLPack exchange table."""

    library: Any = None

    @classmethod
    def load(cls, stream: int) -> Any:
        """The capsule of the table that lends views; the current stream of every GPU is `stream`."""
        cls.library = ctypes.PyDLL("libexchange_stub.so")
        for device in range(8):
            cls.library.exchange_stream(device, ctypes.c_void_p(stream))
        table = cls.library.exchange_newer if os.environ.get("STUB_EXCHANGE") == "newer" else cls.library.exchange_table
        table.restype = ctypes.c_void_p
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return capsule(table(), b"dlpack_exchange_api", None)


class Tensor:
    """Like torch's: methods for most, `dtype` one of a few objects, strides in elements."""

    __slots__ = (
        "_extents",
        "_memory",
        "_view",
        "_view_memory",
        "data_ptr",
        "device",
        "dtype",
        "element_size",
        "get_device",
        "is_conj",
        "is_contiguous",
        "is_neg",
        "layout",
        "shape",
        "stride",
    )

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: str = "float32",
        device: int = 0,
        strides: tuple[int, ...] | None = None,
        like: Tensor | None = None,
    ) -> None:
        self.dtype = TYPES[dtype]
        strides = _strides(shape) if strides is None else strides
        reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        self._memory, address = (like._memory, like.data_ptr()) if like is not None else _aligned(reach * self.dtype.size)
        self.shape = shape
        self.layout = "strided"
        self.device = SimpleNamespace(type="cuda" if device >= 0 else "cpu", index=device if device >= 0 else None)
        self.data_ptr = address.conjugate
        self.get_device = device.conjugate
        self.element_size = self.dtype.size.conjugate
        self.is_contiguous = int(_dense(shape, strides)).conjugate
        self.is_neg = self.is_conj = (0).conjugate
        self.stride = partial(tuple, strides)
        self._view = 0
        if _Exchange.library is not None:
            self._extents = [(ctypes.c_int64 * max(1, len(shape)))(*values) for values in (shape, strides)]
            self._view_memory = ctypes.create_string_buffer(_Exchange.library.exchange_view_size())
            self._view = ctypes.addressof(self._view_memory)
            code, bits = DLPACK_CODES[dtype], 8 * self.dtype.size
            _Exchange.library.exchange_fill(
                self._view_memory, ctypes.c_void_p(address), device, len(shape), code, bits, self._extents[0], self._extents[1]
            )

    def move(self, by: int) -> None:
        """Lies so many bytes further on."""
        self.data_ptr = (self.data_ptr() + by).conjugate
        if self._view:
            _Exchange.library.exchange_move(self._view_memory, ctypes.c_long(by))


class NdArray:
    """Like cupy's: attributes for most, strides in bytes, a numpy dtype."""

    __slots__ = ("_c_contiguous", "data", "dtype", "shape", "strides")

    def __init__(self, shape: tuple[int, ...], dtype: str = "float32", device: int = 0, strides: tuple[int, ...] | None = None) -> None:
        self.dtype = np.dtype(dtype)
        strides = _strides(shape) if strides is None else strides
        memory, address = _aligned(
            (1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))) * self.dtype.itemsize
        )
        self.data = SimpleNamespace(ptr=address, device_id=device, memory=memory)
        self.shape = shape
        self.strides = tuple(stride * self.dtype.itemsize for stride in strides)
        self._c_contiguous = _dense(shape, strides)

    @property
    def flags(self) -> Any:
        return SimpleNamespace(c_contiguous=self._c_contiguous)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = None if self._c_contiguous else self.strides
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.data.ptr, False), "version": 3, "strides": strides}


def install(stream: int = 0, exchange: bool = False) -> tuple[type[Tensor], type[NdArray]]:
    """Puts the stand-ins into `sys.modules` as torch and cupy, with `stream` as the current one of each. `exchange`: torch shows DLPack's C exchange table,
    as it does from version 2.11 on."""
    if exchange:
        Tensor.__dlpack_c_exchange_api__ = _Exchange.load(stream)  # type: ignore[attr-defined]
    torch, cupy = ModuleType("torch"), ModuleType("cupy")
    torch.Tensor, torch.strided = Tensor, "strided"  # type: ignore[attr-defined]
    handles = {0: stream, 1: stream}
    torch._C = SimpleNamespace(_cuda_getCurrentRawStream=handles.__getitem__)  # type: ignore[attr-defined]
    torch.cuda = SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 0)  # type: ignore[attr-defined]
    current = SimpleNamespace(ptr=stream)

    def get_current_stream(device_id: int = -1) -> Any:
        return current

    cupy.ndarray = NdArray  # type: ignore[attr-defined]
    runtime = SimpleNamespace(getDevice=lambda: 0)
    cupy.cuda = SimpleNamespace(get_current_stream=get_current_stream, runtime=runtime)  # type: ignore[attr-defined]
    NdArray.__module__ = "cupy"
    sys.modules["torch"], sys.modules["cupy"] = torch, cupy
    return Tensor, NdArray
