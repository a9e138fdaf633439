"""What the threads of a kernel compiled with `debug_waits` wait for: its records, read while it runs or after it was given up.

The pass `record-waits` lays the records out: four u32 for each thread of the grid, all zero where the thread does not wait. A record of an mbarrier is
written once its wait takes long; its word is the barrier's state at that moment, not now. Of a barrier of CTA, name or cluster the first lane of
each warp writes one for its warp.

An mbarrier's word is opaque by PTX's word. `BarrierWord` reads it as ptxas itself does: the code it makes of `mbarrier.init` and `mbarrier.pending_count` for
sm_90a shows arrivals expected (bits 1 to 20) and still pending (bits 43 to 62), both as 2^20 less the count. The phase's parity (bit 63) and the
transaction count (bits 21 to 41, in two's complement, below 0 while bytes are outstanding) were observed on an H200. The simulator keeps its barriers
elsewhere: its word holds nothing, and its own report tells more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from fa4dsl.runtime.manifest import Manifest, Wait

WORDS = 4
"""u32 of one thread."""
LARGEST = 1 << 30
"""Bytes of one launch's records: on a GPU they are page-locked memory, which is not to be had without end."""
SHOWN = 48
"""Rows of a table."""

_COUNT = 1 << 20
_TRANSACTIONS = 21


@dataclass(frozen=True)
class BarrierWord:
    """An mbarrier's 64 bits, read as described above: observed, documented nowhere."""

    word: int

    @property
    def expected(self) -> int:
        """Arrivals of a phase."""
        return _COUNT - (self.word >> 1 & _COUNT - 1)

    @property
    def pending(self) -> int:
        """Arrivals that the current phase lacks."""
        return _COUNT - (self.word >> 43 & _COUNT - 1)

    @property
    def parity(self) -> int:
        """Of the current, incomplete phase."""
        return self.word >> 63

    @property
    def outstanding(self) -> int:
        """Bytes that the current phase still waits for; below 0 where more came than were expected."""
        bits = self.word >> 21 & (1 << _TRANSACTIONS) - 1
        return (1 << _TRANSACTIONS) - bits if bits >> (_TRANSACTIONS - 1) else -bits


@dataclass(frozen=True)
class WaitRecord:
    """Threads `first` to `last` (linear in their CTA; CTAs linear in the grid) that wait at one place for one thing."""

    wait: Wait
    cta: int
    first: int
    last: int
    parity: int
    """mbarrier: the parity waited for."""
    index: int
    """mbarrier: which of the array's."""
    word: BarrierWord | None
    """mbarrier on a GPU: its state when the wait was recorded."""

    @property
    def warps(self) -> tuple[int, int]:
        return self.first // 32, self.last // 32


def words_needed(manifest: Manifest, grid: tuple[int, int, int]) -> int:
    """u32 of a launch's buffer. Raises R100 where they are more than 1 GiB."""
    words = prod(grid) * prod(manifest.block) * WORDS
    if words * 4 > LARGEST:
        fail("R100", manifest.place, kernel=manifest.name, grid=grid, size=words * 4, limit=LARGEST)
    return words


def decode(buffer: Any, manifest: Manifest, hardware: bool) -> tuple[WaitRecord, ...]:
    """The records in a buffer, by CTA and thread; neighbouring threads that wait alike together.

    `hardware`: whether an mbarrier's word is a GPU's. Numbers that name no wait, as torn or foreign memory may hold, are left out.
    """
    threads, waits = prod(manifest.block), manifest.waits or ()
    words = np.array(buffer, np.uint32).reshape(-1, WORDS)
    numbers = words[:, 0] & 0x7FFFFFFF
    found: list[WaitRecord] = []
    for slot in np.flatnonzero((numbers > 0) & (numbers <= len(waits))).tolist():
        first, index, low, high = (int(word) for word in words[slot])
        wait = waits[(first & 0x7FFFFFFF) - 1]
        cta, thread = divmod(slot, threads)
        mbarrier = wait.kind == "mbarrier"
        word = BarrierWord(high << 32 | low) if mbarrier and hardware else None
        # A warp's barrier is recorded by its first lane.
        last = thread if mbarrier else min(thread | 31, threads - 1)
        record = WaitRecord(wait, cta, thread, last, first >> 31, index, word)
        before = found[-1] if found else None
        if before is not None and (before.last + 1, _key(before)) == (thread, _key(record)):
            found[-1] = WaitRecord(wait, cta, before.first, last, record.parity, index, word)
        else:
            found.append(record)
    return tuple(found)


def _key(record: WaitRecord) -> tuple[Any, ...]:
    return record.wait, record.cta, record.parity, record.index, record.word


def table(records: Sequence[WaitRecord]) -> list[str]:
    """The records as lines of text, each with waiter, warps, role, line, barrier and phase; what repeats itself in other CTAs stands once."""
    if not records:
        return ["no wait is recorded"]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for record in records:
        groups.setdefault((record.first, record.last, *_key(record)[:1], *_key(record)[2:]), []).append(record.cta)
    rows = [("CTA", "threads", "warps", "role", "waits at", "for", "phase", "state when it began to take long")]
    for (first, last, wait, parity, index, word), ctas in groups.items():
        warps = (first // 32, last // 32)
        rows.append(
            (
                _ranges(sorted(ctas)),
                f"{first}-{last}" if last > first else str(first),
                f"{warps[0]}-{warps[1]}" if warps[1] > warps[0] else str(warps[0]),
                wait.role or "-",
                f"{wait.file.rpartition('/')[2]}:{wait.line}" if wait.file else "-",
                f"mbarrier {wait.name}[{index}]" if wait.kind == "mbarrier" else wait.name,
                f"parity {parity}" if wait.kind == "mbarrier" else "-",
                _state(word),
            )
        )
    left_out = len(rows) - 1 - SHOWN
    rows = rows[: SHOWN + 1]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, f"{left_out} more groups of waiters are left out"] if left_out > 0 else lines


def _state(word: BarrierWord | None) -> str:
    if word is None:
        return "-"
    return f"{word.pending} of {word.expected} arrivals pending, phase parity {word.parity}, {word.outstanding} bytes outstanding"


def _ranges(numbers: Sequence[int]) -> str:
    """0, 1, 2, 5 as `0-2, 5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    texts = [f"{low}-{high}" if high > low else str(low) for low, high in parts]
    return ", ".join(texts if len(texts) <= 6 else [*texts[:6], "..."])


class LiveRecords:
    """The records of one launch. `read` gives the buffer's present words, also while the kernel runs or hangs."""

    def __init__(self, manifest: Manifest, grid: tuple[int, int, int], read: Callable[[], Any], hardware: bool) -> None:
        self.manifest = manifest
        self.grid = grid
        self._read = read
        self._hardware = hardware
        with _guard:
            _live.add(self)

    def records(self) -> tuple[WaitRecord, ...]:
        """Who waits now."""
        return decode(self._read(), self.manifest, self._hardware)

    def lines(self) -> list[str]:
        return table(self.records())

    def dump(self) -> str:
        """The table of who waits now, below the launch's name."""
        return "\n".join([f"{self.manifest.name} over grid {self.grid}:", *(f"  {line}" for line in self.lines())])


_live: weakref.WeakSet[LiveRecords] = weakref.WeakSet()
_guard = threading.Lock()


def dump_waits() -> str:
    """Who waits now, in every launch of a kernel compiled with `debug_waits` whose result is kept or which is being waited for.

    From any thread, at any time: it reads host memory and asks the GPU nothing. Empty where there is no such launch.
    """
    with _guard:
        live = list(_live)
    return "\n".join(item.dump() for item in live)
