"""The table's "name: constraint" notation, parsed once and kept.

Shared by the IRDL printer (`definition.py`), the builder (`build.py`) and the verifier (`verify.py`), so that the three
cannot disagree about what an operation takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fa4dsl.passes.dialect.table import BY_NAME, Operation

ATTRIBUTE_KINDS = ("str", "int", "bool", "type", "ints")
"""Attribute constraints: StringAttr, i64 IntegerAttr, BoolAttr, TypeAttr, DenseI64ArrayAttr."""

EXACT_TYPES: dict[str, str] = {
    "i1": "i1",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "ptr1": "!llvm.ptr<1>",
    "ptr3": "!llvm.ptr<3>",
    "ptr7": "!llvm.ptr<7>",
    "shared": "!fa4.shared",
    "mbarrier": "!fa4.mbarrier",
    "tensor_map": "!fa4.tensor_map",
}
"""Constraints that name exactly one type; results of these need not be given to the builder."""

FLOATS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "tf32")
"""Float types a value of the dialect may have."""

MIXED = 24
"""How many operands, and how many results, an operation with "values" may have. IRDL holds all members of a variadic slot to one
type; unlike ones need a slot each and MLIR's `operandSegmentSizes` (`resultSegmentSizes`), one 1 or 0 a slot."""


@dataclass(frozen=True)
class Slot:
    """One operand, result or attribute of an operation."""

    name: str
    constraint: str
    variadic: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Signature:
    """An operation's slots, parsed."""

    operation: Operation
    operands: tuple[Slot, ...]
    results: tuple[Slot, ...]
    attributes: tuple[Slot, ...]

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def variadic_operand(self) -> int | None:
        """Position of the variadic operand, or None."""
        return next((i for i, slot in enumerate(self.operands) if slot.variadic), None)


def _slot(text: str) -> Slot:
    name, _, constraint = (part.strip() for part in text.partition(":"))
    return Slot(name.rstrip("*?"), constraint, variadic=name.endswith("*"), optional=name.endswith("?"))


@cache
def signature(name: str) -> Signature | None:
    """The signature of `fa4.<name>`, or None where the dialect has no such operation."""
    operation = BY_NAME.get(name)
    if operation is None:
        return None
    return Signature(
        operation,
        tuple(map(_slot, operation.operands)),
        tuple(map(_slot, operation.results)),
        tuple(map(_slot, operation.attributes)),
    )


def type_matches(text: str, constraint: str) -> bool:
    """Whether a type, as MLIR prints it, satisfies a constraint of the table."""
    exact = EXACT_TYPES.get(constraint)
    if exact is not None:
        return text == exact
    if constraint == "any":
        return True
    is_integer = text[0] == "i" and text[1:].isdigit()
    is_float = text in FLOATS
    if constraint == "integer":
        return is_integer
    if constraint == "float":
        return is_float
    if constraint == "scalar":
        return is_integer or is_float
    is_pointer = text.startswith("!llvm.ptr")
    if constraint == "ptr":
        return is_pointer
    if constraint in ("value", "values"):
        return is_integer or is_float or is_pointer or text.startswith("vector<")
    raise ValueError(f"the dialect's table uses an unknown constraint {constraint!r}")


def segment_sizes(count: int) -> list[int]:
    """The segment sizes of `count` operands or results in a "values" slot."""
    return [1] * count + [0] * (MIXED - count)
