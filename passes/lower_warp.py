"""lower-warp: special registers, warp collectives, register budgets and the other single instructions of control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import KernelInfo, fa4_operations, kernels
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.rewriting import Rewriter, rewrite
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir import ir

_REGISTERS = {
    **{
        f"{word}.{axis}": f"nvvm.read.ptx.sreg.{register}.{axis}"
        for word, register in (
            ("thread", "tid"),
            ("block", "ctaid"),
            ("block_dim", "ntid"),
            ("grid_dim", "nctaid"),
            ("cluster_block", "cluster.ctaid"),
            ("cluster_id", "clusterid"),
        )
        for axis in "xyz"
    },
    "cluster.rank": "nvvm.read.ptx.sreg.cluster.ctarank",
    "cluster.size": "nvvm.read.ptx.sreg.cluster.nctarank",
    "lane": "nvvm.read.ptx.sreg.laneid",
}


def lower_warp(module: ir.Module) -> None:
    for function in kernels(module):
        _warp_index(function)
    rewrite(module, _RULES)


def _warp_index(function: ir.Operation) -> None:
    """The warp index is made once, at the kernel's entry where all lanes are: lane 0's thread index / 32, so that ptxas knows
    it to be uniform."""
    from mlir import ir

    uses = [item for item in fa4_operations(function, "index") if ir.StringAttr(item.attributes["what"]).value == "warp"]
    if not uses:
        return
    info = KernelInfo.of(function)
    if info.threads % 32:
        fail("C022", *operation_frames(uses[0]), threads=info.threads)
    entry = Rewriter(uses[0], ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]))
    thread = entry.value("nvvm.read.ptx.sreg.tid.x", [], "i32")
    stride = 1
    for axis, size, step in (("y", info.block[1], info.block[0]), ("z", info.block[2], info.block[0] * info.block[1])):
        stride = step
        if size > 1:
            other = entry.value(f"nvvm.read.ptx.sreg.tid.{axis}", [], "i32")
            thread = entry.add(thread, entry.value("arith.muli", [other, entry.constant(stride)], "i32"))
    warp = entry.value("arith.shrui", [thread, entry.constant(5)], "i32")
    uniform = _shfl(entry, warp, entry.constant(0), entry.constant(31), "idx")
    for use in uses:
        Rewriter(use).replace([uniform])


def _shfl(rewriter: Rewriter, value: ir.Value, lane: ir.Value, clamp: ir.Value, kind: str) -> ir.Value:
    mask = rewriter.constant(-1)
    return rewriter.value("nvvm.shfl.sync", [mask, value, lane, clamp], value.type, kind=f"#nvvm<shfl_kind {kind}>")


def _index(rewriter: Rewriter) -> None:
    rewriter.replace([rewriter.value(_REGISTERS[rewriter.attribute("what")], [], "i32")])


def _shuffle(rewriter: Rewriter) -> None:
    """PTX's c operand: the segment mask of `width` in bits 12..8, and 31 as the clamp (0 for up)."""
    value, lane = rewriter.operation.operands
    mode, width = rewriter.attribute("mode"), rewriter.attribute("width")
    clamp = rewriter.constant((32 - width) << 8 | (0 if mode == "up" else 31))
    rewriter.replace([_shfl(rewriter, value, lane, clamp, mode)])


def _vote(rewriter: Rewriter) -> None:
    (predicate,) = rewriter.operation.operands
    kind = rewriter.attribute("mode")
    result = rewriter.operation.results[0].type
    rewriter.replace([rewriter.value("nvvm.vote.sync", [rewriter.constant(-1), predicate], result, kind=f"#nvvm<vote_sync_kind {kind}>")])


def _warp_reduce(rewriter: Rewriter) -> None:
    (value,) = rewriter.operation.operands
    kind = rewriter.attribute("kind")
    rewriter.replace([rewriter.value("nvvm.redux.sync", [value, rewriter.constant(-1)], "i32", kind=f"#nvvm<redux_kind {kind}>")])


def _match(rewriter: Rewriter) -> None:
    (value,) = rewriter.operation.operands
    rewriter.replace([rewriter.value("nvvm.match.sync", [rewriter.constant(-1), value], "i32", kind="#nvvm<match_sync_kind any>")])


def _elect(rewriter: Rewriter) -> None:
    rewriter.replace([rewriter.value("nvvm.elect.sync", [], "i1")])


def _set_max_registers(rewriter: Rewriter) -> None:
    word = "inc" if rewriter.attribute("direction") == "increase" else "dec"
    rewriter.ptx(f"setmaxnreg.{word}.sync.aligned.u32 {rewriter.attribute('count')};")
    rewriter.replace()


def _clock(rewriter: Rewriter) -> None:
    rewriter.replace(rewriter.ptx("mov.u64 $0, %clock64;", [], ["i64"]))


def _instruction(text: str) -> Callable[[Rewriter], None]:
    def rule(rewriter: Rewriter) -> None:
        rewriter.ptx(text, list(rewriter.operation.operands))
        rewriter.replace()

    return rule


def _inline_ptx(rewriter: Rewriter) -> None:
    from mlir import ir

    operation = rewriter.operation
    attributes = {"asm_string": operation.attributes["text"], "constraints": operation.attributes["constraints"]}
    if not rewriter.attribute("pure"):
        attributes["has_side_effects"] = ir.UnitAttr.get()
    types = [result.type for result in operation.results]
    if len(types) <= 1:
        rewriter.replace(list(rewriter.create("llvm.inline_asm", operation.operands, types, **attributes).results))
        return
    struct = f"!llvm.struct<({', '.join(map(str, types))})>"
    whole = rewriter.value("llvm.inline_asm", list(operation.operands), struct, **attributes)
    rewriter.replace([rewriter.value("llvm.extractvalue", [whole], item, position=f"array<i64: {i}>") for i, item in enumerate(types)])


_RULES = {
    "index": _index,
    "clock": _clock,
    "elect": _elect,
    "shuffle": _shuffle,
    "vote": _vote,
    "warp_reduce": _warp_reduce,
    "match": _match,
    "set_max_registers": _set_max_registers,
    "launch_dependents": _instruction("griddepcontrol.launch_dependents;"),
    "wait_dependencies": _instruction("griddepcontrol.wait;"),
    "nanosleep": _instruction("nanosleep.u32 $0;"),
    "trap": _instruction("trap;"),
    "inline_ptx": _inline_ptx,
}
