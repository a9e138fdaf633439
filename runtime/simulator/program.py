"""A decoded kernel: one closure an instruction, cut into runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from fa4dsl.runtime.simulator.selection import Selection

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction

Straight: TypeAlias = Callable[[Selection], None]
"""Executes an instruction for some threads; they all go on to the next one."""
Control: TypeAlias = Callable[[Selection, int], int | None]
"""Executes an instruction that decides where its threads go: returns the next program counter if it is the same for exactly these threads, else None after having
set their keys."""


@dataclass(frozen=True)
class Step:
    """A decoded instruction: `straight` or `control`. `visible`: other threads can see its effect or it sees theirs, so that a fine-grained schedule stops at it."""

    straight: Straight | None = None
    control: Control | None = None
    visible: bool = False


@dataclass
class Program:
    """All functions one behind the other."""

    name: str
    entry: int = 0
    sites: list[Instruction] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    runs: list[tuple[tuple[Straight, ...], int, Control | None]] = field(default_factory=list)
    """By each pc where threads can begin: (straight closures, pc of what follows them, its closure if it is a control instruction).
    A run also ends before a branch target, where threads that come from elsewhere may be waiting to join; then there is no closure."""

    jumps: dict[Instruction, list[int]] = field(default_factory=dict)
    """By branch: the program counters that it may lead to."""

    def cut(self, fine: bool, begins: set[int]) -> None:
        """Fills `runs`. `fine`: visible instructions end a run too. `begins`: branch targets."""
        count = len(self.steps)
        ends = [step.control is not None or (fine and step.visible) for step in self.steps]
        self.runs = [((), 0, None)] * count
        end = count - 1
        follower: Control | None = None
        pending: list[Straight] = []
        for pc in range(count - 1, -1, -1):
            step = self.steps[pc]
            if ends[pc]:
                end, pending, follower = pc, [], _as_control(step)
                self.runs[pc] = ((), pc, follower)
            else:
                assert step.straight is not None
                pending.append(step.straight)
                if pc in begins or pc == 0 or ends[pc - 1]:
                    self.runs[pc] = (tuple(reversed(pending)), end, follower)
            if pc in begins:
                end, pending, follower = pc, [], None


def _as_control(step: Step) -> Control:
    if step.control is not None:
        return step.control
    straight = step.straight
    assert straight is not None

    def control(threads: Selection, pc: int) -> int:
        straight(threads)
        return pc + 1

    return control
