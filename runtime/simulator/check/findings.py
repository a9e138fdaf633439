"""Collects findings: one for each root cause, with its kind and severity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.diagnostics import Diagnostic, Frame
from fa4dsl.runtime.diagnostics.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

KINDS = {
    "S010": "bounds",
    "S011": "bounds",
    "S012": "layout",
    "S013": "trap",
    "S014": "init",
    "S015": "tx",
    "S016": "barrier-misuse",
    "S017": "barrier-misuse",
    "S018": "barrier-misuse",
    "S020": "race",
    "S021": "proxy",
    "S022": "proxy",
    "S023": "scope",
    "S024": "race",
    "S025": "race",
    "S026": "race",
    "S027": "race",
    "S028": "race",
    "S029": "scope",
    "S030": "lifetime",
    "S031": "lifetime",
    "S032": "lifetime",
    "S033": "lifetime",
    "S034": "lifetime",
    "S035": "tx",
    "S036": "init",
    "S037": "lifetime",
    "S038": "lifetime",
    "S039": "lifetime",
    "S040": "barrier-misuse",
    "S041": "barrier-misuse",
    "S042": "barrier-misuse",
    "S043": "proxy",
    "S044": "layout",
    "S045": "layout",
    "S046": "race",
    "S047": "race",
    "S048": "race",
    "S049": "barrier-misuse",
    "S050": "deadlock",
    "S051": "deadlock",
    "S052": "tx",
    "S053": "deadlock",
    "S054": "register-pool",
    "S055": "deadlock",
    "S056": "deadlock",
    "S057": "deadlock",
    "S066": "race",
    "S100": "register-pool",
    "S101": "uninitialised",
    "S105": "bounds",
    "S106": "barrier-misuse",
    "S107": "tx",
}
"""Kind of a finding by code; other codes are "error"."""


@dataclass(frozen=True)
class Finding:
    diagnostic: Diagnostic
    kind: str
    incomplete: bool = False

    def as_dict(self) -> dict[str, Any]:
        """`lines` holds [file, line] of every frame."""
        d = self.diagnostic
        return {
            "code": d.code,
            "kind": self.kind,
            "severity": d.severity,
            "message": d.message,
            "lines": [[frame.location.file, frame.location.line] for frame in d.frames],
            "mend": d.mend,
            "notes": list(d.notes),
        }


def build(code: str, frames: Sequence[Frame], notes: Sequence[str] = (), mend: str | None = None, **fields: Any) -> Diagnostic:
    """Fills the catalogue's entry; `mend` replaces its general mend by one that names lines. Frames at one place are said once."""
    entry = CATALOGUE[code]
    unique: list[Frame] = []
    for frame in frames:
        same = next((i for i, old in enumerate(unique) if old.location == frame.location), None)
        if same is None:
            unique.append(frame)
        elif frame.label not in unique[same].label:
            unique[same] = Frame(frame.location, f"{unique[same].label}; {frame.label}")
    made = Diagnostic(code, entry.message.format(**fields), "", tuple(unique), entry.severity, tuple(dict.fromkeys(notes)), fields)
    return replace(made, mend=mend if mend is not None else entry.mend.format(**fields))


class Findings:
    """Keeps the first finding for each key."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.found: dict[Hashable, Finding] = {}
        self._places: dict[Hashable, Hashable] = {}

    def add(self, key: Hashable, diagnostic: Diagnostic, kind: str | None = None) -> None:
        if key in self.found:
            return
        # An unrolled loop makes many instructions of one source line: they have one cause.
        places = (diagnostic.code, frozenset((frame.location.file, frame.location.line) for frame in diagnostic.frames))
        if places in self._places:
            return
        self._places[places] = key
        if self.strict and diagnostic.severity == "review":
            diagnostic = replace(diagnostic, severity="error")
        self.found[key] = Finding(diagnostic, kind or KINDS.get(diagnostic.code, "error"))

    def __contains__(self, key: Hashable) -> bool:
        return key in self.found

    def remove(self, key: Hashable) -> None:
        if self.found.pop(key, None) is not None:
            self._places = {places: other for places, other in self._places.items() if other != key}

    def frames_of(self, key: Hashable) -> tuple[Frame, ...]:
        found = self.found.get(key)
        return found.diagnostic.frames if found is not None else ()

    def extend(self, key: Hashable, frames: Sequence[Frame]) -> None:
        """Adds places to a finding that stands."""
        old = self.found[key]
        more = tuple(frame for frame in frames if all(frame.location != known.location for known in old.diagnostic.frames))
        self.found[key] = replace(old, diagnostic=replace(old.diagnostic, frames=old.diagnostic.frames + more))

    def listed(self) -> list[Finding]:
        """Errors first, each in the order found."""
        return sorted(self.found.values(), key=lambda finding: finding.diagnostic.severity != "error")
