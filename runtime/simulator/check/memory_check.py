"""The race test: every access against the shadow of its bytes, thousands of threads at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.shadow import (
    ATOMIC,
    R_AGENT,
    R_EPOCH,
    R_INFO,
    R_MORE,
    SITE_SHIFT,
    SIZE_SHIFT,
    W_AGENT,
    W_EPOCH,
    W_INFO,
    W_MORE,
    Shadow,
)
from fa4dsl.runtime.simulator.check.token import GLOBAL, HB, LOCAL, PEER, Knowledge

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

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
    """Who makes the current access. A thread array (one for each granule), or what all members of a collective know."""

    agents: Ints
    """Agent of each granule's access, for the shadow."""
    threads: Ints
    """The thread that makes (or issued) it."""
    asynchronous: bool = False
    """In the async proxy: prior generic accesses must be covered by a proxy fence."""
    together: Knowledge | None = None
    cluster: int = 0


class SpaceCheck:
    """Race check of one space. `report` is called with each conflict (one for each prior site and kind of an event)."""

    def __init__(self, space: Space, size: int, shared_stride: int, clocks: Clocks, report: Callable[[Conflict], None]) -> None:
        self.space = space
        self.shadow = Shadow(size, 4 if space == "shared" else 3)
        self.stride = max(shared_stride, 1)
        self.clocks = clocks
        self.of = clocks.of
        self.report = report
        self.first_operation = clocks.of.count + 1

    # -- order
    def _view(self, others: Ints, addresses: Wide) -> int | Ints:
        if self.space == "global":
            return GLOBAL
        local = self.of.cta[others] == addresses // self.stride
        if local.all():
            return LOCAL
        return np.where(local, LOCAL, PEER).astype(np.int32)

    def _ordered(self, observer: Observer, where: Ints | Wide, agents: Ints, epochs: Ints, write: bool, view: int | Ints) -> Bools:
        """Whether prior accesses by `agents` come before the observer's at positions `where`."""
        operation = agents >= self.first_operation
        if operation.all():
            return self._done(observer, where, agents, write)
        if operation.any():
            result = np.zeros(len(agents), np.bool_)
            ops, rest = np.flatnonzero(operation), np.flatnonzero(~operation)
            result[ops] = self._done(observer, where[ops], agents[ops], write)
            result[rest] = self._ordered(
                observer, where[rest], agents[rest], epochs[rest], write, view[rest] if isinstance(view, np.ndarray) else view
            )
            return result
        others = agents - 1
        if observer.together is None:
            return self.clocks.knows(view, observer.threads[where], others, epochs)
        row = observer.together.rows().get(observer.cluster)
        if row is None:
            return np.zeros(len(agents), np.bool_)
        known: Bools = (row[view, self.of.column[others]] >= epochs) & (self.of.cluster[others] == observer.cluster)
        return known

    def _done(self, observer: Observer, where: Ints | Wide, agents: Ints, write: bool) -> Bools:
        operations = agents - self.first_operation
        which = 1 if write else 0
        if observer.together is None:
            return self.clocks.fact_mask(observer.threads[where], operations, which)
        bits = observer.together.facts[which]
        unique, inverse = np.unique(operations, return_inverse=True)
        return np.array([bits >> n & 1 for n in unique.tolist()], np.bool_)[inverse.reshape(-1)]

    def _morally_strong(self, observer: Observer, where: Ints | Wide, agents: Ints, infos: Ints, info: int) -> Bools:
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
    def read(self, observer: Observer, granules: Ints, info: int, epochs: Ints, atomic: bool = False) -> Bools:
        """Checks and records reads; returns where nobody has written."""
        shadow = self.shadow
        rows = shadow.rows
        writer = rows[W_AGENT, granules]
        self._check(observer, granules, writer, W_EPOCH, W_INFO, W_MORE, info, True, False)
        fresh: Bools = writer == 0
        agents = observer.agents
        late = shadow.duplicates(granules)
        reader = rows[R_AGENT, granules]
        other = (reader != 0) & (reader != agents)
        if late is not None:
            lost = np.flatnonzero(late)
            shadow.push(R_MORE, granules[lost], agents[lost], epochs[lost], np.full(len(lost), info, np.int32))
            other &= ~late
        where = np.flatnonzero(other)
        if len(where):
            old = reader[where]
            old_epoch = rows[R_EPOCH, granules[where]]
            kept = where[~self._ordered(observer, where, old, old_epoch, False, HB)]
            if len(kept):
                at = granules[kept]
                shadow.push(R_MORE, at, reader[kept], rows[R_EPOCH, at], rows[R_INFO, at])
        rows[R_AGENT, granules] = agents
        rows[R_EPOCH, granules] = epochs
        rows[R_INFO, granules] = info
        return fresh

    def write(self, observer: Observer, granules: Ints, info: int, epochs: Ints) -> None:
        """Checks and records writes (and read-modify-writes, whose `info` is strong)."""
        shadow = self.shadow
        rows = shadow.rows
        writer = rows[W_AGENT, granules]
        kept = self._check(observer, granules, writer, W_EPOCH, W_INFO, W_MORE, info, True, True)
        reader = rows[R_AGENT, granules]
        if reader.any():
            self._check(observer, granules, reader, R_EPOCH, R_INFO, R_MORE, info, False, True)
        agents = observer.agents
        late = shadow.duplicates(granules)
        if late is not None and observer.together is None and not observer.asynchronous:
            self._meeting(observer, np.flatnonzero(late), granules, info, epochs)
        if rows[R_MORE, granules].any():
            rows[R_MORE, granules] = 0
        if not info & 7 and rows[W_MORE, granules].any():
            rows[W_MORE, granules] = 0
        elif info & 7:
            if kept is not None and len(kept):
                at = granules[kept]
                _, once = np.unique(at, return_index=True)
                kept, at = kept[once], at[once]
                self._push_writers(at, writer[kept], rows[W_EPOCH, at], rows[W_INFO, at])
            if late is not None:
                lost = np.flatnonzero(late)
                self._push_writers(granules[lost], agents[lost], epochs[lost], np.full(len(lost), info, np.int32))
        rows[W_AGENT, granules] = agents
        rows[W_EPOCH, granules] = epochs
        rows[W_INFO, granules] = info
        rows[R_AGENT, granules] = 0

    def _meeting(self, observer: Observer, late: Wide, granules: Ints, info: int, epochs: Ints) -> None:
        """Threads of one event that write to one granule: lanes of one warp are judged by their values elsewhere."""
        kept = self.shadow.stamp[granules[late]] - 1
        a, b = observer.threads[late], observer.threads[kept]
        apart = (a != b) if info & 7 else (self.of.warp[a] != self.of.warp[b])
        late, kept = late[apart], kept[apart]
        if not len(late):
            return
        infos = np.full(len(late), info, np.int32)
        bad = ~self._morally_strong(observer, kept, observer.threads[late] + 1, infos, info)
        if bad.any():
            late, kept = late[bad], kept[bad]
            self._tell(observer, kept, granules[kept], observer.agents[late], epochs[late], infos[bad], info, True, True, False)

    def _push_writers(self, granules: Ints, agents: Ints, epochs: Ints, infos: Ints) -> None:
        self.shadow.wide_writers &= bool(((infos & 7) >= (2 if self.space == "shared" else 3)).all())
        self.shadow.push(W_MORE, granules, agents, epochs, infos)

    def _check(
        self,
        observer: Observer,
        granules: Ints,
        agents: Ints,
        epoch_row: int,
        info_row: int,
        more: int,
        info: int,
        prior_write: bool,
        write: bool,
    ) -> Wide | None:
        """Compares with the slot and the list of each granule. Returns where the slot holds an unordered but morally strong access."""
        shadow = self.shadow
        rows = shadow.rows
        candidate = agents != 0
        if not observer.asynchronous:
            candidate &= agents != observer.agents
        where = np.flatnonzero(candidate)
        kept = None
        if len(where):
            at = granules[where]
            kept = self._judge(observer, where, at, agents[where], rows[epoch_row, at], rows[info_row, at], info, prior_write, write)
        strong_enough = (info & 7) >= (2 if self.space == "shared" else 3)
        if not (more == W_MORE and shadow.wide_writers and strong_enough):
            for where, agent, epoch, infos in shadow.walk(more, granules):
                apart = slice(None) if observer.asynchronous else agent != observer.agents[where]
                self._judge(
                    observer, where[apart], granules[where[apart]], agent[apart], epoch[apart], infos[apart], info, prior_write, write
                )
        return kept

    def _judge(
        self,
        observer: Observer,
        where: Wide,
        granules: Ints,
        agents: Ints,
        epochs: Ints,
        infos: Ints,
        info: int,
        prior_write: bool,
        write: bool,
    ) -> Wide | None:
        if not len(where):
            return None
        ordered = self._ordered(observer, where, agents, epochs, prior_write, HB)
        kept: Wide | None = None
        if not ordered.all():
            bad = np.flatnonzero(~ordered)
            if info & 7:
                strong = self._morally_strong(observer, where[bad], agents[bad], infos[bad], info)
                kept = where[bad[strong]]
                bad = bad[~strong]
            if len(bad):
                self._tell(observer, where[bad], granules[bad], agents[bad], epochs[bad], infos[bad], info, prior_write, write, False)
        if observer.asynchronous:
            generic = ordered & (agents < self.first_operation)
            some = np.flatnonzero(generic)
            if len(some):
                addresses = self._addresses(granules[some]) if self.space == "shared" else np.zeros(0, np.int64)
                view = self._view(agents[some] - 1, addresses)
                covered = self._ordered(observer, where[some], agents[some], epochs[some], prior_write, view)
                if not covered.all():
                    bad = some[~covered]
                    self._tell(observer, where[bad], granules[bad], agents[bad], epochs[bad], infos[bad], info, prior_write, write, True)
        return kept

    def _addresses(self, granules: Ints) -> Wide:
        shadow = self.shadow
        per_page = 12 - shadow.shift
        pages = np.array(shadow.pages, np.int64)
        addresses: Wide = (pages[granules >> per_page] << 12) + ((granules & (1 << per_page) - 1).astype(np.int64) << shadow.shift)
        return addresses

    def _tell(
        self,
        observer: Observer,
        where: Wide,
        granules: Ints,
        agents: Ints,
        epochs: Ints,
        infos: Ints,
        info: int,
        prior_write: bool,
        write: bool,
        bridged: bool,
    ) -> None:
        # One conflict for each prior site: the root cause is a pair of sites. Prefer two different warps: what is wrong between warps is wrong inside one as well.
        mine = np.where(agents < self.first_operation, agents - 1, 0)
        order = np.argsort(self.of.warp[mine] == self.of.warp[observer.threads[where]], kind="stable")
        where, granules, agents, epochs, infos = where[order], granules[order], agents[order], epochs[order], infos[order]
        _, first = np.unique(infos >> SITE_SHIFT, return_index=True)
        for i in first.tolist():
            prior = Side(int(agents[i]), int(epochs[i]), int(infos[i]), prior_write)
            agent = int(observer.agents[where[i]])
            thread = int(observer.threads[where[i]])
            epoch = int(self.clocks.epoch[thread])
            current = Side(agent, epoch, info, write)
            self.report(Conflict(self.space, self.shadow.address(int(granules[i])), prior, current, bridged))

    def is_atomic(self, info: int) -> bool:
        return bool(info & ATOMIC)
