"""record-waits: waits that take long leave a record in global memory, so that a hung kernel can say what it waits for.

A kernel with `fa4.debug_waits` gets one more parameter, `wait_records`: for each thread of the grid (CTAs by linear index, threads by linear index in
each) four u32, all zero where the thread does not wait:

    0   number of the wait (from 1, as in `fa4.waits` and the manifest), bit 31: the parity waited for
    1   index in the array of mbarriers
    2,3 an mbarrier's 64-bit word when the record was written, low half first

An mbarrier is tried `ATTEMPTS` times first, so that a wait that is soon over writes nothing; then the thread writes its record, waits on, and clears it.
Barriers of CTA, names and cluster cannot be tried: lane 0 of each warp writes its record in front of them and clears it behind. All other kernels are left
as they are.

The mbarrier's word is read by an ordinary load, which PTX calls undefined: the reading is the debugger's, not the program's. On Hopper the load sees what
memory holds, and the unit that executes mbarrier operations keeps the words of some twenty barriers to itself (observed). So as many others are
tested first, which the kernel has for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import op
from fa4dsl.passes.kernel import KernelInfo, fa4_operations, kernels, role_of
from fa4dsl.passes.locations import location_of
from fa4dsl.passes.place_shared_memory import place_shared_memory
from fa4dsl.passes.rewriting import Rewriter
from fa4dsl.runtime.manifest import WAIT_RECORDS, Wait, WaitKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir import ir

ATTRIBUTE = "fa4.debug_waits"
ATTEMPTS = 32
"""Tries of an mbarrier before its wait is recorded. `try_wait` itself suspends the thread for a time that the hardware chooses."""
RECORD_BYTES = 16
OTHERS = 64
"""Barriers that are tested so that the one in question is written back to memory; 32 were enough on an H200."""
KINDS: dict[str, WaitKind] = {"mbarrier_wait": "mbarrier", "block_sync": "block", "named_barrier_sync": "named", "cluster_wait": "cluster"}


def record_waits(module: ir.Module) -> None:
    """Raises C025 where the barriers that it adds no longer fit in shared memory."""
    wanted = [function for function in kernels(module) if ATTRIBUTE in function.attributes and "fa4.waits" not in function.attributes]
    for function in wanted:
        _instrument(function)
    if wanted:
        place_shared_memory(module)


def waits_of(function: ir.Operation) -> tuple[Wait, ...] | None:
    """The waits that a kernel records, by their numbers from 1; None for a kernel that records none."""
    from fa4dsl.passes.kernel import plain_value

    if "fa4.waits" not in function.attributes:
        return None
    return tuple(Wait(**item) for item in plain_value(function.attributes["fa4.waits"]))


def _instrument(function: ir.Operation) -> None:
    from mlir import ir

    info = KernelInfo.of(function)
    records = _add_parameter(function)
    found: list[Wait] = []
    waits = list(fa4_operations(function, *KINDS))
    others = _add_barriers(function) if any(operation.name == "fa4.mbarrier_wait" for operation in waits) else None
    for number, operation in enumerate(waits, start=1):
        found.append(_described(operation))
        rewriter = Rewriter(operation)
        if operation.name == "fa4.mbarrier_wait":
            _recorded_wait(rewriter, info, records, others, number)
        else:
            _recorded_barrier(rewriter, info, records, number)
    texts = [
        f'{{kind = "{item.kind}", name = {ir.StringAttr.get(item.name)}, role = {ir.StringAttr.get(item.role)}, '
        f"file = {ir.StringAttr.get(item.file)}, line = {item.line} : i64}}"
        for item in found
    ]
    function.attributes["fa4.waits"] = ir.Attribute.parse(f"[{', '.join(texts)}]")


def _add_parameter(function: ir.Operation) -> ir.Value:
    from mlir import ir

    entry = function.regions[0].blocks[0]
    listed = [*ir.ArrayAttr(function.attributes["fa4.parameters"])] if "fa4.parameters" in function.attributes else None
    if listed is None:
        listed = [_listed(parameter) for parameter in KernelInfo.of(function).parameters]
    own = f'{{name = "{WAIT_RECORDS}", kind = "pointer", dtype = "u32", alignment = {RECORD_BYTES} : i64}}'
    records = entry.add_argument(ir.Type.parse("!llvm.ptr<1>"), function.location)
    function.attributes["fa4.parameters"] = ir.ArrayAttr.get([*listed, ir.Attribute.parse(own)])
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([argument.type for argument in entry.arguments], []))
    return records


def _add_barriers(function: ir.Operation) -> ir.Value | None:
    """The barriers that are tested for the others' sake; nobody arrives at them. They are initialised where the kernel's own are; where it
    initialises none (IR by hand), there are none."""
    from mlir import ir

    own = next(iter(fa4_operations(function, "mbarrier_init")), None)
    if own is None:
        return None
    first = function.regions[0].blocks[0].operations[0]
    description = {"name": "wait_records.others", "count": OTHERS, "arrivals": 1, "scope": "cta"}
    made = op("mbarrier_alloc", [], description, loc=own.location, ip=ir.InsertionPoint(first))
    op("mbarrier_init", [made.results[0]], loc=own.location, ip=ir.InsertionPoint(own))
    return made.results[0]


def _listed(parameter: Any) -> ir.Attribute:
    """A hand-written kernel's guessed parameter, written out: numbers and pointers only."""
    from mlir import ir

    return ir.Attribute.parse(f'{{name = "{parameter.name}", kind = "{parameter.kind}", dtype = "{parameter.dtype}"}}')


