"""Launches on a GPU: prepared once for artifact, grid and options, then four numbers to the driver."""

from __future__ import annotations

import struct
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.cuda.driver import STICKY, entry, raise_fault, raw_launch, recent, status_text, synchronize
from fa4dsl.runtime.cuda.fast_arguments import on_gpu, packed
from fa4dsl.runtime.cuda.fit import check_fit, make_room
from fa4dsl.runtime.cuda.kernel import LoadedKernel, load_kernel, loading
from fa4dsl.runtime.cuda.native_part import native
from fa4dsl.runtime.cuda.pack import ATTRIBUTE_SIZE, ParameterBlock, attributes, pointer_to, value_layout
from fa4dsl.runtime.cuda.stream import current_stream
from fa4dsl.runtime.diagnostics import Fa4dslError, fail
from fa4dsl.runtime.launch import Extents, LaunchOptions, LaunchResult, check_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.arguments import Checked
    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.cuda._native import Prepared
    from fa4dsl.runtime.manifest import Manifest

WRONG_CONTEXT = frozenset({201, 400})
"""CUDA_ERROR_INVALID_CONTEXT and INVALID_HANDLE: what a launch says when this thread has no context, or another GPU's."""


class PreparedLaunch:
    """Artifact, grid and options on one GPU: checked, loaded, with its launch memory written but for stream and values.

    Launching neither synchronises nor allocates on the GPU, so it can be captured. Safe to use from several threads: a launch takes one of `blocks`,
    and puts it back. So a launch is in the driver's hands only while a block is missing, and none begins once `retire` has them all. Native plans launch
    from their own stacks and are counted in `native`.
    """

    def __init__(self, kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> None:
        self.kernel = kernel
        self.grid = grid
        self.options = options
        self.manifest = kernel.manifest
        self.told = LaunchWords(kernel.manifest, grid)
        self._function = pointer_to(kernel.handle)
        self._native: Prepared | None = None
        self._made = 0
        self._retired = False
        self._guard = threading.Lock()
        first = self.new_block()
        assert first is not None
        # Written out, a list of one has room for one, and taking it and putting it back allocates nothing.
        self.blocks = [first]
        raw_launch()
        kernel.launches.add(self)

    def new_block(self) -> ParameterBlock | None:
        """For a launch while others have the blocks there are; None when the kernel has been unloaded."""
        with self._guard:
            if self._retired:
                return None
            self._made += 1
        return ParameterBlock(self.manifest.parameters, self.grid, self.manifest.block, self.options, self._function)

    def native(self) -> Prepared:
        """The same for native plans. The C part must be there."""
        assert native is not None
        with self._guard:
            if self._native is None:
                launch_attributes = attributes(self.options)
                self._native = native.Prepared(
                    function=self.kernel.handle,
                    grid=self.grid,
                    block=self.manifest.block,
                    dynamic_shared_bytes=self.options.dynamic_shared_bytes,
                    attributes=launch_attributes,
                    attribute_count=len(launch_attributes) // ATTRIBUTE_SIZE,
                )
                if self._retired:
                    self._native.retire()
            return self._native

    def retire(self, seconds: float) -> bool:
        """Lets no further launch begin, and waits for those in the driver's hands; False where one stays there longer."""
        with self._guard:
            self._retired = True
        end = time.monotonic() + seconds
        while self._made or (self._native is not None and self._native.retire()):
            try:
                self.blocks.pop()
                self._made -= 1
            except IndexError:
                if time.monotonic() > end:
                    return False
                time.sleep(1e-4)
        return True

    def launch_values(self, stream: int, values: Sequence[Any]) -> None:
        """Launches with packed values on a stream's handle. Raises R074, R075, R080."""
        block = self._take_block()
        if block is None:
            self._again().launch_values(stream, values)
            return
        block.write(stream, values)
        status = entry.launch(*block.arguments)
        if status:
            self.failed(status, block)
        self.blocks.append(block)
        recent.note(self.told, (stream, *values))

    def _take_block(self) -> ParameterBlock | None:
        try:
            return self.blocks.pop()
        except IndexError:
            return self.new_block()

    def _again(self) -> PreparedLaunch:
        """The same launch where another thread has unloaded this one: the caller's artifact loads it again."""
        artifact = self.kernel.artifact()
        assert artifact is not None
        return prepared_for(artifact, self.grid, self.options, self.kernel.gpu.ordinal)

    def failed(self, status: int, block: ParameterBlock) -> None:
        """A thread without a context, or with another GPU's, launches under the kernel's own; any other refusal is raised (R075, R080)."""
        if status in WRONG_CONTEXT:
            with current_context(self.kernel.gpu):
                status = entry.launch(*block.arguments)
            if not status:
                return
        self.blocks.append(block)
        self._refused(status)

    def native_failed(self, status: int, stream: int, values: bytes) -> None:
        """The same for a native plan's launch."""
        if status not in WRONG_CONTEXT:
            self._refused(status)
        block = self._take_block()
        if block is None:
            self._again().native_failed(status, stream, values)
            return
        block.write_packed(stream, values)
        self.failed(status, block)
        self.blocks.append(block)

    def _refused(self, status: int) -> NoReturn:
        if status in STICKY:
            raise_fault(status)
        name, text = status_text(status)
        fail("R080", self.manifest.place, kernel=self.manifest.name, grid=self.grid, status=name, text=text)


@dataclass(frozen=True)
class LaunchWords:
    """A launch for messages. Kept beside its values after the kernel is gone."""

    manifest: Manifest
    grid: Extents

    def describe(self, values: Sequence[Any]) -> str:
        """The kernel, its grid and arguments. Memory is told by address, for the arrays are not kept."""
        words = []
        for parameter, value in zip(self.manifest.parameters, values, strict=True):
            if parameter.kind == "tensor_map":
                words.append(f"{parameter.name}=tensor map")
            else:
                words.append(f"{parameter.name}={value:#x}" if parameter.kind == "pointer" else f"{parameter.name}={value}")
        return f"{self.manifest.name}[{'x'.join(map(str, self.grid))}]({', '.join(words)})"

    def of_packed(self) -> LaunchWords:
        """The same for values as native plans keep them: one bytes object, packed."""
        return _PackedLaunchWords(self.manifest, self.grid)


class _PackedLaunchWords(LaunchWords):
    def describe(self, values: Sequence[Any]) -> str:
        parameters = self.manifest.parameters
        unpacked = struct.unpack(f"<{value_layout(parameters)[0]}", values[0])
        # A float as it was given: the fewest digits that round to it.
        return super().describe(
            [
                float(str(np.float32(value))) if item.dtype == "f32" and item.kind == "scalar" else value
                for item, value in zip(parameters, unpacked, strict=True)
            ]
        )


PREPARED_KEPT = 1024
"""Of one kernel on one GPU; a grid may follow a data-dependent size without end."""


def prepared_for(artifact: Artifact, grid: Extents, options: LaunchOptions, ordinal: int | None = None) -> PreparedLaunch:
    """The prepared launch on a GPU (by default the current one), made at its first use. Raises R061 to R076."""
    kernel = load_kernel(artifact, ordinal)
    key = (grid, options)
    found: PreparedLaunch | None = kernel.prepared.get(key)
    if found is None:
        # As one step against unloading, which must see every launch that is prepared.
        with loading:
            kernel = load_kernel(artifact, ordinal)
            found = kernel.prepared.get(key) or _prepare(kernel, grid, options)
            if len(kernel.prepared) >= PREPARED_KEPT:
                kernel.prepared.clear()
            kernel.prepared[key] = found
    return found


def _prepare(kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> PreparedLaunch:
    check_grid(kernel.manifest.name, grid, options.cluster, kernel.manifest.place)
    with current_context(kernel.gpu):
        make_room(kernel, options)
    check_fit(kernel, grid, options)
    return PreparedLaunch(kernel, grid, options)


def launch_on_gpu(
    artifact: Artifact,
    grid: Extents,
    options: LaunchOptions,
    values: Sequence[Checked],
    place: tuple[str, int] | None,
    stream: int | None,
    *,
    copy: bool,
    watchdog: float | None,
) -> LaunchResult:
    """One launch with checked arguments; see `runtime.launch.launch`. Raises R043, R051, R061 to R080."""
    from fa4dsl.runtime.cuda.host_copy import HostCopies

    on_cuda = place is not None and place[0] == "cuda"
    prepared = prepared_for(artifact, grid, options, place[1] if place is not None and on_cuda else None)
    parameters = artifact.manifest.given_parameters
    device = prepared.kernel.gpu
    handle = current_stream(tuple(values), device.ordinal)() if stream is None else stream
    name = artifact.manifest.name
    copies = HostCopies(name, device, handle) if copy and not on_cuda else None
    with current_context(device):
        try:
            if copies is not None:
                values = copies.copy_in(parameters, values)
            else:
                for parameter, value in zip(parameters, values, strict=True):
                    on_gpu(parameter, value, device.ordinal)
            bits = [packed(parameter, value, device.ordinal) for parameter, value in zip(parameters, values, strict=True)]
            recording = None
            if artifact.manifest.waits is not None:
                from fa4dsl.runtime.cuda.wait_buffer import WaitBuffer

                recording = WaitBuffer(artifact.manifest, grid)
                bits.append(recording.address)
            seconds: float | None = None
            if watchdog is not None or copies is not None:
                from fa4dsl.runtime.cuda.watchdog import timed_launch

                seconds = timed_launch(prepared, handle, bits, watchdog, recording.live if recording is not None else None)
            else:
                prepared.launch_values(handle, bits)
            waiting = recording.launched(handle) if recording is not None else None
            if copies is not None:
                copies.copy_out()
        except Fa4dslError as error:
            if error.code == "R077":
                # The kernel may still use them, and freeing would wait for it.
                copies = None
            raise
        finally:
            if copies is not None:
                copies.free()
    return LaunchResult("cuda", None, seconds, handle, name, lambda: _synchronize(device.ordinal, handle), waiting)


def _synchronize(ordinal: int, handle: int) -> None:
    with current_context(gpu(ordinal)):
        synchronize(handle)
