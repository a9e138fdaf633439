"""Kernels made by hypothesis: each valid one is silent, each with one fault is reported as an error of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, replace

from checking.reports import errors
from checking.rings import Ring
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.runtime.diagnostics import CATALOGUE
from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m

EXAMPLES = settings(max_examples=60)

rings = st.builds(
    Ring,
    stages=st.integers(1, 6),
    consumers=st.integers(1, 3),
    trips=st.sampled_from(["%trips", "%c1", "%c32"]),
    cluster=st.sampled_from([1, 1, 2]),
    matrix=st.booleans(),
)


@EXAMPLES
@given(rings)
def test_valid_rings_are_silent(ring: Ring) -> None:
    assert errors(ring.text()) == []


def _ring_faults(ring: Ring) -> list[Ring]:
    """The same ring with one thing wrong, as far as that thing is wrong for its shape."""
    declared = ring.consumers * ring.cluster
    faults = [
        ring.but(full_arrivals=2),
        ring.but(extra_bytes=16),
        ring.but(extra_bytes=-16),
        ring.but(drop="arrive_full"),
        ring.but(drop="load"),
        ring.but(drop="init"),
        ring.but(drop="start_barrier"),
        ring.but(twice="load"),
        ring.but(consumer_parity="%c1"),
    ]
    if ring.trips != "%c1":  # the ring goes round more than once
        faults += [
            ring.but(empty_arrivals=declared + 1),
            ring.but(drop="arrive_empty"),
            ring.but(drop="wait_empty"),
            ring.but(producer_parity="%c0"),
            ring.but(twice="arrive_empty"),
            ring.but(everyone_releases=True),
        ]
        faults += [ring.but(empty_arrivals=declared - 1)] if declared > 1 else []
        faults += [ring.but(release_early=True)] if ring.matrix else []
    if ring.cluster > 1:
        faults += [ring.but(remote_scope="cta"), ring.but(drop="end_barrier"), ring.but(local_barrier=True)]
    return faults


@EXAMPLES
@given(rings, st.data())
def test_broken_rings_are_reported(ring: Ring, data: st.DataObject) -> None:
    broken = data.draw(st.sampled_from(_ring_faults(ring)))
    found = errors(broken.text())
    assert found and all(CATALOGUE[code].severity == "error" for code in found)


# --- rounds: in each, some roles arrive at a barrier of its own and some wait for it


@dataclass(frozen=True)
class Round:
    arrivers: tuple[tuple[int, bool], ...]
    """(role, whether all its 32 threads arrive, or only its first)"""
    waiters: tuple[int, ...]
    bytes: int
    """Loaded by the first thread of the first arriver; 0 for none."""
    # what may be wrong
    dropped: int = -1
    doubled: int = -1
    counted: int = 0
    expected: int = 0

    @property
    def declared(self) -> int:
        return sum(32 if everyone else 1 for _, everyone in self.arrivers) + (1 if self.bytes else 0) + self.counted


@dataclass(frozen=True)
class Rounds:
    roles: int
    rounds: tuple[Round, ...]
    barrier: bool = True

    def text(self) -> str:
        setup: list[str] = []
        for number, item in enumerate(self.rounds):
            setup += [m.barrier(f"b{number}", item.declared), m.init(f"b{number}")]
            if item.bytes:
                setup += [m.array(f"a{number}", 256), f"%n{number} = arith.constant {item.bytes} : i32"]
                setup.append(f"%e{number} = arith.constant {item.bytes + item.expected} : i32")
        setup.append('%lane = "fa4.index"() {what = "lane"} : () -> i32\n%leads = arith.cmpi eq, %lane, %c0 : i32')
        roles = [m.role(f"role{role}", role, 1, *self._steps(role)) for role in range(self.roles)]
        barrier = [m.sync()] if self.barrier else []
        return m.kernel(*setup, *barrier, *roles, threads=32 * self.roles, arguments="%source: !llvm.ptr<1>")

    def _steps(self, role: int) -> list[str]:
        steps: list[str] = []
        for number, item in enumerate(self.rounds):
            name = f"b{number}"
            if item.bytes and item.arrivers[0][0] == role:
                steps.append(m.when("%leads", m.arrive_expect(name, f"%e{number}"), m.load(f"a{number}", name, size=f"%n{number}")))
            for position, (who, everyone) in enumerate(item.arrivers):
                if who == role and position != item.dropped:
                    one = m.arrive(name) if everyone else m.when("%leads", m.arrive(name))
                    steps += [one] * (2 if position == item.doubled else 1)
            if role in item.waiters:
                steps.append(m.wait(name))
        return steps or ["%idle = arith.constant 0 : i32"]


@st.composite
def rounds(draw: st.DrawFn) -> Rounds:
    roles = draw(st.integers(2, 4))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        who = draw(st.lists(st.integers(0, roles - 1), min_size=1, max_size=roles, unique=True))
        arrivers = tuple((role, draw(st.booleans())) for role in who)
        waiters = tuple(draw(st.lists(st.integers(0, roles - 1), min_size=1, max_size=roles, unique=True)))
        made.append(Round(arrivers, waiters, draw(st.sampled_from([0, 0, 512, 1024]))))
    return Rounds(roles, tuple(made))


@EXAMPLES
@given(rounds())
def test_valid_rounds_are_silent(kernel: Rounds) -> None:
    assert errors(kernel.text()) == []


@EXAMPLES
@given(rounds(), st.data())
def test_broken_rounds_are_reported(kernel: Rounds, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(kernel.rounds) - 1))
    item = kernel.rounds[number]
    position = data.draw(st.integers(0, len(item.arrivers) - 1))
    faults = [replace(item, dropped=position), replace(item, doubled=position), replace(item, counted=1)]
    faults += [replace(item, counted=-1)] if item.declared > 1 else []
    faults += [replace(item, expected=16), replace(item, expected=-16)] if item.bytes else []
    wrong = data.draw(st.sampled_from(faults))
    broken = replace(kernel, rounds=(*kernel.rounds[:number], wrong, *kernel.rounds[number + 1 :]))
    found = errors(broken.text())
    assert found and all(CATALOGUE[code].severity == "error" for code in found)


@EXAMPLES
@given(rounds())
def test_rounds_without_a_barrier_after_init(kernel: Rounds) -> None:
    """Only thread 0 may use what it has just initialised; every kernel here has users in other warps or lanes."""
    others = {role for item in kernel.rounds for role in item.waiters} - {0}
    found = errors(replace(kernel, barrier=False).text())
    assert "C109" in found or not others
