"""Operations of the upstream dialects that kernels are written with reach PTX, with the instruction one expects."""

from __future__ import annotations

import pytest

from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.runtime.diagnostics import Fa4dslError

PIPELINE = "fa4-verify,lower-fa4,fa4-to-llvm,emit-ptx"

FLOAT = {
    "arith.addf": "add.rn.f32",
    "arith.subf": "sub.rn.f32",
    "arith.mulf": "mul.rn.f32",
    "arith.divf": "div.rn.f32",
    "arith.maximumf": "max.NaN.f32",
    "arith.minimumf": "min.NaN.f32",
    "arith.maxnumf": "max.f32",
    "arith.minnumf": "min.f32",
    "arith.remf": "fma.rn.f32",
    "math.copysign": "",
}
INTEGER = {
    "arith.addi": "add.s32",
    "arith.muli": "mul.lo.s32",
    "arith.divsi": "div.s32",
    "arith.divui": "div.u32",
    "arith.remsi": "rem.s32",
    "arith.remui": "rem.u32",
    "arith.floordivsi": "div.s32",
    "arith.ceildivsi": "div.s32",
    "arith.ceildivui": "div.u32",
    "arith.maxsi": "max.s32",
    "arith.minui": "min.u32",
    "arith.andi": "and.b32",
    "arith.shli": "shl.b32",
    "arith.shrsi": "shr.s32",
    "arith.shrui": "shr.u32",
}
UNARY = {
    "arith.negf": "neg.f32",
    "math.absf": "abs.f32",
    "math.sqrt": "sqrt.rn.f32",
    "math.rsqrt": "",
    "math.floor": "cvt.rmi.f32.f32",
    "math.ceil": "cvt.rpi.f32.f32",
    "math.trunc": "cvt.rzi.f32.f32",
    "math.roundeven": "cvt.rni.f32.f32",
    "math.round": "",
}
CONVERSIONS = [
    ("arith.truncf", "f32", "bf16", "cvt.rn.bf16.f32"),
    ("arith.truncf", "f32", "f16", "cvt.rn.f16.f32"),
    ("arith.truncf", "vector<2xf32>", "vector<2xbf16>", "cvt.rn.bf16x2.f32"),
    ("arith.extf", "bf16", "f32", ""),
    ("arith.extf", "f16", "f64", "cvt.f64.f16"),
    ("arith.sitofp", "i32", "f32", "cvt.rn.f32.s32"),
    ("arith.uitofp", "i64", "f32", "cvt.rn.f32.u64"),
    ("arith.fptosi", "f32", "i32", "cvt.rzi.s32.f32"),
    ("arith.fptoui", "f64", "i64", "cvt.rzi.u64.f64"),
    ("arith.extsi", "i8", "i32", ".s8"),
    ("arith.bitcast", "f32", "i32", ""),
]


def _kernel(lines: str, arguments: str = "%p: !llvm.ptr<1>, %x: f32, %y: f32, %i: i32, %j: i32") -> str:
    return f"""module {{ gpu.module @kernels {{ func.func @kernel({arguments}) attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>}} {{
  {lines}
  return
}} }} }}"""


@pytest.mark.parametrize("name", [*FLOAT, *INTEGER])
def test_binary(name: str) -> None:
    kind, left, right, word = ("f32", "%x", "%y", FLOAT[name]) if name in FLOAT else ("i32", "%i", "%j", INTEGER[name])
    ptx = run_pipeline(_kernel(f"%r = {name} {left}, {right} : {kind}\n  llvm.store %r, %p : {kind}, !llvm.ptr<1>"), PIPELINE)
    assert word in ptx


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    ptx = run_pipeline(_kernel(f"%r = {name} %x : f32\n  llvm.store %r, %p : f32, !llvm.ptr<1>"), PIPELINE)
    assert UNARY[name] in ptx


@pytest.mark.parametrize(("name", "source", "target", "word"), CONVERSIONS)
def test_conversion(name: str, source: str, target: str, word: str) -> None:
    lines = f"%a = llvm.load %p : !llvm.ptr<1> -> {source}\n  %r = {name} %a : {source} to {target}\n  llvm.store %r, %p : {target}, !llvm.ptr<1>"
    assert word in run_pipeline(_kernel(lines), PIPELINE)


