"""The group of commands, and what becomes of an error that leaves one."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMANDS = {
    "run": "fa4dsl.cli.run",
    "check": "fa4dsl.cli.check",
    "simulate": "fa4dsl.cli.simulate",
    "profile": "fa4dsl.cli.profile",
    "compile": "fa4dsl.cli.compile",
    "show": "fa4dsl.cli.show",
    "opt": "fa4dsl.cli.opt",
    "explain": "fa4dsl.cli.explain",
    "cache": "fa4dsl.cli.cache",
}
"""Each command's module, which holds it as `command`."""

WRONG = 1
"""The command ran, and the answer is no: a wrong result, a finding, an error in the kernel."""
UNUSABLE = 2
"""The command line itself is wrong, or the input cannot be run at all."""
INTERNAL = 70
"""A fault of fa4dsl itself (EX_SOFTWARE)."""
INTERRUPTED = 130


class Commands(click.Group):
    """Loads a command's module only when the command is asked for, so that each starts as fast as what it needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


def print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """The eager callback of ``--version``: only this needs the installed metadata."""
    if wanted and not ctx.resilient_parsing:
        from fa4dsl.runtime.version import version

        click.echo(f"fa4dsl {version()}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version, help="Show the version and exit.")
@click.option("--werror", "--warnings-as-errors", "warnings_as_errors", is_flag=True, help="Make every warning of the catalogue an error.")
@click.option("--traceback", "show_traceback", is_flag=True, help="Show Python's traceback of any error, for a report about fa4dsl itself.")
@click.pass_context
def group(ctx: click.Context, warnings_as_errors: bool, show_traceback: bool) -> None:
    """Compile, run and check warp-specialised NVIDIA kernels written in Python.

    \b
    KERNEL is a name from the kernel library, such as splitk-combine, or FILE.py:NAME.
    Exit status: 0 right, 1 wrong or with findings, 2 not usable as given, 70 a fault of fa4dsl itself.
    """
    if warnings_as_errors:
        from fa4dsl.runtime.diagnostics import Fa4dslWarning

        warnings.filterwarnings("error", category=Fa4dslWarning)


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status; every error ends here as words, never as a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with printed_warnings():
        try:
            result = group.main(args=words, prog_name="fa4dsl", standalone_mode=False)
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            return INTERRUPTED
        except BrokenPipeError:
            # The reader (head, less) has what it wanted. Python would complain again while it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except Exception as error:
            if "--traceback" in words:
                traceback.print_exc()
            return report(error)


def report(error: Exception) -> int:
    """Prints an error that left a command. Catalogued ones are the user's; anything else is a fault of fa4dsl."""
    from fa4dsl.cli.console import print_diagnostics
    from fa4dsl.runtime.diagnostics import Fa4dslError, Fa4dslWarning

    if isinstance(error, Fa4dslError):
        print_diagnostics(error.diagnostics)
        return WRONG
    if isinstance(error, Fa4dslWarning):
        print_diagnostics([error.diagnostic])
        return WRONG
    if isinstance(error, MemoryError):
        click.echo(
            f"error: this machine has too little memory for a problem of this size{': ' + words if (words := str(error)) else ''}", err=True
        )
        return WRONG
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = str(error).strip()
    click.echo(f"internal error: {type(error).__name__}{': ' + words if words else ''} ({place.filename}:{place.lineno})", err=True)
    click.echo(
        "This is a fault of fa4dsl, not of your kernel. Please report it with the kernel, the output of `fa4dsl --version` "
        "and that of the same command with --traceback before the command's name.",
        err=True,
    )
    return INTERNAL


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Shows the catalogue's warnings as diagnostics; Python's own keep their form."""
    plain = warnings.showwarning

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None, line: str | None = None
    ) -> Any:
        from fa4dsl.runtime.diagnostics import Fa4dslWarning

        if isinstance(message, Fa4dslWarning):
            from fa4dsl.cli.console import print_diagnostics

            print_diagnostics([message.diagnostic])
        else:
            plain(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
