"""What a run showed, before it is known whether every run shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fa4dsl.passes.checks.program import Node


@dataclass(frozen=True, eq=False)
class Finding:
    """A catalogue code at `site`, with the places that matter: (operation, label)."""

    code: str
    site: Node
    places: tuple[tuple[Node, str], ...]
    fields: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        return (self.code, self.site.number)


class Findings:
    """The findings of one run, each once. Those about an object can be looked up, so that one fault is not told in three ways."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], Finding] = {}
        self.blamed: set[str] = set()

    def add(self, code: str, site: Node, *places: tuple[Node, str], blame: str = "", notes: tuple[str, ...] = (), **fields: Any) -> None:
        finding = Finding(code, site, places or ((site, ""),), fields, notes)
        self.found.setdefault(finding.key, finding)
        if blame:
            self.blamed.add(blame)

    def __bool__(self) -> bool:
        return bool(self.found)
