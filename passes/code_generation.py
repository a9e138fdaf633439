"""From the LLVM dialect to LLVM IR and PTX, safely: IR that LLVM may end the process over is compiled in a process of its own.

``python -m fa4dsl.passes.code_generation TARGET`` is that process: MLIR or LLVM IR on the standard input, the result pickled on the
standard output.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from fa4dsl.passes.familiar_operations import unfamiliar
from fa4dsl.passes.kernel import gpu_modules
from fa4dsl.passes.llvm_stage import refuse_what_llvm_cannot, to_llvm_ir, to_ptx
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.target import Target, target_named
from fa4dsl.runtime.diagnostics import Fa4dslError, Frame, fail

if TYPE_CHECKING:
    from mlir import ir

LONGEST = 600
"""Seconds that a compilation in its own process may take."""


def needs_own_process(module: ir.Module) -> bool:
    """Whether LLVM might end the process over a lowered module."""
    return any(unfamiliar(item) for item in gpu_modules(module))


def llvm_ir_of(module: ir.Module, target: Target, apart: bool) -> str:
    """LLVM IR of a lowered module. Raises C015, C017, C023, C035, C059, and C024 where LLVM ends over it."""
    return _apart(module, target, "llvm") if apart else to_llvm_ir(module, target)


def ptx_of(module: ir.Module, llvm: str, target: Target, apart: bool) -> str:
    """PTX of a lowered module whose LLVM IR is `llvm`. Raises C018, C024, C059."""
    return _apart(module, target, "ptx") if apart else to_ptx(llvm, target)


def ptx_of_text(llvm: str, target: Target) -> str:
    """PTX of LLVM IR that somebody wrote by hand: always in a process of its own."""
    return _child(llvm, target, "ptx", (), "")


def _apart(module: ir.Module, target: Target, wanted: str) -> str:
    found = gpu_modules(module)
    if len(found) != 1:
        fail("C017", *(frame for item in found for frame in operation_frames(item, "one")), count=len(found))
    refuse_what_llvm_cannot(found[0], target)
    strange = unfamiliar(found[0])
    frames = tuple(dict.fromkeys(frame for item in strange for frame in operation_frames(item)))[:3]
    names = ", ".join(dict.fromkeys(item.name for item in strange))
    return _child(str(module.operation.get_asm(enable_debug_info=True)), target, wanted, frames, names)


def _child(text: str, target: Target, wanted: str, frames: tuple[Frame, ...], names: str) -> str:
    command = [sys.executable, "-m", "fa4dsl.passes.code_generation", target.name, wanted]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        fail("C024", *frames, reason=f"it did not end within {LONGEST} seconds", operations=names or "the LLVM IR")
    if done.returncode:
        fail("C024", *frames, reason=reason_of(done.stderr.decode(errors="replace"), done.returncode), operations=names or "the LLVM IR")
    result = pickle.loads(done.stdout)
    if isinstance(result, Fa4dslError):
        raise result
    return str(result)


def reason_of(errors: str, status: int) -> str:
    """What LLVM or MLIR said before it ended the process."""
    for line in errors.splitlines():
        asserted = re.search(r"Assertion [`'](.*)' failed", line)
        if asserted is not None:
            return f"its assertion {asserted[1]} failed"[:300]
        selected = re.search(r"Cannot select: t\d+: \S+ = ([\w:]+)", line)
        if selected is not None:
            return f"Cannot select {selected[1]}: the NVPTX back end has no instruction for it"
        if line.startswith("LLVM ERROR: "):
            return line.removeprefix("LLVM ERROR: ").strip()[:300]
        if re.search(r"[Cc]annot|[Uu]nsupported", line):
            return line.strip()[:300]
    return f"its process ended with signal {-status}" if status < 0 else f"its process ended with status {status}"


def main() -> None:
    target, wanted = target_named(sys.argv[1]), sys.argv[2]
    text = sys.stdin.read()
    result: str | Fa4dslError
    try:
        llvm = text
        if not text.lstrip().startswith(("; ModuleID", "source_filename", "target ", "define ")):
            from fa4dsl.passes.dialect.definition import new_context
            from fa4dsl.passes.mlir_errors import parse

            llvm = to_llvm_ir(parse(text, new_context()), target)
        result = llvm if wanted == "llvm" else to_ptx(llvm, target)
    except Fa4dslError as error:
        result = error
    sys.stdout.buffer.write(pickle.dumps(result))


if __name__ == "__main__":
    main()
