"""The little of SVG that the pictures need."""

from __future__ import annotations

import re
from html import escape
from typing import Any

LIGHT = {
    "ground": "#ffffff", "panel": "#f6f7fa", "line": "#dde1e8", "text": "#1b2330", "dim": "#667085", "accent": "#c2410c",
    "compute": "#9aabc4", "tensor": "#7c5cff", "shared": "#1f9e8f", "dsmem": "#1769c2", "global": "#e39a26", "copy": "#b5179e",
    "sync": "#d1495b", "control": "#c9d0da", "wait": "#fbe3e5", "wait-line": "#d9808b", "read": "#1769c2", "write": "#e07b1f",
    "async-read": "#1f9e8f", "async-write": "#b5179e",
}  # fmt: skip
DARK = {
    "ground": "#0f1218", "panel": "#171b23", "line": "#2a303b", "text": "#e7eaf0", "dim": "#98a2b3", "accent": "#fb923c",
    "compute": "#5d7190", "tensor": "#9a86ff", "shared": "#2fbfae", "dsmem": "#4c9df0", "global": "#e8ac4e", "copy": "#df62cb",
    "sync": "#f07382", "control": "#404957", "wait": "#3a2228", "wait-line": "#a85663", "read": "#4c9df0", "write": "#f0923f",
    "async-read": "#2fbfae", "async-write": "#df62cb",
}  # fmt: skip
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

STYLE = """
.t { fill: var(--text); } .d { fill: var(--dim); } .m { font-size: 10px; } .s { font-size: 11px; } .b { font-weight: 600; }
.panel { fill: var(--panel); } .axis { stroke: var(--line); stroke-width: 1; } .still { fill: var(--wait); stroke: var(--wait-line); stroke-width: .6; }
.gather { opacity: .45; } .never { stroke: var(--sync); stroke-width: 1.6; stroke-dasharray: 4 2; }
.arrow { fill: none; stroke: var(--dim); stroke-width: .8; opacity: .4; } .arrow.last { stroke: var(--accent); stroke-width: 1.4; opacity: .95; }
.meet { stroke: var(--sync); stroke-width: 1.2; stroke-dasharray: 2 2; } .dot { fill: var(--sync); } .tip { fill: var(--accent); } .faint { fill: var(--dim); opacity: .6; }
.bar { rx: 2px; } .away { stroke: var(--text); stroke-width: .7; } .phase { fill: var(--line); } .phase.odd { fill: var(--panel); stroke: var(--line); }
""" + "\n".join(
    f".{name} {{ fill: var(--{name}); }}"
    for name in (
        "compute", "tensor", "shared", "dsmem", "global", "copy", "sync", "control", "read", "write", "async-read", "async-write",
    )
)  # fmt: skip


_LINK = re.compile(r' data-l="[^"]*"')


def variables(colours: dict[str, str]) -> str:
    """The colours as CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(name: str, text: str = "", title: str = "", **attributes: Any) -> str:
    """One element; `_` at the end of an attribute's name is dropped and the others become `-`. `text` is escaped, `title` becomes the tool tip."""
    words = []
    for key, value in attributes.items():
        if value is None:
            continue
        shown = number(value) if isinstance(value, float) else str(value)
        words.append(f'{key.rstrip("_").replace("_", "-")}="{escape(shown)}"')
    inside = (f"<title>{escape(title)}</title>" if title else "") + escape(text)
    head = f"<{name}{' ' if words else ''}{' '.join(words)}"
    return f"{head}>{inside}</{name}>" if inside else f"{head}/>"


def drawing(width: float, height: float, parts: list[str], label: str, standalone: bool = False) -> str:
    """An `<svg>` element; `standalone` carries its own colours, for a file of its own."""
    style = ""
    if standalone:
        dark = f"@media (prefers-color-scheme: dark) {{ svg {{ {variables(DARK)} }} }}"
        style = f"<style>svg {{ {variables(LIGHT)} font-family: {FONT}; }} {dark} {STYLE}</style>"
        # links to a listing mean nothing outside of its page
        parts = [element("rect", width=width, height=height, fill="var(--ground)"), *(_LINK.sub("", part) for part in parts)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" role="img" aria-label="{escape(label)}"'
    size = f' width="{number(width)}" height="{number(height)}"' if standalone else ""
    return f"{head}{size}>{style}{''.join(parts)}</svg>"


def ticks(steps: int, most: int = 10) -> list[int]:
    """Round numbers from 0 on, at most `most`."""
    size = 1
    while steps / size > most:
        size = size * 2 if str(size)[0] in "15" else size // 2 * 5
    return list(range(0, steps + 1, size))


def shortened(text: str, width: float, size: float = 6.2) -> str:
    """As much of a text as fits into `width` pixels; empty if next to nothing does."""
    fits = int(width / size)
    if len(text) <= fits:
        return text
    return text[: fits - 1] + "…" if fits >= 4 else ""
