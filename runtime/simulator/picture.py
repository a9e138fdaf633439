"""Collects who waits for what, for the explanation of a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fa4dsl.runtime.simulator.waiting import BarrierState, Hang, Waiter, WaitKind

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints


def _kind(site: Instruction, in_rendezvous: bool) -> WaitKind:
    if in_rendezvous:
        return "warpgroup" if site.name in ("wgmma", "setmaxnreg") else "warp"
    if site.name == "mbarrier":
        return "mbarrier"
    if site.name in ("bar", "barrier"):
        return "cluster" if "cluster" in site.modifiers else "bar"
    return "registers" if site.name == "setmaxnreg" else "warp"


def _details(machine: Machine, site: Instruction, kind: WaitKind, thread: int) -> tuple[BarrierState | None, int, str, tuple[object, ...]]:
    """(barrier, phase waited for, words, key that tells apart waits at one instruction)."""
    grid = machine.grid
    if kind == "mbarrier":
        address = int(machine.mbarriers.wait_address[thread])
        found = machine.mbarriers.objects.get(address)
        phase = int(machine.mbarriers.wait_phase[thread])
        return None if found is None else machine.mbarriers.state(found), phase, "", (address, phase)
    if kind == "cluster":
        cluster = int(grid.cluster_in_wave[thread])
        arrived = machine.barriers.cluster_phase[thread] >= 0
        return machine.barriers.cluster_state(cluster), 0, "" if arrived else "waits without having arrived", (cluster, bool(arrived))
    if kind == "bar":
        cta = int(grid.cta[thread])
        for (block, number), barrier in machine.barriers.named.items():
            if block == cta and any((group.threads == thread).any() for group in barrier.waiting):
                return machine.barriers.named_state(cta, number), 0, "", (cta, number)
        return None, 0, "", (cta,)
    if kind == "registers":
        cta = int(grid.cta[thread])
        return None, 0, machine.pool.describe(cta), (cta,)
    if kind == "warp":
        lanes = machine.grid.lane[thread]
        there = machine.rendezvous_at[thread - lanes : thread - lanes + 32] == machine.rendezvous_at[thread]
        live = int(machine.live_lanes[thread >> 5])
        missing = [lane for lane in range(32) if live >> lane & 1 and not there[lane]]
        return None, 0, f"waits for lanes {missing} of its warp", (thread >> 5,)
    cta = int(grid.cta[thread])
    return None, 0, "waits for the other warps of its warpgroup", (cta, int(grid.local_thread[thread]) // 128)


def _spinning(machine: Machine, numbers: Ints) -> tuple[Waiter, ...]:
    pcs = machine.key[numbers] % machine.SPAN
    found = []
    for pc in np.unique(pcs).tolist():
        threads = tuple(machine.grid.event_thread[numbers[pcs == pc]].tolist())
        found.append(Waiter(threads, machine.program.sites[pc], "polling"))
    return tuple(found)


def picture(machine: Machine, reason: Literal["deadlock", "livelock", "step limit"]) -> Hang:
    """The state of all threads, barriers and operations in flight."""
    grid = machine.grid
    blocked = np.flatnonzero(machine.key == machine.BLOCKED)
    groups: dict[tuple[object, ...], list[int]] = {}
    facts: dict[tuple[object, ...], tuple[Instruction, WaitKind, BarrierState | None, int, str]] = {}
    for thread in blocked.tolist():
        pc = int(machine.resume[thread])
        site = machine.program.sites[pc]
        kind = _kind(site, bool(machine.rendezvous_at[thread]))
        barrier, phase, words, apart = _details(machine, site, kind, thread)
        key = (pc, kind, *apart)
        groups.setdefault(key, []).append(thread)
        facts.setdefault(key, (site, kind, barrier, phase, words))
    waiters = []
    for key, threads in groups.items():
        site, kind, barrier, phase, words = facts[key]
        waiters.append(Waiter(tuple(grid.event_thread[threads].tolist()), site, kind, barrier, phase, words))
    exists = grid.exists & (grid.cluster_in_wave < grid.live_clusters)
    exited = grid.event_thread[(machine.key == machine.EXITED) & exists]
    return Hang(
        reason,
        machine.steps,
        tuple(waiters),
        _spinning(machine, np.flatnonzero(machine.key < machine.BLOCKED)),
        tuple(exited.tolist()),
        tuple(machine.mbarriers.state(barrier) for barrier in machine.mbarriers.objects.values()),
        tuple(operation.site for operation in machine.asynchronous.pending),
    )