def _described(operation: ir.Operation) -> Wait:
    from fa4dsl.passes.dialect.build import python_value

    kind = KINDS[operation.name.removeprefix("fa4.")]
    name = {"block": "block barrier", "cluster": "cluster barrier"}.get(kind, "")
    if kind == "mbarrier":
        owner: Any = operation.operands[0].owner
        name = python_value(owner.attributes["name"]) if getattr(owner, "name", "") == "fa4.mbarrier_alloc" else "mbarrier"
    elif kind == "named":
        known = Rewriter.known(operation.operands[0])
        name = (
            python_value(operation.attributes["name"]) if "name" in operation.attributes else f"barrier {'?' if known is None else known}"
        )
    place = location_of(operation.location)
    return Wait(kind, name, _role(operation), place.file if place else "", place.line if place else 0)


def _role(operation: ir.Operation) -> str:
    parent = operation.parent
    while parent is not None:
        role = role_of(parent.operation)
        if role is not None:
            return role.name
        parent = parent.operation.parent
    return ""


def _slot(rewriter: Rewriter, info: KernelInfo, records: ir.Value) -> ir.Value:
    """The address of this thread's record."""

    def index(what: str) -> ir.Value:
        return rewriter.value("fa4.index", [], "i32", what=f'"{what}"')

    def linear(position: str, sizes: Callable[[str], ir.Value]) -> ir.Value:
        return rewriter.add(
            index(f"{position}.x"),
            _product(rewriter, sizes("x"), rewriter.add(index(f"{position}.y"), _product(rewriter, sizes("y"), index(f"{position}.z")))),
        )

    block = dict(zip("xyz", info.block, strict=True))
    cta = linear("block", lambda axis: index(f"grid_dim.{axis}"))
    thread = linear("thread", lambda axis: rewriter.constant(block[axis]))
    number = rewriter.value("arith.extui", [rewriter.add(_product(rewriter, cta, rewriter.constant(info.threads)), thread)], "i64")
    offset = rewriter.value("arith.muli", [number, rewriter.constant(RECORD_BYTES, "i64")], "i64")
    return rewriter.value(
        "llvm.getelementptr",
        [records, offset],
        records.type,
        rawConstantIndices="array<i32: -2147483648>",
        elem_type="i8",
        noWrapFlags="0 : i32",
    )


def _product(rewriter: Rewriter, left: ir.Value, right: ir.Value) -> ir.Value:
    return rewriter.value("arith.muli", [left, right], "i32")


def _write(rewriter: Rewriter, slot: ir.Value, words: list[ir.Value]) -> None:
    """One 16-byte store that the host sees: volatile, which is relaxed at system scope."""
    whole = rewriter.value("vector.from_elements", words, "vector<4xi32>")
    op("store", [whole, slot], {"order": "volatile"}, loc=rewriter.location, ip=rewriter.ip)


def _clear(rewriter: Rewriter, slot: ir.Value) -> None:
    _write(rewriter, slot, [rewriter.constant(0)] * 4)


