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
from fa4dsl.runtime.simulator.check.shadow import pack
from fa4dsl.runtime.simulator.check.tensor_maps import MAP_BYTES
from fa4dsl.runtime.simulator.check.token import Knowledge
from fa4dsl.runtime.simulator.events import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.shadow import Granules
    from fa4dsl.runtime.simulator.events import AsyncKind, SharedLayout, Space, Token

    Wide = npt.NDArray[np.int64]

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
            len(self.operations), kind, site, thread, None if group is None else np.asarray(group, np.int64), reads, writes, layouts
        )
        operation.epoch = int(self.clocks.epoch[thread])
        operation.source_ctas, operation.target_ctas = self._ctas(reads), self._ctas(writes)
        self.operations.append(operation)
        if kind == "prefetch":
            return operation.number
        away = [target for target in operation.target_ctas if not self.peers.runs(thread, target)]
        if away:
            others = np.array(sorted(away), np.int64)
            self.peers.access(site, np.full(len(others), thread, np.int64), others, f"a {operation.words}", asynchronous=True)
        if kind == "wgmma":
            self.tiles.wgmma(operation, self.spaces["shared"].shadow, self.operations, self.first_operation)
        elif layouts:
            self.tiles.tensor_copy(operation)
        self.duplicates.issued(operation)
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
        granules = self._reached(operation, "global", np.array([address], np.int64), MAP_BYTES, False)
        self.spaces["global"].read(self._observer(operation, granules), granules, pack(self._site(operation.site), 0, False, 1, False))

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
        found: set[int] = set()
        for part in ranges:
            if part.space == "shared" and len(part.starts):
                found.update([int(part.starts[0]) // self.stride] if len(part.starts) == 1 else distinct(part.starts // self.stride))
        return frozenset(found)

    def _async_range(self, operation: Operation, part: Range, write: bool) -> None:
        if not len(part.starts) or part.length <= 0:
            return
        granules = self._reached(operation, part.space, part.starts, part.length, write)
        observer = self._observer(operation, granules)
        observer.asynchronous = operation.kind not in GENERIC_KINDS
        if operation.group is not None and operation.kind == "wgmma":
            observer.together = self.clocks.whole(operation.group)
            observer.cluster = int(self.of.cluster[operation.thread])
        atomic = operation.kind in ATOMIC_KINDS and write
        info = pack(self._site(operation.site), 3 if atomic else 0, atomic, 1, False)
        check = self.spaces[part.space]
        if write:
            check.write(observer, granules, info)
            return
        fresh = check.read(observer, granules, info)
        if part.space == "shared" and fresh is not None:
            row = int(granules.rows[fresh])
            self._never_written(operation.site, operation.thread, check.shadow.address(row), check.shadow.size(row))

    def _reached(self, operation: Operation, space: Space, starts: Wide, length: int, write: bool) -> Granules:
        """The granules of ranges that an operation reads or writes; tells of live barriers among them."""
        granules = self.spaces[space].shadow.locate(starts, length)
        barrier = self.barriers.touched(granules, starts, length) if space == "shared" else None
        if barrier is not None:
            self.barriers.overwritten(operation.site, operation.thread, barrier, f"a {operation.words}", write)
        return granules

    def _observer(self, operation: Operation, granules: Granules) -> Observer:
        """An operation of one thread."""
        return Observer(self._mark(operation), granules.all_of(operation.thread), True)

    def _mark(self, operation: Operation) -> Wide:
        """The operation as the shadow keeps it."""
        return np.int64(self.first_operation + operation.number << 32)  # type: ignore[return-value]

    def _write_together(self, operation: Operation, info: int) -> None:
        """The writes of an operation that stands for one instruction of several threads, each to its own destination."""
        assert operation.group is not None
        assert operation.destinations is not None
        granules = self._reached(operation, "shared", operation.destinations, operation.size, True)
        self.spaces["shared"].write(Observer(self._mark(operation), granules.spread(operation.group), True), granules, info)

    def copies_begin(
        self, site: Instruction, threads: Wide, kind: AsyncKind, source: Range, target: Range, barriers: Wide
    ) -> Sequence[int] | None:
        """As `mbarrier_access` and `async_begin` of each thread's copy, where there is nothing to tell about any of them."""
        if self.map_reads or source.space == target.space:
            return None
        count, first = len(threads), len(self.operations)
        marks = self.first_operation + first + np.arange(count, dtype=np.int64) << 32
        check_source, check_target = self.spaces[source.space], self.spaces[target.space]
        read = check_source.shadow.locate(source.starts, source.length)
        written = check_target.shadow.locate(target.starts, target.length)
        if not written.distinct or self.barriers.touched(written, target.starts, target.length) is not None:
            return None
        reading = Observer(read.spread(marks), read.spread(threads), True, True)
        writing = Observer(written.spread(marks), written.spread(threads), True, True)
        if not check_source.clean(reading, read, False) or not check_target.clean(writing, written, True):
            return None
        self.mbarrier_access(site, threads, barriers, "complete_tx", False)
        nowhere: frozenset[int] = frozenset()
        rows = zip(threads.tolist(), self.clocks.epoch[threads].tolist(), self.of.cta[threads].tolist(), strict=True)
        for i, (thread, epoch, cta) in enumerate(rows):
            reads, writes = (Range(part.space, part.starts[i : i + 1], part.length) for part in (source, target))
            operation = Operation(first + i, kind, site, thread, None, [reads], [writes], (), nowhere, frozenset((cta,)), epoch=epoch)
            self.operations.append(operation)
            self.duplicates.issued(operation)
        info = pack(self._site(site), 0, False, 1, False)
        check_source.read_each(reading, read, info)
        check_target.record_write(writing, written, info)
        return range(first, first + count)

    def copy_begin(self, site: Instruction, threads: Wide, sources: Wide, destinations: Wide, size: int, source_size: int) -> int:
        operation = self._together("cp_async", site, threads, destinations, size)
        if source_size:
            self.access(site, threads, "global", sources, 1 << (source_size.bit_length() - 1), "read", "weak", "cta", False)
        self._write_together(operation, pack(self._site(site), 0, False, size, False))
        return operation.number

    def store_begin(self, site: Instruction, threads: Wide, kind: AsyncKind, destinations: Wide, size: int) -> int:
        operation = self._together(kind, site, threads, destinations, size)
        target = int(destinations[0] // self.stride)
        operation.writes = [Range("shared", destinations, size)]
        operation.epoch = int(self.clocks.epoch[threads[0]])
        operation.target_ctas = frozenset({target})
        self.peers.access(site, threads, np.full(len(threads), target), f"a {operation.words}", asynchronous=True)
        atomic = kind in ATOMIC_KINDS
        self._write_together(operation, pack(self._site(site), 3 if atomic else 0, atomic, 1, False))
        return operation.number

    def _together(self, kind: AsyncKind, site: Instruction, threads: Wide, destinations: Wide, size: int) -> Operation:
        """One operation for an instruction that several threads execute, each with its own destination."""
        operation = Operation(len(self.operations), kind, site, int(threads[0]), threads, size=size)
        operation.destinations = destinations
        self.operations.append(operation)
        return operation

    def async_read_done(self, operation: int) -> None:
        self.operations[operation].read_done = True

    def async_write_done(self, operation: int) -> Token:
        done = self.operations[operation]
        done.read_done = done.write_done = True
        if done.group is None:
            started = 1 << int(self.of.cta[done.thread])
        else:
            started = sum(1 << cta for cta in distinct(self.of.cta[done.group]))
        whole = Knowledge({}, Facts(1 << operation, 1 << operation, 0, started))
        for target, number in done.parts.items():
            self.operations[number].read_done = self.operations[number].write_done = True
            self.multicasts[whole.serial, target] = Knowledge({}, Facts(1 << operation, 1 << number, 0, started))
        return whole

    def async_waited(self, site: Instruction, threads: Wide, operations: Iterable[int], read_only: bool) -> None:
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

    def _land_copies(self, operation: Operation, threads: Wide) -> None:
        """From here on the copies are ordinary writes of the threads that waited."""
        assert operation.group is not None
        assert operation.destinations is not None
        mine = np.isin(operation.group, threads)
        if not mine.any():
            return
        shadow = self.spaces["shared"].shadow
        granules = shadow.locate(operation.destinations[mine], operation.size)
        owners = granules.spread(operation.group[mine])
        still = shadow.writer[granules.rows] == self._mark(operation)
        shadow.writer[granules.rows[still]] = self.clocks.marks[owners[still]]
