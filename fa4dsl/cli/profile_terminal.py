"""A run in a terminal: rows over time in coloured blocks, then the counts as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from fa4dsl.runtime.simulator.instruction_classes import CLASSES, WORDS
from fa4dsl.runtime.simulator.render.raster import Raster
from fa4dsl.runtime.simulator.render.roles import where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console, RenderableType

    from fa4dsl.runtime.simulator.check.report import Report
    from fa4dsl.runtime.simulator.timeline import Row, Timeline

COLOURS = {
    "compute": "bright_black",
    "tensor": "magenta",
    "shared": "cyan",
    "dsmem": "blue",
    "global": "yellow",
    "copy": "bright_magenta",
    "sync": "red",
    "control": "white",
}
LETTERS = {"compute": "█", "tensor": "▓", "shared": "▆", "dsmem": "◆", "global": "▄", "copy": "▲", "sync": "┃", "control": "·"}
MOST_ROWS = 24
MOST_LINES = 12


def print_profile(console: Console, report: Report) -> None:
    """Prints the whole summary."""
    for item in summary(report, min(console.width, 140) - 34):
        console.print(item)


def summary(report: Report, columns: int = 80) -> Iterator[RenderableType]:
    """What to print, piece by piece."""
    measures = report.measures.as_dict()
    if report.timeline is not None:
        yield from _rows(report.timeline, max(columns, 20))
    yield _instructions(measures)
    yield _bytes(measures)
    yield from _lines(measures)
    if any(any(row) for row in measures["dsmem_traffic"]):
        yield _matrix(measures)
    if measures["barrier_waits"]:
        yield _waits(measures)


def _rows(timeline: Timeline, columns: int) -> Iterator[RenderableType]:
    raster = Raster(timeline, columns, emphasis=4)
    shown = f" ({timeline.cut})" if timeline.cut else ""
    yield Text(f"{timeline.steps:,} machine steps{shown}", "bold")
    for row in timeline.rows[:MOST_ROWS]:
        yield Text(f"{timeline.cta_name(row.cta)} {row.label}"[:31].ljust(32), "dim") + _bar(raster, row)
    if len(timeline.rows) > MOST_ROWS:
        yield Text(f"and {len(timeline.rows) - MOST_ROWS} more rows", "dim")
    key = Text()
    for kind in CLASSES:
        key += Text(f"{LETTERS[kind]} ", COLOURS[kind]) + Text(f"{WORDS[kind]}  ", "dim")
    yield key + Text("░ ", "red") + Text("waits", "dim")


def _bar(raster: Raster, row: Row) -> Text:
    cells = [(" ", "")] * raster.columns
    for wait in row.waits:
        first = int(wait.begin / raster.width)
        for column in range(first, min(int(wait.end / raster.width), raster.columns)):
            cells[column] = ("░", "red")
    for span in raster.spans(row):
        for column in range(round(span.begin / raster.width), min(round(span.end / raster.width), raster.columns)):
            cells[column] = (LETTERS[span.kind], COLOURS[span.kind])
    text = Text()
    for letter, style in cells:
        text.append(letter, style)
    return text


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    return table


def _instructions(measures: Mapping[str, Any]) -> Table:
    roles = measures["instructions_by_role"]
    used = [kind for kind in CLASSES if any(counts.get(kind) for counts in roles.values())]
    table = _table("\nWarp instructions by role", "role", *used, "all")
    for role, counts in roles.items():
        table.add_row(role, *(f"{counts[kind]:,}" for kind in used), f"{sum(counts.values()):,}")
    return table


def _bytes(measures: Mapping[str, Any]) -> Table:
    roles = list(measures["instructions_by_role"])
    table = _table("\nBytes by memory and role", "memory", *roles, "all")
    for key, total in measures["bytes"].items():
        counts = measures["bytes_by_role"][key]
        table.add_row(key.replace(".", " "), *(f"{counts.get(role, 0):,}" for role in roles), f"{total:,}")
    return table


def _lines(measures: Mapping[str, Any]) -> Iterator[Table]:
    busy = sorted((item for item in measures["bank_conflicts"] if item["conflicts"]), key=lambda item: -item["conflicts"])
    if busy:
        table = _table("\nBank conflicts", "line", "conflicts", "requests", "wavefronts a request")
        for item in busy[:MOST_LINES]:
            each = item["wavefronts"] / item["requests"]
            table.add_row(_where(item), f"{item['conflicts']:,}", f"{item['requests']:,}", f"{each:.2f}")
        yield table
    wide = sorted(measures["global_requests"], key=lambda item: -item["sectors"])
    if wide:
        table = _table("\nGlobal memory", "line", "requests", "sectors a request", "bytes used of sectors")
        for item in wide[:MOST_LINES]:
            share = f"{100 * item['distinct_bytes'] / (32 * item['sectors']):.0f}%" if item["sectors"] else ""
            table.add_row(_where(item), f"{item['requests']:,}", f"{item['sectors'] / max(item['requests'], 1):.2f}", share)
        yield table


def _where(item: Mapping[str, Any]) -> str:
    return where((item["file"], item["line"]))


def _matrix(measures: Mapping[str, Any]) -> Table:
    values = measures["dsmem_traffic"]
    table = _table("\nBytes between CTAs (by row, at column)", "rank", *map(str, range(len(values))))
    for rank, row in enumerate(values):
        table.add_row(str(rank), *(f"{value:,}" if value else "·" for value in row))
    return table


def _waits(measures: Mapping[str, Any]) -> Table:
    table = _table("\nWaits, by warp", "barrier", "line", "complete at once", "blocked")
    for item in measures["barrier_waits"]:
        table.add_row(item["barrier"], _where(item), f"{item['passed']:,}", f"{item['blocked']:,}")
    return table
