"""Strong accesses to ordinary memory: release and acquire patterns, and the chains of read-modify-writes that carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.sync import ACQUIRES, RELEASES, Synchronisation

if TYPE_CHECKING:
    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.token import ReleaseToken
    from fa4dsl.runtime.simulator.events import Access, Order, Scope, Space

    Ints = npt.NDArray[np.int64]


class Observations:
    """For each location the tokens of the last strong write and of the read-modify-write chain before it."""

    def __init__(self, sync: Synchronisation) -> None:
        self.sync = sync
        self.tokens: dict[Space, dict[int, list[ReleaseToken]]] = {"shared": {}, "global": {}}
        self._plain: dict[tuple[Space, int], tuple[Instruction, int]] = {}
        """By location: a relaxed or volatile store that released nothing, with its thread."""
        self.flags: dict[tuple[Instruction, Instruction], tuple[int, int]] = {}
        """Pairs of such a store and a load that saw it, with their threads: a flag that orders nothing, for mends."""
        self.looked = np.full(sync.of.count, -1, np.int64)
        """By thread twice the address that it last read by a strong access, one more for global memory; -1 for none."""

    def wave_start(self) -> None:
        """Other CTAs begin: the shared memory of those before is gone."""
        self.tokens["shared"].clear()
        self._plain = {place: store for place, store in self._plain.items() if place[0] != "shared"}

    def strong(
        self, site: Instruction, threads: Ints, space: Space, addresses: npt.NDArray[np.int64], access: Access, order: Order, scope: Scope
    ) -> None:
        """After the race check of a strong access, in the machine's order (lanes of one instruction one after the other)."""
        if space == "shared" and scope in ("gpu", "sys"):
            scope = "cluster"
        held = self.tokens[space]
        reads = access != "write" and site.name != "red"
        writes = access != "read"
        if reads:
            self.looked[threads] = 2 * addresses + (space == "global")
        releases = writes and (order in RELEASES or (self.sync.any_published and bool(self.sync.published_of[:, threads].any())))
        if access != "atomic":
            self._flag(site, threads, space, addresses, access, releases)
        if not held and not releases:
            return
        if access == "atomic" and reads and order in ACQUIRES and (releases or len(threads) > 1):
            for i in range(len(threads)):
                self._one(site, threads[i : i + 1], int(addresses[i]), held, order, scope, releases, access)
            return
        unique, inverse = np.unique(addresses, return_inverse=True)
        for number, address in enumerate(unique.tolist()):
            if not releases and address not in held:
                continue
            mine = threads[inverse.reshape(-1) == number]
            self._one(site, mine, address, held, order, scope, releases, access, reads)

    def _flag(
        self, site: Instruction, threads: Ints, space: Space, addresses: npt.NDArray[np.int64], access: Access, releases: bool
    ) -> None:
        key = (space, int(addresses[0]))
        if access == "write":
            if releases:
                self._plain.pop(key, None)
            else:
                self._plain[key] = (site, int(threads[0]))
        elif self._plain:
            seen = self._plain.get(key)
            if seen is not None and seen[1] != int(threads[0]):
                self.flags[seen[0], site] = (seen[1], int(threads[0]))

    def _one(
        self,
        site: Instruction,
        threads: Ints,
        address: int,
        held: dict[int, list[ReleaseToken]],
        order: Order,
        scope: Scope,
        releases: bool,
        access: Access,
        reads: bool = True,
    ) -> None:
        tokens = held.get(address)
        if reads and access != "write" and tokens:
            self.sync.join(site, threads, tokens, scope, "acquire" if order in ACQUIRES else "relaxed")
        if access == "read":
            return
        if access == "write" and tokens:
            # A plain strong store ends the chain, except for the storing thread's own earlier release.
            last = int(threads[-1])
            tokens = held[address] = [token for token in tokens if len(token.threads) == 1 and int(token.threads[0]) == last]
        if releases:
            held.setdefault(address, []).append(
                self.sync.release(site, threads, scope, "release" if order in RELEASES else "relaxed", "strong write")
            )
            if len(held[address]) > 4096:
                del held[address][:2048]
