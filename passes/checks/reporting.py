"""How findings are spoken: errors are raised together, warnings issued; notes are for those who ask `run_checks`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Fa4dslWarning


def report(found: list[Diagnostic]) -> None:
    """Raises the errors, all in one `Fa4dslError`; else issues the warnings."""
    errors = [item for item in found if item.severity == "error"]
    if errors:
        raise Fa4dslError(*errors)
    issue_warnings(found)


def issue_warnings(found: Iterable[Diagnostic], as_errors: bool = False) -> None:
    """Issues the warnings among diagnostics as `Fa4dslWarning`; with `as_errors`, or where Python's filters make them errors, raises them all as one `Fa4dslError`."""
    raised = []
    for item in found:
        if item.severity != "warning":
            continue
        if as_errors:
            raised.append(item)
            continue
        try:
            warnings.warn(Fa4dslWarning(item), stacklevel=3)
        except Fa4dslWarning as warning:
            raised.append(warning.diagnostic)
    if raised:
        raise Fa4dslError(*raised)
