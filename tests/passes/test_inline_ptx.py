"""Inline PTX whose constraints do not fit is refused with words; LLVM would end the process."""

from __future__ import annotations

import pytest

from fa4dsl.passes.dialect.inline_ptx import constraint_problem
from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.runtime.diagnostics import Fa4dslError

PIPELINE = "fa4-verify,lower-fa4,fa4-to-llvm,emit-ptx"


@pytest.mark.parametrize(
    ("text", "constraints", "operands", "results", "problem"),
    [
        ("add.u32 $0, $1, $2;", "=r,r,r", ["i32", "i32"], ["i32"], ""),
        ("nop;", "", [], [], ""),
        ("mov $0, $1;", "=f,0,~{memory}", ["f32"], ["f32"], ""),
        ("st [$0], $1;", "l,h", ["!llvm.ptr<1>", "bf16"], [], ""),
        ("mov.u32 $0, $$5; bra L_${:uid};", "=r", [], ["i32"], ""),
        ("x $0;", "=r,r", ["i32"], [], "1 output constraints for 0 results"),
        ("x $0;", "r,r", ["i32"], [], "2 input constraints for 1 operands"),
        ("x $0;", "", ["i32"], [], "0 input constraints for 1 operands"),
        ("x $0;", "v", ["i32"], [], "there is no constraint 'v'"),
        ("x $0;", "l", ["i32"], [], "'l' cannot hold a i32; 'r' can"),
        ("x $0;", "r", ["i8"], [], "'r' cannot hold a i8; convert it first"),
        ("x $2;", "r", ["i32"], [], "$2 is named, but there are 1 results and operands"),
        ("x $0;", "r,=r", ["i32"], ["i32"], "constraints stand in the order"),
        ("x $0;", "=r,1", ["i32"], ["i32"], "the tied constraint 1 of a i32 names no output of that type"),
        ("x $0;", "=r,0", ["f32"], ["i32"], "the tied constraint 0 of a f32 names no output of that type"),
    ],
)
def test_constraints(text: str, constraints: str, operands: list[str], results: list[str], problem: str) -> None:
    assert constraint_problem(text, constraints, operands, results).startswith(problem)
    assert bool(constraint_problem(text, constraints, operands, results)) == bool(problem)


def _kernel(line: str) -> str:
    return f"""module {{ gpu.module @kernels {{ func.func @kernel(%n: i32) attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>}} {{
  {line}
  return
}} }} }}"""


@pytest.mark.parametrize("constraints", ["=r,r", "r,r", "", "l"])
def test_inline_assembly_by_hand(constraints: str) -> None:
    line = f'llvm.inline_asm has_side_effects "nanosleep.u32 $0;", "{constraints}" %n : (i32) -> ()'
    with pytest.raises(Fa4dslError) as caught:
        run_pipeline(_kernel(line), PIPELINE, "kernel.mlir")
    assert caught.value.code == "C059"
    assert caught.value.diagnostic.frames[0].location.line == 2


def test_several_results() -> None:
    line = """%r = llvm.inline_asm has_side_effects "mov.b64 {$0, $1}, $2;", "=r,=f,l" %l : (i64) -> !llvm.struct<(i32, f32)>"""
    text = _kernel(f"%l = arith.extui %n : i32 to i64\n  {line}")
    assert ".visible .entry kernel" in run_pipeline(text, PIPELINE)
    with pytest.raises(Fa4dslError, match="1 output constraints for 2 results"):
        run_pipeline(text.replace("=r,=f,l", "=r,l"), PIPELINE)


def test_the_operation_is_verified() -> None:
    sizes = ", ".join(["1"] + ["0"] * 23), ", ".join(["0"] * 24)
    segments = f"operandSegmentSizes = array<i32: {sizes[0]}>, resultSegmentSizes = array<i32: {sizes[1]}>"
    line = f'"fa4.inline_ptx"(%n) {{text = "nanosleep.u32 $0;", constraints = "l", pure = false, {segments}}} : (i32) -> ()'
    with pytest.raises(Fa4dslError, match=r"C009.*'l' cannot hold a i32; 'r' can"):
        run_pipeline(_kernel(line), PIPELINE)
