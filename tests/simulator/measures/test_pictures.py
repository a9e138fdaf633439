"""Page, trace and terminal summary of the ring example: complete, self-contained and well formed."""

from __future__ import annotations

import importlib.util
import io
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fa4dsl.cli.profile_terminal import print_profile
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.recording import recording
from fa4dsl.runtime.simulator.render.memory import memory_picture
from fa4dsl.runtime.simulator.render.page import page
from fa4dsl.runtime.simulator.render.perfetto import perfetto
from fa4dsl.runtime.simulator.render.raster import Raster
from fa4dsl.runtime.simulator.render.roles import RolePicture

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "tma_ring.py"
TILES = 5


@pytest.fixture(scope="module")
def report() -> Report:
    spec = importlib.util.spec_from_file_location("profiled_ring", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    matrix, sums = np.ones((TILES * 16, 64), np.float32), np.zeros(64, np.float32)
    with recording() as reports:
        module.column_sums.launch(1, [matrix, sums, TILES], device="simulator", schedule="late")
    assert (sums == TILES * 16).all()
    return reports[0]


class Reader(HTMLParser):
    """Collects what a page refers to, and checks that elements close in order."""

    VOID = frozenset({"meta", "br", "input", "link", "img", "path", "rect", "line", "circle", "polygon"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.keys: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        self.keys += [(tag, value or "") for name, value in attrs if name == "data-l"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.keys += [(tag, value or "") for name, value in attrs if name == "data-l"]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_needs_nothing_else(report: Report) -> None:
    text = page(report)
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.references == []
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    words = " ".join(reader.text)
    for expected in ("producer, warp 0", "consumer, warps 1-2", "ring.tile", "ring.full", "with ring.fill() as slot", "mbarrier.try_wait"):
        assert expected in words, expected


def test_every_line_of_a_picture_is_in_the_listing(report: Report) -> None:
    reader = Reader()
    reader.feed(page(report))
    listed = {key for tag, keys in reader.keys if tag == "div" for key in keys.split()}
    drawn = {key for tag, keys in reader.keys if tag in ("rect", "a") for key in keys.split()}
    assert drawn and drawn <= listed


def test_drawings_stand_alone(report: Report) -> None:
    """Well-formed SVG with one element of each kind of thing that happened."""
    roles = RolePicture(report.timeline).draw(standalone=True)
    root = ElementTree.fromstring(roles)
    kinds = [element.get("class", "") for element in root.iter()]
    assert "data-l" not in roles
    assert kinds.count("copy bar") == TILES
    assert sum(kind.startswith("still") for kind in kinds) == sum(
        wait.end > wait.begin for row in report.timeline.rows for wait in row.waits
    )
    assert sum(kind.startswith("arrow") for kind in kinds) == len(report.timeline.arrows)
    assert kinds.count("meet") == len(report.timeline.meetings)
    memory = ElementTree.fromstring(memory_picture(report.timeline, 0, standalone=True))
    kinds = [element.get("class", "") for element in memory.iter()]
    assert kinds.count("async-write") == TILES
    assert kinds.count("read") >= TILES
    assert any(kind.startswith("phase") for kind in kinds)


def test_columns_hold_what_ran(report: Report) -> None:
    """With a column for each step, spans are exactly the instructions; with few, they still cover all that ran."""
    timeline = report.timeline
    for row in timeline.rows:
        exact = Raster(timeline, timeline.steps).spans(row)
        assert sum(span.end - span.begin for span in exact) == sum(run.count for run in row.runs)
        coarse = Raster(timeline, 40)
        shown = {
            round(span.begin / coarse.width) + column
            for span in coarse.spans(row)
            for column in range(round((span.end - span.begin) / coarse.width))
        }
        assert shown == {int((run.begin + offset) / coarse.width) for run in row.runs for offset in range(run.count)}


def test_the_trace_is_what_perfetto_reads(report: Report) -> None:
    trace = json.loads(json.dumps(perfetto(report.timeline, report.kernel)))
    events: list[dict[str, Any]] = trace["traceEvents"]
    names = [event["args"]["name"] for event in events if event.get("name") == "thread_name"]
    assert names == ["producer, warp 0", "consumer, warps 1-2"]
    slices = [event for event in events if event["ph"] == "X"]
    assert all(event["dur"] > 0 for event in slices)
    for thread in {(event["pid"], event["tid"]) for event in slices}:
        mine = sorted(
            (event for event in slices if (event["pid"], event["tid"]) == thread and event["cat"] != "wait"), key=lambda event: event["ts"]
        )
        assert all(first["ts"] + first["dur"] <= second["ts"] for first, second in itertools.pairwise(mine))
    assert sum(event["dur"] for event in slices if event["cat"] != "wait") == sum(
        run.count for row in report.timeline.rows for run in row.runs
    )
    begun, ended = ([event for event in events if event["ph"] == kind] for kind in "be")
    assert len(begun) == len(ended) == TILES
    starts, ends = ([event for event in events if event["ph"] == kind] for kind in "sf")
    assert [event["id"] for event in starts] == [event["id"] for event in ends]
    assert starts and all(first["ts"] <= last["ts"] for first, last in zip(starts, ends, strict=True))


def test_the_summary_fits_a_terminal(report: Report) -> None:
    out = io.StringIO()
    print_profile(Console(file=out, width=100), report)
    text = out.getvalue()
    for expected in ("machine steps", "producer", "consumer", "Bytes by memory and role", "ring.full[0]", "shared async write"):
        assert expected in text
    assert max(map(len, text.splitlines()[:3])) <= 100
