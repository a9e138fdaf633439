"""Bugs that people reported in public and that the IR shows: the fault is reported with its places and its mend, its twin is silent."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from checking.reports import errors, reports
from checking.rings import Ring

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m


@dataclass(frozen=True)
class Bug:
    """`number` as in the list of public bugs; `words` that the report must hold."""

    number: int
    name: str
    fault: str
    twin: str
    code: str
    words: tuple[str, ...]


def _store(fence: str = "", place: str = "before", loop: str = "") -> str:
    """Every thread writes the tile; after a barrier one thread stores it by a bulk copy. Fences are the author's."""
    write = '%at = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>\nllvm.store %thread, %at : i32, !llvm.ptr<3>'
    copy = '"fa4.bulk_store"(%out, %tile, %c0, %c512) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()\n"fa4.bulk_commit"() : () -> ()'
    fenced = m.loop(loop, fence) if loop else fence
    body = [m.array("tile", 128, alignment=128), write, *([fenced] if fenced and place == "before" else []), m.sync()]
    body += [m.when("%first", *([fenced] if fenced and place == "after" else []), copy)]
    return m.kernel(*body, arguments="%out: !llvm.ptr<1>, %n: i32", attributes=', fa4.fences = "manual"')


FENCE = '"fa4.fence_proxy_async"() {space = "shared::cta"} : () -> ()'
PEER = (m.array("stage", 128), m.cluster_sync())


def _multicast(wait: bool) -> str:
    """CTA 0 multicasts into both CTAs, twice; between the two it waits for its own reader only, or for both."""
    setup = [m.barrier("full", 1, scope="cluster"), m.barrier("empty", 2 if wait else 1, scope="cluster"), m.array("slot", 128)]
    setup += [m.init("full"), m.init("empty"), m.cluster_sync(), "%both = arith.constant 3 : i16\n%leads = arith.cmpi eq, %rank, %c0 : i32"]
    types = "(!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32, i16) -> ()"
    load = f'"fa4.bulk_load_multicast"(%slot, %c0, %source, %c512, %full, %c0, %both) : {types}'
    again = [m.arrive_expect("full"), m.wait("empty", scope="cluster")]
    produce = m.when(
        "%first", m.arrive_expect("full"), m.when("%leads", load), m.when("%leads", again[1]), again[0], m.when("%leads", load)
    )
    release = m.arrive_remote("empty", "%c0") if wait else m.when("%leads", m.arrive("empty"))
    consume = [m.wait("full", scope="cluster"), m.when("%second", release), m.wait("full", "%c1", scope="cluster")]
    roles = [m.role("producer", 0, 1, produce), m.role("consumer", 1, 1, *consume)]
    return m.kernel(*setup, *roles, m.cluster_sync(), threads=64, cluster=2, arguments="%source: !llvm.ptr<1>")


def _swizzled(offset: str, alignment: int = 1024) -> str:
    tile = m.array("tile", 2, 8, 64, dtype="bf16", alignment=alignment, swizzle="128B")
    fill = (m.arrive_expect("full", "%bytes"), m.load("tile", "full", size="%bytes", offset=offset))
    setup = (m.barrier("full"), tile, m.init("full"), m.sync(), "%bytes = arith.constant 1024 : i32")
    return m.kernel(*setup, m.when("%first", *fill), m.wait("full"), arguments="%source: !llvm.ptr<1>")


_ARRIVE_BOTH = (m.arrive_remote("ready", "%c0"), m.arrive_remote("ready", "%c1"))


def _publish(arrive_scope: str, wait_scope: str) -> str:
    arrivals = (m.arrive_remote("ready", "%c0", arrive_scope), m.arrive_remote("ready", "%c1", arrive_scope))
    return m.kernel(*m.PUBLISH, m.array("stage", 128), m.cluster_sync(), m.peer_store("stage"), *arrivals, m.wait("ready", scope=wait_scope), m.cluster_sync(), cluster=2)  # fmt: skip


BUGS = (
    Bug(1, "store, barrier, TMA store, no proxy fence", _store(), _store(FENCE), "C040", ("fence", "tile")),
    Bug(1, "the fence in the issuing thread is as good", _store(), _store(FENCE, "after"), "C040", ("fence",)),
    Bug(1, "the fence stands in a loop that may run no time", _store(FENCE, loop="%n"), _store(FENCE), "C040", ("fence",)),
    Bug(8, "empty counts 128, one arrives", Ring(empty_arrivals=128).text(), Ring().text(), "C100", ("128", "'empty'")),
    Bug(10, "no barrier after init", Ring(drop="start_barrier").text(), Ring().text(), "C109", ("thread 0", "barrier")),
    Bug(11, "remote store before the peer has entered", m.kernel(m.array("stage", 128), m.peer_store("stage"), m.cluster_sync(), cluster=2), m.kernel(*PEER, m.peer_store("stage"), m.cluster_sync(), cluster=2), "C120", ("started", "cluster barrier")),
    Bug(12, "exit while a peer still reads", m.kernel(*PEER, m.peer_load("stage"), cluster=2), m.kernel(*PEER, m.peer_load("stage"), m.cluster_sync(), cluster=2), "C121", ("exit", "cluster barrier")),
    Bug(14, "remote arrive at CTA scope", _publish("cta", "cluster"), _publish("cluster", "cluster"), "C127", ("cluster",)),
    Bug(14, "wait at CTA scope", _publish("cluster", "cta"), _publish("cluster", "cluster"), "C128", ("cluster",)),
    Bug(16, "expects bytes, never arrives, one turn", Ring(trips="%c1", drop="arrive_full").text(), Ring(trips="%c1").text(), "C102", ("ever comes", "expect")),
    Bug(19, "128B swizzle at a place off the pattern", _swizzled("%c512"), _swizzled("%bytes"), "C168", ("1024", "512")),
    Bug(19, "128B swizzle on an array aligned to 512", _swizzled("%c0", 512), _swizzled("%c0"), "C143", ("1024", "512")),
    Bug(21, "expected bytes times the cluster's size", Ring(cluster=2, extra_bytes=8192).text(), Ring(cluster=2).text(), "C101", ("16384", "8192")),
    Bug(22, "slot released before the wgmma is done", Ring(matrix=True, release_early=True).text(), Ring(matrix=True).text(), "C124", ("wgmma",)),
    Bug(27, "multicast refill while a peer still reads", _multicast(False), _multicast(True), "C125", ("another CTA",)),
)  # fmt: skip
IDS = [f"{bug.number}: {bug.name}" for bug in BUGS]


@pytest.mark.parametrize("bug", BUGS, ids=IDS)
def test_fault(bug: Bug) -> None:
    found = [item for item in reports(bug.fault) if item.severity != "review"]
    assert {item.code for item in found} == {bug.code}
    text = f"{found[0].message} {found[0].mend}"
    assert all(word in text for word in bug.words), text
    assert found[0].mend


@pytest.mark.parametrize("bug", BUGS, ids=IDS)
def test_twin(bug: Bug) -> None:
    assert errors(bug.twin) == []


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.number in (1, 10, 16, 21, 22, 27)], ids=lambda bug: bug.name)
def test_both_places(bug: Bug) -> None:
    """Where two places matter, both are shown."""
    found = next(item for item in reports(bug.fault) if item.code == bug.code)
    assert len({frame.location.line for frame in found.frames}) >= 2
