"""Lives of CTAs: a peer's shared memory may be touched only after the peer runs and before it has exited.

Both are happens-before questions, asked of every remote access, so the answer does not depend on the schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.clocks import Clocks, distinct
from fa4dsl.runtime.simulator.check.facts import NOTHING, Facts
from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.operations import Operation
from fa4dsl.runtime.simulator.check.token import HB
from fa4dsl.runtime.simulator.selection import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from fa4dsl.runtime.diagnostics import Frame
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.numbering import Threads
    from fa4dsl.runtime.simulator.check.token import ReleaseToken

    Ints = npt.NDArray[np.int32]
    Wide = npt.NDArray[np.int64]

KNOWN_LIMIT = 1 << 22
"""Epochs, of several CTAs, that are put together to be compared at once."""
TOUCH_LIMIT = 1 << 20
"""Accesses of one instruction that are kept before older ones of the same threads are dropped."""


class Touch:
    """The remote accesses of one instruction."""

    def __init__(self, site: Instruction, signals: bool) -> None:
        self.site = site
        self.signals = signals
        """Only signals a barrier: its observation by a thread of the target is enough."""
        self.parts: list[tuple[int, Wide, Wide, Ints]] = []
        """Number of the access, threads, target CTAs, epochs of the threads."""
        self.count = 0

    def add(self, number: int, threads: Wide, targets: Wide, epochs: Ints) -> None:
        self.parts.append((number, threads, targets, epochs))
        self.count += len(threads)
        if self.count > TOUCH_LIMIT:
            number, threads, targets, epochs = self.whole()
            order = np.lexsort((epochs, threads, targets))
            same = (np.diff(threads[order]) == 0) & (np.diff(targets[order]) == 0)
            last = order[np.append(~same, True)]
            self.parts = [(number, threads[last], targets[last], epochs[last])]
            self.count = len(last) // 2  # as much again must come before the next time

    def whole(self) -> tuple[int, Wide, Wide, Ints]:
        """All accesses; of each thread the last one to each CTA is among them."""
        _, threads, targets, epochs = (list(column) for column in zip(*self.parts, strict=True))
        return self.parts[0][0], np.concatenate(threads), np.concatenate(targets), np.concatenate(epochs)

    def first(self, target: int) -> int:
        """Number of the first access to a CTA."""
        return next(number for number, _, targets, _ in self.parts if (targets == target).any())


class Peers:
    def __init__(self, numbering: Threads, clocks: Clocks, findings: Findings, naming: Naming) -> None:
        self.of = numbering
        self.clocks = clocks
        self.findings = findings
        self.naming = naming
        self.touches: dict[int, Touch] = {}
        """By PTX line."""
        self.accesses = 0
        self.early: dict[tuple[int, int], tuple[Instruction, int, str]] = {}
        """Accesses not ordered after the target's start, by (target CTA, site): site, thread, what."""
        self.exited = np.zeros(numbering.geometry.ctas, np.int32)
        self.last_exit: dict[int, Instruction] = {}
        self.exit_rows: dict[int, Ints] = {}
        self.exit_facts: dict[int, Facts] = {}
        self.seen: dict[int, Ints] = {}
        """By CTA and column: up to which epoch its threads observed arrivals, whatever their scope."""

    def access(self, site: Instruction, threads: Wide, targets: Wide, what: str, signals: bool = False, asynchronous: bool = False) -> None:
        """A remote access by `threads` to shared memory of the CTAs `targets` (own ones are skipped). Whether an asynchronous one ends in time
        depends on its completion, not on its issue."""
        away = targets != self.of.cta[threads]
        if not away.all():
            if not away.any():
                return
            threads, targets = threads[away], targets[away]
        started = self.clocks.fact_mask(threads, targets, 3)
        if not started.all():
            for target in distinct(targets[~started]):
                key = (target, site.ptx_line)
                if key not in self.early:
                    thread = int(threads[~started][targets[~started] == target][0])
                    self.early[key] = (site, thread, what)
        if asynchronous:
            return
        touch = self.touches.get(site.ptx_line)
        if touch is None:
            touch = self.touches[site.ptx_line] = Touch(site, signals)
        self.accesses += 1
        touch.add(self.accesses, threads, targets, self.clocks.epoch[threads])

    def runs(self, thread: int, target: int) -> bool:
        """Whether a thread knows that a CTA runs, or is of it."""
        return target == self.of.cta[thread] or self.clocks.facts_of(thread).started >> target & 1 == 1

    def observed(self, threads: Wide, token: ReleaseToken) -> None:
        """Threads of a CTA saw an arrival, so the arrival itself is complete."""
        for cta in distinct(self.of.cta[threads]):
            seen = self.seen.get(cta)
            if seen is None:
                seen = self.seen[cta] = np.zeros(self.of.per_cluster, np.int32)
            same = self.of.cluster[token.threads] == cta // self.of.cluster_size
            columns = self.of.column[token.threads[same]]
            seen[columns] = np.maximum(seen[columns], token.epochs[same])

    def exit(self, site: Instruction, threads: Wide) -> None:
        if self.of.cluster_size == 1 and self._exit_alike(site, threads):
            return
        for cta, where in grouped(self.of.cta[threads]):
            mine = threads[where]
            self.exited[cta] += len(mine)
            self.last_exit[cta] = site
            cluster = cta // self.of.cluster_size
            row = self.exit_rows.get(cta)
            if row is None:
                row = self.exit_rows[cta] = np.zeros(self.of.per_cluster, np.int32)
            for number in distinct(self.clocks.clock[mine]):
                rows = self.clocks.rows(number).get(cluster)
                if rows is not None:
                    np.maximum(row, rows[HB], out=row)
            facts = self.exit_facts.get(cta, NOTHING)
            for number in distinct(self.clocks.fact[mine]):
                facts = facts | self.clocks.facts.sets[number]
            self.exit_facts[cta] = facts

    def _exit_alike(self, site: Instruction, threads: Wide) -> bool:
        """As `exit`, at once for threads that have no peers and know the same facts; False, with nothing done, where they do not. Nobody asks what
        they know of peers."""
        numbers = self.clocks.fact[threads]
        if (numbers != numbers[0]).any():
            return False
        ctas, counts = np.unique(self.of.cta[threads], return_counts=True)
        self.exited[ctas] += counts.astype(np.int32)
        facts = self.clocks.facts.sets[int(numbers[0])]
        for cta in ctas.tolist():
            self.last_exit[cta] = site
            self.exit_facts[cta] = facts | self.exit_facts[cta] if cta in self.exit_facts else facts
        return True

    def gone(self, cta: int) -> bool:
        return bool(self.exited[cta] >= self.of.per_cta)

    # -- the end
    def finish(self, operations: list[Operation], told: set[tuple[str, int]], racing: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Tells the findings, one for all accesses that lack the same barrier. Returns the lines of the faulty accesses, so that
        races between them and the target are not told again."""
        late: dict[tuple[int, int], tuple[Instruction, int, bool]] = {}
        for _, target, line, thread in sorted(self._after_exit()):
            touch = self.touches[line]
            late[target, line] = (touch.site, thread, touch.signals)
        self._operations([one for one in operations if self.naming.place(one.site) not in racing])
        # Too narrow a scope or a relaxed barrier, told as such, is also why the access is not ordered before the exit.
        late = {key: value for key, value in late.items() if self.naming.place(value[0]) not in told}
        if late:
            self._exited(late)
        early = {key: value for key, value in self.early.items() if key not in late}
        if early:
            self._not_started(early)
        return {self.naming.place(value[0]) for value in (*late.values(), *early.values())}

    def _after_exit(self) -> Iterator[tuple[int, int, int, int]]:
        """Number, target CTA, PTX line and thread of an access that does not come before its target's exit, for each line and target."""
        for line, touch in self.touches.items():
            if self._all_before_exit(touch):
                continue
            _, threads, targets, epochs = touch.whole()
            for target, where in grouped(targets):
                if not self.gone(target):
                    continue
                users = threads[where]
                late = users[epochs[where] > self._known_at_exit(target, touch)[self.of.column[users]]]
                if len(late):
                    yield touch.first(target), target, line, int(late.min())

    def _known_at_exit(self, target: int, touch: Touch) -> Ints:
        """By column: up to which epoch a CTA's threads knew of another's when they had exited, or had seen that it signalled."""
        known = self.exit_rows[target]
        return np.maximum(known, self.seen[target]) if touch.signals and target in self.seen else known

    def _all_before_exit(self, touch: Touch) -> bool:
        """Whether no access of an instruction comes after the exit of its target: the usual case, answered quickly where it takes little memory."""
        targets = sorted({target for _, _, part, _ in touch.parts for target in distinct(part)})
        if len(targets) * self.of.per_cluster > KNOWN_LIMIT or not all(self.gone(target) for target in targets):
            return False
        known = np.stack([self._known_at_exit(target, touch) for target in targets]).reshape(-1)
        place = np.zeros(targets[-1] + 1, np.int64)
        place[targets] = np.arange(len(targets)) * self.of.per_cluster
        return all((epochs <= known.take(place.take(part) + self.of.column[threads])).all() for _, threads, part, epochs in touch.parts)

    def _not_started(self, early: dict[tuple[int, int], tuple[Instruction, int, str]]) -> None:
        naming = self.naming
        frames = [
            frame
            for (target, _), (site, thread, what) in early.items()
            for frame in naming.frames(site, f"{what} by {naming.thread(thread)} into {naming.cta(target)}")
        ]
        (target, _), (site, thread, what) = min(early.items(), key=lambda item: item[0][1])
        self.findings.add(
            "S030", build("S030", frames, what=what, target=naming.cta(target), line=naming.line(site), user=naming.thread(thread))
        )

    def _exited(self, late: dict[tuple[int, int], tuple[Instruction, int, bool]]) -> None:
        naming = self.naming
        frames: list[Frame] = []
        ends: dict[int, Instruction] = {}
        for (target, _), (site, thread, signals) in late.items():
            frames += naming.frames(site, f"{'signal' if signals else 'access'} to {naming.cta(target)} by {naming.thread(thread)}")
            ends[target] = self.last_exit[target]
        for target, end in ends.items():
            frames += naming.frames(end, f"{naming.cta(target)} exits here")
        (target, _line), (site, thread, signals) = max(late.items(), key=lambda item: item[0][1])
        end = ends[target]
        early = any(key in self.early for key in late)
        notes = (
            (
                "some of these accesses are not ordered after the start of their target either: a cluster barrier is missing before them as well",
            )
            if early
            else ()
        )
        fields = {
            "what": "signal" if signals else "access",
            "target": naming.cta(target),
            "line": naming.line(site),
            "user": naming.thread(thread),
            "end": naming.line(end),
        }
        self.findings.add("S031", build("S031", frames, notes, **fields))

    def _operations(self, operations: list[Operation]) -> None:
        for operation in operations:
            bit = 1 << operation.number
            for target in sorted(operation.target_ctas):
                if not self.gone(target) or self.exit_facts.get(target, NOTHING).writes & bit:
                    continue
                self._in_flight(operation, target, "write", "S033")
            if operation.kind in ("wgmma", "cp_async"):
                continue
            for source in sorted(operation.source_ctas):
                facts = self.exit_facts.get(source, NOTHING)
                if self.gone(source) and not (facts.reads | facts.writes) & bit:
                    self._in_flight(
                        operation,
                        source,
                        "read",
                        "S033" if operation.kind in ("bulk_push", "bulk_reduce") and operation.target_ctas else "S032",
                    )

    def _in_flight(self, operation: Operation, cta: int, verb: str, code: str) -> None:
        end = self.last_exit[cta]
        frames = [
            *self.naming.frames(operation.site, f"{operation.words} issued by {self.naming.thread(operation.thread)}"),
            *self.naming.frames(end, f"{self.naming.cta(cta)} exits here"),
        ]
        self.findings.add(
            (code, operation.site.ptx_line),
            build(
                code,
                frames,
                what=operation.words,
                verb=verb,
                line=self.naming.line(operation.site),
                cta=self.naming.cta(cta),
                end=self.naming.line(end),
            ),
        )
