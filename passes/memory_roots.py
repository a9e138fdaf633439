"""Which memory an address or a matrix descriptor stands for: a shared array by name, a kernel argument, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import fa4_operations

if TYPE_CHECKING:
    from mlir import ir

UNKNOWN = "?"
"""The name of memory that could not be traced: any object of its space."""


@dataclass(frozen=True)
class Root:
    """`space` shared or global; `name` an array's (of its overlay group), "argument N", or `UNKNOWN`; `remote` through a peer's address."""

    space: str
    name: str
    remote: bool = False

    def meets(self, other: Root) -> bool:
        """Whether both may be one object."""
        return self.space == other.space and (self.name == other.name or UNKNOWN in (self.name, other.name))


class Tracer:
    """Follows values to their memory within one kernel."""

    def __init__(self, function: ir.Operation) -> None:
        self._group: dict[str, str] = {}
        for item in fa4_operations(function, "shared_alloc"):
            name = python_value(item.attributes["name"])
            under = python_value(item.attributes["overlay"]) if "overlay" in item.attributes else name
            self._group[name] = self._group.get(under, under)

    def array(self, value: ir.Value) -> Root:
        """The array that a !fa4.shared value is."""
        owner: Any = value.owner
        if getattr(owner, "name", "") == "fa4.shared_alloc":
            name = python_value(owner.attributes["name"])
            return Root("shared", self._group.get(name, name))
        return Root("shared", UNKNOWN)

    def pointer(self, value: ir.Value) -> set[Root]:
        """What a pointer may point into."""
        found: set[Root] = set()
        self._pointer(value, False, found, set())
        return found

    def descriptor(self, value: ir.Value) -> set[Root]:
        """The arrays that a wgmma descriptor may describe."""
        found: set[Root] = set()
        if not self._descriptor(value, found, set()):
            found.add(Root("shared", UNKNOWN))
        return found

    def _pointer(self, value: ir.Value, remote: bool, found: set[Root], seen: set[Any]) -> None:
        if value in seen:
            return
        seen.add(value)
        owner: Any = value.owner
        name = getattr(owner, "name", None)
        if not isinstance(name, str):
            self._argument(value, remote, found, seen)
        elif name == "fa4.shared_address":
            root = self.array(owner.operands[0])
            found.add(Root("shared", root.name, remote))
        elif name == "fa4.peer_address":
            self._pointer(owner.operands[0], True, found, seen)
        elif name in ("llvm.getelementptr", "llvm.addrspacecast", "llvm.bitcast"):
            self._pointer(owner.operands[0], remote, found, seen)
        elif name in ("arith.select", "llvm.select"):
            self._pointer(owner.operands[1], remote, found, seen)
            self._pointer(owner.operands[2], remote, found, seen)
        elif name in ("scf.for", "scf.if", "scf.while"):
            self._carried(owner, value, lambda inner: self._pointer(inner, remote, found, seen))
        elif name == "fa4.mbarrier_address":
            found.add(Root("shared", f"mbarrier {python_value(owner.operands[0].owner.attributes['name'])}", remote))
        else:
            found.add(_unknown(value, remote))

    def _argument(self, value: ir.Value, remote: bool, found: set[Root], seen: set[Any]) -> None:
        """A block argument: the function's own, or one that a loop carries."""
        block: Any = value.owner
        parent = block.owner.operation
        if parent.name in ("func.func", "llvm.func"):
            number = value.arg_number if hasattr(value, "arg_number") else _position(block, value)
            found.add(Root("global", f"argument {number}") if str(value.type) == "!llvm.ptr<1>" else _unknown(value, remote))
        elif parent.name == "scf.for":
            number = _position(block, value)
            self._pointer(parent.operands[2 + number], remote, found, seen)
        else:
            found.add(_unknown(value, remote))

    def _carried(self, owner: Any, value: ir.Value, visit: Any) -> None:
        """The values that a structured operation's result may be: what its regions yield, and a loop's initial value."""
        number = next(i for i, result in enumerate(owner.results) if result == value)
        if owner.name == "scf.for":
            visit(owner.operands[3 + number])
        for region in owner.regions:
            for block in region:
                last = list(block)[-1].operation
                if last.name == "scf.yield" and number < len(last.operands):
                    visit(last.operands[number])

    def _descriptor(self, value: ir.Value, found: set[Root], seen: set[Any]) -> bool:
        """Adds the arrays of `value`; False where an origin was not understood."""
        if value in seen:
            return True
        seen.add(value)
        owner: Any = value.owner
        name = getattr(owner, "name", None)
        if not isinstance(name, str):
            parent = owner.owner.operation
            if parent.name == "scf.for":
                number = _position(owner, value)
                return number == 0 or self._descriptor(parent.operands[2 + number], found, seen)
            return False
        if name == "fa4.wgmma_descriptor":
            found.add(self.array(owner.operands[0]))
            return True
        if name == "arith.constant":
            return True
        if name.startswith("arith."):
            before = len(found)
            for operand in owner.operands:
                self._descriptor(operand, found, seen)
            return len(found) > before
        return False


def _position(block: Any, value: ir.Value) -> int:
    return next(i for i, argument in enumerate(block.arguments) if argument == value)


def _unknown(value: ir.Value, remote: bool) -> Root:
    text = str(value.type)
    if text == "!llvm.ptr<7>":
        return Root("shared", UNKNOWN, True)
    if text == "!llvm.ptr<3>":
        return Root("shared", UNKNOWN, remote)
    return Root("global", UNKNOWN)
