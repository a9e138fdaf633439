"""The part of a kernel that its protocol depends on, as plain Python: barrier operations, copies, remote accesses, and what decides who executes them.

A kernel holds thousands of operations that move numbers; few of them synchronise. This module walks the IR once, keeps the
synchronising ones with the control flow around them, and adds the operations that their operands and conditions come from
(a backward slice). Everything else is left out, so that the abstract execution costs what the protocol costs, not the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import KernelInfo, role_of
from fa4dsl.runtime.manifest import Role

if TYPE_CHECKING:
    from mlir import ir

SYNCHRONISING: dict[str, tuple[int, ...] | None] = {
    "fa4.mbarrier_init": None,
    "fa4.mbarrier_invalidate": None,
    "fa4.mbarrier_arrive": None,
    "fa4.mbarrier_arrive_remote": None,
    "fa4.mbarrier_expect_tx": None,
    "fa4.mbarrier_arrive_expect_tx": None,
    "fa4.mbarrier_arrive_expect_tx_remote": None,
    "fa4.mbarrier_wait": None,
    "fa4.mbarrier_test": None,
    "fa4.block_sync": None,
    "fa4.named_barrier_sync": None,
    "fa4.named_barrier_arrive": None,
    "fa4.warp_sync": None,
    "fa4.cluster_arrive": None,
    "fa4.cluster_wait": None,
    "fa4.tma_load": (1, 2, 3, 4),
    "fa4.tma_load_multicast": (1, 2, 3, 4, 5),
    "fa4.tma_store": (1, 2),
    "fa4.bulk_load": (0, 1, 3, 4, 5),
    "fa4.bulk_load_multicast": (0, 1, 3, 4, 5, 6),
    "fa4.bulk_store": (1, 2, 3),
    "fa4.bulk_push": None,
    "fa4.store_async": (1, 2, 3, 4, 5),
    "fa4.elect": None,
    "fa4.wgmma": (0, 1),
    "fa4.wgmma_register_a": (4,),
    "fa4.wgmma_commit": None,
    "fa4.wgmma_wait": (),
    "fa4.set_max_registers": None,
    "fa4.mbarrier_address": None,
}
"""Operations that the protocol is made of, with the positions of the operands that matter (None: all)."""

COLLECTIVES = frozenset(f"fa4.{name}" for name in ("shuffle", "vote", "warp_reduce", "match", "mma", "load_matrix", "store_matrix"))
"""Operations of whole warps that order nothing: only those under a condition are looked at, and only for who executes them."""

REMOTE_ACCESSES = {
    "llvm.load": 0,
    "llvm.store": 1,
    "fa4.load": 0,
    "fa4.store": 1,
    "fa4.atomic": 0,
    "fa4.reduce": 0,
    "fa4.compare_and_swap": 0,
    "llvm.atomicrmw": 0,
    "llvm.cmpxchg": 0,
}
"""Accesses through a pointer, with the position of the address; those of a peer's memory take part in the protocol."""

ENDS = ("scf.yield", "scf.condition", "func.return", "llvm.return", "gpu.return")


@dataclass(eq=False)
class Node:
    """One operation of the slice. Values are numbers, unique in the kernel."""

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    operation: Any
    number: int
    attributes: dict[str, Any] = field(default_factory=dict)
    blocks: tuple[Body, ...] = ()
    role: Role | None = None
    synchronises: bool = False
    """Whether it, or something inside it, takes part in the protocol."""

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute's value; read from the IR when first asked for."""
        if name not in self.attributes:
            attributes = self.operation.attributes
            self.attributes[name] = python_value(attributes[name]) if name in attributes else None
        value = self.attributes[name]
        return default if value is None else value

    def result_type(self) -> str:
        return str(self.operation.results[0].type)


@dataclass(eq=False)
class Body:
    """A block: its arguments, its operations in order, and its terminator's name and operands."""

    arguments: tuple[int, ...]
    nodes: list[Node] = field(default_factory=list)
    end: str = ""
    end_operands: tuple[int, ...] = ()


