"""Makes operations of the fa4 dialect, checked against the table as they are made.

    address = op("shared_address", [array, offset]).result
    op("mbarrier_wait", [barrier, index, parity], {"order": "acquire", "scope": "cta"})

Attributes are given as Python values (str, int, bool, an MLIR type or its text, a sequence of ints) or as MLIR attributes.
Results whose type the table fixes (i32, !llvm.ptr<3>, !fa4.shared, ...) need not be given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.constraints import EXACT_TYPES, MIXED, Signature, Slot, segment_sizes, signature, type_matches
from fa4dsl.passes.dialect.rules import value_problem
from fa4dsl.passes.dialect.table import BY_NAME
from fa4dsl.passes.locations import frames_of
from fa4dsl.runtime.diagnostics import Fa4dslError, diagnostic, fail

if TYPE_CHECKING:
    from mlir import ir


def op(
    name: str,
    operands: Sequence[Any] = (),
    attributes: Mapping[str, Any] | None = None,
    results: Sequence[Any] | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
    extra: Mapping[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """Creates `fa4.<name>` at the insertion point (the current one by default).

    `operands` are values or operations with one result; `results` types or their text, for slots whose type the table leaves
    open (then all of them). `extra` are discardable attributes that the table does not know. Raises C003 for an unknown
    operation, C004 for a missing or unknown attribute, C005 for one of the wrong kind, C006 for a wrong number of operands or
    results, C007 for a wrong type, C008 for an illegal value.
    """
    from mlir import ir

    shape = signature(name)
    where = loc or _current_location()
    if shape is None:
        fail("C003", *frames_of(where), operation=name, suggestion=suggestion(name))
    values = [value if isinstance(value, ir.Value) else value.result for value in operands]
    _check_types(shape, "operand", shape.operands, [str(value.type) for value in values], where)
    types = _result_types(shape, results, where)
    made = _attributes(shape, attributes or {}, where)
    if extra:
        made.update(extra)
    for slots, count, segments in ((shape.operands, len(values), "operand"), (shape.results, len(types), "result")):
        if slots and slots[0].constraint == "values":
            if count > MIXED:
                fail("C006", *frames_of(where), operation=name, what=f"{segments}s", expected=f"at most {MIXED}", given=count)
            made[f"{segments}SegmentSizes"] = ir.DenseI32ArrayAttr.get(segment_sizes(count))
    return ir.Operation.create(f"fa4.{name}", results=types, operands=values, attributes=made, loc=where, ip=ip)


def _current_location() -> ir.Location:
    from mlir import ir

    try:
        return ir.Location.current
    except ValueError:
        return ir.Location.unknown()


def _result_types(shape: Signature, results: Sequence[Any] | None, where: ir.Location) -> list[ir.Type]:
    from mlir import ir

    if results is None:
        texts = [EXACT_TYPES.get(slot.constraint) for slot in shape.results if not slot.variadic]
        if any(text is None for text in texts):
            fail("C006", *frames_of(where), operation=shape.name, what="result types", expected=len(shape.results), given=0)
        return [ir.Type.parse(text) for text in texts if text is not None]
    types = [item if isinstance(item, ir.Type) else ir.Type.parse(item) for item in results]
    _check_types(shape, "result", shape.results, [str(item) for item in types], where)
    return types


def _check_types(shape: Signature, what: str, slots: tuple[Slot, ...], types: list[str], where: ir.Location) -> None:
    wanted = wrong_count(slots, len(types))
    if wanted:
        fail("C006", *frames_of(where), operation=shape.name, what=f"{what}s", expected=wanted, given=len(types))
    for slot, text in zip(spread(slots, len(types)), types, strict=True):
        if not type_matches(text, slot.constraint):
            fail("C007", *frames_of(where), operation=shape.name, what=what, slot=slot.name, expected=describe(slot), given=text)


def suggestion(name: str) -> str:
    """The operation that a wrong name may have meant, for C003."""
    near = get_close_matches(name, BY_NAME, 1)
    return f"; did you mean fa4.{near[0]}?" if near else ""


def wrong_count(slots: tuple[Slot, ...], count: int) -> str:
    """How many operands or results the slots take, in words, where `count` is not so many; else ""."""
    variadic = any(slot.variadic for slot in slots)
    expected = len(slots) - variadic
    if count == expected or (variadic and count > expected):
        return ""
    return f"at least {expected}" if variadic else str(expected)


def spread(slots: tuple[Slot, ...], count: int) -> list[Slot]:
    """The slot of each of `count` operands or results; the variadic slot takes what the others leave."""
    extra = count - (len(slots) - 1)
    return [slot for item in slots for slot in ([item] * extra if item.variadic else [item])]


def describe(slot: Slot) -> str:
    """A constraint in words."""
    words = {
        "value": "a scalar, vector or pointer",
        "values": "a scalar, vector or pointer",
        "scalar": "an integer or float",
        "integer": "an integer",
        "float": "a float",
        "ptr": "a pointer (!llvm.ptr)",
        "any": "any type",
    }
    return words.get(slot.constraint) or EXACT_TYPES[slot.constraint]


def _attributes(shape: Signature, given: Mapping[str, Any], where: ir.Location) -> dict[str, ir.Attribute]:
    known = {slot.name: slot for slot in shape.attributes}
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            fail(
                "C004",
                *frames_of(where),
                operation=shape.name,
                problem=f"has no attribute {name!r}",
                mend=f"did you mean {near[0]!r}?" if near else f"its attributes are: {', '.join(known) or 'none'}",
            )
    made: dict[str, ir.Attribute] = {}
    for slot in shape.attributes:
        value = given.get(slot.name)
        if value is None:
            if slot.optional:
                continue
            fail(
                "C004",
                *frames_of(where),
                operation=shape.name,
                problem=f"lacks its attribute {slot.name!r}",
                mend=f"give {slot.name} ({slot.constraint})",
            )
        attribute = to_attribute(shape, slot, value, where)
        problem = value_problem(shape.name, slot.name, python_value(attribute))
        if problem:
            fail("C008", *frames_of(where), operation=shape.name, attribute=slot.name, value=python_value(attribute), legal=problem)
        made[slot.name] = attribute
    return made


def to_attribute(shape: Signature, slot: Slot, value: Any, where: ir.Location) -> ir.Attribute:
    """`value` as the attribute that the slot wants; C005 where it is none."""
    from mlir import ir

    if isinstance(value, ir.Attribute) and attribute_kind(value) == slot.constraint:
        return value
    if slot.constraint == "str" and isinstance(value, str):
        return ir.StringAttr.get(value)
    if slot.constraint == "bool" and isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if slot.constraint == "int" and isinstance(value, int) and not isinstance(value, bool):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if slot.constraint == "type" and isinstance(value, ir.Type):
        return ir.TypeAttr.get(value)
    if slot.constraint == "type" and isinstance(value, str):
        return ir.TypeAttr.get(ir.Type.parse(value))
    if slot.constraint == "ints" and isinstance(value, Sequence) and all(isinstance(item, int) for item in value):
        return ir.DenseI64ArrayAttr.get(list(value))
    wrong = diagnostic("C005", *frames_of(where), operation=shape.name, attribute=slot.name, expected=slot.constraint, given=str(value))
    raise Fa4dslError(wrong)


def attribute_kind(attribute: ir.Attribute) -> str:
    """The table's word for an attribute: str, int, bool, type, ints, or MLIR's own text for any other."""
    from mlir import ir

    if isinstance(attribute, ir.StringAttr):
        return "str"
    if isinstance(attribute, ir.BoolAttr):
        return "bool"
    if isinstance(attribute, ir.IntegerAttr):
        return "int" if str(attribute.type) in ("i64", "i32") else f"an integer of type {attribute.type}"
    if isinstance(attribute, ir.TypeAttr):
        return "type"
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return "ints"
    return str(attribute)


def python_value(attribute: ir.Attribute) -> Any:
    """An attribute of the dialect as str, int, bool, a type, or a list of ints."""
    from mlir import ir

    if isinstance(attribute, ir.StringAttr | ir.BoolAttr | ir.IntegerAttr | ir.TypeAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    return attribute
