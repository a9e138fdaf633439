"""Worlds: choices of what only the run knows, under which the protocol is followed to its end.

A kernel whose loops end at a parameter is followed with several trip counts, and a branch on a parameter both ways. Equal
unknowns get equal values, so two roles that loop to the same bound always agree. A fault counts as an error only where every world
that reaches its place shows it; what hangs on the choice is a note.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fa4dsl.passes.checks.values import Sum, Terms, compare, is_number, normalised, uniform, varies


@dataclass(frozen=True)
class Choice:
    """How a world decides. `trips`: executions of a loop whose count is unknown; `truth`: of an unknown condition, except `flipped` (by order of appearance)."""

    trips: int
    truth: bool = True
    flipped: frozenset[int] = frozenset()

    def words(self) -> str:
        return {0: "no time", 1: "once"}.get(self.trips, f"{self.trips} times")


@dataclass
class World:
    """One choice, and what came of it."""

    choice: Choice
    values: dict[Terms, int] = field(default_factory=dict)
    loops: int = 0
    """Loops whose trip count was chosen."""
    conditions: int = 0
    """Conditions whose truth was chosen."""
    unknown_loops: list[Any] = field(default_factory=list)
    unknown_conditions: list[Any] = field(default_factory=list)
    while_truth: bool | None = None
    period: int = 0
    """Turns after which every ring stands as before; long loops may leave out a multiple of it. 0: leave out nothing."""
    left_out: int = 0
    """Turns that each long loop of this run leaves out in its middle."""

    def resolve(self, value: Any) -> Any:
        """A sum as the number that this world has already given it, else the sum."""
        if not isinstance(value, Sum):
            return value
        base, factor = normalised(value.terms)
        known = self.values.get(base)
        return value if known is None else value.constant + factor * known

    def trips(self, extent: Any, step: int, node: Any) -> Any:
        """Executions of a loop over `extent` by `step`; None where threads may disagree about it.

        Where they disagree by known numbers only (a bound less the CTA's rank), the choice is for those with the most, and the others follow.
        """
        extent = self.resolve(extent)
        if not is_number(extent):
            if extent.varying if isinstance(extent, Sum) else varies(extent):
                return None
            constant = uniform(extent.constant)
            if constant is None:
                constant = int(extent.constant.max() if step > 0 else extent.constant.min())
            base, factor = normalised(extent.terms)
            self.loops += 1
            self.unknown_loops.append(node)
            wanted = self.choice.trips * abs(step) * (1 if step > 0 else -1) - constant
            self.values[base] = _divided(wanted, factor)
            extent = extent.constant + factor * self.values[base]
        if isinstance(extent, int):
            return max(0, -(-extent // step))
        return (-(-extent // step)).clip(0)

    def turns(self, trips: int) -> list[range]:
        """The turns of a loop that are followed: all, or the first and the last ones of a long loop. All long loops leave out equally many."""
        ends = self.choice.trips + 2
        if self.period and not self.left_out and trips > 2 * ends + self.period:
            self.left_out = (trips - 2 * ends) // self.period * self.period
        if not self.left_out or trips < self.left_out + 2 * ends:
            return [range(trips)]
        return [range(ends), range(ends + self.left_out, trips)]

    def decide(self, sign: str, difference: Any, node: Any) -> Any:
        """Truth (0 or 1) of difference <sign> 0; None where threads may disagree about it."""
        difference = self.resolve(difference)
        if is_number(difference):
            return compare(sign, difference)
        if varies(difference):
            return None
        constant = uniform(difference.constant)
        assert constant is not None
        truth = self._next_truth(node)
        base, factor = normalised(difference.terms)
        slack = max(self.choice.trips - 1, 0)
        aim = {"==": 0, "!=": 1, "<": -1 - slack, "<=": -slack, ">": 1 + slack, ">=": slack}
        opposite = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
        wanted = aim[sign] if truth else {"==": 0, "!=": 1, "<": -1, "<=": 0, ">": 1, ">=": 0}[opposite[sign]]
        self.values[base] = _divided(wanted - constant, factor)
        return compare(sign, constant + factor * self.values[base])

    def _next_truth(self, node: Any) -> bool:
        if self.while_truth is not None:
            self.loops += 1
            return self.while_truth
        truth = self.choice.truth != (self.conditions in self.choice.flipped)
        self.conditions += 1
        self.unknown_conditions.append(node)
        return truth


def _divided(wanted: int, factor: int) -> int:
    """The integer whose product with `factor` lies nearest to `wanted`, not below it."""
    return -(-wanted // factor) if factor > 0 else wanted // factor
