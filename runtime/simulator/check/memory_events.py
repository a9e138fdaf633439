"""Accesses by threads: races, never written bytes, lanes that meet, and the operations on mbarriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.barrier_objects import BarrierObjects
from fa4dsl.runtime.simulator.check.causes import Causes
from fa4dsl.runtime.simulator.check.clocks import Clocks
from fa4dsl.runtime.simulator.check.duplicates import Duplicates
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.memory_check import Conflict, Observer, Side, SpaceCheck
from fa4dsl.runtime.simulator.check.naming import Naming
from fa4dsl.runtime.simulator.check.numbering import SCOPES, numbered
from fa4dsl.runtime.simulator.check.observation import Observations
from fa4dsl.runtime.simulator.check.operations import Operation
from fa4dsl.runtime.simulator.check.peers import Peers
from fa4dsl.runtime.simulator.check.shadow import pack
from fa4dsl.runtime.simulator.check.sync import Step, Synchronisation
from fa4dsl.runtime.simulator.check.tensor_maps import MAP_BYTES, TensorMaps
from fa4dsl.runtime.simulator.check.tiles import Tiles
from fa4dsl.runtime.simulator.check.token import Knowledge, ReleaseToken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.shadow import Granules
    from fa4dsl.runtime.simulator.events import Access, Geometry, Order, Scope, Space

    Ints = npt.NDArray[Any]


class MemoryEvents:
    """The checker's state, and its hooks for accesses."""

    def __init__(self, geometry: Geometry, naming: Naming | None = None, strict: bool = False) -> None:
        self.geometry = geometry
        self.of = numbered(geometry)
        self.naming = naming or Naming(self.of, max(geometry.shared_stride, 1))
        self.findings = Findings(strict)
        self.not_modelled: dict[str, Instruction] = {}
        self.clocks = Clocks(self.of)
        self.sync = Synchronisation(self.of, self.clocks)
        self.sites: list[Instruction] = []
        self._site_numbers: dict[Instruction, int] = {}
        self._read_only: list[bool] = []
        """By site: whether it loads through the read-only path."""
        self.operations: list[Operation] = []
        self.multicasts: dict[tuple[int, int], Knowledge] = {}
        """What the completion of a multicast (by serial of its token) tells in each CTA."""
        self.named_phases: dict[tuple[int, int], Sequence[ReleaseToken] | Step] = {}
        """By CTA and barrier who arrived in the last phase; a step may be that of many CTAs."""
        self._conflict_keys: set[tuple[int, int, bool, bool, bool, bool]] = set()
        stride = max(geometry.shared_stride, 1)
        self.stride = stride
        self.spaces: dict[Space, SpaceCheck] = {
            "shared": SpaceCheck("shared", stride * (geometry.wave_ctas or geometry.ctas), stride, self.clocks, self._conflict),
            "global": SpaceCheck("global", geometry.global_bytes, stride, self.clocks, self._conflict),
        }
        self.observations = Observations(self.sync)
        self.barriers = BarrierObjects(self.of, self.clocks, self.sync, self.findings, self.naming, self.spaces["shared"].shadow)
        self.peers = Peers(self.of, self.clocks, self.findings, self.naming)
        self.tiles = Tiles(self.findings, self.naming)
        self.duplicates = Duplicates(self.clocks, self.findings, self.naming)
        self.causes = Causes(self.of, self.clocks, self.sync, self.findings, self.naming, self.sites, self.operations)
        self.causes.flags = self.observations.flags
        self.tensor_maps = TensorMaps(self.findings, self.naming, self.spaces["global"], self.sites)
        self.map_reads: dict[int, int] = {}
        """By thread: the map, written by the kernel, that its next tensor copy reads."""
        self.first_operation = self.of.count + 1
        self.finished = False

    # -- life
    def wave_start(self, first_cta: int, ctas: int) -> None:
        """What is kept of shared memory, of its barriers and of what threads know is of the CTAs that run: those before `first_cta` have ended."""
        self.clocks.wave_start(first_cta, ctas)
        if first_cta:
            self.spaces["shared"].shadow.restart(first_cta * self.stride)
            self.barriers.wave_start()
            self.observations.wave_start()
            self.sync.wave_start()
            self.named_phases.clear()

    # -- bookkeeping
    def _site(self, site: Instruction) -> int:
        number = self._site_numbers.get(site)
        if number is None:
            number = self._site_numbers[site] = len(self.sites)
            self.sites.append(site)
            self._read_only.append(site.name == "ld" and "nc" in site.modifiers)
        return number

    def _conflict(self, conflict: Conflict) -> None:
        prior, current = conflict.prior, conflict.current
        key = (prior.info, current.info, prior.write, current.write, conflict.bridged, self.causes.apart(conflict))
        if key in self._conflict_keys:
            return
        self._conflict_keys.add(key)
        self.causes.explain(conflict)

    # -- memory
    def access(
        self,
        site: Instruction,
        threads: Ints,
        space: Space,
        addresses: Ints,
        size: int,
        access: Access,
        order: Order,
        scope: Scope,
        remote: bool,
        values: Callable[[], npt.NDArray[Any]] | None = None,
    ) -> None:
        if not len(threads):
            return
        shared = space == "shared"
        check = self.spaces[space]
        granules = check.shadow.locate(addresses, size)
        if shared:
            barrier = self.barriers.touched(granules, addresses, size)
            if barrier is not None:
                hit = (addresses < barrier + 8) & (addresses + size > barrier)
                if not (self.barriers.recorded and access == "read" and order == "volatile" and size == 8):
                    self.barriers.overwritten(site, int(threads[hit][0]), barrier, "an ordinary access", access != "read")
                threads, addresses, values = threads[~hit], addresses[~hit], None
                if not len(threads):
                    return
                granules = check.shadow.locate(addresses, size)
            if remote:
                self.peers.access(site, threads, addresses // self.stride, "a remote store" if access == "write" else "a remote access")
        strong = order != "weak" or access == "atomic"
        number = self._site(site)
        info = pack(number, 1 + SCOPES[scope] if strong else 0, access == "atomic", size, remote and shared)
        observer = Observer(granules.spread(self.clocks.marks[threads]), granules.spread(threads))
        if access == "read":
            fresh = check.read(observer, granules, info)
            if shared and fresh is not None:
                self._never_written(site, int(observer.threads[fresh]), check.shadow.address(int(granules.rows[fresh])), size)
            if self._read_only[number] and not shared:
                self._written_before(site, observer, granules, size)
        else:
            if access == "write" and values is not None and len(threads) > 1:
                self._sibling_stores(site, threads, space, addresses, size, values)
            check.write(observer, granules, info)
        if strong:
            self.observations.strong(site, threads, space, addresses, access, order, scope)

    def _written_before(self, site: Instruction, observer: Observer, granules: Granules, size: int) -> None:
        """A load through the read-only path: of bytes that the launch has written it may get what stood there before."""
        shadow, rows = self.spaces["global"].shadow, granules.rows
        written = np.flatnonzero(shadow.writer[rows])
        if not len(written):
            return
        row = int(rows[written[0]])
        side = Side(int(shadow.writer[row]) >> 32, int(shadow.writer[row]) & 0xFFFFFFFF, int(shadow.writer_info[row]), True)
        store = self.causes.access(side, shadow.address(row))
        reader = self.naming.thread(int(observer.threads[written[0]]))
        frames = [
            *self.naming.frames(store.site, self.causes.label(store)),
            *self.naming.frames(site, f"the read-only load, by {reader}"),
        ]
        fields = {
            "mnemonic": site.mnemonic,
            "use": self.naming.line(site),
            "store": self.naming.line(store.site),
            "where": self.naming.address("global", shadow.address(row), size),
        }
        self.findings.add(("S066", self.naming.place(store.site), self.naming.place(site)), build("S066", frames, **fields))

    def _never_written(self, site: Instruction, thread: int, address: int, size: int) -> None:
        key = ("S101", site.ptx_line)
        if key in self.findings:
            return
        frames = self.naming.frames(site, f"the read, by {self.naming.thread(thread)}")
        where = self.naming.address("shared", address, size)
        self.findings.add(
            key, build("S101", frames, mnemonic=site.mnemonic, thread=self.naming.thread(thread), size=size, space="shared", address=where)
        )

    def _sibling_stores(
        self, site: Instruction, threads: Ints, space: Space, addresses: Ints, size: int, values: Callable[[], npt.NDArray[Any]]
    ) -> None:
        """Lanes of one instruction that store to one address: a race unless all store the same value."""
        order = np.argsort(addresses, kind="stable")
        ordered = addresses[order]
        same = np.flatnonzero(ordered[1:] == ordered[:-1])
        if not len(same):
            return
        first, second = order[same], order[same + 1]
        near = self.of.warp[threads[first]] == self.of.warp[threads[second]]
        first, second = first[near], second[near]
        if not len(first):
            return
        stored = values()
        differ = np.flatnonzero((stored[first] != stored[second]).any(axis=1))
        if not len(differ):
            return
        a, b = int(first[differ[0]]), int(second[differ[0]])
        frames = self.naming.frames(
            site, f"the store, by {self.naming.thread(int(threads[a]))} and by {self.naming.thread(int(threads[b]))}"
        )
        self.findings.add(
            ("S026", site.ptx_line),
            build(
                "S026",
                frames,
                line=self.naming.line(site),
                where=self.naming.address(space, int(addresses[a]), size),
                first=int(threads[a]),
                second=int(threads[b]),
            ),
        )

    def mbarrier_access(self, site: Instruction, threads: Ints, addresses: Ints, operation: str, remote: bool) -> None:
        if not len(threads):
            return
        addresses = np.broadcast_to(addresses, threads.shape) if addresses.shape != threads.shape else addresses
        if remote and not (
            operation == "complete_tx" and len(threads) == 1 and self.peers.runs(int(threads[0]), int(addresses[0]) // self.stride)
        ):
            self.peers.access(
                site,
                threads,
                addresses // self.stride,
                f"a remote mbarrier {operation}",
                signals=True,
                asynchronous=operation == "complete_tx",
            )
        if operation in ("init", "inval"):
            info = pack(self._site(site), 0, False, 8, False)
            check = self.spaces["shared"]
            if operation == "inval":
                self.barriers.operation(site, threads, addresses, operation)
            granules = check.shadow.locate(np.ascontiguousarray(addresses), 8)
            check.write(Observer(granules.spread(self.clocks.marks[threads]), granules.spread(threads)), granules, info)
            if operation == "inval":
                return
        self.barriers.operation(site, threads, addresses, operation)

    def last_change(self, thread: int) -> tuple[str, Instruction | None, str]:
        """Of the place that a thread polls: its name, and the instruction that wrote there last, with what it did; for a hang."""
        looked = int(self.observations.looked[thread])
        if looked < 0:
            return "", None, ""
        space: Space = "global" if looked & 1 else "shared"
        name, shadow = self.naming.address(space, looked >> 1), self.spaces[space].shadow
        row = int(shadow.locate(np.array([looked >> 1], np.int64), 1).rows[0])
        writer = int(shadow.writer[row])
        if not writer:
            return name, None, ""
        last = self.causes.access(Side(writer >> 32, writer & 0xFFFFFFFF, int(shadow.writer_info[row]), True), looked >> 1)
        return name, last.site, self.causes.label(last)

    # -- tensor maps in memory
    def tensor_map_changed(self, site: Instruction, threads: Ints, space: Space, addresses: Ints) -> None:
        """tensormap.replace, or a copy of a whole map: 128 bytes at each address are written in the generic proxy."""
        if space == "global":
            self._map_access(site, threads, space, addresses, "write")

    def tensor_map_used(self, site: Instruction, thread: int, address: int) -> None:
        """A tensor copy is about to read the map at a global address; the copy itself reads it, until its sources are done with."""
        if self.tensor_maps.used(site, int(thread), int(address)):
            self.map_reads[int(thread)] = int(address)

    def _map_access(self, site: Instruction, threads: Ints, space: Space, addresses: Ints, access: Access) -> None:
        steps = np.arange(0, MAP_BYTES, 16)
        for step in steps.tolist():
            self.access(site, threads, space, addresses + step, 16, access, "weak", "cta", False)
