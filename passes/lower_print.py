"""lower-print: device_print to a call of vprintf, which the driver provides.

The format string is a constant in global memory. The values lie in the thread's local memory, each at the next multiple of its size, as C lays
out the arguments of a printf; one buffer serves all prints of a kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import fa4_operations, kernel_of
from fa4dsl.passes.rewriting import Rewriter

if TYPE_CHECKING:
    from mlir import ir

FUNCTION = "vprintf"
"""int vprintf(const char *format, void *arguments): a function without a body in PTX that the driver links."""


def lower_print(module: ir.Module) -> None:
    prints: dict[ir.Operation, list[ir.Operation]] = {}
    for operation in fa4_operations(module.operation, "device_print"):
        function = kernel_of(operation)
        assert function is not None, "a print outside a function"
        prints.setdefault(function, []).append(operation)
    for function, operations in prints.items():
        size = max(_layout(operation)[1] for operation in operations)
        buffer = _buffer(function, size) if size else None
        parent = function.parent
        assert parent is not None
        body = parent.operation.regions[0].blocks[0]
        formats: dict[str, str] = {}
        for operation in operations:
            _call(Rewriter(operation), body, formats, buffer)


def _layout(operation: ir.Operation) -> tuple[list[int], int]:
    """The offset of each value, and the bytes of all."""
    offsets: list[int] = []
    end = 0
    for value in operation.operands:
        size = 4 if str(value.type) == "i32" else 8
        start = -(-end // size) * size
        offsets.append(start)
        end = start + size
    return offsets, end


def _buffer(function: ir.Operation, size: int) -> ir.Value:
    """Local memory for the arguments, at the kernel's entry."""
    from mlir import ir

    entry = Rewriter(function, ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]))
    count = entry.constant(1)
    return entry.value("llvm.alloca", [count], "!llvm.ptr", elem_type=f"!llvm.array<{size} x i8>", alignment="8 : i64")


def _call(rewriter: Rewriter, body: ir.Block, formats: dict[str, str], buffer: ir.Value | None) -> None:
    operation = rewriter.operation
    text = str(rewriter.attribute("format"))
    if not formats:
        _declare(operation, body)
    name = formats.get(text)
    if name is None:
        name = formats[text] = f"fa4_format{len(formats)}"
        _constant(operation, body, name, text)
    where = rewriter.value("llvm.mlir.addressof", [], "!llvm.ptr<1>", global_name=f"@{name}")
    arguments = None
    for value, offset in zip(operation.operands, _layout(operation)[0], strict=True):
        arguments = buffer
        place = rewriter.value(
            "llvm.getelementptr", [buffer], "!llvm.ptr", rawConstantIndices=f"array<i32: {offset}>", elem_type="i8", noWrapFlags="0 : i32"
        )
        rewriter.create("llvm.store", [value, place], alignment="4 : i64" if str(value.type) == "i32" else "8 : i64", ordering="0 : i64")
    if arguments is None:
        arguments = rewriter.value("llvm.mlir.zero", [], "!llvm.ptr")
    rewriter.create(
        "llvm.call",
        [rewriter.value("llvm.addrspacecast", [where], "!llvm.ptr"), arguments],
        ["i32"],
        callee=f"@{FUNCTION}",
        operandSegmentSizes="array<i32: 2, 0>",
        op_bundle_sizes="array<i32>",
    )
    rewriter.replace()


def _declare(operation: ir.Operation, body: ir.Block) -> None:
    from mlir import ir

    if any(item.operation.name == "llvm.func" and ir.StringAttr(item.operation.attributes["sym_name"]).value == FUNCTION for item in body):
        return
    attributes = {
        "sym_name": ir.StringAttr.get(FUNCTION),
        "function_type": ir.Attribute.parse("!llvm.func<i32 (ptr, ptr)>"),
        "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
        "CConv": ir.Attribute.parse("#llvm.cconv<ccc>"),
        "visibility_": ir.Attribute.parse("0 : i64"),
    }
    ir.Operation.create("llvm.func", attributes=attributes, regions=1, loc=operation.location, ip=ir.InsertionPoint.at_block_begin(body))


def _constant(operation: ir.Operation, body: ir.Block, name: str, text: str) -> None:
    from mlir import ir

    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "global_type": ir.Attribute.parse(f"!llvm.array<{len(text.encode()) + 1} x i8>"),
        "value": ir.StringAttr.get(text + "\0"),
        "constant": ir.UnitAttr.get(),
        "linkage": ir.Attribute.parse("#llvm.linkage<internal>"),
        "addr_space": ir.Attribute.parse("1 : i32"),
        "alignment": ir.Attribute.parse("1 : i64"),
        "visibility_": ir.Attribute.parse("0 : i64"),
    }
    ir.Operation.create(
        "llvm.mlir.global", attributes=attributes, regions=1, loc=operation.location, ip=ir.InsertionPoint.at_block_begin(body)
    )
