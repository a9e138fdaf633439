"""Reading a DLPack capsule's header with ctypes, which needs neither a framework nor numpy's idea of element types (it has no bf16).

The capsule is not consumed: the view keeps it, and its own destructor releases the array when the view goes.
"""

from __future__ import annotations

import ctypes
from typing import Any

from fa4dsl.runtime.arguments_arrays import PLACES, ArrayView
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DLPACK_TYPES, DTYPES


class _Tensor(ctypes.Structure):
    """DLTensor, as dlpack.h lays it out."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def view_dlpack(array: Any, label: str, stream: int | None = None) -> ArrayView:
    """The view of an array that exports DLPack. `stream`: the CUDA stream the launch will use; the exporter orders its work before it."""
    device_type, device = (int(part) for part in array.__dlpack_device__())
    if device_type not in PLACES:
        fail("R043", name=label, place=f"DLPack device type {device_type}", wanted="the CPU or a CUDA device")
    if PLACES[device_type] == "cuda":
        # DLPack numbers the legacy default stream 1 and forbids 0, which would be ambiguous.
        capsule = array.__dlpack__(stream=stream or 1)
    else:
        capsule = array.__dlpack__()
    header = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    name = DLPACK_TYPES.get((header.code, header.bits)) if header.lanes == 1 else None
    if name is None:
        got = f"DLPack type code {header.code} with {header.bits} bits and {header.lanes} lanes"
        fail("R042", name=label, expected=f"one of {', '.join(DTYPES)}", got=got)
    size = DTYPES[name].size
    shape = tuple(header.shape[index] for index in range(header.ndim))
    if header.strides:
        strides = tuple(header.strides[index] * size for index in range(header.ndim))
    else:
        steps = [size]
        for extent in reversed(shape[1:]):
            steps.append(steps[-1] * extent)
        strides = tuple(steps[::-1]) if shape else ()
    address = (header.data or 0) + header.byte_offset
    place = PLACES[device_type]
    return ArrayView(address, shape, strides, name, place, device if place == "cuda" else 0, False, (array, capsule))
