"""Runs the checks on MLIR text."""

from __future__ import annotations

from functools import cache
from typing import Any

from fa4dsl.passes.checks import run_checks
from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.verify import verify
from fa4dsl.runtime.diagnostics import Diagnostic


@cache
def context() -> Any:
    """One context for all tests of a process: making one costs more than a check."""
    return new_context()


def reports(text: str) -> list[Diagnostic]:
    """Everything the checks say; the text must be valid IR."""
    module = parse(text, context(), "kernel.mlir")
    with context():
        verify(module)
        return run_checks(module)


def codes(text: str) -> list[str]:
    return [item.code for item in reports(text)]


def errors(text: str) -> list[str]:
    """The codes of errors and warnings, without the notes."""
    return [item.code for item in reports(text) if item.severity != "review"]
