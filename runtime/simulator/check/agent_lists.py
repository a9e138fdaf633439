"""Further accessors of a granule, beside the last one: lists that cost little to add to.

What is added waits in the order of its arrival and only marks the heads of its granules. It is sorted, into one run for each granule, when
somebody asks for a marked granule; much is read that nobody ever writes to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]

WAITING_LIMIT = 1 << 20
"""Entries that may wait, before they are sorted nevertheless."""
ENTRY_LIMIT = 1 << 16
"""Sorted entries, after which those are dropped that cannot be reached, or that a newer one of the same agent stands for."""
WAITING = -1


class Listed(NamedTuple):
    """Entries of several granules, in rising `depth`: 0 for each granule's newest entry, 1 for the one before it."""

    where: Wide
    """Position of the granule in the question."""
    depth: Wide
    marks: Wide
    infos: Ints


class AgentLists:
    """A list for each row. An entry is a mark (agent << 32 | epoch) with the access information of `shadow.pack`."""

    def __init__(self, rows: int) -> None:
        self.heads = np.zeros(rows, np.int32)
        """The newest run of each row; 0: none, WAITING: entries that are not sorted yet and nothing else."""
        self.waiting: list[tuple[Wide, Wide, Ints]] = []
        self.waiting_count = 0
        self.marks = np.zeros(256, np.int64)
        self.infos = np.zeros(256, np.int32)
        self.used = 0
        self.limit = ENTRY_LIMIT
        self.runs = np.zeros((4, 256), np.int64)
        """Row, first entry, entries, and the run before; run 0 is none."""
        self.run_count = 1
        self.empty = True
        """Whether nothing was ever added."""

    def grow(self, room: int, runs: list[slice]) -> None:
        """Makes room for `room` lists; those of `runs` may hold something."""
        heads = np.zeros(room, np.int32)
        for run in [] if self.empty else runs:
            heads[run] = self.heads[run]
        self.heads = heads

    def add(self, rows: Wide, marks: Wide, infos: Ints) -> None:
        """Adds entries, oldest first; a row may occur several times."""
        if not len(rows):
            return
        self.empty = False
        self.heads[rows[self.heads[rows] == 0]] = WAITING
        self.waiting.append((rows, marks, infos))
        self.waiting_count += len(rows)
        if self.waiting_count > WAITING_LIMIT:
            self._sort()

    def clear(self, rows: Wide | slice) -> None:
        """Forgets the lists of `rows`."""
        if self.empty or not self.heads[rows].any():
            return
        self._sort()
        self.heads[rows] = 0

    def listed(self, rows: Wide | slice) -> Listed | None:
        """The lists of `rows`; None if all are empty."""
        if self.empty or not self.heads[rows].any():
            return None
        self._sort()
        heads = self.heads[rows]
        where = np.flatnonzero(heads)
        run = heads[where].astype(np.int64)
        deep = np.zeros(len(where), np.int64)
        parts: list[Listed] = []
        while len(where):
            count = self.runs[2, run]
            each = np.repeat(np.arange(len(where)), count)
            offset = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
            entry = (self.runs[1, run] + count - 1)[each] - offset
            parts.append(Listed(where[each], deep[each] + offset, self.marks[entry], self.infos[entry]))
            deep = deep + count
            run = self.runs[3, run]
            going = run != 0
            where, run, deep = where[going], run[going], deep[going]
        if len(parts) == 1 and not parts[0].depth.any():
            return parts[0]
        where, depth, marks, infos = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(depth, kind="stable")
        return Listed(where[order], depth[order], marks[order], infos[order].astype(np.int32, copy=False))

    def split(self, old: Wide, new: Wide, times: int) -> None:
        """Moves the lists of the rows `old`, each to the `times` rows from `new` on."""
        found = self.listed(old)
        if found is None:
            return
        self.heads[old] = 0
        oldest = np.argsort(-found.depth, kind="stable")
        rows = (new[found.where[oldest], None] + np.arange(times)).reshape(-1)
        self.add(rows, np.repeat(found.marks[oldest], times), np.repeat(found.infos[oldest], times))

    def _sort(self) -> None:
        if not self.waiting:
            return
        rows, marks, infos = (np.concatenate(column) for column in zip(*self.waiting, strict=True))
        self.waiting.clear()
        self.waiting_count = 0
        self._append(rows, marks, infos)
        if self.used > self.limit:
            self._compact()
            self.limit = max(ENTRY_LIMIT, 2 * self.used)

    def _append(self, rows: Wide, marks: Wide, infos: Ints) -> None:
        """Makes a run of the entries of each row."""
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        end = self.used + len(rows)
        if end > len(self.marks):
            room = max(2 * len(self.marks), end)
            self.marks = np.concatenate([self.marks[: self.used], np.zeros(room - self.used, np.int64)])
            self.infos = np.concatenate([self.infos[: self.used], np.zeros(room - self.used, np.int32)])
        self.marks[self.used : end], self.infos[self.used : end] = marks[order], infos[order]
        edges = np.concatenate([[0], np.flatnonzero(rows[1:] != rows[:-1]) + 1, [len(rows)]])
        last = self.run_count + len(edges) - 1
        if last > self.runs.shape[1]:
            runs = np.zeros((4, max(2 * self.runs.shape[1], last)), np.int64)
            runs[:, : self.run_count] = self.runs[:, : self.run_count]
            self.runs = runs
        new = self.runs[:, self.run_count : last]
        new[0] = rows[edges[:-1]]
        new[1] = self.used + edges[:-1]
        new[2] = edges[1:] - edges[:-1]
        new[3] = np.maximum(self.heads[new[0]], 0)
        self.heads[new[0]] = np.arange(self.run_count, last)
        self.used, self.run_count = end, last

    def _compact(self) -> None:
        """Keeps, of the entries that can still be reached, the newest for each row and agent."""
        level = self.heads[self.heads > 0].astype(np.int64)
        reached: list[Wide] = []
        while len(level):
            reached.append(level)
            level = self.runs[3, level]
            level = level[level != 0]
        run = np.sort(np.concatenate(reached)) if reached else np.zeros(0, np.int64)
        count = self.runs[2, run]
        rows = np.repeat(self.runs[0, run], count)
        entry = np.arange(len(rows)) + np.repeat(self.runs[1, run] - (np.cumsum(count) - count), count)
        marks, infos = self.marks[entry], self.infos[entry]
        newest = len(rows) - 1 - np.unique((rows << 32 | marks >> 32)[::-1], return_index=True)[1]
        newest.sort()
        self.heads[rows] = 0
        self.used, self.run_count = 0, 1
        self._append(rows[newest], marks[newest], infos[newest])
