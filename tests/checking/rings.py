"""Producer and consumer rings as MLIR text, correct or with one thing wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m

HALF = 4096
"""Bytes of one copy."""


@dataclass(frozen=True)
class Ring:
    """One producing warp with an elected lane, `consumers` warpgroups with one signalling thread each. With `cluster` 2 every CTA
    multicasts its half of each slot to both, and consumers release a slot in both CTAs."""

    stages: int = 3
    consumers: int = 1
    trips: str = "%trips"
    consumer_trips: str = ""
    cluster: int = 1
    matrix: bool = False
    # what may be wrong
    full_arrivals: int = 1
    empty_arrivals: int = 0
    extra_bytes: int = 0
    drop: str = ""
    """An operation that is left out: arrive_full, arrive_empty, wait_empty, wait_full, load, start_barrier, end_barrier, init."""
    twice: str = ""
    """arrive_empty or load: done twice."""
    producer_parity: str = "%c1"
    consumer_parity: str = "%c0"
    remote_scope: str = "cluster"
    local_barrier: bool = False
    """A CTA barrier where the cluster barrier belongs."""
    release_early: bool = False
    everyone_releases: bool = False

    def but(self, **changes: object) -> Ring:
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def threads(self) -> int:
        return 128 * self.consumers + 32

    def text(self) -> str:
        slot_bytes = HALF * self.cluster
        declared = self.empty_arrivals or self.consumers * self.cluster
        scope = "cluster" if self.cluster > 1 else "cta"
        setup = [
            m.barrier("full", self.full_arrivals, self.stages, scope),
            m.barrier("empty", declared, self.stages, scope),
            m.array("ring", self.stages * slot_bytes // 4, alignment=1024),
            f"%stages = arith.constant {self.stages} : i32",
            f"%slot_bytes = arith.constant {slot_bytes} : i32",
            f"%copied = arith.constant {HALF} : i32",
            f"%expected = arith.constant {slot_bytes + self.extra_bytes} : i32",
            "%c128 = arith.constant 128 : i32",
            "%in_group = arith.remui %thread, %c128 : i32",
            "%signals = arith.cmpi eq, %in_group, %c0 : i32",
            "%both = arith.constant 3 : i16",
        ]
        if self.drop != "init":
            setup += [m.init("full"), m.init("empty")]
        if self.drop != "start_barrier":
            setup.append(m.cluster_sync() if self.cluster > 1 and not self.local_barrier else m.sync())
        roles = [m.role("producer", 4 * self.consumers, 1, self._producer())]
        roles += [m.role(f"consumer{i}", 4 * i, 4, self._consumer()) for i in range(self.consumers)]
        end = [m.cluster_sync()] if self.cluster > 1 and self.drop != "end_barrier" else []
        arguments = "%source: !llvm.ptr<1>, %trips: i32, %other: i32"
        return m.kernel(*setup, *roles, *end, threads=self.threads, cluster=self.cluster, arguments=arguments)

    def _loop(self, trips: str, parity: str, *body: str) -> str:
        inside = "\n".join(f"  {line}" for part in body if part for line in part.split("\n"))
        return (
            f"%ignored:2 = scf.for %i = %c0 to {trips} step %c1 iter_args(%slot = %c0, %phase = {parity}) -> (i32, i32) : i32 {{\n"
            f"{inside}\n"
            "  %next = arith.addi %slot, %c1 : i32\n"
            "  %wraps = arith.cmpi eq, %next, %stages : i32\n"
            "  %slot_after = arith.select %wraps, %c0, %next : i32\n"
            "  %flipped = arith.xori %phase, %c1 : i32\n"
            "  %phase_after = arith.select %wraps, %flipped, %phase : i32\n"
            "  scf.yield %slot_after, %phase_after : i32, i32\n"
            "}"
        )

    def _producer(self) -> str:
        wait = "" if self.drop == "wait_empty" else m.wait("empty", "%phase", "%slot", "cluster" if self.cluster > 1 else "cta")
        expect = m.expect("full", "%expected", "%slot") if self.drop == "arrive_full" else m.arrive_expect("full", "%expected", "%slot")
        place = "%offset = arith.muli %slot, %slot_bytes : i32"
        load = m.load("ring", "full", size="%copied", offset="%offset", index="%slot")
        if self.cluster > 1:
            place += "\n%part = arith.muli %rank, %copied : i32\n%at = arith.addi %offset, %part : i32"
            types = "(!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32, i16) -> ()"
            load = f'"fa4.bulk_load_multicast"(%ring, %at, %source, %copied, %full, %slot, %both) : {types}'
        loads = [] if self.drop == "load" else [load] * (2 if self.twice == "load" else 1)
        elected = '%elected = "fa4.elect"() : () -> i1'
        return f"{elected}\n" + m.when("%elected", self._loop(self.trips, self.producer_parity, wait, expect, place, *loads))

    def _release(self) -> str:
        if self.drop == "arrive_empty":
            return ""
        if self.cluster > 1:
            one = "\n".join(m.arrive_remote("empty", rank, self.remote_scope, "%slot") for rank in ("%c0", "%c1"))
        else:
            one = m.arrive("empty", "%slot")
        arrivals = [one] * (2 if self.twice == "arrive_empty" else 1)
        return "\n".join(arrivals) if self.everyone_releases else m.when("%signals", *arrivals)

    def _consumer(self) -> str:
        wait = "" if self.drop == "wait_full" else m.wait("full", "%phase", "%slot", "cluster" if self.cluster > 1 else "cta")
        use: list[str] = []
        if self.matrix:
            multiply = m.multiply("ring", swizzle="none").replace("(%ring, %c0)", "(%ring, %place)")
            use = ["%place = arith.muli %slot, %slot_bytes : i32", multiply]
            use += [self._release(), m.multiply_wait()] if self.release_early else [m.multiply_wait(), self._release()]
        else:
            use = [self._release()]
        return self._loop(self.consumer_trips or self.trips, self.consumer_parity, wait, *use)
