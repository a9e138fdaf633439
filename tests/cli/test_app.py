"""The command line's frame: help, versions, suggestions, exit statuses, and what becomes of each kind of error."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from fa4dsl.cli import app
from fa4dsl.runtime.diagnostics import CATALOGUE, Fa4dslWarning, Location, diagnostic, fail, warn
from fa4dsl.runtime.diagnostics.entry import Entry

SAMPLE = Entry(
    "R999", "A sample", "the sample {name!r} is wrong", "use {better}", "A sample entry that only these tests know, with a reason."
)


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, "R999", SAMPLE)


def install(monkeypatch: pytest.MonkeyPatch, body: object) -> None:
    """Puts a command named `probe` into the group that calls `body`."""
    command = click.Command("probe", callback=body)
    monkeypatch.setattr(app.Commands, "get_command", lambda self, ctx, name: command)
    monkeypatch.setitem(app.COMMANDS, "probe", "")


def test_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"fa4dsl {version('fa4dsl')}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.invoke(["--help"]) == 0
    text = capsys.readouterr().out
    for command in app.COMMANDS:
        assert f"  {command} " in text


@pytest.mark.parametrize("command", list(app.COMMANDS))
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.invoke([command, "--help"]) == 0
    assert "Usage: fa4dsl" in capsys.readouterr().out


def test_misspelt_command_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.invoke(["simulat"]) == app.UNUSABLE
    assert "Did you mean 'simulate'?" in capsys.readouterr().err


def test_catalogued_error_is_rendered_without_traceback(
    sample: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, lambda: fail("R999", Location(__file__, 1, 1), name="x", better="y"))
    assert app.invoke(["probe"]) == app.WRONG
    text = capsys.readouterr().err
    assert text.startswith("error[R999]: the sample 'x' is wrong\n")
    assert "mend: use y" in text
    assert "The command line's frame" in text, "the source line is shown"
    assert "Traceback" not in text


def test_warning_is_rendered_and_does_not_stop(sample: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    install(monkeypatch, lambda: warn("R999", name="x", better="y"))
    monkeypatch.setattr("warnings.filters", [])
    assert app.invoke(["probe"]) == 0
    text = capsys.readouterr().err
    assert "the sample 'x' is wrong" in text and "warnings.warn" not in text


def test_warnings_can_be_errors(sample: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    install(monkeypatch, lambda: warn("R999", name="x", better="y"))
    assert app.invoke(["--warnings-as-errors", "probe"]) == app.WRONG
    assert "[R999]" in capsys.readouterr().err
    assert issubclass(Fa4dslWarning, UserWarning)


def broken() -> None:
    raise KeyError("lost")


def test_internal_error_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    install(monkeypatch, broken)
    assert app.invoke(["probe"]) == app.INTERNAL
    text = capsys.readouterr().err
    assert "internal error: KeyError: 'lost'" in text and "fault of fa4dsl" in text
    assert "Traceback" not in text
    assert app.invoke(["--traceback", "probe"]) == app.INTERNAL
    assert "Traceback" in capsys.readouterr().err


def interrupted() -> None:
    raise KeyboardInterrupt


def test_interrupt_is_no_error_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    install(monkeypatch, interrupted)
    assert app.invoke(["probe"]) == app.INTERRUPTED
    assert capsys.readouterr().err.strip() == "interrupted"


def test_piped_output_has_no_colour_and_a_closed_pipe_is_no_error() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    program = f"{sys.executable} -m fa4dsl explain --list | head -n 1"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout and done.stdout.count("\n") == 1


def test_colour_on_a_terminal_only_without_no_color(
    sample: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fa4dsl.cli.console import print_diagnostics

    finding = diagnostic("R999", name="x", better="y")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_diagnostics([finding])
    assert "\x1b[" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    print_diagnostics([finding])
    assert "\x1b[3" not in capsys.readouterr().err
