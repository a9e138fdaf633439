"""What the machine knows about threads that cannot go on: the raw material of a hang's explanation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction

WaitKind = Literal["mbarrier", "bar", "cluster", "warp", "warpgroup", "registers", "polling"]


@dataclass(frozen=True)
class Arrival:
    """Threads (numbered over the launch) that arrived at a barrier with one instruction; `site` None: bytes landed by a copy issued there."""

    site: Instruction
    threads: tuple[int, ...]
    count: int
    """Arrivals, or bytes for a copy."""
    kind: Literal["arrive", "expect_tx", "bytes", "drop"] = "arrive"


@dataclass(frozen=True)
class BarrierState:
    """An mbarrier, a CTA barrier or a cluster barrier at the moment of the hang."""

    kind: Literal["mbarrier", "bar", "cluster"]
    address: int
    """mbarrier: physical shared address as in events.py; bar: the id; cluster: the cluster number."""
    cta: int
    phase: int
    expected: int
    """Arrivals that complete the phase (threads for bar and cluster)."""
    pending: int
    """Arrivals still missing."""
    transactions: int = 0
    """Bytes expected and not yet landed (negative: landed and not expected)."""
    arrivals: tuple[Arrival, ...] = ()
    """Of the current phase."""
    initialised: Instruction | None = None
    consumed: int | None = None
    """mbarrier: the latest phase that some wait has found complete, -1 if none."""
    before: tuple[Arrival, ...] = ()
    """mbarrier: arrivals of the phase that completed last."""


@dataclass(frozen=True)
class Waiter:
    """Threads blocked at one instruction for one reason."""

    threads: tuple[int, ...]
    """Numbered over the launch."""
    site: Instruction
    kind: WaitKind
    barrier: BarrierState | None = None
    waited_phase: int = 0
    """mbarrier: the parity (0 or 1) asked for, or the phase of the state token."""
    detail: str = ""


@dataclass(frozen=True)
class Hang:
    """The whole picture when nothing can run any more."""

    reason: Literal["deadlock", "livelock", "step limit"]
    steps: int
    waiters: tuple[Waiter, ...]
    spinning: tuple[Waiter, ...] = ()
    """Threads that run but change nothing (livelock); `site` is where they are."""
    exited: tuple[int, ...] = ()
    barriers: tuple[BarrierState, ...] = ()
    """Every mbarrier that is alive, also those nobody waits for."""
    inflight: tuple[Instruction, ...] = field(default=())
    """Asynchronous operations that have not completed."""
