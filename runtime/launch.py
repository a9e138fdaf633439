"""Launching an artifact: one call for both devices, with every option, which tells what happened.

`artifact[grid](*arguments)`, the short form and the fast path, is `bound_launch`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

from fa4dsl.runtime.arguments import array_of, at_kernel, check_arguments, in_order, place_of
from fa4dsl.runtime.diagnostics import Fa4dslError, fail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.diagnostics import Frame
    from fa4dsl.runtime.wait_records import LiveRecords, WaitRecord

Device = Literal["auto", "cuda", "simulator"]
Extents = tuple[int, int, int]

GRID_LIMITS: Extents = (2**31 - 1, 65535, 65535)
DIMENSIONS = "xyz"
PORTABLE_CLUSTER = 8
LARGEST_CLUSTER = 16


@dataclass(frozen=True)
class LaunchOptions:
    """What a launch may choose beside grid and arguments. Hashable: prepared launches are kept by it."""

    cluster: Extents
    dynamic_shared_bytes: int
    cooperative: bool = False
    """All CTAs resident at once (CU_LAUNCH_ATTRIBUTE_COOPERATIVE)."""
    programmatic: bool = False
    """May start before the kernel ahead in the stream has ended (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION); the kernel must
    execute griddepcontrol.wait before it reads what that kernel writes."""


@dataclass(frozen=True)
class LaunchResult:
    """What a launch was, and on the simulator what it showed."""

    device: Literal["cuda", "simulator"]
    report: Any = None
    """The simulator's report; None on a GPU."""
    seconds: float | None = None
    """Simulation time on this CPU; on a GPU the kernel's own time where the launch waited for its end (`watchdog` or `copy`)."""
    stream: int = 0
    kernel: str = ""
    _wait: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    _waiting: LiveRecords | None = field(default=None, repr=False, compare=False)

    def synchronize(self) -> None:
        """Waits for the launch's stream; raises R075 with the kernel's name and arguments if a kernel failed. On the simulator all is done."""
        if self._wait is not None:
            self._wait()

    @property
    def printed(self) -> str:
        """What the kernel printed with device_print, as standard output got it. On a GPU the driver writes that, and this is empty."""
        return "" if self.report is None else str(self.report.printed_text())

    def waits(self) -> tuple[WaitRecord, ...]:
        """Who waits now, in a kernel compiled with `debug_waits`; on the simulator who waited at the end. Raises R101 for another kernel."""
        return self._records().records()

    def dump_waits(self) -> str:
        """The same as a table. `fa4dsl.runtime.dump_waits` gives it for all launches, from any thread. Raises R101."""
        return self._records().dump()

    def _records(self) -> LiveRecords:
        if self._waiting is None:
            fail("R101", kernel=self.kernel)
        return self._waiting


def extents(kernel: str, grid: int | Sequence[int], code: str = "R060", place: Frame | None = None) -> Extents:
    """A grid or cluster as three extents. Raises R060 or the code given, at the kernel's place."""
    given: tuple[Any, ...] = tuple(grid) if isinstance(grid, Iterable) else (grid,)
    try:
        whole = tuple(extent.__index__() for extent in given)
    except (AttributeError, TypeError):
        whole = ()
    problem = ""
    if any(isinstance(extent, bool) for extent in given):
        whole = ()
    if not 1 <= len(whole) <= 3 or len(whole) != len(given):
        problem = "it needs one to three integers"
    else:
        for dimension, extent, limit in zip(DIMENSIONS, whole, GRID_LIMITS, strict=False):
            if not 1 <= extent <= limit:
                problem = f"{extent} CTAs in {dimension}, 1 to {limit} are possible"
                break
    if problem:
        fail(code, place, kernel=kernel, grid=given, cluster=given, problem=problem)
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


def check_grid(kernel: str, grid: Extents, cluster: Extents, place: Frame | None = None) -> None:
    """Whole clusters in every dimension. Raises R061."""
    for dimension, extent, size in zip(DIMENSIONS, grid, cluster, strict=True):
        if extent % size:
            fail("R061", place, kernel=kernel, extent=extent, dimension=dimension, cluster=size)


