"""Where an instruction comes from: its source line, then the lines that it was inlined at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Frame, Location

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction


def source_frames(site: Instruction, label: str, ptx_name: str) -> tuple[Frame, ...]:
    """The instruction's place, then where that was inlined; its PTX line where there is no source."""
    place = site.place
    if place is None:
        return (Frame(Location(ptx_name, site.ptx_line), label),)
    frames = [Frame(Location(place.file, place.line, place.column), label)]
    while place.inlined is not None:
        place = place.inlined
        frames.append(Frame(Location(place.file, place.line, place.column), "inlined here"))
    return tuple(frames)


def outermost(site: Instruction) -> tuple[str, int]:
    """File and line of the user's outermost source line, or ("", PTX line): equal for the instructions that one statement became."""
    place = site.place
    if place is None:
        return "", site.ptx_line
    while place.inlined is not None:
        place = place.inlined
    return place.file, place.line


def line_words(site: Instruction) -> str:
    """``line 14``: of the user's outermost source line."""
    file, line = outermost(site)
    return f"line {line}" if file else f"PTX line {line}"
