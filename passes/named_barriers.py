"""Names of the named barriers that a kernel uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import fa4_operations

if TYPE_CHECKING:
    from mlir import ir


def named_barriers(function: ir.Operation) -> dict[int, str]:
    """Names by id, of the barriers whose id is a constant; those without a name are called "barrier ID"."""
    found: dict[int, str] = {}
    for operation in fa4_operations(function, "named_barrier_sync", "named_barrier_arrive"):
        owner = operation.operands[0].owner
        if getattr(owner, "name", "") != "arith.constant":
            continue
        number = int(owner.attributes["value"].value)
        name = str(python_value(operation.attributes["name"])) if "name" in operation.attributes else ""
        if name or number not in found:
            found[number] = name or f"barrier {number}"
    return dict(sorted(found.items()))
