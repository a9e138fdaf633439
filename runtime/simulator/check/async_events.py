"""Asynchronous operations as agents of their own: issue, completion, waits, and the bytes each of them touches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.clocks import distinct
from fa4dsl.runtime.simulator.check.facts import Facts
from fa4dsl.runtime.simulator.check.memory_check import Observer
from fa4dsl.runtime.simulator.check.memory_events import MemoryEvents
from fa4dsl.runtime.simulator.check.operations import GENERIC_KINDS, Operation
from fa4dsl.runtime.simulator.check.shadow import W_AGENT, W_EPOCH, pack
from fa4dsl.runtime.simulator.check.tensor_maps import MAP_BYTES
from fa4dsl.runtime.simulator.check.token import Knowledge
from fa4dsl.runtime.simulator.events import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import AsyncKind, SharedLayout, Token

    Ints = npt.NDArray[Any]

ATOMIC_KINDS = frozenset({"tma_reduce", "bulk_reduce", "red_async"})


class AsynchronousEvents(MemoryEvents):
    """The hooks of asynchronous operations."""

    def async_begin(
        self,
        site: Instruction,
        thread: int,
        kind: AsyncKind,
        reads: Sequence[Range],
        writes: Sequence[Range],
        group: Any = None,
        layouts: Sequence[SharedLayout] = (),
    ) -> int:
        thread = int(thread)
        operation = Operation(
            len(self.operations), kind, site, thread, None if group is None else np.asarray(group, np.int32), reads, writes, layouts
        )
        operation.epoch = int(self.clocks.epoch[thread])
        operation.source_ctas, operation.target_ctas = self._ctas(reads), self._ctas(writes)
        self.operations.append(operation)
        if kind == "prefetch":
            return operation.number
        home = int(self.of.cta[thread])
        if operation.target_ctas - {home}:
            others = np.array(sorted(operation.target_ctas - {home}), np.int32)
            self.peers.access(site, np.full(len(others), thread, np.int32), others, f"a {operation.words}", asynchronous=True)
        if kind == "wgmma":
            self.tiles.wgmma(operation, self.spaces["shared"].shadow, self.operations, self.first_operation)
        elif layouts:
            self.tiles.tensor_copy(operation)
        changed_map = self.map_reads.pop(thread, None)
        if changed_map is not None:
            self._read_map(operation, changed_map)
        parts = self._parts(operation) if len(operation.target_ctas) > 1 else [operation]
        for part in reads:
            self._async_range(operation, part, False)
        for one in parts:
            for part in one.writes:
                self._async_range(one, part, True)
        return operation.number

    def _read_map(self, operation: Operation, address: int) -> None:
        """A tensor map in memory that the kernel has written: read by the copy until it has completed. Its own proxy fence is checked elsewhere."""
        check = self.spaces["global"]
        granules = check.shadow.index(np.array([address], np.int64), MAP_BYTES).reshape(-1)
        agents = np.full(len(granules), self.first_operation + operation.number, np.int32)
        observer = Observer(agents, np.full(len(granules), operation.thread, np.int32))
        check.read(observer, granules, pack(self._site(operation.site), 0, False, 1, False), np.zeros(len(granules), np.int32))

    def _parts(self, operation: Operation) -> list[Operation]:
        """A multicast completes in each destination CTA by itself: one operation for each, the first of them `operation`."""
        parts: list[Operation] = []
        everything = operation.writes
        for target in sorted(operation.target_ctas):
            if parts:
                one = replace(operation, number=len(self.operations), reads=(), source_ctas=frozenset())
                self.operations.append(one)
            else:
                one = operation
            one.writes = [Range("shared", part.starts[part.starts // self.stride == target], part.length) for part in everything]
            one.target_ctas = frozenset({target})
            operation.parts[target] = one.number
            parts.append(one)
        return parts

    def _ctas(self, ranges: Sequence[Range]) -> frozenset[int]:
        shared = [part.starts // self.stride for part in ranges if part.space == "shared" and len(part.starts)]
        return frozenset(distinct(np.concatenate(shared))) if shared else frozenset()

    def _async_range(self, operation: Operation, part: Range, write: bool) -> None:
        if not len(part.starts) or part.length <= 0:
            return
        if part.space == "shared" and self.barriers.any_live:
            barrier = self.barriers.touched(operation.site, part.starts, part.length)
            if barrier is not None:
                self.barriers.overwritten(operation.site, operation.thread, barrier, f"a {operation.words}", write)
        check = self.spaces[part.space]
        granules = check.shadow.index(part.starts, part.length).reshape(-1)
        threads = np.full(len(granules), operation.thread, np.int32)
        agents = np.full(len(granules), self.first_operation + operation.number, np.int32)
        observer = Observer(agents, threads, operation.kind not in GENERIC_KINDS)
        if operation.group is not None and operation.kind == "wgmma":
            observer.together = self.clocks.whole(operation.group)
            observer.cluster = int(self.of.cluster[operation.thread])
        atomic = operation.kind in ATOMIC_KINDS and write
        info = pack(self._site(operation.site), 3 if atomic else 0, atomic, 1, False)
        epochs = np.zeros(len(granules), np.int32)
        if write:
            check.write(observer, granules, info, epochs)
        else:
            fresh = check.read(observer, granules, info, epochs)
            if part.space == "shared" and fresh.any():
                at = check.shadow.address(int(granules[np.flatnonzero(fresh)[0]]))
                self._never_written(operation.site, operation.thread, at, 1 << check.shadow.shift)

    def copy_begin(self, site: Instruction, threads: Ints, sources: Ints, destinations: Ints, size: int, source_size: int) -> int:
        threads = threads.astype(np.int32, copy=False)
        operation = Operation(len(self.operations), "cp_async", site, int(threads[0]), threads, size=size)
        operation.destinations = destinations
        self.operations.append(operation)
        if source_size:
            self.access(site, threads, "global", sources, 1 << (source_size.bit_length() - 1), "read", "weak", "cta", False)
        if self.barriers.any_live:
            barrier = self.barriers.touched(site, destinations, size)
            if barrier is not None:
                self.barriers.overwritten(site, int(threads[0]), barrier, "cp.async", True)
        check = self.spaces["shared"]
        granules = check.shadow.index(destinations, size)
        mine = np.repeat(threads, granules.shape[1])
        agents = np.full(len(mine), self.first_operation + operation.number, np.int32)
        info = pack(self._site(site), 0, False, size, False)
        check.write(Observer(agents, mine), granules.reshape(-1), info, np.zeros(len(mine), np.int32))
        return operation.number

    def store_begin(self, site: Instruction, threads: Ints, destinations: Ints, size: int) -> int:
        threads = threads.astype(np.int32, copy=False)
        target = int(destinations[0] // self.stride)
        writes = [Range("shared", destinations, size)]
        operation = Operation(len(self.operations), "st_async", site, int(threads[0]), threads, (), writes, size=size)
        operation.destinations = destinations
        operation.epoch = int(self.clocks.epoch[threads[0]])
        operation.target_ctas = frozenset({target})
        self.operations.append(operation)
        self.peers.access(site, threads, np.full(len(threads), target, np.int32), f"a {operation.words}", asynchronous=True)
        if self.barriers.any_live:
            barrier = self.barriers.touched(site, destinations, size)
            if barrier is not None:
                self.barriers.overwritten(site, int(threads[0]), barrier, f"a {operation.words}", True)
        check = self.spaces["shared"]
        granules = check.shadow.index(destinations, size)
        mine = np.repeat(threads, granules.shape[1])
        agents = np.full(len(mine), self.first_operation + operation.number, np.int32)
        info = pack(self._site(site), 0, False, 1, False)
        check.write(Observer(agents, mine, False), granules.reshape(-1), info, np.zeros(len(mine), np.int32))
        return operation.number

    def async_read_done(self, operation: int) -> None:
        self.operations[operation].read_done = True

    def async_write_done(self, operation: int) -> Token:
        done = self.operations[operation]
        done.read_done = done.write_done = True
        issuers = [done.thread] if done.group is None else done.group
        started = sum(1 << cta for cta in distinct(self.of.cta[issuers]))
        whole = Knowledge({}, Facts(1 << operation, 1 << operation, 0, started))
        for target, number in done.parts.items():
            self.operations[number].read_done = self.operations[number].write_done = True
            self.multicasts[whole.serial, target] = Knowledge({}, Facts(1 << operation, 1 << number, 0, started))
        return whole

    def async_waited(self, site: Instruction, threads: Ints, operations: Iterable[int], read_only: bool) -> None:
        threads = threads.astype(np.int32, copy=False)
        bits = 0
        for number in operations:
            operation = self.operations[number]
            operation.waited = True
            if operation.kind == "cp_async":
                self._land_copies(operation, threads)
            else:
                bits |= 1 << number
        if bits:
            self.clocks.learn(threads, Facts(bits, 0 if read_only else bits))

    def _land_copies(self, operation: Operation, threads: Ints) -> None:
        """From here on the copies are ordinary writes of the threads that waited."""
        assert operation.group is not None
        assert operation.destinations is not None
        mine = np.isin(operation.group, threads)
        check = self.spaces["shared"]
        granules = check.shadow.index(operation.destinations[mine], operation.size)
        owners = np.repeat(operation.group[mine], granules.shape[1])
        flat = granules.reshape(-1)
        still = check.shadow.rows[W_AGENT, flat] == self.first_operation + operation.number
        flat, owners = flat[still], owners[still]
        check.shadow.rows[W_AGENT, flat] = owners + 1
        check.shadow.rows[W_EPOCH, flat] = self.clocks.epoch[owners]
