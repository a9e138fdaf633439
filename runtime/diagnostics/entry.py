"""One kind of diagnostic: its code, its words and its mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "review"]


@dataclass(frozen=True)
class Entry:
    """One catalogue entry.

    `message` and `mend` are `str.format` templates over the keyword fields given to `diagnostic()`. `explanation` is the
    page text that ``fa4dsl explain CODE`` prints: why it is wrong, with the rule it breaks.
    """

    code: str
    title: str
    message: str
    mend: str
    explanation: str
    severity: Severity = "error"
    failing: str = ""
    """A minimal example that raises the code (Python, MLIR or PTX, or a shell command), shown on the code's page and run by the tests."""
    fixed: str = ""
    """The same example, mended."""
