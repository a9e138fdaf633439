"""The compiler as one call: a module of the fa4 dialect in, an artifact out, with every stage to look at and feed back in."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.assemble import Assembly, assemble, disassemble
from fa4dsl.passes.code_generation import llvm_ir_of, needs_own_process, ptx_of, ptx_of_text
from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.kernel import KernelInfo, kernels
from fa4dsl.passes.lower_roles import roles_of
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.named_barriers import named_barriers
from fa4dsl.passes.parameter_access import with_needs
from fa4dsl.passes.place_shared_memory import shared_map
from fa4dsl.passes.record_waits import waits_of
from fa4dsl.passes.registry import LOWERING, PASSES, TO_LLVM, run_passes, split_pipeline
from fa4dsl.passes.target import DEFAULT, TARGETS, target_of
from fa4dsl.passes.verify import verify_operations
from fa4dsl.runtime.artifact import Artifact
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Location, fail, issue_warnings
from fa4dsl.runtime.manifest import Manifest

if TYPE_CHECKING:
    from mlir import ir

STAGE_PASSES: dict[str, tuple[str, ...]] = {
    "fa4": ("fa4-verify",),
    "placed": ("place-shared-memory",),
    "fenced": ("insert-proxy-fences",),
    "recorded": ("record-waits",),
    "nvvm": LOWERING,
    "llvm-dialect": TO_LLVM,
}
"""The MLIR stages in order, with the passes that make each from the one before."""

STAGES = (*STAGE_PASSES, "llvm", "ptx", "sass")
"""Every stage that can be shown: MLIR text, then LLVM IR, PTX, and SASS."""


@dataclass(frozen=True)
class CompileOptions:
    """`assemble`: make machine code too. `checks`: run the static checks of protocol, resources and TMA (errors stop the
    compilation). `warnings_as_errors`: the first warning stops it too; else each is issued as a `Fa4dslWarning`. `sources`: text of the files that locations name, kept in the manifest."""

    assemble: bool = True
    checks: bool = True
    warnings_as_errors: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)


class Stages(Mapping[str, str]):
    """The stages' texts by name. MLIR stages are made again from the input when asked for: printing all would cost every compile."""

    def __init__(self, source: ir.Module, llvm: str, ptx: str, cubin: bytes | None, locations: bool = False) -> None:
        self._source = source
        self._known = {"llvm": llvm, "ptx": ptx}
        self._cubin = cubin
        self._locations = locations

    def __getitem__(self, name: str) -> str:
        if name not in STAGES:
            fail("C019", stage=name, known=", ".join(STAGES))
        if name not in self._known:
            if name == "sass":
                if self._cubin is None:
                    fail("C057")
                self._known[name] = disassemble(self._cubin)
            else:
                self._known[name] = self.mlir(name, self._locations)
        return self._known[name]

    def __getattr__(self, name: str) -> str:
        """`stages.ptx` is `stages["ptx"]`."""
        if name in STAGES:
            return self[name]
        raise AttributeError(f"no stage {name!r}; there are: {', '.join(STAGES)}")

    def mlir(self, name: str, locations: bool = True) -> str:
        """An MLIR stage with or without source locations; with them the text can be fed back in without loss."""
        from mlir import ir

        with self._source.context, ir.Location.unknown():
            copy = _clone(self._source)
        for stage, names in STAGE_PASSES.items():
            run_passes(copy, names)
            if stage == name:
                break
        return str(copy.operation.get_asm(enable_debug_info=locations))

    def __iter__(self) -> Iterator[str]:
        return iter(STAGES)

    def __len__(self) -> int:
        return len(STAGES)


@dataclass(frozen=True)
class Compilation:
    """A compiled kernel: the artifact, the stages' texts, seconds by stage (and by pass), and what the compiler had to say."""

    artifact: Artifact
    stages: Stages
    timings: dict[str, float]
    diagnostics: tuple[Diagnostic, ...]
    assembly: Assembly | None = None

    @property
    def seconds(self) -> float:
        """Time of the whole compilation, from the fa4 module to the artifact."""
        return sum(self.timings[stage] for stage in STAGES if stage in self.timings) + sum(
            self.timings.get(name, 0.0) for name in ("checks", "assemble")
        )


