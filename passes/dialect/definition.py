"""The fa4 dialect as MLIR knows it: IRDL printed from the table, loaded into a context.

IRDL checks operand and result types and counts. It has no optional attributes, so attributes, legal values and ranges are
`build.py`'s (when an operation is made) and the pass `fa4-verify`'s (whatever made it).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.constraints import EXACT_TYPES, FLOATS, MIXED, Slot, signature
from fa4dsl.passes.dialect.table import OPERATIONS
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from mlir import ir

TYPES = ("shared", "mbarrier", "tensor_map")
"""The dialect's types: an array in shared memory, a group of mbarriers, a tensor map (a kernel parameter)."""


INTEGERS = ("i1", "i8", "i16", "i32", "i64")


def _constraint_lines(slot: Slot, name: str) -> list[str]:
    """IRDL that defines the constraint `name` of one operand or result.

    Each slot has a constraint of its own: IRDL takes two slots with one constraint for slots of equal type. IRDL 22.1 aborts
    on an `any_of` over classes of types (`irdl.base` by name), so "scalar" lists its types one by one, and "value" is anything
    to IRDL; `build.py` and `fa4-verify` hold it to scalars, vectors and pointers.
    """
    members = {"float": FLOATS, "scalar": INTEGERS + FLOATS}.get(slot.constraint)
    if members:
        parts = [f"%{name}_{member} = irdl.is {member}" for member in members]
        return [*parts, f"%{name} = irdl.any_of({', '.join(f'%{name}_{member}' for member in members)})"]
    if slot.constraint in ("any", "value", "values"):
        return [f"%{name} = irdl.any"]
    if slot.constraint in TYPES:
        return [f"%{name} = irdl.base @fa4::@{slot.constraint}"]
    if slot.constraint in EXACT_TYPES:
        return [f"%{name} = irdl.is {EXACT_TYPES[slot.constraint]}"]
    return [f'%{name} = irdl.base "{"!builtin.integer" if slot.constraint == "integer" else "!llvm.ptr"}"']


def _slots(kind: str, slots: tuple[Slot, ...]) -> list[str]:
    """The lines that declare the operands or results. A variadic slot of unlike types ("values") becomes `MIXED` optional ones."""
    lines, declared = [], []
    for slot in slots:
        mixed = slot.constraint == "values"
        for number in range(MIXED if mixed else 1):
            name = f"{slot.name}{number}" if mixed else slot.name
            lines += _constraint_lines(slot, f"{kind}_{name}")
            word = "optional " if mixed else "variadic " if slot.variadic else ""
            declared.append(f"{name}: {word}%{kind}_{name}")
    return [*lines, f"irdl.{kind}({', '.join(declared)})"] if declared else lines


@cache
def irdl_text() -> str:
    """The dialect as an IRDL module."""
    lines = ["irdl.dialect @fa4 {", *(f"  irdl.type @{name}" for name in TYPES)]
    for operation in OPERATIONS:
        shape = signature(operation.name)
        assert shape is not None
        lines.append(f"  irdl.operation @{operation.name} {{")
        lines += [f"    {line}" for line in _slots("operands", shape.operands) + _slots("results", shape.results)]
        lines.append("  }")
    lines.append("}")
    return "\n".join(lines)


def load(context: ir.Context) -> None:
    """Makes `context` know the fa4 dialect. Loading twice does no harm."""
    from mlir import ir
    from mlir._mlir_libs import _mlirDialectsIRDL as irdl
    from mlir._mlir_libs._mlir import globals as bindings

    # MLIR looks for a Python module of an operation's dialect whenever it wraps one: those of nvvm and llvm take longer to import than a
    # kernel to trace, and no pass uses their classes. Whoever imports mlir.dialects.x gets them all the same.
    bindings.dialect_search_modules = []
    with context, ir.Location.unknown():
        if _is_loaded(context):
            return
        irdl.load_dialects(ir.Module.parse(irdl_text()))


def _is_loaded(context: ir.Context) -> bool:
    from mlir import ir

    try:
        with context, context_errors_ignored(context):
            ir.Type.parse("!fa4.shared")
    except ir.MLIRError:
        return False
    return True


def context_errors_ignored(context: ir.Context) -> ir.DiagnosticHandler:
    """A handler that swallows MLIR's own messages while it is attached."""
    return context.attach_diagnostic_handler(lambda _: True)


def require_mlir() -> None:
    """Imports MLIR's bindings. Raises C002 where the wheels are missing or do not load: what imports them unasked comes after this."""
    try:
        from mlir import ir  # noqa: F401
    except ImportError as error:
        fail("C002", reason=str(error))


def new_context() -> ir.Context:
    """A context with the fa4 dialect and everything the pipeline uses.

    Raises C002 where the MLIR wheels are missing or do not load.
    """
    require_mlir()
    from mlir import ir

    context = ir.Context()
    # MLIR's Python interface collects errors for its exception, and aborts over one that it reports although the call succeeds, as the
    # parser does for an unfinished string. With this the errors go to the handler that `mlir_errors` attaches.
    context.emit_error_diagnostics = True
    load(context)
    return context
