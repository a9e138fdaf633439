"""What ``simulate`` and ``check`` have in common: naming schedules, printing a report, the exit status of a verdict."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from fa4dsl.cli.app import UNUSABLE, WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fa4dsl.runtime.simulator.check.report import Report

SCHEDULES = ("eager", "late", "random", "adversarial", "exhaustive")
STATUS = {"clean": 0, "review": WRONG, "error": WRONG, "incomplete": UNUSABLE}


def read_schedule(text: str, seed: int = 0) -> tuple[str, int]:
    """``late`` or, with a seed of its own, ``random:3``."""
    name, colon, number = text.strip().partition(":")
    if name not in SCHEDULES:
        near = get_close_matches(name, SCHEDULES, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise click.BadParameter(f"{name!r} is not a schedule; there are {', '.join(SCHEDULES)}.{hint}", param_hint="--schedule")
    if colon and not number.isdecimal():
        raise click.BadParameter(f"{text!r}: the seed behind the colon must be a number.", param_hint="--schedule")
    return name, int(number) if colon else seed


def read_ptx(file: Path) -> str:
    """The text of a PTX file; S001 for one that is not text, such as a cubin."""
    from fa4dsl.runtime.diagnostics import Location, fail

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail("S001", Location(str(file), 1), line=1, what=f"the file is not readable text ({error})")


def sources_beside(file: Path, ptx: str) -> dict[str, str]:
    """The source files that PTX names, where they lie beside it: then reports show their lines wherever they were compiled."""
    found = {}
    for name in re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', ptx, re.MULTILINE):
        source = file.parent / name
        if source.is_file():
            found[name] = source.read_text(encoding="utf-8", errors="replace")
    return found


def show_printed(report: Report, as_json: bool, threads: bool = False) -> None:
    """What the kernel printed, ahead of the report; on standard error where standard output is one JSON object."""
    text = report.printed_text(threads)
    if text:
        click.echo(text, nl=not text.endswith("\n"), err=as_json)


def show_report(report: Report, as_json: bool) -> int:
    """Prints a report, with what was measured where that was asked for, and gives the command's exit status."""
    from fa4dsl.cli.console import console, print_json

    measures = report.measures.as_dict() if report.measures is not None else None
    if as_json:
        print_json(report.to_dict() | ({"measures": measures} if measures is not None else {}))
    else:
        report.print(console())
        if measures is not None:
            show_measures(measures)
    return STATUS[report.verdict]


def show_measures(measures: Mapping[str, Any]) -> None:
    """Counts as text: bytes by space, then the lines with bank conflicts, then waits."""
    from fa4dsl.cli.console import print_facts

    facts = {name: f"{count:>12,} bytes" for name, count in measures["bytes"].items()}
    facts |= {
        f"{item['file']}:{item['line']}": f"{item['conflicts']:>12,} bank conflicts"
        for item in measures["bank_conflicts"]
        if item["conflicts"]
    }
    facts |= {f"waits: {name}": f"{count:>12,}" for name, count in measures["waits"].items()}
    facts["instructions"] = f"{measures['instructions']:>12,}"
    print_facts(facts)
