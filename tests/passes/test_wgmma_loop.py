"""A warp-specialised matrix product (TMA ring, wgmma in a loop) compiles to wgmma that ptxas leaves asynchronous."""

from __future__ import annotations

import pytest

from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import Compilation, CompileOptions, compile_module
from fa4dsl.runtime.diagnostics import Fa4dslWarning

N = 32
COUNT = N // 2
TYPES = ", ".join(["f32"] * COUNT)
SHAPE = f'n = {N} : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false'


def _values(name: str) -> str:
    return ", ".join(f"%{name}#{i}" for i in range(COUNT))


def _wait(result: str, operand: str, pending: int) -> str:
    return f'%{result}:{COUNT} = "fa4.wgmma_wait"({_values(operand)}) {{pending = {pending} : i64}} : ({TYPES}) -> ({TYPES})'


def _steps() -> str:
    lines = []
    for step in range(4):
        before = _values(f"g{step - 1}") if step else ", ".join(f"%x{i}" for i in range(COUNT))
        lines.append(f"""
      %k{step} = arith.constant {32 * step} : i32
      %ao{step} = arith.addi %ao, %k{step} : i32
      %bo{step} = arith.addi %bo, %k{step} : i32
      %da{step} = "fa4.wgmma_descriptor"(%a, %ao{step}) {{leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"}} : (!fa4.shared, i32) -> i64
      %db{step} = "fa4.wgmma_descriptor"(%b, %bo{step}) {{leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"}} : (!fa4.shared, i32) -> i64
      %g{step}:{COUNT} = "fa4.wgmma"(%da{step}, %db{step}, %yes, {before}) {{{SHAPE}}} : (i64, i64, i1, {TYPES}) -> ({TYPES})""")
    return "".join(lines)


def _map(name: str, rows: int) -> str:
    template = f'{{dtype = "bf16", rank = 2 : i64, box = array<i64: 64, {rows}>, swizzle = "128B"}}'
    return f'{{name = "{name}", kind = "tensor_map", dtype = "bf16", tensor_map = {template}}}'


