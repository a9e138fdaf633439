"""``with recording() as reports:`` traces every simulated run inside, whoever starts it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fa4dsl.runtime.simulator.check.report import Report

_reports: ContextVar[list[Report] | None] = ContextVar("fa4dsl_recorded_reports", default=None)


@contextmanager
def recording() -> Iterator[list[Report]]:
    """Runs of this thread are traced while the block lasts; the list holds their reports, with `measures` and `timeline`, in order."""
    found: list[Report] = []
    token = _reports.set(found)
    try:
        yield found
    finally:
        _reports.reset(token)


def recorded() -> list[Report] | None:
    """The list of the innermost `recording`, None outside."""
    return _reports.get()
