"""Shadow memory of one space: who last wrote and who has read every byte since, in granules that shrink on demand.

State is kept for pages that were touched, in parallel arrays with a row for each granule. A page starts with granules of 16 bytes; the first
access that is smaller or not aligned to them splits the page's granules to its own size, so verdicts are exact to the byte. An *agent* is 0 for
nobody, ``thread + 1`` for a thread, ``threads + 1 + n`` for asynchronous operation n; a *mark* is ``agent << 32 | epoch``, with epoch 0 for
operations. The last reader has a slot of its own; further unordered readers, and strong writers that the last one is not ordered after, stand
in lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.agent_lists import AgentLists

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

PAGE_BITS = 10
PAGE = 1 << PAGE_BITS
COARSEST = 4
BLOCK = PAGE >> COARSEST
"""Rows are given to pages in blocks of as many."""

ALL_PAGES = 1 << 16
GROUP = 256
"""Pages that are given rows together."""

SHIFTS = (1 << COARSEST + 1) - 1
"""State of a page: one bit for the log2 of its granules' size, and flags."""
RESIDENT = 1 << 5
WRITTEN = 1 << 6
READ = 1 << 7
LIVE = 1 << 8
"""Holds a live mbarrier."""

SHIFT_OF = np.zeros(SHIFTS + 1, np.int64)
SHIFT_OF[[1 << shift for shift in range(COARSEST + 1)]] = range(COARSEST + 1)

ATOMIC = 1 << 3
SIZE_SHIFT = 4
SITE_SHIFT = 9
REMOTE = 1 << 8


def pack(site: int, strength: int, atomic: bool, size: int, remote: bool) -> int:
    """Access information: strength 0 weak or 1 + scope, atomic or not, log2 of the size, made through a shared::cluster address, number of the site."""
    return (
        site << SITE_SHIFT | (REMOTE if remote else 0) | (size.bit_length() - 1 & 15) << SIZE_SHIFT | (ATOMIC if atomic else 0) | strength
    )


