"""The page of one catalogue entry, in Markdown: what ``fa4dsl explain CODE`` prints and ``docs/codes/CODE.md`` holds."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fa4dsl.runtime.diagnostics.entry import Entry

ExampleKind = Literal["python", "mlir", "ptx", "console"]

FLOORS = {"L": "language", "C": "compiler", "R": "runtime", "S": "simulator"}
"""What a code's first letter stands for."""


def example_kind(example: str) -> ExampleKind:
    """What an example is written in: a shell command starts with ``$``, PTX has ``.version``, MLIR a module or quoted operations."""
    lines = [line.strip() for line in example.strip().splitlines()]
    if lines and lines[0].startswith("$ "):
        return "console"
    if any(line.startswith((".version", ".visible .entry")) for line in lines):
        return "ptx"
    if any(line.startswith(("module", "builtin.module", "gpu.module", "func.func", "gpu.func", '"builtin.module"')) for line in lines):
        return "mlir"
    return "python"


def named(template: str) -> str:
    """A message template with its fields as ‹names›."""
    return "".join(text + (f"‹{field}›" if field is not None else "") for text, field, _, _ in Formatter().parse(template))


def page(entry: Entry) -> str:
    """The entry's page."""
    parts = [
        f"# {entry.code}: {entry.title}",
        f"*{entry.severity} of the {FLOORS[entry.code[0]]}*",
        f"> {named(entry.message)}",
        f"**Mend:** {named(entry.mend)}",
        "## Why",
        entry.explanation.strip(),
    ]
    for heading, example in (("Example that raises it", entry.failing), ("The same, mended", entry.fixed)):
        if example:
            parts += [f"## {heading}", f"```{example_kind(example)}\n{example.strip()}\n```"]
    if entry.code[0] == "S" and example_kind(entry.failing) == "ptx":
        parts.append("Saved as `example.ptx`, `fa4dsl simulate example.ptx` runs it; the lines `// launch:` say on what.")
    return "\n\n".join(parts) + "\n"
