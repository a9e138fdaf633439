"""From register values to bytes in an arena, with bounds and alignment checks.

A `Resolver` is made once for an instruction's address operand. Called with threads it returns byte offsets into its arena, or ends the run with
S010 or S011 and the source line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fa4dsl.runtime.simulator.layout import (
    CONSTANT_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    RANK_SHIFT,
    RESERVED_SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
)
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection, narrow

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Space
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.memory import Arena

Resolve: TypeAlias = Callable[[Selection], Ints]
OFFSET_MASK = (1 << RANK_SHIFT) - 1
M64 = (1 << 64) - 1


class Resolver:
    """How an instruction reaches one state space.

    `space`: "global", "shared" (own block), "shared::cluster", "local" or "const". `resolve(threads)` gives arena offsets.
    """

    def __init__(
        self, machine: Machine, site: Instruction, space: str, row: Row, offset: int, size: int, alignment: int | None = None
    ) -> None:
        self.machine = machine
        self.site = site
        self.space = space
        self.row = row
        self.offset = offset
        self.size = size
        self.alignment = size if alignment is None else alignment
        memory = machine.memory
        self.arena: Arena = {
            "global": memory.globals, "shared": memory.shared, "shared::cluster": memory.shared, "local": memory.local, "const": memory.constants,
        }[space]  # fmt: skip
        self.resolve: Resolve = {
            "global": self._global, "shared": self._shared, "shared::cluster": self._cluster, "local": self._local, "const": self._constant,
        }[space]()  # fmt: skip

    @property
    def event_space(self) -> Space | None:
        """The checker's name of the space, None for what it does not watch."""
        return "global" if self.space == "global" else "shared" if self.space.startswith("shared") else None

    def event_base(self) -> int:
        """What to add to arena offsets to get the checker's addresses."""
        grid = self.machine.grid
        return grid.first_cta * grid.shared_stride if self.space.startswith("shared") else 0

    def values(self, threads: Selection) -> Ints:
        """The addresses as the program computed them."""
        raw = self.row[threads].astype(np.int64) + self.offset
        return raw & 0xFFFFFFFF if self.row.dtype == np.uint32 else raw

    # -- errors

    def outside(self, threads: Selection, bad: np.ndarray[Any, np.dtype[np.bool_]], where: str) -> None:
        index = int(np.flatnonzero(bad)[0])
        thread = int(self.machine.grid.arange[threads][index])
        address = int(self.values(threads)[index]) & M64
        self.machine.fault("S010", self.site, thread, space=self.space, address=hex(address), size=self.size, where=where)

    def misaligned(self, threads: Selection, offsets: Ints) -> None:
        bad = (offsets & (self.alignment - 1)) != 0
        index = int(np.flatnonzero(bad)[0])
        thread = int(self.machine.grid.arange[threads][index])
        address = int(self.values(threads)[index]) & M64
        self.machine.fault("S011", self.site, thread, space=self.space, address=hex(address), alignment=self.alignment)

    # -- spaces

    def _global(self) -> Resolve:
        row, size, mask = self.row, self.size, self.alignment - 1
        buffers = self.machine.memory.buffers
        base = np.uint64((GLOBAL_BASE - self.offset) & M64)
        known = [0, 0]

        def resolve(threads: Selection) -> Ints:
            values = row[threads]
            if values.dtype != np.uint64:
                values = values.astype(np.uint64)
            offsets = (values - base).view(np.int64)
            low, high = int(offsets.min()), int(offsets.max()) + size
            if low < known[0] or high > known[1]:
                index = buffers.find(low)
                if index is not None and high <= buffers.end_array[index]:
                    known[0], known[1] = int(buffers.start_array[index]), int(buffers.end_array[index])
                else:
                    good = buffers.inside(offsets, size)
                    if not good.all():
                        worst = int(offsets[np.flatnonzero(~good)[0]])
                        self.outside(threads, ~good, buffers.describe(worst, size))
            if mask and int(np.bitwise_or.reduce(offsets)) & mask:
                self.misaligned(threads, offsets)
            return offsets

        return resolve

    def _shared(self) -> Resolve:
        grid = self.machine.grid
        row, size, mask = self.row, self.size, self.alignment - 1
        wide = row.dtype == np.uint64
        limit = self.machine.memory.shared_bytes - size
        prefix: Any = (grid.shared_prefix - self.offset).astype(row.dtype)
        if grid.cluster_size == 1:
            prefix = np.broadcast_to(prefix[:1], prefix.shape)
        base = grid.shared_base
        single = grid.wave_ctas == 1

        def resolve(threads: Selection) -> Ints:
            offsets = row[threads] - prefix[threads]
            if int(offsets.max()) > limit:
                # an address without the rank bits also means the own block
                values = self.values(threads)
                offsets = (values & OFFSET_MASK) - RESERVED_SHARED
                high = values >> RANK_SHIFT
                other = (high != 0) & (high != grid.rank[threads]) | (offsets < 0) | (offsets > limit)
                if other.any():
                    self.outside(threads, other, self._shared_reason(values, other))
            if mask and int(np.bitwise_or.reduce(offsets)) & mask:
                self.misaligned(threads, offsets.astype(np.int64))
            if single:
                alone: Ints = offsets.astype(np.int64)
                return alone
            physical: Ints = (offsets.astype(np.int64) if wide else offsets) + base[threads]
            return physical

        return resolve

    def _shared_reason(self, values: Ints, bad: np.ndarray[Any, np.dtype[np.bool_]]) -> str:
        value = int(values[bad][0])
        limit = self.machine.memory.shared_bytes
        if 0 <= value >> RANK_SHIFT < self.machine.grid.cluster_size and 0 <= (value & OFFSET_MASK) - RESERVED_SHARED <= limit - self.size:
            return "in another block: a shared::cluster address needs an instruction with .shared::cluster"
        return f"outside the block's {limit} bytes of shared memory"

    def _cluster(self) -> Resolve:
        grid = self.machine.grid
        limit = self.machine.memory.shared_bytes - self.size
        mask = self.alignment - 1
        first = (grid.cta - grid.rank).astype(np.int64)

        def resolve(threads: Selection) -> Ints:
            values = self.values(threads)
            rank = values >> RANK_SHIFT
            offsets = (values & OFFSET_MASK) - RESERVED_SHARED
            bad = (rank < 0) | (rank >= grid.cluster_size) | (offsets < 0) | (offsets > limit)
            if bad.any():
                self.outside(
                    threads,
                    bad,
                    f"outside the cluster's shared memory ({grid.cluster_size} blocks of {self.machine.memory.shared_bytes} bytes)",
                )
            if mask and int(np.bitwise_or.reduce(offsets)) & mask:
                self.misaligned(threads, offsets)
            physical: Ints = (first[threads] + rank) * grid.shared_stride + offsets
            return physical

        return resolve

    def _local(self) -> Resolve:
        memory = self.machine.memory
        base = self.machine.grid.arange * memory.local_stride
        limit = memory.local_bytes - self.size
        mask = self.alignment - 1

        def resolve(threads: Selection) -> Ints:
            offsets = self.values(threads)
            bad = (offsets < 0) | (offsets > limit)
            if bad.any():
                self.outside(threads, bad, f"outside the thread's {memory.local_bytes} bytes of local memory")
            if mask and int(np.bitwise_or.reduce(offsets)) & mask:
                self.misaligned(threads, offsets)
            physical: Ints = offsets + base[threads]
            return physical

        return resolve

    def _constant(self) -> Resolve:
        limit = self.machine.memory.constant_bytes - self.size
        mask = self.alignment - 1

        def resolve(threads: Selection) -> Ints:
            offsets = self.values(threads)
            bad = (offsets < 0) | (offsets > limit)
            if bad.any():
                self.outside(threads, bad, "outside the kernel's parameters and constants")
            if mask and int(np.bitwise_or.reduce(offsets)) & mask:
                self.misaligned(threads, offsets)
            return offsets

        return resolve


