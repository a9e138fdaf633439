"""What the lanes of a warp know of each other: filled by bar.warp.sync, so that a warp-level synchronisation costs no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.token import VIEWS
from fa4dsl.runtime.simulator.selection import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.token import Rows

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lanes:
    """What threads know of the lanes of their warps: `epochs` int32 [views, n, 32], of which thread i has the row `row[i]`. Row j is of the warp of
    `threads[j]`; where all lanes of a warp know the same, it has one row."""

    epochs: npt.NDArray[np.int32]
    threads: Wide
    row: Wide

    def select(self, keep: npt.NDArray[np.bool_]) -> Lanes:
        rows, row = np.unique(self.row[keep], return_inverse=True)
        return Lanes(self.epochs[:, rows], self.threads[rows], row.reshape(-1))

    def add_to(self, rows: Rows, numbering: Threads) -> None:
        """Adds it to clock rows."""
        for cluster, where in grouped(numbering.cluster[self.threads]):
            threads, target = self.threads[where], rows[cluster]
            first = numbering.column[threads] - numbering.lane[threads]
            spread = np.minimum(first[:, None] + np.arange(32), numbering.per_cluster - 1)
            # Whole warps that differ reach columns that differ.
            apart = numbering.per_cta % 32 == 0 and bool((first[1:] > first[:-1]).all())
            for view, epochs in enumerate(self.epochs):
                if apart:
                    target[view, spread] = np.maximum(target[view, spread], epochs[where])
                else:
                    np.maximum.at(target[view], spread.ravel(), epochs[where].ravel())


class LaneKnowledge:
    """For every thread of the wave and view of `token` the epochs that it knows of its warp's lanes."""

    def __init__(self, numbering: Threads) -> None:
        self.of = numbering
        self.first = 0
        """The wave's first thread."""
        self.any = False
        """Whether anything is known."""
        self.epochs = np.zeros((VIEWS, numbering.wave_count, 32), np.int32)
        warps = int(numbering.warp[-1]) + 1 if numbering.count else 1
        self.used: Bools = np.zeros(warps, np.bool_)
        """Warps of which something is known."""
        self.even: Bools = np.ones(warps, np.bool_)
        """Warps whose lanes all know the same."""

    def restart(self, first: int) -> None:
        """Other threads begin, from `first` on: what those knew that have ended is no longer asked for."""
        self.first = first
        if self.any:
            self.epochs = np.zeros_like(self.epochs)
            self.used[:], self.even[:], self.any = False, True, False

    def knows(self, views: Wide, threads: Wide, others: Wide, epochs: Ints) -> Bools:
        """For each i whether `threads[i]` knows of `others[i]` as a lane of its own warp."""
        of = self.of
        known: Bools = (of.warp[threads] == of.warp[others]) & (self.epochs[views, threads - self.first, of.lane[others]] >= epochs)
        return known

    def meet(self, grid: Wide, epochs: Sequence[Ints]) -> None:
        """The threads of each row meet: all of a row learn what the others know of the warp, and their own `epochs`, of as many views as are given."""
        self.any = True
        lane, warps = self.of.lane[grid], self.of.warp[grid[:, 0]]
        self.used[warps] = True
        even = bool(self.even[warps].all())
        line, grid = np.arange(len(grid))[:, None], grid - self.first
        for view, own in enumerate(epochs):
            known = self.epochs[view, grid[:, 0]] if even else self.epochs[view, grid].max(axis=1)
            known[line, lane] = np.maximum(known[line, lane], own)
            self.epochs[view, grid] = known[:, None, :]
        self.even[warps] = grid.shape[1] == 32

    def fence(self, threads: Wide, views: Sequence[int]) -> None:
        """What the threads know happens before is covered in these views too."""
        if self.any:
            self.even[self.of.warp[threads]] = False
            threads = threads - self.first
            for view in views:
                self.epochs[view, threads] = np.maximum(self.epochs[view, threads], self.epochs[0, threads])

    def of_warps(self, view: int, threads: slice) -> Ints:
        """For each of `threads`, whole warps of 32, up to which of its epochs some lane of its warp knows of it."""
        known = self.epochs[view, threads.start - self.first : threads.stop - self.first]
        most: Ints = known.reshape(-1, 32, 32).max(axis=1).reshape(-1)
        return most

    def of_threads(self, threads: Wide, bridged: bool) -> Lanes | None:
        """A copy for a snapshot; None where nothing is known. Views but the first may hold something only if `bridged`."""
        if not self.any:
            return None
        warps = self.of.warp[threads]
        if not self.used[warps].any():
            return None
        views = VIEWS if bridged else 1
        if not self.even[warps].all():
            return Lanes(self.epochs[:views, threads - self.first], threads, np.arange(len(threads)))
        first = np.append(True, warps[1:] != warps[:-1])
        return Lanes(self.epochs[:views, threads[first] - self.first], threads[first], np.cumsum(first) - 1)
