"""Host arguments as named buffers of bytes, which is what the simulator runs on.

Arrays that overlap in memory share one buffer, so that the simulator sees the aliasing that a GPU would see. Every buffer starts aligned, as an
allocation on a GPU does; an array's own bytes are all it holds, so that any access beside them is out of bounds.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.arguments import Checked, array_of, check_arguments, in_order
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.manifest import Manifest, Parameter

    Bytes = npt.NDArray[np.uint8]


@dataclass
class _Span:
    """Host bytes `low` to `high` as the buffer `name`."""

    name: str
    low: int
    high: int


class HostBuffers:
    """The buffers of one launch. `buffers`: name (of the parameter, or of several joined by +) to a uint8 array with a copy of the host's bytes."""

    def __init__(self, parameters: Sequence[Parameter], values: Sequence[Checked]) -> None:
        self._parameters = parameters
        self._values = values
        self._spans = _merged(parameters, values)
        self.buffers: dict[str, Bytes] = {span.name: _host_bytes(span.low, span.high).copy() for span in self._spans}

    def place(self, address: int) -> tuple[str, int]:
        """The buffer that holds an array's first byte, and the byte's offset there."""
        for span in self._spans:
            if span.low <= address < span.high or span.low == address == span.high:
                return span.name, address - span.low
        raise LookupError(f"no buffer holds {address:#x}")

    def write_back(self, buffers: Mapping[str, npt.NDArray[Any]]) -> None:
        """Copies the buffers' bytes into the host arrays that the kernel may write.

        Raises R048 where it changed an array that is read-only or declared as an input.
        """
        for parameter, value in zip(self._parameters, self._values, strict=True):
            view = array_of(value)
            if view is None or view.elements == 0:
                continue
            low, high = view.span()
            name, offset = self.place(low)
            result = buffers[name].view(np.uint8).reshape(-1)[offset : offset + high - low]
            host = _host_bytes(low, high)
            if parameter.access == "in" or view.readonly:
                # An input that another parameter writes through an alias has changed rightly.
                if not self._written_elsewhere(parameter.name, low, high) and not np.array_equal(result, host):
                    fail("R048", name=parameter.name)
            else:
                host[:] = result

    def _written_elsewhere(self, name: str, low: int, high: int) -> bool:
        for parameter, value in zip(self._parameters, self._values, strict=True):
            view = array_of(value)
            if parameter.name == name or view is None or parameter.access == "in" or view.readonly:
                continue
            other_low, other_high = view.span()
            if low < other_high and other_low < high:
                return True
        return False


def kept_arguments(manifest: Manifest, arguments: Sequence[Any] | Mapping[str, Any]) -> Callable[[], None]:
    """Copies the host arrays among a launch's arguments; the returned function brings them back. Raises R040 to R051 as the launch does."""
    values = check_arguments(manifest, in_order(manifest, arguments))
    kept: list[tuple[Bytes, Bytes]] = []
    for value in values:
        view = array_of(value)
        if view is not None and view.place == "cpu" and not view.readonly:
            host = _host_bytes(*view.span())
            kept.append((host, host.copy()))

    def restore(_owners: Sequence[Checked] = values) -> None:
        for host, before in kept:
            host[:] = before

    return restore


def _merged(parameters: Sequence[Parameter], values: Sequence[Checked]) -> list[_Span]:
    """Each array's span; spans that overlap become one, named for all their parameters."""
    found: list[_Span] = []
    for parameter, value in zip(parameters, values, strict=True):
        view = array_of(value)
        if view is not None:
            low, high = view.span()
            found.append(_Span(parameter.name, low, high))
    found.sort(key=lambda span: (span.low, span.high))
    merged: list[_Span] = []
    for span in found:
        last = merged[-1] if merged else None
        if last is not None and (span.low < last.high or (span.low, span.high) == (last.low, last.high)):
            last.high = max(last.high, span.high)
            last.name = f"{last.name}+{span.name}"
        else:
            merged.append(span)
    return merged


def _host_bytes(low: int, high: int) -> Bytes:
    """The process' own memory from `low` to `high` as an array, without copying; the caller's views keep it alive."""
    if low == high:
        return np.zeros(0, np.uint8)
    return np.frombuffer(memoryview((ctypes.c_uint8 * (high - low)).from_address(low)).cast("B"), np.uint8)