class Granules:
    """The granules of accesses, one access after the other. Rows are good until the next access is located."""

    __slots__ = ("_rows", "count", "distinct", "every", "key", "pages", "repeats", "some")

    def __init__(self, key: Wide | slice, repeats: int | Wide, pages: Wide | slice, some: int, every: int, distinct: bool) -> None:
        self.key = key
        """The rows; a slice where they follow each other."""
        self._rows = None if isinstance(key, slice) else key
        self.count = key.stop - key.start if isinstance(key, slice) else len(key)
        self.repeats = repeats
        """Granules of an access."""
        self.pages = pages
        """One for each access of at most 16 bytes that are aligned; else all of the ranges' pages."""
        self.some = some
        """State bits that some of the pages have."""
        self.every = every
        """State bits that all of the pages have."""
        self.distinct = distinct
        """Known to differ from each other."""

    @property
    def rows(self) -> Wide:
        if self._rows is None:
            assert isinstance(self.key, slice)
            self._rows = np.arange(self.key.start, self.key.stop)
        return self._rows

    def all_of(self, value: int) -> Wide:
        """One value for each granule."""
        return np.ndarray((self.count,), np.int64, np.array([value]), strides=(0,))

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the accesses, for each granule."""
        return values if isinstance(self.repeats, int) and self.repeats == 1 else np.repeat(values, self.repeats)


class Shadow:
    """Pages of granules, and their state, for `size` bytes from address `base` on (a multiple of the page)."""

    def __init__(self, size: int) -> None:
        pages = (size >> PAGE_BITS) + 2
        self.base = 0
        self.first = np.zeros(pages, np.int64)
        """Row of each page's first granule."""
        self.state = np.full(pages, 1 << COARSEST, np.int64)
        # Zeroed memory costs nothing until it is touched, so all of a small space has its rows from the start, in the order of its addresses.
        room = (2 * min(pages, ALL_PAGES) + GROUP) * BLOCK
        self.used = 0
        self.owner = np.zeros(room // BLOCK, np.int64)
        """The page of each block of rows."""
        self.writer = np.zeros(room, np.int64)
        self.writer_info = np.zeros(room, np.int32)
        self.reader = np.zeros(room, np.int64)
        self.reader_info = np.zeros(room, np.int32)
        self.stamp = np.zeros(room, np.int32)
        self.writers, self.readers = AgentLists(room), AgentLists(room)
        self.wide_writers = True
        """Whether all writers in lists were strong at gpu scope or wider."""
        self.in_order = pages <= ALL_PAGES
        """Whether the rows of pages that were not split are in the order of their addresses."""
        if self.in_order:
            self._allocate(np.arange(pages))

    # -- from addresses to rows
    def locate(self, addresses: Wide, size: int) -> Granules:
        """The granules of accesses of `size` bytes each, of which there is at least one."""
        if self.base:
            addresses = addresses - self.base
        low = size | int(addresses[0] if len(addresses) == 1 else np.bitwise_or.reduce(addresses))
        finest = min((low & -low).bit_length() - 1, COARSEST)
        if size > 1 << COARSEST or low & size - 1:
            return self._even_ranges(addresses, size, finest) or self._ranges(addresses, size, finest)
        pages = addresses >> PAGE_BITS
        states = self.state.take(pages)
        some, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        if (some & SHIFTS) >> finest + 1 or not every & RESIDENT:
            self._prepare(pages, finest)
            states = self.state.take(pages)
            some, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        shifts = some & SHIFTS
        if shifts & shifts - 1:
            return self._mixed(addresses, size, pages, states)
        shift = shifts.bit_length() - 1
        ordered = shift == COARSEST and self.in_order
        if ordered:
            rows = addresses >> COARSEST
        else:
            rows = addresses & PAGE - 1
            rows >>= shift
            rows += self.first.take(pages)
        distinct = len(rows) == 1 or bool((addresses[1:] > addresses[:-1]).all())
        count = size >> shift
        if count > 1:
            rows = (rows[:, None] + np.arange(count)).reshape(-1)
        low, high = int(rows[0]), int(rows[-1])
        following = distinct and high - low == len(rows) - 1 and (ordered or bool((rows[1:] > rows[:-1]).all()))
        key = slice(low, high + 1) if following else rows
        return Granules(key, count, pages, some, every, distinct)

    def _mixed(self, addresses: Wide, size: int, pages: Wide, states: Wide) -> Granules:
        """As `locate`, for aligned accesses within pages that are ready and whose granules differ in size."""
        shifts = SHIFT_OF.take(states & SHIFTS)
        starts = addresses & PAGE - 1
        starts >>= shifts
        starts += self.first.take(pages)
        counts = size >> shifts
        ends = np.cumsum(counts)
        rows = np.repeat(starts - ends + counts, counts)
        rows += np.arange(len(rows))
        some, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        return Granules(rows, counts, pages, some, every, bool((addresses[1:] > addresses[:-1]).all()))

    def _even_ranges(self, addresses: Wide, size: int, finest: int) -> Granules | None:
        """As `locate`, for ranges in pages that have granules of one size, in rows that follow each other: None where they are not so, or not near."""
        start = last = int(addresses[0])
        if len(addresses) > 1:
            start, last = int(addresses.min()), int(addresses.max())
        page, end = start >> PAGE_BITS, (last + size - 1 >> PAGE_BITS) + 1
        if end - page > GROUP:
            return None
        states, firsts = self.state[page:end], self.first[page:end]
        some, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        shift = (some & SHIFTS).bit_length() - 1
        if some & SHIFTS != 1 << shift or shift > finest or not every & RESIDENT:
            return None
        first = int(firsts[0])
        if (firsts[1:] - firsts[:-1] != PAGE >> shift).any():
            return None
        count, pages = size >> shift, slice(page, end)
        if len(addresses) == 1:
            low = first + ((start & PAGE - 1) >> shift)
            return Granules(slice(low, low + count), count, pages, some, every, True)
        rows = (addresses - (page << PAGE_BITS) >> shift) + first
        distinct = bool((rows[1:] >= rows[:-1] + count).all())
        rows = (rows[:, None] + np.arange(count)).reshape(-1)
        return Granules(rows, count, pages, some, every, distinct)

    def _ranges(self, addresses: Wide, size: int, finest: int) -> Granules:
        """As `locate`, for ranges that may cross pages, and pages whose granules differ."""
        first, last = addresses >> PAGE_BITS, (addresses + (size - 1)) >> PAGE_BITS
        most = int((last - first).max()) + 1
        if most == 1:
            access, pages = np.arange(len(addresses)), first
        else:
            each = first[:, None] + np.arange(most)
            access, step = np.nonzero(each <= last[:, None])
            pages = each[access, step]
        states = self.state.take(pages)
        if not self._ready(states, finest):
            self._prepare(pages, finest)
            states = self.state.take(pages)
        shifts = SHIFT_OF[states & SHIFTS]
        begin = np.maximum(addresses[access], pages << PAGE_BITS)
        end = np.minimum(addresses[access] + size, pages + 1 << PAGE_BITS)
        counts = (end - begin) >> shifts
        starts = self.first.take(pages) + ((begin & PAGE - 1) >> shifts)
        some, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        repeats = np.bincount(access, counts, len(addresses)).astype(np.int64)
        if (starts[1:] == (starts + counts)[:-1]).all():
            return Granules(slice(int(starts[0]), int(starts[-1] + counts[-1])), repeats, pages, some, every, True)
        before = np.cumsum(counts) - counts
        rows = np.repeat(starts - before, counts)
        rows += np.arange(len(rows))
        return Granules(rows, repeats, pages, some, every, bool((addresses[1:] >= addresses[:-1] + size).all()))

    def address(self, row: int) -> int:
        """First byte of a granule."""
        page = int(self.owner[row // BLOCK])
        shift = (int(self.state[page]) & SHIFTS).bit_length() - 1
        return self.base + (page << PAGE_BITS) + (row - int(self.first[page]) << shift)

    def first_address(self, granules: Granules) -> int:
        """Of the first granule."""
        return self.address(granules.key.start if isinstance(granules.key, slice) else int(granules.key[0]))

    def size(self, row: int) -> int:
        """Bytes of a granule."""
        return int(self.state[self.owner[row // BLOCK]]) & SHIFTS

    def addresses(self, rows: Wide) -> Wide:
        """First bytes of granules."""
        pages = self.owner[rows // BLOCK]
        shifts = SHIFT_OF[self.state[pages] & SHIFTS]
        found: Wide = self.base + (pages << PAGE_BITS) + ((rows - self.first[pages]) << shifts)
        return found

    def page(self, address: int) -> int:
        """Where a byte's page has its `state`."""
        return address - self.base >> PAGE_BITS

    def note(self, granules: Granules, flag: int) -> None:
        """Sets a state bit of the pages."""
        if not granules.every & flag:
            self.state[granules.pages] |= flag

    def restart(self, base: int) -> None:
        """Forgets all accesses: the rows stand for other bytes from now on, from address `base` on. Pages keep the sizes of their granules, since
        what comes is likely to be accessed as what was."""
        self.base = base
        for row, flag in ((self.writer, WRITTEN), (self.reader, READ)):
            for run in self._accessed(flag):
                row[run] = 0
        self.state &= ~(WRITTEN | READ | LIVE)
        self.writers, self.readers = AgentLists(len(self.writer)), AgentLists(len(self.writer))
        self.wide_writers = True

    # -- pages
    @staticmethod
    def _ready(states: Wide, finest: int) -> bool:
        """Whether pages have rows, and granules of at most 1 << `finest` bytes."""
        return not int(np.bitwise_or.reduce(states)) & SHIFTS & (-2 << finest) and bool(np.bitwise_and.reduce(states) & RESIDENT)

    def _prepare(self, pages: Wide, finest: int) -> None:
        """Gives rows to new pages, and splits granules larger than 1 << `finest` bytes."""
        different = np.unique(pages[np.append(True, pages[1:] != pages[:-1])])
        states = self.state[different]
        for shift in range(finest + 1, COARSEST + 1):
            coarse = states & SHIFTS == 1 << shift
            self._split(different[coarse & (states & RESIDENT != 0)], shift, finest)
            self.state[different[coarse]] = self.state[different[coarse]] & ~SHIFTS | 1 << finest
        absent = different[states & RESIDENT == 0]
        if len(absent):
            # The neighbours too, so that ranges have rows that follow each other.
            near = (np.unique(absent // GROUP)[:, None] * GROUP + np.arange(GROUP)).reshape(-1)
            near = near[near < len(self.state)]
            self._allocate(near[self.state[near] & RESIDENT == 0])

    def _allocate(self, pages: Wide) -> None:
        counts = np.int64(PAGE) >> SHIFT_OF[self.state[pages] & SHIFTS]
        end = self.used + int(counts.sum())
        if end > len(self.writer):
            self._grow(max(end, 2 * len(self.writer)))
        self.first[pages] = self.used + np.cumsum(counts) - counts
        self.owner[self.used // BLOCK : end // BLOCK] = np.repeat(pages, counts // BLOCK)
        self.state[pages] |= RESIDENT
        self.used = end

    def _accessed(self, flags: int = WRITTEN | READ) -> list[slice]:
        """The rows of pages that were accessed, in few runs: what is kept of others is nothing."""
        pages = np.flatnonzero((self.state & flags != 0) & (self.state & RESIDENT != 0))
        if not len(pages):
            return []
        begin = self.first[pages]
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], (begin + (np.int64(PAGE) >> SHIFT_OF[self.state[pages] & SHIFTS]))[order]
        gaps = np.flatnonzero(begin[1:] != end[:-1])
        return [slice(*run) for run in zip(begin[np.append(0, gaps + 1)].tolist(), end[np.append(gaps, -1)].tolist(), strict=True)]

    def _grow(self, room: int) -> None:
        """More rows; only those of pages that were accessed are copied."""
        runs = self._accessed()
        for name in ("writer", "writer_info", "reader", "reader_info"):
            old = getattr(self, name)
            new = np.zeros(room, old.dtype)
            for run in runs:
                new[run] = old[run]
            setattr(self, name, new)
        self.stamp = np.zeros(room, np.int32)
        owner = np.zeros(room // BLOCK, np.int64)
        owner[: self.used // BLOCK] = self.owner[: self.used // BLOCK]
        self.owner = owner
        self.writers.grow(room, runs)
        self.readers.grow(room, runs)

    def _split(self, pages: Wide, shift: int, finest: int) -> None:
        """Moves pages to rows of their own, several for each that they had. The old ones stay unused."""
        if not len(pages):
            return
        count, times = PAGE >> shift, 1 << shift - finest
        if self.used + len(pages) * count * times > len(self.writer):
            self._grow(2 * len(self.writer) + len(pages) * count * times)
        old = self.first[pages]
        self.state[pages] = self.state[pages] & ~SHIFTS | 1 << finest
        self._allocate(pages)
        used = self.state[pages] & (WRITTEN | READ) != 0
        if not used.any():
            return
        rows = (old[used, None] + np.arange(count)).reshape(-1)
        new = (self.first[pages[used], None] + np.arange(0, count * times, times)).reshape(-1)
        held = self.writer[rows] | self.reader[rows] != 0
        rows, new = rows[held], new[held]
        every = (new[:, None] + np.arange(times)).reshape(-1)
        for row in (self.writer, self.writer_info, self.reader, self.reader_info):
            row[every] = np.repeat(row[rows], times)
        self.writers.split(rows, new, times)
        self.readers.split(rows, new, times)

    def later(self, granules: Granules, stamped: bool = True) -> Bools | None:
        """True where a later entry has the same granule; None where all differ. With `stamped`, `stamp` then holds the number of the last entry of each, plus 1."""
        if granules.distinct:
            return None
        rows = granules.rows
        if not stamped and (rows[1:] >= rows[:-1]).all():
            same: Bools = np.append(rows[1:] == rows[:-1], False)
            return same if same.any() else None
        order = np.arange(1, granules.count + 1, dtype=np.int32)
        self.stamp[granules.rows] = order
        late: Bools = self.stamp[granules.rows] != order
        return late if late.any() else None
