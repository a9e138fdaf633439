"""The result of a run: verdict, findings, schedule; printed, as JSON, or raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fa4dsl.runtime.diagnostics import Fa4dslError, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from fa4dsl.runtime.simulator.check.findings import Finding
    from fa4dsl.runtime.simulator.printed import Printed

Verdict = Literal["clean", "review", "incomplete", "error"]
ORDER: tuple[Verdict, ...] = ("clean", "review", "incomplete", "error")
STATEMENT = "covers the paths that this run executed on these inputs, under this schedule; nothing is claimed for others"


class CheckFailed(Fa4dslError):
    """Raised by `Report.require_clean`: carries the diagnostics and the whole report."""

    def __init__(self, report: Report) -> None:
        super().__init__(*(finding.diagnostic for finding in report.findings))
        self.report = report

    def __str__(self) -> str:
        return self.report.text()


@dataclass
class Report:
    """What a simulated run found.

    `measures` is what the machine counted (an object with ``as_dict``, or a mapping); `not_modelled` names what was executed but is not modelled exactly.
    """

    findings: list[Finding] = field(default_factory=list)
    schedule: str = "eager"
    seed: int = 0
    seconds: float = 0.0
    kernel: str = ""
    not_modelled: list[str] = field(default_factory=list)
    measures: Any = None
    timeline: Any = None
    """The run as a picture (`timeline.Timeline`), where one was asked for."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Text of source files by name, for excerpts on a machine without them."""
    runs: list[str] = field(default_factory=list)
    """Schedules that went into this report, where several did."""
    printed: list[Printed] = field(default_factory=list)
    """Calls of printf in order of execution, each with block, thread and line."""
    not_printed: int = 0
    """Calls beyond the text that is kept."""

    @property
    def verdict(self) -> Verdict:
        """An error wins, then anything not modelled, then reviews."""
        severities = {finding.diagnostic.severity for finding in self.findings}
        if "error" in severities:
            return "error"
        if self.not_modelled or any(finding.incomplete for finding in self.findings):
            return "incomplete"
        return "review" if severities else "clean"

    @property
    def replay(self) -> str:
        """Schedule and seed that give this run again."""
        return f"{self.schedule} (seed {self.seed})" if self.schedule in ("random", "adversarial") else self.schedule

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready. `findings` holds {code, kind, severity, message, lines: [[file, line], ...], mend, notes}."""
        result: dict[str, Any] = {
            "verdict": self.verdict,
            "findings": [finding.as_dict() for finding in self.findings],
            "schedule": self.replay,
            "seed": self.seed,
            "seconds": round(self.seconds, 4),
            "covers": STATEMENT,
        }
        if self.not_modelled:
            result["not_modelled"] = list(self.not_modelled)
        if self.runs:
            result["runs"] = list(self.runs)
        if self.printed:
            result["printed"] = [call.as_dict() for call in self.printed]
        return result

    def text(self) -> str:
        """Plain text: verdict, findings with excerpts, what replays them."""
        name = f"{self.kernel}: " if self.kernel else ""
        lines = [f"{name}{self.verdict}"]
        lines.extend(f"\n{render(finding.diagnostic, self.sources)}\n  kind: {finding.kind}" for finding in self.findings)
        lines.extend(f"\nnot modelled: {reason}" for reason in self.not_modelled)
        lines.append(f"\nschedule {self.replay}, {self.seconds:.2f} s; the verdict {STATEMENT}")
        return "\n".join(lines)

    def printed_text(self, threads: bool = False) -> str:
        """What the kernel printed, as a terminal shows it; with `threads`, each call behind its block and thread."""
        from fa4dsl.runtime.simulator.printed import printed_text

        left = f"({self.not_printed:,} more calls of printf are not shown)\n" if self.not_printed else ""
        return printed_text(self.printed, threads) + left

    def print(self, console: Console | None = None) -> None:
        """To the terminal, in colour where it has any."""
        from rich.console import Console
        from rich.text import Text

        from fa4dsl.runtime.diagnostics.terminal import print_diagnostic, styled

        console = console or Console()
        console.print(Text(f"{self.kernel}: " if self.kernel else "") + styled(self.verdict))
        for finding in self.findings:
            console.print()
            print_diagnostic(console, finding.diagnostic, self.sources)
        for reason in self.not_modelled:
            console.print(Text(f"not modelled: {reason}", "magenta"))
        console.print(Text(f"schedule {self.replay}, {self.seconds:.2f} s; the verdict {STATEMENT}", "dim"))

    def require_clean(self, allow: Sequence[Verdict] = ()) -> Report:
        """Returns itself if the verdict is clean (or one of `allow`); raises `CheckFailed` otherwise."""
        if self.verdict != "clean" and self.verdict not in allow:
            raise CheckFailed(self)
        return self


def merge(reports: Iterable[Report]) -> Report:
    """One report of several runs of a kernel: each finding once, with the schedule that showed it first."""
    reports = list(reports)
    first = reports[0]
    merged = Report(kernel=first.kernel, schedule=first.schedule, seed=first.seed, sources=first.sources, measures=first.measures)
    merged.printed, merged.not_printed = first.printed, first.not_printed
    seen: set[tuple[str, tuple[tuple[str, int], ...]]] = set()
    for report in reports:
        merged.seconds += report.seconds
        merged.runs.append(report.replay)
        fresh = False
        for finding in report.findings:
            places = tuple(sorted({(frame.location.file, frame.location.line) for frame in finding.diagnostic.frames}))
            if (finding.diagnostic.code, places) not in seen:
                seen.add((finding.diagnostic.code, places))
                merged.findings.append(finding)
                fresh = True
        merged.not_modelled.extend(reason for reason in report.not_modelled if reason not in merged.not_modelled)
        if fresh and len(merged.findings) and merged.schedule == first.schedule and not first.findings:
            merged.schedule, merged.seed = report.schedule, report.seed
    return merged
