"""The simulator as a device: host arrays in, the kernel's PTX executed, results back in the arrays, a report out."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.arguments import array_of, pack_scalar
from fa4dsl.runtime.arguments_arrays import view_array
from fa4dsl.runtime.arguments_buffers import HostBuffers
from fa4dsl.runtime.launch import Extents, LaunchOptions, LaunchResult
from fa4dsl.runtime.simulator.launch import Argument, Launch, PointerArgument, ScalarArgument, TensorMapArgument
from fa4dsl.runtime.tensor_map import TensorMap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fa4dsl.runtime.arguments import Checked
    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.manifest import Parameter


def simulator_launch(artifact: Artifact, grid: Extents, options: LaunchOptions, values: Sequence[Checked]) -> tuple[Launch, HostBuffers]:
    """The simulator's launch for checked host arguments. Arrays that overlap share a buffer; a ragged map's base lies before its buffer."""
    manifest = artifact.manifest
    buffers = HostBuffers(manifest.parameters, values)
    arguments = [_argument(buffers, parameter, value) for parameter, value in zip(manifest.parameters, values, strict=True)]
    launch = Launch(
        kernel=manifest.entry,
        grid=grid,
        block=manifest.block,
        cluster=options.cluster,
        dynamic_shared_bytes=options.dynamic_shared_bytes,
        buffers=buffers.buffers,
        arguments=arguments,
    )
    return launch, buffers


def _argument(buffers: HostBuffers, parameter: Parameter, value: Checked) -> Argument:
    view = array_of(value)
    if view is None:
        data = pack_scalar(parameter.dtype, value)
        return ScalarArgument(int.from_bytes(data, "little"), len(data))
    buffer, offset = buffers.place(view.address)
    if isinstance(value, TensorMap):
        return TensorMapArgument(value.description, buffer, offset)
    return PointerArgument(buffer, offset)


def launch_on_simulator(
    artifact: Artifact,
    grid: Extents,
    options: LaunchOptions,
    values: Sequence[Checked],
    *,
    schedule: Any = "eager",
    seed: int = 0,
    check: bool = True,
    progress: Callable[..., Any] | None = None,
) -> LaunchResult:
    """Executes the artifact's PTX; see `runtime.launch.launch`. The result's `report` has the verdict.

    What the kernel prints goes to standard output when it has ended, as a GPU's driver flushes it at a synchronisation; the report's `printed` has it too.
    Results are written back even when the report finds faults, as a GPU would leave them. Raises R048 for a read-only array that was written.
    """
    from fa4dsl.runtime.simulator.run import simulate

    waiting = None
    if artifact.manifest.waits is not None:
        from fa4dsl.runtime.wait_records import LiveRecords, words_needed

        records = np.zeros(words_needed(artifact.manifest, grid), np.uint32)
        values = [*values, view_array(records)]
        waiting = LiveRecords(artifact.manifest, grid, lambda: records, hardware=False)
    launch, buffers = simulator_launch(artifact, grid, options, values)
    start = time.perf_counter()
    manifest = artifact.manifest
    report = simulate(
        artifact.ptx,
        launch,
        schedule=schedule,
        seed=seed,
        check=check,
        progress=progress,
        sources=manifest.sources,
        manifest=manifest,
        name=f"{manifest.name}.ptx",
    )
    seconds = time.perf_counter() - start
    if report.printed:
        sys.stdout.write(report.printed_text())
        sys.stdout.flush()
    buffers.write_back(launch.buffers)
    return LaunchResult("simulator", report, seconds, 0, artifact.manifest.name, None, waiting)
