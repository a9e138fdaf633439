"""A library kernel run once on inputs of its own: what is common to the kernels that ``fa4dsl run`` knows."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from fa4dsl.kernels.combine_case import Judgement

if TYPE_CHECKING:
    from fa4dsl.kernel_object import BoundKernel

Device = Literal["auto", "cuda", "simulator"]


class Case(Protocol):
    """Inputs with the reference for them."""

    @property
    def grid(self) -> tuple[int, int, int]: ...

    @property
    def arguments(self) -> tuple[Any, ...]: ...

    def judge(self) -> Judgement: ...


@dataclass(frozen=True, kw_only=True)
class KernelRun(ABC):
    """What a run showed."""

    kernel: str
    """Its name on the command line."""
    device: str
    seed: int
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    judgement: Judgement
    verdict: str
    """The simulator's word ("clean", or the findings' codes); "not checked" on a GPU."""
    seconds: float
    """The launch, without compilation."""
    compile_seconds: float
    report: Any = field(default=None, repr=False, compare=False)

    @property
    def max_abs_error(self) -> float:
        return self.judgement.max_abs_error

    @property
    def tolerance(self) -> float:
        return self.judgement.tolerance

    @property
    def worst_share(self) -> float:
        return self.judgement.worst_share

    @property
    def relative_l2(self) -> float:
        return self.judgement.relative_l2

    @property
    def neighbours_untouched(self) -> bool:
        return self.judgement.neighbours_untouched

    @property
    def ok(self) -> bool:
        """Right within rounding, nothing else written, and nothing found by the simulator."""
        return self.judgement.ok and self.verdict in ("clean", "not checked")

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The fields that ``fa4dsl run --json`` prints."""


class Outcome(TypedDict):
    """The fields of a `KernelRun` that the launch gives."""

    device: str
    seed: int
    cluster: tuple[int, int, int]
    grid: tuple[int, int, int]
    judgement: Judgement
    verdict: str
    seconds: float
    compile_seconds: float
    report: Any


def run_case(
    bound: BoundKernel, make: Callable[[], Case], *, device: Device, schedule: str, seed: int, progress: Callable[..., Any] | None
) -> Outcome:
    """Compiles the kernel, makes the case, launches it once and judges the result.

    "auto" takes a Hopper GPU if there is one, else the simulator; `schedule` and `progress` are for the simulator.
    """
    found = device_for(device)
    started = time.perf_counter()
    artifact = bound.compile()
    compile_seconds = time.perf_counter() - started
    case = make()
    launching: dict[str, Any] = {"copy": True} if found == "cuda" else {"schedule": schedule, "seed": seed, "progress": progress}
    started = time.perf_counter()
    result = bound.launch(case.grid, case.arguments, device=found, **launching)
    seconds = time.perf_counter() - started
    return Outcome(
        device=found,
        seed=seed,
        cluster=artifact.manifest.cluster,
        grid=case.grid,
        judgement=case.judge(),
        verdict="not checked" if result.report is None else str(result.report.verdict),
        seconds=result.seconds if result.seconds is not None else seconds,
        compile_seconds=compile_seconds,
        report=result.report,
    )


def device_for(device: Device) -> Literal["cuda", "simulator"]:
    """The device that "auto" stands for on this machine."""
    if device == "auto":
        from fa4dsl.runtime.cuda.device import capability_if_any

        found = capability_if_any()
        return "cuda" if found is not None and found[0] == 9 else "simulator"
    return device
