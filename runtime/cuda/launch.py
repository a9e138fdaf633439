"""Launches on a GPU: prepared once for artifact, grid and options, then four numbers to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.arguments import check_arguments, in_order
from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.cuda.driver import RECENT, STICKY, entry, raise_fault, raw_launch, status_text, synchronize
from fa4dsl.runtime.cuda.fast_arguments import Replan, extractor, on_gpu, packed
from fa4dsl.runtime.cuda.fit import check_fit, make_room
from fa4dsl.runtime.cuda.kernel import LoadedKernel, load_kernel
from fa4dsl.runtime.cuda.pack import ParameterBlock
from fa4dsl.runtime.cuda.stream import current_stream, handle_of
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.launch import Extents, LaunchOptions, LaunchResult, check_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fa4dsl.runtime.arguments import Checked
    from fa4dsl.runtime.artifact import Artifact

WRONG_CONTEXT = frozenset({201, 400})
"""CUDA_ERROR_INVALID_CONTEXT and INVALID_HANDLE: what a launch says when this thread has no context, or another GPU's."""
PLANS_KEPT = 256


class PreparedLaunch:
    """Artifact, grid and options on one GPU: checked, loaded, with its launch memory written but for stream and values.

    Calling it launches and returns True, or returns False where the arguments lie elsewhere and the launch must be planned anew. It neither
    synchronises nor allocates on the GPU, so it can be captured. Safe to call from several threads.
    """

    def __init__(self, kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> None:
        self.kernel = kernel
        self.grid = grid
        self.options = options
        self.manifest = kernel.artifact.manifest
        self._function = kernel.handle
        self._plans: dict[tuple[type, ...], tuple[list[Callable[[Any], Any]], Callable[[], int]]] = {}
        self._blocks = [self._block()]
        raw_launch()

    def _block(self) -> ParameterBlock:
        return ParameterBlock(self.manifest.parameters, self.grid, self.manifest.block, self.options)

    def __call__(self, arguments: tuple[Any, ...], stream: Any = None) -> bool:
        plan = self._plans.get(tuple(map(type, arguments)))
        if plan is None:
            plan = self._plan(arguments)
        extractors, stream_of = plan
        try:
            values = [extract(argument) for extract, argument in zip(extractors, arguments, strict=True)]
        except Replan:
            return False
        self.launch_values(stream_of() if stream is None else handle_of(stream), values)
        return True

    def _plan(self, arguments: tuple[Any, ...]) -> tuple[list[Callable[[Any], Any]], Callable[[], int]]:
        ordinal = self.kernel.gpu.ordinal
        ordered = in_order(self.manifest, arguments)
        for parameter, value in zip(self.manifest.parameters, check_arguments(self.manifest, ordered), strict=True):
            on_gpu(parameter, value, ordinal)
        extractors = [extractor(parameter, value, ordinal) for parameter, value in zip(self.manifest.parameters, arguments, strict=True)]
        plan = (extractors, current_stream(arguments, ordinal))
        if len(self._plans) >= PLANS_KEPT:
            self._plans.clear()
        # A tensor map's framework is not visible in its type, so its stream may differ from call to call: such plans are made each time.
        if not any(parameter.kind == "tensor_map" for parameter in self.manifest.parameters) or _one_framework(arguments):
            self._plans[tuple(map(type, arguments))] = plan
        return plan

    def launch_values(self, stream: int, values: Sequence[Any]) -> None:
        """Launches with packed values on a stream's handle. Raises R074, R075, R080."""
        try:
            block = self._blocks.pop()
        except IndexError:
            # Another thread is launching this very kernel: it has the block.
            block = self._block()
        block.write(stream, values)
        status = entry.launch(block.config, self._function, block.parameters, 0)
        if status:
            status = self._recover(status, block)
        self._blocks.append(block)
        if status:
            self._refused(status)
        RECENT.append((self, stream, values))

    def _recover(self, status: int, block: ParameterBlock) -> int:
        """A thread without a context, or with another GPU's, launches under the kernel's own."""
        if status not in WRONG_CONTEXT:
            return status
        with current_context(self.kernel.gpu):
            again: int = entry.launch(block.config, self._function, block.parameters, 0)
        return again

    def _refused(self, status: int) -> None:
        if status in STICKY:
            raise_fault(status)
        name, text = status_text(status)
        fail("R080", kernel=self.manifest.name, grid=self.grid, status=name, text=text)

    def describe(self, values: Sequence[Any]) -> str:
        """A launch for a message: the kernel, its grid and arguments. Memory is told by address, for the arrays are not kept."""
        words = []
        for parameter, value in zip(self.manifest.parameters, values, strict=True):
            if parameter.kind == "tensor_map":
                words.append(f"{parameter.name}=tensor map")
            else:
                words.append(f"{parameter.name}={value:#x}" if parameter.kind == "pointer" else f"{parameter.name}={value}")
        return f"{self.manifest.name}[{'x'.join(map(str, self.grid))}]({', '.join(words)})"


def _one_framework(arguments: tuple[Any, ...]) -> bool:
    """A torch tensor among the arguments themselves decides the stream whatever the maps hold."""
    return any(type(value).__module__.split(".")[0] == "torch" for value in arguments)


_prepared: dict[tuple[int, int, Extents, LaunchOptions], PreparedLaunch] = {}
_PREPARED_KEPT = 4096


def prepared_for(artifact: Artifact, grid: Extents, options: LaunchOptions, ordinal: int | None = None) -> PreparedLaunch:
    """The prepared launch on a GPU (by default the current one), made at its first use. Raises R061 to R076."""
    kernel = load_kernel(artifact, ordinal)
    key = (id(kernel), kernel.gpu.ordinal, grid, options)
    found = _prepared.get(key)
    if found is None:
        check_grid(artifact.manifest.name, grid, options.cluster)
        with current_context(kernel.gpu):
            make_room(kernel, options)
        check_fit(kernel, grid, options)
        if len(_prepared) >= _PREPARED_KEPT:
            _prepared.clear()
        # The prepared launch holds the kernel, so its id is not given to another while the entry stands.
        found = _prepared[key] = PreparedLaunch(kernel, grid, options)
    return found


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
    parameters = artifact.manifest.parameters
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
            seconds: float | None = None
            if watchdog is not None or copies is not None:
                from fa4dsl.runtime.cuda.watchdog import timed_launch

                seconds = timed_launch(prepared, handle, bits, watchdog)
            else:
                prepared.launch_values(handle, bits)
            if copies is not None:
                copies.copy_out()
        finally:
            if copies is not None:
                copies.free()
    return LaunchResult("cuda", None, seconds, handle, name, lambda: _synchronize(device.ordinal, handle))


def _synchronize(ordinal: int, handle: int) -> None:
    with current_context(gpu(ordinal)):
        synchronize(handle)
