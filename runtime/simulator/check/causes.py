"""From a conflict to its explanation: which single change would have ordered the two accesses.

Asks counterfactuals of what really happened: a token that was seen but not joined because of its scope or order; a sibling
lane's arrive in place of the accessor's own; a wait that another thread made; a proxy fence that is missing, misplaced or never
executed; an asynchronous operation that nobody waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.async_causes import AsyncCauses
from fa4dsl.runtime.simulator.check.evidence import Access
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.numbering import SCOPE_NAMES
from fa4dsl.runtime.simulator.check.shadow import SITE_SHIFT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fa4dsl.runtime.diagnostics import Diagnostic
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.clocks import Clocks
    from fa4dsl.runtime.simulator.check.memory_check import Conflict, Side
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.operations import Operation
    from fa4dsl.runtime.simulator.check.sync import Synchronisation

Place = tuple[str, int]
RULE_RACE = "PTX ISA 8.7 (data race): the accesses overlap, one writes, and neither program order nor synchronisation orders them"


class Causes(AsyncCauses):
    """Explains conflicts and files the findings."""

    def __init__(
        self,
        numbering: Threads,
        clocks: Clocks,
        sync: Synchronisation,
        findings: Findings,
        naming: Naming,
        sites: Sequence[Instruction],
        operations: Sequence[Operation],
    ) -> None:
        super().__init__(numbering, clocks, sync, naming, sites, operations)
        self.findings = findings
        self.program: Sequence[Instruction] = ()
        """All instructions of the kernel where known: finds fences that the run never reached."""
        self.executed: set[int] = set()
        """PTX lines of the fences that ran."""
        self.between_ctas: dict[tuple[bool, Place, Place, bool], tuple[Place, Place]] = {}
        """Pairs of lines of conflicts between two CTAs, by finding key."""
        self.told: set[Place] = set()
        """Lines of accesses whose synchronisation is there but too weak."""
        self.flags: Mapping[tuple[Instruction, Instruction], tuple[int, int]] = {}
        """Relaxed or volatile stores and the loads that saw them, with their threads."""
        self.lanes: set[tuple[bool, Place, Place, bool]] = set()
        """Keys of findings about two lanes of one warp."""
        self.racing: set[Place] = set()
        """Lines of asynchronous operations that nobody waited for, told as races."""

    # -- the explanation
    def explain(self, conflict: Conflict) -> None:
        """Files the finding for a conflict, once for each pair of source lines and cause."""
        first, second = sorted(self.naming.place(self.sites[side.info >> SITE_SHIFT]) for side in (conflict.prior, conflict.current))
        key = (conflict.bridged, first, second, conflict.prior.write and conflict.current.write)
        twin = (not conflict.bridged, *key[1:])
        apart = self.apart(conflict)
        if apart and key in self.lanes:
            self.findings.remove(("pair", key))  # two warps say more than two lanes: a barrier that orders them orders the lanes too
            self.lanes.discard(key)
        if ("pair", key) in self.findings or (conflict.bridged and ("pair", twin) in self.findings):
            return
        self.findings.remove(("pair", twin))  # an unordered pair says more than its missing proxy fence
        prior, current = self.access(conflict.prior, conflict.address), self.access(conflict.current, conflict.address)
        where = self.naming.address(conflict.space, conflict.address, min(prior.size, current.size))
        made = self._proxy(prior, current, where) if conflict.bridged else self._race(prior, current, where)
        self.findings.add(("pair", key), made)
        if not apart and made.code == "S027":
            self.lanes.add(key)
        if made.code in ("S024", "S025"):
            self.racing.add(self.naming.place(prior.site))
        if made.code in ("S023", "S029", "S046"):
            self.told.update((first, second))
        elif self.of.cta[prior.thread] != self.of.cta[current.thread]:
            self.between_ctas[key] = (first, second)

    def apart(self, conflict: Conflict) -> bool:
        """Whether the two sides are threads of different warps."""
        return bool(self.of.warp[self._thread(conflict.prior)] != self.of.warp[self._thread(conflict.current)])

    def _thread(self, side: Side) -> int:
        return side.agent - 1 if side.agent < self.first_operation else self.operations[side.agent - self.first_operation].thread

    def drop_consequences(self, place: Place) -> None:
        """The remote access of a line is outside the life of its target: its races with the target's threads have the same cause, and the
        finding about that names their lines."""
        for key, ends in self.between_ctas.items():
            finding = self.findings.found.get(("pair", key)) if place in ends else None
            if finding is None:
                continue
            self.findings.remove(("pair", key))
            for code in ("S030", "S031"):
                if any((frame.location.file, frame.location.line) == place for frame in self.findings.frames_of(code)):
                    self.findings.extend(code, finding.diagnostic.frames)

    def _proxy(self, prior: Access, current: Access, where: str) -> Diagnostic:
        space = "global" if where.startswith("global") or current.operation is None else "shared::cta"
        if self._space(current, prior) == "global":
            space = "global"
        elif self.of.cta[prior.thread] != self.of.cta[current.thread]:
            space = "shared::cluster"
        fence = f"fence.proxy.async.{space}"
        barrier = self.barrier_after(prior.thread, prior.side.epoch)
        code = "S021" if prior.side.write else "S022"
        before = (
            f", before the {self.sync_word(barrier)} on {self.line(barrier.site)}"
            if barrier is not None and barrier.site is not None
            else f", before {self.line(current.site)}"
        )
        mend = f"add {fence} after {self.line(prior.site)}{before}, in every thread that makes the {prior.what}; or once in the issuing thread just before {self.line(current.site)}"
        notes = []
        frames = self.frames((prior.site, self.label(prior)), (current.site, self.label(current)))
        if barrier is not None and barrier.site is not None and self.sync_word(barrier) != "step":
            frames += self.frames((barrier.site, "the synchronisation between them, which is no proxy fence"))
        for instruction in self.program:
            if instruction.mnemonic.startswith("fence.proxy.async"):
                if instruction.ptx_line not in self.executed:
                    notes.append(f"the {instruction.mnemonic} on {self.line(instruction)} was not executed on this path")
                    mend = f"move the fence.proxy.async of {self.line(instruction)} out of the loop or branch that did not run, to after {self.line(prior.site)}{before}"
                else:
                    notes.append(
                        f"the {instruction.mnemonic} on {self.line(instruction)} does not lie on the path between the two: it comes earlier, covers another space, or is executed by other threads"
                    )
        return build(
            code,
            frames,
            notes,
            mend,
            first=prior.what,
            second=current.what,
            where=where,
            first_line=self.line(prior.site),
            second_line=self.line(current.site),
            fence=fence,
        )

    def _space(self, *accesses: Access) -> str:
        for access in accesses:
            mnemonic = access.site.mnemonic
            if access.operation is None and ".global" in mnemonic:
                return "global"
        return "shared"

    def _race(self, prior: Access, current: Access, where: str) -> Diagnostic:
        if prior.operation is not None:
            return self._operation(prior, current, prior.operation, where)
        return self._threads(prior, current, where)

    def _flag_between(self, first: int, second: int) -> tuple[Instruction, Instruction] | None:
        """A flag that a thread of the first one's warp stored and one of the second's warp saw."""
        warp = self.of.warp
        for pair, (writer, reader) in self.flags.items():
            if warp[writer] == warp[first] and warp[reader] == warp[second]:
                return pair
        return None

    def _threads(self, prior: Access, current: Access, where: str) -> Diagnostic:
        """Prior generic access by a thread, unordered before the current access."""
        fields = self._fields(prior, current, where)
        edge = self.missed_edge(prior, current.thread)
        if edge is not None:
            return self._edge(edge, prior, current, where)
        both = self._both(prior, current)
        of = self.of
        if prior.side.info & 7 and current.side.info & 7:
            need = "cluster" if of.cluster[prior.thread] == of.cluster[current.thread] else "gpu"
            narrow = min(prior.side.info & 7, current.side.info & 7) - 1
            if of.same_instance(int(of.cta[prior.thread]), int(of.cta[current.thread]), narrow):
                mend = f"let {self.line(prior.site)} and {self.line(current.site)} access the same address with the same size: strong accesses of different sizes race like weak ones"
                notes = [f"one accesses {prior.size} bytes, the other {current.size} (mixed-size race, PTX ISA 8.7.2)"]
                return build("S020", self.frames(*both), notes, mend, rule=RULE_RACE, **fields)
            if of.cta[prior.thread] != of.cta[current.thread]:
                levels = (prior.side.info & 7) - 1, (current.side.info & 7) - 1
                return build(
                    "S023",
                    self.frames(*both),
                    mend=f"needs .{need} scope on both: {self.line(prior.site)} has .{SCOPE_NAMES[levels[0]]}, {self.line(current.site)} has .{SCOPE_NAMES[levels[1]]}",
                    arrive=fields["first_line"],
                    wait=fields["second_line"],
                    arrive_scope=SCOPE_NAMES[levels[0]],
                    wait_scope=SCOPE_NAMES[levels[1]],
                    scope=need,
                    **fields,
                )
        early = self.handed_over_early(prior, current.thread)
        if early is not None:
            both.append((early, "hands the data over, before the copying thread has waited for its copy"))
            mend = (
                f"execute cp.async.wait_group 0 (or cp.async.wait_all; with later groups in flight a count that covers this one) after {self.line(prior.site)} and before {self.line(early)}, which "
                "tells others of the copy, not after it"
            )
            return build("S028", self.frames(*both), mend=mend, **fields)
        sibling = self.sibling_release(prior, current.thread)
        if of.warp[prior.thread] == of.warp[current.thread] and current.operation is None:
            mend = f"add __syncwarp() (bar.warp.sync) after {self.line(prior.site)}, before {self.line(current.site)}: lanes of a warp are threads of their own"
            return build("S027", self.frames(*both), mend=mend, **fields)
        if sibling is not None and sibling.site is not None:
            both.append((sibling.site, "releases only the thread that executes it"))
            mend = f"add __syncwarp() (bar.warp.sync) after {self.line(prior.site)}, before the {self.sync_word(sibling)} on {self.line(sibling.site)}; "
            if sibling.site.name == "mbarrier":
                mend += "or let every lane arrive, with the barrier's count raised to match (32 for a warp)"
            else:
                mend += "or __syncthreads() (bar.sync), where threads of other warps have stored as well"
            return build("S027", self.frames(*both), mend=mend, **fields)
        apart = of.cta[prior.thread] != of.cta[current.thread]
        colleague = self.sibling_release(prior, current.thread, of.per_cta) if apart else None
        if colleague is not None and colleague.site is not None:
            both.append((colleague.site, "releases only what its own thread did and knew"))
            mend = (
                f"add __syncthreads() (bar.sync) after {self.line(prior.site)}, before the {self.sync_word(colleague)} on {self.line(colleague.site)}: a release by one thread covers the accesses "
                "of others only if a barrier orders them before it"
            )
            return build("S020", self.frames(*both), mend=mend, rule=RULE_RACE, **fields)
        informed = self.informed(prior, current.thread)
        notes = []
        if informed is not None:
            same_warp = of.warp[informed] == of.warp[current.thread]
            barrier = "__syncwarp() (bar.warp.sync)" if same_warp else self.barrier_between(current, current)
            mend = (
                f"thread {informed % of.per_cta} of this CTA is ordered after the {prior.what} (it waited), thread {current.thread % of.per_cta} is not: add {barrier} after that wait, before "
                f"{self.line(current.site)}, or let this thread wait itself"
            )
            if of.cta[prior.thread] != of.cta[current.thread]:
                mend += f"; between CTAs this takes a {self.barrier_between(prior, current)}"
        else:
            barrier = self.barrier_between(prior, current)
            mend = f"add a {barrier} after {self.line(prior.site)} and before {self.line(current.site)}, executed by both sides; or an mbarrier: arrive after the first, wait before the second"
            if of.cluster[prior.thread] != of.cluster[current.thread]:
                mend = (
                    f"publish with a release at .gpu scope after {self.line(prior.site)} (st.release.gpu, or __threadfence() before a flag) and observe it with an acquire at .gpu scope before "
                    f"{self.line(current.site)}, use atomics for the accesses themselves, or let one block alone use this address"
                )
            elif prior.site is current.site:
                mend = (
                    f"let one thread alone execute {self.line(current.site)} (elect, or if thread == 0), or give each thread a place of its own; if it meets itself in another turn of a loop, "
                    f"add a {barrier} to the loop"
                )
            elif of.cta[prior.thread] != of.cta[current.thread]:
                mend += "; __syncthreads() is not enough: it orders only the threads of one CTA"
            flag = self._flag_between(prior.thread, current.thread)
            if flag is not None:
                scope = self._needed_scope(prior.thread, current.thread)
                store, load = self.line(flag[0]), self.line(flag[1])
                fence = {"cta": "__threadfence_block()", "cluster": "fence.acq_rel.cluster", "gpu": "__threadfence()"}[scope]
                mend = (
                    f"the flag between them, stored on {store} and polled on {load}, orders nothing ({flag[0].mnemonic}, {flag[1].mnemonic}): use st.release.{scope} and ld.acquire.{scope}, "
                    f"or put a fence.acq_rel.{scope} ({fence}) before {store} and another after {load}"
                )
        after = self.barrier_after(prior.thread, prior.side.epoch)
        ignored = self.ignored.get(prior.thread)  # where the store came last
        if ignored is None and after is not None and after.site is not None and after.site.name == "mbarrier":
            ignored = self.ignored_wait(current.thread)
        if ignored is not None:
            both.append((ignored, "may return false, which nothing looks at"))
            mend = self.looping(ignored)
        if (
            after is not None
            and after.site is not None
            and ".arrive" in after.site.mnemonic
            and after.site.mnemonic.startswith(("bar.", "barrier.cta"))
        ):
            notes.append(f"bar.arrive ({self.line(after.site)}) only releases: the thread that arrives learns nothing")
        return build("S020", self.frames(*both), notes, mend, rule=RULE_RACE, **fields)
