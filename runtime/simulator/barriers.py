"""State of the block's named barriers and of the cluster barrier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.waiting import Arrival, BarrierState

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Token
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints, Row, Selection


@dataclass
class Waiting:
    """Threads blocked in a `sync` or `red`, with where their result goes."""

    site: Instruction
    threads: Ints
    destination: Row | None = None
    reduction: str = ""


@dataclass
class NamedBarrier:
    """One phase of a barrier of one block."""

    needed: int
    """Threads, a multiple of 32; 0 where no count was given: all warps of the block."""
    first_site: Instruction
    arrived: int = 0
    warps: list[int] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    true_count: int = 0
    predicates: int = 0


class LanesApart:
    """One ``barrier`` without ``.aligned``: lanes of a warp may arrive at different instructions (PTX ISA 9.7.13.1). The warp counts once all
    its live lanes wait at the same barrier, wherever they stand."""

    def __init__(self, barriers: Barriers, arrive: Callable[..., None], passes: bool) -> None:
        self.barriers = barriers
        self.arrive = arrive
        self.passes = passes
        """Whether the instruction only arrives."""

    def reach(self, threads: Selection, pc: int, ids: Ints, needs: Ints) -> None:
        """`threads` reach the instruction at `pc`, which names barrier `ids` with `needs` threads (0: all)."""
        machine = self.barriers.machine
        self.barriers.apart[pc] = self
        machine.block(threads, pc)
        machine.rendezvous_at[threads] = -1 - (ids << 20 | needs)
        warps = np.unique(machine.grid.arange[threads] >> 5)
        lanes: Ints = (warps[:, None] * 32 + np.arange(32)).reshape(-1)
        rows = machine.rendezvous_at[lanes].reshape(-1, 32)
        live = (machine.live_lanes[warps][:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(np.bool_)
        wanted = np.where(live, rows, np.iinfo(np.int64).min).max(axis=1)
        complete = (wanted < 0) & ((rows == wanted[:, None]) | ~live).all(axis=1)
        for warp, key in zip(warps[complete].tolist(), wanted[complete].tolist(), strict=True):
            self._arrived(warp * 32 + np.flatnonzero(live[int(np.searchsorted(warps, warp))]), -1 - key)

    def _arrived(self, lanes: Ints, key: int) -> None:
        machine = self.barriers.machine
        machine.rendezvous_at[lanes] = 0
        number, cta = key >> 20, int(machine.grid.cta[lanes[0]])
        for index, pc in enumerate(np.unique(machine.resume[lanes]).tolist()):
            here = lanes[machine.resume[lanes] == pc]
            one = self.barriers.apart[pc]
            machine.key[here] = pc + 1 if one.passes else machine.BLOCKED
            one.arrive(cta, number, here, key & 0xFFFFF, index == 0)
        self.barriers.try_complete(cta, number)
        machine.disturbed = True


class ClusterPhase:
    """The cluster barrier of one cluster."""

    def __init__(self) -> None:
        self.phase = 0
        self.tokens: list[Token] = []
        self.done_tokens: list[Token] = []
        self.arrivals: list[Arrival] = []
        self.waiting: list[Ints] = []


class Barriers:
    """All barriers of the wave except mbarriers."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        grid = machine.grid
        self.named: dict[tuple[int, int], NamedBarrier] = {}
        self.apart: dict[int, LanesApart] = {}
        """By program counter: instructions at which lanes of a warp may arrive apart."""
        self.clusters: list[ClusterPhase] = []
        self.cluster_arrived = np.zeros(grid.width, np.bool_)
        """Has arrived in the current phase."""
        self.cluster_waited = np.zeros(grid.width, np.bool_)
        """Has waited since its last arrival."""
        self.cluster_phase = np.full(grid.width, -1, np.int64)
        """The phase of a thread's last arrival."""
        machine.wave_hooks.append(self.reset)
        machine.exit_hooks.append(self.exited)

    def reset(self) -> None:
        self.named.clear()
        self.clusters = [ClusterPhase() for _ in range(self.machine.grid.wave_clusters)]
        self.cluster_arrived[:] = False
        self.cluster_phase[:] = -1

    # -- named barriers

    def try_complete(self, cta: int, number: int) -> bool:
        """Completes a barrier that has all its arrivals, or that waits for exited threads only."""
        barrier = self.named.get((cta, number))
        if barrier is None:
            return False
        total = self.machine.grid.warps_per_cta
        needed = barrier.needed or total * 32
        if barrier.arrived < needed:
            # Exited warps count, but only for a barrier of all threads of the block (no count given), and once nobody else can come (PTX ISA, exit).
            if barrier.needed:
                return False
            live = self._live_set(cta)
            if barrier.arrived + 32 * (total - len(live)) < needed or not live <= set(barrier.warps):
                return False
        del self.named[(cta, number)]
        machine = self.machine
        machine.progress_marks += 1
        if machine.trace is not None:
            machine.trace.completed(("bar", cta, number), 0, [group.threads for group in barrier.waiting])
        if machine.checker is not None:
            machine.checker.named_phase(barrier.first_site, machine.grid.first_cta + cta, number, barrier.tokens)
        for group in barrier.waiting:
            if group.destination is not None:
                value: int | bool = barrier.true_count
                if group.reduction == "and":
                    value = barrier.true_count == barrier.predicates
                elif group.reduction == "or":
                    value = barrier.true_count > 0
                group.destination[group.threads] = value
            if machine.checker is not None:
                machine.checker.join(group.site, machine.grid.event_thread[group.threads], barrier.tokens, "cta")
            machine.wake(group.threads, 1)
        return True

    def _live_set(self, cta: int) -> set[int]:
        per = self.machine.grid.warps_per_cta
        return set((np.flatnonzero(self.machine.live_lanes[cta * per : (cta + 1) * per]) + cta * per).tolist())

    # -- cluster barrier

    def try_complete_cluster(self, cluster: int) -> bool:
        """Completes the phase when all live threads of the cluster have arrived."""
        machine = self.machine
        grid = machine.grid
        state = self.clusters[cluster]
        begin = cluster * grid.cluster_size * grid.stride
        part = slice(begin, begin + grid.cluster_size * grid.stride)
        from fa4dsl.runtime.simulator.machine import EXITED

        if not state.arrivals or not (self.cluster_arrived[part] | (machine.key[part] == EXITED)).all():
            return False
        if machine.trace is not None:
            machine.trace.completed(("cluster", cluster, 0), state.phase, state.waiting)
        state.phase += 1
        state.done_tokens, state.tokens, state.arrivals = state.tokens, [], []
        self.cluster_arrived[part] = False
        machine.progress_marks += 1
        for threads in state.waiting:
            machine.wake(threads)
        state.waiting = []
        return True

    def exited(self, numbers: Ints) -> None:
        """Barriers that waited for these threads may be complete."""
        grid = self.machine.grid
        ctas = np.unique(grid.cta[numbers]).tolist()
        if self.named:
            for cta, number in list(self.named):
                if cta in ctas:
                    self.try_complete(cta, number)
        for cluster in {cta // grid.cluster_size for cta in ctas}:
            if self.clusters[cluster].arrivals:
                self.try_complete_cluster(cluster)

    # -- for explanations

    def named_state(self, cta: int, number: int) -> BarrierState | None:
        barrier = self.named.get((cta, number))
        if barrier is None:
            return None
        needed = barrier.needed or self.machine.grid.warps_per_cta * 32
        return BarrierState(
            "bar", number, self.machine.grid.first_cta + cta, 0, needed, needed - barrier.arrived, 0, tuple(barrier.arrivals)
        )

    def cluster_state(self, cluster: int) -> BarrierState:
        grid = self.machine.grid
        state = self.clusters[cluster]
        total = grid.cluster_size * grid.threads_per_cta
        arrived = sum(arrival.count for arrival in state.arrivals)
        number = grid.first_cluster + cluster
        return BarrierState("cluster", number, number * grid.cluster_size, state.phase, total, total - arrived, 0, tuple(state.arrivals))
