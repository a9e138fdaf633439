"""Explains a hang: every waiter and what it lacks, who could still bring it and where that one stands, the cycle, the likely cause and the mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.findings import build
from fa4dsl.runtime.simulator.check.wait_graph import History, Party, WaitGraph
from fa4dsl.runtime.simulator.frames import outermost

if TYPE_CHECKING:
    from fa4dsl.runtime.diagnostics import Diagnostic
    from fa4dsl.runtime.simulator.waiting import BarrierState

__all__ = ["HangExplainer", "History"]


@dataclass(frozen=True)
class Cause:
    """A diagnosis of one party, the likelier the lower `rank`."""

    rank: int
    code: str
    party: Party
    what: str
    mend: str


class HangExplainer(WaitGraph):
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
                cause.rank + (10 if cause.code in ("S055", "S057") and self.consequence(cause.party, cause.code == "S055") else 0)
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

    def _mbarrier(self, party: Party, barrier: BarrierState) -> list[Cause]:
        name = self.name(party.waiter)
        got, expected = self._bytes(barrier)
        arrived = barrier.expected - barrier.pending
        naming = self.naming
        phase = party.waiter.waited_phase & 1
        if phase != barrier.phase & 1:
            return [
                Cause(
                    3,
                    "S050",
                    party,
                    f"{naming.crowd(sorted(party.threads))} wait for a phase of {name} that has already passed or is two ahead (parity {phase} asked, phase {barrier.phase} current)",
                    "track the parity per barrier: start at 0 for consumers (1 for producers on 'empty'), and flip it each time round the ring",
                )
            ]
        if barrier.pending == 0 and barrier.transactions > 0:
            return [self._missing_bytes(party, barrier, name, got, expected)]
        if barrier.pending == 0 and barrier.transactions < 0:
            copies = [arrival for arrival in barrier.arrivals if arrival.kind == "bytes"]
            # A copy of one thread and line that came twice belongs to the next round.
            round_bytes = sum({(outermost(copy.site), copy.threads): copy.count for copy in reversed(copies)}.values())
            whole = round_bytes if expected < round_bytes < got else got
            mend = f"raise the expected bytes to {whole} (expect_tx counts every byte that lands on this barrier)"
            if expected and len(copies) > 1 and got % expected == 0:
                mend = (
                    f"{got // expected} copies of {expected} bytes landed in one phase: the next ones were issued before this one was consumed; let their issuer wait for the readers first (an 'empty' "
                    f"mbarrier, or a cluster barrier where they are in another CTA). If they belong to one phase, expect {got} bytes"
                )
            return [Cause(1, "S052", party, f"{name}: {got} bytes have landed but only {expected} were expected", mend)]
        early = self._completed_early(party, barrier, name)
        if early is not None:
            return [early]
        nobody = not any(arrival.kind in ("arrive", "drop") for arrival in barrier.arrivals)
        if arrived == 0 and nobody and (expected or (got and not party.arrivers)):
            sites = [arrival.site for arrival in barrier.arrivals if arrival.kind == "expect_tx"]
            line = f" on {naming.line(sites[0])}" if sites else ""
            mend = (
                f"mbarrier.arrive.expect_tx instead of mbarrier.expect_tx{line}: expect_tx alone never arrives (or add an mbarrier.arrive)"
            )
            return [
                Cause(
                    0,
                    "S051",
                    party,
                    f"{name}: {got} of {expected} bytes have landed, but arrivals are 0 of {barrier.expected}: bytes were expected and nobody arrived",
                    mend,
                )
            ]
        if arrived > 0:
            done = sorted({thread for arrival in barrier.arrivals if arrival.kind != "bytes" for thread in arrival.threads})
            init = f" on {naming.line(barrier.initialised)}" if barrier.initialised is not None else ""
            lines = ", ".join(dict.fromkeys(naming.line(arrival.site) for arrival in barrier.arrivals if arrival.kind != "bytes"))
            what = f"{name} needs {barrier.expected} arrivals and got {arrived} (from {naming.crowd(done)} on {lines})"
            if expected != got:
                what += f"; bytes {got} of {expected}"
            mend = f"init the barrier{init} with {arrived}, or let all {barrier.expected} threads arrive"
            missing = [thread for thread in party.arrivers if thread not in done]
            if missing and all(thread in self.exited for thread in missing):
                what += f"; {naming.crowd(missing)} exited without arriving"
            return [Cause(1 if arrived < barrier.expected else 2, "S053", party, what, mend)]
        gone = [thread for thread in party.arrivers if thread in self.exited]
        if gone and len(gone) == len(party.arrivers):
            mend = f"let {naming.crowd(gone)} arrive once more before the exit, or wait once less: both sides must run the same number of iterations"
            return [
                Cause(
                    2, "S053", party, f"{name} gets no more arrivals: {naming.crowd(gone)}, which arrived in earlier phases, exited", mend
                )
            ]
        if arrived == 0 and barrier.consumed is not None and barrier.phase - 1 >= 0 and barrier.consumed < barrier.phase - 1:
            return [
                Cause(
                    2,
                    "S050",
                    party,
                    f"{naming.crowd(sorted(party.threads))} wait for phase {barrier.phase} (parity {phase}) of {name}, but have never waited for phase {barrier.phase - 1}, which has completed",
                    f"flip the parity each time round the ring: {naming.line(party.waiter.site)} must ask for parity {1 - phase} here (phase k has parity k & 1)"
                    + self._more_arrivers(party, barrier),
                )
            ]
        if not party.arrivers and not barrier.arrivals:
            return [
                Cause(
                    4, "S050", party, f"nobody arrives on {name}: arrivals 0 of {barrier.expected}", self._no_arrival_mend(party, barrier)
                )
            ]
        return [Cause(5, "S050", party, f"{name}: arrivals 0 of {barrier.expected}", self._no_arrival_mend(party, barrier))]

    def _more_arrivers(self, party: Party, barrier: BarrierState) -> str:
        """That the count may be too low for those who arrive, so that phases complete too soon."""
        if len(party.arrivers) <= barrier.expected or barrier.initialised is None:
            return ""
        return (
            f"; or, if all {len(party.arrivers)} threads that arrive do so in each phase, initialise the barrier on {self.naming.line(barrier.initialised)} with "
            f"{len(party.arrivers)}, not {barrier.expected}"
        )

    def _completed_early(self, party: Party, barrier: BarrierState, name: str) -> Cause | None:
        """The phase before expected fewer bytes than its copies bring: it completed without some, which landed in this phase."""
        before = {(outermost(copy.site), copy.threads) for copy in barrier.before if copy.kind == "bytes"}
        late = [copy for copy in barrier.arrivals if copy.kind == "bytes" and (outermost(copy.site), copy.threads) not in before]
        expects = [arrival for arrival in barrier.before if arrival.kind == "expect_tx"]
        if barrier.transactions >= 0 or not late or not expects:
            return None
        naming = self.naming
        expected, surplus = sum(arrival.count for arrival in expects), sum(copy.count for copy in late)
        line = naming.line(expects[-1].site)
        what = (
            f"{name}: phase {barrier.phase - 1} expected {expected} bytes ({line}) and completed; {surplus} bytes of its copies ({naming.line(late[0].site)}) landed "
            "afterwards, so its data were used too early and the count of the next phase is wrong"
        )
        mend = f"expect {expected + surplus} bytes on {line}: every copy that signals this barrier in a phase counts, those that other CTAs multicast too"
        return Cause(0, "S052", party, what, mend)

    def _no_arrival_mend(self, party: Party, barrier: BarrierState) -> str:
        naming = self.naming
        per = naming.threads.per_cta
        elsewhere = [
            b
            for b in self.hang.barriers
            if b.kind == "mbarrier"
            and b.address != barrier.address
            and b.arrivals
            and b.address % naming.shared_stride == barrier.address % naming.shared_stride
        ]
        ahead = [
            b
            for b in self.hang.barriers
            if b.kind == "mbarrier"
            and b.cta != barrier.cta
            and b.phase > barrier.phase
            and b.address % naming.shared_stride == barrier.address % naming.shared_stride
        ]
        if ahead and not elsewhere:
            return (
                f"the same barrier of {naming.cta(ahead[0].cta)} has completed this phase: let its arrivers arrive on that of {naming.cta(barrier.cta)} too "
                "(mapa of every rank, the own one included)"
            )
        if elsewhere:
            other = elsewhere[0]
            return f"the same barrier of {naming.cta(other.cta)} has {self.counts(other)}: arrive (or copy) to {naming.cta(barrier.cta)} too: use its mapa address or put its bit into the multicast mask"
        mend = f"let the producer of this phase arrive (mbarrier.arrive) on {naming.barrier(barrier.address)} of {naming.cta(barrier.cta)}, before it waits for anything that depends on {naming.line(party.waiter.site)}"
        if all(thread // per == barrier.cta for thread in party.threads) and party.waiter.waited_phase & 1 == 0 and barrier.phase == 0:
            mend += "; a producer's first wait on a fresh 'empty' barrier must ask for parity 1"
        return mend

    def _missing_bytes(self, party: Party, barrier: BarrierState, name: str, got: int, expected: int) -> Cause:
        naming = self.naming
        size = naming.threads.cluster_size
        expects = [arrival for arrival in barrier.arrivals if arrival.kind == "expect_tx"]
        lines = ", ".join(dict.fromkeys(naming.line(arrival.site) for arrival in expects))
        copies = ", ".join(dict.fromkeys(naming.line(arrival.site) for arrival in barrier.arrivals if arrival.kind == "bytes"))
        where = f" (expected on {lines})" if lines else ""
        what = f"{name}: expected {expected} B{where}, got {got} B" + (
            f" (from the copy on {copies})" if copies else ": no copy signalled this barrier"
        )
        if got and expected == got * size and size > 1:
            mend = f"expect {got} bytes: each CTA gets only its own tile, so do not multiply by the cluster size {size}"
        elif got:
            mend = f"expect {got} bytes in this phase, or issue the copies for the missing {expected - got} bytes"
        else:
            same = [
                b
                for b in self.hang.barriers
                if b.kind == "mbarrier"
                and b.cta != barrier.cta
                and b.address % naming.shared_stride == barrier.address % naming.shared_stride
            ]
            same_done = [b for b in same if b.phase > barrier.phase]
            others = [
                p
                for p in self.hang.barriers
                if p.kind == "mbarrier" and p.cta == barrier.cta and p.address != barrier.address and p.transactions < 0
            ]
            if same_done or (same and size > 1):
                done = (same_done or same)[0]
                mend = (
                    f"the copy reached {naming.cta(done.cta)} only: set the bit of {naming.cta(barrier.cta)} in the multicast mask (mask {(1 << size) - 1:#x} for all {size} CTAs), "
                    "or do not expect bytes here"
                )
            elif others:
                mend = f"the bytes went to {naming.barrier(others[0].address)}: give the copy this barrier instead"
            else:
                mend = f"issue a copy of {expected} bytes that signals {naming.barrier(barrier.address)}, or do not expect them"
        return Cause(0, "S052", party, what, mend)

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
            site = self.parties[0].waiter.site if self.parties else None
            what = "threads poll memory that nobody changes" if self.hang.reason == "livelock" else "nothing can run"
            causes = [Cause(9, "S050", self.parties[0], what, f"let somebody write what {naming.line(site)} polls")] if self.parties else []
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
        for party in [party for party in self.parties[:24] if party is not best.party]:
            frames += naming.frames(party.waiter.site, f"waits for {self.name(party.waiter)}")
        return [build(code, frames, notes, mend, what=best.what, reason=self.hang.reason)]
