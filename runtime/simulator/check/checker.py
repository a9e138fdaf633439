"""The happens-before checker: implements the hooks of `fa4dsl.runtime.simulator.events.Checker`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fa4dsl.runtime.simulator.check.barrier_objects import BarrierObjects
from fa4dsl.runtime.simulator.check.causes import Causes
from fa4dsl.runtime.simulator.check.clocks import Clocks, distinct
from fa4dsl.runtime.simulator.check.facts import Facts
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.memory_check import Conflict, Observer, SpaceCheck
from fa4dsl.runtime.simulator.check.naming import Naming
from fa4dsl.runtime.simulator.check.numbering import SCOPES, Threads
from fa4dsl.runtime.simulator.check.observation import Observations
from fa4dsl.runtime.simulator.check.operations import GENERIC_KINDS, Operation
from fa4dsl.runtime.simulator.check.peers import Peers
from fa4dsl.runtime.simulator.check.shadow import W_AGENT, W_EPOCH, pack
from fa4dsl.runtime.simulator.check.sync import Step, Synchronisation
from fa4dsl.runtime.simulator.check.tiles import Tiles
from fa4dsl.runtime.simulator.check.token import Knowledge, ReleaseToken
from fa4dsl.runtime.simulator.events import Range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Access, AsyncKind, Geometry, Order, Scope, SharedLayout, Space, Token

    Ints = npt.NDArray[Any]

ATOMIC_KINDS = frozenset({"tma_reduce", "bulk_reduce", "red_async"})


class HappensBefore:
    """One checker for one launch.

    `strict` makes every review an error. `naming` supplies words for the reports; without it threads and addresses stay numbers.
    After `finish` the results stand in `findings` and `not_modelled`.
    """

    def __init__(self, geometry: Geometry, naming: Naming | None = None, strict: bool = False) -> None:
        self.geometry = geometry
        self.of = Threads(geometry)
        self.naming = naming or Naming(self.of, max(geometry.shared_stride, 1))
        self.findings = Findings(strict)
        self.not_modelled: dict[str, Instruction] = {}
        self.clocks = Clocks(self.of)
        self.sync = Synchronisation(self.of, self.clocks)
        self.sites: list[Instruction] = []
        self._site_numbers: dict[Instruction, int] = {}
        self.operations: list[Operation] = []
        self.multicasts: dict[tuple[int, int], Knowledge] = {}
        """What the completion of a multicast (by serial of its token) tells in each CTA."""
        self.named_phases: dict[tuple[int, int], list[ReleaseToken]] = {}
        self._conflict_keys: set[tuple[int, int, bool, bool, bool]] = set()
        stride = max(geometry.shared_stride, 1)
        self.stride = stride
        self.spaces: dict[Space, SpaceCheck] = {
            "shared": SpaceCheck("shared", stride * geometry.ctas, stride, self.clocks, self._conflict),
            "global": SpaceCheck("global", geometry.global_bytes, stride, self.clocks, self._conflict),
        }
        self.observations = Observations(self.sync)
        self.barriers = BarrierObjects(self.of, self.clocks, self.sync, self.findings, self.naming, stride * geometry.ctas)
        self.peers = Peers(self.of, self.clocks, self.findings, self.naming)
        self.tiles = Tiles(self.findings, self.naming)
        self.causes = Causes(self.of, self.clocks, self.sync, self.findings, self.naming, self.sites, self.operations)
        self.first_operation = self.of.count + 1
        self.finished = False

    def set_program(self, instructions: Sequence[Instruction]) -> None:
        """All instructions of the kernel: lets a report name a fence that the run did not reach."""
        self.causes.program = instructions
        self.barriers.program = instructions

    # -- bookkeeping
    def _site(self, site: Instruction) -> int:
        number = self._site_numbers.get(site)
        if number is None:
            number = self._site_numbers[site] = len(self.sites)
            self.sites.append(site)
        return number

    def _conflict(self, conflict: Conflict) -> None:
        key = (conflict.prior.info, conflict.current.info, conflict.prior.write, conflict.current.write, conflict.bridged)
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
        threads = threads.astype(np.int32, copy=False)
        shared = space == "shared"
        if shared:
            if self.barriers.any_live:
                barrier = self.barriers.touched(site, addresses, size)
                if barrier is not None:
                    near = int(np.flatnonzero((addresses < barrier + 8) & (addresses + size > barrier))[0])
                    self.barriers.overwritten(site, int(threads[near]), barrier, "an ordinary access", access != "read")
                    keep = ~((addresses < barrier + 8) & (addresses + size > barrier))
                    threads, addresses = threads[keep], addresses[keep]
                    values = None
                    if not len(threads):
                        return
            if remote:
                self.peers.access(
                    site, threads, (addresses // self.stride).astype(np.int32), "a remote store" if access == "write" else "a remote access"
                )
        strong = order != "weak" or access == "atomic"
        info = pack(self._site(site), 1 + SCOPES[scope] if strong else 0, access == "atomic", size, remote and shared)
        check = self.spaces[space]
        granules = check.shadow.index(addresses, size)
        count = granules.shape[1]
        flat = granules.reshape(-1)
        mine = threads if count == 1 else np.repeat(threads, count)
        epochs = self.clocks.epoch[mine]
        observer = Observer(mine + 1, mine)
        if access == "read":
            fresh = check.read(observer, flat, info, epochs)
            if shared and fresh.any():
                self._never_written(
                    site, int(mine[np.flatnonzero(fresh)[0]]), check.shadow.address(int(flat[np.flatnonzero(fresh)[0]])), size
                )
        else:
            if access == "write" and values is not None and len(threads) > 1:
                self._sibling_stores(site, threads, space, addresses, size, values)
            check.write(observer, flat, info, epochs)
        if strong:
            self.observations.strong(site, threads, space, addresses, access, order, scope)

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
        threads = threads.astype(np.int32, copy=False)
        addresses = np.broadcast_to(addresses, threads.shape)
        if remote:
            self.peers.access(
                site,
                threads,
                (addresses // self.stride).astype(np.int32),
                f"a remote mbarrier {operation}",
                signals=True,
                asynchronous=operation == "complete_tx",
            )
        if operation in ("init", "inval"):
            info = pack(self._site(site), 0, False, 8, False)
            check = self.spaces["shared"]
            if operation == "inval":
                self.barriers.operation(site, threads, addresses, operation)
            granules = check.shadow.index(np.ascontiguousarray(addresses), 8)
            mine = np.repeat(threads, granules.shape[1])
            check.write(Observer(mine + 1, mine), granules.reshape(-1), info, self.clocks.epoch[mine])
            if operation == "inval":
                return
        self.barriers.operation(site, threads, addresses, operation)

    # -- synchronisation
    def release(self, site: Instruction, threads: Ints, scope: Scope, order: Order = "release") -> Token:
        return self.sync.release(site, threads.astype(np.int32, copy=False), scope, order)

    def join(self, site: Instruction, threads: Ints, tokens: Iterable[Token], scope: Scope, order: Order = "acquire") -> None:
        threads = threads.astype(np.int32, copy=False)
        known: list[Knowledge] = list(tokens)  # type: ignore[arg-type]
        if site.name == "mbarrier":
            for token in known:
                if isinstance(token, ReleaseToken):
                    self.peers.observed(threads, token)
            if self.multicasts:
                # A barrier tells of the bytes that landed in its own CTA only.
                cta = int(self.of.cta[threads[0]])
                known = [self.multicasts.get((token.serial, cta), token) for token in known]
        self.sync.join(site, threads, known, scope, order)

    def fence(self, site: Instruction, threads: Ints, order: Order, scope: Scope) -> None:
        self.sync.fence(site, threads.astype(np.int32, copy=False), order, scope)

    def named_phase(self, site: Instruction, cta: int, barrier: int, tokens: Sequence[Token]) -> None:
        """Two groups that share an id must be ordered: otherwise a warp of one may complete the other's phase."""
        arrived = [token for token in tokens if isinstance(token, ReleaseToken)]
        before = self.named_phases.get((cta, barrier))
        self.named_phases[cta, barrier] = arrived
        if not before:
            return
        old = {int(warp) for token in before for warp in np.unique(self.of.warp[token.threads])}
        cluster = cta // self.of.cluster_size
        for token in arrived:
            for warp in np.unique(self.of.warp[token.threads]).tolist():
                if warp in old:
                    continue
                mine = self.clocks.select(token, self.of.warp[token.threads] == warp)
                if any(mine.knows(cluster, int(self.of.column[other.threads[0]]), int(other.epochs[0])) for other in before):
                    continue
                name = self.naming.named_barriers.get(barrier, str(barrier))
                others = sorted(thread for other in before for thread in other.threads.tolist())
                frames = [
                    *self.naming.frames(token.site, f"one group: {self.naming.crowd(sorted(mine.threads.tolist()))}"),
                    *self.naming.frames(before[0].site, f"the other: {self.naming.crowd(others)}"),
                ]
                self.findings.add(("S041", barrier), build("S041", frames, barrier=name, line=self.naming.line(token.site)))
                return

    def unconsumed(self, site: Instruction, threads: Ints, address: int, phase: int) -> None:
        threads = threads.astype(np.int32, copy=False)
        frames = [*self.naming.frames(site, f"arrives on phase {phase + 1}: {self.naming.crowd(sorted(threads.tolist()))}")]
        for other in self.barriers.arrivals_before(address, site):
            frames += self.naming.frames(other, "arrives on it as well")
        fields = {"barrier": self.naming.barrier(address), "line": self.naming.line(site), "phase": phase, "following": phase + 1}
        self.findings.add(("S040", site.ptx_line), build("S040", frames, **fields))

    def proxy_fence(self, site: Instruction, threads: Ints, space: Literal["shared::cta", "shared::cluster", "global", "all"]) -> None:
        threads = threads.astype(np.int32, copy=False)
        self.causes.executed.add(site.ptx_line)
        self.sync.steps.append(Step(site, "proxy fence", threads, self.clocks.epoch[threads]))
        self.clocks.bridge_fence(threads, space)

    def init_fence(self, site: Instruction, threads: Ints) -> None:
        self.sync.init_fence(site, threads.astype(np.int32, copy=False))

    def warp_sync(self, site: Instruction, groups: Sequence[Ints]) -> None:
        groups = [group.astype(np.int32, copy=False) for group in groups]
        for group in groups:
            self.sync.steps.append(Step(site, "warp", group, self.clocks.epoch[group]))
        self.clocks.warp_sync(groups)

    # -- asynchronous operations
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
        parts = self._parts(operation) if len(operation.target_ctas) > 1 else [operation]
        for part in reads:
            self._async_range(operation, part, False)
        for one in parts:
            for part in one.writes:
                self._async_range(one, part, True)
        return operation.number

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

    def async_read_done(self, operation: int) -> None:
        self.operations[operation].read_done = True

    def async_write_done(self, operation: int) -> Token:
        done = self.operations[operation]
        done.read_done = done.write_done = True
        started = 1 << int(self.of.cta[done.thread])
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

    # -- what only the machine sees
    def note(self, code: str, site: Instruction, threads: Ints, **fields: Any) -> None:
        words = self.naming.crowd([int(thread) for thread in np.asarray(threads).reshape(-1)[:1024]])
        frames = self.naming.frames(site, words)
        self.findings.add(
            (code, site.ptx_line),
            build(code, frames, **{"mnemonic": site.mnemonic, "thread": words, "line": self.naming.line(site), **fields}),
        )

    def incomplete(self, site: Instruction, reason: str) -> None:
        self.not_modelled.setdefault(reason, site)

    # -- life
    def cta_start(self, cta: int) -> None:
        """A CTA starts: nothing is known of it until a thread of it synchronises with somebody."""

    def thread_exit(self, site: Instruction, threads: Ints) -> None:
        self.peers.exit(site, threads.astype(np.int32, copy=False))

    def finish(self) -> None:
        if self.finished:
            return
        self.finished = True
        self.barriers.finish()
        self.tiles.finish()
        for target, line in self.peers.finish(self.operations, self.causes.told):
            self.causes.drop_consequences(target, line)
