"""Diagnostics of ptxas, C050 to C058: what it refuses, ignores and remarks on."""

from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C050",
        "No ptxas",
        "machine code needs NVIDIA's assembler ptxas, and it is not found",
        "install the wheel nvidia-cuda-nvcc, or put a CUDA toolkit's bin folder on PATH (or set CUDA_HOME); `fa4dsl opt` stops at PTX and needs none",
        "ptxas turns PTX into machine code. The driver could do it at load time, but without checks and with setmaxnreg ignored.",
    ),
    Entry(
        "C051",
        "ptxas refuses the PTX",
        "ptxas refuses kernel {kernel}: {problem}{where}",
        "mend the inline PTX at this line; where the kernel has none, please report it: the compiler made wrong PTX",
        "Only inline PTX is the author's own; everything else the compiler emits must assemble.",
    ),
    Entry(
        "C052",
        "setmaxnreg is ignored",
        "ptxas ignores the register budgets of kernel {kernel}: {reason}",
        "where the count at entry is unknown, declare min_blocks = 1; where a minimum is named, raise the role's budget to it (or hold fewer values)",
        "ptxas drops setmaxnreg where it does not know the register count at entry, and where a role's code needs more registers than "
        "its budget. Every role then keeps the launch's registers, and one written for more spills or fails.",
    ),
    Entry(
        "C053",
        "Registers spill",
        "kernel {kernel} spills: {stores} bytes stored and {loads} bytes loaded a thread, with {registers} registers",
        "hold fewer values at once (smaller tiles, shorter lives), or raise the register limit (min_blocks, max_registers, role budgets)",
        "Values that do not fit in registers go to local memory, which is cached global memory: tens to hundreds of cycles each.",
        severity="warning",
    ),
    Entry(
        "C054",
        "wgmma that waits",
        "ptxas makes the wgmma of kernel {kernel} wait: {reason}",
        "leave the accumulators alone between the first wgmma and its wait, and keep fences, commits and waits in the same control flow",
        "ptxas keeps wgmma asynchronous only where it can prove that nobody touches the registers of those in flight. Otherwise it waits after each one.",
        severity="warning",
    ),
    Entry(
        "C055",
        "ptxas failed",
        "ptxas failed on kernel {kernel}: {reason}",
        "see the reason; `ptxas --version` tells whether it works at all. Please report the kernel if nothing here is amiss",
        "ptxas did not say that the PTX is wrong: it could not run, had no room for its files, was stopped, or met a fault of its own.",
    ),
    Entry(
        "C056",
        "No disassembler",
        "SASS needs nvdisasm or cuobjdump, and neither is found",
        "put a CUDA toolkit's bin folder on PATH, or set CUDA_HOME",
        "The machine code is there; only the tool that prints it is missing.",
    ),
    Entry(
        "C057",
        "No machine code to show",
        "the kernel was compiled without machine code",
        "compile with assemble = True",
        "SASS is printed from the cubin that ptxas makes.",
    ),
    Entry(
        "C058",
        "ptxas remarks",
        "ptxas remarks on kernel {kernel}: {remark}",
        "see the remark; most ask for launch bounds, fewer live registers or no recursion",
        "ptxas says so with a code of its own; what it has to say about setmaxnreg, spills and wgmma has diagnostics of its own here.",
        severity="warning",
    ),
)
