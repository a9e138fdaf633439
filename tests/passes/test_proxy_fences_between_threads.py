"""Proxy fences between roles, around rings and between CTAs: what the pass inserts is enough, needed, and where it belongs."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proxy_programs import (
    BLOCK_SYNC,
    CLUSTER_SYNC,
    CONTEXT,
    arrive,
    arrive_peer,
    copy_in,
    copy_out,
    elected_arrive,
    fence,
    numbered,
    program,
    read,
    unfenced,
    wait,
    write,
    write_peer,
)

from fa4dsl.passes.insert_proxy_fences import missing_proxy_fences
from fa4dsl.passes.kernel import fa4_operations
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.registry import run_passes


def lines(*parts: str) -> str:
    return "\n".join(parts)


def loop(*parts: str) -> str:
    return "scf.for %i@ = %zero to %n step %one : i32 {\n" + "\n".join(parts) + "\n}"


class Inserted(NamedTuple):
    """An inserted fence: its space, and the operation it stands before."""

    space: str
    before: str


def inserted_in(module: Any) -> list[Inserted]:
    found = []
    for item in fa4_operations(module.operation, "fence_proxy_async"):
        if "inserted" in item.attributes:
            siblings = [sibling.operation for sibling in item.block]
            found.append(Inserted(item.attributes["space"].value, siblings[siblings.index(item) + 1].name))
    return found


def _without(module: Any, number: int) -> Any:
    """The module without its inserted fence `number`."""
    copy = parse(str(module), CONTEXT)
    fences = [item for item in fa4_operations(copy.operation, "fence_proxy_async") if "inserted" in item.attributes]
    fences[number].erase()
    return copy


def fences_of(before: str = "", first: str = "", second: str = "", after: str = "") -> list[Inserted]:
    """Inserts fences, holds the result against the definition, and gives the inserted ones.

    Before, something is reported exactly if the definition misses a fence; afterwards neither misses one, and a second run adds none.
    """
    texts = numbered(lines(before, "//", first, "//", second, "//", after)).split("\n//\n")
    manual = program(*texts, "manual")
    assert bool(missing_proxy_fences(manual)) == unfenced(manual)
    module = program(*texts)
    known = len(fa4_operations(module.operation, "fence_proxy_async"))
    run_passes(module, ["insert-proxy-fences"])
    assert not unfenced(module)
    total = len(fa4_operations(module.operation, "fence_proxy_async"))
    run_passes(module, ["insert-proxy-fences"])
    assert len(fa4_operations(module.operation, "fence_proxy_async")) == total, "the second run inserted more"
    inserted = inserted_in(module)
    assert len(inserted) == total - known
    for number in range(len(inserted)):
        assert unfenced(_without(module, number)), "a fence that is not needed"
    return inserted


PRODUCER = loop(wait("empty"), copy_in("a"))


@pytest.mark.parametrize("release", [arrive, elected_arrive])
def test_a_ring_has_one_fence_for_each_release(release: Any) -> None:
    """Several reads of a slot, one release: one fence in every reading thread, before the lanes meet where one arrives for all."""
    (inserted,) = fences_of(first=PRODUCER, second=loop(wait("full"), read("a"), read("a"), release("empty")))
    assert inserted.before == ("fa4.mbarrier_arrive" if release is arrive else "fa4.warp_sync")
    assert inserted.space == "shared::cta"


def test_by_hand_a_refill_is_for_review_and_a_write_is_a_warning() -> None:
    module = program("", numbered(PRODUCER), numbered(loop(wait("full"), read("a"), arrive("empty"))), "", "manual")
    assert [(item.code, item.severity) for item in missing_proxy_fences(module)] == [("C041", "review")]
    module = program("", numbered(PRODUCER), numbered(loop(wait("full"), write("a"), arrive("empty"))), "", "manual")
    assert [(item.code, item.severity) for item in missing_proxy_fences(module)] == [("C040", "warning")]


def test_reads_that_nothing_overwrites_need_none() -> None:
    assert fences_of(first=loop(wait("empty"), copy_out("a")), second=loop(wait("full"), read("a"), arrive("empty"))) == []
    assert fences_of(first=PRODUCER, second=loop(wait("full"), read("b"), arrive("empty"))) == []


@pytest.mark.parametrize("where", ["reader", "issuer", "none"])
def test_a_fence_by_hand_on_either_side_is_enough(where: str) -> None:
    consumer = [read("a"), fence() if where == "reader" else "", arrive("empty")]
    producer = [wait("empty"), fence() if where == "issuer" else "", copy_in("a")]
    inserted = fences_of(first=loop(*producer), second=loop(*consumer))
    assert len(inserted) == (where == "none")


def test_the_issuers_fence_before_its_wait_is_none() -> None:
    assert len(fences_of(first=loop(fence(), wait("empty"), copy_in("a")), second=loop(read("a"), arrive("empty")))) == 1


@pytest.mark.parametrize(("told", "waited"), list(product(("zero", "one", "n"), repeat=2)))
def test_barriers_are_told_apart_by_index(told: str, waited: str) -> None:
    """Constant indices that differ are two barriers; an index known only at run time may be any."""
    inserted = fences_of(first=lines(wait("empty", waited), copy_in("a")), second=lines(read("a"), arrive("empty", told)))
    assert len(inserted) == (told == waited or "n" in (told, waited))


def test_two_ways_of_one_branch_are_like_roles() -> None:
    branch = "scf.if %c {\n" + lines(wait("full"), copy_out("a")) + "\n} else {\n" + lines(write("a"), arrive("full")) + "\n}"
    (inserted,) = fences_of(before=branch)
    assert inserted.before == "fa4.mbarrier_arrive"


def test_a_peers_write_before_a_copy() -> None:
    """Every CTA writes into its peer and tells it; the peer's copy may stand earlier in the text, in another role, or later."""
    parts = [write_peer("a"), arrive_peer("full")]
    for inserted in (
        fences_of(before=lines(wait("full"), copy_out("a"), *parts)),
        fences_of(before=lines(*parts, wait("full"), copy_out("a"))),
        fences_of(first=lines(*parts), second=lines(wait("full"), copy_out("a"))),
        fences_of(before=lines(write_peer("a"), CLUSTER_SYNC, copy_out("a"))),
    ):
        (one,) = inserted
        assert one.space == "shared::cluster"
    assert fences_of(before=lines(wait("full"), copy_out("a"), write("a"), arrive("full"))) == []


