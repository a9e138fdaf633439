"""MLIR's own errors as catalogue errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.kernel import walk
from fa4dsl.passes.locations import frames_of
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, diagnostic

if TYPE_CHECKING:
    from mlir import ir


@contextmanager
def mlir_errors(context: ir.Context, stage: str, raised: list[Fa4dslError] | None = None, strict: bool = False) -> Iterator[None]:
    """Turns an MLIRError inside the block into C001 with MLIR's words and the frames of its locations.

    `raised` holds errors that passes of ours met inside MLIR; the first is raised in MLIR's place. `strict`: an error that MLIR reports
    counts even where it goes on.
    """
    from mlir import ir

    notes: list[tuple[str, Any]] = []
    failed: list[bool] = []

    def keep(message: Any) -> bool:
        notes.append((str(message.message), message.location))
        failed.append(message.severity == ir.DiagnosticSeverity.ERROR)
        return True

    handler = context.attach_diagnostic_handler(keep)
    try:
        yield
        if strict and any(failed):
            raise _refused(stage, notes)
    except ir.MLIRError as error:
        if raised:
            raise raised[0] from None
        messages = [(item.message, item.location) for item in error.error_diagnostics]
        raise _refused(stage, messages or notes or [(str(error), None)]) from None
    finally:
        handler.detach()


def _refused(stage: str, messages: list[tuple[str, Any]]) -> Fa4dslError:
    frames = [frame for _, location in messages if location is not None for frame in frames_of(location)]
    return Fa4dslError(diagnostic("C001", *tuple(dict.fromkeys(frames))[:3], stage=stage, problem=messages[0][0]))


def parse(text: str, context: ir.Context, name: str = "-") -> ir.Module:
    """Parses a module. C003 to C009 for each operation of this dialect that the dialect does not allow, C001 for what else is not valid.

    MLIR calls text without a file "-"; such locations are made to point into `name`.
    """
    from mlir import ir

    with context:
        try:
            with mlir_errors(context, f"when it is read from {name}", strict=True):
                module = ir.Module.parse(text)
        except Fa4dslError as error:
            found = _in_the_dialects_words(text) or error.diagnostics
            raise Fa4dslError(*(_renamed(item, name) for item in found)) from None
        if name != "-":
            for operation in (module.operation, *walk(module.operation)):
                location = operation.location
                if location.is_a_file() and location.filename == "-":
                    operation.location = ir.Location.file(name, location.start_line, location.start_col)
    return module


def _in_the_dialects_words(text: str) -> list[Diagnostic]:
    """What is wrong with operations of the fa4 dialect in a text that MLIR refuses. MLIR's own words ("expected 'i32' but got 'i64'") name neither the
    operation nor the operand; so the text is read once more where the dialect is not known, and its operations are compared with the table."""
    from mlir import ir

    from fa4dsl.passes.verify import broken_operations

    context = ir.Context()
    context.allow_unregistered_dialects = True
    handler = context.attach_diagnostic_handler(lambda _: True)
    try:
        with context:
            return broken_operations(ir.Module.parse(text))
    except ir.MLIRError:
        return []
    finally:
        handler.detach()


def _renamed(item: Diagnostic, name: str) -> Diagnostic:
    frames = tuple(
        replace(frame, location=replace(frame.location, file=name)) if frame.location.file == "-" else frame for frame in item.frames
    )
    return replace(item, frames=frames)