def compile_module(module: ir.Module, options: CompileOptions | None = None) -> Compilation:
    """Compiles a module with one kernel. `module` is left as it was.

    Raises C0xx from the passes; C017 unless there is exactly one kernel.
    """
    from mlir import ir

    options = options or CompileOptions()
    found = kernels(module)
    if len(found) != 1:
        fail("C017", count=len(found))
    target = target_of(module)
    timings: dict[str, float] = {}
    diagnostics: list[Diagnostic] = []
    with module.context, ir.Location.unknown():
        work = _clone(module)
    for stage, names in STAGE_PASSES.items():
        begun = time.perf_counter()
        run_passes(work, names, timings)
        timings[stage] = time.perf_counter() - begun
        if stage == "fa4":
            function = kernels(work)[0]
            roles, barriers, parameters = roles_of(function), named_barriers(function), with_needs(function)
            begun = time.perf_counter()
            if options.checks:
                diagnostics += _checked(work)
            timings["checks"] = time.perf_counter() - begun
    begun = time.perf_counter()
    apart = needs_own_process(work)
    llvm = llvm_ir_of(work, target, apart)
    timings["llvm"], begun = time.perf_counter() - begun, time.perf_counter()
    ptx = ptx_of(work, llvm, target, apart)
    timings["ptx"], begun = time.perf_counter() - begun, time.perf_counter()
    function = kernels(work)[0]
    info = KernelInfo.of(function)
    assembly = None
    if options.assemble:
        place = Location(info.file, info.line) if info.file else None
        assembly = assemble(ptx, target, info.name, place)
        timings["assemble"] = time.perf_counter() - begun
        diagnostics += assembly.diagnostics
    issue_warnings(diagnostics, options.warnings_as_errors)
    total, objects = shared_map(function)
    manifest = Manifest(
        name=info.name,
        entry=info.entry,
        target=target.name,
        parameters=(*parameters, *info.parameters[len(parameters) :]),
        block=info.block,
        cluster=info.cluster,
        dynamic_shared_bytes=total,
        shared=objects,
        roles=roles,
        named_barriers=barriers,
        waits=waits_of(function),
        registers=assembly.registers if assembly else 0,
        spill_bytes=assembly.spill_stores + assembly.spill_loads if assembly else 0,
        file=info.file,
        line=info.line,
        sources=dict(options.sources),
        options=info.options,
        warnings=tuple(replace(item, fields={}) for item in diagnostics if item.severity == "warning"),
    )
    artifact = Artifact(manifest, ptx, assembly.cubin if assembly else None)
    stages = Stages(module, llvm, ptx, artifact.cubin)
    return Compilation(artifact, stages, timings, tuple(diagnostics), assembly)


def _checked(module: ir.Module) -> list[Diagnostic]:
    """The static checks' warnings and notes; raises all errors that they find together."""
    from fa4dsl.passes.checks import run_checks

    # What an unrolled loop or operation repeats is told once.
    found = list({(item.code, item.message, item.frames): item for item in run_checks(module)}.values())
    errors = [item for item in found if item.severity == "error"]
    if errors:
        raise Fa4dslError(*errors)
    return found


def _clone(module: ir.Module) -> ir.Module:
    from mlir import ir

    plain = ir.Module.create()
    for operation in module.body:
        ir.InsertionPoint(plain.body).insert(operation.operation.clone())
    for item in module.operation.attributes:
        plain.operation.attributes[_name(item)] = module.operation.attributes[_name(item)]
    return plain


def _name(item: Any) -> str:
    return str(getattr(item, "name", item))


def run_pipeline(source: str | ir.Module, pipeline: str, name: str = "-", locations: bool = False) -> str:
    """Runs a textual pipeline, ours and upstream passes mixed, and gives the resulting text.

    Ours by name ("place-shared-memory"), all lowering passes as "lower-fa4", the upstream ones to the LLVM dialect as
    "fa4-to-llvm"; "emit-llvm" and "emit-ptx" may come last and give LLVM IR and PTX instead of MLIR. LLVM IR (a source that
    begins with "; ModuleID" or defines functions with `define`) may be fed to "emit-ptx" alone.
    """
    elements = split_pipeline(pipeline)
    emit = elements.pop() if elements and elements[-1] in ("emit-llvm", "emit-ptx") else None
    if isinstance(source, str) and source.lstrip().startswith("; ModuleID"):
        if elements or emit != "emit-ptx":
            fail("C016", name=pipeline, suggestion="", reason="LLVM IR can only be fed to emit-ptx")
        return ptx_of_text(source, TARGETS[DEFAULT])
    module = parse(source, new_context(), name) if isinstance(source, str) else source
    if elements[:1] != ["fa4-verify"] and any(name in PASSES for name in elements):
        with module.context:
            verify_operations(module)
    run_passes(module, elements)
    if emit is None:
        return str(module.operation.get_asm(enable_debug_info=locations))
    target = target_of(module)
    apart = needs_own_process(module)
    llvm = llvm_ir_of(module, target, apart)
    return llvm if emit == "emit-llvm" else ptx_of(module, llvm, target, apart)
