"""Which operation touches which memory through which proxy: the generic one (loads, stores, atomics, matrices) or the async one (TMA, bulk copies, wgmma).

Source: PTX ISA, the sections on proxies and on each instruction. st.async and non-bulk cp.async write through the generic proxy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import fa4_operations
from fa4dsl.passes.memory_roots import UNKNOWN, Root, Tracer

if TYPE_CHECKING:
    from mlir import ir

_ANY_GLOBAL = Root("global", UNKNOWN)
_TENSOR_LOADS = ("fa4.tma_load", "fa4.tma_load_multicast")
_BULK_LOADS = ("fa4.bulk_load", "fa4.bulk_load_multicast")


class Accesses:
    """The accesses of one kernel's operations, as the memory that each may touch."""

    def __init__(self, function: ir.Operation) -> None:
        self._tracer = Tracer(function)
        self.overwritten: set[Root] = set()
        """Everything that some operation of the kernel writes through the async proxy."""
        self.asynchronous = False
        """Whether the kernel has any async operation."""
        for operation in fa4_operations(function):
            self.asynchronous = self.asynchronous or bool(self.async_reads(operation))
            self.overwritten |= self.async_writes(operation)

    def generic_writes(self, operation: Any) -> set[Root]:
        """What an operation writes through the generic proxy."""
        name, operands = operation.name, operation.operands
        if name in ("llvm.store", "fa4.store"):
            return self._tracer.pointer(operands[1])
        if name in ("fa4.atomic", "fa4.compare_and_swap", "fa4.reduce", "fa4.store_matrix"):
            return self._tracer.pointer(operands[0])
        if name == "fa4.copy_async":
            return {self._tracer.array(operands[0])}
        if name == "fa4.store_async":
            return {Root("shared", self._tracer.array(operands[1]).name, True)}
        if name == "fa4.inline_ptx" and _has(operation, "st.", "red.", "atom.", "cp.async.c", "stmatrix"):
            return self._pointers_of(operation)
        return set()

    def generic_reads(self, operation: Any) -> set[Root]:
        """What an operation reads through the generic proxy, of the memory that some async operation overwrites: no other read needs a fence."""
        if not self.overwritten:
            return set()
        name = operation.name
        found: set[Root] = set()
        if name in ("llvm.load", "fa4.load", "fa4.load_matrix"):
            found = self._tracer.pointer(operation.operands[0])
        elif name == "fa4.copy_async":
            found = self._tracer.pointer(operation.operands[2])
        elif name == "fa4.inline_ptx" and _has(operation, "ld.", "ldmatrix", "ldu."):
            found = self._pointers_of(operation)
        return {root for root in found if any(root.meets(other) for other in self.overwritten)}

    def async_reads(self, operation: Any) -> set[Root]:
        """What an operation reads through the async proxy. A tensor map may describe any global memory."""
        name, operands, trace = operation.name, operation.operands, self._tracer
        if name in _TENSOR_LOADS:
            return {_ANY_GLOBAL}
        if name in _BULK_LOADS:
            return {root for root in trace.pointer(operands[2]) if root.name != UNKNOWN}
        if name in ("fa4.tma_store", "fa4.bulk_store"):
            return {trace.array(operands[1])}
        if name == "fa4.bulk_push":
            return {trace.array(operands[2])}
        if name == "fa4.wgmma":
            return trace.descriptor(operands[0]) | trace.descriptor(operands[1])
        if name == "fa4.wgmma_register_a":
            return trace.descriptor(operands[4])
        return self._pointers_of(operation) if _is_async_ptx(operation) else set()

    def async_writes(self, operation: Any) -> set[Root]:
        """What an operation overwrites through the async proxy. What a TMA store writes is taken to be no pointer argument's memory."""
        name, operands, trace = operation.name, operation.operands, self._tracer
        if name in _TENSOR_LOADS:
            return {trace.array(operands[1])}
        if name in _BULK_LOADS or name == "fa4.bulk_push":
            return {trace.array(operands[0])}
        if name == "fa4.bulk_store":
            return {root for root in trace.pointer(operands[0]) if root.name != UNKNOWN}
        return self._pointers_of(operation) if _is_async_ptx(operation) and not _has(operation, "wgmma") else set()

    def _pointers_of(self, operation: Any) -> set[Root]:
        found: set[Root] = set()
        for operand in operation.operands:
            if str(operand.type).startswith("!llvm.ptr"):
                found |= self._tracer.pointer(operand)
        return found


def _has(operation: Any, *words: str) -> bool:
    if operation.name != "fa4.inline_ptx":
        return False
    text = str(python_value(operation.attributes["text"]))
    return any(word in text for word in words)


def _is_async_ptx(operation: Any) -> bool:
    return _has(operation, "cp.async.bulk", "cp.reduce.async.bulk", "wgmma.mma_async")
