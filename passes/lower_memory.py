"""lower-memory: shared arrays and barriers to offsets in the dynamic shared window, and accesses with an order, a scope or a cache hint.

All shared memory of a kernel is one external symbol of dynamic size. It is aligned to 1024 bytes: with no static shared memory
in the module, the window of a CTA begins at a multiple of 1024 and ptxas honours the symbol's alignment, so that an offset
that is a multiple of a swizzle's period is an address that is one. `place-shared-memory` must have run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.rules import bits_of
from fa4dsl.passes.kernel import fa4_operations, kernel_of
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.rewriting import Rewriter, raw_type, rewrite
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir import ir

WINDOW = "fa4_shared"
"""The symbol of the dynamic shared window in LLVM IR and PTX."""

_SPACES = {"!llvm.ptr": "", "!llvm.ptr<1>": ".global", "!llvm.ptr<3>": ".shared::cta", "!llvm.ptr<7>": ".shared::cluster"}


def lower_memory(module: ir.Module) -> None:
    _resolve_addresses(module)
    rewrite(module, _RULES)
    for operation in fa4_operations(module.operation, "shared_alloc", "mbarrier_alloc"):
        if not any(True for _ in operation.results[0].uses):
            operation.erase()


def _resolve_addresses(module: ir.Module) -> None:
    windows: dict[ir.Operation, ir.Value] = {}
    for operation in fa4_operations(module.operation, "shared_address", "mbarrier_address"):
        rewriter = Rewriter(operation)
        base, index = operation.operands
        function = kernel_of(operation)
        assert function is not None, "shared memory outside a function"
        if function not in windows:
            windows[function] = _window(function)
        window = windows[function]
        offset = _placed_offset(operation, base)
        scale = 8 if operation.name == "fa4.mbarrier_address" else 1
        known = rewriter.known(index)
        address = _element(rewriter, window, offset + (known or 0) * scale)
        if known is None:
            step = index if scale == 1 else rewriter.value("arith.muli", [index, rewriter.constant(scale)], "i32")
            address = _indexed(rewriter, address, step)
        rewriter.replace([address])


def _placed_offset(operation: ir.Operation, base: ir.Value) -> int:
    owner = base.owner
    attributes = getattr(owner, "attributes", None)
    if attributes is None or owner.name not in ("fa4.shared_alloc", "fa4.mbarrier_alloc"):
        fail("C021", *operation_frames(operation))
    if "fa4.offset" not in attributes:
        fail("C020", *operation_frames(owner), name=attributes["name"].value)
    return int(attributes["fa4.offset"].value)


def _window(function: ir.Operation) -> ir.Value:
    """The address of the window at the function's entry; declares the symbol in its module."""
    from mlir import ir

    parent = function.parent
    assert parent is not None
    body = parent.operation.regions[0].blocks[0]
    symbols = [item.operation for item in body if item.operation.name == "llvm.mlir.global"]
    if not any(ir.StringAttr(item.attributes["sym_name"]).value == WINDOW for item in symbols):
        ir.Operation.create(
            "llvm.mlir.global",
            attributes={
                "sym_name": ir.StringAttr.get(WINDOW),
                "global_type": ir.Attribute.parse("!llvm.array<0 x i8>"),
                "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
                "addr_space": ir.Attribute.parse("3 : i32"),
                "alignment": ir.Attribute.parse("1024 : i64"),
                "visibility_": ir.Attribute.parse("0 : i64"),
            },
            regions=1,
            loc=function.location,
            ip=ir.InsertionPoint.at_block_begin(body),
        )
    entry = ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0])
    return Rewriter(function, entry).value("llvm.mlir.addressof", [], "!llvm.ptr<3>", global_name=f"@{WINDOW}")


def _element(rewriter: Rewriter, pointer: ir.Value, offset: int) -> ir.Value:
    if offset == 0:
        return pointer
    return rewriter.value(
        "llvm.getelementptr", [pointer], pointer.type, rawConstantIndices=f"array<i32: {offset}>", elem_type="i8", noWrapFlags="0 : i32"
    )


def _indexed(rewriter: Rewriter, pointer: ir.Value, index: ir.Value) -> ir.Value:
    return rewriter.value(
        "llvm.getelementptr",
        [pointer, index],
        pointer.type,
        rawConstantIndices="array<i32: -2147483648>",
        elem_type="i8",
        noWrapFlags="0 : i32",
    )


# --- ordered accesses


