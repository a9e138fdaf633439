"""Explanations of conflicts with asynchronous operations, and of synchronisation that is there but too weak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.evidence import SIGNALLING, Access, Evidence
from fa4dsl.runtime.simulator.check.findings import build
from fa4dsl.runtime.simulator.check.numbering import SCOPE_NAMES

if TYPE_CHECKING:
    from fa4dsl.runtime.diagnostics import Diagnostic
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.operations import Operation
    from fa4dsl.runtime.simulator.check.sync import MissedEdge


class AsyncCauses(Evidence):
    """What the accessor of an operation's bytes has not waited for, and which scope or order is missing."""

    def _both(self, prior: Access, current: Access) -> list[tuple[Instruction | None, str]]:
        return [(prior.site, self.label(prior)), (current.site, self.label(current))]

    def _fields(self, prior: Access, current: Access, where: str) -> dict[str, str]:
        return {
            "first": prior.what,
            "second": current.what,
            "where": where,
            "first_line": self.line(prior.site),
            "second_line": self.line(current.site),
        }

    def _operation(self, prior: Access, current: Access, operation: Operation, where: str) -> Diagnostic:
        """The earlier access is an asynchronous operation whose completion the current accessor does not know of."""
        fields = self._fields(prior, current, where)
        edge = self.missed_edge(prior, current.thread)
        if edge is not None:
            return self._edge(edge, prior, current, where)
        both = self._both(prior, current)
        informed = self.informed(prior, current.thread)
        if operation.kind == "wgmma":
            release = self.release_after_issue(operation, current.thread)
            if release is not None:
                both.append((release.site, "released here, before the wgmma was waited for"))
            late = (
                f"the {self.sync_word(release)} on {self.line(release.site)}"
                if release is not None
                else f"{self.line(current.site)} overwrites its operands"
            )
            mend = f"execute wgmma.wait_group 0 (or a count that covers this group) before {late}: move the release after the wait"
            return build("S025", self.frames(*both), mend=mend, **fields)
        if operation.kind == "cp_async":
            mend = f"execute cp.async.wait_group 0 (or cp.async.wait_all) after {self.line(prior.site)} in the threads that copy, then __syncthreads() (bar.sync), before {self.line(current.site)}"
            return build("S028", self.frames(*both), mend=mend, **fields)
        if operation.kind in ("tma_store", "bulk_store", "tma_reduce") or (operation.kind == "bulk_reduce" and not operation.target_ctas):
            read = "" if prior.side.write else ".read"
            waiting = (
                f"thread {operation.thread % self.of.per_cta}, which issued it, must execute cp.async.bulk.commit_group and cp.async.bulk.wait_group{read} 0 (bulk groups belong to one thread; "
                f"with N groups in flight wait for all but those that may stay) after {self.line(prior.site)}"
            )
            together = (
                f", then a barrier with the threads that execute {self.line(current.site)}" if operation.thread != current.thread else ""
            )
            if informed == operation.thread and operation.thread != current.thread:
                waiting = f"the issuing thread has waited, but nothing orders its wait before {self.line(current.site)}"
                together = ": add __syncthreads() (bar.sync) between the two"
            return build("S024", self.frames(*both), mend=waiting + together, **fields)
        if not prior.side.write and operation.kind == "tma_load":
            mend = (
                f"the copy of {self.line(prior.site)} reads the tensor map until it has completed: let {self.naming.thread(current.thread)} wait for it (on the mbarrier that it signals) "
                f"before {self.line(current.site)} changes the map, or give each version a map of its own"
            )
        elif operation.kind in SIGNALLING and (ignored := self.ignored_wait(current.thread)) is not None:
            both.append((ignored, "may return false, which nothing looks at"))
            mend = self.looping(ignored)
        elif not current.side.write and self.stale_wait(operation, current.thread):
            wait = self.last_wait(current.thread)
            last = ""
            if wait is not None:
                both.append((wait, "the last mbarrier wait of the reading thread, which did not wait for this copy"))
                last = f"{self.line(wait)} did not: "
            mend = (
                f"{self.naming.thread(current.thread)} knows that the copy of {self.line(prior.site)} was issued, but has not waited for it: {last}a wait for the parity of an earlier phase passes at "
                "once. Ask for the phase of this copy: keep one phase bit for each barrier and flip it each time that barrier has been waited for"
            )
        elif self.refilled(operation, current.thread) or (
            current.operation is not None and self.naming.place(current.site) == self.naming.place(prior.site)
        ):
            # The accessor waited for an earlier copy into this slot, or it is the next copy itself: the slot was refilled too early.
            mend = (
                f"the copy of {self.line(prior.site)} refills the slot before the data of the copy before it have been used: let {self.naming.thread(operation.thread)} wait for all readers "
                f"first, on an 'empty' mbarrier that they arrive on after reading, or at a {self.barrier_between(prior, current)} after the reads and before {self.line(prior.site)}"
            )
        elif informed is not None:
            same_warp = self.of.warp[informed] == self.of.warp[current.thread]
            barrier = "__syncwarp() (bar.warp.sync)" if same_warp else "__syncthreads() (bar.sync)"
            mend = (
                f"thread {informed % self.of.per_cta} has waited for this {operation.words}, thread {current.thread % self.of.per_cta} has not: let every thread that uses the data wait on the mbarrier, "
                f"or add {barrier} after the wait, before {self.line(current.site)}"
            )
        elif not current.side.write:
            mend = f"wait on the mbarrier that {self.line(prior.site)} signals (mbarrier.try_wait with the phase of this copy) before {self.line(current.site)}"
        else:
            mend = (
                f"let {self.naming.thread(current.thread)} learn that the copy of {self.line(prior.site)} has landed and its data were used (wait on an mbarrier, or a "
                f"{self.barrier_between(prior, current)}) before {self.line(current.site)}"
            )
        return build("S024", self.frames(*both), mend=mend, **fields)

    def _edge(self, edge: MissedEdge, prior: Access, current: Access, where: str) -> Diagnostic:
        fields = self._fields(prior, current, where)
        token, home = edge.token, min(edge.token.ctas)
        waiter = int(self.of.cta[edge.threads[0]])
        arrive, wait = self.line(token.site), self.line(edge.site)
        both = self._both(prior, current)
        if edge.why in ("relaxed arrive", "relaxed wait"):
            side = token.site if edge.why == "relaxed arrive" else edge.site
            both += [(token.site, "the release side"), (edge.site, "the acquire side")]
            scope = self._needed_scope(prior.thread, current.thread)
            fence = f"fence.acq_rel.{'cluster' if side is not None and side.name == 'barrier' else scope}"
            fence += {"cta": " (__threadfence_block())", "gpu": " (__threadfence())"}.get(scope, "")
            relaxed = "arrive" if edge.why == "relaxed arrive" else "wait"
            if side is not None and side.name not in ("mbarrier", "barrier"):
                relaxed = {"st": "store", "ld": "load"}.get(side.name, "atomic")
            mend = (
                f"make the {relaxed} on {arrive} a release: use {self._releasing(token.site, scope)}, or execute {fence} before it, after {self.line(prior.site)}"
                if edge.why == "relaxed arrive"
                else f"make the {relaxed} on {wait} an acquire: use {self._qualified(edge.site, 'acquire', scope)}, or execute {fence} after it, before {self.line(current.site)}"
            )
            return build("S046", self.frames(*both), mend=mend, relaxed=relaxed, sync_line=self.line(side), **fields)
        needed = 1 if self.of.same_instance(home, waiter, 1) else 2
        scope = SCOPE_NAMES[needed]
        parts = []
        if not all(self.of.same_instance(cta, waiter, token.scope) for cta in token.ctas):
            parts.append(f"{self._qualified(token.site, 'release', scope)} on {arrive}")
        if not all(self.of.same_instance(cta, waiter, edge.level) for cta in token.ctas):
            parts.append(f"{self._qualified(edge.site, 'acquire', scope)} on {wait}")
        both += [
            (token.site, f"the release, at .{SCOPE_NAMES[token.scope]} scope"),
            (edge.site, f"the acquire, at .{SCOPE_NAMES[edge.level]} scope"),
        ]
        refill = current.operation is not None and current.side.write and (prior.operation is not None or not prior.side.write)
        return build(
            "S029" if refill else "S023",
            self.frames(*both),
            mend=f"needs .{scope} scope: " + " and ".join(parts),
            arrive=arrive,
            wait=wait,
            arrive_scope=SCOPE_NAMES[token.scope],
            wait_scope=SCOPE_NAMES[edge.level],
            scope=scope,
            **fields,
        )

    def _releasing(self, site: Instruction | None, scope: str) -> str:
        if site is not None and site.name == "barrier":
            return "barrier.cluster.arrive.release (the default)"
        return self._qualified(site, "release", scope)

    def _needed_scope(self, first: int, second: int) -> str:
        a, b = int(self.of.cta[first]), int(self.of.cta[second])
        return next(SCOPE_NAMES[level] for level in range(3) if self.of.same_instance(a, b, level))

    def _qualified(self, site: Instruction | None, order: str, scope: str) -> str:
        """The instruction's name with the order and scope it needs."""
        if site is None:
            return f".{order}.{scope}"
        name = site.mnemonic
        if name.startswith("mbarrier"):
            verb = "arrive" if ".arrive" in name else "test_wait" if "test_wait" in name else "try_wait"
            form = ".expect_tx" if ".expect_tx" in name else ".parity" if ".parity" in name else ""
            return (
                f"mbarrier.{verb}{form}.{order}.{scope} (mbarrier.{verb}.{order}.{scope})" if form else f"mbarrier.{verb}.{order}.{scope}"
            )
        if name.startswith(("fence", "membar")):
            return f"fence.acq_rel.{scope}"
        return f"{name.split('.')[0]}.{order}.{scope}"
