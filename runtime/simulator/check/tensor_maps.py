"""Tensor maps that the kernel itself changes: the copies that read them must be ordered after the change and fenced for the tensormap proxy."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.clocks import distinct
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.shadow import SITE_SHIFT
from fa4dsl.runtime.simulator.check.token import HB

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.memory_check import SpaceCheck
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.shadow import Granules
    from fa4dsl.runtime.simulator.check.token import ReleaseToken

    Ints = npt.NDArray[np.int64]

MAP_BYTES = 128
RELEASES = 4096
"""How many release fences are kept; what older ones have released is not asked for."""


class TensorMaps:
    """For each thread the state of a map that its last acquire fence saw."""

    def __init__(self, findings: Findings, naming: Naming, check: SpaceCheck, sites: Sequence[Instruction]) -> None:
        self.findings = findings
        self.naming = naming
        self.check = check
        self.sites = sites
        self.acquired: dict[tuple[int, int], bytes] = {}
        self.released: deque[ReleaseToken] = deque(maxlen=RELEASES)
        """What each release fence of the tensormap proxy has published."""

    def _granules(self, address: int) -> Granules:
        return self.check.shadow.locate(np.array([address], np.int64), MAP_BYTES)

    def _state(self, address: int) -> bytes:
        """Who wrote the map's bytes, as an opaque value."""
        rows = self._granules(address).rows
        return bytes(self.check.shadow.writer[rows].tobytes())

    def acquire(self, threads: Ints, addresses: npt.NDArray[np.int64]) -> None:
        """fence.proxy.tensormap::generic.acquire [address], 128."""
        for address in distinct(addresses):
            state = self._state(address)
            for thread in threads[addresses == address].tolist():
                self.acquired[thread, address] = state

    def used(self, site: Instruction, thread: int, address: int) -> bool:
        """A tensor copy reads the map at a global address: whether the kernel has written it (then the read takes part in the race check)."""
        rows = self._granules(address).rows
        writers = self.check.shadow.writer[rows] >> 32
        if not writers.any():
            return False
        lacks, index = "acquire of it in the issuing thread since", 0
        if self.acquired.get((thread, address)) == self._state(address):
            kept = self._unreleased(thread, rows)
            if kept is None:
                return True
            lacks, index = "release of the change that comes before the issuing thread's acquire", kept
        else:
            index = int(np.flatnonzero(writers)[0])
        writer = self.sites[int(self.check.shadow.writer_info[rows[index]]) >> SITE_SHIFT]
        frames = [
            *self.naming.frames(writer, f"changes the tensor map, by {self.naming.thread(int(writers[index]) - 1)}"),
            *self.naming.frames(site, f"copies through it, issued by {self.naming.thread(thread)}"),
        ]
        fields = {
            "where": self.naming.address("global", address),
            "change": self.naming.line(writer),
            "use": self.naming.line(site),
            "lacks": lacks,
        }
        self.findings.add(("S043", self.naming.place(writer), self.naming.place(site)), build("S043", frames, **fields))
        return True

    def _unreleased(self, thread: int, rows: Ints) -> int | None:
        """The first of the map's bytes that another thread has changed, with no release fence of the tensormap proxy behind it that `thread` is ordered after."""
        if len(self.released) == RELEASES:
            return None
        of, clocks = self.check.clocks.of, self.check.clocks
        entries: Ints
        first: Ints
        entries, first = np.unique(self.check.shadow.writer[rows], return_index=True)
        for entry, index in zip(entries.tolist(), first.tolist(), strict=True):
            writer, epoch = (entry >> 32) - 1, entry & 0xFFFFFFFF
            if not 0 <= writer < of.count or writer == thread:
                continue
            cluster, column = int(of.cluster[writer]), int(of.column[writer])
            if not any(
                token.knows(cluster, column, epoch)
                and clocks.knows(HB, np.full(len(token.threads), thread, np.int64), token.threads, token.epochs).any()
                for token in reversed(self.released)
            ):
                return int(index)
        return None