def test_one_fence_in_front_of_a_loop_that_releases() -> None:
    """A write before the loop, told in the loop: the fence need not be executed in every turn."""
    (inserted,) = fences_of(first=lines(write("a"), loop(arrive("full"))), second=lines(wait("full"), copy_out("a")))
    assert inserted.before == "scf.for"


def test_global_memory_between_roles() -> None:
    """A role stores to global memory that another then copies in."""
    store = "llvm.store %x, %out : f32, !llvm.ptr<1>"
    module = program("", lines(store, arrive("full")), lines(wait("full"), copy_in("b")), "")
    run_passes(module, ["insert-proxy-fences"])
    (inserted,) = inserted_in(module)
    assert inserted.space == "global"
    assert inserted.before == "fa4.mbarrier_arrive"


STEPS = st.sampled_from(
    [
        *(step(array) for step in (read, write, copy_in, copy_out) for array in "ab"),
        write_peer("a"),
        fence(),
        fence("shared::cluster"),
        *(step(barrier) for step in (arrive, elected_arrive, arrive_peer, wait) for barrier in ("full", "empty")),
        arrive("full", "one"),
        wait("full", "n"),
    ]
)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def build(item: tuple[str, str, str]) -> str:
        kind, first, second = item
        if kind == "for":
            return lines(second, loop(first))
        return lines("scf.if %c {", first, "}", second) if kind == "if" else lines("scf.if %c {", first, "} else {", second, "}")

    return st.tuples(st.sampled_from(["for", "if", "else"]), inner, inner).map(build)


BODIES = st.recursive(st.lists(STEPS, min_size=1, max_size=5).map("\n".join), _nested, max_leaves=2)
OUTER = st.lists(st.one_of(STEPS, st.just(BLOCK_SYNC)), max_size=2).map("\n".join)


@settings(max_examples=300)
@given(OUTER, BODIES, BODIES, OUTER)
def test_inserting_mends_any_program_of_two_roles(before: str, first: str, second: str, after: str) -> None:
    fences_of(before, first, second, after)


@settings(max_examples=150)
@given(BODIES)
def test_inserting_mends_any_program_without_roles(body: str) -> None:
    fences_of(body)
