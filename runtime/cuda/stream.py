"""Any framework's CUDA stream as the driver's handle, and the stream that is current."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from fa4dsl.runtime.diagnostics import fail


def handle_of(stream: Any) -> int:
    """The driver's handle: of an integer, a torch, cupy, numba or cuda.core stream, or anything with `__cuda_stream__`. Raises R078."""
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # (version, handle), from a method; the protocol's first users had a property.
        return int((protocol() if callable(protocol) else protocol)[1])
    # torch, cupy, numba (a ctypes pointer whose value is None for the default stream) and the bindings' own CUstream, in this order.
    for attribute in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, attribute, None)
        if handle is not None:
            value = getattr(handle, "value", handle)
            return int(value or 0)
    if type(stream).__name__ not in ("CUstream", "cudaStream_t"):
        fail("R078", type=type(stream).__name__)
    return int(stream)


def current_stream(arguments: tuple[Any, ...], ordinal: int) -> Callable[[], int]:
    """A function that returns the current stream's handle, for launches with arguments of these frameworks: torch's if a torch tensor is among
    them, else cupy's, else the legacy default stream, which waits for all blocking streams."""
    arrays = _arrays(arguments)
    if any(is_torch(value) for value in arrays):
        torch = sys.modules["torch"]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:
            return partial(raw, ordinal)
        return lambda: int(torch.cuda.current_stream(ordinal).cuda_stream)
    cupy = sys.modules.get("cupy")
    if cupy is not None and hasattr(cupy, "ndarray") and any(isinstance(value, cupy.ndarray) for value in arrays):
        get = cupy.cuda.get_current_stream
        # Of this GPU; without its number cupy asks the runtime which one is current.
        return lambda: int(get(ordinal).ptr)
    return _default_stream


def is_torch(value: Any) -> bool:
    """A torch tensor or one of a subclass; never imports torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def framework_is_plain(arguments: tuple[Any, ...]) -> bool:
    """Whether the types alone tell whose stream is current: a torch tensor decides, whatever tensor maps beside it lie over; a map or view alone
    does not show its framework."""
    from fa4dsl.runtime.arguments_arrays import ArrayView
    from fa4dsl.runtime.tensor_map import TensorMap

    return any(is_torch(value) for value in arguments) or not any(isinstance(value, (TensorMap, ArrayView)) for value in arguments)


def _default_stream() -> int:
    return 0


def _arrays(arguments: tuple[Any, ...]) -> list[Any]:
    """The frameworks' own arrays behind views and tensor maps."""
    from fa4dsl.runtime.arguments_arrays import ArrayView
    from fa4dsl.runtime.tensor_map import TensorMap

    found = []
    for value in arguments:
        if isinstance(value, TensorMap):
            value = value.array
        if isinstance(value, ArrayView):
            value = value.owner
        found.append(value[0] if isinstance(value, tuple) and value else value)
    return found
