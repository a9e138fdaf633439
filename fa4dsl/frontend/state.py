"""What control flow must carry: the names of the function being traced, and the objects that hold run-time values.

Before a block the state is taken down, after it compared; what differs is carried by the structured control flow around it. Names may hold
tuples, lists and vectors: they are carried leaf by leaf. Anything else that a block rebinds under a run-time condition is L030.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fa4dsl.frontend.trace import Trace
from fa4dsl.frontend.values import Value, Vector, constant, default_type, describe, is_number
from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.types import DType, PointerType

ABSENT = object()
"""Stands for a name that has no value on one side."""

RETURN = "<return>"
"""The name under which a function's return value lives while control flow is traced."""

Slot = tuple[str, Any]
"""("name", variable) or ("object", position in `Trace.stateful`)."""


@dataclass
class Snapshot:
    """The state at one point."""

    names: dict[str, Any]
    objects: list[list[Any]]

    def get(self, slot: Slot) -> Any:
        kind, key = slot
        if kind == "name":
            return self.names.get(key, ABSENT)
        return self.objects[key]


def take(trace: Trace) -> Snapshot:
    """The state now."""
    return Snapshot(dict(trace.frame.names), [item.state() for item in trace.stateful])


def restore(trace: Trace, snapshot: Snapshot) -> None:
    """Back to `snapshot`; objects made since are forgotten."""
    trace.frame.names.clear()
    trace.frame.names.update(snapshot.names)
    del trace.stateful[len(snapshot.objects) :]
    for item, values in zip(trace.stateful, snapshot.objects, strict=True):
        item.set_state(values)


def put(trace: Trace, slot: Slot, value: Any) -> None:
    """Sets one slot."""
    kind, key = slot
    if kind == "name":
        trace.frame.names[key] = value
    else:
        trace.stateful[key].set_state(list(value))


def slots(before: Snapshot, *others: Snapshot) -> list[Slot]:
    """All slots of some snapshots: names in order of appearance, then the objects that were there before."""
    names = list(before.names)
    for other in others:
        names.extend(name for name in other.names if name not in names)
    return [("name", name) for name in names] + [("object", position) for position in range(len(before.objects))]


def same(left: Any, right: Any) -> bool:
    """Whether nothing has to be carried: the same object, or equal numbers, or containers of such."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Value):
        return bool(left.ir == right.ir)
    if isinstance(left, Vector):
        return left.width == right.width and all(map(same, left.elements, right.elements))
    if is_number(left) or isinstance(left, str):
        return bool(left == right or (left != left and right != right))
    try:
        return (left == right) is True
    except Exception:  # a user's __eq__ may do anything
        return False


def leaves(value: Any) -> list[Any] | None:
    """The run-time values and numbers in `value`, or None where it holds something that cannot be carried."""
    if isinstance(value, Value) or is_number(value):
        return [value]
    if isinstance(value, Vector):
        return list(value.elements)
    if isinstance(value, tuple | list):
        found: list[Any] = []
        for item in value:
            inner = leaves(item)
            if inner is None:
                return None
            found.extend(inner)
        return found
    return None


def rebuild(pattern: Any, values: list[Any]) -> Any:
    """`pattern` with its leaves replaced, in order; takes them off the front of `values`."""
    if isinstance(pattern, Vector):
        taken = [values.pop(0) for _ in range(pattern.width)]
        return Vector(pattern.dtype, pattern.width, elements=taken)
    if isinstance(pattern, tuple) and hasattr(pattern, "_fields"):
        return type(pattern)(*(rebuild(item, values) for item in pattern))
    if isinstance(pattern, tuple | list):
        return type(pattern)(rebuild(item, values) for item in pattern)
    return values.pop(0)


def meeting_type(left: Any, right: Any) -> DType | PointerType | None:
    """The type of a leaf that is `left` on one way and `right` on another, or None where they do not meet."""
    if isinstance(left, Value) and isinstance(right, Value):
        return left.type if left.type == right.type else None
    if isinstance(left, Value) or isinstance(right, Value):
        value, number = (left, right) if isinstance(left, Value) else (right, left)
        if isinstance(value.type, PointerType):
            return None
        if isinstance(number, bool) != (value.type.kind == "bool") or (isinstance(number, float) and value.type.is_integer):
            return None
        return value.type
    left_type, right_type = default_type(left), default_type(right)
    if left_type == right_type:
        return left_type
    pair = {left_type.name, right_type.name}
    return default_type(0.0) if pair == {"i32", "f32"} else None


def leaf_types(trace: Trace, slot: Slot, left: Any, right: Any, where: Location, what: str) -> list[DType | PointerType]:
    """The types that carry a slot which is `left` on one way and `right` on the other; L030 or L031 where it cannot be carried."""
    left_leaves, right_leaves = leaves(left), leaves(right)
    if left_leaves is None or right_leaves is None or _shape(left) != _shape(right):
        _cannot_carry(trace, slot, left, right, where, what)
    assert left_leaves is not None and right_leaves is not None
    types: list[DType | PointerType] = []
    for a, b in zip(left_leaves, right_leaves, strict=True):
        met = meeting_type(a, b)
        if met is None:
            frames = [Frame(where)]
            for leaf in (a, b):
                if isinstance(leaf, Value):
                    frames.append(Frame(leaf.origin, f"{leaf.type} comes from here"))
            trace.fail("L031", *frames, name=slot_words(trace, slot), left=describe(a), right=describe(b), what=what)
        types.append(met)
    return types


def _shape(value: Any) -> Any:
    if isinstance(value, Vector):
        return ("vector", value.width, value.dtype)
    if isinstance(value, tuple | list):
        return (type(value), *map(_shape, value))
    return None


def _cannot_carry(trace: Trace, slot: Slot, left: Any, right: Any, where: Location, what: str) -> None:
    trace.fail("L030", where, name=slot_words(trace, slot), left=describe(left), right=describe(right), what=what)


def slot_words(trace: Trace, slot: Slot) -> str:
    """A slot's name for messages."""
    kind, key = slot
    if kind == "name":
        return "the return value" if key == RETURN else repr(key)
    return str(trace.stateful[key].state_name)


def as_leaf(value: Any, dtype: DType | PointerType) -> Value:
    """A leaf as a value of the type chosen for it (numbers become constants at the insertion point)."""
    if isinstance(value, Value):
        return value
    assert isinstance(dtype, DType)
    return constant(value, dtype)


def new_leaf(pattern: Any, result: Any, dtype: DType | PointerType, where: Location) -> Value:
    """A carried leaf: block argument or result `result`, of the class of the value it replaces."""
    nonnegative = False
    if isinstance(dtype, PointerType):
        from fa4dsl.language.memory import PointerValue

        return PointerValue(result, dtype, where)
    return Value(result, dtype, where, nonnegative)


__all__ = [
    "ABSENT",
    "RETURN",
    "Slot",
    "Snapshot",
    "as_leaf",
    "leaf_types",
    "leaves",
    "new_leaf",
    "put",
    "rebuild",
    "restore",
    "same",
    "slot_words",
    "slots",
    "take",
]
