"""What the commands print: diagnostics, tables, highlighted code and JSON. Plain text where no terminal reads it.

rich is imported when it is needed: it takes longer than most commands whose output is piped.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console
    from rich.text import Text

    from fa4dsl.runtime.diagnostics import Diagnostic


def console(stderr: bool = False) -> Console:
    """A console that colours on a terminal only (and never under NO_COLOR) and leaves line breaks to the reader."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def _may_colour() -> bool:
    """Whether rich may find a terminal that takes colours."""
    return sys.stdout.isatty() or "FORCE_COLOR" in os.environ


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Diagnostics on standard error, a blank line between them."""
    from fa4dsl.runtime.diagnostics.terminal import print_diagnostic

    out: Console | None = None
    for index, diagnostic in enumerate(diagnostics):
        out = out or console(stderr=True)
        if index:
            out.print()
        print_diagnostic(out, diagnostic)


def print_code(text: str, language: str) -> None:
    """Code, highlighted on a terminal and untouched elsewhere, so that it can be piped into the next tool."""
    out = console() if _may_colour() else None
    if out is not None and out.is_terminal and not out.no_color:
        from rich.syntax import Syntax

        out.print(Syntax(text.rstrip("\n"), language, theme="ansi_dark", word_wrap=False))
    else:
        click.echo(text.rstrip("\n"))


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output. Infinities and NaN, which JSON cannot say, become null."""
    click.echo(json.dumps(_finite(value), indent=2))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not (float("-inf") < value < float("inf")):
        return None
    return value


def print_facts(facts: Mapping[str, str | Text]) -> None:
    """Names and values in two columns."""
    width = max(map(len, facts))
    if not _may_colour():
        for name, value in facts.items():
            click.echo(f"{name:<{width}}  {value}")
        return
    from rich.text import Text

    out = console()
    for name, value in facts.items():
        out.print(Text(f"{name:<{width}}  ", style="dim") + (value if isinstance(value, Text) else Text(value)))
