"""Errors as part of the product: a stable code, the user's own lines with a caret, and the mend."""

from fa4dsl.runtime.diagnostics.catalogue import CATALOGUE
from fa4dsl.runtime.diagnostics.diagnostic import (
    Diagnostic,
    Fa4dslError,
    Fa4dslWarning,
    Frame,
    Location,
    diagnostic,
    fail,
    issue_warnings,
    warn,
)
from fa4dsl.runtime.diagnostics.entry import Entry, Severity
from fa4dsl.runtime.diagnostics.render import render

__all__ = [
    "CATALOGUE",
    "Diagnostic",
    "Entry",
    "Fa4dslError",
    "Fa4dslWarning",
    "Frame",
    "Location",
    "Severity",
    "diagnostic",
    "fail",
    "issue_warnings",
    "render",
    "warn",
]
