"""Diagnostics on a terminal: the text of `render`, with the headline, the places, the carets and the mend in colour. Needs rich, when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.text import Text

    from fa4dsl.runtime.diagnostics.diagnostic import Diagnostic

COLOURS = {
    "clean": "bold green",
    "warning": "bold yellow",
    "review": "bold yellow",
    "incomplete": "bold magenta",
    "error": "bold red",
}
"""Styles of severities and verdicts."""


def styled(word: str) -> Text:
    """A severity or verdict in its colour."""
    from rich.text import Text

    return Text(word, style=COLOURS.get(word, ""))


def print_diagnostic(console: Console, diagnostic: Diagnostic, sources: Mapping[str, str] | None = None) -> None:
    """One diagnostic as `render` writes it."""
    from rich.text import Text

    head, *rest = render(diagnostic, sources).split("\n")
    severity, _, message = head.partition(":")
    console.print(Text(severity, COLOURS.get(diagnostic.severity, "bold")) + Text(f":{message}", "bold"))
    for line in rest:
        console.print(Text(line, _line_style(line)))


def _line_style(line: str) -> str:
    start = line.strip()
    if start.startswith("mend:"):
        return "bold green"
    if start.startswith("-->"):
        return "cyan"
    if start.startswith("note:"):
        return "dim"
    return "red" if start.startswith("|") and set(start) <= set("| ^") else ""
