"""How a check speaks as a pass: errors are raised together, warnings issued; notes are for those who ask `run_checks`."""

from __future__ import annotations

import warnings

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Fa4dslWarning


def report(found: list[Diagnostic]) -> None:
    """Raises the errors, all in one `Fa4dslError`; else issues the warnings."""
    errors = [item for item in found if item.severity == "error"]
    if errors:
        raise Fa4dslError(*errors)
    for item in found:
        if item.severity == "warning":
            try:
                warnings.warn(Fa4dslWarning(item), stacklevel=3)
            except Fa4dslWarning as warning:  # warnings are errors: passes raise errors only
                raise Fa4dslError(warning.diagnostic) from None
