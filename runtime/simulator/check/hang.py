"""Explains a hang: every waiter and what it lacks, who could still bring it and where that one stands, the cycle, the likely cause and the mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.findings import build
from fa4dsl.runtime.simulator.check.hang_mbarriers import Cause, MbarrierCauses
from fa4dsl.runtime.simulator.check.wait_graph import History, Party
from fa4dsl.runtime.simulator.frames import outermost

if TYPE_CHECKING:
    from fa4dsl.runtime.diagnostics import Diagnostic
    from fa4dsl.runtime.simulator.waiting import BarrierState

__all__ = ["HangExplainer", "History"]


class HangExplainer(MbarrierCauses):
    """Turns the machine's `Hang` into diagnostics, the root cause first."""

    # -- causes
    def _causes(self) -> list[Cause]:
        found: list[Cause] = []
        for party in self.parties:
            barrier = party.barrier
            if party.waiter.kind == "registers":
                found.append(self._registers(party))
            elif barrier is None:
                if party.waiter.kind in ("warp", "warpgroup"):
                    found.append(self._partial(party))
                continue
            elif barrier.kind == "mbarrier":
                found.extend(self._mbarrier(party, barrier))
            elif barrier.kind == "bar":
                found.append(self._named(party, barrier))
            else:
                found.append(self._cluster(party, barrier))
        return sorted(
            found,
            key=lambda cause: (
                cause.rank + (10 if cause.code in ("S055", "S057") and self.consequence(cause.party, cause.code == "S055") else 0),
                bool(cause.arrives),  # a wrong count explains more than arrivals that end
            ),
        )

    def _registers(self, party: Party) -> Cause:
        detail = party.waiter.detail or "the pool cannot supply the registers asked for"
        return Cause(
            0,
            "S054",
            party,
            detail,
            "lower the setmaxnreg.inc counts, or let other warpgroups give up more with setmaxnreg.dec first: the sum over all warpgroups of 128 x registers must not exceed threads x registers at launch",
        )

    def _partial(self, party: Party) -> Cause:
        what = f"{self.naming.crowd(sorted(party.threads))} wait on {self.naming.line(party.waiter.site)} ({party.waiter.site.mnemonic}) for {self.name(party.waiter)}"
        if party.waiter.detail:
            what += f": {party.waiter.detail}"
        mend = "let all lanes of the warp (all warps of the warpgroup) reach this instruction: move it out of the branch that only some take, or use an mbarrier arrive by the elected lane instead"
        return Cause(2, "S055", party, what, mend)

    def _named(self, party: Party, barrier: BarrierState) -> Cause:
        naming = self.naming
        arrived = barrier.expected - barrier.pending
        what = f"{self.name(party.waiter)} has {arrived} of {barrier.expected} threads"
        if party.arrivers:
            what += f"; missing: {self._stands(party.arrivers)}"
        per = naming.threads.per_cta
        live = [thread for thread in range(barrier.cta * per, barrier.cta * per + per) if thread not in self.exited]
        if barrier.expected > len(live):
            mend = f"the count {barrier.expected} is more than the {len(live)} threads that still run: lower it{f' to {arrived}' if arrived else ''}, or let the threads that exited execute bar.arrive {barrier.address} before"
        elif arrived and not any(self.where.get(thread) is None for thread in party.arrivers):
            mend = f"let {barrier.pending} more threads execute bar.sync or bar.arrive {barrier.address}, or lower its count to {arrived}: those that are missing wait elsewhere"
            if barrier.address == 0 and barrier.expected == per:
                mend = f"bar.sync without a count (__syncthreads) waits for all {per} threads: inside a role use a named barrier with the role's own count, here {arrived}"
        else:
            mend = f"let {barrier.pending} more threads execute bar.sync or bar.arrive {barrier.address}, or lower its count to {arrived}"
        return Cause(2, "S055", party, what, mend)

    def _cluster(self, party: Party, barrier: BarrierState) -> Cause:
        naming = self.naming
        done = {thread for arrival in barrier.arrivals for thread in arrival.threads}
        own = [thread for thread in party.threads if thread not in done]
        arrived = barrier.expected - barrier.pending
        if own:
            what = f"{naming.crowd(own)} wait on {naming.line(party.waiter.site)} at the cluster barrier without having arrived at it in this phase"
            return Cause(
                1,
                "S057",
                party,
                what,
                f"execute barrier.cluster.arrive before barrier.cluster.wait on {naming.line(party.waiter.site)}, in every thread",
            )
        what = f"the cluster barrier has {arrived} of {barrier.expected - len([t for t in self.exited if t // naming.threads.per_cluster == barrier.cta // naming.threads.cluster_size])} running threads"
        if party.arrivers:
            what += f"; missing: {self._stands(party.arrivers)}"
        return Cause(
            3,
            "S057",
            party,
            what,
            "let every running thread of every CTA of the cluster execute barrier.cluster.arrive (roles that leave early included), or use an mbarrier for a part of them",
        )

    def _polling(self, party: Party) -> Cause:
        """Threads read the same again and again: what they look at, and who changed it last."""
        line = self.naming.line(party.waiter.site)
        what = "threads poll memory that nobody changes" if self.hang.reason == "livelock" else "nothing can run"
        change = self.history.last_change
        name, site, label = change(party.threads[0]) if change is not None and party.waiter.kind == "polling" else ("", None, "")
        if not name:
            return Cause(9, "S050", party, what, f"let somebody write what {line} polls")
        what = f"{what}: {name}"
        if site is None:
            return Cause(9, "S050", party, f"{what}, which nobody has written", f"let somebody write {name}, which {line} polls")
        if outermost(site) == outermost(party.waiter.site):
            mend = f"whoever changed {name} on {line} must write it back for the others: a lock that is taken and never released"
        else:
            mend = (
                f"let somebody write {name}, which {line} polls, after {self.naming.line(site)} did, or wait for the value that it has then: "
                "count who changes it, and how often, against the value waited for"
            )
        return Cause(9, "S050", party, what, mend, (site,), f"the last change: {label}")

    # -- the report
    def diagnostics(self) -> list[Diagnostic]:
        """One finding: the likeliest cause, all waiters as frames and notes."""
        naming = self.naming
        causes = self._causes()
        cycle = self.cycle()
        notes = [self.sentence(party) for party in self.parties[:24]]
        if len(self.parties) > 24:
            notes.append(f"{len(self.parties) - 24} more groups of waiters are left out")
        if cycle:
            names = [f"{naming.line(party.waiter.site)} waits for {self.name(party.waiter)}" for party in cycle]
            notes.append("cycle: " + " <- ".join(names) + f" <- {names[0]}")
        if self.exited:
            notes.append(f"exited: {naming.crowd(sorted(self.exited))}")
        for instruction in self.hang.inflight[:4]:
            notes.append(f"in flight: {instruction.mnemonic} of {naming.line(instruction)}")
        if not causes:
            causes = [self._polling(self.parties[0])] if self.parties else []
        if not causes:
            return []
        best = causes[0]
        code = best.code
        mend = best.mend
        if cycle and best.rank >= 4 and best.party in cycle and not mend.startswith("the same barrier"):
            code = "S056"
            mend = "break the cycle: " + "; or ".join(
                f"let an arriver of {self.name(party.waiter)} arrive before it waits on {naming.line(cycle[(i + 1) % len(cycle)].waiter.site)}"
                for i, party in enumerate(cycle[:2])
            )
        frames = list(
            naming.frames(best.party.waiter.site, f"{naming.crowd(sorted(best.party.threads))} wait for {self.name(best.party.waiter)}")
        )
        barrier = best.party.barrier
        if barrier is not None:
            # what completed the phase before matters only where it completed too early
            for arrival in (*(barrier.before if "completed;" in best.what else ()), *barrier.arrivals):
                words = {
                    "arrive": "arrives",
                    "drop": "arrives for the last time",
                    "expect_tx": f"expects {arrival.count} bytes",
                    "bytes": f"brought {arrival.count} bytes",
                }[arrival.kind]
                frames += naming.frames(
                    arrival.site, f"{words}: {naming.crowd(sorted(set(arrival.threads)))}" if arrival.threads else words
                )
            if barrier.initialised is not None:
                frames += naming.frames(barrier.initialised, f"initialised with a count of {barrier.expected}")
        frames += [frame for site in best.arrives for frame in naming.frames(site, best.arrives_as)]
        for party in [party for party in self.parties[:24] if party is not best.party]:
            frames += naming.frames(party.waiter.site, f"waits for {self.name(party.waiter)}")
        if code in ("S050", "S053", "S056"):
            for low in self._counts_too_low(best.party):
                sites = self.history.arrivers[low.address]
                words = f"{naming.barrier(low.address)} of {naming.cta(low.cta)}"
                notes.append(f"{words} was given a count of {low.expected}, but {len(set().union(*sites.values()))} threads arrive on it")
                mend += (
                    f"; or give {words} a count of all that arrive in a phase ({naming.line(low.initialised)}): with {low.expected} it "
                    "completes before some have arrived"
                )
                frames += naming.frames(low.initialised, f"initialised with a count of {low.expected}")
                frames += [frame for site in sites for frame in naming.frames(site, "arrives")]
        return [build(code, frames, notes, mend, what=best.what, reason=self.hang.reason)]
