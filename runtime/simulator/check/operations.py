"""Asynchronous operations: what each reads and writes, who issued it, who may rely on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import AsyncKind, Range, SharedLayout

GENERIC_KINDS = frozenset({"st_async", "red_async", "cp_async"})
"""Asynchronous, but in the generic proxy: no proxy fence."""

WORDS = {
    "tma_load": "TMA load",
    "tma_store": "TMA store",
    "tma_reduce": "TMA reduction",
    "bulk_load": "bulk copy to shared memory",
    "bulk_store": "bulk copy to global memory",
    "bulk_push": "bulk copy into a peer's shared memory",
    "bulk_reduce": "bulk reduction",
    "st_async": "st.async",
    "red_async": "red.async",
    "cp_async": "cp.async",
    "wgmma": "wgmma",
    "prefetch": "prefetch",
}


@dataclass(slots=True)
class Operation:
    number: int
    kind: AsyncKind
    site: Instruction
    thread: int
    group: npt.NDArray[np.int64] | None = None
    reads: Sequence[Range] = ()
    writes: Sequence[Range] = ()
    layouts: Sequence[SharedLayout] = ()
    source_ctas: frozenset[int] = frozenset()
    """CTAs whose shared memory it reads."""
    target_ctas: frozenset[int] = frozenset()
    """CTAs whose shared memory it writes."""
    read_done: bool = False
    write_done: bool = False
    destinations: npt.NDArray[np.int64] | None = None
    """cp.async, st.async: shared addresses, one for each thread in `group`."""
    size: int = 0
    parts: dict[int, int] = field(default_factory=dict)
    """Multicast: number of the operation that stands for the copy into each CTA."""
    epoch: int = 0
    """Epoch of the issuing thread at the issue."""
    waited: bool = field(default=False)
    """Some thread waited for its bulk group."""

    def issuer_of(self, address: int) -> int:
        """The thread whose part of the operation covers a shared address."""
        if self.destinations is not None and self.group is not None:
            inside = np.flatnonzero((self.destinations <= address) & (address < self.destinations + self.size))
            if len(inside):
                return int(self.group[inside[0]])
        return self.thread

    @property
    def words(self) -> str:
        return WORDS[self.kind]
