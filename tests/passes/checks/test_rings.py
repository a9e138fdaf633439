"""Rings between roles: every correct one is silent, every broken one is reported by its cause."""

from __future__ import annotations

import pytest
from checking.reports import codes, errors, reports
from checking.rings import Ring

from fa4dsl.runtime.diagnostics import Diagnostic


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("consumers", [1, 2])
@pytest.mark.parametrize("cluster", [1, 2])
@pytest.mark.parametrize("trips", ["%trips", "%c32"])
def test_correct(stages: int, consumers: int, cluster: int, trips: str) -> None:
    assert codes(Ring(stages, consumers, trips, cluster=cluster).text()) == []


@pytest.mark.parametrize("cluster", [1, 2])
def test_correct_with_wgmma(cluster: int) -> None:
    assert codes(Ring(2, 2, matrix=True, cluster=cluster).text()) == []


def test_all_threads_release() -> None:
    assert codes(Ring(everyone_releases=True, empty_arrivals=128).text()) == []


BROKEN = {
    "empty counts all threads, one arrives": (Ring(empty_arrivals=128), "C100"),
    "empty counts one, all threads arrive": (Ring(everyone_releases=True), "C100"),
    "empty counts one of two warpgroups": (Ring(consumers=2, empty_arrivals=1), "C100"),
    "full counts two": (Ring(full_arrivals=2), "C100"),
    "released twice": (Ring(twice="arrive_empty"), "C100"),
    "never released": (Ring(drop="arrive_empty"), "C103"),
    "expects without arriving": (Ring(drop="arrive_full"), "C102"),
    "expects too much": (Ring(extra_bytes=16), "C101"),
    "expects too little": (Ring(extra_bytes=-16), "C101"),
    "loads twice": (Ring(twice="load"), "C101"),
    "never loads": (Ring(drop="load"), "C101"),
    "no wait for empty": (Ring(drop="wait_empty"), "C125"),
    "producer starts at parity 0": (Ring(producer_parity="%c0"), "C104"),
    "consumer starts at parity 1": (Ring(consumer_parity="%c1"), "C104"),
    "never initialised": (Ring(drop="init"), "C108"),
    "no barrier after init": (Ring(drop="start_barrier"), "C109"),
    "consumer loops once more": (Ring(trips="%c1", consumer_trips="%c32"), "C105"),
    "producer loops more": (Ring(trips="%c32", consumer_trips="%c1"), "C105"),
    "cluster: released in this CTA only": (Ring(cluster=2, empty_arrivals=1), "C100"),
    "cluster: expects twice what it gets": (Ring(cluster=2, extra_bytes=8192), "C101"),
    "cluster: only a CTA barrier after init": (Ring(cluster=2, local_barrier=True), "C111"),
    "cluster: no barrier before exit": (Ring(cluster=2, drop="end_barrier"), "C121"),
    "cluster: arrives at CTA scope": (Ring(cluster=2, remote_scope="cta"), "C127"),
    "released before the wgmma is done": (Ring(matrix=True, release_early=True), "C124"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    ring, code = BROKEN[name]
    found = errors(ring.text())
    assert found and set(found) == {code}


def test_ends_with_unrelated_bounds_are_a_note() -> None:
    """Two parameters may be equal or not; the compiler cannot know, and says so."""
    found = reports(Ring(consumer_trips="%other").text())
    assert found == [] or {item.severity for item in found} == {"review"}


def test_one_more_turn_of_an_unknown_loop() -> None:
    """n and n + 1 differ whatever n is."""
    text = Ring(consumer_trips="%more").text().replace("%both =", "%more = arith.addi %trips, %c1 : i32\n    %both =", 1)
    assert errors(text) == ["C105"]


def report(ring: Ring) -> Diagnostic:
    (found,) = reports(ring.text())
    return found


def test_counts_in_the_authors_terms() -> None:
    found = report(Ring(empty_arrivals=128))
    assert "'empty' is declared for 128 arrivals" in found.message
    assert "1 by thread 0 of role 'consumer0'" in found.message
    labels = [frame.label for frame in found.frames]
    assert "declared for 128" in labels and any("1 arrival" in label for label in labels)


def test_bytes_in_numbers() -> None:
    found = report(Ring(extra_bytes=16))
    assert "expects 4112 bytes" in found.message and "4096 come" in found.message
    assert [frame.label for frame in found.frames] == ["expects", "brings"]


def test_places_are_lines_of_the_source() -> None:
    ring = Ring(drop="end_barrier", cluster=2)
    lines = ring.text().splitlines()
    for item in reports(ring.text()):
        line = lines[item.frames[0].location.line - 1]
        assert "multicast" in line or "arrive_remote" in line
