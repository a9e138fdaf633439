"""setmaxnreg: the block's pool of registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.layout import round_up

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.module import Function
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.selection import Ints

REGISTER_FILE = 65536


class RegisterPool:
    """Each warpgroup's registers a thread, and what the block has to give. `known` is False where the PTX does not fix the count at entry."""

    def __init__(self, machine: Machine, function: Function) -> None:
        self.machine = machine
        grid = machine.grid
        groups = max(-(-grid.stride // 128), 1)
        directives = function.directives
        self.entry = 0
        if "maxnreg" in directives:
            self.entry = directives["maxnreg"][0]
        elif "maxntid" in directives or "reqntid" in directives:
            # ptxas divides the register file among the blocks that .minnctapersm asks for, in steps of 8 and at most 255 (allocated as 256)
            blocks = max(directives.get("minnctapersm", (1,))[0], 1)
            self.entry = min(REGISTER_FILE // (blocks * round_up(grid.threads_per_cta, 128)) // 8 * 8, 256)
        self.known = self.entry > 0
        self.groups = groups
        self.current: Ints = np.zeros((grid.wave_ctas, groups), np.int64)
        self.free: Ints = np.zeros(grid.wave_ctas, np.int64)
        self.waiting: dict[int, list[Ints]] = {}
        machine.wave_hooks.append(self.reset)

    def reset(self) -> None:
        self.current[:] = self.entry
        self.free[:] = 0
        self.waiting.clear()

    def set_entry(self, registers: int) -> None:
        """The count that the assembler reported, from a manifest."""
        if registers:
            self.entry = round_up(registers, 8)
            self.known = True

    def release(self, cta: int, group: int, registers: int) -> None:
        self.free[cta] += 128 * (int(self.current[cta, group]) - registers)
        self.current[cta, group] = registers
        for threads in self.waiting.pop(cta, []):
            self.machine.wake(threads)

    def acquire(self, cta: int, group: int, registers: int) -> bool:
        """Takes registers from the pool; False if it has too few."""
        needed = 128 * (registers - int(self.current[cta, group]))
        if needed > self.free[cta]:
            return False
        self.free[cta] -= needed
        self.current[cta, group] = registers
        return True

    def describe(self, cta: int) -> str:
        """The pool in words."""
        counts = ", ".join(str(int(count)) for count in self.current[cta])
        return f"warpgroups hold {counts} registers a thread, the pool has {int(self.free[cta])} left"
