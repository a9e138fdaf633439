"""Who runs next, and when asynchronous operations land.

A schedule is named; with its seed it replays exactly. `pick` returns a turn: (threads, pc, lowest key of all others, whether the turn may run on over
branches), or None when the wave has ended. All of them make runnable threads go round: threads in a polling loop wait behind the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.simulator.selection import Selection, compact

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.asynchronous import Operation
    from fa4dsl.runtime.simulator.machine import Machine

Turn: TypeAlias = tuple[Selection, int, int, bool]

NEVER = 1 << 62
POLLERS = 0.25
"""How often random schedules let threads in polling loops compete with those that have something to do."""


class Schedule:
    """Base: the lowest program counter first, so that diverged threads meet again; asynchronous operations complete at once ("eager")."""

    name = "eager"
    fine = False
    """Whether turns end at every instruction that other threads can see."""
    immediate = True
    """Whether asynchronous operations complete when they are issued."""
    impatient = False
    """Whether each thread's first try_wait that would block returns false instead, as it may."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def start(self, machine: Machine) -> None:
        """Called before each wave."""

    def pick(self, machine: Machine) -> Turn | None:
        key = machine.key
        while True:
            lowest = int(key.min())
            if lowest >= machine.BLOCKED:
                if lowest >= machine.EXITED and not machine.asynchronous.pending:
                    return None
                if machine.asynchronous.advance_late() or machine.stuck():
                    continue
                return None
            if lowest >= machine.SPAN and machine.idle_round(lowest):
                continue
            return self.turn(machine, lowest)

    def turn(self, machine: Machine, lowest: int) -> Turn:
        key = machine.key
        chosen = key == lowest
        threads = compact(np.flatnonzero(chosen))
        rest = key[~chosen]
        others = int(rest.min()) if len(rest) else NEVER
        return threads, lowest % machine.SPAN, others % machine.SPAN if machine.SPAN <= others < machine.BLOCKED else others, True

    def issued(self, machine: Machine, operation: Operation) -> bool:
        """Whether an operation just issued completes now."""
        return self.immediate


class Late(Schedule):
    """Asynchronous operations land only when nothing else can run, or when their own thread waits for their group."""

    name = "late"
    immediate = False


class Random(Schedule):
    """Warps in random order, one visible instruction at a time; asynchronous operations land at random moments, reads and writes apart.

    Those who poll look again now and then while others still run: what they see in between leads elsewhere than what they see at the end.
    """

    name = "random"
    fine = True
    immediate = False
    impatient = True

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.random = np.random.default_rng(seed)

    def turn(self, machine: Machine, lowest: int) -> Turn:
        key = machine.key
        random = self.random
        if machine.asynchronous.pending and random.random() < 0.25:
            machine.asynchronous.advance(int(random.integers(len(machine.asynchronous.pending))))
        # of a warp, the lanes that are furthest behind: lanes that diverged meet again, as on the hardware
        rows = key.reshape(-1, 32)
        front = rows.min(axis=1)
        polling = lowest >= machine.SPAN or (machine.epoch > 0 and random.random() < POLLERS)
        runnable = np.flatnonzero(front < (machine.BLOCKED if polling else machine.SPAN))
        pivot = int(runnable[random.integers(len(runnable))])
        value = int(front[pivot])
        warps = np.flatnonzero(front == value)
        # often only some of the warps that could run together do
        if len(warps) > 1 and random.random() < 0.5:
            keep = random.random(len(warps)) < random.random()
            keep[np.searchsorted(warps, pivot)] = True
            warps = warps[keep]
        which, lanes = np.nonzero(rows[warps] == value)
        return compact(warps[which] * 32 + lanes), value % machine.SPAN, 0, False


