"""What a simulated kernel prints with printf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BYTES = 16 << 20
"""Text kept of one run."""


@dataclass(frozen=True)
class Printed:
    """One call of printf by one thread."""

    text: str
    """As printed: with its newline, if the format has one."""
    block: tuple[int, int, int]
    """%ctaid"""
    thread: tuple[int, int, int]
    """%tid"""
    line: tuple[str, int]
    """File and line of the call."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"text": self.text, "block": list(self.block), "thread": list(self.thread), "line": list(self.line)}


class Output:
    """The calls of a run in order of execution, up to `MOST_BYTES` of text."""

    def __init__(self) -> None:
        self.calls: list[Printed] = []
        self.bytes = 0
        self.dropped = 0
        """Calls whose text was not kept any more."""

    def add(self, call: Printed) -> None:
        if self.bytes > MOST_BYTES:
            self.dropped += 1
            return
        self.bytes += len(call.text) + 1
        self.calls.append(call)


def printed_text(calls: Iterable[Printed], threads: bool = False) -> str:
    """The output as a terminal shows it; with `threads`, each call on lines of its own behind the block and thread that printed it."""
    if not threads:
        return "".join(call.text for call in calls)
    lines = []
    for call in calls:
        head = "block ({}, {}, {}) thread ({}, {}, {}): ".format(*call.block, *call.thread)
        lines.append(head + call.text + ("" if call.text.endswith("\n") else "\n"))
    return "".join(lines)
