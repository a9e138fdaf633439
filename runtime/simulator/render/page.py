"""The whole run as one HTML file that needs nothing beside itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.instruction_classes import CLASSES, WORDS
from fa4dsl.runtime.simulator.render import tables
from fa4dsl.runtime.simulator.render.listing import Listing
from fa4dsl.runtime.simulator.render.memory import memory_picture
from fa4dsl.runtime.simulator.render.roles import MOST_ROWS, RolePicture
from fa4dsl.runtime.simulator.render.style import CSS, SCRIPT

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.check.report import Report
    from fa4dsl.runtime.simulator.timeline import Timeline

MOST_TABS = 16


def page(report: Report, sass: str = "") -> str:
    """The page for a report with a timeline (`simulate(trace=True)`, `recording`): pictures, tables, and source, PTX and (where given) SASS side by side."""
    timeline: Timeline = report.timeline
    measures = report.measures.as_dict()
    listing = Listing(timeline.sites, report.measures, report.sources, timeline.ptx)
    parts = [
        f"<header><h1>{escape(report.kernel)}</h1><span class='verdict {report.verdict}'>{report.verdict}</span>"
        f"<span class=dim>schedule {escape(report.replay)}, simulated in {report.seconds:.2f} s</span><button id=theme>light / dark</button></header>",
        _tiles(report, measures, timeline),
        _findings(report),
        "<h2>Roles over time</h2>",
        f"<p class=note>{_time_note(timeline)}</p>",
        f"<div class=picture>{RolePicture(timeline).draw()}</div>",
        _keys(
            [(kind, WORDS[kind]) for kind in CLASSES]
            + [("wait", "waits (named if it fits)"), ("accent", "arrival that completed the phase")]
        ),
        "<h2>Shared memory over time</h2>",
        _memory(timeline),
        _keys(
            [
                ("write", "written by threads"),
                ("read", "read by threads"),
                ("async-write", "a copy on its way in"),
                ("async-read", "a copy or a product reads"),
            ]
        ),
        "<h2>Instructions by role</h2>",
        tables.instructions(measures),
        "<h2>Bytes by memory and role</h2>",
        tables.traffic(measures),
        _optional("Between the CTAs of a cluster", tables.matrices(measures)),
        "<h2>Shared-memory requests by line</h2>" + tables.conflicts(measures, listing.excerpt) if measures["bank_conflicts"] else "",
        "<h2>Global-memory requests by line</h2>" + tables.sectors(measures, listing.excerpt) if measures["global_requests"] else "",
        "<h2>Waits</h2>" + tables.waits(measures, listing.excerpt) if measures["barrier_waits"] else "",
        "<h2>Source and PTX</h2><p class=note>The number beside a line counts the warps that executed it. Point at a line to see what it became; click to keep it.</p>",
        listing.html(sass),
    ]
    title = f"{report.kernel}: a simulated run"
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'><title>{escape(title)}</title>"
        f"<style>{CSS}</style></head><body><main>{''.join(parts)}</main><div id=tip></div><script>{SCRIPT}</script></body></html>\n"
    )


def _optional(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}" if body else ""


def _keys(items: list[tuple[str, str]]) -> str:
    return (
        "<p class=keys>"
        + "".join(f'<span class=key><b style="background:var(--{kind})"></b>{escape(words)}</span>' for kind, words in items)
        + "</p>"
    )


def _time_note(timeline: Timeline) -> str:
    words = (
        "Time is counted in machine steps: one instruction for all the threads that the schedule runs together. It is the simulated order, "
        "and says nothing of how long a GPU takes. Warps of a CTA that did the same at the same time share a row."
    )
    if timeline.cut:
        words += f" <b>Shown: {escape(timeline.cut)}.</b>"
    if len(timeline.rows) > MOST_ROWS:
        words += f" The first {MOST_ROWS} of {len(timeline.rows)} rows are drawn; the Perfetto trace has all."
    return words


def _tiles(report: Report, measures: dict[str, object], timeline: Timeline) -> str:
    counts = report.measures
    total = sum(line.conflicts for line in counts.shared_lines.values())
    moved = counts.bytes

    def summed(prefix: str) -> int:
        return sum(value for key, value in moved.items() if key.startswith(prefix))

    facts = [
        (f"{timeline.steps:,}", "machine steps"),
        (f"{counts.instructions:,}", "warp instructions"),
        (f"{summed('global'):,}", "bytes of global memory"),
        (f"{summed('shared'):,}", "bytes of shared memory"),
        (f"{total:,}", "bank conflicts"),
        (f"{len(timeline.copies):,}", "asynchronous operations"),
    ]
    if timeline.cluster_size > 1:
        facts.insert(4, (f"{summed('dsmem'):,}", "bytes of peers' shared memory"))
    return "<div class=tiles>" + "".join(f"<div class=tile><b>{value}</b><span>{name}</span></div>" for value, name in facts) + "</div>"


def _findings(report: Report) -> str:
    if report.verdict == "clean":
        return ""
    return f"<h2>Findings</h2><pre class=findings>{escape(report.text())}</pre>"


def _memory(timeline: Timeline) -> str:
    shown = min(timeline.ctas, MOST_TABS)
    tabs = "".join(
        f"<button data-show={cta} aria-selected={'true' if not cta else 'false'}>{escape(timeline.cta_name(cta))}</button>"
        for cta in range(shown)
    )
    pictures = "".join(
        f"<div class=picture data-tab={cta}{' hidden' if cta else ''}>{memory_picture(timeline, cta)}</div>" for cta in range(shown)
    )
    return f"<div>{f'<div class=tabs>{tabs}</div>' if shown > 1 else ''}{pictures}</div>"
