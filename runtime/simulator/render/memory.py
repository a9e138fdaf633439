"""Shared memory over time: a row for each named object of a CTA, in the order of its addresses; who reads and writes which of its bytes when."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from fa4dsl.runtime.simulator.render.roles import LEFT, RIGHT, WIDTH, link, where
from fa4dsl.runtime.simulator.render.svg import drawing, element, shortened, ticks

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.timeline import Memory, Timeline

GAP = 6.0
BARRIER = 13.0
TALLEST = 78.0
MOST_BARRIERS = 16


def memory_picture(timeline: Timeline, cta: int, standalone: bool = False) -> str:
    """The `<svg>` element for one CTA's shared memory."""
    scale = (WIDTH - LEFT - RIGHT) / timeline.steps
    parts: list[str] = []
    y = 26.0
    for item in timeline.memory:
        height = (
            _barriers(timeline, item, cta, y, scale, parts) if item.kind == "mbarrier" else _array(timeline, item, cta, y, scale, parts)
        )
        if height:
            y += height + GAP
    height = y + 2
    axis = []
    for tick in ticks(timeline.steps):
        x = LEFT + tick * scale
        axis.append(element("line", class_="axis", x1=x, x2=x, y1=20.0, y2=height))
        axis.append(element("text", f"{tick:,}", class_="d m", x=x + 3, y=15.0))
    axis.append(element("text", "machine steps", class_="d m", x=14.0, y=15.0))
    return drawing(WIDTH, height, [*axis, *parts], f"shared memory of {timeline.cta_name(cta)} over time", standalone)


def _label(item: Memory, y: float, height: float, parts: list[str], shared_with: str) -> None:
    title = f"{item.name}: {item.detail}\nbytes {item.offset:,} to {item.offset + item.size:,}"
    parts.append(element("text", shortened(item.name, LEFT - 24), class_="t s b", x=14.0, y=y + 13, title=title))
    if height >= 28:
        parts.append(element("text", shortened(item.detail, LEFT - 24, 5.6), class_="d m", x=14.0, y=y + 25))
    if height >= 40:
        words = f"at {item.offset:,}" + (f", {shared_with}" if shared_with else "")
        parts.append(element("text", shortened(words, LEFT - 20, 5.4), class_="d m", x=14.0, y=y + 37, title=words))


def _array(timeline: Timeline, item: Memory, cta: int, y: float, scale: float, parts: list[str]) -> float:
    height = min(22 + 6 * max(log2(max(item.size, 64) / 64), 0), TALLEST)
    others = [
        other.name
        for other in timeline.memory
        if other is not item and other.offset < item.offset + item.size and item.offset < other.offset + other.size
    ]
    if others:
        height = max(height, 42.0)
    parts.append(element("rect", class_="panel", x=LEFT, y=y, width=WIDTH - LEFT - RIGHT, height=height, rx=3))
    _label(item, y, height, parts, f"same bytes as {', '.join(others)}" if others else "")
    if others:
        parts.append(element("rect", class_="accent", x=4.0, y=y, width=3.0, height=height, fill="var(--accent)", rx=1))
    uses = [use for use in item.uses if use.cta == cta]
    # long ones first, so that short ones stay visible on top of them
    for use in sorted(uses, key=lambda each: each.begin - each.end):
        low, high = max(use.low, item.offset), min(use.high, item.offset + item.size)
        top = y + (low - item.offset) / item.size * (height - 2) + 1
        size = max((high - low) / item.size * (height - 2), 2.0)
        begin = LEFT + use.begin * scale
        width = max((min(use.end, timeline.steps) - use.begin) * scale, 2.5)
        title = (
            f"{use.access} by {use.by}{' (a peer)' if use.remote else ''}\nsteps {use.begin:,} to {use.end:,}, {use.count:,} bytes\n"
            f"{item.name} + {low - item.offset:,} to {high - item.offset:,}\nat {where(use.place)}"
        )
        kind = use.access.replace(" ", "-") + (" away" if use.remote else "")
        parts.append(
            element("rect", class_=kind, x=begin, y=top, width=width, height=size, opacity=0.8, rx=1, data_l=link(use.place), title=title)
        )
    return height


def _barriers(timeline: Timeline, item: Memory, cta: int, y: float, scale: float, parts: list[str]) -> float:
    """Phases as alternating blocks, an arrival as a tick."""
    count = min(item.size // 8, MOST_BARRIERS)
    height = count * BARRIER
    _label(item, y, height, parts, "")
    for index in range(count):
        top = y + index * BARRIER
        address = item.offset + 8 * index
        mine = [
            release
            for release in timeline.releases
            if release.barrier[0] == "mbarrier" and release.barrier[1] == cta * timeline.shared_stride + address
        ]
        parts.append(element("rect", class_="panel", x=LEFT, y=top, width=WIDTH - LEFT - RIGHT, height=BARRIER - 2, rx=2))
        if item.size > 8:
            parts.append(element("text", f"[{index}]", class_="d m", x=LEFT - 24, y=top + 9))
        before = 0
        for release in mine:
            begin, width = LEFT + before * scale, (release.time - before) * scale
            title = f"{item.name}{f'[{index}]' if item.size > 8 else ''}, phase {release.phase}\ncompletes at step {release.time:,}"
            odd = " odd" if release.phase % 2 else ""
            parts.append(
                element("rect", class_=f"phase{odd}", x=begin, y=top, width=max(width, 0.8), height=BARRIER - 2, rx=2, title=title)
            )
            if width > 46:
                parts.append(element("text", f"phase {release.phase}", class_="d m", x=begin + 4, y=top + 9, pointer_events="none"))
            for arrival in release.arrivals:
                if arrival.kind != "expect_tx":
                    words = f"{arrival.count:,} {'bytes landed' if arrival.kind == 'bytes' else 'arrivals'}\nstep {arrival.time:,}"
                    kind = "copy" if arrival.kind == "bytes" else "sync"
                    x = LEFT + arrival.time * scale
                    parts.append(element("rect", class_=kind, x=x - 0.8, y=top, width=1.6, height=BARRIER - 2, title=words))
            before = release.time
    return height
