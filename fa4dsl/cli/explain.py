"""``fa4dsl explain CODE``: the page of one diagnostic; ``--list``: all of them."""

from __future__ import annotations

from difflib import get_close_matches

import click


@click.command(short_help="Explain a diagnostic by its code.")
@click.argument("code", required=False)
@click.option("--list", "list_all", is_flag=True, help="List every code with its title.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(code: str | None, list_all: bool, as_json: bool) -> None:
    """Explain a diagnostic: why it is wrong, by which rule, and how to mend it.

    CODE is as printed in brackets, such as S101. Letters: L language, C compiler, R runtime, S simulator.
    """
    if list_all == (code is not None):
        raise click.UsageError("Give one CODE, or --list.")
    if code is None:
        _print_list(as_json)
    else:
        _print_page(code.strip("[]").upper(), as_json)


def _print_list(as_json: bool) -> None:
    from fa4dsl.cli.console import console, print_json
    from fa4dsl.runtime.diagnostics import CATALOGUE
    from fa4dsl.runtime.diagnostics.terminal import styled

    entries = sorted(CATALOGUE.values(), key=lambda entry: entry.code)
    if as_json:
        print_json({entry.code: {"title": entry.title, "severity": entry.severity} for entry in entries})
        return
    out = console()
    for entry in entries:
        out.print(f"{entry.code}  ", styled(f"{entry.severity:<7}"), f"  {entry.title}", sep="")


def _print_page(code: str, as_json: bool) -> None:
    from fa4dsl.cli.console import print_json
    from fa4dsl.runtime.diagnostics import CATALOGUE

    if code not in CATALOGUE:
        near = get_close_matches(code, CATALOGUE, n=3)
        raise click.BadParameter(
            f"{code!r} is not in the catalogue.{' Near: ' + ', '.join(near) + '.' if near else ''} See them all with --list.",
            param_hint="CODE",
        )
    entry = CATALOGUE[code]
    if as_json:
        from dataclasses import asdict

        print_json(asdict(entry))
        return
    from rich.markdown import Markdown

    from fa4dsl.cli.console import console
    from fa4dsl.runtime.diagnostics.page import page

    out, text = console(), page(entry)
    if out.is_terminal:
        out.print(Markdown(text), soft_wrap=False)
    else:
        click.echo(text.rstrip("\n"))
