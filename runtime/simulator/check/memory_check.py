"""The race test: every access against the shadow of its bytes, thousands of threads at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.shadow import READ, SITE_SHIFT, SIZE_SHIFT, WRITTEN, Granules, Shadow
from fa4dsl.runtime.simulator.check.token import GLOBAL, HB, LOCAL, PEER, Knowledge

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fa4dsl.runtime.simulator.check.agent_lists import AgentLists
    from fa4dsl.runtime.simulator.check.clocks import Clocks
    from fa4dsl.runtime.simulator.events import Space

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """One of the two accesses of a conflict. `agent` as in `shadow`; `epoch` only for threads."""

    agent: int
    epoch: int
    info: int
    write: bool


@dataclass(frozen=True)
class Conflict:
    """Two accesses to `address` that nothing orders (`bridged` False), or that are ordered but lack a proxy fence (`bridged` True)."""

    space: Space
    address: int
    prior: Side
    current: Side
    bridged: bool


@dataclass
class Observer:
    """Who makes the current access, for each granule. All that threads of a collective know may stand in `together`."""

    marks: Wide
    """As the shadow keeps them."""
    threads: Wide
    """The thread that makes (or issued) it."""
    operation: bool = False
    """Whether the marks are those of one asynchronous operation."""
    asynchronous: bool = False
    """In the async proxy: prior generic accesses must be covered by a proxy fence."""
    together: Knowledge | None = None
    cluster: int = 0

    @property
    def different(self) -> Wide:
        """The threads, or only the first where all are the same."""
        return self.threads[:1] if self.threads.strides == (0,) else self.threads


@dataclass
class Question:
    """What an access is compared with: writes or reads, and whether it writes itself."""

    observer: Observer
    info: int
    prior_write: bool
    write: bool


class SpaceCheck:
    """Race check of one space. `report` is called with each conflict (one for each prior site and kind of an event)."""

    def __init__(self, space: Space, size: int, shared_stride: int, clocks: Clocks, report: Callable[[Conflict], None]) -> None:
        self.space = space
        self.shadow = Shadow(size)
        self.stride = max(shared_stride, 1)
        self.clocks = clocks
        self.of = clocks.of
        self.report = report
        self.first_operation = clocks.of.count + 1
        self.strong_enough = 2 if space == "shared" else 3
        """The strength that reaches all who can see the space."""

    # -- order
    def _view(self, others: Wide, addresses: Wide) -> int | Wide:
        if self.space == "global":
            return GLOBAL
        local = self.of.cta[others] == addresses // self.stride
        if local.all():
            return LOCAL
        return np.where(local, LOCAL, PEER)

    def _ordered(self, observer: Observer, where: Wide, marks: Wide, write: bool, view: int | Wide) -> Bools:
        """Whether prior accesses, by their marks, come before the observer's at positions `where`."""
        agents = marks >> 32
        operation = agents >= self.first_operation
        if operation.all():
            return self._done(observer, where, agents, write)
        if operation.any():
            result = np.zeros(len(agents), np.bool_)
            ops, rest = np.flatnonzero(operation), np.flatnonzero(~operation)
            result[ops] = self._done(observer, where[ops], agents[ops], write)
            result[rest] = self._ordered(observer, where[rest], marks[rest], write, view[rest] if isinstance(view, np.ndarray) else view)
            return result
        epochs = marks.astype(np.int32)
        if observer.together is None:
            return self.clocks.knows(view, observer.threads[where], agents - 1, epochs)
        row = observer.together.rows().get(observer.cluster)
        if row is None:
            return np.zeros(len(agents), np.bool_)
        others = agents - 1
        known: Bools = (row[view, self.of.column[others]] >= epochs) & (self.of.cluster[others] == observer.cluster)
        return known

    def _done(self, observer: Observer, where: Wide | slice, agents: Wide, write: bool) -> Bools:
        operations = agents - self.first_operation
        which = 1 if write else 0
        if observer.together is None:
            return self.clocks.fact_mask(observer.threads[where], operations, which)
        bits = observer.together.facts[which]
        unique, inverse = np.unique(operations, return_inverse=True)
        return np.array([bits >> n & 1 for n in unique.tolist()], np.bool_)[inverse.reshape(-1)]

    def _morally_strong(self, observer: Observer, where: Wide, agents: Wide, infos: Ints, info: int) -> Bools:
        strength = info & 7
        if not strength:
            return np.zeros(len(agents), np.bool_)
        other = infos & 7
        same_size = (infos >> SIZE_SHIFT & 15) == (info >> SIZE_SHIFT & 15)
        threads = np.where(agents < self.first_operation, agents - 1, 0)
        mine = observer.threads[where]
        level = np.minimum(other, strength) - 1
        same_cta = self.of.cta[threads] == self.of.cta[mine]
        same_cluster = self.of.cluster[threads] == self.of.cluster[mine]
        included = (level >= 2) | ((level == 1) & same_cluster) | ((level == 0) & same_cta)
        # The elements of an asynchronous reduction are relaxed operations at gpu scope.
        included = np.where(agents >= self.first_operation, (level >= 1), included)
        return (other > 0) & same_size & included  # type: ignore[no-any-return]

    # -- events
    def read(self, observer: Observer, granules: Granules, info: int) -> int | None:
        """Checks and records reads; returns, for shared memory, the first position where nobody has written."""
        shadow, key, marks = self.shadow, granules.key, observer.marks
        fresh: int | None = 0
        if granules.some & WRITTEN:
            writer = shadow.writer[key]
            self._compare(Question(observer, info, True, False), granules, writer, shadow.writer_info, shadow.writers)
            if self.space == "shared":
                fresh = None if writer.all() else int(np.flatnonzero(writer == 0)[0])
        late = None if observer.operation else shadow.later(granules, stamped=False)
        if late is not None:
            lost = np.flatnonzero(late)
            shadow.readers.add(granules.rows[lost], marks[lost], np.full(len(lost), info, np.int32))
        if granules.some & READ:
            self._keep_readers(observer, granules, late)
        shadow.reader[key] = marks
        shadow.reader_info[key] = info
        shadow.note(granules, READ)
        return fresh

    def _keep_readers(self, observer: Observer, granules: Granules, late: Bools | None) -> None:
        """Puts the last readers, which give up their slots, into lists, where they do not come before the observer."""
        shadow = self.shadow
        reader = shadow.reader[granules.key]
        if not reader.any():
            return
        other = (reader >> 32 != observer.marks >> 32) & (reader != 0)
        if late is not None:
            other &= ~late
        where = np.flatnonzero(other)
        if not len(where):
            return
        marks = reader[where]
        ordered = self._ordered(observer, where, marks, False, HB)
        if ordered.all():
            return
        kept = np.flatnonzero(~ordered)
        rows = granules.rows[where[kept]]
        shadow.readers.add(rows, marks[kept], shadow.reader_info[rows])

    def write(self, observer: Observer, granules: Granules, info: int) -> None:
        """Checks and records writes (and read-modify-writes, whose `info` is strong)."""
        shadow, key, marks = self.shadow, granules.key, observer.marks
        kept = None
        if granules.some & WRITTEN:
            writer = shadow.writer[key]
            kept = self._compare(Question(observer, info, True, True), granules, writer, shadow.writer_info, shadow.writers)
        if granules.some & READ:
            self._compare(Question(observer, info, False, True), granules, shadow.reader[key], shadow.reader_info, shadow.readers)
            shadow.readers.clear(key)
            shadow.reader[key] = 0
        late = shadow.later(granules)
        if late is not None and observer.together is None and not observer.asynchronous:
            self._meeting(observer, np.flatnonzero(late), granules, info)
        if not info & 7:
            shadow.writers.clear(key)
        else:
            if kept is not None and len(kept):
                rows, once = np.unique(granules.rows[kept], return_index=True)
                self._keep_writers(rows, writer[kept[once]], shadow.writer_info[rows])
            if late is not None and not observer.operation:
                lost = np.flatnonzero(late)
                self._keep_writers(granules.rows[lost], marks[lost], np.full(len(lost), info, np.int32))
        shadow.writer[key] = marks
        shadow.writer_info[key] = info
        shadow.note(granules, WRITTEN)

    # -- operations of several threads, with nothing to tell
    def clean(self, observer: Observer, granules: Granules, write: bool) -> bool:
        """Whether all that reads or writes of several operations in the async proxy are compared with comes before them, and is covered by proxy fences."""
        shadow = self.shadow
        if granules.some & WRITTEN and not self._all_before(observer, granules, shadow.writer[granules.key], shadow.writers, True):
            return False
        return not (write and granules.some & READ) or self._all_before(
            observer, granules, shadow.reader[granules.key], shadow.readers, False
        )

    def _all_before(self, observer: Observer, granules: Granules, slots: Wide, lists: AgentLists, prior_write: bool) -> bool:
        where = np.flatnonzero(slots)
        if not self._covered(observer, granules, where, slots[where], prior_write):
            return False
        listed = lists.listed(granules.key)
        return listed is None or self._covered(observer, granules, listed.where, listed.marks, prior_write)

    def _covered(self, observer: Observer, granules: Granules, where: Wide, marks: Wide, prior_write: bool) -> bool:
        if not len(where):
            return True
        if not self._ordered(observer, where, marks, prior_write, HB).all():
            return False
        some = np.flatnonzero(marks >> 32 < self.first_operation)
        if not len(some):
            return True
        where, marks = where[some], marks[some]
        rows = granules.rows[where]
        view = self._view((marks >> 32) - 1, self.shadow.addresses(rows) if self.space == "shared" else rows[:0])
        return bool(self._ordered(observer, where, marks, prior_write, view).all())

    def read_each(self, observer: Observer, granules: Granules, info: int) -> None:
        """Records reads of several operations, which may read the same bytes, one after the other: none of them comes before another."""
        shadow, key, marks = self.shadow, granules.key, observer.marks
        late = None
        if not granules.distinct:
            rows = granules.rows
            order = np.argsort(rows, kind="stable")
            same = rows[order[1:]] == rows[order[:-1]]
            late, again = np.zeros(granules.count, np.bool_), np.zeros(granules.count, np.bool_)
            late[order[:-1][same]], again[order[1:][same]] = True, True
        if granules.some & READ:
            self._keep_readers(observer, granules, again if late is not None else None)
        if late is not None and late.any():
            lost = np.flatnonzero(late)
            shadow.readers.add(granules.rows[lost], marks[lost], np.full(len(lost), info, np.int32))
        shadow.reader[key] = marks
        shadow.reader_info[key] = info
        shadow.note(granules, READ)

    def record_write(self, observer: Observer, granules: Granules, info: int) -> None:
        """Records weak writes to granules that differ from each other."""
        shadow, key = self.shadow, granules.key
        if granules.some & READ:
            shadow.readers.clear(key)
            shadow.reader[key] = 0
        shadow.writers.clear(key)
        shadow.writer[key] = observer.marks
        shadow.writer_info[key] = info
        shadow.note(granules, WRITTEN)

    def _meeting(self, observer: Observer, late: Wide, granules: Granules, info: int) -> None:
        """Threads of one event that write to one granule: lanes of one warp are judged by their values elsewhere."""
        kept = self.shadow.stamp[granules.rows[late]].astype(np.int64) - 1
        a, b = observer.threads[late], observer.threads[kept]
        apart = (a != b) if info & 7 else (self.of.warp[a] != self.of.warp[b])
        late, kept = late[apart], kept[apart]
        if not len(late):
            return
        infos = np.full(len(late), info, np.int32)
        bad = ~self._morally_strong(observer, kept, observer.threads[late] + 1, infos, info)
        if bad.any():
            late, kept = late[bad], kept[bad]
            marks = np.broadcast_to(observer.marks, granules.count)[late]
            self._tell(Question(observer, info, True, True), kept, granules.rows[kept], marks, infos[bad], False)

    def _keep_writers(self, rows: Wide, marks: Wide, infos: Ints) -> None:
        self.shadow.wide_writers &= bool(((infos & 7) >= self.strong_enough).all())
        self.shadow.writers.add(rows, marks, infos)

    def _compare(self, question: Question, granules: Granules, slots: Wide, slot_infos: Ints, lists: AgentLists) -> Wide | None:
        """Compares with the slot and the list of each granule. Returns where the slot holds an unordered but morally strong access."""
        observer = question.observer
        kept = None
        if not self._known(question, granules, slots):
            candidate = slots != 0
            if not observer.asynchronous:
                candidate &= slots >> 32 != observer.marks >> 32
            where = np.flatnonzero(candidate)
            if len(where):
                rows = granules.rows[where]
                kept = self._judge(question, where, rows, slots[where], slot_infos[rows])
        if lists.empty or (question.prior_write and self.shadow.wide_writers and (question.info & 7) >= self.strong_enough):
            return kept
        listed = lists.listed(granules.key)
        if listed is not None:
            where, depth, marks, infos = listed
            if not observer.asynchronous:
                apart = marks >> 32 != np.broadcast_to(observer.marks, granules.count)[where] >> 32
                where, depth, marks, infos = where[apart], depth[apart], marks[apart], infos[apart]
            self._judge(question, where, granules.rows[where], marks, infos, depth)
        return kept

    def _known(self, question: Question, granules: Granules, slots: Wide) -> bool:
        """The usual case, answered quickly: whether all slots are empty, or hold accesses that come before the observers' and need no further fence.
        False may also mean that a closer look is needed."""
        observer, agents = question.observer, slots >> 32
        highest = int(agents.max())
        if highest < self.first_operation:
            if not highest:
                return True
            if observer.operation:
                return self._known_to_operation(observer, granules, slots, agents)
            return self.clocks.all_known(observer.threads, slots, agents, self.space == "shared")
        if int(agents.min()) < self.first_operation:
            return False
        return bool(self._done(observer, slice(None), agents, question.prior_write).all())

    def _known_to_operation(self, observer: Observer, granules: Granules, slots: Wide, agents: Wide) -> bool:
        view = HB
        if observer.asynchronous:
            if self.space == "shared":
                home = self.shadow.first_address(granules) // self.stride
                if not (self.clocks.agent_cta.take(agents) == home).all():
                    return False
                view = LOCAL
            else:
                view = GLOBAL
        if observer.together is None:
            return self.clocks.all_known(observer.different, slots, agents, self.space == "shared", view)
        row = observer.together.rows().get(observer.cluster)
        if row is None or not (self.clocks.agent_cluster.take(agents) == observer.cluster).all():
            return False
        return bool((row[view].take(self.clocks.agent_column.take(agents) - 1) >= slots.astype(np.int32)).all())

    def _judge(self, question: Question, where: Wide, rows: Wide, marks: Wide, infos: Ints, depth: Wide | None = None) -> Wide | None:
        """The accesses of `marks` against those at positions `where`. Of lists, the newest entries are told first, a `depth` at a time."""
        if not len(where):
            return None
        observer, info = question.observer, question.info
        agents = marks >> 32
        ordered = self._ordered(observer, where, marks, question.prior_write, HB)
        kept: Wide | None = None
        bad = uncovered = where[:0]
        if not ordered.all():
            bad = np.flatnonzero(~ordered)
            if info & 7:
                strong = self._morally_strong(observer, where[bad], agents[bad], infos[bad], info)
                kept = where[bad[strong]]
                bad = bad[~strong]
        if observer.asynchronous:
            some = np.flatnonzero(ordered & (agents < self.first_operation))
            if len(some):
                addresses = self.shadow.addresses(rows[some]) if self.space == "shared" else rows[:0]
                view = self._view(agents[some] - 1, addresses)
                covered = self._ordered(observer, where[some], marks[some], question.prior_write, view)
                uncovered = some[~covered]
        for level in [None] if depth is None else sorted({*depth[bad].tolist(), *depth[uncovered].tolist()}):
            for chosen, bridged in ((bad, False), (uncovered, True)):
                at = chosen if depth is None else chosen[depth[chosen] == level]
                if len(at):
                    self._tell(question, where[at], rows[at], marks[at], infos[at], bridged)
        return kept

    def _tell(self, question: Question, where: Wide, rows: Wide, marks: Wide, infos: Ints, bridged: bool) -> None:
        # One conflict for each prior site: the root cause is a pair of sites. Prefer two different warps: what is wrong between warps is wrong inside one as well.
        observer = question.observer
        agents = marks >> 32
        theirs = np.where(agents < self.first_operation, agents - 1, 0)
        order = np.argsort(self.of.warp[theirs] == self.of.warp[observer.threads[where]], kind="stable")
        _, first = np.unique(infos[order] >> SITE_SHIFT, return_index=True)
        for i in order[first].tolist():
            prior = Side(int(agents[i]), int(marks[i] & 0xFFFFFFFF), int(infos[i]), question.prior_write)
            thread = int(observer.threads[where[i]])
            agent = int(np.broadcast_to(observer.marks, len(observer.threads))[where[i]]) >> 32
            current = Side(agent, int(self.clocks.epoch[thread]), question.info, question.write)
            self.report(Conflict(self.space, self.shadow.address(int(rows[i])), prior, current, bridged))
