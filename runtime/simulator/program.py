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
    """All functions one behind the other. `runs[pc]` exists for every pc where threads can begin: (straight closures, pc of the control instruction that ends them)."""

    name: str
    entry: int = 0
    sites: list[Instruction] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    runs: list[tuple[tuple[Straight, ...], int]] = field(default_factory=list)
    control: list[Control] = field(default_factory=list)

    def cut(self, fine: bool, begins: set[int]) -> None:
        """Fills `runs` and `control`. `fine`: visible instructions end a run too. `begins`: labels and other places where threads can start, beside the ends of runs."""
        count = len(self.steps)
        self.control = [_as_control(step) for step in self.steps]
        ends = [step.control is not None or (fine and step.visible) for step in self.steps]
        self.runs = [((), 0)] * count
        end = count - 1
        pending: list[Straight] = []
        for pc in range(count - 1, -1, -1):
            if ends[pc]:
                end, pending = pc, []
                self.runs[pc] = ((), pc)
            else:
                straight = self.steps[pc].straight
                assert straight is not None
                pending.append(straight)
                if pc in begins or pc == 0 or ends[pc - 1]:
                    self.runs[pc] = (tuple(reversed(pending)), end)


def _as_control(step: Step) -> Control:
    if step.control is not None:
        return step.control
    straight = step.straight
    assert straight is not None

    def control(threads: Selection, pc: int) -> int:
        straight(threads)
        return pc + 1

    return control
