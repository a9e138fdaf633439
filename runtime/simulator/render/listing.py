"""Source, PTX and machine code side by side; lines that belong together carry the same key."""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from html import escape
from math import log
from pathlib import PurePath
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.render.roles import link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.measures import Measures
    from fa4dsl.runtime.simulator.timeline import Place

AROUND = 6
"""Lines shown before the first and behind the last line that the code comes from."""
_FILE_LINE = re.compile(r'//##\s*File "([^"]+)", line (\d+)')
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/")


def places_of(site: Instruction) -> list[Place]:
    """Every source line that an instruction stands for: where it is written, and where that was inlined."""
    found = []
    place = site.place
    while place is not None:
        found.append((place.file, place.line))
        place = place.inlined
    return found


@dataclass(frozen=True)
class Cell:
    """One line of a pane."""

    number: int
    text: str
    keys: tuple[str, ...]
    count: int = 0
    badge: str = ""


def pane(title: str, cells: Sequence[Cell], most: int) -> str:
    """A scrolling column of lines; the bar at the left grows with how often warps executed a line."""
    rows = []
    for cell in cells:
        heat = log(1 + cell.count) / log(1 + most) if cell.count and most else 0.0
        style = f' style="--h:{heat:.2f}"' if heat else ""
        keys = f' data-l="{escape(" ".join(cell.keys))}"' if cell.keys else ""
        count = f"<u>{cell.count:,}</u>" if cell.count else "<u></u>"
        badge = f"<em>{escape(cell.badge)}</em>" if cell.badge else ""
        rows.append(f"<div class=l{keys}{style}><s>{cell.number or ''}</s>{count}<code>{escape(cell.text)}</code>{badge}</div>")
    return f"<section class=pane><h3>{escape(title)}</h3><div class=lines>{''.join(rows)}</div></section>"


class Listing:
    """The panes of one kernel."""

    def __init__(self, sites: Sequence[Instruction], measures: Measures, sources: Mapping[str, str], ptx: str) -> None:
        self.sites, self.measures, self.sources, self.ptx = sites, measures, sources, ptx
        self.lines: dict[str, set[int]] = {}
        self.counts: dict[Place, int] = {}
        seen: set[tuple[int, Place]] = set()
        for site in sites:
            for place in places_of(site):
                self.lines.setdefault(place[0], set()).add(place[1])
                if (site.ptx_line, place) not in seen:
                    seen.add((site.ptx_line, place))
                    self.counts[place] = self.counts.get(place, 0) + measures.ptx_lines.get(site.ptx_line, 0)

    def text(self, file: str) -> list[str]:
        """A source file's lines: from the report, else from the disk, else none."""
        found = self.sources.get(file)
        if found is None:
            found = next((text for name, text in self.sources.items() if PurePath(name).name == PurePath(file).name), None)
        return found.splitlines() if found is not None else [line.rstrip("\n") for line in linecache.getlines(file)]

    def excerpt(self, file: str, line: int) -> str:
        """One source line, stripped."""
        lines = self.text(file)
        if lines and 1 <= line <= len(lines):
            return lines[line - 1].strip()
        if file == self.measures.name:
            own = self.ptx.splitlines()
            return own[line - 1].strip() if 1 <= line <= len(own) else ""
        return ""

    def html(self, sass: str = "") -> str:
        """All panes."""
        panes = self._sources()
        most = max(self.measures.ptx_lines.values(), default=0)
        by_line = {site.ptx_line: site for site in self.sites}
        cells = []
        for number, text in enumerate(self.ptx.splitlines(), 1):
            site = by_line.get(number)
            if site is None and (not text.strip() or text.lstrip().startswith((".loc", "//", ".file"))):
                continue
            keys = () if site is None else tuple(link(place) for place in places_of(site)) or (link(("", number)),)
            cells.append(Cell(number, text.expandtabs(2), keys, self.measures.ptx_lines.get(number, 0)))
        panes.append(pane("PTX", cells, most))
        if sass:
            panes.append(pane("SASS", self._sass(sass), 0))
        return f"<div class=panes>{''.join(panes)}</div>"

    def _sources(self) -> list[str]:
        conflicts: dict[Place, str] = {}
        for place, line in self.measures.shared_lines.items():
            if line.conflicts:
                conflicts[place] = f"{line.conflicts:,} conflicts"
        most = max(self.counts.values(), default=0)
        cells: list[Cell] = []
        names = [file for file in self.lines if self.text(file)]
        for file in names:
            lines = self.text(file)
            used = self.lines[file] - {0}
            first, last = max(min(used, default=1) - AROUND, 1), min(max(used, default=1) + AROUND, len(lines))
            if len(names) > 1:
                cells.append(Cell(0, f"— {PurePath(file).name}", ()))
            for number in range(first, last + 1):
                place = (file, number)
                keys = (link(place),) if number in used else ()
                cells.append(Cell(number, lines[number - 1], keys, self.counts.get(place, 0), conflicts.get(place, "")))
        return [pane(PurePath(names[0]).name if len(names) == 1 else "source", cells, most)] if cells else []

    def _sass(self, sass: str) -> list[Cell]:
        """Machine code with the lines that the disassembler tells."""
        cells: list[Cell] = []
        keys: tuple[str, ...] = ()
        fresh = True
        known = {PurePath(file).name: file for file in self.lines}
        for number, text in enumerate(sass.splitlines(), 1):
            found = _FILE_LINE.search(text)
            if found:
                file = known.get(PurePath(found.group(1)).name, found.group(1))
                key = link((file, int(found.group(2))))
                keys = (key,) if fresh else (*keys, key)
                fresh = False
            elif _INSTRUCTION.match(text):
                cells.append(Cell(number, re.sub(r"/\*[0-9a-f]{16}\*/|\s+$", "", text).strip(), keys))
                fresh = True
        return cells