class Adversarial(Schedule):
    """Delays one block, one range of warps or the copies for as long as others can run.

    The seed chooses what: it walks through block 0, block 1, ..., then warp quarters, each with late and with eager copies. ``Adversarial(seed, cta=..,
    warps=(first, last), late=..)`` names them.
    """

    name = "adversarial"
    fine = True

    def __init__(self, seed: int = 0, cta: int | None = None, warps: tuple[int, int] | None = None, late: bool | None = None) -> None:
        super().__init__(seed)
        self.cta, self.warps = cta, warps
        self.immediate = not (seed % 2 == 0 if late is None else late)
        self.automatic = cta is None and warps is None
        self.delayed: np.ndarray[Any, np.dtype[np.bool_]]

    def start(self, machine: Machine) -> None:
        grid = machine.grid
        self.delayed = np.zeros(grid.width, np.bool_)
        if self.automatic:
            choice = self.seed // 2
            blocks = min(grid.cluster_size, 16) if grid.wave_ctas > 1 else 0
            choices = blocks + min(grid.warps_per_cta, 8)
            choice %= choices
            if choice < blocks:
                self.delayed |= grid.rank == choice if grid.cluster_size > 1 else grid.cta == choice
            else:
                part = choice - blocks
                each = max(grid.warps_per_cta // min(grid.warps_per_cta, 8), 1)
                self.delayed |= (grid.local_thread >> 5) // each == part
        if self.cta is not None:
            self.delayed |= grid.cta == self.cta
        if self.warps is not None:
            warp = grid.local_thread >> 5
            chosen = (warp >= self.warps[0]) & (warp <= self.warps[1])
            self.delayed = self.delayed & chosen if self.cta is not None else chosen

    def turn(self, machine: Machine, lowest: int) -> Turn:
        key = machine.key
        free = key[~self.delayed]
        first = int(free.min()) if len(free) else NEVER
        # the delayed ones run only when all others are blocked or polling
        if first < machine.SPAN or (first < machine.BLOCKED and lowest >= machine.SPAN and first <= lowest):
            chosen = (key == first) & ~self.delayed
            return compact(np.flatnonzero(chosen)), first % machine.SPAN, 0, False
        chosen = (key == lowest) & self.delayed
        if not chosen.any():
            chosen = key == lowest
        return compact(np.flatnonzero(chosen)), lowest % machine.SPAN, 0, False


class Choices(Schedule):
    """One path of the exhaustive exploration: at each turn the group to run (or the operation to land) comes from a list; past its end, the first choice."""

    name = "exhaustive"
    fine = True
    immediate = False

    def __init__(self, path: list[int]) -> None:
        super().__init__(0)
        self.path = path
        self.taken: list[tuple[int, int]] = []
        """(choice, how many there were) at each branching turn."""

    def choose(self, count: int) -> int:
        index = len(self.taken)
        choice = self.path[index] if index < len(self.path) else 0
        self.taken.append((choice, count))
        return choice

    def turn(self, machine: Machine, lowest: int) -> Turn:
        key = machine.key
        limit = machine.SPAN if lowest < machine.SPAN else machine.BLOCKED
        # one candidate for each warp: its lanes that are furthest behind
        rows = key.reshape(-1, 32)
        front = rows.min(axis=1)
        candidates = np.flatnonzero(front < limit).tolist()
        pending = machine.asynchronous.pending
        count = len(candidates) + len(pending)
        choice = self.choose(count) if count > 1 else 0
        if choice >= len(candidates):
            machine.asynchronous.advance(choice - len(candidates))
            choice = 0
        warp = candidates[choice]
        threads = warp * 32 + np.flatnonzero(rows[warp] == front[warp])
        return compact(threads), int(front[warp]) % machine.SPAN, 0, False


def next_path(taken: list[tuple[int, int]]) -> list[int] | None:
    """The path after this one in depth-first order, None when all are done."""
    path = list(taken)
    while path:
        choice, count = path.pop()
        if choice + 1 < count:
            return [each for each, _ in path] + [choice + 1]
    return None


SCHEDULES = ("eager", "late", "random", "adversarial", "exhaustive")


def named_schedule(text: str, seed: int) -> tuple[str, int]:
    """``late`` with `seed`, or ``random:3`` with a seed of its own. Raises S103 for what is neither."""
    name, colon, number = text.partition(":")
    if name not in SCHEDULES or (colon and not number.isdecimal()):
        return fail("S103", name=text)
    return name, int(number) if colon else seed


def make_schedule(name: str | Schedule, seed: int) -> Schedule:
    """The schedule of a name; S103 for an unknown one. "exhaustive" is driven by `run.simulate`."""
    if isinstance(name, Schedule):
        return name
    if name == "eager":
        return Schedule(seed)
    if name == "late":
        return Late(seed)
    if name == "random":
        return Random(seed)
    if name == "adversarial":
        return Adversarial(seed)
    return fail("S103", name=name)