def _write_back(rewriter: Rewriter, others: ir.Value) -> None:
    """Tests every other barrier once."""

    def test(index: ir.Value, following: ir.Value) -> list[ir.Value]:
        _test(rewriter, [others, index, rewriter.constant(0)], order="acquire", scope="cta", suspend=False)
        return [rewriter.compare(6, following, rewriter.constant(OTHERS)), following]

    _repeat(rewriter, ["i32"], test)


def _test(rewriter: Rewriter, operands: list[ir.Value], **attributes: Any) -> ir.Value:
    return op("mbarrier_test", operands, attributes, loc=rewriter.location, ip=rewriter.ip).results[0]


def _repeat(rewriter: Rewriter, results: list[str], body: Callable[[ir.Value, ir.Value], list[ir.Value]]) -> ir.Operation:
    """A loop that counts its turns from 0. `body`, of the turn's number and the next, gives whether to go on, and the loop's results, the next number first."""
    loop = rewriter.create("scf.while", [rewriter.constant(0)], results, regions=2)
    types = [rewriter.type(item) for item in results]
    first = loop.regions[0].blocks.append(types[0], arg_locs=[rewriter.location])
    with rewriter.inside(first):
        turn = first.arguments[0]
        rewriter.create("scf.condition", body(turn, rewriter.add(turn, rewriter.constant(1))))
    second = loop.regions[1].blocks.append(*types, arg_locs=[rewriter.location] * len(types))
    with rewriter.inside(second):
        rewriter.create("scf.yield", [second.arguments[0]])
    return loop


def _recorded_wait(rewriter: Rewriter, info: KernelInfo, records: ir.Value, others: ir.Value | None, number: int) -> None:
    """The wait behind a loop that tries a number of times; records stand around it where that was not enough."""
    barrier, index, parity = rewriter.operation.operands
    order = {name: rewriter.attribute(name) for name in ("order", "scope")}

    def attempt(_: ir.Value, tried: ir.Value) -> list[ir.Value]:
        done = _test(rewriter, [barrier, index, parity], **order, suspend=True)
        again = rewriter.value("arith.xori", [done, rewriter.constant(1, "i1")], "i1")
        left = rewriter.compare(6, tried, rewriter.constant(ATTEMPTS))
        return [rewriter.value("arith.andi", [again, left], "i1"), tried, done]

    loop = _repeat(rewriter, ["i32", "i1"], attempt)
    late = rewriter.value("arith.xori", [loop.results[1], rewriter.constant(1, "i1")], "i1")

    def body() -> None:
        slot = _slot(rewriter, info, records)
        address = rewriter.mbarrier_address(barrier, index)
        if others is not None:
            _write_back(rewriter, others)
        state = op("load", [address], {"order": "volatile"}, results=["i64"], loc=rewriter.location, ip=rewriter.ip).results[0]
        low = rewriter.value("arith.trunci", [state], "i32")
        high = rewriter.value("arith.trunci", [rewriter.value("arith.shrui", [state, rewriter.constant(32, "i64")], "i64")], "i32")
        flag = rewriter.value("arith.shli", [parity, rewriter.constant(31)], "i32")
        _write(rewriter, slot, [rewriter.value("arith.ori", [flag, rewriter.constant(number)], "i32"), index, low, high])
        op("mbarrier_wait", [barrier, index, parity], order, loc=rewriter.location, ip=rewriter.ip)
        _clear(rewriter, slot)

    rewriter.when(late, body)
    rewriter.replace()


def _recorded_barrier(rewriter: Rewriter, info: KernelInfo, records: ir.Value, number: int) -> None:
    from mlir import ir

    first = rewriter.compare(0, rewriter.value("fa4.index", [], "i32", what='"lane"'), rewriter.constant(0))
    zero = rewriter.constant(0)
    rewriter.when(first, lambda: _write(rewriter, _slot(rewriter, info, records), [rewriter.constant(number), zero, zero, zero]))
    following = rewriter.operation
    siblings = list(following.block)
    place = [item.operation for item in siblings].index(following)
    after = Rewriter(following, ir.InsertionPoint(siblings[place + 1]))
    after.when(first, lambda: _clear(after, _slot(after, info, records)))
