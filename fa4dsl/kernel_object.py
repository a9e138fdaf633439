"""Kernels: the decorator, specialisation by compile-time arguments, compilation on demand, and launching."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from fa4dsl.fingerprint import kernel_fingerprint
from fa4dsl.frontend.source import Source, read_source
from fa4dsl.frontend.specialise import KernelOptions, Sizes, compile_time_parameters, run_time_parameters, trace_kernel
from fa4dsl.kernel_toolchain import toolchain
from fa4dsl.runtime.arguments_buffers import kept_arguments
from fa4dsl.runtime.bound_launch import BoundLaunch
from fa4dsl.runtime.cache import cache_key, cached
from fa4dsl.runtime.cuda import plan as _plan  # noqa: F401 - so that a first launch, whose time counts, imports nothing; touches no driver
from fa4dsl.runtime.diagnostics import Fa4dslError, Location, fail, issue_warnings
from fa4dsl.runtime.launch import Device, LaunchResult, launch

if TYPE_CHECKING:
    from fa4dsl.frontend.specialise import Module
    from fa4dsl.passes.pipeline import Compilation
    from fa4dsl.runtime.artifact import Artifact

Grid = int | Sequence[int]


class _ShortTraceback:
    """An error in a kernel leads back to its author's call, without the compiler's own frames: the diagnostic has the lines that matter.

    A defect of the compiler itself (L099) keeps them.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Fa4dslError) and error.code != "L099":
            raise error.with_traceback(None) from error.__cause__


_SHORT_TRACEBACK = _ShortTraceback()


class Kernel:
    """A kernel function. ``kernel.bind(c=...)`` fixes its compile-time (keyword-only) arguments; without any, it launches as it is.

    Names from the module and from closures are read when a specialisation is first compiled; later changes of them are not seen.
    """

    def __init__(self, function: Callable[..., Any], options: KernelOptions) -> None:
        self.function = function
        self.options = options
        functools.update_wrapper(self, function)
        self._bound: dict[Any, BoundKernel] = {}
        self._lock = threading.Lock()
        self._launchers: Mapping[Any, BoundLaunch] = {}
        """By grid: the artifact's own, once the kernel is bound without arguments and compiled."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def source(self) -> Source:
        return read_source(self.function)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Run-time parameters, in launch order: name to type."""
        return run_time_parameters(self.function)

    @property
    def place(self) -> Location:
        code = self.function.__code__
        return Location(code.co_filename, code.co_firstlineno)

    def bind(self, **constants: Any) -> BoundKernel:
        """This kernel for fixed compile-time arguments; the same object for the same arguments. Compiles nothing yet.

        Raises L039 for a missing or unknown argument, L043 for one that cannot be a key (make it a frozen dataclass, a tuple or a number).
        """
        wanted = compile_time_parameters(self.function)
        complete = {name: item.default for name, item in wanted.items() if item.default is not item.empty} | constants
        unknown = [name for name in constants if name not in wanted]
        missing = [name for name in wanted if name not in complete]
        if unknown or missing:
            problem = f"got {', '.join(unknown)}" if unknown else f"got none for {', '.join(missing)}"
            fail("L039", self.place, kernel=self.name, expected=", ".join(wanted) or "none", problem=problem)
        try:
            key = tuple((name, type(complete[name]), complete[name]) for name in sorted(complete))
            hash(key)
        except TypeError:
            name = next(name for name in sorted(complete) if not _hashable(complete[name]))
            fail("L043", self.place, name=name, given=type(complete[name]).__name__)
        with self._lock:
            bound = self._bound.get(key)
            if bound is None:
                bound = self._bound[key] = BoundKernel(self, complete)
            return bound

    def __call__(self, *arguments: Any, **constants: Any) -> BoundKernel:
        """``kernel(c=...)`` is ``kernel.bind(c=...)``. Positional arguments belong behind a grid: ``kernel[grid](...)`` (L059)."""
        if arguments:
            fail("L059", self.place, kernel=self.name)
        return self.bind(**constants)

    def __getitem__(self, grid: Grid) -> BoundLaunch:
        """``kernel[grid](*arguments)`` launches a kernel that has no compile-time arguments."""
        try:
            return self._launchers[grid]
        except (KeyError, TypeError):
            bound = self.bind()
            launcher = bound[grid]
            self._launchers = bound._launchers
            return launcher

    def with_options(self, *, debug_waits: bool) -> Kernel:
        """The same kernel compiled in another way.

        `debug_waits`: waits at mbarriers and at barriers of CTA, name and cluster leave records in host memory while they last
        (`passes.record_waits`). ``result = kernel.with_options(debug_waits=True).launch(...)`` gives `result.waits()` and `result.dump_waits()` at any
        time, a watchdog's R077 shows them, and `fa4dsl.runtime.dump_waits` shows those of all such launches. The kernel is slower, the more the more it
        synchronises by barriers of CTA, name or cluster; numbers stay the same.
        """
        return Kernel(self.function, replace(self.options, debug_waits=debug_waits))

    def launch(self, grid: Grid, arguments: Sequence[Any] | Mapping[str, Any], **options: Any) -> LaunchResult:
        """Launches a kernel that has no compile-time arguments; see `BoundKernel.launch`."""
        return self.bind().launch(grid, arguments, **options)

    def compile(self) -> Artifact:
        """Compiles a kernel that has no compile-time arguments."""
        return self.bind().compile()

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


