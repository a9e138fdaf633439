"""The alignment that a kernel's vector accesses and bulk copies need of each pointer argument, as far as it can be proved.

An access of 16 bytes at ``x + 4 * i`` (f32) is aligned exactly if `x` is: the launcher then refuses an array that is not (R045), before the GPU
meets a misaligned address, which would end the process' context. An offset that may be anything asks for nothing, and so does an access in a
branch that the kernel's own scalar arguments decide (the author may choose a path by the alignment).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import walk
from fa4dsl.passes.place_shared_memory import element_bytes

if TYPE_CHECKING:
    from mlir import ir

MOST = 1 << 12
_DYNAMIC = -(1 << 31)
_BULK = {"fa4.bulk_load": 2, "fa4.bulk_load_multicast": 2, "fa4.bulk_store": 0}
"""Bulk copies, with the number of the operand that is the global address."""
BULK_ALIGNMENT = 16
_SAME = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast")
_SMALLER = ("arith.addi", "arith.subi", "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui", "arith.ori", "arith.xori")


def pointer_alignments(function: ir.Operation) -> dict[int, int]:
    """Argument number to bytes, a power of two; arguments whose element's own alignment will do are left out."""
    found: dict[int, int] = {}
    for operation in walk(function):
        access = _access(operation)
        if access is None:
            continue
        address, needed = access
        base, offset = _base(address)
        if base is not None and offset % needed == 0 and needed > found.get(base, 1) and not _chosen_by_arguments(operation):
            found[base] = needed
    return found


def _access(operation: Any) -> tuple[Any, int] | None:
    """(address, bytes that it must be aligned to)."""
    name = operation.name
    if name in ("llvm.load", "llvm.store") and "alignment" in operation.attributes:
        return operation.operands[0 if name == "llvm.load" else 1], int(python_value(operation.attributes["alignment"]))
    if name in ("fa4.load", "fa4.store"):
        load = name == "fa4.load"
        return operation.operands[0 if load else 1], _bytes_of(str((operation.results if load else operation.operands)[0].type))
    if name in _BULK:
        return operation.operands[_BULK[name]], BULK_ALIGNMENT
    return None


def _bytes_of(text: str) -> int:
    if text.startswith("vector<"):
        count, _, element = text[len("vector<") : -1].partition("x")
        return int(count) * element_bytes(element)
    return element_bytes(text)


def _base(address: Any) -> tuple[int | None, int]:
    """(number of the function's argument, what divides the bytes between it and the address); None where it is no argument's."""
    from mlir import ir

    divisor = MOST
    while not isinstance(address, ir.BlockArgument):
        owner: Any = address.owner
        if getattr(owner, "name", "") != "llvm.getelementptr":
            return None, 1
        size = element_bytes(str(owner.attributes["elem_type"]).strip("()"))
        constants = list(owner.attributes["rawConstantIndices"])
        if len(constants) != 1:
            return None, 1
        step = _divisor(owner.operands[1]) if constants[0] == _DYNAMIC else _of_number(constants[0])
        divisor = min(divisor, step * size)
        address = owner.operands[0]
    parent = address.owner.owner
    if parent.name not in ("func.func", "llvm.func"):
        return None, 1
    return address.arg_number, divisor


def _of_number(number: int) -> int:
    return min(number & -number, MOST) if number else MOST


def _divisor(value: Any, depth: int = 0) -> int:
    """A power of two that divides an integer whatever the run."""
    from mlir import ir

    if depth > 24:
        return 1
    if isinstance(value, ir.BlockArgument):
        parent = value.owner.owner
        if parent.name == "scf.for" and value.arg_number == 0:
            return min(_divisor(parent.operation.operands[0], depth + 1), _divisor(parent.operation.operands[2], depth + 1))
        return 1
    owner: Any = value.owner
    name = owner.name
    if name == "arith.constant":
        number = python_value(owner.attributes["value"])
        return _of_number(number) if isinstance(number, int) else 1
    inner = (
        [_divisor(operand, depth + 1) for operand in owner.operands] if name.startswith("arith.") and name not in ("arith.cmpi",) else []
    )
    if name == "arith.muli":
        return min(inner[0] * inner[1], MOST)
    if name in _SAME:
        return inner[0]
    if name in _SMALLER:
        return min(inner)
    if name == "arith.andi":
        return max(inner)
    if name == "arith.select":
        return min(inner[1:])
    if name == "arith.shli":
        by = owner.operands[1].owner
        amount = python_value(by.attributes["value"]) if getattr(by, "name", "") == "arith.constant" else 0
        return min(inner[0] << amount, MOST)
    return 1


def _chosen_by_arguments(operation: Any) -> bool:
    """Whether a branch around it depends on nothing but the kernel's arguments."""
    parent = operation.parent
    while parent is not None and parent.name not in ("func.func", "llvm.func"):
        plain = parent.operation
        if plain.name == "scf.if" and _from_arguments(plain.operands[0]):
            return True
        parent = plain.parent
    return False


def _from_arguments(value: Any) -> bool:
    from mlir import ir

    if isinstance(value, ir.BlockArgument):
        return value.owner.owner.name in ("func.func", "llvm.func")
    owner: Any = value.owner
    if owner.name == "arith.constant":
        return True
    return bool(owner.name.startswith("arith.") and all(_from_arguments(operand) for operand in owner.operands))