def test_products_and_sums_are_fused_only_where_allowed() -> None:
    """Without `contract` the compiler keeps both roundings; math.fma is one instruction."""
    apart = "%m = arith.mulf %x, %y : f32\n  %r = arith.addf %m, %x : f32\n  llvm.store %r, %p : f32, !llvm.ptr<1>"
    assert "fma" not in run_pipeline(_kernel(apart), PIPELINE)
    fused = apart.replace(" : f32\n  %r", " fastmath<contract> : f32\n  %r").replace("%m, %x : f32", "%m, %x fastmath<contract> : f32")
    assert "fma.rn.f32" in run_pipeline(_kernel(fused), PIPELINE)
    explicit = "%r = math.fma %x, %y, %x : f32\n  llvm.store %r, %p : f32, !llvm.ptr<1>"
    assert "fma.rn.f32" in run_pipeline(_kernel(explicit), PIPELINE)


def test_vector_accesses_stay_whole() -> None:
    lines = """%v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  %w = vector.broadcast %x : f32 to vector<4xf32>
  %s = arith.addf %v, %w : vector<4xf32>
  %e = vector.extract %s[2] : f32 from vector<4xf32>
  %t = vector.insert %e, %s[0] : f32 into vector<4xf32>
  llvm.store %t, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>"""
    ptx = run_pipeline(_kernel(lines), PIPELINE)
    assert "ld.global.v4" in ptx and "st.global.v4" in ptx


def test_structured_control_flow() -> None:
    """A loop, a condition and a switch; no table in memory, no jump table."""
    lines = """%zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %k = %zero to %i step %one iter_args(%s = %zero) -> (i32) : i32 {
    %c = arith.cmpi slt, %k, %j : i32
    %t = scf.if %c -> (i32) { %u = arith.muli %s, %k : i32 scf.yield %u : i32 } else { scf.yield %j : i32 }
    scf.yield %t : i32
  }
  %n = arith.index_cast %sum : i32 to index
  %r = scf.index_switch %n -> i32
    case 0 { %a = arith.constant 7 : i32 scf.yield %a : i32 }
    case 1 { %a = arith.constant 17 : i32 scf.yield %a : i32 }
    case 2 { %a = arith.constant 3 : i32 scf.yield %a : i32 }
    case 3 { %a = arith.constant 13 : i32 scf.yield %a : i32 }
    case 4 { %a = arith.constant 29 : i32 scf.yield %a : i32 }
    default { scf.yield %j : i32 }
  llvm.store %r, %p : i32, !llvm.ptr<1>"""
    ptx = run_pipeline(_kernel(lines), PIPELINE)
    assert "bra" in ptx
    assert "brx" not in ptx and "\n.global" not in ptx and "\n.visible .global" not in ptx


def test_calls_of_device_functions() -> None:
    """A function with a barrier in it stays one: its calls are convergent too."""
    text = """module { gpu.module @kernels {
  func.func private @meet(%n: i32, %p: !llvm.ptr<1>) attributes {llvm.linkage = #llvm.linkage<internal>, no_inline} {
    "fa4.block_sync"() : () -> ()
    llvm.store %n, %p : i32, !llvm.ptr<1>
    return
  }
  func.func @kernel(%p: !llvm.ptr<1>, %n: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c = arith.cmpi slt, %n, %n : i32
    func.call @meet(%n, %p) : (i32, !llvm.ptr<1>) -> ()
    return
  }
} }"""
    assert "bar.sync" in run_pipeline(text, PIPELINE)


def test_what_has_no_instruction_is_refused() -> None:
    for name in ("math.exp", "math.log", "math.powf", "math.sin"):
        operands = "%x, %y" if name == "math.powf" else "%x"
        with pytest.raises(Fa4dslError, match=f"C023.*{name}"):
            run_pipeline(_kernel(f"%r = {name} {operands} : f32\n  llvm.store %r, %p : f32, !llvm.ptr<1>"), PIPELINE)


@pytest.mark.parametrize("name", ["exp", "exp2", "pow", "sin", "tanh"])
def test_intrinsics_that_end_llvm_are_refused(name: str) -> None:
    operands, types = ("%x, %y", "f32, f32") if name == "pow" else ("%x", "f32")
    with pytest.raises(Fa4dslError, match=rf"C023.*llvm\.intr\.{name}"):
        run_pipeline(_kernel(f"%r = llvm.intr.{name}({operands}) : ({types}) -> f32\n  llvm.store %r, %p : f32, !llvm.ptr<1>"), PIPELINE)


def test_instructions_of_another_target_are_refused() -> None:
    lines = "%a = llvm.mlir.zero : !llvm.ptr<3>\n  nvvm.tcgen05.alloc %a, %i : !llvm.ptr<3>, i32"
    with pytest.raises(Fa4dslError, match=r"C035.*nvvm\.tcgen05\.alloc needs tcgen05"):
        run_pipeline(_kernel(lines), PIPELINE)
