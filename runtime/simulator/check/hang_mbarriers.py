"""What a thread that waits for an mbarrier in a hang lacks: arrivals, bytes, the right parity; and the mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.check.wait_graph import Party, WaitGraph
from fa4dsl.runtime.simulator.frames import outermost

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.waiting import BarrierState


@dataclass(frozen=True)
class Cause:
    """A diagnosis of one party, the likelier the lower `rank`."""

    rank: int
    code: str
    party: Party
    what: str
    mend: str
    arrives: tuple[Instruction, ...] = ()
    """Where others arrive on the barrier, or on its neighbours in a ring."""
    arrives_as: str = "arrives, as long as it goes round"


class MbarrierCauses(WaitGraph):
    """Causes of waits for mbarriers."""

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
            what = f"{name} gets no more arrivals: {naming.crowd(gone)}, which arrived in earlier phases, exited"
            return [Cause(2, "S053", party, what, mend, tuple(self.history.arrivers.get(barrier.address, ())))]
        past = self._gone_past(party, barrier, name)
        if past is not None:
            return [past]
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
            home = self._stayed_at_home(party, barrier, name)
            if home is not None:
                return [home]
            return [
                Cause(
                    4, "S050", party, f"nobody arrives on {name}: arrivals 0 of {barrier.expected}", self._no_arrival_mend(party, barrier)
                )
            ]
        return [Cause(5, "S050", party, f"{name}: arrivals 0 of {barrier.expected}", self._no_arrival_mend(party, barrier))]

    def _gone_past(self, party: Party, barrier: BarrierState, name: str) -> Cause | None:
        """Those who arrive on this barrier, or on its neighbours in a ring, have left the loop in which they do, and wait elsewhere."""
        stride = self.naming.shared_stride
        ring, _ = self.naming.find("shared", barrier.address)
        sites: dict[Instruction, set[int]] = {}
        for address, arrivers in self.history.arrivers.items():
            if address // stride == barrier.address // stride and self.naming.find("shared", address)[0] is ring and ring is not None:
                for site, threads in arrivers.items():
                    sites.setdefault(site, set()).update(threads)
        everybody = sorted({thread for threads in sites.values() for thread in threads})
        stands = {thread: self.where.get(thread) for thread in everybody}
        if not everybody or any(other is None or other is party for other in stands.values()):
            return None
        copies = self.flow.copies(sites)  # an unrolled loop has not come to all of its arrivals yet
        if any(other is not None and self.flow.may_reach(other.waiter.site, copies) for other in stands.values()):
            return None
        naming = self.naming
        lines = ", ".join(dict.fromkeys(naming.line(site) for site in sites))
        what = f"{name} gets no more arrivals: {self._stands(everybody)}, past {lines}, where they arrive on {ring.name if ring else name}"
        mend = (
            f"let {naming.crowd(everybody)} arrive once more on {lines}, or let those on {naming.line(party.waiter.site)} wait once less: "
            "both sides must go round equally often"
        )
        return Cause(1, "S053", party, what, mend, tuple(sites))

    def _stayed_at_home(self, party: Party, barrier: BarrierState, name: str) -> Cause | None:
        """Arrivals of the cluster form that all went to the own CTA's barrier, where nobody waits: an address without mapa names the own CTA."""
        naming = self.naming
        per, size, stride = naming.threads.per_cta, naming.threads.cluster_size, naming.shared_stride
        waited = {(other.barrier.address, other.barrier.cta) for other in self.parties if other.barrier is not None}
        lonely = {
            b.address
            for b in self.hang.barriers
            if b.kind == "mbarrier"
            and b.cta // size == barrier.cta // size
            and b.consumed in (None, -1)
            and (b.address, b.cta) not in waited
        }
        sites: dict[Instruction, dict[int, set[int]]] = {}
        for address, arrivers in self.history.arrivers.items():
            for site, threads in arrivers.items():
                if "shared::cluster" in site.modifiers:
                    sites.setdefault(site, {})[address] = threads
        for site, places in sites.items():
            if all(address in lonely and all(thread // per == address // stride for thread in who) for address, who in places.items()):
                address = next(iter(places))
                own = f"{naming.barrier(address)} of {naming.cta(address // stride)}"
                what = f"nobody arrives on {name}: arrivals 0 of {barrier.expected}; {naming.line(site)} arrives on the barrier of its own CTA instead ({own}), where nobody waits"
                mend = (
                    f"map the address on {naming.line(site)} to the peer's barrier first (mapa.shared::cluster, cluster.map_shared_rank): an address of shared memory that is not mapped names "
                    "the own CTA, in the shared::cluster window too"
                )
                return Cause(0, "S050", party, what, mend, (site,), "arrives on the barrier of its own CTA")
        return None

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

    def _counts_too_low(self, party: Party) -> list[BarrierState]:
        """Another barrier of the waiting threads' CTA on which more threads have arrived in the run than its count, if there is one."""
        mine = party.barrier
        found = (
            barrier
            for barrier in self.hang.barriers
            if barrier.kind == "mbarrier"
            and mine is not None
            and (barrier.address, barrier.cta) != (mine.address, mine.cta)
            and barrier.cta == mine.cta
            and barrier.phase > 0
            and len(set().union(*self.history.arrivers.get(barrier.address, {}).values())) > barrier.expected
        )
        return [barrier for _, barrier in zip(range(1), found, strict=False)]