def make_options(
    artifact: Artifact,
    cluster: int | Sequence[int] | None = None,
    dynamic_shared_bytes: int | None = None,
    cooperative: bool = False,
    programmatic: bool = False,
) -> LaunchOptions:
    """The manifest's launch shape with what the caller changes. Raises R062 for a cluster the PTX or the hardware does not allow, R063 for a size."""
    manifest = artifact.manifest
    shape = manifest.cluster
    if cluster is not None:
        shape = extents(manifest.name, cluster, "R062", manifest.place)
        if shape != manifest.cluster and artifact.static_cluster:
            fail("R062", manifest.place, kernel=manifest.name, cluster=shape, problem=f"it was compiled for clusters of {manifest.cluster}")
    if prod(shape) > LARGEST_CLUSTER:
        problem = f"{prod(shape)} CTAs, at most {LARGEST_CLUSTER} are possible on any GPU"
        fail("R062", manifest.place, kernel=manifest.name, cluster=shape, problem=problem)
    dynamic = manifest.dynamic_shared_bytes if dynamic_shared_bytes is None else dynamic_shared_bytes
    if dynamic < 0 or dynamic >= 1 << 31:
        static = manifest.static_shared_bytes
        fail("R063", manifest.place, kernel=manifest.name, needed=dynamic, dynamic=dynamic, static=static, limit="at most 232448")
    return LaunchOptions(shape, dynamic, bool(cooperative), bool(programmatic))


def launch(
    artifact: Artifact,
    grid: int | Sequence[int],
    arguments: Sequence[Any] | Mapping[str, Any],
    *,
    device: Device = "auto",
    stream: Any = None,
    schedule: Any = "eager",
    seed: int = 0,
    check: bool = True,
    progress: Callable[..., Any] | None = None,
    cluster: int | Sequence[int] | None = None,
    dynamic_shared_bytes: int | None = None,
    cooperative: bool = False,
    programmatic: bool = False,
    copy: bool = False,
    watchdog: float | None = None,
) -> LaunchResult:
    """Runs `artifact` over `grid` CTAs.

    `arguments`: one for each parameter, a sequence in their order or a mapping by name: arrays (numpy, torch, cupy, jax, numba, anything with DLPack
    or an array interface), tensor maps, and Python or numpy scalars.

    `device`: "cuda", "simulator", or "auto", which takes the GPU if an array lies there and the simulator otherwise. On the GPU: `stream` (any
    framework's stream or a handle; by default torch's or cupy's current one), `copy` (host arrays are copied in and out; the launch then waits),
    `watchdog` (seconds to wait for the end; R077 tells a hang), `cooperative`, `programmatic` (dependent launch). On the simulator: `schedule`
    ("eager", "late", "random"), `seed`, `check` (races, hangs and lifetimes), `progress` (called while it works).
    `cluster` and `dynamic_shared_bytes` replace the manifest's where the kernel allows it.

    Raises R040 to R051 for arguments, R060 to R068 for a launch that cannot fit, R069 to R080 for the driver; the simulator's own findings are in
    the result's report.
    """
    if device not in get_args(Device):
        fail("R067", what="device", got=repr(device), words='"auto", "cuda" or "simulator"')
    manifest = artifact.manifest
    shape = extents(manifest.name, grid, place=manifest.place)
    options = make_options(artifact, cluster, dynamic_shared_bytes, cooperative, programmatic)
    check_grid(manifest.name, shape, options.cluster, manifest.place)
    ordered = in_order(manifest, arguments)
    handle: int | None = None
    if stream is not None and device != "simulator":
        from fa4dsl.runtime.cuda.stream import handle_of

        handle = handle_of(stream)
    values = check_arguments(manifest, ordered, handle)
    place = place_of(manifest, values)
    if device == "auto":
        device = "cuda" if (place is not None and place[0] == "cuda") or copy or handle is not None else "simulator"
    if device == "cuda":
        from fa4dsl.runtime.cuda.launch import launch_on_gpu

        try:
            return launch_on_gpu(artifact, shape, options, values, place, handle, copy=copy, watchdog=watchdog)
        except Fa4dslError as error:
            raise at_kernel(manifest, error) from None
    for parameter, value in zip(manifest.given_parameters, values, strict=True):
        view = array_of(value)
        if view is not None and view.place == "cuda" and view.address:
            fail("R043", manifest.place, name=parameter.name, place=f"cuda:{view.device}", wanted="the CPU, for the simulator")
    from fa4dsl.runtime.simulator.device import launch_on_simulator

    try:
        return launch_on_simulator(artifact, shape, options, values, schedule=schedule, seed=seed, check=check, progress=progress)
    except Fa4dslError as error:
        raise at_kernel(manifest, error) from None
