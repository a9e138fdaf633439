"""GPUs: their properties, their primary contexts, and which one is current."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fa4dsl.runtime.cuda.driver import call, driver
from fa4dsl.runtime.cuda.library import CUdevice_attribute
from fa4dsl.runtime.diagnostics import Fa4dslError, fail


@dataclass(frozen=True)
class Gpu:
    """One GPU. The primary context, which torch, cupy and the runtime API share, is retained when a kernel is first loaded there."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    sms: int
    shared_limit: int
    """Bytes of shared memory one CTA can have by opt-in, dynamic and static together."""

    @cached_property
    def handle(self) -> Any:
        return call("cuDeviceGet", self.ordinal)

    @cached_property
    def context(self) -> Any:
        """The primary context."""
        return call("cuDevicePrimaryCtxRetain", self.handle)

    def attribute(self, name: str) -> int:
        """A device attribute by its name without the prefix CU_DEVICE_ATTRIBUTE_."""
        return _attribute(self.handle, name)


@contextmanager
def current_context(gpu: Gpu) -> Iterator[Gpu]:
    """`with current_context(gpu):` makes the GPU's context current for this thread, and leaves what was current afterwards."""
    call("cuCtxPushCurrent", gpu.context)
    try:
        yield gpu
    finally:
        driver().cuCtxPopCurrent()


_gpus: dict[tuple[int, int], Gpu] = {}


def gpu(ordinal: int | None = None) -> Gpu:
    """The GPU of this number, by default the current one. Raises R070 to R074."""
    if ordinal is None:
        ordinal = current_ordinal()
    key = (os.getpid(), ordinal)
    found = _gpus.get(key)
    if found is None:
        count = call("cuDeviceGetCount")
        if count == 0:
            fail("R071")
        if not 0 <= ordinal < count:
            fail("R072", device=ordinal, count=count)
        handle = call("cuDeviceGet", ordinal)
        name = call("cuDeviceGetName", 128, handle).split(b"\0")[0].decode()
        major, minor = _attribute(handle, "COMPUTE_CAPABILITY_MAJOR"), _attribute(handle, "COMPUTE_CAPABILITY_MINOR")
        sms = _attribute(handle, "MULTIPROCESSOR_COUNT")
        found = Gpu(ordinal, name, (major, minor), sms, _attribute(handle, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"))
        _gpus[key] = found
    return found


def _attribute(handle: Any, name: str) -> int:
    full = f"CU_DEVICE_ATTRIBUTE_{name}"
    number = getattr(CUdevice_attribute, full, None)
    return int(call("cuDeviceGetAttribute", getattr(driver().bindings.CUdevice_attribute, full) if number is None else number, handle))


def current_ordinal() -> int:
    """The GPU that torch, else cupy, else the driver has as current; 0 where none is."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    cupy = sys.modules.get("cupy")
    if cupy is not None and hasattr(cupy, "cuda"):
        return int(cupy.cuda.runtime.getDevice())
    context = call("cuCtxGetCurrent")
    if int(context):
        return int(call("cuCtxGetDevice"))
    return 0


def capability_if_any() -> tuple[int, int] | None:
    """The current GPU's compute capability; None where there is no driver or no GPU."""
    try:
        return gpu().capability
    except Fa4dslError:
        return None


def device_of_pointer(pointer: int) -> int:
    """The GPU whose memory this address belongs to."""
    attribute = driver().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(call("cuPointerGetAttribute", attribute, pointer))
