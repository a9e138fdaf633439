"""Host arrays for one launch on a GPU: copied in, and out again where the kernel may have written. Only by explicit choice."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.arguments import Checked, array_of
from fa4dsl.runtime.arguments_arrays import ArrayView
from fa4dsl.runtime.cuda.driver import call, driver, synchronize
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.tensor_map import TensorMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.cuda.device import Gpu
    from fa4dsl.runtime.manifest import Parameter

ALIGNMENT = 256


class HostCopies:
    """The copies of one launch. Arrays over the very same bytes share a copy; others that overlap are refused (R050)."""

    def __init__(self, kernel: str, gpu: Gpu, stream: int) -> None:
        self.kernel = kernel
        self.gpu = gpu
        self.stream = stream
        self._allocations: list[Any] = []
        self._spans: dict[tuple[int, int], tuple[str, int, bool]] = {}
        """Host span to (parameter, device address of its first byte, to be written back)."""
        self._untouched: list[tuple[str, int, int]] = []
        """Read-only arrays that the kernel might write: compared afterwards."""

    def copy_in(self, parameters: Sequence[Parameter], values: Sequence[Checked]) -> list[Checked]:
        """The arguments with every host array replaced by its copy. Raises R048, R050, R079."""
        cu = driver()
        capture, *_ = call("cuStreamGetCaptureInfo", self.stream)
        if capture != cu.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
            fail("R079", kernel=self.kernel)
        moved: list[Checked] = []
        for parameter, value in zip(parameters, values, strict=True):
            view = array_of(value)
            if view is None:
                moved.append(value)
                continue
            in_front = max(-value.description.offset, 0) if isinstance(value, TensorMap) else 0
            if view.readonly and parameter.access == "out":
                fail("R048", name=parameter.name)
            address = self._copy(parameter, view, in_front)
            there = replace(view, address=address, place="cuda", device=self.gpu.ordinal)
            moved.append(TensorMap(there, value.description, value.form) if isinstance(value, TensorMap) else there)
        return moved

    def _copy(self, parameter: Parameter, view: ArrayView, in_front: int) -> int:
        low, high = view.span()
        written = parameter.access != "in" and not view.readonly
        for (other_low, other_high), (other, address, back) in self._spans.items():
            if (other_low, other_high) == (low, high):
                self._spans[low, high] = (other, address, back or written)
                return address + (view.address - low)
            if low < other_high and other_low < high:
                fail("R050", name=parameter.name, other=other)
        # A ragged map's base lies before its array, and must be an address of the allocation.
        in_front = (in_front + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        allocation = call("cuMemAlloc", in_front + max(high - low, 16))
        self._allocations.append(allocation)
        address = int(allocation) + in_front
        if high > low:
            call("cuMemcpyHtoDAsync", address, low, high - low, self.stream)
            self._spans[low, high] = (parameter.name, address, written)
            if view.readonly and parameter.access != "in":
                self._untouched.append((parameter.name, low, high))
        return address + (view.address - low)

    def copy_out(self) -> None:
        """Waits for the stream and writes back. Raises R048, R075, R076."""
        synchronize(self.stream)
        for name, low, high in self._untouched:
            now = ctypes.create_string_buffer(high - low)
            call("cuMemcpyDtoH", ctypes.addressof(now), self._spans[low, high][1], high - low)
            if now.raw != ctypes.string_at(low, high - low):
                fail("R048", name=name)
        for (low, high), (_, address, back) in self._spans.items():
            if back:
                call("cuMemcpyDtoH", low, address, high - low)

    def free(self) -> None:
        """Gives the device memory back; after a fault there is no context to give it back to."""
        for allocation in self._allocations:
            driver().cuMemFree(allocation)
        self._allocations.clear()