WINDOWS = (
    ("global", GLOBAL_BASE, CONSTANT_WINDOW),
    ("const", CONSTANT_WINDOW, LOCAL_WINDOW),
    ("local", LOCAL_WINDOW, SHARED_WINDOW),
    ("shared", SHARED_WINDOW, SHARED_WINDOW + WINDOW_BYTES),
)


class Generic:
    """A generic address: sends each thread to the window that its address lies in."""

    def __init__(self, machine: Machine, site: Instruction, row: Row, offset: int, size: int, alignment: int | None = None) -> None:
        self.machine, self.site, self.row, self.offset = machine, site, row, offset
        self.resolvers = {
            "global": Resolver(machine, site, "global", row, offset, size, alignment),
            "const": Resolver(machine, site, "const", row, offset - CONSTANT_WINDOW, size, alignment),
            "local": Resolver(machine, site, "local", row, offset - LOCAL_WINDOW, size, alignment),
            "shared": Resolver(machine, site, "shared::cluster", row, offset - SHARED_WINDOW, size, alignment),
        }

    def pieces(self, threads: Selection) -> list[tuple[Resolver, Selection]]:
        """The spaces touched, with their threads."""
        values = self.row[threads].astype(np.uint64) + np.uint64(self.offset & M64)
        low, high = int(values.min()), int(values.max())
        found: list[tuple[Resolver, Selection]] = []
        for name, start, end in WINDOWS:
            if start <= low and high < end:
                return [(self.resolvers[name], threads)]
            mask = (values >= np.uint64(start)) & (values < np.uint64(end))
            if mask.any():
                found.append((self.resolvers[name], narrow(threads, mask)))
        stray = values < np.uint64(GLOBAL_BASE)
        stray |= values >= np.uint64(SHARED_WINDOW + WINDOW_BYTES)
        if stray.any():
            self.resolvers["global"].outside(threads, stray, self._stray_reason(int(values[stray][0])))
        return found

    def _stray_reason(self, value: int) -> str:
        if value < self.machine.memory.constant_bytes:
            return "a null pointer" + (
                ", or a parameter's or constant's own address, which cvta makes a generic one" if value % 4 == 0 else ""
            )
        if value < WINDOW_BYTES:
            return "outside every memory window: an address of one state space, which cvta makes a generic one"
        return "outside every memory window"


Target: TypeAlias = "Resolver | Generic"


def pieces(target: Target, threads: Selection) -> list[tuple[Resolver, Selection]]:
    """The (resolver, threads) pairs of an access."""
    return target.pieces(threads) if isinstance(target, Generic) else [(target, threads)]
