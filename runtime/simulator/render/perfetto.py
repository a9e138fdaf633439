"""The run as a Chrome trace, which ui.perfetto.dev and chrome://tracing open: a process for each CTA, a track for each warp, copies as asynchronous events, flows from arrivals to the waits they end.

One step is one microsecond of the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.simulator.render.roles import where

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.timeline import Row, Timeline

MOST_EVENTS = 1_000_000


def perfetto(timeline: Timeline, kernel: str) -> dict[str, Any]:
    """The trace as one JSON object."""
    events: list[dict[str, Any]] = []
    for cta in sorted({row.cta for row in timeline.rows}):
        name = f"{kernel}, {timeline.cta_name(cta)}"
        events.append({"ph": "M", "name": "process_name", "pid": cta + 1, "args": {"name": name}})
        events.append({"ph": "M", "name": "process_sort_index", "pid": cta + 1, "args": {"sort_index": cta}})
    for row in timeline.rows:
        thread = _thread(row)
        events.append({"ph": "M", "name": "thread_name", **thread, "args": {"name": row.label}})
        events.append({"ph": "M", "name": "thread_sort_index", **thread, "args": {"sort_index": row.warps[0]}})
        events += _runs(timeline, row)
        events += _waits(row)
    for number, copy in enumerate(timeline.copies):
        end = copy.end if copy.end >= 0 else timeline.steps
        common = {"cat": "copy", "id": number, "pid": copy.cta + 1, "tid": copy.warp, "name": copy.kind.replace("_", " ")}
        events.append({"ph": "b", "ts": copy.begin, **common, "args": {"what": copy.what, "at": where(copy.place)}})
        events.append({"ph": "e", "ts": max(end, copy.begin + 1), **common})
    for number, arrow in enumerate(timeline.arrows):
        target = timeline.rows[arrow.target]
        source = timeline.rows[arrow.row] if arrow.copy < 0 else None
        if source is None:
            copy = timeline.copies[arrow.copy]
            begin: dict[str, Any] = {"pid": copy.cta + 1, "tid": copy.warp, "ts": copy.begin}
        else:
            begin = {**_thread(source), "ts": arrow.begin}
        common = {"cat": "barrier", "name": arrow.what, "id": number}
        events.append({"ph": "s", **common, **begin})
        events.append({"ph": "f", "bp": "e", **common, **_thread(target), "ts": arrow.end})
    return {
        "traceEvents": events[:MOST_EVENTS],
        "displayTimeUnit": "ns",
        "otherData": {"unit": "1 us is one machine step", "cut": timeline.cut},
    }


def _thread(row: Row) -> dict[str, Any]:
    return {"pid": row.cta + 1, "tid": row.warps[0]}


def _runs(timeline: Timeline, row: Row) -> list[dict[str, Any]]:
    """One event for each stretch of instructions of one source line."""
    found: list[dict[str, Any]] = []
    last: dict[str, Any] | None = None
    for run in row.runs:
        for offset in range(run.count):
            pc, time = run.pc + offset, run.begin + offset
            place = timeline.place(pc)
            name = where(place)
            if last is not None and last["name"] == name and last["ts"] + last["dur"] == time:
                last["dur"] += 1
                continue
            site = timeline.sites[pc]
            args = {"ptx": f"line {site.ptx_line}: {site.mnemonic}"}
            last = {"ph": "X", "cat": timeline.classes[pc], "name": name, **_thread(row), "ts": time, "dur": 1, "args": args}
            found.append(last)
    return found


def _waits(row: Row) -> list[dict[str, Any]]:
    return [
        {
            "ph": "X",
            "cat": "wait",
            "name": wait.what + (" (never released)" if wait.open else ""),
            **_thread(row),
            "ts": wait.begin + 1,
            "dur": wait.end - wait.begin - 1,
            "args": {"at": where(wait.place)},
        }
        for wait in row.waits
        if wait.end - wait.begin > 1
    ]
