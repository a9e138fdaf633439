"""Tensor maps that the kernel itself changes: the copies that read them must be ordered after the change and fenced for the tensormap proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.clocks import distinct
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.shadow import SITE_SHIFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.memory_check import SpaceCheck
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.shadow import Granules

    Ints = npt.NDArray[np.int64]

MAP_BYTES = 128


class TensorMaps:
    """For each thread the state of a map that its last acquire fence saw."""

    def __init__(self, findings: Findings, naming: Naming, check: SpaceCheck, sites: Sequence[Instruction]) -> None:
        self.findings = findings
        self.naming = naming
        self.check = check
        self.sites = sites
        self.acquired: dict[tuple[int, int], bytes] = {}

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
        if self.acquired.get((thread, address)) != self._state(address):
            first = int(np.flatnonzero(writers)[0])
            writer = self.sites[int(self.check.shadow.writer_info[rows[first]]) >> SITE_SHIFT]
            frames = [
                *self.naming.frames(writer, f"changes the tensor map, by {self.naming.thread(int(writers[first]) - 1)}"),
                *self.naming.frames(site, f"copies through it, issued by {self.naming.thread(thread)}"),
            ]
            fields = {"where": self.naming.address("global", address), "change": self.naming.line(writer), "use": self.naming.line(site)}
            self.findings.add(("S043", self.naming.place(writer), self.naming.place(site)), build("S043", frames, **fields))
        return True
