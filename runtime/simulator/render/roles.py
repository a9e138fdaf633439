"""The role-by-time picture: a row for the warps of each CTA that do the same, copies in flight below, arrows from arrivals to the waits that they end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.instruction_classes import WORDS
from fa4dsl.runtime.simulator.render.raster import Raster
from fa4dsl.runtime.simulator.render.svg import drawing, element, shortened, ticks

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.timeline import CopySpan, Place, Timeline

WIDTH, LEFT, RIGHT = 1240.0, 170.0, 14.0
LANE, HEAD = 11.0, 24.0
MANY_ROWS = 28
"""From here on rows are low."""
MOST_LANES = 8
MOST_ROWS = 96
"""Rows drawn at most; the page says how many there are."""


@dataclass(frozen=True)
class Lane:
    """Where a copy's bar lies."""

    y: float
    number: int
    """In `Timeline.copies`."""
    span: CopySpan


def where(place: Place) -> str:
    """``combine.py:12`` or ``PTX line 12``."""
    if place[0] and not place[1]:
        return f"{PurePath(place[0]).name}, several lines"
    return f"{PurePath(place[0]).name}:{place[1]}" if place[0] else f"PTX line {place[1]}"


def link(place: Place) -> str:
    """What ties an element of a picture to its line in the listing."""
    return f"{place[0]}:{place[1]}".replace(" ", "%20")


