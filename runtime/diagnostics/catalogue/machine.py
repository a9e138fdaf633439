"""Diagnostics of the simulator's machine: reading PTX, describing a launch, and faults that a GPU would raise while running."""

from fa4dsl.runtime.diagnostics.entry import Entry


def _simulated(ptx: str) -> str:
    """An example that runs `ptx` with one block of one warp."""
    return f"""from fa4dsl.runtime.simulator.launch import Launch
from fa4dsl.runtime.simulator.run import simulate

simulate({ptx!r}, Launch("k", (1, 1, 1), (32, 1, 1)))
"""


MACHINE: tuple[Entry, ...] = (
    Entry(
        "S001",
        "the PTX cannot be read",
        "PTX line {line}: {what}",
        "give a complete PTX file as nvcc -ptx, LLVM or Triton writes it; if the file is one, report the line",
        "The parser follows the PTX ISA's grammar. A file that was cut, edited by hand or is not PTX (a cubin, SASS, LLVM IR) fails at the first token it cannot place.",
        failing=_simulated(".version 8.6\n.target sm_90a\n???"),
        fixed=_simulated(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }"),
    ),
    Entry(
        "S002",
        "a PTX directive or form that is not supported",
        "PTX line {line}: {what} is not supported",
        "compile for 64-bit addresses and without textures, aliases and vector registers",
        "Directives change what a program means, so an unknown one is refused rather than skipped.",
        failing=_simulated(".version 8.6\n.target sm_90a\n.address_size 32"),
        fixed=_simulated(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }"),
    ),
    Entry(
        "S003",
        "an instruction that is not known",
        "PTX line {line}: the instruction {mnemonic} is not known",
        "compile for sm_90a without this instruction, or replace it by others",
        "Every instruction is decoded before anything runs. One that is not modelled makes the verdict 'incomplete': no numbers and no findings are claimed for such a kernel.",
    ),
    Entry(
        "S004",
        "operands that do not fit their instruction",
        "PTX line {line}: {mnemonic}: {what}",
        "check the operands against the PTX ISA; ptxas would refuse this line too",
        "Each instruction takes a fixed number of operands of fixed widths.",
    ),
    Entry(
        "S005",
        "an unknown name",
        "PTX line {line}: {name!r} is neither a variable, a label nor a function here",
        "declare it, or link the file that defines it",
        "A name in an operand must be declared in the function or at module level.",
    ),
    Entry(
        "S006",
        "no such kernel",
        "the PTX has no kernel {kernel!r}; it has {known}",
        "give one of these names as the launch's kernel",
        'A launch names the .entry symbol, which for C++ is the mangled name unless the kernel is extern "C".',
    ),
    Entry(
        "S007",
        "kernel arguments do not match the parameters",
        "{what}",
        "give one argument for each parameter, in order, of the parameter's size",
        "Arguments are passed by position. A pointer is 64 bits, a tensor map 128 bytes; a scalar must have the parameter's size.",
    ),
    Entry(
        "S008",
        "an impossible launch",
        "{what}",
        "{how}",
        "The driver refuses such a launch. Limits of sm_90: 1024 threads and 227 KiB of shared memory a block, 16 blocks a cluster; the grid must be a multiple of the cluster, "
        "and .reqntid and .reqnctapercluster must equal the launch.",
    ),
    Entry(
        "S009",
        "a launch description that cannot be used",
        "{file}: {what}",
        "{how}",
        "LAUNCH.json names the kernel, the grid, the buffers (files beside it, or bytes with a fill) and the arguments in the kernel's order.",
    ),
    Entry(
        "S010",
        "access out of bounds",
        "{mnemonic} by {thread} touches {space} address {address}, {size} bytes, {where}",
        "check the index that leads to this address, and the size of the array",
        "An access must lie inside one object. On a GPU it faults (illegal address) or, inside the allocation of something else, silently reads or corrupts it.",
    ),
    Entry(
        "S011",
        "misaligned access",
        "{mnemonic} by {thread} uses {space} address {address}, which is not a multiple of {alignment}",
        "align the address to the whole access: a vector of four 32-bit values needs 16 bytes",
        "PTX wants natural alignment to the total access size (PTX ISA, 'Addresses as operands'); a GPU raises 'misaligned address' or drops the low bits.",
    ),
    Entry(
        "S012",
        "an illegal bulk or tensor copy",
        "{mnemonic} by {thread}: {what}",
        "{how}",
        "Bulk copies need 16-byte aligned addresses and sizes; tensor copies need a 128-byte aligned tile, an innermost coordinate that is a multiple of 16 bytes, and no negative coordinate "
        "when storing. An H200 raises 'illegal instruction' for the last two.",
    ),
    Entry(
        "S013",
        "trap",
        "{what} executed by {thread}",
        "find out why the kernel takes this path: a failed assertion usually",
        "trap ends the grid with an error on a GPU.",
    ),
    Entry(
        "S014",
        "an operation on something that is not an mbarrier",
        "{mnemonic} by {thread}: shared address {address} holds no valid mbarrier{why}",
        "initialise it with mbarrier.init first, and order the initialisation before every use",
        "Only mbarrier.init makes an mbarrier, and mbarrier.inval ends it; any other operation on such an address is undefined (PTX ISA, mbarrier).",
    ),
    Entry(
        "S015",
        "an mbarrier out of its range",
        "{mnemonic} by {thread} at shared address {address}: {what}",
        "count the arrivals and bytes of one phase: they must be those given to mbarrier.init and expect_tx",
        "Pending arrivals must stay within 0 .. 2^20-1 and the transaction count within +-(2^20-1); more arrivals in a phase than expected corrupt the barrier.",
    ),
    Entry(
        "S016",
        "an address of the wrong kind",
        "{mnemonic} by {thread}: {what}",
        "{how}",
        "Instructions take addresses of one state space; only some mbarrier operations work on another block's barrier.",
    ),
    Entry(
        "S017",
        "a named barrier used wrongly",
        "{mnemonic} by {thread}: {what}",
        "{how}",
        "Barrier ids are 0..15; the thread count is a multiple of 32 and the same for all that take part in one phase (PTX ISA, bar).",
    ),
    Entry(
        "S018",
        "a divergent or mismatched collective instruction",
        "{mnemonic} by {thread}: {what}",
        "{how}",
        "Warp instructions with a member mask must be executed by exactly the lanes of the mask, with equal masks; .aligned ones by all lanes of the warp.",
    ),
    Entry(
        "S100",
        "setmaxnreg against the current register count",
        "{mnemonic} by {thread} asks for {asked} registers while it has {current}",
        "use setmaxnreg.dec to go down and setmaxnreg.inc to go up",
        "dec needs current >= asked, inc needs current <= asked (PTX ISA, setmaxnreg); otherwise the behaviour is undefined.",
    ),
    Entry(
        "S101",
        "memory read before it was written",
        "{mnemonic} by {thread} reads {size} bytes of {space} memory at {address} that nothing has written",
        "write it first, or order the write before this read",
        "Shared and local memory hold unknown values at the start of a block. The simulator fills them with a poison pattern so that such a read shows.",
        severity="review",
    ),
    Entry(
        "S102",
        "a call that cannot be followed",
        "PTX line {line}: {what}",
        "inline the function, or give PTX that holds its body",
        "Calls are followed into functions whose bodies stand in the same file. Device-side printf and assert are known by name.",
    ),
    Entry(
        "S103",
        "a schedule that is not known",
        "unknown schedule {name!r}",
        "use eager, late, random, adversarial or exhaustive",
        "The schedule decides in which order threads run and when asynchronous copies land.",
    ),
    Entry(
        "S105",
        "a bulk copy between shared memories that stays in its own block",
        "{mnemonic} by {thread} copies within the shared memory of its own block",
        "copy the own share with ld.shared and st.shared, and bulk-copy to peers only",
        "cp.async.bulk from shared::cta to shared::cluster is for the shared memory of another block of the cluster (PTX ISA, cp.async.bulk). An H200 copies all the same; compute-sanitizer calls it an invalid write.",
        severity="review",
    ),
)
