"""lower-kernel: a kernel's func.func becomes llvm.func with its launch bounds; tensor maps become grid-constant parameters.

The fa4 attributes stay on the function: the manifest is read from them at any later stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import KernelInfo, kernels, symbol_name, walk

if TYPE_CHECKING:
    from mlir import ir

_MAP_ATTRIBUTES = "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}"


def lower_kernel(module: ir.Module) -> None:
    for function in kernels(module):
        if function.name == "func.func":
            _lower(function)


def _lower(function: ir.Operation) -> None:
    from mlir import ir

    info = KernelInfo.of(function)
    entry = function.regions[0].blocks[0]
    argument_attributes, types = [], []
    for argument in entry.arguments:
        is_map = str(argument.type) == "!fa4.tensor_map"
        if is_map:
            argument.set_type(ir.Type.parse("!llvm.ptr"))
            for use in list(argument.uses):
                if use.owner.name == "builtin.unrealized_conversion_cast":
                    use.owner.results[0].replace_all_uses_with(argument)
                    use.owner.operation.erase()
        argument_attributes.append(ir.Attribute.parse(_MAP_ATTRIBUTES if is_map else "{}"))
        types.append(str(argument.type))
    attributes = {item: function.attributes[item] for item in _kept(function)}
    attributes |= {
        "sym_name": ir.StringAttr.get(symbol_name(function)),
        "function_type": ir.Attribute.parse(f"!llvm.func<void ({', '.join(types)})>"),
        "arg_attrs": ir.ArrayAttr.get(argument_attributes),
        "CConv": ir.Attribute.parse("#llvm.cconv<ccc>"),
        "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
        "visibility_": ir.Attribute.parse("0 : i64"),
        "nvvm.kernel": ir.UnitAttr.get(),
        # Branches instead of jump and look-up tables: tables would live in global memory.
        "passthrough": ir.Attribute.parse('[["no-jump-tables", "true"]]'),
        "nvvm.reqntid": ir.Attribute.parse(f"array<i32: {', '.join(map(str, info.block))}>"),
    }
    if info.cluster_size > 1:
        attributes["nvvm.cluster_dim"] = ir.Attribute.parse(f"array<i32: {', '.join(map(str, info.cluster))}>")
    if info.min_blocks:
        attributes["nvvm.minctasm"] = ir.Attribute.parse(f"{info.min_blocks} : i32")
    if info.max_registers:
        attributes["nvvm.maxnreg"] = ir.Attribute.parse(f"{info.max_registers} : i32")
    made = ir.Operation.create("llvm.func", attributes=attributes, regions=1, loc=function.location, ip=ir.InsertionPoint(function))
    for block in list(function.regions[0].blocks):
        block.append_to(made.regions[0])
    for inner in walk(made):
        if inner.name == "func.return":
            ir.Operation.create("llvm.return", loc=inner.location, ip=ir.InsertionPoint(inner))
            inner.erase()
    function.erase()


def _kept(function: ir.Operation) -> list[str]:
    return [
        item.name if hasattr(item, "name") else item for item in function.attributes if str(getattr(item, "name", item)).startswith("fa4.")
    ]
