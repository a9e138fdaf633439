"""Static checks over the fa4 dialect, before anything is lowered.

`run_checks` gives every finding; the passes `check-protocol`, `check-resources` and `check-tma` raise what is an error and warn
of the rest. Notes (severity "review") are neither: they say what only the run can decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Diagnostic

if TYPE_CHECKING:
    from mlir import ir


UNFOLLOWABLE = ("C022", "C030", "C031", "C140", "C141")
"""Faults of the launch shape or of the roles' warps: who executes what is then not known, and the protocol is not followed."""


def run_checks(module: ir.Module) -> list[Diagnostic]:
    """All findings about a module of the fa4 dialect: errors, warnings and notes, resources first.

    Raises nothing but C012 and C013, for kernels whose attributes cannot be read.
    """
    from fa4dsl.passes.checks.inventory import Inventory, kernel_functions
    from fa4dsl.passes.checks.protocol import follow
    from fa4dsl.passes.checks.resources import check_resources
    from fa4dsl.passes.checks.tma import check_tma
    from fa4dsl.passes.insert_proxy_fences import missing_proxy_fences
    from fa4dsl.passes.kernel import symbol_name

    known = {symbol_name(function): Inventory(function) for function in kernel_functions(module)}
    found = check_resources(module, known)
    if any(item.code in UNFOLLOWABLE for item in found):
        return found
    protocol, events = follow(module)
    return [*found, *check_tma(module, events, known), *protocol, *missing_proxy_fences(module)]
