"""fa4-verify: every fa4 operation against the table and the rules, whoever wrote it.

IRDL has checked operand and result types when this runs; here come attributes (presence, kind, legal value), what attributes
and types must agree on, names that must be unique, and the kernel's own attributes. All findings are reported together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.build import attribute_kind, describe, python_value, spread, suggestion, wrong_count
from fa4dsl.passes.dialect.constraints import signature, type_matches
from fa4dsl.passes.dialect.rules import operation_problem, value_problem
from fa4dsl.passes.kernel import KernelInfo, fa4_operations, kernels
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.target import Target, lacking, target_of
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, diagnostic

if TYPE_CHECKING:
    from mlir import ir


def verify_operations(module: ir.Module) -> None:
    """Raises Fa4dslError with one diagnostic (C003 to C009, C035) for each broken operation: what every pass takes for granted."""
    found = _broken(module)
    if found:
        raise Fa4dslError(*found)


def _broken(module: ir.Module) -> list[Diagnostic]:
    target = target_of(module)
    problems = [_operation(operation) or _feature(operation, target) for operation in fa4_operations(module.operation)]
    return [problem for problem in problems if problem is not None]


def broken_operations(module: ir.Module) -> list[Diagnostic]:
    """C003 to C009 for each operation that the table or the rules do not allow. The module's context need not know the dialect."""
    found = [_operation(operation) for operation in fa4_operations(module.operation)]
    return [problem for problem in found if problem is not None]


def verify(module: ir.Module) -> None:
    """Raises Fa4dslError with one diagnostic (C003 to C012, C035) for each broken operation or kernel attribute."""
    found = _broken(module)
    if not found:
        for function in kernels(module):
            found += _names(function)
            try:
                KernelInfo.of(function)
            except Fa4dslError as error:
                found += error.diagnostics
    if found:
        raise Fa4dslError(*found)


def _operation(operation: ir.Operation) -> Diagnostic | None:
    name = operation.name.removeprefix("fa4.")
    frames = operation_frames(operation)
    shape = signature(name)
    if shape is None:
        return diagnostic("C003", *frames, operation=name, suggestion=suggestion(name))
    values = {}
    for slot in shape.attributes:
        if slot.name not in operation.attributes:
            if slot.optional:
                continue
            problem = f"lacks its attribute {slot.name!r}"
            return diagnostic("C004", *frames, operation=name, problem=problem, mend=f"give {slot.name} ({slot.constraint})")
        attribute = operation.attributes[slot.name]
        if attribute_kind(attribute) != slot.constraint:
            return diagnostic("C005", *frames, operation=name, attribute=slot.name, expected=slot.constraint, given=str(attribute))
        value = values[slot.name] = python_value(attribute)
        legal = value_problem(name, slot.name, value)
        if legal:
            return diagnostic("C008", *frames, operation=name, attribute=slot.name, value=value, legal=legal)
    operands = [str(value.type) for value in operation.operands]
    results = [str(value.type) for value in operation.results]
    for what, slots, types in (("operand", shape.operands, operands), ("result", shape.results, results)):
        expected = wrong_count(slots, len(types))
        if expected:
            return diagnostic("C006", *frames, operation=name, what=f"{what}s", expected=expected, given=len(types))
        for slot, text in zip(spread(slots, len(types)), types, strict=True):
            if not type_matches(text, slot.constraint):
                return diagnostic("C007", *frames, operation=name, what=what, slot=slot.name, expected=describe(slot), given=text)
    problem = operation_problem(name, values, operands, results)
    return diagnostic("C009", *frames, operation=name, problem=problem) if problem else None


def _feature(operation: ir.Operation, target: Target) -> Diagnostic | None:
    """What the operation needs of the target."""
    name = operation.name.removeprefix("fa4.")
    feature = lacking(name, target)
    if not feature:
        return None
    return diagnostic("C035", *operation_frames(operation), operation=f"fa4.{name}", feature=feature, target=target.name)


def _names(function: ir.Operation) -> list[Diagnostic]:
    """Two objects of one name, and overlays of nothing."""
    found: list[Diagnostic] = []
    first: dict[str, ir.Operation] = {}
    for operation in fa4_operations(function):
        if operation.name not in ("fa4.shared_alloc", "fa4.mbarrier_alloc"):
            continue
        name = str(python_value(operation.attributes["name"]))
        if name in first:
            found.append(diagnostic("C010", *operation_frames(operation), *operation_frames(first[name], "the first one"), name=name))
        if "overlay" in operation.attributes:
            under = str(python_value(operation.attributes["overlay"]))
            if under not in first or first[under].name != "fa4.shared_alloc":
                known = ", ".join(key for key, value in first.items() if value.name == "fa4.shared_alloc") or "none"
                found.append(diagnostic("C011", *operation_frames(operation), name=name, overlay=under, known=known))
        first.setdefault(name, operation)
    return found
