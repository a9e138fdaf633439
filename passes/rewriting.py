"""Short words for making arith, LLVM, NVVM and inline-PTX operations in the lowering passes.

A `Rewriter` stands before one operation and gives everything it makes that operation's location, so that the author's line
follows the operation down to PTX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import fa4_operations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlir import ir

LETTERS = {
    "i1": "b",
    "i16": "h",
    "i32": "r",
    "i64": "l",
    "f32": "f",
    "f64": "d",
    "!llvm.ptr": "l",
    "!llvm.ptr<1>": "l",
    "!llvm.ptr<3>": "r",
    "!llvm.ptr<7>": "r",
}
"""LLVM's constraint letter of each type that inline PTX takes; shared addresses are 32 bits wide (`-nvptx-short-ptr`)."""


_CONVERGENT = re.compile(r"\.sync\b|\.aligned\b|\bbar\.|\bbarrier\.|\bactivemask\b")


def is_convergent(text: str) -> bool:
    """Whether PTX text holds an instruction that several threads must execute together, so that LLVM may not make it depend on more conditions."""
    return _CONVERGENT.search(text) is not None


class Rewriter:
    """Makes operations before `operation`."""

    def __init__(self, operation: ir.Operation, ip: ir.InsertionPoint | None = None) -> None:
        from mlir import ir

        self._ir = ir
        self.operation = operation
        self.location = operation.location
        self.ip = ip or ir.InsertionPoint(operation)

    # --- types and operations

    def type(self, text: str) -> ir.Type:
        return self._ir.Type.parse(text)

    def create(self, name: str, operands: Sequence[Any] = (), results: Sequence[Any] = (), regions: int = 0, **attributes: Any) -> Any:
        """An operation; result types and attributes are given as MLIR text (or as themselves)."""
        ir = self._ir
        types = [ir.Type.parse(item) if isinstance(item, str) else item for item in results]
        made = {key: ir.Attribute.parse(value) if isinstance(value, str) else value for key, value in attributes.items()}
        return ir.Operation.create(
            name, results=types, operands=list(operands), attributes=made, regions=regions, loc=self.location, ip=self.ip
        )

    def value(self, name: str, operands: Sequence[Any], result: Any, **attributes: Any) -> ir.Value:
        """The one result of an operation."""
        return self.create(name, operands, [result], **attributes).results[0]

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        """Makes operations at the end of `block` for a while."""
        outer, self.ip = self.ip, self._ir.InsertionPoint(block)
        try:
            yield
        finally:
            self.ip = outer

    # --- arithmetic

    def constant(self, value: int, type_text: str = "i32") -> ir.Value:
        return self.value(
            "arith.constant", [], type_text, value=f"{value} : {type_text}" if type_text != "i1" else str(bool(value)).lower()
        )

    def add(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.value("arith.addi", [left, right], left.type)

    def compare(self, predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
        """arith.cmpi; predicates in MLIR's numbers: 0 eq, 1 ne, 6 ult, 9 uge."""
        return self.value("arith.cmpi", [left, right], "i1", predicate=f"{predicate} : i64")

    def when(self, condition: ir.Value, body: Callable[[], None]) -> ir.Operation:
        """scf.if without results; `body` makes what it holds."""
        made = self.create("scf.if", [condition], [], regions=2)
        with self.inside(made.regions[0].blocks.append()):
            body()
            self.create("scf.yield")
        return made

    def bitcast(self, value: ir.Value, type_text: str) -> ir.Value:
        return value if str(value.type) == type_text else self.value("llvm.bitcast", [value], type_text)

    # --- PTX

    def ptx(
        self, text: str, operands: Sequence[ir.Value] = (), results: Sequence[str] = (), pure: bool = False, tied: Sequence[int] = ()
    ) -> list[ir.Value]:
        """Inline PTX. $0, $1, ... are the results, then the operands. `tied[i]` is the position of the operand (after the
        untied ones, given last) that shares the register of result i. Not `pure`: volatile, with a memory clobber."""
        ir = self._ir
        outputs = [f"={LETTERS[item]}" for item in results]
        untied = len(operands) - len(tied)
        inputs = [LETTERS[str(value.type)] for value in operands[:untied]] + [str(position) for position in tied]
        constraints = ",".join(outputs + inputs + ([] if pure else ["~{memory}"]))
        attributes: dict[str, Any] = {"asm_string": ir.StringAttr.get(text), "constraints": ir.StringAttr.get(constraints)}
        if not pure:
            attributes["has_side_effects"] = ir.UnitAttr.get()
        if len(results) > 1:
            struct = f"!llvm.struct<({', '.join(results)})>"
            whole = self.create("llvm.inline_asm", operands, [struct], **attributes).results[0]
            return [
                self.create("llvm.extractvalue", [whole], [item], position=ir.DenseI64ArrayAttr.get([i])).results[0]
                for i, item in enumerate(results)
            ]
        return list(self.create("llvm.inline_asm", operands, results, **attributes).results)

    def raw(self, value: ir.Value) -> ir.Value:
        """A value as a type that inline PTX takes: 16-bit floats as i16, packed pairs as i32."""
        text = str(value.type)
        if text in LETTERS:
            return value
        if text in ("f16", "bf16"):
            return self.value("llvm.bitcast", [value], "i16")
        if text == "i8":
            return self.value("llvm.zext", [value], "i16")
        if text.startswith("!llvm.ptr"):
            return self.value("llvm.ptrtoint", [value], "i64")
        return self.value("llvm.bitcast", [value], raw_type(text))

    def cooked(self, value: ir.Value, type_text: str) -> ir.Value:
        """The inverse of `raw`."""
        if str(value.type) == type_text:
            return value
        if type_text == "i8":
            return self.value("llvm.trunc", [value], "i8")
        if type_text.startswith("!llvm.ptr"):
            return self.value("llvm.inttoptr", [value], type_text)
        return self.value("llvm.bitcast", [value], type_text)

    @staticmethod
    def known(value: ir.Value) -> int | None:
        """The value of an integer constant, or None."""
        owner: Any = value.owner
        if getattr(owner, "name", "") == "arith.constant":
            return int(owner.attributes["value"].value)
        return None

    # --- the dialect's own

    def shared_address(self, array: ir.Value, offset: ir.Value) -> ir.Value:
        return self.value("fa4.shared_address", [array, offset], "!llvm.ptr<3>")

    def mbarrier_address(self, barrier: ir.Value, index: ir.Value) -> ir.Value:
        return self.value("fa4.mbarrier_address", [barrier, index], "!llvm.ptr<3>")

    def peer(self, address: ir.Value, rank: ir.Value) -> ir.Value:
        """The same address in the CTA of `rank`."""
        return self.value("nvvm.mapa", [address, rank], "!llvm.ptr<7>")

    def map_pointer(self, tensor_map: ir.Value) -> ir.Value:
        """The generic address of a tensor map; `lower-kernel` resolves the cast."""
        return self.value("builtin.unrealized_conversion_cast", [tensor_map], "!llvm.ptr")

    # --- the operation itself

    def attribute(self, name: str, default: Any = None) -> Any:
        attributes = self.operation.attributes
        return python_value(attributes[name]) if name in attributes else default

    def replace(self, values: Sequence[ir.Value] = ()) -> None:
        """Puts `values` in the place of the operation's results and erases it."""
        for result, value in zip(self.operation.results, values, strict=True):
            result.replace_all_uses_with(value)
        self.operation.erase()


def raw_type(text: str) -> str:
    """The integer type of the width of a small vector or 16-bit float; types that PTX takes stay."""
    from fa4dsl.passes.dialect.rules import bits_of

    return text if text in LETTERS else "i16" if text == "i8" else f"i{bits_of(text)}"


def rewrite(module: ir.Module, rules: Mapping[str, Callable[[Rewriter], None]]) -> None:
    """Applies a rule to each fa4 operation of its name, in order. A rule replaces (or erases) its operation."""
    for operation in fa4_operations(module.operation, *rules):
        rules[operation.name.removeprefix("fa4.")](Rewriter(operation))
