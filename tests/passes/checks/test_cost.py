"""The checks' share of a compilation, and kernels beyond what is followed."""

from __future__ import annotations

import os
import time

from checking.reports import codes, context, reports
from checking.rings import Ring

from fa4dsl.passes.checks import run_checks
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import CompileOptions, compile_module
from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m


def _seconds() -> float:
    """Processor time of this process and of the assemblers that it has run: other work on the machine does not count."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def test_share_of_compile_time() -> None:
    """At most a fifth of a whole compilation."""
    module = parse(Ring(4, 2, matrix=True, cluster=2).text(), context())
    run_checks(module)
    begun = _seconds()
    for _ in range(5):
        run_checks(module)
    checked, begun = (_seconds() - begun) / 5, _seconds()
    compile_module(module, CompileOptions(assemble=True))
    assert checked <= 0.2 * (_seconds() - begun)


def test_a_long_kernel_is_a_note_and_fast() -> None:
    text = m.kernel("%many = arith.constant 4000 : i32", m.loop("%many", m.loop("%many", m.sync(), variable="%j")))
    begun = time.perf_counter()
    assert codes(text) == ["C132"]
    assert time.perf_counter() - begun < 5


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
