"""Writes the pages that are printed from the code: the language reference, the dialect, the diagnostics, the command line.

``python docs/generate.py`` writes them; ``python docs/generate.py --check`` only says whether they are current, as the tests do.
"""

from __future__ import annotations

import inspect
import sys
from itertools import groupby
from pathlib import Path

import click
from reference_page import reference_page

from fa4dsl.cli.app import group
from fa4dsl.passes.dialect.table import OPERATIONS, Operation
from fa4dsl.runtime.diagnostics import CATALOGUE
from fa4dsl.runtime.diagnostics.page import FLOORS, page

DOCS = Path(__file__).resolve().parent
NOTE = "<!-- Printed by docs/generate.py; change the code, not this page. -->\n\n"


def pages() -> dict[str, str]:
    """Every generated page: its path below docs/ and its text."""
    texts = {f"codes/{code}.md": page(entry) for code, entry in CATALOGUE.items()}
    texts["diagnostics.md"] = diagnostics_page()
    texts["dialect.md"] = dialect_page()
    texts["command-line.md"] = command_line_page()
    texts["reference.md"] = reference_page()
    return {path: NOTE + text for path, text in texts.items()}


def diagnostics_page() -> str:
    lines = [
        "# Diagnostics",
        "",
        "Every error and warning has a code, the author's own lines, and a mend. `fa4dsl explain CODE` prints the same pages.",
        "Warnings become errors with `fa4dsl --warnings-as-errors` or, in Python, "
        '`warnings.filterwarnings("error", category=fa4dsl.runtime.diagnostics.Fa4dslWarning)`.',
    ]
    entries = sorted(CATALOGUE.values(), key=lambda entry: entry.code)
    for letter, floor in FLOORS.items():
        rows = [entry for entry in entries if entry.code[0] == letter]
        lines += ["", f"## {letter}: {floor}", "", "| code | severity | title |", "|---|---|---|"]
        lines += [f"| [{entry.code}](codes/{entry.code}.md) | {entry.severity} | {cell(entry.title)} |" for entry in rows]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text that may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def dialect_page() -> str:
    lines = [
        "# The fa4 dialect",
        "",
        "What the language's front end builds and the passes lower. Every operation can be written by hand in a `.mlir` file and",
        "given to `fa4dsl opt`. An attribute that ends in `?` may be absent; an operand that ends in `*` is variadic.",
    ]
    for operation in OPERATIONS:
        lines += ["", *operation_lines(operation)]
    return "\n".join(lines) + "\n"


def operation_lines(operation: Operation) -> list[str]:
    lines = [f"### `fa4.{operation.name}`", "", operation.summary, "", f"* executed by: {operation.who}"]
    for heading, parts in (("operands", operation.operands), ("results", operation.results), ("attributes", operation.attributes)):
        if parts:
            lines.append(f"* {heading}: " + ", ".join(f"`{part}`" for part in parts))
    if operation.ptx:
        lines.append(f"* PTX: `{operation.ptx}`")
    return lines


def command_line_page() -> str:
    context = click.Context(group, info_name="fa4dsl")
    lines = ["# Command line", "", paragraphs(group.help or "")]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        lines += command_lines(command, f"fa4dsl {name}", "##")
    return "\n".join(lines) + "\n"


def command_lines(command: click.Command, name: str, heading: str) -> list[str]:
    context = click.Context(command, info_name=name)
    lines = [
        "",
        f"{heading} `{name}`",
        "",
        f"    {name} {' '.join(command.collect_usage_pieces(context))}",
        "",
        paragraphs(command.help or ""),
    ]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        lines += ["", "| option | meaning |", "|---|---|"]
        lines += [option_row(option) for option in options]
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            lines += command_lines(command.commands[child], f"{name} {child}", heading + "#")
    return lines


def option_row(option: click.Option) -> str:
    name = ", ".join([*option.opts, *option.secondary_opts])
    if not option.is_flag:
        # Click's own make_metavar() has changed its parameters between versions.
        kind = f"[{'|'.join(option.type.choices)}]" if isinstance(option.type, click.Choice) else option.type.name.upper()
        name += f" {option.metavar or kind}"
    default = (
        f" (default {option.default})" if option.show_default and isinstance(option.default, (str, int)) and not option.is_flag else ""
    )
    return f"| `{cell(name)}` | {cell(option.help or '')}{default} |"


def paragraphs(text: str) -> str:
    """Click's help text as Markdown: a block marked with a backspace keeps its lines."""
    blocks = [list(lines) for blank, lines in groupby(inspect.cleandoc(text).splitlines(), key=lambda line: not line.strip()) if not blank]
    return "\n\n".join("\n".join(f"    {line}" for line in block[1:]) if block[0] == "\b" else "\n".join(block) for block in blocks)


def stale() -> dict[str, str | None]:
    """Pages that differ from what is on disk, and pages on disk that nothing prints any more (as None)."""
    wanted = pages()
    changed: dict[str, str | None] = {
        path: text for path, text in wanted.items() if not (DOCS / path).exists() or (DOCS / path).read_text(encoding="utf-8") != text
    }
    changed.update({name: None for name in (f"codes/{path.name}" for path in (DOCS / "codes").glob("*.md")) if name not in wanted})
    return changed


def main(check: bool) -> int:
    changed = stale()
    for path, text in changed.items():
        if check:
            print(f"docs/{path} is not current: run python docs/generate.py")
        elif text is None:
            (DOCS / path).unlink()
        else:
            (DOCS / path).parent.mkdir(exist_ok=True)
            (DOCS / path).write_text(text, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
