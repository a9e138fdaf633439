"""LLVM and NVVM operations, and types, that the NVPTX back end is known to select: what this compiler emits, and what its tests compile.

LLVM ends the whole process over an operation or type that it cannot select. IR that holds only what is listed here is compiled in this
process; anything else, which only hand-written IR can bring, in one of its own (`code_generation`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import walk

if TYPE_CHECKING:
    from mlir import ir

_LLVM = """
add addrspacecast and ashr bitcast br call cond_br extractelement extractvalue fadd fcmp fdiv fmul fneg fpext fptosi fptoui fptrunc frem
fsub func getelementptr icmp inline_asm insertelement insertvalue load lshr mul or ptrtoint return sdiv select sext shl shufflevector sitofp srem
store sub switch trunc udiv uitofp unreachable urem xor zext
mlir.addressof mlir.constant mlir.global mlir.poison mlir.undef mlir.zero
intr.ceil intr.copysign intr.ctlz intr.cttz intr.ctpop intr.fabs intr.floor intr.fma intr.fmuladd intr.maximum intr.maxnum intr.minimum intr.minnum
intr.round intr.roundeven intr.smax intr.smin intr.sqrt intr.trunc intr.umax intr.umin
"""

_NVVM = """
elect.sync mapa match.sync redux.sync shfl.sync vote.sync
read.ptx.sreg.laneid read.ptx.sreg.cluster.ctarank read.ptx.sreg.cluster.nctarank
"""

FAMILIAR = frozenset(
    [
        *(f"llvm.{name}" for name in _LLVM.split()),
        *(f"nvvm.{name}" for name in _NVVM.split()),
        *(
            f"nvvm.read.ptx.sreg.{what}.{axis}"
            for what in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "cluster.ctaid")
            for axis in "xyz"
        ),
    ]
)
"""Full names."""

_SCALAR = r"(?:i1|i8|i16|i32|i64|f16|bf16|f32|f64|(?:!llvm\.)?ptr(?:<[01357]>)?)"
_TYPE = re.compile(
    rf"{_SCALAR}|vector<(?:[1-8]|16)x{_SCALAR}>|!llvm\.struct<\({_SCALAR}(?:, {_SCALAR})*\)>|!llvm\.array<\d+ x {_SCALAR}>|!llvm\.void"
)


def unfamiliar(gpu_module: ir.Operation) -> list[ir.Operation]:
    """The operations of a lowered module that are not known to become PTX, or whose types are not."""
    known: dict[ir.Type, bool] = {}

    def familiar(value: ir.Value) -> bool:
        found = known.get(value.type)
        if found is None:
            found = known[value.type] = _TYPE.fullmatch(str(value.type)) is not None
        return found

    def arguments(item: ir.Operation) -> list[ir.Value]:
        return [argument for region in item.regions for block in region for argument in block.arguments]

    # Every operand is some operation's result or a block's argument.
    return [
        item
        for item in walk(gpu_module)
        if item.name not in FAMILIAR or not all(familiar(value) for value in (*item.results, *arguments(item)))
    ]
