"""Launches on a GPU: prepared once for artifact, grid and options, then four numbers to the driver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.arguments import check_arguments, in_order, place_of
from fa4dsl.runtime.arguments_arrays import ArrayView
from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.cuda.driver import STICKY, entry, raise_fault, raw_launch, recent, status_text, synchronize
from fa4dsl.runtime.cuda.fast_arguments import on_gpu, packed, step
from fa4dsl.runtime.cuda.fit import check_fit, make_room
from fa4dsl.runtime.cuda.kernel import LoadedKernel, load_kernel
from fa4dsl.runtime.cuda.pack import ParameterBlock, pointer_to
from fa4dsl.runtime.cuda.stream import current_stream, handle_of, is_torch
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.launch import Extents, LaunchOptions, LaunchResult, check_grid
from fa4dsl.runtime.tensor_map import TensorMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.arguments import Checked
    from fa4dsl.runtime.artifact import Artifact

WRONG_CONTEXT = frozenset({201, 400})
"""CUDA_ERROR_INVALID_CONTEXT and INVALID_HANDLE: what a launch says when this thread has no context, or another GPU's."""
PLANS_KEPT = 256

Plan = Callable[[tuple[Any, ...], Any], bool]


class PreparedLaunch:
    """Artifact, grid and options on one GPU: checked, loaded, with its launch memory written but for stream and values.

    Calling it launches and returns True, or returns False where the arguments are not what they were when they were checked, and the launch must be
    looked at in full. It neither synchronises nor allocates on the GPU, so it can be captured. Safe to call from several threads.
    """

    def __init__(self, kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> None:
        self.kernel = kernel
        self.grid = grid
        self.options = options
        self.manifest = kernel.artifact.manifest
        self.function = pointer_to(kernel.handle)
        self.blocks = [self.new_block()]
        self._plans: dict[tuple[type, ...], Plan] = {}
        self.current: Plan = self._first
        """The plan of the last signature seen."""
        raw_launch()

    def new_block(self) -> ParameterBlock:
        return ParameterBlock(self.manifest.parameters, self.grid, self.manifest.block, self.options)

    def _first(self, arguments: tuple[Any, ...], stream: Any) -> bool:
        return False

    def __call__(self, arguments: tuple[Any, ...], stream: Any = None) -> bool:
        if self.current(arguments, stream):
            return True
        return self.replan(arguments, stream)

    def replan(self, arguments: tuple[Any, ...], stream: Any) -> bool:
        """Arguments of other types than the last call's: another plan, made at the signature's first use."""
        kinds = tuple(map(type, arguments))
        plan = self._plans.get(kinds)
        if plan is None:
            ordered = in_order(self.manifest, arguments)
            place = place_of(self.manifest, check_arguments(self.manifest, ordered))
            if place is not None and place != ("cuda", self.kernel.gpu.ordinal):
                return False
            plan = make_plan(self, arguments)
            if len(self._plans) >= PLANS_KEPT:
                self._plans.clear()
            if _framework_is_plain(arguments):
                self._plans[kinds] = plan
        elif plan is self.current:
            # It was tried just now and did not fit: the same types with another element type, layout or place.
            self._plans.pop(kinds)
            self.current = self._first
            return False
        if kinds in self._plans:
            self.current = plan
        return plan(arguments, stream)

    def launch_values(self, stream: int, values: Sequence[Any]) -> None:
        """Launches with packed values on a stream's handle. Raises R074, R075, R080."""
        try:
            block = self.blocks.pop()
        except IndexError:
            # Another thread is launching this very kernel: it has the block.
            block = self.new_block()
        block.write(stream, values)
        status = entry.launch(block.config, self.function, block.parameters, None)
        if status:
            self.failed(status, block)
        self.blocks.append(block)
        recent.note(self, (stream, *values))

    def failed(self, status: int, block: ParameterBlock) -> None:
        """A thread without a context, or with another GPU's, launches under the kernel's own; any other refusal is raised (R075, R080)."""
        if status in WRONG_CONTEXT:
            with current_context(self.kernel.gpu):
                status = entry.launch(block.config, self.function, block.parameters, None)
            if not status:
                return
        self.blocks.append(block)
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


def _framework_is_plain(arguments: tuple[Any, ...]) -> bool:
    """Whether the types alone tell whose stream is current: a torch tensor decides, whatever tensor maps beside it lie over; a map or view alone
    does not show its framework, and such a plan is not kept."""
    if any(is_torch(value) for value in arguments):
        return True
    return not any(isinstance(value, (TensorMap, ArrayView)) for value in arguments)


def make_plan(prepared: PreparedLaunch, arguments: tuple[Any, ...]) -> Plan:
    """One function for one signature, without a loop or a call that the signature does not need.

    Its text comes from parameter kinds and numbers (`fast_arguments.step`); what it refers to is bound by name.
    """
    ordinal = prepared.kernel.gpu.ordinal
    parameters = prepared.manifest.parameters
    steps = [step(number, parameter, value, ordinal) for number, (parameter, value) in enumerate(zip(parameters, arguments, strict=True))]
    values = "".join(f"v{number}, " for number in range(len(parameters)))
    # Equal floats have equal bits, but for the two zeros; NaN is equal to nothing.
    zeros = [f"not v{number}" for number, item in enumerate(parameters) if item.kind == "scalar" and item.dtype in ("f16", "f32", "f64")]
    refusals = [condition for item in steps for condition in item.refusals]
    unpack = "".join(f"a{number}, " for number in range(len(parameters))).strip()
    found = current_stream(arguments, ordinal)
    get_stream: Callable[..., int] = found
    stream_argument = ""
    if isinstance(found, partial):
        # Called with its argument written out, a built-in function is faster than the object around it.
        get_stream, stream_argument = found.func, ", ".join(map(repr, found.args))
    lines = [
        f"try: {unpack or '()'} = arguments",
        "except ValueError: return False",
        *(line for item in steps for line in item.lines),
        f"stream = current_stream({stream_argument}) if stream is None else handle_of(stream)",
        "try: block = blocks.pop()",
        "except IndexError: block = prepared.new_block()",
        f"values = (stream, {values})",
        f"if {' or '.join(['values != block.last', *zeros])}:",
        *([f"    if {' or '.join(refusals)}:", "        blocks.append(block)", "        return False"] if refusals else []),
        f"    block.pack_into(block.view, block.offset, stream, block.start, block.count, {values})",
        "    block.last = values",
        "else: values = block.last",
        "status = entry.launch(block.config, function, block.parameters, None)",
        "if status: prepared.failed(status, block)",
        "blocks.append(block)",
        "if recent.last is not values: recent.note(prepared, values)",
        "return True",
    ]
    names: dict[str, Any] = {
        "prepared": prepared,
        "blocks": prepared.blocks,
        "function": prepared.function,
        "entry": entry,
        "recent": recent,
        "handle_of": handle_of,
        "current_stream": get_stream,
    }
    for item in steps:
        names.update(item.names)
    text = "def plan(arguments, stream):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, f"<launch of {prepared.manifest.entry}>", "exec"), names)
    made: Plan = names["plan"]
    return made


PREPARED_KEPT = 1024
"""Of one kernel on one GPU; a grid may follow a data-dependent size without end."""


def prepared_for(artifact: Artifact, grid: Extents, options: LaunchOptions, ordinal: int | None = None) -> PreparedLaunch:
    """The prepared launch on a GPU (by default the current one), made at its first use. Raises R061 to R076."""
    kernel = load_kernel(artifact, ordinal)
    key = (grid, options)
    found: PreparedLaunch | None = kernel.prepared.get(key)
    if found is None:
        check_grid(artifact.manifest.name, grid, options.cluster)
        with current_context(kernel.gpu):
            make_room(kernel, options)
        check_fit(kernel, grid, options)
        if len(kernel.prepared) >= PREPARED_KEPT:
            kernel.prepared.clear()
        found = kernel.prepared[key] = PreparedLaunch(kernel, grid, options)
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
