"""From the LLVM dialect to LLVM IR text and PTX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fa4dsl.passes import llvm_library
from fa4dsl.passes.dialect.inline_ptx import constraint_problem
from fa4dsl.passes.kernel import gpu_modules, symbol_name, walk
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.lower_math import SUPPORTED_MATH
from fa4dsl.passes.lower_print import FUNCTION
from fa4dsl.passes.rewriting import is_convergent
from fa4dsl.passes.target import Target
from fa4dsl.runtime.diagnostics import Fa4dslError, diagnostic, fail

if TYPE_CHECKING:
    from mlir import ir

OPTIMISATION = "default<O3>"
DRIVER_FUNCTIONS = frozenset({FUNCTION})
"""Functions without a body that the driver links: printing."""

_LIBRARY_INTRINSICS = frozenset(
    f"llvm.intr.{name}"
    for name in [
        *("exp", "exp2", "exp10", "log", "log2", "log10", "pow", "powi", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "sincos", "frexp", "ldexp", "modf"),
    ]
)
"""Intrinsics that NVPTX turns into library calls, or cannot select: then LLVM ends the process."""

_DEFINITION = re.compile(r"^(define .*\))((?: #\d+)?(?: !dbg !\d+)? \{)$")
_ASM_CALL = re.compile(
    r'^(?P<call>.* call .*\basm (?:[a-z]+ )*"(?P<text>(?:[^"\\]|\\.)*)", "[^"]*"\(.*\))(?P<rest>(?: #\d+)?(?:, ![^ ]+ ![^ ]+)*)$'
)


def to_llvm_ir(module: ir.Module, target: Target) -> str:
    """LLVM IR of a module whose gpu.module holds only LLVM and NVVM operations.

    Raises C015 for an operation that was not lowered. Inline assembly whose instructions several threads execute together is
    marked `convergent`, which MLIR's operation cannot say: without it LLVM may sink such a call into a branch.
    """
    from mlir import ir
    from mlir._mlir_libs import _mlirDialectsLLVM as llvm
    from mlir._mlir_libs import _mlirRegisterEverything as registration

    modules = gpu_modules(module)
    if len(modules) != 1:
        fail("C017", *(frame for item in modules for frame in operation_frames(item, "one")), count=len(modules))
    refuse_what_llvm_cannot(modules[0], target)
    registration.register_llvm_translations(module.context)
    with module.context, ir.Location.unknown():
        plain = ir.Module.create()
        for operation in list(modules[0].regions[0].blocks[0]):
            ir.InsertionPoint(plain.body).insert(operation.operation.clone())
        text = llvm.translate_module_to_llvmir(plain.operation)
    triple = f'target triple = "{target.triple}"'
    if "target triple" not in text:
        text = text.replace("\n\n", f"\n{triple}\n\n", 1)
    return mark_convergent(text)


def refuse_what_llvm_cannot(gpu_module: ir.Operation, target: Target) -> None:
    """C015 for each operation that LLVM has no word for, C059 for inline PTX whose constraints do not fit: LLVM ends the process over either.

    C018 for calls of functions that are only declared: PTX has no library to link.
    """
    from mlir import ir

    everything = walk(gpu_module)
    for item in everything:
        if item.name in _LIBRARY_INTRINSICS:
            fail("C023", *operation_frames(item), operation=item.name, known=", ".join(sorted(SUPPORTED_MATH)))
        if item.name.startswith("nvvm.tcgen05") and not target.has_tcgen05:
            fail("C035", *operation_frames(item), operation=item.name, feature="tcgen05", target=target.name)
    left = [item for item in everything if not item.name.startswith(("llvm.", "nvvm."))]
    if left:
        found: dict[str, ir.Operation] = {}
        for item in left:
            found.setdefault(item.name, item)
        raise Fa4dslError(*(diagnostic("C015", *operation_frames(item), operation=name) for name, item in list(found.items())[:5]))
    _refuse_missing_functions(gpu_module, everything)
    for item in everything:
        if item.name == "llvm.inline_asm":
            operands, results = [str(value.type) for value in item.operands], [str(value.type) for value in item.results]
            if results and results[0].startswith("!llvm.struct<("):
                results = [part.strip() for part in re.split(r",\s*(?![^<]*>)", results[0][len("!llvm.struct<(") : -2])]
            text, constraints = (ir.StringAttr(item.attributes[key]).value for key in ("asm_string", "constraints"))
            problem = constraint_problem(
                text, constraints, operands, [f"!llvm.{part}" if part.startswith("ptr") else part for part in results]
            )
            if problem:
                fail("C059", *operation_frames(item), problem=problem)


def _refuse_missing_functions(gpu_module: ir.Operation, everything: list[ir.Operation]) -> None:
    declared = {
        symbol_name(item.operation)
        for item in gpu_module.regions[0].blocks[0]
        if item.operation.name == "llvm.func" and not item.operation.regions[0].blocks
    }
    missing = {name for name in declared if not name.startswith("llvm.")} - DRIVER_FUNCTIONS
    calls = [item for item in everything if item.name == "llvm.call" and "callee" in item.attributes] if missing else []
    named = [(_symbol_of(item.attributes["callee"]), item) for item in calls]
    found = [(name, item) for name, item in named if name in missing]
    if found:
        names = ", ".join(sorted({name for name, _ in found}))
        fail("C018", *(frame for _, item in found[:3] for frame in operation_frames(item)), functions=names)


def _symbol_of(symbol: ir.Attribute) -> str:
    """The name in a reference."""
    return str(symbol).removeprefix("@").strip('"')


def mark_convergent(text: str) -> str:
    """LLVM IR with `convergent` on the inline-assembly calls that need it, and on functions that are not kernels (and may hold such)."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("define ") and " ptx_kernel " not in line and " convergent" not in line:
            lines[i] = _DEFINITION.sub(r"\1 convergent\2", line)
            continue
        if " asm " not in line:
            continue
        match = _ASM_CALL.match(line)
        if match is not None and is_convergent(match["text"]) and " convergent" not in match["rest"]:
            lines[i] = f"{match['call']} convergent{match['rest']}"
    return "\n".join(lines)


def to_ptx(text: str, target: Target) -> str:
    """PTX of LLVM IR: LLVM's O3 pipeline and its NVPTX back end.

    Raises C018 where the code calls a function that no library gives.
    """
    with llvm_library.parse(text, target) as opened:
        opened.optimise(OPTIMISATION)
        ptx = opened.ptx()
    missing = set(re.findall(r"^\.extern \.func\b(?:[^;]*?\))?\s*([\w$.]+)", ptx, re.MULTILINE)) - DRIVER_FUNCTIONS
    if missing:
        fail("C018", functions=", ".join(sorted(missing)))
    # Directives-only debug information leaves one empty section, which says nothing.
    return re.sub(r"^\s*\.section\s+\.debug_macinfo\s*\{\s*\}\n", "", ptx, flags=re.MULTILINE)


def optimised(text: str, target: Target) -> str:
    """LLVM IR after LLVM's pipeline, for people to read."""
    with llvm_library.parse(text, target) as opened:
        opened.optimise(OPTIMISATION)
        return opened.text()
