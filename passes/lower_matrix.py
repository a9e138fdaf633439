"""lower-matrix: wgmma with its descriptors and groups, mma.sync, ldmatrix and stmatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.rules import WGMMA_K, mma_registers
from fa4dsl.passes.rewriting import Rewriter, raw_type, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlir import ir

DESCRIPTOR_SWIZZLE = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
"""Bits 63..62 of a wgmma descriptor; not the order of the tensor map's enumeration."""


def lower_matrix(module: ir.Module) -> None:
    rewrite(module, _RULES)


def descriptor_constant(leading: int, stride: int, swizzle: str) -> int:
    """The fixed bits of a wgmma matrix descriptor (PTX ISA, "Matrix descriptor"): byte offsets in units of 16, base offset 0."""
    bits = (leading >> 4) << 16 | (stride >> 4) << 32 | DESCRIPTOR_SWIZZLE[swizzle] << 62
    return bits - (1 << 64) if bits >> 63 else bits


def _descriptor(rewriter: Rewriter) -> None:
    address = rewriter.shared_address(*rewriter.operation.operands)
    number = rewriter.value("llvm.ptrtoint", [address], "i32")
    field = rewriter.value("arith.andi", [number, rewriter.constant(0x3FFFF)], "i32")
    start = rewriter.value("arith.shrui", [field, rewriter.constant(4)], "i32")
    wide = rewriter.value("arith.extui", [start], "i64")
    fixed = descriptor_constant(*(rewriter.attribute(key) for key in ("leading", "stride", "swizzle")))
    rewriter.replace([rewriter.value("arith.ori", [wide, rewriter.constant(fixed, "i64")], "i64")])


def _names(first: int, count: int) -> str:
    return "{" + ", ".join(f"${first + i}" for i in range(count)) + "}"


def _through_registers(rewriter: Rewriter, text: str, inputs: Sequence[ir.Value], accumulators: Sequence[ir.Value]) -> None:
    """Emits `text` with accumulators that are read and written in place, and replaces the operation's results by them."""
    types = [str(value.type) for value in accumulators]
    raw = [rewriter.raw(value) for value in accumulators]
    made = rewriter.ptx(text, [*inputs, *raw], [raw_type(item) for item in types], tied=range(len(raw)))
    rewriter.replace([rewriter.cooked(value, item) for value, item in zip(made, types, strict=True)])


def _wgmma_wait(rewriter: Rewriter) -> None:
    """The accumulators pass through the instruction, so that nothing reads them before it."""
    _through_registers(rewriter, f"wgmma.wait_group.sync.aligned {rewriter.attribute('pending')};", [], list(rewriter.operation.operands))


def _wgmma(rewriter: Rewriter) -> None:
    in_registers = rewriter.operation.name == "fa4.wgmma_register_a"
    operands = list(rewriter.operation.operands)
    a_count = 4 if in_registers else 1
    a, b, accumulate, accumulators = operands[:a_count], operands[a_count], operands[a_count + 1], operands[a_count + 2 :]
    n, a_type, b_type, d_type = (rewriter.attribute(key) for key in ("n", "a_type", "b_type", "d_type"))
    count = len(accumulators)
    a_text = _names(count, 4) if in_registers else f"${count}"
    parts = [_names(0, count), a_text, f"${count + a_count}", f"${count + a_count + 1}"]
    if d_type != "s32":
        parts += ["-1" if rewriter.attribute(key) else "1" for key in ("negate_a", "negate_b")]
    if a_type in ("f16", "bf16"):
        majors = ("b_major",) if in_registers else ("a_major", "b_major")
        parts += ["1" if rewriter.attribute(key) == "mn" else "0" for key in majors]
    name = f"wgmma.mma_async.sync.aligned.m64n{n}k{WGMMA_K[a_type]}.{d_type}.{a_type}.{b_type}"
    _through_registers(rewriter, f"{name} {', '.join(parts)};", [*a, b, accumulate], accumulators)


def _mma(rewriter: Rewriter) -> None:
    shape, a, b, c, d = (rewriter.attribute(key) for key in ("shape", "a_type", "b_type", "c_type", "d_type"))
    counts = mma_registers(shape, a, c, d)
    position, groups = counts[3], [_names(0, counts[3])]
    for count in counts[:3]:
        groups.append(_names(position, count))
        position += count
    # ptxas wants f32 accumulators in .f32 registers, which inline PTX gets by the letter of the operand's type.
    wide = {"f32": "f32"}
    operands = list(rewriter.operation.operands)
    inputs = operands[: counts[0] + counts[1]] + [
        rewriter.bitcast(value, wide.get(c, "i32")) for value in operands[counts[0] + counts[1] :]
    ]
    text = f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{c} {', '.join(groups)};"
    made = rewriter.ptx(text, inputs, [wide.get(d, "i32")] * counts[3], pure=True)
    rewriter.replace([rewriter.bitcast(value, "i32") for value in made])


def _load_matrix(rewriter: Rewriter) -> None:
    count = rewriter.attribute("count")
    transpose = ".trans" if rewriter.attribute("transpose") else ""
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{transpose}.shared.b16 {_names(0, count)}, [${count}];"
    rewriter.replace(rewriter.ptx(text, list(rewriter.operation.operands), ["i32"] * count))


def _store_matrix(rewriter: Rewriter) -> None:
    operands = list(rewriter.operation.operands)
    count = len(operands) - 1
    transpose = ".trans" if rewriter.attribute("transpose") else ""
    rewriter.ptx(f"stmatrix.sync.aligned.m8n8.x{count}{transpose}.shared.b16 [$0], {_names(1, count)};", operands)
    rewriter.replace()


def _fixed(text: str) -> Callable[[Rewriter], None]:
    def rule(rewriter: Rewriter) -> None:
        rewriter.ptx(text)
        rewriter.replace()

    return rule


_RULES = {
    "wgmma_fence": _fixed("wgmma.fence.sync.aligned;"),
    "wgmma_commit": _fixed("wgmma.commit_group.sync.aligned;"),
    "wgmma_wait": _wgmma_wait,
    "wgmma_descriptor": _descriptor,
    "wgmma": _wgmma,
    "wgmma_register_a": _wgmma,
    "mma": _mma,
    "load_matrix": _load_matrix,
    "store_matrix": _store_matrix,
}
