"""What many CTAs, each a cluster of its own, do alike, worked out for all of them at once: what `clocks` does for one group of threads after the other.

Only for threads that know nothing of other CTAs: their clocks stand in the table alone, a row for each. Whatever is not so is left to be done one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.facts import NOTHING
from fa4dsl.runtime.simulator.check.token import BRIDGED, HB, NOBODY, ReleaseToken, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.clocks import Clocks
    from fa4dsl.runtime.simulator.check.token import Knowledge

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]


def _own_only(clocks: Clocks, numbers: Wide, clusters: Wide) -> Bools:
    """Whether each clock knows of nobody outside its cluster."""
    own: Bools = (numbers == 0) | (clocks.alone[numbers] == clusters)
    for i in np.flatnonzero(~own).tolist():
        rows = clocks.rows(int(numbers[i]))
        own[i] = not rows or (len(rows) == 1 and int(clusters[i]) in rows)
    return own


def meet(clocks: Clocks, first: int, ctas: int) -> Ints | None:
    """All threads of `ctas` CTAs, from thread `first` on, meet at their CTA's barrier: what `release` and `join` do for each CTA. Gives the epochs that were
    released, a row for each CTA; None, with nothing done, where somebody knows of other CTAs."""
    of, per_cta = clocks.of, clocks.of.per_cta
    lanes = clocks.lanes
    if of.cluster_size != 1 or (lanes.any and per_cta % 32):
        return None
    threads, cluster = slice(first, first + ctas * per_cta), first // per_cta
    held = clocks.clock[threads]
    # where another clock begins
    begin = np.flatnonzero(np.append(True, held[1:] != held[:-1]) | (np.arange(len(held)) % per_cta == 0))
    numbers = held[begin]
    if not _own_only(clocks, numbers, begin // per_cta + cluster).all():
        return None
    _share_facts(clocks, threads)
    # Nobody outside a CTA holds its clocks, so one of them changes where it stands. It knows less of the own threads than they tell now.
    heads = np.flatnonzero(begin % per_cta == 0)
    old = numbers[heads]
    fresh = old == 0
    bridged = [np.maximum.reduceat(clocks.table[view, numbers], heads) for view in BRIDGED] if clocks.any_bridge else None
    if fresh.any():
        new = np.flatnonzero(fresh)
        old[new] = clocks.take(len(new))
        clocks.table[:, old[new], 0], clocks.table[:, old[new], 1:] = NOBODY, 0
    if fresh.any() or len(begin) > ctas:
        clocks.clock[threads] = np.repeat(old, per_cta)
    if (clocks.alone[old] < 0).any():
        clocks.alone[old] = np.arange(cluster, cluster + ctas)
        for number in old.tolist():
            clocks.rows_of[number] = None
    if clocks.joined or clocks.fenced or clocks.unions:
        clocks.forget()
    epochs: Ints = clocks.epoch[threads].reshape(-1, per_cta).copy()
    clocks.table[HB, old, 1:] = epochs
    if bridged is not None:
        for view, known in zip(BRIDGED, bridged, strict=True):
            clocks.table[view, old, 1:] = np.maximum(known[:, 1:], clocks.bridge[view, threads].reshape(-1, per_cta))
            if lanes.any:
                met = lanes.of_warps(view, threads).reshape(-1, per_cta)
                clocks.table[view, old, 1:] = np.maximum(clocks.table[view, old, 1:], met)
    if lanes.any and threads == clocks.resident:
        lanes.restart(lanes.first)  # the clocks tell all of it now
    for number in clocks.taken:
        if clocks.alone[number] >= 0:
            clocks.rows_of[number] = None
    clocks.taken.clear()
    clocks.epoch[threads] += 1
    clocks.told[cluster : cluster + ctas] = epochs.min(axis=1)
    clocks.all_told = int(clocks.told[clocks.resident.start // per_cta : clocks.resident.stop // per_cta].min())
    return epochs


def _share_facts(clocks: Clocks, threads: slice) -> None:
    """Those of a CTA all learn the facts that some of them know."""
    facts = clocks.fact[threads].reshape(-1, clocks.of.per_cta)
    for cta in np.flatnonzero((facts != facts[:, :1]).any(axis=1)).tolist():
        whole = NOTHING
        for number in np.unique(facts[cta]).tolist():
            whole = whole | clocks.facts.sets[number]
        facts[cta] = clocks.facts.number(whole)
    clocks.trim_facts()


def _edges(parts: Sequence[Wide]) -> tuple[Wide, Wide, Wide]:
    """Groups of threads in one row, their sizes, and where each begins."""
    sizes = np.fromiter((len(part) for part in parts), np.int64, len(parts))
    return np.concatenate(parts), sizes, np.cumsum(sizes) - sizes


def _alike(clocks: Clocks, threads: Wide, sizes: Wide, begin: Wide) -> Bools:
    """Which groups are each of one CTA, hold one clock, which knows of that CTA only, and the same facts."""
    of, first = clocks.of, threads[begin]
    same = clocks.clock[threads] == np.repeat(clocks.clock[first], sizes)
    same &= clocks.fact[threads] == np.repeat(clocks.fact[first], sizes)
    same &= of.cta[threads] == np.repeat(of.cta[first], sizes)
    alike: Bools = np.logical_and.reduceat(same, begin)
    return alike & _own_only(clocks, clocks.clock[first], of.cluster[first])


def release_each(clocks: Clocks, site: Instruction | None, parts: Sequence[Wide], scope: int) -> list[ReleaseToken] | None:
    """`release` of each group; None, with nothing done, where they are to come one by one."""
    of = clocks.of
    if of.cluster_size != 1 or clocks.lanes.any:
        return None
    threads, sizes, begin = _edges(parts)
    if not _alike(clocks, threads, sizes, begin).all():
        return None
    numbers, facts = clocks.clock[threads], clocks.fact[threads]
    epochs = clocks.epoch[threads]
    ctas = of.cta[threads[begin]].tolist()
    base = clocks.table[:, numbers[begin], 1:]
    rows, group, column = base.copy(), np.repeat(np.arange(len(parts)), sizes), of.column[threads]
    rows[HB, group, column] = np.maximum(rows[HB, group, column], epochs)
    bridges = clocks.bridge[:, threads] if clocks.any_bridge else None
    if bridges is not None:
        for view in BRIDGED:
            rows[view, group, column] = np.maximum(rows[view, group, column], bridges[view])
    tokens = []
    for i, (cta, start, end) in enumerate(zip(ctas, begin.tolist(), (begin + sizes).tolist(), strict=True)):
        where = slice(start, end)
        number, fact = int(numbers[start]), int(facts[start])
        known = clocks.facts.sets[fact]
        token = ReleaseToken(site, threads[where], epochs[where], frozenset((cta,)), scope, known, {cta: rows[:, i]})
        token.snapshot = Snapshot(
            token.threads,
            token.epochs,
            numbers[where],
            {number: {cta: base[:, i]} if number else {}},
            facts[where],
            {fact: known},
            None if bridges is None else bridges[:, where],
            None,
        )
        token.numbering = of
        tokens.append(token)
    clocks.epoch[threads] = epochs + 1
    return tokens


def join_each(clocks: Clocks, parts: Sequence[tuple[Wide, Sequence[Knowledge]]]) -> list[int]:
    """`join` of each group with its tokens, all of which their scopes let it observe. Gives the groups, by number, with which nothing was done: they are to come one by one."""
    of = clocks.of
    if of.cluster_size != 1:
        return list(range(len(parts)))
    threads, sizes, begin = _edges([part for part, _ in parts])
    alike = _alike(clocks, threads, sizes, begin)
    facts, ctas = clocks.fact[threads[begin]], of.cta[threads[begin]]
    held = clocks.clock[threads[begin]]
    rest: list[int] = []
    learnt: list[npt.NDArray[np.int32]] = []
    who: list[int] = []
    keys: list[tuple[int, ...]] = []
    sets = clocks.facts.sets
    for i, (possible, cta, number, fact) in enumerate(zip(alike.tolist(), ctas.tolist(), held.tolist(), facts.tolist(), strict=True)):
        rows: list[npt.NDArray[np.int32]] = []
        new, key = sets[fact], [-1, number, cta]
        for token in parts[i][1] if possible else ():
            known = token.rows()
            if known:
                possible = possible and len(known) == 1 and cta in known
                rows += known.values()
                key.append(token.serial)
            new = new | token.facts
        if not possible:
            alike[i] = False
            rest.append(i)
            continue
        if rows:
            who.append(i)
            learnt.append(rows[0] if len(rows) == 1 else np.maximum.reduce(rows))
            keys.append(tuple(key))
        if new != sets[fact]:
            facts[i] = clocks.facts.number(new)
    if who:
        held[who] = _learn_rows(clocks, held[who], np.stack(learnt, axis=1), ctas[who], keys)
    every = np.repeat(alike, sizes)
    if every.all():
        clocks.fact[threads], clocks.clock[threads] = np.repeat(facts, sizes), np.repeat(held, sizes)
    else:
        changing = threads[every]
        clocks.fact[changing], clocks.clock[changing] = np.repeat(facts, sizes)[every], np.repeat(held, sizes)[every]
    clocks.trim_facts()
    return rest


def _learn_rows(clocks: Clocks, held: Wide, rows: Ints, clusters: Wide, keys: Sequence[tuple[int, ...]]) -> Wide:
    """Clocks that know what the clocks `held` do, and a row [views, clocks, columns] each; `keys`: what stands for that, in the memo table."""
    clocks.reserve(len(held))
    known = clocks.table[:, held, 1:]
    rows = np.maximum(known, rows)
    changed = np.flatnonzero((rows != known).any(axis=(0, 2)))
    return _instead(clocks, held, changed, rows[:, changed], clusters[changed], [keys[i] for i in changed.tolist()], clocks.joined)


def _instead(clocks: Clocks, held: Wide, changed: Wide, rows: Ints, clusters: Wide, keys: Sequence[Any], memo: dict[Any, int]) -> Wide:
    """The clocks `held`, of which those at `changed` give way to others with these rows: those of the memo table, or new ones, for which there is room."""
    numbers = held.copy()
    found = np.fromiter((memo.get(key, 0) for key in keys), np.int64, len(keys))
    missing = np.flatnonzero(found == 0)
    if len(missing):
        found[missing] = new = clocks.take(len(missing))
        clocks.table[:, new, 0], clocks.table[:, new, 1:] = NOBODY, rows[:, missing]
        clocks.alone[new] = clusters[missing]
        memo.update(zip(keys, found.tolist(), strict=True))
    numbers[changed] = found
    return numbers


def fence(clocks: Clocks, threads: Wide, space: str, views: Sequence[int]) -> bool:
    """What the threads' clocks know happens before is covered in these views too; False, with nothing done, where they are to come one by one."""
    if clocks.of.cluster_size != 1:
        return False
    held = clocks.clock[threads]
    begin = np.flatnonzero(np.append(True, held[1:] != held[:-1]))
    if len(begin) < 2:
        return False
    numbers, once = np.unique(held[begin], return_index=True)
    owner = clocks.of.cluster[threads[begin[once]]]
    if not _own_only(clocks, numbers, owner).all():
        return False
    clocks.reserve(len(numbers))
    rows = clocks.table[:, numbers, 1:]
    change = np.zeros(len(numbers), np.bool_)
    for view in views:
        change |= (rows[HB] > rows[view]).any(axis=1)
        rows[view] = np.maximum(rows[view], rows[HB])
    changed = np.flatnonzero(change & (numbers != 0))
    if len(changed):
        homes = owner[changed].tolist()
        keys = [
            (number, space, cta if space == "shared::cta" else -1 - cta)
            for number, cta in zip(numbers[changed].tolist(), homes, strict=True)
        ]
        following = np.arange(clocks.table.shape[1])
        following[numbers] = _instead(clocks, numbers, changed, rows[:, changed], owner[changed], keys, clocks.fenced)
        clocks.clock[threads] = following[held]
    return True
