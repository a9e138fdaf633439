"""Any framework's array as an `ArrayView`: address, shape, strides, type and place, without copying and without importing the framework.

numpy arrays and torch tensors are read directly; cupy's and numba's through `__cuda_array_interface__`, the rest through DLPack (jax) or
`__array_interface__`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DTYPES, find_dtype

Place = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class ArrayView:
    """Where an array's elements lie. `shape` outermost first; `strides_bytes` one for each dimension; `owner` keeps the memory alive."""

    address: int
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]
    dtype: str
    place: Place = "cpu"
    device: int = 0
    readonly: bool = False
    owner: Any = None

    @property
    def itemsize(self) -> int:
        return DTYPES[self.dtype].size

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1

    @property
    def contiguous(self) -> bool:
        """Row-major without gaps. Dimensions of one element may have any stride."""
        if self.elements == 0:
            return True
        expected = self.itemsize
        for size, stride in zip(reversed(self.shape), reversed(self.strides_bytes), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    def span(self) -> tuple[int, int]:
        """First byte and one past the last byte that an element occupies; equal where the array is empty."""
        if self.elements == 0:
            return self.address, self.address
        reach = [(size - 1) * stride for size, stride in zip(self.shape, self.strides_bytes, strict=True)]
        low = self.address + sum(step for step in reach if step < 0)
        return low, self.address + sum(step for step in reach if step > 0) + self.itemsize

    def describe(self) -> str:
        place = f"cuda:{self.device}" if self.place == "cuda" else "cpu"
        return f"{self.dtype}[{', '.join(map(str, self.shape))}] on {place}"


PLACES: dict[int, Place] = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}
"""DLPack's device types: kDLCPU, kDLCUDA, kDLCUDAHost (pinned memory, which is the CPU's) and kDLCUDAManaged."""


def reinterpreted(array: Any, dtype: str) -> ArrayView:
    """The same memory as elements of another type of equal size, such as bf16 kept in a uint16 array. Raises R042 where the sizes differ."""
    view = view_array(array)
    wanted = find_dtype(dtype)
    if wanted is None or wanted.size != view.itemsize:
        fail("R042", name="array", expected=f"{dtype}, an element type of {view.itemsize} bytes", got=view.dtype)
    return replace(view, dtype=wanted.name)


def is_array(value: Any) -> bool:
    """Whether `view_array` could read the value."""
    if isinstance(value, (ArrayView, np.ndarray)):
        return True
    kind = type(value)
    return any(hasattr(kind, name) for name in ("__dlpack__", "__array_interface__", "__cuda_array_interface__")) or hasattr(
        value, "__cuda_array_interface__"
    )


def has_cuda_interface(array: Any) -> bool:
    """Whether an array is read through `__cuda_array_interface__`: cupy's, whose DLPack export may insert events, and those without DLPack.

    DLPack comes first otherwise, since it knows element types that the interface lacks (jax's bf16).
    """
    if hasattr(type(array), "__dlpack__") and type(array).__module__.split(".")[0] != "cupy":
        return False
    return getattr(array, "__cuda_array_interface__", None) is not None


def view_array(array: Any, name: str = "", stream: int | None = None) -> ArrayView:
    """Reads where `array` lies. `name` is the parameter's; `stream` a CUDA stream handle that DLPack exporters order their work before.

    Raises R041 for what is no array, R042 for an element type that kernels do not have, R049 where the framework refuses.
    """
    if isinstance(array, ArrayView):
        return array
    label = name or "the array"
    if isinstance(array, np.ndarray):
        return _from_numpy(array, label)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _from_torch(array, label)
    try:
        if has_cuda_interface(array):
            return _from_interface(array, array.__cuda_array_interface__, label, "cuda")
        if hasattr(type(array), "__dlpack__"):
            from fa4dsl.runtime.arguments_dlpack import view_dlpack

            return view_dlpack(array, label, stream)
        interface = getattr(array, "__array_interface__", None)
        if interface is None:
            fail("R041", name=label, type=type(array).__name__)
        return _from_interface(array, interface, label, "cpu")
    except (BufferError, TypeError, ValueError, RuntimeError, KeyError, AttributeError) as error:
        fail("R049", name=label, type=type(array).__name__, reason=str(error).splitlines()[0] if str(error) else type(error).__name__)


def _type_of(label: str, text: str) -> str:
    dtype = find_dtype(text)
    if dtype is None:
        fail("R042", name=label, expected=f"one of {', '.join(DTYPES)}", got=text)
    return dtype.name


def _from_numpy(array: np.ndarray[Any, Any], label: str) -> ArrayView:
    dtype = array.dtype
    if not dtype.isnative:
        fail("R042", name=label, expected="the machine's byte order", got=dtype.str)
    return ArrayView(array.ctypes.data, array.shape, array.strides, _type_of(label, dtype.name), "cpu", 0, not array.flags.writeable, array)


def _from_torch(tensor: Any, label: str) -> ArrayView:
    place = tensor.device.type
    if place not in ("cpu", "cuda"):
        fail("R043", name=label, place=str(tensor.device), wanted="the CPU or a CUDA device")
    if tensor.layout is not sys.modules["torch"].strided:
        fail("R041", name=label, type=f"torch.Tensor of layout {tensor.layout}")
    size = tensor.element_size()
    if tensor.is_neg() or tensor.is_conj():
        fail("R041", name=label, type="torch.Tensor whose negation or conjugation is pending (call .resolve_neg())")
    return ArrayView(
        tensor.data_ptr(),
        tuple(tensor.shape),
        tuple(stride * size for stride in tensor.stride()),
        _type_of(label, str(tensor.dtype)),
        place,
        tensor.device.index or 0,
        False,
        tensor,
    )


def _from_interface(array: Any, interface: dict[str, Any], label: str, place: Place) -> ArrayView:
    """`__array_interface__` and `__cuda_array_interface__` have the same fields."""
    dtype = np.dtype(interface["typestr"])
    if interface.get("mask") is not None:
        fail("R041", name=label, type=f"masked {type(array).__name__}")
    if not dtype.isnative:
        fail("R042", name=label, expected="the machine's byte order", got=dtype.str)
    name = dtype.name
    own = getattr(array, "dtype", None)
    if name.startswith("void") and own is not None:
        # Types beyond numpy's own (bf16, fp8) travel as raw bytes here; the array's own dtype has the name.
        name = str(getattr(own, "name", own))
    pointer, readonly = interface["data"]
    shape = tuple(int(size) for size in interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        steps = [dtype.itemsize]
        for size in reversed(shape[1:]):
            steps.append(steps[-1] * size)
        strides = steps[::-1] if shape else []
    device = _device_of(array, pointer) if place == "cuda" else 0
    view_strides = tuple(int(step) for step in strides)
    return ArrayView(int(pointer or 0), shape, view_strides, _type_of(label, name), place, device, bool(readonly), array)


def _device_of(array: Any, pointer: int | None) -> int:
    """The interface does not say which GPU; an array that also has DLPack's protocol does (cupy's), and the driver knows from the address. An empty
    array has none: the first."""
    if hasattr(type(array), "__dlpack_device__"):
        kind, device = array.__dlpack_device__()
        if PLACES.get(int(kind)) == "cuda":
            return int(device)
    if not pointer:
        return 0
    from fa4dsl.runtime.cuda.device import device_of_pointer

    return device_of_pointer(pointer)
