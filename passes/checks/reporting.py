"""How findings are spoken: errors are raised together, warnings issued; notes are for those who ask `run_checks`."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, issue_warnings


def report(found: list[Diagnostic]) -> None:
    """Raises the errors, all in one `Fa4dslError`; else issues the warnings."""
    errors = [item for item in found if item.severity == "error"]
    if errors:
        raise Fa4dslError(*errors)
    issue_warnings(found)
