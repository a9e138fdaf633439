"""The checks' share of a compilation, and kernels beyond what is followed."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from checking.reports import codes, context, reports
from checking.rings import Ring

from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
from fa4dsl.passes.checks import run_checks
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import CompileOptions, compile_module
from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m


def _seconds() -> float:
    """Processor time of this process and of the assemblers that it has run: other work on the machine does not count."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


@contextmanager
def _untraced() -> Iterator[None]:
    """Without coverage's tracer, which slows down Python (the checks) but neither LLVM nor the assembler."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def _spent(work: Callable[[], object]) -> float:
    begun = _seconds()
    work()
    return _seconds() - begun


def _share(module: Any) -> float:
    """Checks against the whole compilation, with everything loaded: the cheapest of each, tried in turn. What else the machine does
    (its other hyperthread, its clock) only ever adds to a try; a machine that is never quiet gets more of them."""
    checks, compilations = [], []
    for turn in range(60):
        checks.append(_spent(lambda: run_checks(module)))
        checks.append(_spent(lambda: run_checks(module)))
        compilations.append(_spent(lambda: compile_module(module, CompileOptions(assemble=True))))
        if turn > 3 and min(checks[2:]) <= 0.2 * min(compilations[1:]):
            break
    return min(checks[2:]) / min(compilations[1:])


def test_share_of_compile_time() -> None:
    """At most a fifth, for a small ring (whose code is next to nothing) and for the split-K combine."""
    with _untraced():
        assert _share(parse(Ring(4, 2, matrix=True, cluster=2).text(), context())) <= 0.2
    traced = splitk_combine.bind(c=CombineConfig()).trace()
    with traced.context, _untraced():
        assert _share(traced.module) <= 0.2


def test_a_long_kernel_is_a_note_and_fast() -> None:
    """Without a handshake the shortened run shows a fault, and the whole one is too long to confirm it."""
    turn = "%phase = arith.andi %i, %c1 : i32"
    roles = (
        m.role("left", 0, 1, m.loop("%many", m.when("%first", m.arrive("ready")))),
        m.role("right", 1, 1, m.loop("%many", turn, m.wait("ready", "%phase"))),
    )
    text = m.kernel(m.barrier("ready"), *m.READY, "%many = arith.constant 4000 : i32", *roles, threads=64)
    begun = _seconds()
    assert codes(text) == ["C132"]
    assert _seconds() - begun < 3
    assert codes(text.replace("4000 : i32", "400 : i32")) == ["C107"]


def test_a_thread_for_each_peer() -> None:
    """Threads that each do something of their own: thread t arrives at CTA t."""
    setup = (m.barrier("ready", 8, scope="cluster"), m.init("ready"), m.cluster_sync(), "%eight = arith.constant 8 : i32")
    arrive = "%one_of = arith.cmpi slt, %thread, %eight : i32\n" + m.when("%one_of", m.arrive_remote("ready", "%thread"))
    text = m.kernel(*setup, arrive, m.wait("ready", scope="cluster"), m.cluster_sync(), cluster=8)
    assert codes(text) == []
    assert codes(text.replace("arrivals = 8", "arrivals = 9")) == ["C100"]


def test_largest_shape() -> None:
    """16 CTAs of 1024 threads, every thread at every CTA."""
    setup = (m.barrier("ready", 1024 * 16, scope="cluster"), m.init("ready"), m.cluster_sync(), "%ranks = arith.constant 16 : i32")
    text = m.kernel(
        *setup,
        m.loop("%ranks", m.arrive_remote("ready", "%i")),
        m.wait("ready", scope="cluster"),
        m.cluster_sync(),
        threads=1024,
        cluster=16,
    )
    begun = time.perf_counter()
    assert [item.code for item in reports(text)] == ["C142"]
    assert time.perf_counter() - begun < 5


def test_long_loops_are_shortened_in_the_middle() -> None:
    """128 turns cost little more than a few; what the first or the last turns do differently is still seen."""
    turns = "%many = arith.constant 128 : i32\n    %both ="
    text = Ring(4, 2, trips="%many").text().replace("%both =", turns, 1)
    assert codes(text) == []
    begun = _seconds()
    codes(text)
    assert _seconds() - begun < 1
    other = text.replace("%many = arith.constant 128 : i32", "%many = arith.constant 128 : i32\n    %more = arith.constant 129 : i32")
    consumer = other.rindex("%many step")
    assert codes(other[:consumer] + "%more step" + other[consumer + len("%many step") :]) == ["C105"]


def test_a_flat_loop_against_a_nested_one() -> None:
    """128 turns at one end, 2 x 64 at the other: the shortened run disagrees, the whole one does not."""
    phases = "%phase = arith.andi %i, %c1 : i32"
    produce = m.loop(
        "%flat", phases, "%fresh = arith.xori %phase, %c1 : i32", m.wait("empty", "%fresh"), m.when("%first", m.arrive("full"))
    )
    inner = m.loop("%half", phases, m.wait("full", "%phase"), m.when("%second", m.arrive("empty")))
    numbers = "%flat = arith.constant 128 : i32\n%half = arith.constant 64 : i32\n%two = arith.constant 2 : i32"
    roles = (m.role("left", 0, 1, produce), m.role("right", 1, 1, m.loop("%two", inner, variable="%outer")))
    assert (
        codes(m.kernel(m.barrier("full"), m.barrier("empty"), m.init("full"), m.init("empty"), numbers, m.sync(), *roles, threads=64)) == []
    )