@dataclass(eq=False)
class Program:
    """A kernel's slice."""

    info: KernelInfo
    function: Any
    body: Body
    roles: list[tuple[Role, Any]]
    """Roles with their operations, in order."""
    allocations: dict[str, Node]
    """Arrays and barriers by name."""
    values: int = 0
    inline_text: str = ""
    """All inline PTX of the kernel; barriers that it may touch cannot be followed."""


class _Reader:
    """Reads one function."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.numbers: dict[Any, int] = {}
        self.raw: list[Any] = []
        """Operations of interest."""
        self.needed: set[Any] = set()
        self.values: set[int] = set()
        self.work: list[Any] = []
        self.roles: list[tuple[Role, Any]] = []
        self.allocations: list[Any] = []
        self.texts: list[str] = []
        self.count = 0

    def number(self, value: Any) -> int:
        known = self.numbers.get(value)
        if known is None:
            known = self.numbers[value] = len(self.numbers)
        return known

    # --- which operations matter

    def gather(self, operation: Any, parents: tuple[Any, ...]) -> None:
        for region in operation.regions:
            for block in region:
                for item in block:
                    plain = item.operation
                    name = plain.name
                    if name in SYNCHRONISING or (name in REMOTE_ACCESSES and self._is_remote(plain, REMOTE_ACCESSES[name])):
                        self.keep(plain, parents)
                    elif name in COLLECTIVES:
                        if any(parent.name in ("scf.if", "scf.index_switch") for parent in parents):
                            self.keep(plain, parents)
                    elif name in ("fa4.shared_alloc", "fa4.mbarrier_alloc"):
                        self.allocations.append(plain)
                        self.needed.add(plain)
                    elif name == "fa4.inline_ptx":
                        self.texts.append(str(plain.attributes["text"]))
                    if len(plain.regions):
                        if name == "scf.execute_region":
                            role = role_of(plain)
                            if role is not None:
                                self.roles.append((role, plain))
                        self.gather(plain, (*parents, plain))

    @staticmethod
    def _is_remote(operation: Any, position: int) -> bool:
        return str(operation.operands[position].type) == "!llvm.ptr<7>"

    def keep(self, operation: Any, parents: tuple[Any, ...]) -> None:
        self.raw.append(operation)
        self.needed.add(operation)
        for parent in reversed(parents):
            if parent in self.needed:
                break
            self.needed.add(parent)
            self._structure(parent)
        for operand in self.relevant(operation):
            self.want(operand)

    def _structure(self, operation: Any) -> None:
        """What decides whether and how often a region runs."""
        name = operation.name
        if name in ("scf.if", "scf.index_switch"):
            self.want(operation.operands[0])
        elif name == "scf.for":
            for operand in list(operation.operands)[:3]:
                self.want(operand)
        elif name == "scf.while":
            self.want(self._terminator(operation, 0).operands[0])

    def relevant(self, operation: Any) -> list[Any]:
        name = operation.name
        operands = list(operation.operands)
        if name in COLLECTIVES:
            return []
        if name in REMOTE_ACCESSES and name not in SYNCHRONISING:
            return [operands[REMOTE_ACCESSES[name]]]
        positions = SYNCHRONISING[name]
        return operands if positions is None else [operands[position] for position in positions]

    def want(self, value: Any) -> None:
        number = self.number(value)
        if number not in self.values:
            self.values.add(number)
            self.work.append(value)

    @staticmethod
    def _terminator(operation: Any, region: int) -> Any:
        block = operation.regions[region].blocks[0]
        return block.operations[len(block.operations) - 1].operation

    def slice(self) -> None:
        """Follows wanted values back to where they come from."""
        from mlir import ir

        while self.work:
            value = self.work.pop()
            if isinstance(value, ir.BlockArgument):
                self._argument(value)
            else:
                self._result(value)

    def _argument(self, value: Any) -> None:
        owner = value.owner.owner
        plain = getattr(owner, "operation", owner)
        if plain.name == "scf.for":
            position = value.arg_number - 1
            if position >= 0:
                self.want(plain.operands[3 + position])
                self.want(self._terminator(plain, 0).operands[position])
                self.want(plain.results[position])
        elif plain.name == "scf.while":
            if value.owner == plain.regions[0].blocks[0]:
                self.want(plain.operands[value.arg_number])
                self.want(self._terminator(plain, 1).operands[value.arg_number])
            else:
                self.want(self._terminator(plain, 0).operands[1 + value.arg_number])

    def _result(self, value: Any) -> None:
        plain = value.owner.operation if hasattr(value.owner, "operation") else value.owner
        fresh = plain not in self.needed
        self.needed.add(plain)
        name = plain.name
        position = ir_position(value)
        if name == "scf.for":
            if fresh:
                self._structure(plain)
            self.want(plain.operands[3 + position])
            self.want(self._terminator(plain, 0).operands[position])
        elif name == "scf.while":
            if fresh:
                self._structure(plain)
            self.want(self._terminator(plain, 0).operands[1 + position])
        elif name in ("scf.if", "scf.index_switch", "scf.execute_region"):
            if fresh:
                self._structure(plain)
            for region in range(len(plain.regions)):
                if len(plain.regions[region].blocks):
                    self.want(self._terminator(plain, region).operands[position])
        elif name in SYNCHRONISING or name in REMOTE_ACCESSES:
            for operand in self.relevant(plain):
                self.want(operand)
        elif not len(plain.regions):
            for operand in plain.operands:
                self.want(operand)
        parents = []
        parent = plain.parent
        while parent is not None and parent.operation != self.function:
            parents.append(parent.operation)
            parent = parent.operation.parent
        for item in parents:
            if item in self.needed:
                break
            self.needed.add(item)
            self._structure(item)

    # --- the slice as nodes

    def body(self, block: Any) -> Body:
        made = Body(tuple(self.number(argument) for argument in block.arguments))
        for item in block:
            plain = item.operation
            if plain.name in ENDS:
                made.end = plain.name
                made.end_operands = tuple(self.numbers.get(operand, -1) for operand in plain.operands)
            elif plain in self.needed:
                made.nodes.append(self.node(plain))
        return made

    def node(self, operation: Any) -> Node:
        name = operation.name
        self.count += 1
        made = Node(
            name,
            tuple(self.numbers.get(operand, -1) for operand in operation.operands),
            tuple(self.numbers.get(result, -1) for result in operation.results),
            operation,
            self.count,
        )
        if name == "scf.execute_region":
            made.role = role_of(operation)
        # A load of this CTA's own memory may be here for its value alone, which decides a branch.
        made.synchronises = name in SYNCHRONISING or (name in REMOTE_ACCESSES and self._is_remote(operation, REMOTE_ACCESSES[name]))
        if len(operation.regions):
            made.blocks = tuple(self.body(region.blocks[0]) if len(region.blocks) else Body(()) for region in operation.regions)
            made.synchronises = any(node.synchronises for block in made.blocks for node in block.nodes)
        return made


def ir_position(value: Any) -> int:
    """The position of an operation's result."""
    from mlir import ir

    return int(ir.OpResult(value).result_number)


def read_program(function: ir.Operation) -> Program | None:
    """The slice of one kernel; None where nothing synchronises and nothing remote is touched."""
    reader = _Reader(function)
    reader.gather(function, ())
    reader.slice()
    body = reader.body(function.regions[0].blocks[0])
    allocations: dict[str, Node] = {}
    _collect_allocations(body, allocations)
    program = Program(KernelInfo.of(function), function, body, reader.roles, allocations, len(reader.numbers))
    program.inline_text = "\n".join(reader.texts)
    return program if reader.raw else None


def _collect_allocations(body: Body, found: dict[str, Node]) -> None:
    for node in body.nodes:
        if node.name in ("fa4.shared_alloc", "fa4.mbarrier_alloc"):
            found.setdefault(str(node.attribute("name")), node)
        for block in node.blocks:
            _collect_allocations(block, found)
