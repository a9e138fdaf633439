"""Life of every mbarrier: initialised before use, not overwritten, not used after its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.clocks import Clocks
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.shadow import LIVE, PAGE_BITS
from fa4dsl.runtime.simulator.check.token import HB
from fa4dsl.runtime.simulator.selection import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.shadow import Granules, Shadow
    from fa4dsl.runtime.simulator.check.sync import Synchronisation

    Wide = npt.NDArray[np.int64]


@dataclass
class BarrierObject:
    """One mbarrier.init and what followed."""

    number: int
    """Of the init, as a fact."""
    address: int
    site: Instruction
    thread: int
    epoch: int
    live: bool = True
    ended: Instruction | None = None
    used: dict[int, tuple[int, Instruction]] = field(default_factory=dict)
    """Last use by each thread: epoch and site (kept for the first user of each warp and every later different site)."""
    safe: set[tuple[int, int, int]] = field(default_factory=set)
    """Numbers of clock and facts, and the generation of both, that know of the init."""


@dataclass(frozen=True)
class Early:
    """A use that the init is not ordered before."""

    init: Instruction | None
    initialiser: int
    address: int
    site: Instruction
    thread: int
    operation: str


class BarrierObjects:
    """Watches the mbarrier operations and the ordinary accesses that touch their bytes."""

    def __init__(
        self, numbering: Threads, clocks: Clocks, sync: Synchronisation, findings: Findings, naming: Naming, shadow: Shadow
    ) -> None:
        self.of = numbering
        self.clocks = clocks
        self.sync = sync
        self.findings = findings
        self.naming = naming
        self.shadow = shadow
        """Of shared memory: knows which pages hold live barriers."""
        self.live: Wide | None = None
        """Addresses of live barriers, while they are known."""
        self.recorded = False
        """The kernel was compiled with `debug_waits`: its records take a barrier's word by a volatile load, for whoever debugs it."""
        self.objects: dict[int, BarrierObject] = {}
        self.resident: dict[int, BarrierObject] = {}
        """Those in CTAs that run."""
        self.inits = 0
        self.arrivers: dict[int, dict[Instruction, set[int]]] = {}
        """By barrier address: who has arrived, by site."""
        self.unordered: dict[Instruction | None, dict[Instruction, Early]] = {}
        self.program: Sequence[Instruction] = ()
        self.ends = True
        """Whether the program may end a barrier's life: only then its uses are of interest."""
        self.early: list[tuple[int, Instruction, int, str]] = []
        """Uses of addresses that held no barrier: address, site, thread, operation. Told at the end, when a later init may be known."""

    def set_program(self, instructions: Sequence[Instruction]) -> None:
        self.program = instructions
        self.ends = any(one.mnemonic.startswith("mbarrier.inval") for one in instructions)

    def wave_start(self) -> None:
        """Other CTAs begin. What is told at the end only has been noted."""
        for known in self.resident.values():
            known.used.clear()
            known.safe.clear()
        self.resident.clear()
        self.live = None

    # -- mbarrier operations
    def operation(self, site: Instruction, threads: Wide, addresses: Wide, operation: str) -> None:
        if operation == "init":
            for thread, address in zip(threads.tolist(), addresses.tolist(), strict=True):
                self._init(site, thread, address)
            return
        for address, where in grouped(addresses):
            mine = threads[where]
            if operation == "arrive":
                self.arrivers.setdefault(address, {}).setdefault(site, set()).update(mine.tolist())
            known = self.objects.get(address)
            if known is None:
                self.early.append((address, site, int(mine[0]), operation))
                continue
            if not known.live:
                self._after_end(known, site, int(mine[0]), operation)
                continue
            self._ordered_after_init(known, site, mine, operation)
            if operation == "inval":
                self._end(known, site, int(mine[0]))
            else:
                self._record_use(known, site, mine)

    def _init(self, site: Instruction, thread: int, address: int) -> None:
        old = self.objects.get(address)
        if old is not None and old.live:
            frames = [
                *self.naming.frames(old.site, "initialised here, and never invalidated"),
                *self.naming.frames(site, f"initialised again by {self.naming.thread(thread)}"),
            ]
            self.findings.add(
                ("S038", old.site.ptx_line, site.ptx_line),
                build("S038", frames, barrier=self.naming.barrier(address), first=self.naming.line(old.site), again=self.naming.line(site)),
            )
        number = self.inits
        self.inits += 1
        self.objects[address] = self.resident[address] = BarrierObject(number, address, site, thread, int(self.clocks.epoch[thread]))
        self.sync.own_inits[thread] = self.sync.own_inits.get(thread, 0) | 1 << number
        self.live = None
        self.shadow.state[self.shadow.page(address)] |= LIVE

    def _after_end(self, known: BarrierObject, site: Instruction, thread: int, operation: str) -> None:
        if known.ended is None:
            return
        frames = [
            *self.naming.frames(known.ended, "the barrier ends here"),
            *self.naming.frames(site, f"{operation} by {self.naming.thread(thread)}"),
        ]
        self.findings.add(
            ("S037", known.ended.ptx_line, site.ptx_line),
            build(
                "S037",
                frames,
                operation=operation,
                barrier=self.naming.barrier(known.address),
                end=self.naming.line(known.ended),
                use=self.naming.line(site),
            ),
        )

    def _ordered_after_init(self, known: BarrierObject, site: Instruction, threads: Wide, operation: str) -> None:
        clocks = self.clocks
        clock, fact = int(clocks.clock[threads[0]]), int(clocks.fact[threads[0]])
        same = len(threads) == 1 or bool((clocks.clock[threads] == clock).all() and (clocks.fact[threads] == fact).all())
        if same:
            key = (clock, fact, clocks.generation)
            if key in known.safe:
                return
            if clocks.clock_knows(clock, known.thread, known.epoch) or clocks.facts.sets[fact].inits >> known.number & 1:
                known.safe.add(key)
                return
        ordered = clocks.knows(HB, threads, np.full(len(threads), known.thread, np.int64), np.full(len(threads), known.epoch, np.int32))
        if not ordered.all():
            ordered |= clocks.fact_mask(threads, np.full(len(threads), known.number, np.int64), 2)
        if ordered.all():
            return
        bad = threads[~ordered]
        elsewhere = bad[self.of.warp[bad] != self.of.warp[known.thread]]
        thread = int(elsewhere[0]) if len(elsewhere) else int(bad[0])
        self._remember(Early(known.site, known.thread, known.address, site, thread, operation))

    def _remember(self, use: Early) -> None:
        uses = self.unordered.setdefault(use.init, {})
        old = uses.get(use.site)
        if old is None or self.of.warp[old.thread] == self.of.warp[old.initialiser]:
            uses[use.site] = use

    def _unordered(self, uses: list[Early]) -> None:
        """One finding for an init and all uses that it is not ordered before."""
        use = uses[0]
        naming = self.naming
        init, initialiser = use.init, use.initialiser
        homes = {int(self.of.cta[initialiser])}
        remote = any(
            int(self.of.cta[each.thread]) not in homes or each.address // naming.shared_stride != int(self.of.cta[each.thread])
            for each in uses
        )
        fence = self._fence_line(initialiser) if init is not None else None
        first = naming.line(min((each.site for each in uses), key=lambda site: site.ptx_line))
        barrier = (
            "a cluster barrier (barrier.cluster.arrive + barrier.cluster.wait) by all threads of the cluster"
            if remote
            else "__syncthreads() (bar.sync 0) by all threads"
        )
        if fence:
            mend = f"the fence.mbarrier_init ({fence}) orders nothing by itself: add {barrier} after it, before the first use on {first}"
        else:
            mend = f"after the init ({naming.line(init)}) execute fence.mbarrier_init.release.cluster in the initialising thread, then {barrier}, before the first use on {first}"
        if not remote and all(self.of.warp[each.thread] == self.of.warp[initialiser] for each in uses):
            mend += "; __syncwarp() (bar.warp.sync) is enough where only this warp uses the barrier"
        frames = list(naming.frames(init, f"initialised by {naming.thread(initialiser)}"))
        for each in uses[:8]:
            frames += naming.frames(each.site, f"{each.operation} by {naming.thread(each.thread)}")
        self.findings.add(
            ("S036", init),
            build(
                "S036",
                frames,
                mend=mend,
                barrier=naming.barrier(use.address),
                operation=use.operation,
                user=naming.thread(use.thread),
                use=naming.line(use.site),
                init=naming.line(init) if init is not None else "no line of this run",
            ),
        )

    def _fence_line(self, thread: int) -> str | None:
        for step in reversed(self.sync.steps):
            if step.kind == "init fence" and thread in step.threads:
                return self.naming.line(step.site)
        return None

    def _record_use(self, known: BarrierObject, site: Instruction, threads: Wide) -> None:
        if not self.ends:
            return
        # One thread for each warp and site is enough to tell who uses it; knowledge is nearly always equal inside a warp.
        for thread in (threads if len(threads) == 1 else threads[np.unique(self.of.warp[threads], return_index=True)[1]]).tolist():
            known.used[thread] = (int(self.clocks.epoch[thread]), site)

    def _end(self, known: BarrierObject, site: Instruction, thread: int) -> None:
        known.live = False
        known.ended = site
        self.live = None
        page = known.address >> PAGE_BITS
        if not (self._live_addresses() >> PAGE_BITS == page).any():
            self.shadow.state[self.shadow.page(known.address)] &= ~LIVE
        users = np.array(list(known.used), np.int64)
        if len(users):
            epochs = np.array([known.used[user][0] for user in users.tolist()], np.int32)
            ordered = self.clocks.knows(HB, np.full(len(users), thread, np.int64), users, epochs)
            for user in users[~ordered].tolist()[:1]:
                other = known.used[user][1]
                frames = [
                    *self.naming.frames(other, f"used by {self.naming.thread(user)}"),
                    *self.naming.frames(site, f"invalidated by {self.naming.thread(thread)}"),
                ]
                self.findings.add(
                    ("S039", other.ptx_line, site.ptx_line),
                    build(
                        "S039", frames, barrier=self.naming.barrier(known.address), use=self.naming.line(other), end=self.naming.line(site)
                    ),
                )

    # -- ordinary accesses
    def touched(self, granules: Granules, addresses: Wide, size: int) -> int | None:
        """Address of a live barrier that one of the accesses overlaps, `granules` being theirs."""
        if not granules.some & LIVE:
            return None
        if size <= 16 and not isinstance(granules.pages, slice) and len(granules.pages) == len(addresses):
            addresses = addresses[self.shadow.state[granules.pages] & LIVE != 0]
        live = self._live_addresses()
        if len(addresses) == 1:
            start = int(addresses[0])
            next_one = int(live[live.searchsorted(start & -8)])
            return next_one if next_one < start + size else None
        words = addresses & -8
        following = live[live.searchsorted(words)]
        offsets = np.where(following < addresses + size, following - words, size)
        best = int(offsets.argmin())
        return int(following[best]) if offsets[best] < size else None

    def _live_addresses(self) -> Wide:
        """In rising order, and one behind all."""
        if self.live is None:
            self.live = np.array([*sorted(known.address for known in self.resident.values() if known.live), 1 << 62], np.int64)
        return self.live

    def overwritten(self, site: Instruction, thread: int, address: int, what: str, write: bool) -> None:
        known = self.objects[address]
        frames = [
            *self.naming.frames(known.site, "the barrier is initialised here"),
            *self.naming.frames(site, f"{what} by {self.naming.thread(thread)} {'writes' if write else 'reads'} its bytes"),
        ]
        fields: dict[str, Any] = {
            "what": what,
            "verb": "overwrites" if write else "reads",
            "barrier": self.naming.barrier(address),
            "use": self.naming.line(site),
            "init": self.naming.line(known.site),
        }
        self.findings.add(("S034", known.site.ptx_line, site.ptx_line), build("S034", frames, **fields))

    def arrivals_before(self, address: int, site: Instruction) -> list[Instruction]:
        """Other instructions that have arrived on a barrier."""
        return [other for other in self.arrivers.get(address, {}) if other is not site]

    def finish(self) -> None:
        for address, site, thread, operation in self.early:
            later = self.objects.get(address)
            home = address // self.naming.shared_stride
            done = {known.site for known in self.objects.values() if known.address // self.naming.shared_stride == home}
            to_come = (one for one in self.program if one.mnemonic.startswith("mbarrier.init") and one not in done)
            init = later.site if later else next(to_come, None)
            if init is None:
                continue  # nothing left that could initialise it: the machine's S014 says so
            self._remember(Early(init, later.thread if later else thread, address, site, thread, operation))
        self.early.clear()
        for uses in self.unordered.values():
            self._unordered(list(uses.values()))
        self.unordered.clear()
