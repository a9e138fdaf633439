"""Release and acquire: scopes, release and acquire patterns through fences, fence.sc, relaxed cluster arrives.

What did not synchronise although the program seems to want it (scopes that do not include each other, a relaxed arrive without
a fence) is remembered: the explanation of a race asks whether that edge would have ordered the two accesses.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fa4dsl.runtime.simulator.check import together
from fa4dsl.runtime.simulator.check.clocks import Clocks, distinct
from fa4dsl.runtime.simulator.check.facts import NOTHING, Facts
from fa4dsl.runtime.simulator.check.numbering import SCOPES
from fa4dsl.runtime.simulator.check.token import Knowledge, ReleaseToken, combine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.events import Order, Scope

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]

RELEASES = ("release", "acq_rel", "sc")
ACQUIRES = ("acquire", "acq_rel", "sc")

STEPS = 50_000
"""How many steps, each of one group of threads, are kept for explanations."""


@dataclass
class MissedEdge:
    """A join that did not happen: `threads` at `epochs` saw `token`, but could not learn from it."""

    why: Literal["arrive scope", "wait scope", "relaxed arrive", "relaxed wait"]
    site: Instruction
    threads: Wide
    epochs: Ints
    token: ReleaseToken
    level: int = 3
    """Scope of the observation."""


@dataclass
class Step:
    """A release or fence: after it these threads were in epoch `epochs + 1`."""

    site: Instruction | None
    kind: str
    threads: Wide
    epochs: Ints
    groups: int = 1
    """CTAs whose threads follow each other here, where each of them took this step by itself."""

    def of_cta(self, cta: int, per_cta: int) -> Step:
        """The part of a CTA."""
        if self.groups == 1:
            return self
        begin = cta * per_cta - int(self.threads[0])
        return Step(self.site, self.kind, self.threads[begin : begin + per_cta], self.epochs[begin : begin + per_cta])


class Steps:
    """The latest steps, oldest first."""

    def __init__(self) -> None:
        self._kept: deque[Step] = deque()
        self._groups = 0

    def append(self, step: Step) -> None:
        self._kept.append(step)
        self._groups += step.groups
        while self._groups - self._kept[0].groups >= STEPS:
            self._groups -= self._kept.popleft().groups

    def __iter__(self) -> Iterator[Step]:
        return iter(self._kept)

    def __reversed__(self) -> Iterator[Step]:
        return reversed(self._kept)


class Synchronisation:
    """Applies synchronising operations to the clocks."""

    def __init__(self, numbering: Threads, clocks: Clocks) -> None:
        self.of = numbering
        self.clocks = clocks
        self.missed: deque[MissedEdge] = deque(maxlen=20_000)
        self.steps = Steps()
        self.published: list[ReleaseToken | None] = [None]
        self.published_of = np.zeros((4, numbering.count), np.int64)
        """By scope and thread: number in `published` of the last release fence of at least that scope."""
        self.any_published = False
        self.pending: list[tuple[Wide, ReleaseToken, int, Instruction]] = []
        """Relaxed observations that a later acquire fence may complete: threads, token, scope of the observation, site."""
        self.sequential: dict[tuple[int, int], list[Knowledge]] = {}
        """fence.sc tokens by (scope, CTA)."""
        self.fenced_inits: dict[int, int] = {}
        """By thread: its mbarrier.init numbers that an init fence has released."""
        self.has_fenced = np.zeros(numbering.count, np.bool_)
        """Whether a thread stands there."""
        self.own_inits: dict[int, int] = {}

    # -- releases
    def release(self, site: Instruction | None, threads: Wide, scope: Scope, order: Order, kind: str = "arrive") -> ReleaseToken:
        level = SCOPES[scope]
        token = self.clocks.release(site, threads, level)
        self.steps.append(Step(site, kind, token.threads, token.epochs))
        if order in RELEASES:
            return token
        return self.weaken(token)

    def release_each(self, site: Instruction | None, parts: Sequence[Wide], scope: Scope, order: Order) -> Sequence[ReleaseToken]:
        """`release` of each group of threads."""
        tokens = together.release_each(self.clocks, site, parts, SCOPES[scope]) if order in RELEASES and len(parts) > 1 else None
        if tokens is None:
            return [self.release(site, threads, scope, order) for threads in parts]
        homes = [min(token.ctas) for token in tokens]
        if all(one < other for one, other in itertools.pairwise(homes)):
            threads, epochs = (np.concatenate(column) for column in zip(*((one.threads, one.epochs) for one in tokens), strict=True))
            self.steps.append(Step(site, "arrive", threads, epochs, len(tokens)))
        else:
            for token in tokens:
                self.steps.append(Step(site, "arrive", token.threads, token.epochs))
        return tokens

    def weaken(self, token: ReleaseToken) -> ReleaseToken:
        """The token of a relaxed operation: only what earlier release fences of its threads published."""
        facts = Facts(started=token.facts.started)
        if self.fenced_inits:
            for thread in token.threads[self.has_fenced[token.threads]].tolist():
                facts = facts | Facts(inits=self.fenced_inits[thread])
        weak = ReleaseToken(token.site, token.threads, token.epochs, token.ctas, token.scope, facts, {})
        weak.relaxed = True
        weak.withheld = token
        if self.any_published:
            parts = []
            for level in range(4):
                numbers = self.published_of[level, token.threads]
                for number in distinct(numbers):
                    whole = self.published[number]
                    if whole is None or whole.scope != level:
                        continue
                    part = self.clocks.select(whole, np.isin(whole.threads, token.threads[numbers == number]))
                    if level > token.scope:
                        part = self._narrowed(part, token.scope)
                    parts.append(part)
            weak.published = tuple(parts)
        return weak

    def _narrowed(self, token: ReleaseToken, scope: int) -> ReleaseToken:
        narrow = ReleaseToken(token.site, token.threads, token.epochs, token.ctas, scope, token.facts)
        narrow.snapshot, narrow.numbering = token.snapshot, token.numbering
        return narrow

    # -- acquires
    def mutual(self, token: ReleaseToken, cta: int, scope: int) -> bool:
        """Whether the token's scope includes the observer's CTA and the observer's scope the releasing threads'."""
        return all(self.of.same_instance(home, cta, token.scope) and self.of.same_instance(home, cta, scope) for home in token.ctas)

    def join(self, site: Instruction, threads: Wide, tokens: Iterable[Knowledge], scope: Scope, order: Order) -> None:
        level = SCOPES[scope]
        flat: list[Knowledge] = []
        weak: list[ReleaseToken] = []
        for token in tokens:
            if isinstance(token, ReleaseToken) and token.relaxed:
                weak.append(token)
                flat.append(Knowledge({}, token.facts)) if token.facts != NOTHING else None
                flat.extend(token.published)
            else:
                flat.append(token)
        acquire = order in ACQUIRES
        ctas = self.of.cta[threads]
        wide = level >= 1 and all(not isinstance(t, ReleaseToken) or t.scope >= 1 for t in flat) and self.of.clusters == 1
        for cta in [int(ctas[0])] if wide else distinct(ctas):
            mine = threads if wide else threads[ctas == cta]
            if not len(mine):
                continue
            self._join_in_cta(site, mine, cta, level, acquire, flat)
            for token in weak:
                if token.withheld is not None:
                    self.missed.append(MissedEdge("relaxed arrive", site, mine, self.clocks.epoch[mine], token.withheld, level))

    def join_each(self, site: Instruction, parts: Sequence[tuple[Wide, Sequence[Knowledge]]], scope: Scope, order: Order) -> None:
        """`join` of each group of threads with the tokens that it has observed, in a launch without clusters."""
        plain: list[tuple[Wide, Sequence[Knowledge]]] = []
        rest: list[tuple[Wide, Sequence[Knowledge]]] = []
        for part in parts:
            cta = int(self.of.cta[part[0][0]])
            near = all(not isinstance(token, ReleaseToken) or (not token.relaxed and token.ctas == {cta}) for token in part[1])
            (plain if near and order in ACQUIRES else rest).append(part)
        rest += [plain[number] for number in (together.join_each(self.clocks, plain) if plain else ())]
        for threads, tokens in rest:
            self.join(site, threads, tokens, scope, order)

    def _join_in_cta(self, site: Instruction, threads: Wide, cta: int, level: int, acquire: bool, tokens: list[Knowledge]) -> None:
        accepted: list[Knowledge] = []
        for token in tokens:
            if not isinstance(token, ReleaseToken):
                accepted.append(token)
                continue
            if self.mutual(token, cta, level):
                if acquire:
                    accepted.append(token)
                    continue
                if not any(old is token and np.array_equal(waiting, threads) for waiting, old, _, _ in self.pending[-32:]):
                    self.pending.append((threads, token, level, site))
                why: Literal["arrive scope", "wait scope", "relaxed wait"] = "relaxed wait"
            else:
                why = "arrive scope" if not all(self.of.same_instance(home, cta, token.scope) for home in token.ctas) else "wait scope"
            self._miss(MissedEdge(why, site, threads, self.clocks.epoch[threads], token, level))
            self.clocks.learn(threads, Facts(started=token.facts.started))
        self.clocks.join(threads, accepted)

    def _miss(self, edge: MissedEdge) -> None:
        """Remembers it, once for a thread that polls."""
        for back in range(1, min(16, len(self.missed)) + 1):
            old = self.missed[-back]
            if old.token is edge.token and old.site is edge.site and np.array_equal(old.threads, edge.threads):
                old.epochs = edge.epochs
                return
        self.missed.append(edge)

    # -- fences
    def fence(self, site: Instruction, threads: Wide, order: Order, scope: Scope) -> ReleaseToken | None:
        """Gives what a release fence has published."""
        level = SCOPES[scope]
        token = None
        if order in ACQUIRES and self.pending:
            self._complete_pending(site, threads, level)
        if order == "sc":
            for cta in distinct(self.of.cta[threads]):
                mine = threads[self.of.cta[threads] == cta]
                earlier: list[Knowledge] = [
                    token
                    for (other_level, home), tokens in self.sequential.items()
                    if self.of.same_instance(home, cta, other_level) and self.of.same_instance(home, cta, level)
                    for token in tokens
                ]
                self.clocks.join(mine, earlier)
        if order in RELEASES:
            token = self.clocks.release(site, threads, level)
            self.steps.append(Step(site, "fence", token.threads, token.epochs))
            self.published.append(token)
            self.any_published = True
            for narrower in range(level + 1):
                self.published_of[narrower, threads] = len(self.published) - 1
            if order == "sc":
                for cta in token.ctas:
                    part = self.clocks.select(token, self.of.cta[token.threads] == cta)
                    tokens = self.sequential.setdefault((level, cta), [])
                    tokens.append(part)
                    if len(tokens) > 8:
                        tokens[:] = [combine(tokens)]
            self._drop_published()
        return token

    def _drop_published(self) -> None:
        if len(self.published) < 4096:
            return
        used, inverse = np.unique(self.published_of, return_inverse=True)
        kept = [self.published[number] for number in used.tolist()]
        if used[0] != 0:
            kept.insert(0, None)
            inverse = inverse + 1
        self.published = kept
        self.published_of = inverse.reshape(self.published_of.shape).astype(np.int64)

    def _complete_pending(self, site: Instruction, threads: Wide, level: int) -> None:
        rest = []
        for waiting, token, observed, seen in self.pending:
            inside = np.isin(waiting, threads)
            if not inside.any():
                rest.append((waiting, token, observed, seen))
                continue
            mine = waiting[inside]
            for cta in distinct(self.of.cta[mine]):
                here = mine[self.of.cta[mine] == cta]
                if self.mutual(token, cta, min(level, observed)):
                    self.clocks.join(here, [token])
                else:
                    self.missed.append(MissedEdge("wait scope", site, here, self.clocks.epoch[here], token, min(level, observed)))
            if not inside.all():
                rest.append((waiting[~inside], token, observed, seen))
        self.pending = rest

    def wave_start(self) -> None:
        """Other threads begin. Those that observed something without an acquire have ended."""
        self.pending.clear()

    def init_fence(self, site: Instruction, threads: Wide) -> None:
        for thread in threads.tolist():
            self.fenced_inits[thread] = self.own_inits.get(thread, 0)
        self.has_fenced[threads] = True
        epochs = self.clocks.epoch[threads]
        self.steps.append(Step(site, "init fence", threads, epochs))
        self.clocks.epoch[threads] = epochs + 1
