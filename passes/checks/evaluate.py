"""Values of the operations that decide who executes what: integer arithmetic, indices, addresses, descriptors."""

from __future__ import annotations

from typing import Any

import numpy

from fa4dsl.passes.checks.lanes import Launch, Mask
from fa4dsl.passes.checks.program import Node, Program
from fa4dsl.passes.checks.values import (
    UNKNOWN,
    Address,
    Atoms,
    Descriptor,
    Object,
    Sum,
    Test,
    add,
    arithmetic,
    comparison,
    divide,
    is_number,
    key_of,
    scale,
    simplify,
    uniform,
    varies,
)
from fa4dsl.passes.checks.worlds import World

_PASSED_THROUGH = ("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "arith.index_castui", "llvm.addrspacecast")
_FRESH = (
    "fa4.clock",
    "fa4.atomic",
    "fa4.compare_and_swap",
    "llvm.atomicrmw",
    "llvm.cmpxchg",
    "fa4.inline_ptx",
    "llvm.inline_asm",
    "func.call",
)


class Evaluator:
    """Evaluates one operation at a time."""

    def __init__(self, program: Program, launch: Launch, world: World) -> None:
        self.program = program
        self.launch = launch
        self.world = world
        self.atoms = Atoms()

    def value(self, node: Node, operands: list[Any], mask: Mask) -> Any:
        """The first result of `node`."""
        name = node.name
        if name.startswith("arith."):
            return self._arith(node, operands)
        if name.startswith("fa4."):
            made = self._fa4(node, operands, mask)
            if made is not None:
                return made
        if name in _PASSED_THROUGH:
            return operands[0]
        if name in _FRESH:
            return self.atoms.fresh(True)
        if name in ("llvm.load", "fa4.load"):
            return self._load(operands[0])
        if name == "llvm.getelementptr":
            return self._element(node, operands)
        attributes = node.operation.attributes
        return self._named(name + "".join(f" {key}={attributes[key]}" for key in attributes), operands)

    def _named(self, name: str, operands: list[Any]) -> Any:
        """The unknown result of a pure operation: the same for the same operands."""
        return self.atoms.named((name, *map(key_of, operands)), any(map(varies, operands)))

    def _arith(self, node: Node, operands: list[Any]) -> Any:
        name = node.name
        if name == "arith.constant":
            value = node.attribute("value")
            if isinstance(value, bool | int):
                return int(value) & 1 if isinstance(value, bool) else int(value)
            return self._named(name + str(value), [])
        if name in _PASSED_THROUGH:
            return operands[0]
        values = [self.world.resolve(operand) for operand in operands]
        if name == "arith.cmpi":
            return self._compare(node, *values)
        if name == "arith.select":
            return self._select(node, *values)
        if len(values) == 2:
            return self._binary(name.removeprefix("arith."), values[0], values[1], node)
        return self._named(name, values)

    def _compare(self, node: Node, left: Any, right: Any) -> Any:
        sign = comparison(int(node.attribute("predicate")))
        if not all(isinstance(value, int | numpy.ndarray | Sum) for value in (left, right)):
            return self._named("compare" + sign, [left, right])
        difference = add(left, right, -1)
        decided = self.world.decide(sign, difference, node)
        if decided is not None:
            return simplify(decided)
        return self.atoms.named(("compare", sign, key_of(difference)), True)

    def _select(self, node: Node, condition: Any, yes: Any, no: Any) -> Any:
        if isinstance(condition, Sum):
            decided = self.world.decide("!=", condition, node)
            condition = condition if decided is None else decided
        whole = uniform(condition) if is_number(condition) else None
        if whole is not None:
            return yes if whole else no
        if isinstance(condition, numpy.ndarray) and is_number(yes) and is_number(no):
            return simplify(numpy.where(condition != 0, yes, no))
        if key_of(yes) == key_of(no):
            return yes
        return self._named("select", [condition, yes, no])

    def _binary(self, name: str, left: Any, right: Any, node: Node) -> Any:
        bits = 1 if name in ("xori", "andi", "ori", "addi") and node.result_type() == "i1" else 64
        if isinstance(left, Test) and name == "xori" and right == 1:
            return Test(left.node, left.barrier, left.index, left.parity, not left.negated)
        if isinstance(left, Descriptor) and name == "addi":
            return Descriptor(left.array, add(left.offset, scale(right, 16)) if self._linear(left.offset, right) else UNKNOWN, left.node)
        if name in ("addi", "subi") and bits > 1 and self._linear(left, right):
            return add(left, right, 1 if name == "addi" else -1)
        if is_number(left) and is_number(right):
            made = arithmetic(name, left, right, bits)
            return self._named(name, [left, right]) if made is None else simplify(made)
        if isinstance(left, int) and name == "muli":
            left, right = right, left
        if isinstance(left, Sum) and isinstance(right, int):
            if name == "muli":
                return scale(left, right)
            if name == "shli" and 0 <= right < 32:
                return scale(left, 1 << right)
            parts = self._parts(name, left, right)
            if parts is not None:
                return parts
        return self._named(name, [left, right])

    @staticmethod
    def _linear(*values: Any) -> bool:
        return all(isinstance(value, int | numpy.ndarray | Sum) for value in values)

    @staticmethod
    def _parts(name: str, left: Sum, right: int) -> Any:
        if name in ("shrui", "shrsi") and 0 <= right < 32:
            name, right = "divui", 1 << right
        if name == "andi" and right > 0 and right & (right + 1) == 0:
            name, right = "remui", right + 1
        if name in ("divui", "divsi", "floordivsi", "remui", "remsi"):
            both = divide(left, right)
            if both is not None:
                return both["rem" in name]
        return None

    def quotient(self, distance: Sum, step: Sum) -> Any:
        """The unknown number of steps in a distance."""
        return self._named("steps", [distance, step])

    def _fa4(self, node: Node, operands: list[Any], mask: Mask) -> Any:
        name = node.name
        if name in ("fa4.shared_alloc", "fa4.mbarrier_alloc"):
            return Object(str(node.attribute("name")))
        if name == "fa4.index":
            return self._index(str(node.attribute("what")))
        if name == "fa4.elect":
            return self.launch.first_of_warp(mask).astype(numpy.int64)
        if name == "fa4.shared_address":
            return Address(operands[0].name, operands[1]) if isinstance(operands[0], Object) else UNKNOWN
        if name == "fa4.peer_address":
            base = operands[0]
            return Address(base.array, base.offset, operands[1]) if isinstance(base, Address) else Address("", UNKNOWN, operands[1])
        if name == "fa4.wgmma_descriptor":
            return Descriptor(operands[0].name, operands[1], node) if isinstance(operands[0], Object) else UNKNOWN
        if name == "fa4.mbarrier_test":
            barrier = operands[0].name if isinstance(operands[0], Object) else None
            return Test(node, barrier, operands[1], operands[2])
        if name == "fa4.shuffle":
            return self._shuffle(node, operands)
        if name in ("fa4.vote", "fa4.warp_reduce", "fa4.match"):
            return self.atoms.fresh(True)
        return None

    def _index(self, what: str) -> Any:
        known = self.launch.index(what)
        if known is not None:
            return known
        name, _, axis = what.partition(".")
        if name == "block":
            cluster_id = self.atoms.named(("index", f"cluster_id.{axis}"), False)
            inside = self.launch.index(f"cluster_block.{axis}")
            return add(scale(cluster_id, self.launch.cluster["xyz".index(axis)]), inside)
        return self.atoms.named(("index", what), False)

    def _shuffle(self, node: Node, operands: list[Any]) -> Any:
        value, lane = (self.world.resolve(operand) for operand in operands)
        if not varies(value):
            return value
        if isinstance(value, numpy.ndarray) and isinstance(lane, int) and node.attribute("mode") == "idx" and 0 <= lane < 32:
            source = numpy.arange(self.launch.lanes) - self.launch.thread % 32 + lane
            return simplify(value[source.clip(0, self.launch.lanes - 1)])
        return self.atoms.fresh(True)

    def _load(self, address: Any) -> Any:
        """Global memory read at one address gives one value (roles that read the same word agree); shared memory changes."""
        if isinstance(address, Sum):
            return self.atoms.named(("load", key_of(address)), varies(address))
        offset = address.offset if isinstance(address, Address) else UNKNOWN
        return self.atoms.fresh(varies(offset) or address.rank is not None if isinstance(address, Address) else True)

    def _element(self, node: Node, operands: list[Any]) -> Any:
        base = operands[0]
        if isinstance(base, Address):
            return Address(base.array, UNKNOWN if any(map(varies, operands[1:])) else self.atoms.fresh(False), base.rank)
        return self._named(
            "element" + str(node.operation.attributes["rawConstantIndices"]) + str(node.operation.attributes["elem_type"]), operands
        )
