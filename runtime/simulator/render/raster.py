"""What a row of the timeline shows in each column of pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.instruction_classes import CLASSES, Class

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.timeline import Place, Row, Timeline

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Span:
    """Neighbouring columns that show the same."""

    begin: float
    end: float
    """In steps."""
    kind: Class
    place: Place
    busy: float
    """Share of the steps in which the row ran something, 0 to 1."""


class Raster:
    """Cuts the steps into at most `columns` columns of equal width; in each, the most frequent kind of instruction and source line wins."""

    def __init__(self, timeline: Timeline, columns: int, emphasis: int = 1) -> None:
        self.timeline = timeline
        self.weights = [1 if kind in ("compute", "control") else emphasis for kind in CLASSES]
        """Where columns are wide: what everything but arithmetic and branches counts for, so that it is not drowned by them."""
        self.columns = min(columns, timeline.steps)
        self.width = timeline.steps / self.columns
        places = [timeline.place(pc) for pc in range(len(timeline.sites))]
        self.places: list[Place] = sorted(set(places))
        number = {place: index for index, place in enumerate(self.places)}
        self.code: Ints = np.array(
            [number[place] * len(CLASSES) + CLASSES.index(kind) for place, kind in zip(places, timeline.classes, strict=True)], np.int64
        )
        """By program counter: place and class as one number."""

    def spans(self, row: Row) -> list[Span]:
        """The row from left to right, without its idle columns."""
        if not row.runs:
            return []
        counts = np.array([run.count for run in row.runs], np.int64)
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        times = np.repeat([run.begin for run in row.runs], counts) + offsets
        codes = self.code[np.repeat([run.pc for run in row.runs], counts) + offsets]
        inside = times < self.timeline.steps
        columns = (times[inside] / self.width).astype(np.int64)
        kinds = len(self.places) * len(CLASSES)
        pairs, number = np.unique(columns * kinds + codes[inside], return_counts=True)
        total = np.bincount(columns, minlength=self.columns)
        best: dict[int, tuple[int, int]] = {}
        for pair, count in zip(pairs.tolist(), number.tolist(), strict=True):
            column, code = divmod(pair, kinds)
            count *= self.weights[code % len(CLASSES)]
            if count > best.get(column, (0, 0))[0]:
                best[column] = (count, code)
        found: list[Span] = []
        previous = (-2, -1, 0.0)
        for column in sorted(best):
            code = best[column][1]
            busy = min(round(4 * int(total[column]) / self.width) / 4, 1.0)
            if found and previous == (column - 1, code, busy):
                last = found[-1]
                found[-1] = Span(last.begin, (column + 1) * self.width, last.kind, last.place, last.busy)
            else:
                place, kind = divmod(code, len(CLASSES))
                found.append(Span(column * self.width, (column + 1) * self.width, CLASSES[kind], self.places[place], busy))
            previous = (column, code, busy)
        return found