def _qualifiers(rewriter: Rewriter) -> str:
    """The order, scope, space and cache words of a load or store, in PTX's order."""
    order, scope, cache = (rewriter.attribute(key) for key in ("order", "scope", "cache"))
    address = rewriter.operation.operands[-1]
    space = _SPACES.get(str(address.type), "")
    words = f".{order}" if order == "volatile" else f".{order}.{scope}" if order != "weak" else ""
    return f"{words}{space}" + (f".{cache}" if cache else "")


def _shape(text: str) -> tuple[str, int, str]:
    """(PTX type, parts, MLIR type of a part) of an access of MLIR type `text`."""
    bits = bits_of(text)
    if text.startswith("vector<"):
        element = text[7:-1].rpartition("x")[2]
        if element in ("f32", "f64", "i32", "i64"):
            parts = bits // bits_of(element)
            return f"b{bits_of(element)}", parts, element
    if bits <= 64:
        return f"b{bits}", 1, raw_type(text)
    return "b32", bits // 32, "i32"


def _list(first: int, count: int) -> tuple[str, str]:
    names = ", ".join(f"${first + i}" for i in range(count))
    return (f".v{count}", f"{{{names}}}") if count > 1 else ("", names)


def _load(rewriter: Rewriter) -> None:
    (address,) = rewriter.operation.operands
    text = str(rewriter.operation.results[0].type)
    ptx_type, count, part = _shape(text)
    vector, names = _list(0, count)
    pure = rewriter.attribute("cache") == "nc"
    loaded = rewriter.ptx(f"ld{_qualifiers(rewriter)}{vector}.{ptx_type} {names}, [${count}];", [address], [part] * count, pure=pure)
    if count == 1:
        rewriter.replace([rewriter.cooked(loaded[0], text)])
        return
    whole = rewriter.value("llvm.mlir.poison", [], f"vector<{count}x{part}>")
    for i, value in enumerate(loaded):
        whole = rewriter.value("llvm.insertelement", [whole, value, rewriter.constant(i)], whole.type)
    rewriter.replace([rewriter.bitcast(whole, text)])


def _store(rewriter: Rewriter) -> None:
    value, address = rewriter.operation.operands
    text = str(value.type)
    ptx_type, count, part = _shape(text)
    if count == 1:
        parts = [rewriter.raw(value)]
    else:
        whole = rewriter.bitcast(value, f"vector<{count}x{part}>")
        parts = [rewriter.value("llvm.extractelement", [whole, rewriter.constant(i)], part) for i in range(count)]
    vector, names = _list(1, count)
    rewriter.ptx(f"st{_qualifiers(rewriter)}{vector}.{ptx_type} [$0], {names};", [address, *parts])
    rewriter.replace()


def _atomic_word(kind: str, bits: int) -> str:
    """PTX operation and type of an atomic's kind."""
    word = {"fadd": "add", "umin": "min", "umax": "max", "sub": "add"}.get(kind, kind)
    if kind in ("and", "or", "xor", "exch"):
        letter = "b"
    elif kind == "fadd":
        letter = "f"
    elif kind in ("min", "max"):
        letter = "s"
    else:
        letter = "u"
    return f"{word}.{letter}{bits}"


def _atomic(rewriter: Rewriter) -> None:
    address, value = rewriter.operation.operands
    kind, order, scope = (rewriter.attribute(key) for key in ("kind", "order", "scope"))
    text = str(value.type)
    space = _SPACES.get(str(address.type), "")
    if kind == "sub":
        value = rewriter.value("arith.subi", [rewriter.constant(0, text), value], text)
    operation = _atomic_word(kind, bits_of(text))
    if rewriter.operation.name == "fa4.reduce":
        rewriter.ptx(f"red.{order}.{scope}{space}.{operation} [$0], $1;", [address, value])
        rewriter.replace()
    else:
        rewriter.replace(rewriter.ptx(f"atom.{order}.{scope}{space}.{operation} $0, [$1], $2;", [address, value], [text]))


def _compare_and_swap(rewriter: Rewriter) -> None:
    address, expected, desired = rewriter.operation.operands
    order, scope = rewriter.attribute("order"), rewriter.attribute("scope")
    text = str(expected.type)
    name = f"atom.{order}.{scope}{_SPACES.get(str(address.type), '')}.cas.b{bits_of(text)}"
    rewriter.replace(rewriter.ptx(f"{name} $0, [$1], $2, $3;", [address, expected, desired], [text]))


_RULES: dict[str, Callable[[Rewriter], None]] = {
    "load": _load,
    "store": _store,
    "atomic": _atomic,
    "reduce": _atomic,
    "compare_and_swap": _compare_and_swap,
}