class BoundKernel:
    """A kernel with all compile-time arguments given. Compiled once, at first need; safe to use from several threads."""

    def __init__(self, kernel: Kernel, constants: Mapping[str, Any]) -> None:
        self.kernel = kernel
        self.constants = dict(constants)
        self._lock = threading.RLock()
        self._compilation: Compilation | None = None
        self._artifact: Artifact | None = None
        self._launchers: Mapping[Any, BoundLaunch] = {}
        """By grid: the artifact's own, once there is one."""

    @property
    def name(self) -> str:
        return self.kernel.name

    def trace(self) -> Module:
        """The kernel as a fresh module of the fa4 dialect, before any pass. Raises the L errors of its source."""
        with _SHORT_TRACEBACK:
            return trace_kernel(self.kernel.source, self.kernel.options, self.constants)

    @property
    def compilation(self) -> Compilation:
        """Stages, artifact, timings and the compiler's warnings. Compiles in this process, whatever the cache holds."""
        with self._lock, _SHORT_TRACEBACK:
            if self._compilation is None:
                self._compilation = self._compile(self.trace())
            return self._compilation

    def _compile(self, traced: Module) -> Compilation:
        from fa4dsl.passes.pipeline import CompileOptions, compile_module

        with traced.context:
            return compile_module(traced.module, CompileOptions(sources=traced.sources))

    def compile(self) -> Artifact:
        """Compiles now, or finds the kernel in the cache on disk, and gives the artifact."""
        return self.artifact

    @property
    def artifact(self) -> Artifact:
        """PTX, cubin and manifest."""
        if self._artifact is None:
            with self._lock, _SHORT_TRACEBACK:
                if self._artifact is None:
                    self._artifact = self._compilation.artifact if self._compilation is not None else self._with_warnings(self._cached())
        return self._artifact

    def _with_warnings(self, found: Artifact) -> Artifact:
        """Tells again what the compiler warned of when it made an artifact that now comes from the cache."""
        if self._compilation is None and found.manifest.warnings:
            issue_warnings(found.manifest.warnings)
        return found

    def _cached(self) -> Artifact:
        """The artifact from the cache; compiled where it is not there.

        It is looked up by the digest of all that the source reaches, which needs no MLIR; where that cannot be told (`fingerprint`), by the IR
        with its source lines.
        """
        key = kernel_fingerprint(self.kernel.function, self.kernel.options, self.constants)
        if key is not None:
            return cached(key, lambda: self.compilation.artifact)
        traced = self.trace()
        text = str(traced.module.operation.get_asm(enable_debug_info=True))

        def build() -> Artifact:
            self._compilation = self._compile(traced)
            return self._compilation.artifact

        return cached(cache_key(text, "", {"sources": traced.sources}, toolchain()), build)

    @property
    def stages(self) -> Any:
        """The kernel at every stage of the compiler, as text: ``stages.fa4``, ``stages.nvvm``, ``stages.llvm``, ``stages.ptx``, ``stages.sass``."""
        return self.compilation.stages

    def __getitem__(self, grid: Grid) -> BoundLaunch:
        """``bound[grid](*arguments)``: launches on the device where the arrays live; the fast path."""
        try:
            return self._launchers[grid]
        except (KeyError, TypeError):
            launcher = self.artifact[grid]
            self._launchers = self.artifact.launchers
            return launcher

    def launch(
        self,
        grid: Grid,
        arguments: Sequence[Any] | Mapping[str, Any],
        *,
        device: str = "auto",
        stream: Any = None,
        **options: Any,
    ) -> LaunchResult:
        """Launches over `grid` CTAs with every option of `fa4dsl.runtime.launch.launch`. Raises R067 unless `device` is "auto", "cuda" or "simulator"."""
        return launch(self.artifact, grid, arguments, device=cast("Device", device), stream=stream, **options)

    def check(
        self, grid: Grid, arguments: Sequence[Any] | Mapping[str, Any], *, schedules: Sequence[str] = ("late",), seed: int = 0
    ) -> Any:
        """Runs in the simulator under each schedule and gives the reports, one per schedule; stops at the first that finds a fault.

        A schedule is "late", "eager", "random", "adversarial" or "exhaustive", with a seed of its own after a colon ("random:3") or `seed`.
        The arguments are host arrays. Every run starts from what they hold now, so that kernels which update in place may be checked
        under several schedules; afterwards they hold the last run's results.
        """
        reports: list[Any] = []
        restore = kept_arguments(self.artifact.manifest, arguments) if len(schedules) > 1 else None
        for schedule in schedules:
            if restore is not None and reports:
                restore()
            result = self.launch(grid, arguments, device="simulator", schedule=schedule, seed=seed, check=True)
            reports.append(result.report)
            if not getattr(result.report, "ok", True):
                break
        return reports

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.constants.items())
        return f"<kernel {self.name}({given})>"


