"""Vector clocks of all threads, wide: what each thread knows of every other, and how fences and tokens change it.

Most threads of a CTA know the same, so a thread holds the number of an immutable clock (one epoch for every thread of its
cluster, once for each view of `token`) plus three things of its own: its epoch, up to where proxy fences covered its own
accesses, and what it knows of the 31 other lanes of its warp (filled by bar.warp.sync, so that a warp-level synchronisation
costs no clock). Joins are memoised by clock and token. A lookup for thousands of pairs is one fancy index into the table.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check import together
from fa4dsl.runtime.simulator.check.facts import NOTHING, Facts, FactTable
from fa4dsl.runtime.simulator.check.lanes import LaneKnowledge
from fa4dsl.runtime.simulator.check.token import BRIDGED, GLOBAL, HB, LOCAL, NOBODY, PEER, VIEWS, Knowledge, ReleaseToken, Snapshot, combine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.token import Rows

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

LOW_HALF = 0 if sys.byteorder == "little" else 1
SPACE_VIEWS = {"shared::cta": (LOCAL,), "shared::cluster": (LOCAL, PEER), "global": (GLOBAL,), "all": BRIDGED}


def distinct(values: Wide) -> list[int]:
    """The distinct values; quick where all are equal."""
    if not len(values):
        return []
    first = values[0]
    if len(values) == 1 or (values == first).all():
        return [int(first)]
    return np.unique(values[np.append(True, values[1:] != values[:-1])]).tolist()  # type: ignore[no-any-return]


class Clocks:
    """Knowledge of all threads. Thread arrays must not hold a thread twice."""

    def __init__(self, numbering: Threads) -> None:
        self.of = numbering
        count, width = numbering.count, numbering.per_cluster
        self.width = width
        self.marks: Wide = (np.arange(count, dtype=np.int64) + 1) << 32 | 1
        """As the shadow keeps who accessed a byte: thread + 1, and in the low half the thread's epoch."""
        self.epoch: Ints = self.marks.view(np.int32)[LOW_HALF::2]
        self.clock: Wide = np.zeros(count, np.int64)
        self.fact: Wide = np.zeros(count, np.int64)
        self.bridge = np.zeros((VIEWS, count), np.int32)
        self.any_bridge = False
        self.lanes = LaneKnowledge(numbering)
        self.facts = FactTable()
        self.table = np.zeros((VIEWS, 64, width + 1), np.int32)
        self.table[:, 0, 0] = NOBODY
        """By view and clock the epoch known of each column of the thread's cluster, behind one that stands for nobody."""
        self.agent_column: Wide = np.concatenate([[0], numbering.column + 1])
        self.agent_cluster: Wide = np.concatenate([[-1], numbering.cluster])
        self.agent_cta: Wide = np.concatenate([[-1], numbering.cta])
        self.rows_of: list[Rows | None] = [{}]
        """For each clock number its rows by cluster; number 0 knows nothing. None: free, or as `alone` says."""
        self.alone = np.full(64, -1, np.int64)
        """By clock number: the cluster of those that know only of their own one and whose rows are taken from the table when somebody asks; else -1."""
        self.taken: list[int] = []
        """Those of them whose rows were taken."""
        self.free: list[int] = []
        self.joined: dict[tuple[int, ...], int] = {}
        self.fenced: dict[tuple[int, str, int], int] = {}
        self.unions: dict[tuple[int, ...], Knowledge] = {}
        self.resident = slice(0, count)
        """The threads of the wave: nobody asks what those before them know."""
        self.told = np.zeros(numbering.geometry.ctas, np.int32)
        """By CTA an epoch up to which each of its threads knows of all the others, at least."""
        self.all_told = 0
        """The lowest of them in the wave."""
        self.generation = 0
        """Counts sweeps and compactions: clock and fact numbers kept elsewhere are valid within one generation."""

    # -- the table
    def rows(self, number: int) -> Rows:
        """What a clock knows, by cluster; not to be changed."""
        found = self.rows_of[number]
        if found is None and self.alone[number] >= 0:
            found = self.rows_of[number] = {int(self.alone[number]): self.table[:, number, 1:].copy()}
            self.taken.append(number)
        return found or {}

    def _new_clock(self, rows: Rows, cluster: int) -> int:
        if self.free:
            number = self.free.pop()
            self.rows_of[number] = rows
        else:
            if len(self.rows_of) == self.table.shape[1]:
                self._sweep()
                if self.free:
                    return self._new_clock(rows, cluster)
                self._grow(1)
            number = len(self.rows_of)
            self.rows_of.append(rows)
        own = rows.get(cluster)
        self.alone[number] = -1
        self.table[:, number, 0] = NOBODY
        self.table[:, number, 1:] = 0 if own is None else own
        return number

    def _grow(self, more: int) -> None:
        """Room for `more` clocks behind those there are, and for some to come."""
        have = len(self.rows_of)
        grown = np.zeros((VIEWS, max(2 * have, have + more), self.width + 1), np.int32)
        grown[:, :have] = self.table[:, :have]
        self.table = grown
        alone = np.full(grown.shape[1], -1, np.int64)
        alone[:have] = self.alone[:have]
        self.alone = alone

    def reserve(self, count: int) -> None:
        """Makes room for that many new clocks; may free others, and then empties the memo tables."""
        if len(self.free) + self.table.shape[1] - len(self.rows_of) < count:
            self._sweep()
        missing = count - len(self.free)
        if len(self.rows_of) + missing > self.table.shape[1]:
            self._grow(missing)

    def take(self, count: int) -> Wide:
        """Numbers for that many new clocks, whose rows the caller fills in."""
        self.reserve(count)
        numbers = [self.free.pop() for _ in range(min(count, len(self.free)))]
        numbers += range(len(self.rows_of), len(self.rows_of) + count - len(numbers))
        self.rows_of += [None] * (numbers[-1] + 1 - len(self.rows_of))
        return np.array(numbers, np.int64)

    def _sweep(self) -> None:
        """Frees clocks that no thread of the wave holds."""
        live = np.zeros(len(self.rows_of), np.bool_)
        live[0] = True
        live[self.clock[self.resident]] = True
        self.free = np.flatnonzero(~live).tolist()
        self.alone[self.free] = -1
        for number in self.free:
            self.rows_of[number] = None
        self.forget()

    def forget(self) -> None:
        """Empties the memo tables, since some clocks that they may name are no longer what they were."""
        self.joined.clear()
        self.fenced.clear()
        self.unions.clear()
        self.generation += 1

    def wave_start(self, first_cta: int, ctas: int) -> None:
        """Only `ctas` CTAs run, from `first_cta` on. Those before have ended: what others know of them stays, what they knew does not."""
        first = first_cta * self.of.per_cta
        self.resident, self.all_told = slice(first, first + ctas * self.of.per_cta), 0
        self.clock[:first] = 0
        self.fact[:first] = 0
        self.lanes.restart(first)

    # -- questions
    def all_known(self, threads: Wide, marks: Wide, agents: Wide, one_cluster: bool, view: int = HB) -> bool:
        """Whether what `marks` name are threads' accesses, or none, that the clocks of `threads` (one for each, or one) know of in a view.
        `agents`: of the marks. `one_cluster`: all are of the same. False may also mean that a closer look is needed."""
        of, epochs = self.of, marks.astype(np.int32)
        if self.all_told and one_cluster and view == HB and int(epochs.max()) <= self.all_told:
            return True
        columns = agents if of.clusters == 1 else self.agent_column.take(agents)
        numbers = self.clock[threads]
        lowest = int(numbers[0]) if len(numbers) == 1 else int(numbers.min())
        if len(numbers) == 1 or lowest == int(numbers.max()):
            limits = self.table[view, lowest].take(columns)
        else:
            limits = self.table[view].reshape(-1).take(numbers * (self.width + 1) + columns)
        if not (limits >= epochs).all():
            return False
        if one_cluster or of.clusters == 1:
            return True
        return bool(((self.agent_cluster.take(agents) == of.cluster[threads]) | (agents == 0)).all())

    def clock_knows(self, number: int, other: int, epoch: int) -> bool:
        """Whether a clock, whoever holds it, knows of a thread of its cluster, or of another one, up to `epoch`."""
        cluster = self.of.cluster[other]
        if self.rows_of[number] is None and self.alone[number] == cluster:
            return bool(self.table[HB, number, self.of.column[other] + 1] >= epoch)
        row = self.rows(number).get(int(cluster))
        return row is not None and bool(row[HB, self.of.column[other]] >= epoch)

    def knows(self, view: int | Wide, threads: Wide, other: Wide, epochs: Ints) -> Bools:
        """For each i whether `threads[i]` knows of `other[i]` up to `epochs[i]` in a view (one, or one for each i)."""
        of = self.of
        table = self.table if isinstance(view, np.ndarray) else self.table[view]
        number = self.clock[threads]
        if isinstance(view, np.ndarray):
            number = number + view * self.table.shape[1]
        result: Bools = table.reshape(-1).take(number * (self.width + 1) + self.agent_column.take(other + 1)) >= epochs
        if of.clusters > 1:
            result &= of.cluster[threads] == of.cluster[other]
        if result.all():
            return result
        rest = np.flatnonzero(~result)
        t, u, e = threads[rest], other[rest], epochs[rest]
        v = view[rest] if isinstance(view, np.ndarray) else np.full(len(rest), view, np.int64)
        same = (t == u) & ((v == HB) | (self.bridge[v, t] >= e))
        if self.lanes.any:
            same |= self.lanes.knows(v, t, u, e)
        result[rest] = same
        if of.clusters > 1:
            for i in rest[(~same) & (of.cluster[t] != of.cluster[u])].tolist():
                row = self.rows(int(self.clock[threads[i]])).get(int(of.cluster[other[i]]))
                one = view[i] if isinstance(view, np.ndarray) else view
                result[i] = row is not None and row[one, of.column[other[i]]] >= epochs[i]
        return result

    def fact_mask(self, threads: Wide, operations: Wide, which: int) -> Bools:
        """For each i whether the fact bit `operations[i]` of set `which` (index into `Facts`) is known to `threads[i]`."""
        if len(threads) == 1 == len(operations):
            return np.array([self.facts.sets[int(self.fact[threads[0]])][which] >> int(operations[0]) & 1], np.bool_)
        numbers = self.fact[threads]
        keys = numbers << 32 | operations
        if len(keys) and (keys == keys[0]).all():
            known = bool(self.facts.sets[int(numbers[0])][which] >> int(operations[0]) & 1)
            return np.full(len(keys), known, np.bool_)
        starts = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
        unique, inverse = np.unique(keys[starts], return_inverse=True)
        sets = self.facts.sets
        known_each = np.fromiter((sets[k >> 32][which] >> (k & 0xFFFFFFFF) & 1 for k in unique.tolist()), np.bool_, len(unique))
        result: Bools = np.repeat(known_each[inverse.reshape(-1)], np.diff(starts, append=len(keys)))
        return result

    def facts_of(self, thread: int) -> Facts:
        return self.facts.sets[int(self.fact[thread])]

    def whole(self, threads: Wide) -> Knowledge:
        """What is known to every one of `threads` (for a collective operation of several warps): the minimum of their clocks."""
        rows: Rows = {}
        facts: Facts | None = None
        first = True
        for number in distinct(self.clock[threads]):
            mine = self.rows(number)
            rows = dict(mine) if first else {c: np.minimum(rows[c], mine[c]) for c in rows if c in mine}
            first = False
        for number in distinct(self.fact[threads]):
            have = self.facts.sets[number]
            facts = have if facts is None else Facts(*(a & b for a, b in zip(facts, have, strict=True)))
        return Knowledge(rows, facts or NOTHING)

    # -- changes
    def learn(self, threads: Wide, facts: Facts) -> None:
        old = self.fact[threads]
        for number in distinct(old):
            new = self.facts.add(number, facts)
            if new != number:
                self.fact[threads[old == number]] = new
        self.trim_facts()

    def trim_facts(self) -> None:
        """Drops sets of facts that nobody knows any more, once there are many."""
        if len(self.facts.sets) > self.facts.limit:
            self.fact = self.facts.compact(self.fact)
            self.generation += 1

    def release(self, site: Instruction | None, threads: Wide, scope: int, facts: Facts = NOTHING) -> ReleaseToken:
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
        bases = {number: self.rows(number) for number in distinct(numbers)}
        sets = {number: self.facts.sets[number] for number in distinct(fact_numbers)}
        bridges = self.bridge[:, threads] if self.any_bridge else None
        token.snapshot = Snapshot(
            threads, epochs, numbers, bases, fact_numbers, sets, bridges, self.lanes.of_threads(threads, self.any_bridge)
        )
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

    def join(self, threads: Wide, knowledge: Sequence[Knowledge]) -> None:
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
        mine = self.rows(number)
        theirs = whole.rows()
        if not mine or whole.includes(mine):
            rows, gained = theirs, True
        else:
            rows, gained = dict(mine), False
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
            equal = rows is theirs or (
                rows.keys() == theirs.keys() and all(rows[c] is theirs[c] or np.array_equal(rows[c], theirs[c]) for c in rows)
            )
            known = whole.number_of.get(cluster)
            if equal and known is not None and known[0] < len(self.rows_of) and self.rows_of[known[0]] is known[1]:
                result = known[0]
            else:
                result = self._new_clock(rows, cluster)
                if equal:
                    whole.number_of[cluster] = (result, rows)
        self.joined[key] = result
        return result

    def bridge_fence(self, threads: Wide, space: str) -> None:
        """fence.proxy.async: what these threads know now is covered in the views of the space."""
        views = SPACE_VIEWS[space]
        if not together.fence(self, threads, space, views):
            self._fence_clocks(threads, space, views)
        self.any_bridge = True
        for view in views:
            self.bridge[view, threads] = self.epoch[threads]
        self.lanes.fence(threads, views)
        self.epoch[threads] += 1

    def _fence_clocks(self, threads: Wide, space: str, views: tuple[int, ...]) -> None:
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

    def _fence_clock(self, number: int, space: str, views: tuple[int, ...], cta: int, cluster: int) -> int:
        if number == 0:
            return 0
        key = (number, space, cta if cta >= 0 else -1 - cluster)
        found = self.fenced.get(key)
        if found is not None:
            return found
        rows: Rows = {}
        changed = False
        for other, row in (self.rows(number)).items():
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

    def warp_sync(self, groups: Sequence[Wide] | Wide) -> None:
        """bar.warp.sync: every lane of a group learns what the others have done and know. Several whole warps may come as one array [warps, 32]."""
        if isinstance(groups, np.ndarray):
            self._sync_grid(groups)
            return
        by_length: dict[int, list[Wide]] = {}
        for group in groups:
            by_length.setdefault(len(group), []).append(group)
        for length, same in by_length.items():
            if length > 1:
                self._sync_grid(np.stack(same))

    def _sync_grid(self, grid: Wide) -> None:
        """A group in each row, all of one length."""
        self.lanes.meet(grid, [self.epoch[grid], *(self.bridge[view, grid] for view in range(1, VIEWS) if self.any_bridge)])
        self.epoch[grid] += 1
        for numbers, even_out in ((self.fact[grid], self._even_facts), (self.clock[grid], self._even_clocks)):
            uneven = np.flatnonzero((numbers != numbers[:, :1]).any(axis=1))
            for row in uneven.tolist():
                even_out(grid[row])

    def _even_facts(self, group: Wide) -> None:
        facts = NOTHING
        for number in distinct(self.fact[group]):
            facts = facts | self.facts.sets[number]
        self.fact[group] = self.facts.number(facts)

    def _even_clocks(self, group: Wide) -> None:
        numbers = distinct(self.clock[group])
        key = tuple(-number - 1 for number in numbers)
        found = self.unions.get(key)
        if found is None:
            found = self.unions[key] = combine([Knowledge(self.rows(number), NOTHING) for number in numbers])
        cluster = int(self.of.cluster[group[0]])
        self.clock[group] = self._join_clock(numbers[-1], found, cluster)
