"""The litmus table of the memory model, as bare events: each row with its verdict."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.simulator.events import Range

sys.path.insert(0, str(Path(__file__).parent))
from drive import OTHER, STRIDE, TILE, Drive


def ready(ctas: int = 1, threads: int = 64) -> Drive:
    """A barrier initialised and known to all."""
    d = Drive(ctas, threads)
    for cta in range(ctas):
        d.init(cta=cta)
    if ctas > 1:
        d.cluster(ctas)
    else:
        d.bar()
    return d


@pytest.mark.parametrize(
    ("fence", "codes"), [("none", ["S021"]), ("writers", []), ("issuer", []), ("wrong space", ["S021"]), ("before", ["S021"]), ("wide", [])]
)
def test_generic_store_then_bulk_store(fence: str, codes: list[str]) -> None:
    """L1, L2, L3, and the space of the fence."""
    d = Drive()
    if fence == "before":
        d.proxy_fence()
    d.st()
    if fence in ("writers", "wrong space", "wide"):
        d.proxy_fence(space={"writers": "shared::cta", "wrong space": "global", "wide": "shared::cluster"}[fence])
    d.bar()
    if fence == "issuer":
        d.proxy_fence([0])
    copy = d.store()
    d.check.async_read_done(copy)
    d.check.async_write_done(copy)
    d.group_wait(copy)
    assert d.end() == codes


def test_bulk_load_and_wait() -> None:
    """L4."""
    d = ready()
    d.barrier("complete_tx")
    arrived = d.arrive()
    copy = d.load()
    landed = d.check.async_write_done(copy)
    d.wait([arrived, landed])
    d.ld()
    assert d.end() == []


def test_load_read_without_wait() -> None:
    d = ready()
    copy = d.load()
    d.check.async_write_done(copy)
    d.ld()
    assert d.codes() == ["S024"]


@pytest.mark.parametrize(("ordered", "fence", "codes"), [(True, False, ["S022"]), (True, True, []), (False, False, ["S020"])])
def test_refill_after_reads(ordered: bool, fence: bool, codes: list[str]) -> None:
    """L5: reads, arrive, wait, refill."""
    d = ready()
    first = d.load()
    d.wait([d.check.async_write_done(first)])
    d.ld()
    if fence:
        d.proxy_fence()
    token = d.arrive(range(64))
    if ordered:
        d.wait([token], [0])
    second = d.load()
    d.wait([d.check.async_write_done(second)])
    d.group_wait(second)
    assert d.end() == codes


def test_refill_review_is_an_error_when_strict() -> None:
    d = Drive(strict=True)
    d.st()
    d.proxy_fence()
    d.bar()
    d.ld(lanes=[5])
    d.bar()
    d.load()
    assert d.codes() == ["S022"]
    assert {f.diagnostic.severity for f in d.check.findings.listed()} == {"error"}


@pytest.mark.parametrize(
    ("arrive", "wait", "codes"),
    [
        ("cta", "cta", ["S023"]),
        ("cluster", "cta", ["S023"]),
        ("cta", "cluster", ["S023"]),
        ("cluster", "cluster", []),
        ("gpu", "cluster", []),
    ],
)
def test_scopes_between_ctas(arrive: str, wait: str, codes: list[str]) -> None:
    """L6, L7, L8."""
    d = ready(2)
    d.st(cta=0, target=1)
    token = d.arrive(range(64), 0, arrive, target=1)
    d.wait([token], cta=1, scope=wait)
    d.ld(cta=1)
    d.cluster(2)
    assert d.end(2) == codes
    if codes:
        (finding,) = d.check.findings.listed()
        assert "needs .cluster scope" in finding.diagnostic.mend
        assert ("mbarrier.arrive.release.cluster" in finding.diagnostic.mend) == (arrive == "cta")
        assert ("mbarrier.try_wait.acquire.cluster" in finding.diagnostic.mend) == (wait == "cta")


@pytest.mark.parametrize(("before", "after", "codes"), [(True, True, []), (False, True, ["S046"]), (True, False, ["S046"])])
def test_relaxed_with_fences(before: bool, after: bool, codes: list[str]) -> None:
    """L9: pattern (c)."""
    d = ready(2)
    d.st(cta=0, target=1)
    if before:
        d.check.fence(d.site("fence.acq_rel.cluster"), d.threads(0), "acq_rel", "cluster")
    token = d.arrive(range(64), 0, "cluster", 1, "relaxed")
    d.wait([token], cta=1, scope="cluster", order="relaxed")
    if after:
        d.check.fence(d.site("fence.acq_rel.cluster"), d.threads(1), "acq_rel", "cluster")
    d.ld(cta=1)
    d.cluster(2)
    assert d.end(2) == codes


def test_st_async_publishes_its_bytes_to_any_acquire() -> None:
    """L10; the sender may exit: what it sent came from registers."""
    d = ready(2)
    site = d.site("st.async.shared::cluster")
    copy = d.check.async_begin(site, 0, "st_async", [], [Range("shared", np.array([STRIDE + TILE]), 16)])
    d.wait([d.check.async_write_done(copy)], cta=1)
    d.ld(lanes=range(4), cta=1)
    assert d.end(2) == []


@pytest.mark.parametrize(("order", "codes"), [("relaxed", ["S046"]), ("release", [])])
def test_cluster_barrier(order: str, codes: list[str]) -> None:
    """L11, L12."""
    d = Drive(2)
    d.cluster(2)
    d.st(cta=0, target=1)
    d.cluster(2, order)
    d.ld(cta=1)
    d.cluster(2)
    assert d.end(2) == codes


@pytest.mark.parametrize(("lane", "codes"), [(0, []), (1, ["S024"])])
def test_bulk_groups_belong_to_a_thread(lane: int, codes: list[str]) -> None:
    """L13, L14."""
    d = Drive()
    d.st()
    d.proxy_fence()
    d.bar()
    copy = d.store()
    if lane == 0:
        d.group_wait(copy, [0], read=True)
    d.bar()
    d.st(lanes=[5])
    assert d.codes() == codes


def test_init_before_use() -> None:
    """L15, L16: the edge must not come from the barrier itself."""
    d = Drive()
    d.init()
    token = d.arrive()
    d.wait([token], [40])
    assert d.end() == ["S036"]
    d = ready()
    d.wait([d.arrive(range(64))])
    assert d.end() == []


@pytest.mark.parametrize(("fence", "codes"), [(True, []), (False, ["S036"])])
def test_init_fence(fence: bool, codes: list[str]) -> None:
    """L17, L18."""
    d = Drive(2)
    d.init(cta=1)
    if fence:
        d.check.init_fence(d.site("fence.mbarrier_init.release.cluster"), d.threads(1, [0]))
    d.cluster(2, "relaxed")
    token = d.arrive(range(64), 0, "cluster", target=1)
    d.wait([token], [0], cta=1, scope="cluster")
    d.cluster(2)
    assert d.end(2) == codes


def test_peer_exited() -> None:
    """L19, L20."""
    d = Drive(2)
    d.st(cta=1)
    d.cluster(2)
    d.check.thread_exit(d.site("ret"), d.threads(1))
    d.ld(cta=0, target=1)
    d.check.thread_exit(d.site("ret"), d.threads(0))
    d.check.finish()
    assert d.codes() == ["S031"]
    d = Drive(2)
    d.check.thread_exit(d.site("ret"), d.threads(1))
    d.st(cta=0)
    d.ld(cta=0)
    d.check.thread_exit(d.site("ret"), d.threads(0))
    d.check.finish()
    assert d.codes() == []


def test_peer_not_started() -> None:
    d = Drive(2)
    d.st(cta=0, target=1)
    d.cluster(2)
    d.ld(cta=1)
    assert d.end(2) == ["S030"]


def test_arrive_learns_nothing() -> None:
    """L21."""
    d = Drive()
    d.st(lanes=range(32, 64))
    arrive, sync = d.site("bar.arrive"), d.site("bar.sync")
    tokens = [d.check.release(arrive, d.threads(0, range(32)), "cta"), d.check.release(sync, d.threads(0, range(32, 64)), "cta")]
    d.check.join(sync, d.threads(0, range(32, 64)), tokens, "cta")
    d.ld(lanes=range(32), word=40)
    assert d.codes() == ["S020"]


@pytest.mark.parametrize(("waited", "codes"), [(True, []), (False, ["S028"])])
def test_cp_async(waited: bool, codes: list[str]) -> None:
    """L22."""
    d = Drive()
    threads = d.threads()
    copy = d.check.copy_begin(d.site("cp.async.ca.shared.global"), threads, threads * 4, TILE + threads * 4, 4, 4)
    if waited:
        d.check.async_waited(d.site("cp.async.wait_group"), threads, [copy], False)
    d.bar()
    d.ld(word=3)
    assert d.end() == codes


def test_cp_async_then_wgmma() -> None:
    """L23: cp.async writes in the generic proxy."""
    for fence in (False, True):
        d = Drive(1, 128)
        threads = d.threads()
        copy = d.check.copy_begin(d.site("cp.async.ca.shared.global"), threads, threads * 4, TILE + threads * 4, 4, 4)
        d.check.async_waited(d.site("cp.async.wait_group"), threads, [copy], False)
        if fence:
            d.proxy_fence()
        d.bar()
        d.check.async_begin(d.site("wgmma.mma_async"), 0, "wgmma", [d.tile()], [], threads)
        assert d.codes() == ([] if fence else ["S021"])


@pytest.mark.parametrize("early", [True, False])
def test_wgmma_operand_released_early(early: bool) -> None:
    """L24."""
    d = ready(1, 160)
    group = d.threads(0, range(128))
    first = d.load(thread=128)
    d.wait([d.check.async_write_done(first)], range(128))
    product = d.check.async_begin(d.site("wgmma.mma_async"), 0, "wgmma", [d.tile()], [], group)
    if early:
        token = d.arrive([0])
    d.check.async_waited(d.site("wgmma.wait_group"), group, [product], False)
    if not early:
        token = d.arrive([0])
    d.wait([token], [128])
    d.load(thread=128)
    assert d.codes() == (["S025"] if early else [])


def test_flag_by_relaxed_accesses() -> None:
    """L25, and the release/acquire that mends it."""
    for order_write, order_read, codes in (("relaxed", "relaxed", ["S020"]), ("release", "acquire", []), ("release", "relaxed", ["S046"])):
        d = Drive()
        d.st(lanes=[0])
        d.st(lanes=[0], base=OTHER, order=order_write)
        d.ld(lanes=[40], base=OTHER, word=0, order=order_read)
        d.ld(lanes=[40], word=0)
        assert d.codes() == codes, order_write


def test_atomics_order_nothing() -> None:
    """L26."""
    d = Drive(2)
    d.cluster(2)
    for cta in (0, 1):
        d.memory("atom.shared::cluster.add.u32", "atomic", cta=cta, target=1, word=0, order="relaxed", scope="gpu")
    d.cluster(2)
    assert d.end(2) == []


def test_atomics_of_too_narrow_scope() -> None:
    d = Drive(2)
    d.cluster(2)
    for cta in (0, 1):
        d.memory("atom.shared::cluster.add.u32", "atomic", cta=cta, target=1, word=0, order="relaxed", scope="cta")
    d.cluster(2)
    assert d.end(2) == ["S023"]


def test_read_modify_write_chain_carries_a_release() -> None:
    """Thread 0 releases, thread 1 adds relaxed, thread 2 acquires what thread 1 left: it sees thread 0."""
    d = Drive(1, 96)
    d.st(lanes=[0])
    d.memory("atom.add", "atomic", [0], word=0, base=OTHER, order="release", scope="gpu")
    d.memory("atom.add", "atomic", [33], word=0, base=OTHER, order="relaxed", scope="gpu")
    d.memory("ld.acquire", "read", [70], word=0, base=OTHER, order="acquire", scope="gpu")
    d.ld(lanes=[70], word=0)
    assert d.codes() == []
    d.st(lanes=[33], base=OTHER, word=0, order="relaxed", scope="gpu")  # a plain store ends the chain
    d.memory("ld.acquire", "read", [80], word=0, base=OTHER, order="acquire", scope="gpu")
    d.ld(lanes=[80], word=0)
    assert d.codes() == ["S020"]


def test_completion_publishes_only_its_bytes() -> None:
    """L29a, L29b."""
    for store_first, codes in ((True, []), (False, ["S020"])):
        d = ready()
        if store_first:
            d.st(lanes=[0], base=OTHER)
        token = d.arrive()
        if not store_first:
            d.st(lanes=[0], base=OTHER)
        copy = d.load()
        d.wait([token, d.check.async_write_done(copy)])
        d.ld(lanes=[40], base=OTHER, word=0)
        assert d.codes() == codes


def test_lanes_are_threads() -> None:
    """L30, and __syncwarp."""
    for together in (False, True):
        d = Drive()
        d.st(lanes=range(32))
        if together:
            d.check.warp_sync(d.site("bar.warp.sync"), [d.threads(0, range(32))])
        d.ld(lanes=[1], word=0)
        assert d.codes() == ([] if together else ["S027"])


@pytest.mark.parametrize("together", [True, False])
def test_elected_arrive(together: bool) -> None:
    d = ready()
    d.st(lanes=range(32), line=50)
    if together:
        d.check.warp_sync(d.site("bar.warp.sync"), [d.threads(0, range(32))])
    token = d.arrive()
    d.wait([token], range(32, 64))
    d.ld(lanes=range(32, 64), word=7, line=60)
    assert d.codes() == ([] if together else ["S027"])
    if not together:
        (finding,) = d.check.findings.listed()
        assert {50, 60} <= {line for _, line in finding.as_dict()["lines"]}
        assert "__syncwarp" in finding.diagnostic.mend


def test_gap_between_own_arrive_and_wait() -> None:
    """L31."""
    d = Drive(2)
    d.cluster(2)
    arrive, wait = d.site("barrier.cluster.arrive"), d.site("barrier.cluster.wait")
    tokens = [d.check.release(arrive, d.threads(cta), "cluster") for cta in (0, 1)]
    d.st(cta=0, target=1)
    for cta in (0, 1):
        d.check.join(wait, d.threads(cta), tokens, "cluster")
    d.ld(cta=1)
    assert d.codes() == ["S020"]


def test_fence_sc_orders_by_runtime_order() -> None:
    d = Drive()
    d.st(lanes=[0])
    for lane in (0, 40):
        d.check.fence(d.site("fence.sc.cta"), d.threads(0, [lane]), "sc", "cta")
    d.ld(lanes=[40], word=0)
    assert d.codes() == []


@pytest.mark.parametrize(("scope", "codes"), [("cta", ["S029"]), ("cluster", [])])
def test_refill_signalled_at_too_narrow_a_scope_is_a_review(scope: str, codes: list[str]) -> None:
    """The peer has read its part of a multicast, tells the producer at .cta scope, and the producer refills: a review, for libraries do it."""
    d = ready(2)
    first = d.load(0, (0, 1))
    landed = d.check.async_write_done(first)
    for cta in (0, 1):
        d.wait([landed], cta=cta)
        d.ld(cta=cta)
        d.proxy_fence(cta=cta)
    own = d.arrive(range(64), 0, "cluster")
    peer = d.arrive(range(64), 1, scope, target=0)
    d.wait([own, peer], [0], 0, "cluster")
    d.load(0, (0, 1))
    assert d.codes() == codes


def test_multicast_completion_tells_of_the_own_cta_only() -> None:
    d = ready(2)
    copy = d.load(0, (0, 1))
    d.wait([d.check.async_write_done(copy)], cta=0)
    d.ld(cta=0)
    d.ld(cta=0, target=1)
    assert d.codes() == ["S024"]


def test_bulk_store_not_waited_at_exit() -> None:
    d = Drive()
    d.st()
    d.proxy_fence()
    d.bar()
    copy = d.store()
    d.check.async_write_done(copy)
    assert d.end() == ["S032"]


def test_inval_while_others_wait() -> None:
    d = ready()
    d.wait([d.arrive(range(64))])
    d.barrier("inval")
    assert d.codes() == ["S039"]


@pytest.mark.parametrize(("ordered", "codes"), [(False, ["S041"]), (True, [])])
def test_groups_that_share_a_named_barrier(ordered: bool, codes: list[str]) -> None:
    d = Drive(1, 128)
    for first in (0, 64):
        site = d.site("bar.sync")
        tokens = [d.check.release(site, d.threads(0, range(first + half, first + half + 32)), "cta") for half in (0, 32)]
        d.check.named_phase(site, 0, 1, tokens)
        d.check.join(site, d.threads(0, range(first, first + 64)), tokens, "cta")
        if ordered:
            d.bar()
    assert d.codes() == codes


def test_granules_split_without_losing_what_is_known() -> None:
    """16-byte state, then single bytes: the race on one byte of four is still found, its neighbours stay silent."""
    d = Drive()
    threads = d.threads()
    d.check.access(d.site("st.shared.v4.u32"), threads, "shared", TILE + 16 * threads, 16, "write", "weak", "cta", False)
    d.bar()
    d.check.access(d.site("ld.shared.v4.u32"), threads, "shared", TILE + 16 * threads, 16, "read", "weak", "cta", False)
    d.check.access(d.site("st.shared.u8"), threads, "shared", OTHER + threads, 1, "write", "weak", "cta", False)
    d.check.access(d.site("ld.shared.u8"), threads, "shared", TILE + 16 * threads + 3, 1, "read", "weak", "cta", False)
    assert d.codes() == []
    d.check.access(d.site("st.shared.u8"), threads[:1], "shared", np.array([TILE + 16 * 40 + 7]), 1, "write", "weak", "cta", False)
    assert d.codes() == ["S020"]


def test_many_readers_of_one_word() -> None:
    """All read one word; the writer must be ordered after each of them, also when the lists of readers were made compact."""
    d = Drive(1, 96)
    d.st(lanes=[0], line=1)
    d.bar()
    for _ in range(2000):
        d.ld(word=0, line=5)
    token = d.arrive(range(64))
    d.check.join(d.site("mbarrier.try_wait"), d.threads(0, [0]), [token], "cta")
    d.st(lanes=[0], line=9)
    assert "S020" in d.codes()
    (finding,) = [f for f in d.check.findings.listed() if f.diagnostic.code == "S020"]
    assert "warp 2" in str(finding.diagnostic.frames)