def product(pending: int, last_wait: bool) -> str:
    """C = A B over `k` tiles of depth 64. `pending` groups stay in flight from one iteration to the next."""
    stores = "\n".join(
        f"    %o{i} = llvm.getelementptr %place[{128 * i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n"
        f"    llvm.store %{'q' if last_wait else 'r'}#{i}, %o{i} : f32, !llvm.ptr<1>"
        for i in range(COUNT)
    )
    return f"""module {{ gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {{
func.func @product(%out: !llvm.ptr<1>, %a_map: !fa4.tensor_map, %b_map: !fa4.tensor_map, %k: i32) attributes {{fa4.kernel,
    fa4.block = array<i32: 256, 1, 1>, fa4.parameters = [{{name = "out", kind = "pointer", dtype = "f32"}}, {_map("a", 64)}, {_map("b", N)},
    {{name = "k", kind = "scalar", dtype = "i32"}}]}} {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %depth = arith.constant 64 : i32
  %f0 = arith.constant 0.0 : f32
  %yes = arith.constant true
  %a_bytes = arith.constant 8192 : i32
  %b_bytes = arith.constant {N * 128} : i32
  %bytes = arith.constant {8192 + N * 128} : i32
  %a = "fa4.shared_alloc"() {{name = "a", dtype = bf16, shape = array<i64: 2, 64, 64>, alignment = 1024 : i64, swizzle = "128B"}} : () -> !fa4.shared
  %b = "fa4.shared_alloc"() {{name = "b", dtype = bf16, shape = array<i64: 2, {N}, 64>, alignment = 1024 : i64, swizzle = "128B"}} : () -> !fa4.shared
  %full = "fa4.mbarrier_alloc"() {{name = "full", count = 2 : i64, arrivals = 1 : i64, scope = "cta"}} : () -> !fa4.mbarrier
  %empty = "fa4.mbarrier_alloc"() {{name = "empty", count = 2 : i64, arrivals = 128 : i64, scope = "cta"}} : () -> !fa4.mbarrier
  "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
  "fa4.mbarrier_init"(%empty) : (!fa4.mbarrier) -> ()
  "fa4.block_sync"() : () -> ()
  scf.execute_region {{
    %warp = "fa4.index"() {{what = "warp"}} : () -> i32
    %is_first = arith.cmpi eq, %warp, %four : i32
    scf.if %is_first {{
      %elected = "fa4.elect"() : () -> i1
      scf.if %elected {{
        scf.for %i = %zero to %k step %one : i32 {{
          %slot = arith.remui %i, %two : i32
          %round = arith.divui %i, %two : i32
          %parity = arith.andi %round, %one : i32
          %other = arith.xori %parity, %one : i32
          "fa4.mbarrier_wait"(%empty, %slot, %other) {{order = "acquire", scope = "cta"}} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.mbarrier_arrive_expect_tx"(%full, %slot, %bytes) {{order = "release", scope = "cta"}} : (!fa4.mbarrier, i32, i32) -> ()
          %ao = arith.muli %slot, %a_bytes : i32
          %bo = arith.muli %slot, %b_bytes : i32
          %c = arith.muli %i, %depth : i32
          "fa4.tma_load"(%a_map, %a, %ao, %full, %slot, %c, %zero) {{bytes = 8192 : i64}} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
          "fa4.tma_load"(%b_map, %b, %bo, %full, %slot, %c, %zero) {{bytes = {N * 128} : i64}} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
        }}
      }}
    }}
    scf.yield
  }} {{fa4.role = {{name = "producer", first_warp = 4 : i32, warps = 4 : i32, registers = 40 : i32}}}}
  scf.execute_region {{
    %r:{COUNT} = scf.for %i = %zero to %k step %one iter_args({", ".join(f"%x{i} = %f0" for i in range(COUNT))}) -> ({TYPES}) : i32 {{
      %slot = arith.remui %i, %two : i32
      %round = arith.divui %i, %two : i32
      %parity = arith.andi %round, %one : i32
      "fa4.mbarrier_wait"(%full, %slot, %parity) {{order = "acquire", scope = "cta"}} : (!fa4.mbarrier, i32, i32) -> ()
      %ao = arith.muli %slot, %a_bytes : i32
      %bo = arith.muli %slot, %b_bytes : i32
      "fa4.wgmma_fence"() : () -> (){_steps()}
      "fa4.wgmma_commit"() : () -> ()
      {_wait("w", "g3", pending)}
      "fa4.mbarrier_arrive"(%empty, %slot) {{count = 1 : i64, order = "release", scope = "cta"}} : (!fa4.mbarrier, i32) -> ()
      scf.yield {_values("w")} : {TYPES}
    }}
    {_wait("q", "r", 0) if last_wait else ""}
    %thread = "fa4.index"() {{what = "thread.x"}} : () -> i32
    %place = llvm.getelementptr %out[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
{stores}
    scf.yield
  }} {{fa4.role = {{name = "consumer", first_warp = 0 : i32, warps = 4 : i32, registers = 232 : i32}}}}
  return
}}
}} }}
"""


def _compiled(pending: int, last_wait: bool) -> Compilation:
    # The slot is released before the last group is waited for where some stay in flight: the checks would refuse it, rightly.
    return compile_module(parse(product(pending, last_wait), new_context()), CompileOptions(checks=pending == 0))


def test_asynchronous_within_an_iteration() -> None:
    compiled = _compiled(pending=0, last_wait=False)
    assert compiled.diagnostics == ()
    assert compiled.artifact.ptx.count("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16") == 4
    assert compiled.artifact.ptx.count("try_wait") == 2, "LLVM leaves loops as they are"
    assert "setmaxnreg.dec.sync.aligned.u32 40;" in compiled.artifact.ptx


def test_asynchronous_from_one_iteration_to_the_next() -> None:
    assert _compiled(pending=1, last_wait=True).diagnostics == ()


def test_reading_accumulators_in_flight_is_reported() -> None:
    """Without the last wait the stores read accumulators of a group in flight; ptxas puts a wait in and says so."""
    with pytest.warns(Fa4dslWarning, match="C054"):
        found = _compiled(pending=1, last_wait=False).diagnostics
    assert [item.code for item in found] == ["C054"]
