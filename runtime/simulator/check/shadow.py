"""Shadow memory of one space: who last wrote and who has read every byte since, in granules that shrink on demand.

State is kept for pages that were touched, in parallel int32 rows. A granule starts at 16 bytes; the first access that is smaller
or not aligned to it splits all granules to its own size, so verdicts are exact to the byte. An *agent* is 0 for nobody,
``thread + 1`` for a thread, ``threads + 1 + n`` for asynchronous operation n. The last reader has a slot of its own; further
unordered readers, and strong writers that the last one is not ordered after, hang in linked lists in a log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

PAGE_BITS = 12
W_AGENT, W_EPOCH, W_INFO, W_MORE, R_AGENT, R_EPOCH, R_INFO, R_MORE = range(8)

ATOMIC = 1 << 3
SIZE_SHIFT = 4
SITE_SHIFT = 9
REMOTE = 1 << 8


def pack(site: int, strength: int, atomic: bool, size: int, remote: bool) -> int:
    """Access information: strength 0 weak or 1 + scope, atomic or not, log2 of the size, made through a shared::cluster address, number of the site."""
    return (
        site << SITE_SHIFT | (REMOTE if remote else 0) | (size.bit_length() - 1 & 15) << SIZE_SHIFT | (ATOMIC if atomic else 0) | strength
    )


class Shadow:
    """Rows of state over granules; indices are into these rows, not addresses."""

    def __init__(self, size: int, shift: int = 4) -> None:
        self.shift = shift
        self.slot = np.full((size >> PAGE_BITS) + 2, -1, np.int32)
        self.pages: list[int] = []
        # Zeroed memory costs nothing until it is touched, so room for many pages is taken at once.
        capacity = min((size >> PAGE_BITS) + 2, 16384) << PAGE_BITS - shift
        self.rows = np.zeros((8, capacity), np.int32)
        self.stamp = np.zeros(capacity, np.int32)
        self.log = np.zeros((5, 1024), np.int32)
        """agent, epoch, info, previous entry, granule (negative: ~granule of a write list). Entry 0 is unused."""
        self.log_used = 1
        self.log_limit = 1 << 16
        self.wide_writers = True
        """Whether all writers in lists were strong at gpu scope or wider."""

    # -- addressing
    def index(self, addresses: Wide, size: int) -> Ints:
        """Granule indices [n, size in granules] of accesses that are aligned to their size or to 16 bytes."""
        mask = (1 << self.shift) - 1
        bits = size | int(np.bitwise_or.reduce(addresses)) if len(addresses) else size
        if bits & mask:
            self._refine((bits & -bits).bit_length() - 1)
        pages = addresses >> PAGE_BITS
        slots = self.slot[pages]
        if (slots < 0).any() or (size > 16 and self._crossing(addresses, size)):
            self._touch(addresses, size)
            slots = self.slot[pages]
        per_page = PAGE_BITS - self.shift
        count = size >> self.shift
        if size <= 16:
            first = (slots.astype(np.int64) << per_page) + ((addresses & (1 << PAGE_BITS) - 1) >> self.shift)
            short: Ints = (first[:, None] + np.arange(count)).astype(np.int32) if count > 1 else first.astype(np.int32)[:, None]
            return short
        granule = (addresses >> self.shift)[:, None] + np.arange(count)
        long: Ints = ((self.slot[granule >> per_page].astype(np.int64) << per_page) + (granule & (1 << per_page) - 1)).astype(np.int32)
        return long

    def _crossing(self, addresses: Wide, size: int) -> bool:
        return bool((self.slot[(addresses + size - 1) >> PAGE_BITS] < 0).any()) or size > 1 << PAGE_BITS

    def _touch(self, addresses: Wide, size: int) -> None:
        first, last = addresses >> PAGE_BITS, (addresses + size - 1) >> PAGE_BITS
        wanted = np.unique(np.concatenate([first + i for i in range(int((last - first).max()) + 1)]))
        new = wanted[self.slot[wanted] < 0]
        self.slot[new] = np.arange(len(self.pages), len(self.pages) + len(new))
        self.pages.extend(new.tolist())
        needed = len(self.pages) << PAGE_BITS - self.shift
        if needed > self.rows.shape[1]:
            grown = np.zeros((8, max(needed, 2 * self.rows.shape[1])), np.int32)
            grown[:, : self.rows.shape[1]] = self.rows
            self.rows = grown
            self.stamp = np.zeros(grown.shape[1], np.int32)

    def _refine(self, shift: int) -> None:
        times = 1 << self.shift - shift
        self._compact()
        self.shift = shift
        used = len(self.pages) << PAGE_BITS - shift
        old_rows = self.rows
        self.rows = np.zeros((8, old_rows.shape[1] * times), np.int32)
        self.rows[:, :used] = np.repeat(old_rows[:, : used // times], times, axis=1)
        self.stamp = np.zeros(self.rows.shape[1], np.int32)
        if self.log_used > 1:
            old = self.log[:, 1 : self.log_used]
            granule = np.where(old[4] < 0, ~old[4], old[4])
            write = np.repeat(old[4] < 0, times)
            spread = (granule[:, None] * times + np.arange(times)).reshape(-1)
            self.rows[[W_MORE, R_MORE]] = 0
            self.log_used = 1
            agent, epoch, info = (np.repeat(old[i], times) for i in range(3))
            for head, mine in ((W_MORE, write), (R_MORE, ~write)):
                self.push(head, spread[mine].astype(np.int32), agent[mine], epoch[mine], info[mine])

    def address(self, granule: int) -> int:
        """First byte of a granule."""
        per_page = PAGE_BITS - self.shift
        return (self.pages[granule >> per_page] << PAGE_BITS) + ((granule & (1 << per_page) - 1) << self.shift)

    def duplicates(self, granules: Ints) -> Bools | None:
        """True where a later entry has the same granule; None where all differ."""
        order = np.arange(1, len(granules) + 1, dtype=np.int32)
        self.stamp[granules] = order
        late = self.stamp[granules] != order
        return late if late.any() else None

    # -- lists
    def push(self, head: int, granules: Ints, agent: Ints, epoch: Ints, info: Ints) -> None:
        """Adds entries to the lists of their granules; a granule may occur several times."""
        count = len(granules)
        if not count:
            return
        if self.log_used + count > self.log.shape[1]:
            grown = np.zeros((5, max(2 * self.log.shape[1], self.log_used + count)), np.int32)
            grown[:, : self.log_used] = self.log[:, : self.log_used]
            self.log = grown
        order = np.argsort(granules, kind="stable")
        granule = granules[order]
        place = np.arange(self.log_used, self.log_used + count, dtype=np.int32)
        self.log_used += count
        first = np.ones(count, np.bool_)
        first[1:] = granule[1:] != granule[:-1]
        previous = np.where(first, self.rows[head, granule], place - 1)
        self.log[0, place], self.log[1, place], self.log[2, place] = agent[order], epoch[order], info[order]
        self.log[3, place] = previous
        self.log[4, place] = granule if head == R_MORE else ~granule
        last = np.ones(count, np.bool_)
        last[:-1] = first[1:]
        self.rows[head, granule[last]] = place[last]
        if self.log_used > self.log_limit:
            self._compact()
            self.log_limit = max(1 << 16, 2 * self.log_used)

    def walk(self, head: int, granules: Ints) -> Iterator[tuple[Wide, Ints, Ints, Ints]]:
        """Goes through the lists of `granules`: yields (positions in `granules`, agents, epochs, infos) until all are at their end."""
        heads = self.rows[head, granules]
        where = np.flatnonzero(heads)
        if not len(where):
            return
        entry = heads[where]
        steps = 0
        while len(where):
            yield where, self.log[0, entry], self.log[1, entry], self.log[2, entry]
            entry = self.log[3, entry]
            going = entry != 0
            where, entry = where[going], entry[going]
            steps += 1
        if steps > 256 and self.log_used > 4096:
            self._compact()

    def _compact(self) -> None:
        """Keeps, of the entries that can still be reached, the newest for each granule and agent."""
        if self.log_used == 1:
            return
        reachable = np.zeros(self.log_used, np.bool_)
        used = len(self.pages) << PAGE_BITS - self.shift
        for head in (W_MORE, R_MORE):
            entry = self.rows[head, :used]
            entry = entry[entry != 0]
            while len(entry):
                reachable[entry] = True
                entry = self.log[3, entry]
                entry = entry[entry != 0]
        kept = np.flatnonzero(reachable)[::-1]
        key = self.log[4, kept].astype(np.int64) << 32 | self.log[0, kept]
        _, first = np.unique(key, return_index=True)
        kept = np.sort(kept[first])
        old = self.log[:, kept].copy()
        self.rows[W_MORE, :used] = 0
        self.rows[R_MORE, :used] = 0
        self.log_used = 1
        self.log_limit = 1 << 62
        write = old[4] < 0
        for head, mine in ((W_MORE, write), (R_MORE, ~write)):
            self.push(head, np.where(old[4] < 0, ~old[4], old[4])[mine], old[0, mine], old[1, mine], old[2, mine])
        self.log_limit = max(1 << 16, 2 * self.log_used)
