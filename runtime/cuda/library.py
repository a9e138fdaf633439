"""The driver library through ctypes, for what a first launch needs; everything else through NVIDIA's bindings.

Importing `cuda.bindings.driver` takes longer than everything else that a kernel's first call does from a warm cache, so the functions on that way are called
directly: by their exported names, which carry the version of their arguments, and with the bindings' own form of call and result
(`status, *values`). Names that are not here are looked up in the bindings, which are imported then.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from fa4dsl.runtime.diagnostics import fail

_HANDLE, _INT, _UNSIGNED, _SIZE, _BYTES = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t, ctypes.c_char_p

FUNCTIONS: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "cuInit": ("cuInit", None, (_UNSIGNED,)),
    "cuDeviceGetCount": ("cuDeviceGetCount", _INT, ()),
    "cuDeviceGet": ("cuDeviceGet", _INT, (_INT,)),
    "cuDeviceGetAttribute": ("cuDeviceGetAttribute", _INT, (_INT, _INT)),
    "cuDevicePrimaryCtxRetain": ("cuDevicePrimaryCtxRetain", _HANDLE, (_INT,)),
    "cuCtxPushCurrent": ("cuCtxPushCurrent_v2", None, (_HANDLE,)),
    "cuCtxPopCurrent": ("cuCtxPopCurrent_v2", _HANDLE, ()),
    "cuCtxGetCurrent": ("cuCtxGetCurrent", _HANDLE, ()),
    "cuCtxGetDevice": ("cuCtxGetDevice", _INT, ()),
    "cuCtxSynchronize": ("cuCtxSynchronize", None, ()),
    "cuPointerGetAttribute": ("cuPointerGetAttribute", _INT, (_INT, ctypes.c_uint64)),
    "cuStreamSynchronize": ("cuStreamSynchronize", None, (_HANDLE,)),
    "cuModuleLoadData": ("cuModuleLoadData", _HANDLE, (_BYTES,)),
    "cuModuleGetFunction": ("cuModuleGetFunction", _HANDLE, (_HANDLE, _BYTES)),
    "cuModuleUnload": ("cuModuleUnload", None, (_HANDLE,)),
    "cuFuncGetAttribute": ("cuFuncGetAttribute", _INT, (_INT, _HANDLE)),
    "cuFuncSetAttribute": ("cuFuncSetAttribute", None, (_HANDLE, _INT, _INT)),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": ("cuOccupancyMaxActiveBlocksPerMultiprocessor", _INT, (_HANDLE, _INT, _SIZE)),
    "cuOccupancyMaxActiveClusters": ("cuOccupancyMaxActiveClusters", _INT, (_HANDLE, _HANDLE)),
    "cuOccupancyMaxPotentialClusterSize": ("cuOccupancyMaxPotentialClusterSize", _INT, (_HANDLE, _HANDLE)),
}
"""By the bindings' name: exported symbol, type of the result that the first argument points to (None: there is none), types of the other arguments."""


class CUdevice_attribute:  # noqa: N801 - the driver's name, as that of all below
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97


class CUfunction_attribute:  # noqa: N801
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14


class CUpointer_attribute:  # noqa: N801
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9


class CUstreamCaptureMode:
    CU_STREAM_CAPTURE_MODE_RELAXED = 2


TENSOR_MAP_TYPES = {
    "UINT8": 0,
    "UINT16": 1,
    "UINT32": 2,
    "INT32": 3,
    "UINT64": 4,
    "INT64": 5,
    "FLOAT16": 6,
    "FLOAT32": 7,
    "FLOAT64": 8,
    "BFLOAT16": 9,
}
"""CUtensorMapDataType."""


class Library:
    """The driver, by the bindings' names. Raises R070 where there is none, R073 where a name needs the bindings and they are not there."""

    CUfunction_attribute = CUfunction_attribute
    CUpointer_attribute = CUpointer_attribute
    CUstreamCaptureMode = CUstreamCaptureMode

    def __init__(self) -> None:
        try:
            self.exported = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            fail("R070", reason=str(error))

    def __getattr__(self, name: str) -> Any:
        known = FUNCTIONS.get(name)
        made = getattr(self.bindings, name) if known is None else self._function(*known)
        setattr(self, name, made)
        return made

    @property
    def bindings(self) -> Any:
        """The module `cuda.bindings.driver`. Raises R073."""
        try:
            from cuda.bindings import driver as bindings
        except ImportError as error:
            fail("R073", reason=str(error))
        return bindings

    def _function(self, symbol: str, result: Any, types: tuple[Any, ...]) -> Callable[..., tuple[Any, ...]]:
        function = getattr(self.exported, symbol)
        function.restype = _INT
        function.argtypes = types if result is None else (_HANDLE, *types)
        handles = [kind is _HANDLE for kind in types]

        def plain(arguments: tuple[Any, ...]) -> list[Any]:
            # Handles may be the bindings' objects.
            return [int(value) if handle else value for value, handle in zip(arguments, handles, strict=True)]

        if result is None:
            return lambda *arguments: (function(*plain(arguments)),)

        def call(*arguments: Any) -> tuple[Any, ...]:
            found = result()
            status = function(ctypes.byref(found), *plain(arguments))
            return status, found.value or 0

        return call

    def cuDeviceGetName(self, size: int, device: int) -> tuple[int, bytes]:  # noqa: N802
        text = ctypes.create_string_buffer(size)
        return self.exported.cuDeviceGetName(text, size, device), text.raw

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple[int, int]:  # noqa: N802
        held = _INT(int(mode))
        return self.exported.cuThreadExchangeStreamCaptureMode(ctypes.byref(held)), held.value

    def cuTensorMapEncodeTiled(  # noqa: N802
        self,
        dtype: int,
        address: int,
        sizes: tuple[int, ...],
        strides: tuple[int, ...],
        box: tuple[int, ...],
        steps: tuple[int, ...],
        modes: tuple[int, ...],
    ) -> tuple[int, bytes]:
        """`modes`: interleave, swizzle, L2 promotion, out-of-bounds fill. The map's 128 bytes must be aligned to 64 while the driver writes them."""
        memory = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(memory) + 63) // 64 * 64
        wide, narrow = ctypes.c_uint64 * len(sizes), ctypes.c_uint32 * len(sizes)
        # The driver wants one stride even for rank 1, where it reads none.
        given = (ctypes.c_uint64 * max(len(strides), 1))(*(strides or (16,)))
        function = self.exported.cuTensorMapEncodeTiled
        function.argtypes = (_HANDLE, _INT, _UNSIGNED, _HANDLE, _HANDLE, _HANDLE, _HANDLE, _HANDLE, _INT, _INT, _INT, _INT)
        status = function(at, dtype, len(sizes), address, wide(*sizes), given, narrow(*box), narrow(*steps), *modes)
        return status, ctypes.string_at(at, 128)
