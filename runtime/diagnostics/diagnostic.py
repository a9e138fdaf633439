"""A diagnostic with its places, and the exception that carries it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from fa4dsl.runtime.diagnostics.catalogue import CATALOGUE
from fa4dsl.runtime.diagnostics.entry import Entry, Severity


@dataclass(frozen=True)
class Location:
    """A place in a source file. Lines and columns count from 1; 0 means unknown."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Frame:
    """A location with what is to be said about it, such as "the write" or "called from here"."""

    location: Location
    label: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One finding in the user's terms."""

    code: str
    message: str
    mend: str
    frames: tuple[Frame, ...] = ()
    severity: Severity = "error"
    notes: tuple[str, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def entry(self) -> Entry:
        return CATALOGUE[self.code]

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "mend": self.mend,
            "lines": [[frame.location.file, frame.location.line] for frame in self.frames],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        from fa4dsl.runtime.diagnostics.render import render

        return render(self)


class Fa4dslError(Exception):
    """An error from the catalogue. `diagnostics` holds one or more; `diagnostic` is the first, `code` its code."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n\n".join(str(d) for d in diagnostics))
        self.diagnostics = diagnostics

    @property
    def diagnostic(self) -> Diagnostic:
        return self.diagnostics[0]

    @property
    def code(self) -> str:
        return self.diagnostics[0].code


class Fa4dslWarning(UserWarning):
    """A warning from the catalogue; ``warnings.filterwarnings("error", category=Fa4dslWarning)`` makes it an error."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def diagnostic(code: str, *frames: Frame | Location | None, notes: tuple[str, ...] = (), **fields: Any) -> Diagnostic:
    """Fills the catalogue's templates for `code` with `fields`. Frames that are None are left out."""
    entry = CATALOGUE[code]
    places = tuple(frame if isinstance(frame, Frame) else Frame(frame) for frame in frames if frame is not None)
    return Diagnostic(code, entry.message.format(**fields), entry.mend.format(**fields), places, entry.severity, notes, fields)


def fail(code: str, *frames: Frame | Location | None, notes: tuple[str, ...] = (), **fields: Any) -> NoReturn:
    """Raises `Fa4dslError` for `code`."""
    raise Fa4dslError(diagnostic(code, *frames, notes=notes, **fields))


def warn(code: str, *frames: Frame | Location | None, notes: tuple[str, ...] = (), **fields: Any) -> None:
    """Issues `Fa4dslWarning` for `code`."""
    warnings.warn(Fa4dslWarning(diagnostic(code, *frames, notes=notes, **fields)), stacklevel=2)


def issue_warnings(found: Iterable[Diagnostic], as_errors: bool = False) -> None:
    """Issues the warnings among diagnostics as `Fa4dslWarning`; with `as_errors`, or where Python's filters make them errors, raises them all as
    one `Fa4dslError`."""
    raised = []
    for item in found:
        if item.severity != "warning":
            continue
        if as_errors:
            raised.append(item)
            continue
        try:
            warnings.warn(Fa4dslWarning(item), stacklevel=3)
        except Fa4dslWarning as warning:
            raised.append(warning.diagnostic)
    if raised:
        raise Fa4dslError(*raised)
