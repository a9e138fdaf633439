"""Static checks over the fa4 dialect, before anything is lowered.

`run_checks` gives every finding; the passes `check-protocol`, `check-resources` and `check-tma` raise what is an error and warn
of the rest. Notes (severity "review") are neither: they say what only the run can decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.checks.protocol import check_protocol
from fa4dsl.runtime.diagnostics import Diagnostic

if TYPE_CHECKING:
    from mlir import ir


def run_checks(module: ir.Module) -> list[Diagnostic]:
    """All findings about a module of the fa4 dialect, errors first within each check. Raises nothing but C012 and C013 for malformed kernels."""
    return check_protocol(module)