@overload
def kernel(
    function: Callable[..., Any],
    *,
    threads: Sizes = None,
    cluster: Sizes = None,
    min_blocks: int = 0,
    max_registers: int = 0,
    fences: Literal["automatic", "manual"] = "automatic",
    target: str = "sm_90a",
    debug_waits: bool = False,
) -> Kernel: ...


@overload
def kernel(
    function: None = None,
    *,
    threads: Sizes = None,
    cluster: Sizes = None,
    min_blocks: int = 0,
    max_registers: int = 0,
    fences: Literal["automatic", "manual"] = "automatic",
    target: str = "sm_90a",
    debug_waits: bool = False,
) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    threads: Sizes = None,
    cluster: Sizes = None,
    min_blocks: int = 0,
    max_registers: int = 0,
    fences: Literal["automatic", "manual"] = "automatic",
    target: str = "sm_90a",
    debug_waits: bool = False,
) -> Any:
    """Decorator: makes a Python function a kernel.

    Positional parameters are run-time ones and carry a type: a scalar type, ``Pointer[f32]``, `TensorMap`, `RaggedTensorMap`.
    Keyword-only parameters are known at compile time; `bind` fixes them.

    Args:
        threads: of a CTA: a number, (x, y, z), or a function of compile-time arguments (``lambda c: c.rows``). Left out, the roles decide.
        cluster: CTAs of a cluster, likewise; at most 16, 8 portably.
        min_blocks: CTAs that must fit on an SM together; caps registers.
        max_registers: registers a thread may use (.maxnreg).
        fences: "automatic" lets the compiler insert proxy fences, "manual" leaves them to the author and reports what is missing.
        debug_waits: the kernel records what its threads wait for, so that a hang on a GPU can be looked at: see `Kernel.with_options`.
        target: "sm_90a" (Hopper) or "sm_100a" (Blackwell, which has no wgmma: C035). Raises C014 for another when it is compiled.
    """
    options = KernelOptions(threads, cluster, min_blocks, max_registers, fences, target, debug_waits)
    if fences not in ("automatic", "manual"):
        fail("L058", given=fences)
    if function is not None:
        return Kernel(function, options)
    return lambda wrapped: Kernel(wrapped, options)