class RolePicture:
    """Draws a timeline."""

    def __init__(self, timeline: Timeline, columns: int = int(WIDTH - LEFT - RIGHT)) -> None:
        """`columns`: how finely time is cut; fewer make a smaller file."""
        self.timeline = timeline
        self.scale = (WIDTH - LEFT - RIGHT) / timeline.steps
        self.raster = Raster(timeline, columns)
        self.row, self.gap = (24.0, 5.0) if len(timeline.rows) <= MANY_ROWS else (15.0, 2.5)
        self.parts: list[str] = []
        self.y_of: dict[int, float] = {}
        self.lane_of: dict[int, float] = {}

    def x(self, time: float) -> float:
        return LEFT + min(time, self.timeline.steps) * self.scale

    def draw(self, standalone: bool = False) -> str:
        """The `<svg>` element."""
        timeline = self.timeline
        y = 26.0
        backs: list[str] = []
        rows = list(enumerate(timeline.rows))[:MOST_ROWS]
        for cta in dict.fromkeys(row.cta for _, row in rows):
            mine = [(index, row) for index, row in rows if row.cta == cta]
            lanes, height = self._lanes(cta)
            whole = HEAD + len(mine) * (self.row + self.gap) + height + 6
            backs.append(element("rect", class_="panel", x=0.0, y=y, width=WIDTH, height=whole - 4, rx=6))
            self.parts.append(element("text", timeline.cta_name(cta), class_="t s b", x=10.0, y=y + 16))
            y += HEAD
            for index, row in mine:
                self.y_of[index] = y
                self.parts.append(
                    element("text", shortened(row.label, LEFT - 22), class_="t s", x=14.0, y=y + self.row / 2 + 4, title=row.label)
                )
                self._row(index, y)
                y += self.row + self.gap
            for lane in lanes:
                self._copy(lane, y + lane.y)
            if lanes:
                self.parts.append(element("text", "copies in flight", class_="d m", x=14.0, y=y + 9))
            y += height + 6
        height = y + 4
        axis = []
        for tick in ticks(timeline.steps):
            axis.append(element("line", class_="axis", x1=self.x(tick), x2=self.x(tick), y1=20.0, y2=height))
            axis.append(element("text", f"{tick:,}", class_="d m", x=self.x(tick) + 3, y=15.0))
        axis.append(element("text", "machine steps", class_="d m", x=14.0, y=15.0))
        self._meetings()
        self._arrows()
        return drawing(WIDTH, height, [*backs, *axis, *self.parts], "roles over time", standalone)

    def _row(self, index: int, y: float) -> None:
        row = self.timeline.rows[index]
        for wait in sorted(row.waits, key=lambda item: not item.gathering):
            width = (wait.end - wait.begin) * self.scale
            if width <= 0:
                continue
            kind = "still" + (" gather" if wait.gathering else "") + (" never" if wait.open else "")
            title = f"{wait.what}\nsteps {wait.begin:,} to {'the end: never released' if wait.open else format(wait.end, ',')}\nat {where(wait.place)}"
            x = self.x(wait.begin)
            self.parts.append(
                element(
                    "rect",
                    class_=kind,
                    x=x,
                    y=y + 3,
                    width=max(width, 1.0),
                    height=self.row - 6,
                    rx=3,
                    data_l=link(wait.place),
                    title=title,
                )
            )
            text = "" if wait.gathering else shortened(wait.short, width - 8)
            if text:
                self.parts.append(element("text", text, class_="t m", x=x + 4, y=y + self.row / 2 + 3.5, pointer_events="none"))
        for span in self.raster.spans(row):
            title = f"{where(span.place)}\n{WORDS[span.kind]}\nsteps {span.begin:,.0f} to {span.end:,.0f}"
            opacity = None if span.busy >= 1 else 0.45 + 0.55 * span.busy
            self.parts.append(
                element(
                    "rect",
                    class_=span.kind,
                    x=self.x(span.begin),
                    y=y,
                    width=max((span.end - span.begin) * self.scale, 0.8),
                    height=self.row,
                    opacity=opacity,
                    data_l=link(span.place),
                    title=title,
                )
            )

    # -- copies

    def _lanes(self, cta: int) -> tuple[list[Lane], float]:
        """Copies of one CTA, each in the first lane that is free."""
        ends: list[float] = []
        placed: list[Lane] = []
        for number, span in enumerate(self.timeline.copies):
            if span.cta != cta:
                continue
            begin = self.x(span.begin)
            end = max(self.x(span.end if span.end >= 0 else self.timeline.steps), begin + 5)
            lane = next((index for index, free in enumerate(ends) if free <= begin), len(ends))
            if lane == MOST_LANES:
                continue
            if lane == len(ends):
                ends.append(end + 2)
            else:
                ends[lane] = end + 2
            placed.append(Lane(lane * LANE, number, span))
        return placed, len(ends) * LANE

    def _copy(self, lane: Lane, y: float) -> None:
        span = lane.span
        self.lane_of[lane.number] = y
        end = span.end if span.end >= 0 else self.timeline.steps
        landed = f"landed at {span.end:,}" if span.end >= 0 else "never landed"
        title = f"{span.what}\nissued at step {span.begin:,} by warp {span.warp}, {landed}\nat {where(span.place)}"
        x, width = self.x(span.begin), max((end - span.begin) * self.scale, 4.0)
        kind = "tensor" if span.kind == "wgmma" else "copy"
        self.parts.append(
            element("rect", class_=f"{kind} bar", x=x, y=y + 2, width=width, height=LANE - 4, data_l=link(span.place), title=title)
        )
        text = shortened(span.what, width - 8, 5.2)
        if text and width > 60:
            self.parts.append(element("text", text, x=x + 4, y=y + 8.4, fill="#fff", font_size="8", pointer_events="none"))

    # -- barriers

    def _meetings(self) -> None:
        for meeting in self.timeline.meetings:
            ys = [self.y_of[row] for row in meeting.rows if row in self.y_of]
            if not ys:
                continue
            x = self.x(meeting.time)
            self.parts.append(
                element(
                    "line",
                    class_="meet",
                    x1=x,
                    x2=x,
                    y1=min(ys) - 4,
                    y2=max(ys) + self.row + 4,
                    title=f"{meeting.what} is complete\nstep {meeting.time:,}",
                )
            )
            self.parts += [element("circle", class_="dot", cx=x, cy=y + self.row / 2, r=2.6) for y in ys]

    def _arrows(self) -> None:
        for arrow in sorted(self.timeline.arrows, key=lambda item: item.last):
            target = self.y_of.get(arrow.target)
            source = self.y_of.get(arrow.row) if arrow.copy < 0 else self.lane_of.get(arrow.copy)
            if target is None or source is None or arrow.row == arrow.target:
                continue
            from_copy = arrow.copy >= 0
            x1, x2 = self.x(arrow.begin), self.x(arrow.end)
            y1 = source + (LANE / 2 if from_copy else self.row / 2)
            down = target > source
            y2 = target - 1 if down else target + self.row + 1
            bend = max(abs(x2 - x1) * 0.5, 14.0)
            if x2 - x1 < 1 and from_copy:
                bend = 4.0
            path = (
                f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 + (0 if x2 - x1 > 40 else 10):.1f},{(y1 + y2) / 2:.1f} {x2:.1f},{y2:.1f}"
            )
            last = " last" if arrow.last else ""
            title = f"{arrow.what}\nstep {arrow.begin:,}; the wait ends at {arrow.end:,}" + ("\ncompletes the phase" if arrow.last else "")
            self.parts.append(element("path", class_=f"arrow{last}", d=path, title=title))
            tip = y2 - 6 if down else y2 + 6
            points = f"{x2:.1f},{y2:.1f} {x2 - 3.4:.1f},{tip:.1f} {x2 + 3.4:.1f},{tip:.1f}"
            self.parts.append(element("polygon", class_="tip" if arrow.last else "faint", points=points))
