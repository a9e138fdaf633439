"""Single events that a thread may know of: finished asynchronous operations, initialised barriers, started CTAs.

A thread's facts are four sets, kept as bits of Python integers and interned, so that threads with equal knowledge share one
small number and a union is computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


class Facts(NamedTuple):
    """Bit sets: operation n has read its sources; has landed its writes; mbarrier.init number n; CTA n runs."""

    reads: int = 0
    writes: int = 0
    inits: int = 0
    started: int = 0

    def union(self, other: Facts) -> Facts:
        return Facts(self.reads | other.reads, self.writes | other.writes, self.inits | other.inits, self.started | other.started)

    def __or__(self, other: Facts) -> Facts:
        return self.union(other)


NOTHING = Facts()


class FactTable:
    """Interns `Facts`; number 0 is the empty set."""

    limit = 8192

    def __init__(self) -> None:
        self.sets: list[Facts] = [NOTHING]
        self._numbers: dict[Facts, int] = {NOTHING: 0}
        self._unions: dict[tuple[int, Facts], int] = {}

    def number(self, facts: Facts) -> int:
        number = self._numbers.get(facts)
        if number is None:
            number = self._numbers[facts] = len(self.sets)
            self.sets.append(facts)
        return number

    def add(self, number: int, facts: Facts) -> int:
        """The number of `sets[number] | facts`."""
        key = (number, facts)
        found = self._unions.get(key)
        if found is None:
            if len(self._unions) > 20_000:
                self._unions.clear()
            found = self._unions[key] = self.number(self.sets[number] | facts)
        return found

    def compact(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Drops the sets that `numbers` does not name; returns `numbers` in the new numbering. The limit grows with what is really used."""
        used, inverse = np.unique(numbers, return_inverse=True)
        sets = [self.sets[number] for number in used.tolist()]
        self.sets = [NOTHING]
        self._numbers = {NOTHING: 0}
        self._unions.clear()
        new = np.array([self.number(facts) for facts in sets], np.int64)
        self.limit = max(8192, 2 * len(self.sets))
        return new[inverse.reshape(-1)]
