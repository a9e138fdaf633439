"""Diagnostics as text: headline, source excerpt with a caret for each frame, and the mend."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fa4dsl.runtime.diagnostics.diagnostic import Diagnostic, Location


def source_line(location: Location, sources: Mapping[str, str] | None = None) -> str | None:
    """The text of a location's line, from `sources` (file name to text) or from disk; None where it cannot be had."""
    if sources and location.file in sources:
        lines = sources[location.file].splitlines()
        return lines[location.line - 1] if 0 < location.line <= len(lines) else None
    return linecache.getline(location.file, location.line).rstrip("\n") or None


def excerpt(location: Location, sources: Mapping[str, str] | None = None) -> list[str]:
    """The location's source line with a caret under its column (or under the whole statement where no column is known)."""
    text = source_line(location, sources)
    if text is None:
        return []
    number = str(location.line)
    start = location.column - 1 if location.column else len(text) - len(text.lstrip())
    if location.end_column > location.column > 0:
        width = location.end_column - location.column
    else:
        width = 1 if location.column else max(len(text.strip()), 1)
    width = max(1, min(width, len(text) - start))
    shown = text.expandtabs(1)
    return [f" {number} | {shown}", f" {' ' * len(number)} | {' ' * start}{'^' * width}"]


def render(diagnostic: Diagnostic, sources: Mapping[str, str] | None = None) -> str:
    """Plain text of one diagnostic. `sources` overrides files on disk."""
    lines = [f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    for frame in diagnostic.frames:
        label = f"  ({frame.label})" if frame.label else ""
        lines.append(f"  --> {frame.location}{label}")
        lines.extend(excerpt(frame.location, sources))
    lines.extend(f"  note: {note}" for note in diagnostic.notes)
    if diagnostic.mend:
        lines.append(f"  mend: {diagnostic.mend}")
    return "\n".join(lines)
