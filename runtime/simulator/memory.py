"""The bytes: one flat arena for each state space, with the ranges that may be touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.layout import BUFFER_ALIGNMENT, BUFFER_GUARD, GLOBAL_BASE, POISON, round_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from fa4dsl.runtime.simulator.grid import Grid
    from fa4dsl.runtime.simulator.selection import Ints

    Bytes = npt.NDArray[np.uint8]


HEAP_BYTES = 8 << 20
"""The device's heap, of the driver's default size."""
HEAP_ALIGNMENT = 16


class Arena:
    """A byte array seen also as 16-, 32- and 64-bit words. With `shadow`, remembers which bytes were written."""

    def __init__(self, size: int, fill: int = 0, shadow: bool = False) -> None:
        size = round_up(max(size, 64), 64)
        self.size = size
        self.bytes: Bytes = np.full(size, fill, np.uint8) if fill else np.zeros(size, np.uint8)
        self.views: dict[int, npt.NDArray[Any]] = {width: self.bytes.view(f"u{width}") for width in (1, 2, 4, 8)}
        self.written: Arena | None = Arena(size) if shadow else None

    def rows(self, width: int, count: int) -> npt.NDArray[Any]:
        """The bytes as rows of `count` words of `width` bytes."""
        return self.views[width].reshape(-1, count)

    def mark(self, offsets: Ints, size: int) -> None:
        """Notes that `size` bytes at each offset have been written."""
        if self.written is not None:
            if size in (1, 2, 4, 8):
                self.written.views[size][offsets >> (size.bit_length() - 1)] = self.written.views[size].dtype.type((1 << 8 * size) - 1)
            else:
                self.written.bytes[(offsets[:, None] + np.arange(size)).reshape(-1)] = 255


class Buffers:
    """Where the launch's buffers and the module's global variables lie in the global arena."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.starts: list[int] = []
        self.sizes: list[int] = []
        self.end = BUFFER_GUARD
        self.heap_start = 0
        self.multicast: list[tuple[int, int, tuple[int, ...]]] = []
        """(start, size, starts of the copies) of each area of multicast addresses."""

    def place(self, name: str, size: int, alignment: int = BUFFER_ALIGNMENT) -> int:
        """Reserves `size` bytes; returns the arena offset."""
        start = round_up(self.end, max(alignment, BUFFER_ALIGNMENT))
        self.names.append(name)
        self.starts.append(start)
        self.sizes.append(size)
        self.end = start + size + BUFFER_GUARD
        return start

    def place_multicast(self, name: str, size: int, copies: tuple[int, ...]) -> int:
        """Reserves addresses that stand for several buffers; ordinary accesses find nothing there."""
        start = self.place(f"{name} (multicast)", size)
        self.sizes[-1] = 0
        self.multicast.append((start, size, copies))
        return start

    def reserve_heap(self) -> None:
        """Keeps room for device code's malloc, behind all buffers."""
        self.heap_start = round_up(self.end, BUFFER_ALIGNMENT)
        self.end = self.heap_start + HEAP_BYTES + BUFFER_GUARD

    def add(self, name: str, start: int, size: int) -> int:
        """Room in the heap becomes a buffer, behind all others; returns its index."""
        self.names.append(name)
        self.starts.append(start)
        self.sizes.append(size)
        self.finish()
        return len(self.names) - 1

    def end_of(self, index: int) -> None:
        """A buffer of the heap is freed."""
        self.names[index] += ", freed"
        self.sizes[index] = 0
        self.finish()

    def finish(self) -> None:
        """Call once all are placed."""
        self.start_array = np.array(self.starts or [0], np.int64)
        self.end_array = np.array([s + n for s, n in zip(self.starts, self.sizes, strict=True)] or [0], np.int64)

    def find(self, offset: int) -> int | None:
        """Index of the buffer that holds arena byte `offset`."""
        index = int(np.searchsorted(self.start_array, offset, "right")) - 1
        if index >= 0 and self.names and offset < self.end_array[index]:
            return index
        return None

    def inside(self, offsets: Ints, size: int) -> npt.NDArray[np.bool_]:
        """Whether each range of `size` bytes lies in one buffer."""
        index = np.searchsorted(self.start_array, offsets, "right") - 1
        good: npt.NDArray[np.bool_] = (index >= 0) & (offsets + size <= self.end_array[np.maximum(index, 0)])
        return good

    def describe(self, offset: int, size: int) -> str:
        """Where an address that is not inside any buffer lies, in words."""
        index = int(np.searchsorted(self.start_array, offset, "right")) - 1
        if self.names and index >= 0:
            over = offset + size - int(self.end_array[index])
            if over < 1 << 32:
                return f"{over} bytes past the end of {self.names[index]!r} ({self.sizes[index]} bytes)"
        if self.names and 0 < self.starts[0] - offset < 1 << 20:
            return f"{self.starts[0] - offset} bytes before {self.names[0]!r}"
        return "outside every buffer"


class Memory:
    """All state spaces of a wave. `globals` lives for the whole launch; shared and local memory are poisoned anew for each wave."""

    def __init__(self, grid: Grid, buffers: Buffers, constant_bytes: int, local_bytes: int, shadow: bool) -> None:
        self.buffers = buffers
        self.globals = Arena(buffers.end + 64)
        self.constants = Arena(constant_bytes)
        self.constant_bytes = constant_bytes
        # whether shared memory was written is the checker's to know, which sees the asynchronous writers too
        self.shared = Arena(grid.wave_ctas * grid.shared_stride, POISON)
        self.shared_bytes = grid.shared_bytes
        self.local_bytes = local_bytes
        self.local_stride = round_up(max(local_bytes, 16), 16)
        self.local = Arena(grid.width * self.local_stride if local_bytes else 64, POISON, shadow)

    def reset_wave(self) -> None:
        """Poisons what a new block finds."""
        for arena in (self.shared, self.local):
            arena.bytes[:] = POISON
            if arena.written is not None:
                arena.written.bytes[:] = 0

    def global_address(self, offset: int) -> int:
        return GLOBAL_BASE + offset
