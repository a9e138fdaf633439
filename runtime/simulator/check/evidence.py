"""What the run recorded about two conflicting accesses: who synchronised after the first, which edges were missed, who else knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.operations import GENERIC_KINDS, Operation
from fa4dsl.runtime.simulator.check.shadow import ATOMIC, REMOTE, SITE_SHIFT, SIZE_SHIFT
from fa4dsl.runtime.simulator.check.token import HB

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.diagnostics import Frame
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.clocks import Clocks
    from fa4dsl.runtime.simulator.check.memory_check import Side
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.sync import MissedEdge, Step, Synchronisation


SIGNALLING = frozenset({"tma_load", "bulk_load", "bulk_push", "bulk_reduce", "st_async", "red_async"})
"""Kinds whose completion an mbarrier tells."""


@dataclass(frozen=True)
class Access:
    """One side of a conflict in words."""

    side: Side
    site: Instruction
    thread: int
    operation: Operation | None
    what: str

    @property
    def size(self) -> int:
        return 1 << (self.side.info >> SIZE_SHIFT & 15)

    @property
    def generic(self) -> bool:
        return self.operation is None or self.operation.kind in GENERIC_KINDS


def same_ranges(one: Operation, other: Operation) -> bool:
    """Whether two operations write to the same places."""
    return len(one.writes) == len(other.writes) and all(
        a.length == b.length and np.array_equal(a.starts, b.starts) for a, b in zip(one.writes, other.writes, strict=True)
    )


class Evidence:
    """Questions about the record, and words for the answers."""

    def __init__(
        self,
        numbering: Threads,
        clocks: Clocks,
        sync: Synchronisation,
        naming: Naming,
        sites: Sequence[Instruction],
        operations: Sequence[Operation],
    ) -> None:
        self.of = numbering
        self.clocks = clocks
        self.sync = sync
        self.naming = naming
        self.sites = sites
        self.operations = operations
        self.first_operation = numbering.count + 1
        self.waited = np.zeros(numbering.count, np.int32)
        """By thread: site number + 1 of its latest mbarrier wait that returned true."""
        self.ignored: dict[int, Instruction] = {}
        """By thread its latest wait on an mbarrier whose result decides nothing."""

    # -- words
    def access(self, side: Side, address: int) -> Access:
        site = self.sites[side.info >> SITE_SHIFT]
        if side.agent >= self.first_operation:
            operation = self.operations[side.agent - self.first_operation]
            return Access(side, site, operation.issuer_of(address), operation, f"{operation.words} {'write' if side.write else 'read'}")
        what = "atomic update" if side.info & ATOMIC else "store" if side.write else "load"
        if side.info & REMOTE:
            what = f"remote {what}"
        return Access(side, site, side.agent - 1, None, what)

    def label(self, access: Access) -> str:
        issued = "issued " if access.operation is not None else ""
        who = self.naming.thread(access.thread)
        if access.operation is not None and access.operation.kind == "wgmma":
            group = access.operation.group
            who = self.naming.crowd(group.tolist()) if group is not None else who
        return f"the {access.what}, {issued}by {who}"

    def frames(self, *parts: tuple[Instruction | None, str]) -> list[Frame]:
        return [frame for site, label in parts for frame in self.naming.frames(site, label)]

    def line(self, site: Instruction | None) -> str:
        return self.naming.line(site)

    # -- the record
    def step_after(self, thread: int, epoch: int) -> Step | None:
        """The release or fence that ended this epoch of the thread."""
        for step in self.sync.steps:
            where = np.flatnonzero(step.threads == thread)
            if len(where) and step.epochs[where[0]] >= epoch:
                return step
        return None

    def barrier_after(self, thread: int, epoch: int) -> Step | None:
        for step in self.sync.steps:
            if "fence" in step.kind:
                continue
            where = np.flatnonzero(step.threads == thread)
            if len(where) and step.epochs[where[0]] >= epoch:
                return step
        return None

    def handed_over_early(self, prior: Access, thread: int) -> Instruction | None:
        """Where the copying thread told `thread` of a cp.async, behind it but before its own wait: since then the copy has landed as its store."""
        if prior.site.name != "cp" or prior.operation is not None or not prior.side.write:
            return None
        last = None
        for step in self.sync.steps:
            where = np.flatnonzero(step.threads == prior.thread)
            if len(where) and step.epochs[where[0]] < prior.side.epoch and step.kind == "arrive":
                last = step, step.epochs[where]
        if last is None or last[0].site is None or last[0].site.ptx_line < prior.site.ptx_line:
            return None
        told = self.clocks.knows(HB, np.array([thread], np.int64), np.array([prior.thread], np.int64), last[1])
        return last[0].site if told[0] else None

    def token_knows(self, edge: MissedEdge, prior: Access) -> bool:
        if prior.operation is not None:
            bit = 1 << prior.operation.number
            return bool((edge.token.facts.writes if prior.side.write else edge.token.facts.reads | edge.token.facts.writes) & bit)
        return edge.token.knows(int(self.of.cluster[prior.thread]), int(self.of.column[prior.thread]), prior.side.epoch)

    def missed_edge(self, prior: Access, thread: int) -> MissedEdge | None:
        """The latest join that did not happen and would have told `thread` of the prior access: one with a scope too narrow first, since a
        fence or release stands there already."""
        relaxed = None
        for edge in reversed(self.sync.missed):
            if relaxed is not None and edge.why.startswith("relaxed"):
                continue
            mine = edge.threads == thread
            if not mine.any():
                known = self.clocks.knows(HB, np.full(len(edge.threads), thread, np.int64), edge.threads, edge.epochs)
                if not known.any():
                    continue
            if self.token_knows(edge, prior):
                if not edge.why.startswith("relaxed"):
                    return edge
                relaxed = edge
        return relaxed

    def sibling_release(self, prior: Access, thread: int, around: int = 32) -> Step | None:
        """A release by another lane of the prior accessor's warp, after the access as far as is known, that `thread` has joined.
        `around`: threads of a warp, or of a CTA to look there."""
        if prior.operation is not None:
            return None
        u, group = prior.thread, self._group(np.array([prior.thread]), around)[0]
        begun = prior.side.epoch <= 1
        found = None
        for step in self.sync.steps:
            mine = np.flatnonzero(step.threads == u)
            if len(mine):
                if step.epochs[mine[0]] >= prior.side.epoch:
                    # From here on the access is released by its own thread: later releases of siblings explain nothing.
                    break
                begun = begun or step.epochs[mine[0]] == prior.side.epoch - 1
                continue
            if not begun or step.kind.endswith("fence"):
                continue
            near = np.flatnonzero((self._group(step.threads, around) == group) & (step.threads != thread))
            if len(near) and self.clocks.knows(HB, np.full(len(near), thread, np.int64), step.threads[near], step.epochs[near]).any():
                found = step
        return found

    def _group(self, threads: npt.NDArray[np.int64], around: int) -> npt.NDArray[np.int64]:
        return self.of.warp[threads] if around == 32 else self.of.cta[threads]

    def stale_wait(self, operation: Operation, thread: int) -> bool:
        """Whether `thread` is ordered after the issue of a copy on whose completion it did not wait, and knows of an earlier one there."""
        of = np.array([operation.thread], np.int64)
        issued = self.clocks.knows(HB, np.array([thread], np.int64), of, np.array([operation.epoch], np.int32))
        return bool(issued[0]) and operation.kind in SIGNALLING and self.refilled(operation, thread)

    def last_wait(self, thread: int) -> Instruction | None:
        """The latest mbarrier wait of a thread that returned true."""
        number = int(self.waited[thread])
        return self.sites[number - 1] if number else None

    def ignored_wait(self, thread: int) -> Instruction | None:
        """A wait whose result is ignored, by a thread, or by another one of its CTA."""
        if not self.ignored or thread in self.ignored:
            return self.ignored.get(thread)
        home = self.of.cta[thread]
        return next((site for other, site in self.ignored.items() if self.of.cta[other] == home), None)

    def looping(self, wait: Instruction) -> str:
        """The mend of a wait whose result is ignored."""
        name = "mbarrier.try_wait" if "try_wait" in wait.modifiers else "mbarrier.test_wait"
        return f"repeat the {name} on {self.line(wait)} until it returns true: it may return false, and nothing there looks at its result"

    def informed(self, prior: Access, thread: int) -> int | None:
        """Another thread of the current accessor's CTA (same warp first) that does know of the prior access."""
        first = thread // self.of.per_cta * self.of.per_cta
        others = np.arange(first, first + self.of.per_cta, dtype=np.int64)
        if prior.operation is not None:
            known = self.clocks.fact_mask(others, np.full(len(others), prior.operation.number, np.int64), 1 if prior.side.write else 0)
        else:
            known = self.clocks.knows(
                HB, others, np.full(len(others), prior.thread, np.int64), np.full(len(others), prior.side.epoch, np.int32)
            )
        known &= others != prior.thread
        if not known.any():
            return None
        near = known & (self.of.warp[others] == self.of.warp[thread])
        return int(others[np.flatnonzero(near if near.any() else known)[0]])

    def refilled(self, operation: Operation, thread: int) -> bool:
        """Whether `thread` knows of an earlier operation of the same instruction into the same CTA."""
        known = self.clocks.facts_of(thread).writes
        return any(
            known >> earlier.number & 1
            for earlier in self.operations[max(operation.number - 256, 0) : operation.number]
            if self.naming.place(earlier.site) == self.naming.place(operation.site)
            and earlier.target_ctas == operation.target_ctas
            and same_ranges(earlier, operation)
        )

    def barrier_between(self, prior: Access, current: Access) -> str:
        """The barrier that covers both threads and the CTAs whose memory they meet in."""
        home = int(self.of.cta[current.thread])
        targets = {cta for access in (prior, current) if access.operation is not None for cta in access.operation.target_ctas}
        if targets - {home} and self.of.cta[prior.thread] == self.of.cta[current.thread]:
            return "cluster barrier (barrier.cluster.arrive.release + barrier.cluster.wait.acquire)"
        if self.of.cta[prior.thread] == self.of.cta[current.thread]:
            return "__syncthreads() (bar.sync)"
        if self.of.cluster[prior.thread] == self.of.cluster[current.thread]:
            return "cluster barrier (barrier.cluster.arrive.release + barrier.cluster.wait.acquire)"
        return "release/acquire pair at .gpu scope"

    def sync_word(self, step: Step | None) -> str:
        if step is None or step.site is None:
            return "step"
        name = step.site.mnemonic
        if name.startswith("mbarrier"):
            return "arrive"
        if name.startswith("barrier.cluster"):
            return "cluster barrier"
        if name.startswith(("bar", "barrier")):
            return "barrier"
        return "release"

    def release_after_issue(self, operation: Operation, thread: int) -> Step | None:
        group = operation.group if operation.group is not None else np.array([operation.thread], np.int64)
        for step in self.sync.steps:
            if "fence" in step.kind:
                continue
            inside = np.flatnonzero(np.isin(step.threads, group))
            if (
                len(inside)
                and step.epochs[inside[0]] >= operation.epoch
                and self.clocks.knows(HB, np.full(len(inside), thread, np.int64), step.threads[inside], step.epochs[inside]).any()
            ):
                return step
        return None
