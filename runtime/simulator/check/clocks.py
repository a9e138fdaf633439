"""Vector clocks of all threads, wide: what each thread knows of every other, and how fences and tokens change it.

Most threads of a CTA know the same, so a thread holds the number of an immutable clock (one epoch for every thread of its
cluster, once for each view of `token`) plus three things of its own: its epoch, up to where proxy fences covered its own
accesses, and what it knows of the 31 other lanes of its warp (filled by bar.warp.sync, so that a warp-level synchronisation
costs no clock). Joins are memoised by clock and token. A lookup for thousands of pairs is one fancy index into the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.facts import NOTHING, Facts, FactTable
from fa4dsl.runtime.simulator.check.token import GLOBAL, HB, LOCAL, PEER, VIEWS, Knowledge, ReleaseToken, Snapshot, combine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.token import Rows

    Ints = npt.NDArray[np.int32]
    Bools = npt.NDArray[np.bool_]

SPACE_VIEWS = {"shared::cta": (LOCAL,), "shared::cluster": (LOCAL, PEER), "global": (GLOBAL,), "all": (LOCAL, PEER, GLOBAL)}


def distinct(values: Ints) -> list[int]:
    """The distinct values; quick where all are equal."""
    if not len(values):
        return []
    first = values[0]
    if (values == first).all():
        return [int(first)]
    return np.unique(values).tolist()  # type: ignore[no-any-return]


class Clocks:
    """Knowledge of all threads. Thread arrays must not hold a thread twice."""

    def __init__(self, numbering: Threads) -> None:
        self.of = numbering
        count, width = numbering.count, numbering.per_cluster
        self.width = width
        self.epoch: Ints = np.ones(count, np.int32)
        self.clock: Ints = np.zeros(count, np.int32)
        self.fact: Ints = np.zeros(count, np.int32)
        self.bridge = np.zeros((VIEWS, count), np.int32)
        self.lanes = np.zeros((VIEWS, count, 32), np.int32)
        self.lanes_used: Bools = np.zeros(int(numbering.warp[-1]) + 1 if count else 1, np.bool_)
        self.any_lanes = False
        self.facts = FactTable()
        self.table = np.zeros((VIEWS, 64, width), np.int32)
        self.rows_of: list[Rows | None] = [{}]
        """For each clock number its rows by cluster; number 0 knows nothing. None: free."""
        self.free: list[int] = []
        self.joined: dict[tuple[int, int, int], int] = {}
        self.fenced: dict[tuple[int, str, int], int] = {}
        self.unions: dict[tuple[int, ...], Knowledge] = {}
        self.generation = 0
        """Counts sweeps and compactions: clock and fact numbers kept elsewhere are valid within one generation."""

    # -- the table
    def _new_clock(self, rows: Rows, cluster: int) -> int:
        if self.free:
            number = self.free.pop()
            self.rows_of[number] = rows
        else:
            if len(self.rows_of) == self.table.shape[1]:
                self._sweep()
                if self.free:
                    return self._new_clock(rows, cluster)
                grown = np.zeros((VIEWS, 2 * len(self.rows_of), self.width), np.int32)
                grown[:, : len(self.rows_of)] = self.table
                self.table = grown
            number = len(self.rows_of)
            self.rows_of.append(rows)
        own = rows.get(cluster)
        self.table[:, number] = 0 if own is None else own
        return number

    def _sweep(self) -> None:
        """Frees clocks that no thread holds. Memo tables may name them, so they are emptied."""
        live = set(np.unique(self.clock).tolist())
        self.free = [number for number in range(1, len(self.rows_of)) if number not in live]
        for number in self.free:
            self.rows_of[number] = None
        self.joined.clear()
        self.fenced.clear()
        self.unions.clear()
        self.generation += 1

    # -- questions
    def knows(self, view: int | Ints, threads: Ints, other: Ints, epochs: Ints) -> Bools:
        """For each i whether `threads[i]` knows of `other[i]` up to `epochs[i]` in a view (one, or one for each i)."""
        of = self.of
        result: Bools = self.table[view, self.clock[threads], of.column[other]] >= epochs
        if of.clusters > 1:
            result &= of.cluster[threads] == of.cluster[other]
        if result.all():
            return result
        rest = np.flatnonzero(~result)
        t, u, e = threads[rest], other[rest], epochs[rest]
        v = view[rest] if isinstance(view, np.ndarray) else np.full(len(rest), view, np.int32)
        same = (t == u) & ((v == HB) | (self.bridge[v, t] >= e))
        if self.any_lanes:
            same |= (of.warp[t] == of.warp[u]) & (self.lanes[v, t, of.lane[u]] >= e)
        result[rest] = same
        if of.clusters > 1:
            for i in rest[(~same) & (of.cluster[t] != of.cluster[u])].tolist():
                rows = self.rows_of[self.clock[threads[i]]]
                row = rows.get(int(of.cluster[other[i]])) if rows else None
                one = view[i] if isinstance(view, np.ndarray) else view
                result[i] = row is not None and row[one, of.column[other[i]]] >= epochs[i]
        return result

    def fact_mask(self, threads: Ints, operations: Ints, which: int) -> Bools:
        """For each i whether the fact bit `operations[i]` of set `which` (index into `Facts`) is known to `threads[i]`."""
        numbers = self.fact[threads].astype(np.int64)
        keys = numbers << 32 | operations
        if len(keys) and (keys == keys[0]).all():
            known = bool(self.facts.sets[int(numbers[0])][which] >> int(operations[0]) & 1)
            return np.full(len(keys), known, np.bool_)
        unique, inverse = np.unique(keys, return_inverse=True)
        sets = self.facts.sets
        known_each = np.fromiter((sets[k >> 32][which] >> (k & 0xFFFFFFFF) & 1 for k in unique.tolist()), np.bool_, len(unique))
        result: Bools = known_each[inverse.reshape(-1)]
        return result

    def facts_of(self, thread: int) -> Facts:
        return self.facts.sets[int(self.fact[thread])]

    def whole(self, threads: Ints) -> Knowledge:
        """What is known to every one of `threads` (for a collective operation of several warps): the minimum of their clocks."""
        rows: Rows = {}
        facts: Facts | None = None
        first = True
        for number in distinct(self.clock[threads]):
            mine = self.rows_of[number] or {}
            rows = dict(mine) if first else {c: np.minimum(rows[c], mine[c]) for c in rows if c in mine}
            first = False
        for number in distinct(self.fact[threads]):
            have = self.facts.sets[number]
            facts = have if facts is None else Facts(*(a & b for a, b in zip(facts, have, strict=True)))
        return Knowledge(rows, facts or NOTHING)

    # -- changes
    def learn(self, threads: Ints, facts: Facts) -> None:
        old = self.fact[threads]
        for number in distinct(old):
            new = self.facts.add(number, facts)
            if new != number:
                self.fact[threads[old == number]] = new
        if len(self.facts.sets) > self.facts.limit:
            self.fact = self.facts.compact(self.fact)
            self.generation += 1

    def release(self, site: Instruction | None, threads: Ints, scope: int, facts: Facts = NOTHING) -> ReleaseToken:
        """Snapshot of the threads, whose next accesses get a new epoch."""
        for number in distinct(self.fact[threads]):
            facts = facts | self.facts.sets[number]
        epochs = self.epoch[threads]
        ctas = frozenset(distinct(self.of.cta[threads]))
        if self.of.cluster_size > 1:  # elsewhere nobody can ask whether a peer runs
            for cta in ctas:
                facts = facts | Facts(started=1 << cta)
        token = ReleaseToken(site, threads, epochs, ctas, scope, facts)
        numbers, fact_numbers = self.clock[threads], self.fact[threads]
        bases = {number: self.rows_of[number] or {} for number in distinct(numbers)}
        sets = {number: self.facts.sets[number] for number in distinct(fact_numbers)}
        lanes = self.lanes[:, threads] if self.any_lanes and self.lanes_used[self.of.warp[threads]].any() else None
        token.snapshot = Snapshot(threads, epochs, numbers, bases, fact_numbers, sets, self.bridge[:, threads], lanes)
        token.numbering = self.of
        self.epoch[threads] = epochs + 1
        return token

    def select(self, token: ReleaseToken, keep: Bools) -> ReleaseToken:
        """The part of a token that belongs to some of its threads (each thread's own knowledge)."""
        if keep.all():
            return token
        assert token.snapshot is not None
        snapshot = token.snapshot.select(keep)
        ctas = frozenset(distinct(self.of.cta[snapshot.threads]))
        facts = snapshot.all_facts()
        for cta in ctas if self.of.cluster_size > 1 else ():
            facts = facts | Facts(started=1 << cta)
        part = ReleaseToken(token.site, snapshot.threads, snapshot.epochs, ctas, token.scope, facts)
        part.snapshot, part.numbering = snapshot, self.of
        return part

    def join(self, threads: Ints, knowledge: Sequence[Knowledge]) -> None:
        """The threads learn all of `knowledge` (scopes were tested before)."""
        if not knowledge or not len(threads):
            return
        parts = list(knowledge)
        if len(parts) == 1:
            whole = parts[0]
        else:
            key = tuple(part.serial for part in parts)
            found = self.unions.get(key)
            if found is None:
                if len(self.unions) > 512:
                    self.unions.clear()
                found = self.unions[key] = combine(parts)
            whole = found
        if whole.facts != NOTHING:
            self.learn(threads, whole.facts)
        if not whole.rows():
            return
        clusters = self.of.cluster[threads]
        for cluster in distinct(clusters):
            mine = threads if self.of.clusters == 1 else threads[clusters == cluster]
            old = self.clock[mine]
            for number in distinct(old):
                new = self._join_clock(number, whole, cluster)
                if new != number:
                    self.clock[mine[self.clock[mine] == number]] = new

    def _join_clock(self, number: int, whole: Knowledge, cluster: int) -> int:
        key = (number, whole.serial, cluster)
        found = self.joined.get(key)
        if found is not None:
            return found
        mine = self.rows_of[number] or {}
        theirs = whole.rows()
        rows = dict(mine)
        gained = False
        for other, row in theirs.items():
            have = mine.get(other)
            merged = row if have is None else np.maximum(have, row)
            if have is not None and np.array_equal(merged, have):
                continue
            rows[other] = merged
            gained = True
        if not gained:
            result = number
        else:
            equal = rows.keys() == theirs.keys() and all(rows[c] is theirs[c] or np.array_equal(rows[c], theirs[c]) for c in rows)
            known = whole.number_of.get(cluster)
            if equal and known is not None and known[0] < len(self.rows_of) and self.rows_of[known[0]] is known[1]:
                result = known[0]
            else:
                result = self._new_clock(rows, cluster)
                if equal:
                    whole.number_of[cluster] = (result, rows)
        self.joined[key] = result
        return result

    def bridge_fence(self, threads: Ints, space: str) -> None:
        """fence.proxy.async: what these threads know now is covered in the views of the space."""
        views = SPACE_VIEWS[space]
        ctas = self.of.cta[threads]
        for cta in distinct(ctas) if space == "shared::cta" else [-1]:
            mine = threads if cta < 0 else threads[ctas == cta]
            clusters = self.of.cluster[mine]
            for cluster in distinct(clusters):
                here = mine if self.of.clusters == 1 else mine[clusters == cluster]
                for number in distinct(self.clock[here]):
                    new = self._fence_clock(number, space, views, cta, cluster)
                    if new != number:
                        self.clock[here[self.clock[here] == number]] = new
        for view in views:
            self.bridge[view, threads] = self.epoch[threads]
            if self.any_lanes:
                self.lanes[view, threads] = np.maximum(self.lanes[view, threads], self.lanes[HB, threads])
        self.epoch[threads] += 1

    def _fence_clock(self, number: int, space: str, views: tuple[int, ...], cta: int, cluster: int) -> int:
        if number == 0:
            return 0
        key = (number, space, cta if cta >= 0 else -1 - cluster)
        found = self.fenced.get(key)
        if found is not None:
            return found
        rows: Rows = {}
        changed = False
        for other, row in (self.rows_of[number] or {}).items():
            new = row.copy()
            if cta < 0:
                for view in views:
                    new[view] = np.maximum(row[view], row[HB])
            elif other == cluster:
                # A fence.shared::cta covers objects of its own CTA: local accesses of its threads, remote accesses of the others.
                low = cta % self.of.cluster_size * self.of.per_cta
                own = slice(low, low + self.of.per_cta)
                new[LOCAL, own] = np.maximum(row[LOCAL, own], row[HB, own])
                remote = np.maximum(row[PEER], row[HB])
                remote[own] = row[PEER, own]
                new[PEER] = remote
            changed = changed or not np.array_equal(new, row)
            rows[other] = new
        result = self._new_clock(rows, cluster) if changed else number
        self.fenced[key] = result
        return result

    def warp_sync(self, groups: Sequence[Ints]) -> None:
        """bar.warp.sync: every lane of a group learns what the others have done and know."""
        by_length: dict[int, list[Ints]] = {}
        for group in groups:
            by_length.setdefault(len(group), []).append(group)
        for length, same in by_length.items():
            if length < 2:
                continue
            self.any_lanes = True
            grid = np.stack(same)
            lane = self.of.lane[grid]
            self.lanes_used[self.of.warp[grid[:, 0]]] = True
            line = np.arange(len(same))[:, None]
            for view in range(VIEWS):
                known = self.lanes[view, grid].max(axis=1)
                known[line, lane] = np.maximum(known[line, lane], self.epoch[grid] if view == HB else self.bridge[view, grid])
                self.lanes[view, grid] = known[:, None, :]
            self.epoch[grid] += 1
            for numbers, even in ((self.fact[grid], self._even_facts), (self.clock[grid], self._even_clocks)):
                uneven = np.flatnonzero((numbers != numbers[:, :1]).any(axis=1))
                for row in uneven.tolist():
                    even(grid[row])

    def _even_facts(self, group: Ints) -> None:
        facts = NOTHING
        for number in distinct(self.fact[group]):
            facts = facts | self.facts.sets[number]
        self.fact[group] = self.facts.number(facts)

    def _even_clocks(self, group: Ints) -> None:
        numbers = distinct(self.clock[group])
        key = tuple(-number - 1 for number in numbers)
        found = self.unions.get(key)
        if found is None:
            found = self.unions[key] = combine([Knowledge(self.rows_of[number] or {}, NOTHING) for number in numbers])
        cluster = int(self.of.cluster[group[0]])
        self.clock[group] = self._join_clock(numbers[-1], found, cluster)
