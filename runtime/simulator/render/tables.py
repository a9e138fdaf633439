"""The counts of a run as HTML tables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.simulator.instruction_classes import CLASSES, WORDS
from fa4dsl.runtime.simulator.render.roles import link, where

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SECTOR = 32


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int = 1) -> str:
    """Cells are HTML already; columns from `numbers_from` on are right-aligned."""
    top = "".join(f"<th{' class=n' if index >= numbers_from else ''}>{escape(word)}</th>" for index, word in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if index >= numbers_from else ''}>{cell}</td>" for index, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<div class=scroll><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def line_cell(file: str, line: int, excerpt: Callable[[str, int], str]) -> str:
    """A source line with its text, tied to the listing."""
    text = excerpt(file, line)
    place = (file, line)
    return f'<a class=line data-l="{escape(link(place))}">{escape(where(place))}</a> <code>{escape(text)}</code>'


def meter(part: float, kind: str = "accent") -> str:
    """A small bar, `part` of its cell."""
    return f'<span class=meter><i style="width:{100 * min(max(part, 0), 1):.1f}%;background:var(--{kind})"></i></span>'


def instructions(measures: Mapping[str, Any]) -> str:
    """Warp instructions by role and class, as stacked bars."""
    rows = []
    by_role: dict[str, dict[str, int]] = measures["instructions_by_role"]
    largest = max((sum(counts.values()) for counts in by_role.values()), default=1) or 1
    for role, counts in by_role.items():
        total = sum(counts.values())
        bars = "".join(
            f'<i style="width:{100 * counts[kind] / largest:.2f}%;background:var(--{kind})" title="{escape(WORDS[kind])}: {counts[kind]:,}"></i>'
            for kind in CLASSES
            if counts.get(kind)
        )
        rows.append([escape(role), f"<span class=stack>{bars}</span>", f"{total:,}"])
    key = "".join(f'<span class=key><b style="background:var(--{kind})"></b>{escape(WORDS[kind])}</span>' for kind in CLASSES)
    return table(["role", "warp instructions", "total"], rows, 2) + f"<p class=keys>{key}</p>"


def traffic(measures: Mapping[str, Any]) -> str:
    """Bytes by space and direction, by role."""
    keyed: dict[str, dict[str, int]] = measures["bytes_by_role"]
    roles = list(measures["instructions_by_role"])
    rows = []
    for key, total in measures["bytes"].items():
        space, *rest = key.split(".")
        name = {"dsmem": "peers' shared", "const": "constant"}.get(space, space)
        rows.append(
            [f"{escape(name)} <span class=dim>{escape(' '.join(rest))}</span>"]
            + [f"{keyed[key].get(role, 0):,}" for role in roles]
            + [f"{total:,}"]
        )
    return table(["memory", *roles, "bytes"], rows)


def conflicts(measures: Mapping[str, Any], excerpt: Callable[[str, int], str]) -> str:
    """Shared-memory requests by line, the worst first."""
    lines = sorted(measures["bank_conflicts"], key=lambda item: (-item["conflicts"], item["file"], item["line"]))
    worst = max((item["conflicts"] for item in lines), default=0) or 1
    rows = []
    for item in lines:
        bar = meter(item["conflicts"] / worst, "sync") if item["conflicts"] else ""
        each = item["wavefronts"] / max(item["requests"], 1)
        rows.append(
            [
                line_cell(item["file"], item["line"], excerpt),
                f"{bar}{item['conflicts']:,}",
                f"{item['requests']:,}",
                f"{item['wavefronts']:,}",
                f"{each:.2f}",
                f"{item['bytes']:,}",
            ]
        )
    return table(["line", "bank conflicts", "requests", "wavefronts", "a request", "bytes"], rows)


def sectors(measures: Mapping[str, Any], excerpt: Callable[[str, int], str]) -> str:
    """Global-memory requests by line, the least economical first."""

    def use(item: Mapping[str, Any]) -> float:
        return float(item["distinct_bytes"] / (SECTOR * item["sectors"])) if item["sectors"] else 1.0

    rows = []
    for item in sorted(measures["global_requests"], key=lambda each: (min(use(each), 1.0), -each["sectors"])):
        rows.append(
            [
                line_cell(item["file"], item["line"], excerpt),
                f"{item['requests']:,}",
                f"{item['sectors']:,}",
                f"{item['sectors'] / max(item['requests'], 1):.2f}",
                f"{meter(use(item), 'shared')}{100 * use(item):.0f}%",
            ]
        )
    return table(["line", "requests", "sectors", "a request", "bytes used of sectors"], rows)


def waits(measures: Mapping[str, Any], excerpt: Callable[[str, int], str]) -> str:
    """Waits by barrier and line."""
    rows = [
        [escape(item["barrier"]), line_cell(item["file"], item["line"], excerpt), f"{item['passed']:,}", f"{item['blocked']:,}"]
        for item in measures["barrier_waits"]
    ]
    return table(["barrier", "line", "complete at once", "blocked"], rows, 2)


MATRICES = (
    ("dsmem_reads", "bytes read from a peer's shared memory"),
    ("dsmem_writes", "bytes written into a peer's shared memory"),
    ("multicast_traffic", "bytes delivered by multicast"),
    ("remote_arrivals", "arrivals at a peer's barriers"),
)


def matrices(measures: Mapping[str, Any]) -> str:
    """Traffic between the ranks of a cluster, as heat maps; empty without any."""
    found = []
    for key, words in MATRICES:
        values = measures[key]
        largest = max((max(row) for row in values), default=0)
        if not largest:
            continue
        head = "".join(f"<th class=n>{rank}</th>" for rank in range(len(values)))
        body = ""
        for rank, row in enumerate(values):
            cells = "".join(
                f'<td class=n style="background:color-mix(in srgb, var(--dsmem) {60 * value / largest:.0f}%, transparent)">{value:,}</td>'
                for value in row
            )
            body += f"<tr><th>{rank}</th>{cells}</tr>"
        found.append(
            f"<figure><figcaption>{escape(words)}</figcaption><table class=heat><tr><th>by \\ at</th>{head}</tr>{body}</table></figure>"
        )
    return f"<div class=figures>{''.join(found)}</div>" if found else ""
