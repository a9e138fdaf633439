"""What ``simulate`` and ``check`` have in common: naming schedules, printing a report, the exit status of a verdict."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from fa4dsl.cli.app import UNUSABLE, WRONG

if TYPE_CHECKING:
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


def show_report(report: Report, as_json: bool) -> int:
    """Prints a report and gives the command's exit status."""
    from fa4dsl.cli.console import console, print_json

    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console())
    return STATUS[report.verdict]
