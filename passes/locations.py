"""MLIR locations as the diagnostics' locations and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.diagnostics import Frame, Location

if TYPE_CHECKING:
    from mlir import ir


def location_of(loc: ir.Location) -> Location | None:
    """The innermost file position of an MLIR location, or None where it holds none."""
    frames = frames_of(loc)
    return frames[0].location if frames else None


def frames_of(loc: ir.Location, label: str = "") -> list[Frame]:
    """The file positions of an MLIR location, innermost first; callers are labelled "called from here"."""
    found: list[Frame] = []
    _collect(loc, label, found)
    return found


def operation_frames(operation: Any, label: str = "") -> list[Frame]:
    """The frames of an operation's location."""
    return frames_of(operation.location, label)


def _collect(loc: Any, label: str, found: list[Frame]) -> None:
    if loc.is_a_file():
        line, column = loc.start_line, loc.start_col
        end = loc.end_col if loc.end_line == line and loc.end_col > column else 0
        found.append(Frame(Location(loc.filename, line, column, end), label))
    elif loc.is_a_name():
        _collect(loc.child_loc, label, found)
    elif loc.is_a_callsite():
        _collect(loc.callee, label, found)
        _collect(loc.caller, "called from here", found)
    elif loc.is_a_fused():
        for part in loc.locations:
            before = len(found)
            _collect(part, label, found)
            if len(found) > before:
                return
