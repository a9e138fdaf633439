"""Release tokens: what threads had done and knew when they released, joined lazily by those who observe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.facts import NOTHING, Facts
from fa4dsl.runtime.simulator.selection import grouped

if TYPE_CHECKING:
    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.lanes import Lanes
    from fa4dsl.runtime.simulator.check.numbering import Threads

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Rows = dict[int, npt.NDArray[np.int32]]

VIEWS = 4
NOBODY = np.int32((1 << 31) - 1)
"""The epoch up to which everybody knows of nobody, who does nothing."""
HB, LOCAL, PEER, GLOBAL = range(VIEWS)
"""Views of a clock: plain happens-before, and what a generic-to-async proxy fence on the path has covered: accesses to the
accessor's own shared memory, to a peer's, to global memory."""
BRIDGED = (LOCAL, PEER, GLOBAL)
"""The views that proxy fences fill."""


class Knowledge:
    """Clock rows by cluster (each int32 [VIEWS, threads of the cluster]) and facts; immutable once made. `serial` keys memo tables."""

    __slots__ = ("__weakref__", "_rows", "facts", "number_of", "serial")
    _next = 0

    def __init__(self, rows: Rows | None, facts: Facts) -> None:
        Knowledge._next += 1
        self.serial = Knowledge._next
        self._rows = rows
        self.facts = facts
        self.number_of: dict[int, tuple[int, Rows]] = {}
        """By cluster the clock that equals these rows, once one was made: its number, and its rows to see that the number was not reused."""

    def rows(self) -> Rows:
        assert self._rows is not None
        return self._rows

    def includes(self, rows: Rows) -> bool:
        """Whether it is known to hold all that these very rows do, and more."""
        return False

    def knows(self, cluster: int, column: int, epoch: int, view: int = HB) -> bool:
        rows = self.rows().get(cluster)
        return rows is not None and bool(rows[view, column] >= epoch)


def combine(parts: list[Knowledge]) -> Knowledge:
    """The union of several."""
    rows: Rows = {}
    facts = NOTHING
    for part in parts:
        facts = facts | part.facts
        for cluster, row in part.rows().items():
            old = rows.get(cluster)
            rows[cluster] = row if old is None else np.maximum(old, row)
    return Knowledge(rows, facts)


class ReleaseToken(Knowledge):
    """A release by some threads. `scope` 0 cta .. 3 sys; `ctas` those of the threads.

    A relaxed release has empty rows of its own; `published` holds what earlier release fences of these threads give, `withheld`
    what an acq_rel release would have given (for explanations only).
    """

    __slots__ = ("ctas", "epochs", "numbering", "published", "relaxed", "scope", "site", "snapshot", "threads", "withheld")

    def __init__(
        self,
        site: Instruction | None,
        threads: Wide,
        epochs: Ints,
        ctas: frozenset[int],
        scope: int,
        facts: Facts,
        rows: Rows | None = None,
    ) -> None:
        super().__init__(rows, facts)
        self.site = site
        self.threads = threads
        self.epochs = epochs
        self.ctas = ctas
        self.scope = scope
        self.published: tuple[ReleaseToken, ...] = ()
        self.withheld: ReleaseToken | None = None
        self.relaxed = False
        self.snapshot: Snapshot | None = None
        self.numbering: Threads | None = None

    def includes(self, rows: Rows) -> bool:
        return self.snapshot is not None and any(base is rows for base in self.snapshot.bases.values())

    def rows(self) -> Rows:
        if self._rows is None:
            assert self.snapshot is not None
            assert self.numbering is not None
            self._rows = self.snapshot.rows(self.numbering)
        return self._rows


class Snapshot:
    """The state of releasing threads, copied cheaply at the release; turned into rows when somebody joins the token."""

    __slots__ = ("bases", "bridges", "epochs", "fact_sets", "facts", "lanes", "numbers", "threads")

    def __init__(
        self,
        threads: Wide,
        epochs: Ints,
        numbers: Wide,
        bases: dict[int, Rows],
        facts: Wide,
        fact_sets: dict[int, Facts],
        bridges: npt.NDArray[np.int32] | None,
        lanes: Lanes | None,
    ) -> None:
        self.threads = threads
        self.epochs = epochs
        self.numbers = numbers
        self.bases = bases
        """Rows of each distinct clock number among the threads (immutable, shared with the clock table)."""
        self.facts = facts
        self.fact_sets = fact_sets
        self.bridges = bridges
        """int32 [VIEWS, n]: up to which own epoch a proxy fence covered the thread's own accesses (HB unused); None where there was no fence."""
        self.lanes = lanes
        """None where nothing is known of lanes."""

    def select(self, keep: npt.NDArray[np.bool_]) -> Snapshot:
        lanes = None if self.lanes is None else self.lanes.select(keep)
        bridges = None if self.bridges is None else self.bridges[:, keep]
        numbers, facts = self.numbers[keep], self.facts[keep]
        bases = {number: self.bases[number] for number in set(numbers.tolist())}
        fact_sets = {number: self.fact_sets[number] for number in set(facts.tolist())}
        return Snapshot(self.threads[keep], self.epochs[keep], numbers, bases, facts, fact_sets, bridges, lanes)

    def all_facts(self) -> Facts:
        union = NOTHING
        for facts in self.fact_sets.values():
            union = union | facts
        return union

    def rows(self, numbering: Threads) -> Rows:
        rows: Rows = {}
        for base in self.bases.values():
            for cluster, values in base.items():
                old = rows.get(cluster)
                rows[cluster] = values.copy() if old is None else np.maximum(old, values, out=old)
        clusters = numbering.cluster[self.threads]
        for cluster, where in grouped(clusters):
            threads = self.threads[where]
            target = rows.get(cluster)
            if target is None:
                target = rows[cluster] = np.zeros((VIEWS, numbering.per_cluster), np.int32)
            columns = numbering.column[threads]
            target[HB, columns] = np.maximum(target[HB, columns], self.epochs[where])
            if self.bridges is not None:
                for view in BRIDGED:
                    target[view, columns] = np.maximum(target[view, columns], self.bridges[view][where])
        if self.lanes is not None:
            self.lanes.add_to(rows, numbering)
        return rows
