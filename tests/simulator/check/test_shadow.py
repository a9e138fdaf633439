"""The race check against a naive one: every byte by itself, every access kept, no slots, granules, pages or lists."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from drive import Drive

from fa4dsl.runtime.simulator.check import agent_lists
from fa4dsl.runtime.simulator.check.agent_lists import AgentLists
from fa4dsl.runtime.simulator.check.shadow import GROUP, PAGE, RESIDENT, Shadow

THREADS = 64


@dataclass
class Naive:
    """Epochs as vectors by thread; each byte's accesses as (thread, epoch, line, write)."""

    threads: int
    clocks: np.ndarray[Any, Any] = field(init=False)
    bytes: dict[int, list[tuple[int, int, int, bool]]] = field(default_factory=dict)
    races: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.clocks = np.eye(self.threads, dtype=np.int64)

    def access(self, threads: np.ndarray[Any, Any], addresses: np.ndarray[Any, Any], size: int, line: int, write: bool) -> None:
        for thread, address in zip(threads.tolist(), addresses.tolist(), strict=True):
            for byte in range(address, address + size):
                for other, epoch, where, wrote in self.bytes.get(byte, []):
                    if (write or wrote) and self.clocks[thread, other] < epoch:
                        self.races.add((min(line, where), max(line, where)))
        for thread, address in zip(threads.tolist(), addresses.tolist(), strict=True):
            for byte in range(address, address + size):
                self.bytes.setdefault(byte, []).append((thread, int(self.clocks[thread, thread]), line, write))

    def barrier(self, threads: np.ndarray[Any, Any]) -> None:
        self.clocks[threads] = self.clocks[threads].max(axis=0)
        self.clocks[threads, threads] += 1


def program(seed: int, drive: Drive, naive: Naive, steps: int = 16) -> None:
    random = np.random.default_rng(seed)
    count = naive.threads
    for _ in range(steps):
        kind = random.random()
        if kind < 0.45:
            # all of a CTA, or some warps of it
            warps = np.flatnonzero(random.random(count // 32) < (1.0 if kind < 0.35 else 0.6))
            lanes = (warps[:, None] * 32 + np.arange(32)).reshape(-1)
            if len(lanes):
                drive.bar(lanes)
                naive.barrier(lanes)
            continue
        size = int(random.choice([1, 2, 4, 8, 16]))
        write = bool(random.random() < 0.3)
        lanes = np.flatnonzero(random.random(count) < random.choice([0.1, 0.5, 1.0]))
        if not len(lanes):
            continue
        base = int(random.choice([0, 4096 - 64, 8192 - 512, 12288]))
        pattern = random.random()
        if pattern < 0.5 or write:
            index = lanes  # each its own
        elif pattern < 0.7:
            index = np.zeros_like(lanes)  # all the same
        else:
            index = random.integers(0, 8, len(lanes))
        line = drive.last + 1
        site = drive.site("st.shared" if write else "ld.shared")
        addresses = base // size * size + index * size
        drive.check.access(site, lanes, "shared", addresses, size, "write" if write else "read", "weak", "cta", False)
        naive.access(lanes, addresses, size, line, write)


def found(drive: Drive) -> set[tuple[int, int]]:
    """Pairs of lines of the races that the checker tells."""
    pairs = set()
    for finding in drive.check.findings.listed():
        if finding.diagnostic.code == "S101":
            continue
        lines = sorted(frame.location.line for frame in finding.diagnostic.frames)
        pairs.add((lines[0], lines[-1]))
    return pairs


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_same_verdict_as_a_naive_check(first: int) -> None:
    racy = 0
    for seed in range(first, first + 20):
        drive, naive = Drive(1, THREADS), Naive(THREADS)
        program(seed, drive, naive)
        told = found(drive)
        assert told <= naive.races, f"seed {seed}"
        assert bool(told) == bool(naive.races), f"seed {seed}"
        racy += bool(told)
    assert 2 <= racy <= 18


def test_lists_that_are_sorted_and_compacted_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_lists, "WAITING_LIMIT", 16)
    monkeypatch.setattr(agent_lists, "ENTRY_LIMIT", 64)
    test_same_verdict_as_a_naive_check(0)


def test_lists() -> None:
    lists = AgentLists(8)
    assert lists.listed(np.array([1, 2])) is None
    lists.add(np.array([2, 1, 2]), np.array([5, 6, 7]), np.array([50, 60, 70], np.int32))
    lists.add(np.array([2]), np.array([8]), np.array([80], np.int32))
    assert lists.listed(np.array([0, 3])) is None
    listed = lists.listed(np.array([2, 1]))
    assert listed is not None
    # the newest of each row first
    assert [listed.where.tolist(), listed.depth.tolist()] == [[0, 1, 0, 0], [0, 0, 1, 2]]
    assert [listed.marks.tolist(), listed.infos.tolist()] == [[8, 6, 7, 5], [80, 60, 70, 50]]
    lists.add(np.array([1]), np.array([9]), np.array([90], np.int32))
    lists.split(np.array([1, 2]), np.array([4, 6]), 2)
    assert lists.listed(np.array([1, 2])) is None
    listed = lists.listed(np.array([4, 6]))
    assert listed is not None
    assert listed.marks.tolist() == [9, 8, 6, 7, 5]
    lists.clear(slice(4, 6))
    assert lists.listed(np.array([5])) is None
    listed = lists.listed(np.array([7]))
    assert listed is not None
    assert listed.marks.tolist() == [8, 7, 5]


def test_rows_of_every_shape() -> None:
    """Each byte of each access has a row of its own or shares one with its neighbours in a granule; rows lead back to their addresses."""
    for size in (1 << 16, 1 << 28):  # all pages have their rows from the start; groups of pages get them when touched
        random = np.random.default_rng(size)
        space = Shadow(size)
        for _ in range(200):
            length = int(random.choice([1, 2, 4, 8, 16, 48, 4096, 5000]))
            starts = random.integers(0, 1 << 12, int(random.integers(1, 5))) * 8
            starts = starts // min(length & -length, 16) * min(length & -length, 16)
            granules = space.locate(starts.astype(np.int64), length)
            assert granules.every & RESIDENT
            repeats = np.broadcast_to(granules.repeats, len(starts))
            assert granules.count == len(granules.rows) == repeats.sum()
            begins = space.addresses(granules.rows)
            sizes = np.array([space.size(row) for row in granules.rows[:16].tolist()])
            assert (begins[:16] == [space.address(row) for row in granules.rows[:16].tolist()]).all()
            ends = np.cumsum(repeats)
            assert (begins[ends - repeats] == starts).all()
            assert (begins[:16][1:] == (begins[:16] + sizes)[:-1])[: max(int(repeats[0]) - 1, 0)].all()
            last = granules.rows[ends - 1].tolist()
            assert [space.address(row) + space.size(row) for row in last] == (starts + length).tolist()
        assert space.used <= (1 << 16) // PAGE * PAGE + GROUP * PAGE


def test_split_pages_outgrow_their_rows() -> None:
    space = Shadow(1 << 14)
    first = space.locate(np.array([0], np.int64), 16)
    space.writer[first.key] = 77
    space.note(first, 1 << 6)
    for page in range(4):
        space.locate(np.array([page * PAGE], np.int64), 1)
    assert (space.writer[space.locate(np.array([0], np.int64), 16).rows] == 77).all()
    assert not space.writer[space.locate(np.array([16], np.int64), 1).rows].any()
