"""The fa4 dialect as MLIR knows it: IRDL printed from the table, loaded into a context.

IRDL checks operand and result types and counts. It has no optional attributes, so attributes, legal values and ranges are
`build.py`'s (when an operation is made) and the pass `fa4-verify`'s (whatever made it).
"""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.constraints import EXACT_TYPES, FLOATS, Slot, signature
from fa4dsl.passes.dialect.table import OPERATIONS
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from mlir import ir

TYPES = ("shared", "mbarrier", "tensor_map")
"""The dialect's types: an array in shared memory, a group of mbarriers, a tensor map (a kernel parameter)."""


INTEGERS = ("i1", "i8", "i16", "i32", "i64")


def _constraint_lines(names: set[str]) -> list[str]:
    """IRDL values named after the constraints that an operation uses.

    IRDL 22.1 aborts on an `any_of` over classes of types (`irdl.base` by name), so "scalar" lists its types one by one, and
    "value" is anything to IRDL; `build.py` and `fa4-verify` hold it to scalars, vectors and pointers.
    """
    lines = []
    if "integer" in names:
        lines.append('%integer = irdl.base "!builtin.integer"')
    if "ptr" in names:
        lines.append('%ptr = irdl.base "!llvm.ptr"')
    for name, members in (("float", FLOATS), ("scalar", INTEGERS + FLOATS)):
        if name in names:
            lines += [f"%{name}_{member} = irdl.is {member}" for member in members]
            lines.append(f"%{name} = irdl.any_of({', '.join(f'%{name}_{member}' for member in members)})")
    lines += [f"%{name} = irdl.any" for name in sorted(names & {"any", "value"})]
    for name in sorted(names & EXACT_TYPES.keys()):
        lines.append(f"%{name} = irdl.base @fa4::@{name}" if name in TYPES else f"%{name} = irdl.is {EXACT_TYPES[name]}")
    return lines


def _slots(slots: tuple[Slot, ...]) -> str:
    return ", ".join(f"{slot.name}: {'variadic ' if slot.variadic else ''}%{slot.constraint}" for slot in slots)


@cache
def irdl_text() -> str:
    """The dialect as an IRDL module."""
    lines = ["irdl.dialect @fa4 {", *(f"  irdl.type @{name}" for name in TYPES)]
    for operation in OPERATIONS:
        shape = signature(operation.name)
        assert shape is not None
        lines.append(f"  irdl.operation @{operation.name} {{")
        lines += [f"    {line}" for line in _constraint_lines({slot.constraint for slot in shape.operands + shape.results})]
        if shape.operands:
            lines.append(f"    irdl.operands({_slots(shape.operands)})")
        if shape.results:
            lines.append(f"    irdl.results({_slots(shape.results)})")
        lines.append("  }")
    lines.append("}")
    return "\n".join(lines)


def load(context: ir.Context) -> None:
    """Makes `context` know the fa4 dialect. Loading twice does no harm."""
    from mlir import ir
    from mlir.dialects import irdl

    # MLIR looks for a Python module of an operation's dialect whenever it wraps one, and does not remember that there is none.
    sys.modules.setdefault("mlir.dialects.fa4", ModuleType("mlir.dialects.fa4", "The fa4 dialect, defined by IRDL."))
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


def new_context() -> ir.Context:
    """A context with the fa4 dialect and everything the pipeline uses.

    Raises C002 where the MLIR wheels are missing or do not load.
    """
    try:
        from mlir import ir
    except ImportError as error:
        fail("C002", reason=str(error))
    context = ir.Context()
    load(context)
    return context
