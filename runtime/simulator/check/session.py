"""Ties a checker to a run: made before it, turned into a report after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.simulator.check.checker import HappensBefore
from fa4dsl.runtime.simulator.check.findings import KINDS, Finding
from fa4dsl.runtime.simulator.check.hang import HangExplainer, History
from fa4dsl.runtime.simulator.check.naming import Naming, Object
from fa4dsl.runtime.simulator.check.numbering import numbered
from fa4dsl.runtime.simulator.check.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fa4dsl.runtime.diagnostics import Diagnostic
    from fa4dsl.runtime.manifest import Role
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Geometry
    from fa4dsl.runtime.simulator.waiting import Hang


def make_checker(
    geometry: Geometry,
    *,
    shared: Sequence[Object] = (),
    buffers: Sequence[Object] = (),
    roles: Sequence[Role] = (),
    named_barriers: Mapping[int, str] | None = None,
    ptx_name: str = "kernel.ptx",
    program: Sequence[Instruction] = (),
    strict: bool = False,
) -> HappensBefore:
    """A checker for one launch.

    `shared`: the PTX shared symbols and the manifest's objects, by offset in the CTA's window as physical addresses see it (`naming.plain_name` shortens C++ names);
    `buffers`: the launch's buffers by offset in the global arena; `program`: all instructions of the kernel. `strict` is the policy of that name: reviews are errors.
    """
    numbering = numbered(geometry)
    naming = Naming(numbering, max(geometry.shared_stride, 1), shared, buffers, roles, named_barriers or {}, ptx_name)
    checker = HappensBefore(geometry, naming, strict)
    checker.set_program(program)
    return checker


def make_report(
    checker: HappensBefore | None,
    *,
    diagnostics: Iterable[Diagnostic] = (),
    hang: Hang | None = None,
    schedule: str = "eager",
    seed: int = 0,
    seconds: float = 0.0,
    kernel: str = "",
    not_modelled: Iterable[str] = (),
    measures: Any = None,
    sources: Mapping[str, str] | None = None,
) -> Report:
    """The report of a run that has ended, by itself, by a fault (`diagnostics` holds what the machine raised or noted) or in a hang."""
    found: list[Finding] = []
    reasons = list(not_modelled)
    diagnostics = list(diagnostics)
    strict = checker is not None and checker.findings.strict
    if checker is not None:
        checker.duplicates.unexpected = [_places(diagnostic)[0] for diagnostic in diagnostics if diagnostic.code == "S035"]
        checker.finish()
        found = checker.findings.listed()
        reasons.extend(reason for reason in checker.not_modelled if reason not in reasons)
    if hang is not None and checker is not None:
        explained = HangExplainer(hang, checker.naming, History(checker.barriers.arrivers, checker.last_change), checker.flow).diagnostics()
        found = [Finding(diagnostic, KINDS[diagnostic.code]) for diagnostic in explained] + found
    early = {place for finding in found if finding.diagnostic.code in ("S036", "S037") for place in _places(finding.diagnostic)}
    for diagnostic in diagnostics:
        if diagnostic.code == "S014" and early & set(_places(diagnostic)):
            continue  # the checker says the same with the init's line
        if diagnostic.code == "S101" and diagnostic.fields.get("space") != "local" and checker is not None:
            continue  # told by the checker, which knows what asynchronous copies have written
        if diagnostic.code == "S035" and checker is not None and _places(diagnostic)[0] in checker.duplicates.told:
            continue  # bytes of a copy that is issued several times over
        if strict and diagnostic.severity == "review":
            diagnostic = replace(diagnostic, severity="error")
        found.append(Finding(diagnostic, KINDS.get(diagnostic.code, "error")))
    unexpected = [_places(finding.diagnostic)[:1] for finding in found if finding.diagnostic.code == "S035"]
    # a copy whose bytes nobody expected is also one that nobody waits for: one cause, one finding
    found = [finding for finding in found if finding.diagnostic.code != "S033" or _places(finding.diagnostic)[:1] not in unexpected]
    found.sort(key=lambda finding: finding.diagnostic.severity != "error")
    return Report(found, schedule, seed, seconds, kernel, reasons, measures, sources or {})


def _places(diagnostic: Diagnostic) -> list[tuple[str, int]]:
    return [(frame.location.file, frame.location.line) for frame in diagnostic.frames]
