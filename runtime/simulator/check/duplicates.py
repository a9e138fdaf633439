"""One copy issued several times over: every lane of a warp, or one of each warp, executes the instruction that one thread was meant to execute."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.check.findings import Findings, build
from fa4dsl.runtime.simulator.check.token import HB

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.check.clocks import Clocks
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.operations import Operation

COPIES = frozenset({"tma_load", "tma_store", "tma_reduce", "bulk_load", "bulk_store", "bulk_push", "bulk_reduce"})

Signature = tuple[tuple[str, int, int, int, int], ...]


@dataclass
class Crowd:
    """Threads of a CTA that issued one and the same copy, with nothing that orders them."""

    operation: Operation
    threads: set[int] = field(default_factory=set)


class Duplicates:
    """Two issues are the same copy where one instruction in one CTA reads and writes the same bytes, and neither issuer knows of the other: a slot that is refilled
    in a later turn, by whatever thread, comes after a wait for those who used it."""

    def __init__(self, clocks: Clocks, findings: Findings, naming: Naming) -> None:
        self.clocks, self.findings, self.naming = clocks, findings, naming
        self.of = naming.threads
        self.latest: dict[tuple[int, int, Signature], tuple[int, int]] = {}
        """The thread that issued it last, and its epoch then."""
        self.crowds: dict[tuple[int, int], Crowd] = {}
        """By PTX line and CTA."""
        self.unexpected: list[tuple[str, int]] = []
        """Lines of copies whose bytes no phase expected (S035), as the machine says at the end."""
        self.told: set[tuple[str, int]] = set()
        """Lines of the copies that are reported here."""

    def issued(self, operation: Operation) -> None:
        """An operation begins."""
        if operation.kind not in COPIES:
            return
        signature = tuple(
            (part.space, len(part.starts), int(part.starts[0]), int(part.starts[-1]), part.length)
            for part in (*operation.reads, *operation.writes)
            if len(part.starts)
        )
        line, thread, cta = operation.site.ptx_line, operation.thread, int(self.of.cta[operation.thread])
        key = (line, cta, signature)
        before = self.latest.get(key)
        self.latest[key] = (thread, operation.epoch)
        if before is None or before[0] == thread:
            return
        known = self.clocks.knows(HB, np.array([thread], np.int64), np.array([before[0]], np.int64), np.array([before[1]], np.int64))
        if not known[0]:
            self.crowds.setdefault((line, cta), Crowd(operation)).threads.update((before[0], thread))

    def finish(self) -> None:
        """S107 for each instruction; what else was found of these copies and follows from it goes."""
        for crowd in self.crowds.values():
            operation = crowd.operation
            threads = sorted(crowd.threads)
            frames = self.naming.frames(operation.site, f"issued by {self.naming.crowd(threads)}")
            wrong = self._fold([(frame.location.file, frame.location.line) for frame in frames])
            warps = {thread // 32 for thread in (thread % self.of.per_cta for thread in threads)}
            line = self.naming.line(operation.site)
            if len(warps) == len(threads):
                how = f"let one warp alone execute {line} (if warp == 0), with one lane of it (elect.sync)"
            else:
                how = f"let one lane alone execute {line}: elect.sync, or if thread == 0" + (", in one warp" if len(warps) > 1 else "")
            fields: dict[str, Any] = {
                "words": operation.words,
                "line": line,
                "count": len(threads),
                "who": self.naming.crowd(threads),
                "how": how,
            }
            made = build("S107", frames, **fields)
            self.findings.add(("S107", operation.site.ptx_line), replace(made, severity="error") if wrong else made)

    def _fold(self, own: list[tuple[str, int]]) -> bool:
        """`own`: the instruction's places. Drops the races of the copies with one another and, where their bytes were more than the barrier expected, what came of that. Whether there were any."""
        self.told.add(own[0])
        bytes_wrong = own[0] in self.unexpected
        gone = []
        for key, finding in self.findings.found.items():
            places = [(frame.location.file, frame.location.line) for frame in finding.diagnostic.frames]
            code = finding.diagnostic.code
            if (code == "S024" and own[0] in places and (bytes_wrong or set(places) == set(own))) or (
                code == "S033" and bytes_wrong and places[0] == own[0]
            ):
                gone.append(key)
        for key in gone:
            self.findings.remove(key)
        return bool(gone) or bytes_wrong
