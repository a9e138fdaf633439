"""The compiler as one call: the manifest, the stages as text that feeds back in, timings, and failures of its surroundings."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from dialect_samples import Sample, kernel

from fa4dsl.passes import assemble as assembler
from fa4dsl.passes.assemble import assemble, disassemble
from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.llvm_stage import mark_convergent
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import STAGE_PASSES, STAGES, CompileOptions, compile_module, run_pipeline
from fa4dsl.passes.registry import LOWERING, PASSES, split_pipeline
from fa4dsl.passes.target import target_named
from fa4dsl.runtime.diagnostics import Fa4dslError, Fa4dslWarning, Location

ROLES = """module { gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
func.func @kernel(%p: !llvm.ptr<1>, %map: !fa4.tensor_map) attributes {fa4.kernel = "roles", fa4.block = array<i32: 256, 1, 1>,
    fa4.options = {depth = 128 : i64}, fa4.parameters = [{name = "p", kind = "pointer", dtype = "f32", access = "out", alignment = 16 : i64},
    {name = "map", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "128B"}}]} {
  %one = arith.constant 1 : i32
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
  %full = "fa4.mbarrier_alloc"() {name = "full", count = 2 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
  "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
  "fa4.named_barrier_sync"(%one) {threads = 256 : i64, name = "begin"} : (i32) -> ()
  scf.execute_region {
    "fa4.tensor_map_prefetch"(%map) : (!fa4.tensor_map) -> ()
    scf.yield
  } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}}
  return
} loc("roles.py":12:1)
} }
"""


def test_manifest() -> None:
    compiled = compile_module(parse(ROLES, new_context()), CompileOptions(sources={"roles.py": "text"}))
    manifest = compiled.artifact.manifest
    compiled.artifact.check()
    assert (manifest.name, manifest.entry, manifest.target, manifest.block) == ("roles", "kernel", "sm_90a", (256, 1, 1))
    assert (manifest.file, manifest.line, manifest.sources) == ("roles.py", 12, {"roles.py": "text"})
    assert manifest.options == {"depth": 128}
    pointer, tensor_map = manifest.parameters
    assert (pointer.name, pointer.kind, pointer.dtype, pointer.access, pointer.alignment) == ("p", "pointer", "f32", "out", 16)
    assert tensor_map.tensor_map is not None
    assert (tensor_map.tensor_map.box, tensor_map.tensor_map.swizzle, tensor_map.tensor_map.rank) == ((64, 8), "128B", 2)
    tile, full = manifest.shared
    assert (tile.name, tile.kind, tile.offset, tile.size, tile.alignment, tile.shape) == ("tile", "array", 0, 1024, 1024, (8, 64))
    assert (full.name, full.kind, full.offset, full.size, full.arrivals) == ("full", "mbarrier", 1024, 16, 1)
    assert manifest.dynamic_shared_bytes == 1040
    assert [(role.name, role.first_warp, role.warps, role.registers) for role in manifest.roles] == [("producer", 0, 4, 40)]
    assert manifest.named_barriers == {1: "begin"}
    assert manifest.registers > 0
    assert compiled.artifact.cubin is not None and compiled.artifact.cubin[:4] == b"\x7fELF"


def test_every_stage_feeds_the_next() -> None:
    """Each MLIR stage, printed with locations and read again, leads to the same PTX."""
    context = new_context()
    compiled = compile_module(parse(ROLES, context), CompileOptions(assemble=False))
    names = list(STAGE_PASSES)
    for position, stage in enumerate(names):
        rest = [name for later in names[position + 1 :] for name in STAGE_PASSES[later]]
        text = compiled.stages.mlir(stage)
        assert run_pipeline(text, ",".join([*rest, "emit-ptx"])) == compiled.artifact.ptx, stage
    assert run_pipeline(compiled.stages["llvm"], "emit-ptx") == compiled.artifact.ptx


def test_compiling_leaves_the_module_alone_and_repeats_itself() -> None:
    module = parse(ROLES, new_context())
    before = str(module)
    first, second = (compile_module(module, CompileOptions(assemble=False)).artifact.ptx for _ in range(2))
    assert first == second
    assert str(module) == before


def test_stages_and_timings() -> None:
    compiled = compile_module(parse(ROLES, new_context()))
    assert compiled.stages.ptx == compiled.stages["ptx"] == compiled.artifact.ptx
    assert '"fa4.shared_alloc"' in compiled.stages.fa4
    assert "fa4.offset" in compiled.stages.placed
    assert "fa4." not in re.sub(r"fa4\.\w+ = ", "", compiled.stages["llvm-dialect"].partition("llvm.mlir.addressof")[2])
    assert "define ptx_kernel void @kernel" in compiled.stages.llvm
    assert {*STAGE_PASSES, *LOWERING, "checks", "llvm", "ptx", "assemble"} <= compiled.timings.keys()
    assert compiled.seconds == pytest.approx(sum(compiled.timings[name] for name in (*STAGE_PASSES, "checks", "llvm", "ptx", "assemble")))
    assert list(compiled.stages) == list(STAGES)
    with pytest.raises(Fa4dslError, match="C019"):
        compiled.stages["nvvmm"]
    with pytest.raises(AttributeError, match="no stage 'binary'"):
        compiled.stages.binary  # noqa: B018


def test_sass_without_machine_code_or_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = compile_module(parse(ROLES, new_context()), CompileOptions(assemble=False))
    with pytest.raises(Fa4dslError, match="C057"):
        compiled.stages["sass"]
    monkeypatch.setattr(assembler, "find_tool", lambda _name: None)
    with pytest.raises(Fa4dslError, match="C056"):
        disassemble(b"\x7fELF")


def test_another_target() -> None:
    text = ROLES.replace("sm_90a", "sm_100a")
    artifact = compile_module(parse(text, new_context())).artifact
    assert artifact.manifest.target == "sm_100a"
    assert ".target sm_100a\n" in artifact.ptx
    artifact.check()


def test_one_kernel_a_module() -> None:
    with pytest.raises(Fa4dslError, match="C017"):
        compile_module(parse("module { gpu.module @kernels { } }", new_context()))


def test_without_mlir(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "mlir" or name.startswith("mlir.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mlir", None)
    with pytest.raises(Fa4dslError) as caught:
        new_context()
    assert caught.value.code == "C002"


def test_parse_errors_point_into_the_file() -> None:
    with pytest.raises(Fa4dslError) as caught:
        parse('module {\n  "fa4.block_sync"(\n}', new_context(), "kernel.mlir")
    assert caught.value.code == "C001"
    assert caught.value.diagnostic.frames[0].location.file == "kernel.mlir"
    assert caught.value.diagnostic.frames[0].location.line in (2, 3)


def test_a_library_function_is_refused() -> None:
    text = """module { gpu.module @kernels {
  llvm.func @expf(f32) -> f32
  llvm.func @kernel(%p: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 32, 1, 1>, nvvm.kernel} {
    %y = llvm.call @expf(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  } } }"""
    with pytest.raises(Fa4dslError, match=r"C018.*expf"):
        run_pipeline(text, "emit-ptx")


def test_broken_llvm_ir_is_refused() -> None:
    with pytest.raises(Fa4dslError, match="C001"):
        run_pipeline("; ModuleID = 'x'\ndefine void @f() { ret i32 0 }", "emit-ptx")


def test_split_pipeline() -> None:
    assert split_pipeline("cse, gpu.module(a,b{x=1,y}),canonicalize{top-down=true}") == [
        "cse",
        "gpu.module(a,b{x=1,y})",
        "canonicalize{top-down=true}",
    ]
    assert split_pipeline("lower-fa4") == [name for name in PASSES if name.startswith("lower-")]


def test_every_pass_says_what_it_does() -> None:
    assert all(item.summary for item in PASSES.values())


def test_convergent_marks() -> None:
    lines = [
        '  call void asm sideeffect "bar.sync 0;", "~{memory}"(), !dbg !7',
        '  call void asm sideeffect "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], 1;", "r,~{memory}"(ptr addrspace(3) %1), !dbg !7',
        '  %3 = call float asm "ex2.approx.f32 $0, $1;", "=f,f"(float %2)',
        '  %4 = call { float, float } asm sideeffect "wgmma.wait_group.sync.aligned 0;", "=f,=f,0,1,~{memory}"(float %1, float %2) #3, !dbg !8',
    ]
    bar, arrive, exp2, wait = mark_convergent("\n".join(lines)).split("\n")
    assert bar == lines[0].replace("(), ", "() convergent, ")
    assert arrive == lines[1]
    assert exp2 == lines[2]
    assert wait == lines[3].replace(" #3", " convergent #3")
    assert mark_convergent(bar) == bar
    assert mark_convergent("define void @f(i32 %0) #1 !dbg !3 {") == "define void @f(i32 %0) convergent #1 !dbg !3 {"
    assert mark_convergent("define ptx_kernel void @k() {") == "define ptx_kernel void @k() {"


# --- ptxas

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"


def assembled(body: str, launch: str = ".reqntid 128\n.minnctapersm 1") -> assembler.Assembly:
    return assemble(
        f"{HEADER}.visible .entry kernel()\n{launch}\n{{\n{body}\n ret;\n}}\n", target_named("sm_90a"), "kernel", Location("k.py", 3)
    )


def test_no_ptxas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "find_tool", lambda _name: None)
    with pytest.raises(Fa4dslError, match="C050"):
        assembled("")


def test_refused_ptx_names_the_instruction_and_the_authors_line() -> None:
    with pytest.raises(Fa4dslError) as caught:
        assembled(' .loc 1 42 7\n frobnicate.b32 1;\n .file 1 "author.py"')
    assert caught.value.code == "C051"
    assert "frobnicate" in str(caught.value)
    assert caught.value.diagnostic.frames[0].location == Location("author.py", 42, 7)


def test_refused_ptx_without_a_line_shows_the_kernel() -> None:
    """ptxas names no line where the whole kernel is too large, or a function is nowhere."""
    for body, said in ((".shared .b8 big[400000]; st.shared.b8 [big], 0;", "too much shared data"), ("call helper, ();", "helper")):
        with pytest.raises(Fa4dslError) as caught:
            assembled(body)
        assert caught.value.code == "C051" and said in caught.value.diagnostic.message
        assert caught.value.diagnostic.frames[0].location == Location("k.py", 3)


def test_several_errors_are_counted() -> None:
    with pytest.raises(Fa4dslError) as caught:
        assembled("frobnicate.b32 1;\n twiddle.b32 2;")
    assert "(in: frobnicate.b32 1; 2 errors in all)" in caught.value.diagnostic.message


def test_plain_warnings_of_ptxas_are_reported() -> None:
    (remark,) = assembled("", launch=".reqntid 1024\n.minnctapersm 4").diagnostics
    assert remark.code == "C058" and "out of range" in remark.message


def test_ptxas_without_a_folder_for_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with pytest.raises(Fa4dslError, match=r"C055.*no/such/folder"):
        assembled("")


def test_ignored_setmaxnreg_is_an_error() -> None:
    with pytest.raises(Fa4dslError) as caught:
        assembled(" setmaxnreg.inc.sync.aligned.u32 192;", launch="")
    assert caught.value.code == "C052"
    assert "register count at entry" in caught.value.diagnostic.message
    assert assembled(" setmaxnreg.inc.sync.aligned.u32 192;").registers >= 24


def test_spills_are_reported() -> None:
    """64 values that are all alive do not fit in 24 registers."""
    loads = "\n".join(f" ld.volatile.global.u32 %r{i}, [%rd1];" for i in range(64))
    stores = "\n".join(f" st.volatile.global.u32 [%rd1], %r{i};" for i in range(64))
    body = f" .reg .b32 %r<64>;\n .reg .b64 %rd<2>;\n mov.u64 %rd1, 4096;\n{loads}\n bar.sync 0;\n{stores}"
    report = assembled(body, ".reqntid 128\n.maxnreg 24")
    assert [item.code for item in report.diagnostics] == ["C053"]
    assert report.diagnostics[0].severity == "warning"
    assert report.spill_stores > 0 and report.registers <= 24


def test_serialized_wgmma_is_reported() -> None:
    """An accumulator that is read before its wait makes ptxas wait after each wgmma."""
    body = """ .reg .f32 %f<4>; .reg .b64 %d<2>; .reg .pred %p<1>; .reg .b64 %g<1>;
 mov.b64 %d0, 1; mov.b64 %d1, 2; mov.u64 %g0, 4096; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
 setp.ne.u64 %p0, %d0, 0;
 wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0;
 st.global.f32 [%g0], %f0;
 wgmma.commit_group.sync.aligned;
 wgmma.wait_group.sync.aligned 0;
 st.global.f32 [%g0], %f1;"""
    report = assembled(body)
    assert [item.code for item in report.diagnostics] == ["C054"]


def test_failing_ptxas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho 'out of memory' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(assembler, "find_tool", lambda _name: tool)
    with pytest.raises(Fa4dslError, match=r"C055.*out of memory"):
        assembled("")


def test_other_remarks_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ptxas"
    tool.write_text("""#!/bin/sh
echo "ptxas info    : (C7599) Potential Performance Loss: something new in function 'kernel'"
echo "ptxas info    : Used 40 registers, used 1 barriers"
for last; do :; done
printf '\\177ELF' > "$last"
""")
    tool.chmod(0o755)
    monkeypatch.setattr(assembler, "find_tool", lambda _name: tool)
    report = assembled("")
    assert [item.code for item in report.diagnostics] == ["C058"]
    assert "something new" in report.diagnostics[0].message
    assert (report.registers, report.barriers) == (40, 1)


def test_missing_fences_are_warned_about_in_manual_mode() -> None:
    text = kernel(Sample("bulk_store")).replace(
        "    %v0_0 = ", '    llvm.store %n, %local : i32, !llvm.ptr<3>\n    "fa4.block_sync"() : () -> ()\n    %v0_0 = '
    )
    with pytest.warns(Fa4dslWarning, match="C040"):
        manual = compile_module(parse(text, new_context()), CompileOptions(assemble=False))
    assert [item.code for item in manual.diagnostics] == ["C040"]
    assert "array" in manual.diagnostics[0].message and "block_sync" in manual.diagnostics[0].mend
    automatic = compile_module(parse(text.replace('"manual"', '"automatic"'), new_context()), CompileOptions(assemble=False))
    assert automatic.diagnostics == ()
    assert "fence.proxy.async.shared::cta;" in automatic.artifact.ptx
    assert "fence.proxy" not in manual.artifact.ptx
    with pytest.raises(Fa4dslError) as strict:
        compile_module(parse(text, new_context()), CompileOptions(assemble=False, warnings_as_errors=True))
    assert strict.value.code == "C040"


def test_unreadable_file(capsys: pytest.CaptureFixture[str]) -> None:
    from fa4dsl.passes.opt import main

    assert main(["cse", "no-such-file.mlir"]) == 1
    assert "C060" in capsys.readouterr().err
