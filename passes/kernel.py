"""What the IR says about a kernel: its launch attributes, parameters and roles, read into Python.

The contract of the front end: ``gpu.module { func.func @name(...) attributes {fa4.kernel, ...} }`` with

* ``fa4.kernel`` (unit; or a string, the name as its author wrote it),
* ``fa4.block``, ``fa4.cluster``: ``array<i32: x, y, z>`` (cluster defaults to 1, 1, 1),
* ``fa4.min_blocks``, ``fa4.max_registers``: optional i32,
* ``fa4.parameters``: an array of dictionaries ``{name, kind, dtype, access, alignment, contiguous, tensor_map = {dtype, rank, box,
  swizzle, oob_fill, form}}`` as the manifest's `Parameter` and `TensorMapTemplate` describe them (the last four may be absent),
* ``fa4.fences``: ``"automatic"`` (default) or ``"manual"``,
* ``fa4.options``: a dictionary that goes into the manifest,
* ``fa4.file``, ``fa4.line``: optional, else from the function's location.

Roles stand on ``scf.execute_region``: ``fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from fa4dsl.passes.dialect.constraints import type_matches
from fa4dsl.passes.locations import location_of, operation_frames
from fa4dsl.runtime.diagnostics import Fa4dslError, diagnostic, fail
from fa4dsl.runtime.manifest import Parameter, Role, TensorMapTemplate

if TYPE_CHECKING:
    from mlir import ir


def walk(operation: ir.Operation) -> list[ir.Operation]:
    """All operations inside `operation`, in order, each before its body. A list: the caller may rewrite as it goes."""
    from mlir import ir

    found: list[ir.Operation] = []
    append, advance = found.append, ir.WalkResult.ADVANCE

    def keep(inner: ir.Operation) -> Any:
        append(inner)
        return advance

    operation.walk(keep, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def fa4_operations(operation: ir.Operation, *names: str) -> list[ir.Operation]:
    """The fa4 operations inside `operation`, in order; only those of `names` (without the dialect's) where given."""
    wanted = {f"fa4.{name}" for name in names}
    return [inner for inner in walk(operation) if (inner.name in wanted if wanted else inner.name.startswith("fa4."))]


def gpu_modules(module: ir.Module) -> list[ir.Operation]:
    return [operation.operation for operation in module.body if operation.operation.name == "gpu.module"]


def kernels(module: ir.Module) -> list[ir.Operation]:
    """The functions of the module, or of a gpu.module in it, that carry `fa4.kernel`."""
    found = []
    for operation in (item.operation for item in module.body):
        inside = [item.operation for item in operation.regions[0].blocks[0]] if operation.name == "gpu.module" else [operation]
        found += [item for item in inside if item.name in ("func.func", "llvm.func") and "fa4.kernel" in item.attributes]
    return found


def symbol_name(operation: ir.Operation) -> str:
    from mlir import ir

    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def kernel_of(operation: ir.Operation) -> ir.Operation | None:
    """The kernel function around an operation."""
    parent = operation.parent
    while parent is not None:
        plain = parent.operation
        if plain.name in ("func.func", "llvm.func"):
            return plain
        parent = plain.parent
    return None


def plain_value(attribute: ir.Attribute) -> Any:
    """An attribute as str, int, float, bool, None (unit), list or dict; anything else as its text."""
    from mlir import ir

    if isinstance(attribute, ir.StringAttr | ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    if isinstance(attribute, ir.DictAttr):
        return {item.name: plain_value(item.attr) for item in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [plain_value(item) for item in attribute]
    if isinstance(attribute, ir.DenseI32ArrayAttr | ir.DenseI64ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.UnitAttr):
        return None
    return str(attribute)


@dataclass(frozen=True)
class KernelInfo:
    """A kernel's launch attributes."""

    name: str
    entry: str
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    min_blocks: int
    """0 where the author gave none."""
    max_registers: int
    """0 where the author gave none."""
    parameters: tuple[Parameter, ...]
    fences: str
    options: dict[str, Any]
    file: str
    line: int

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_size(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @classmethod
    def of(cls, function: ir.Operation) -> KernelInfo:
        """Reads the attributes; C012 where one is missing or malformed."""
        entry = symbol_name(function)

        def bad(attribute: str, problem: str) -> NoReturn:
            fail("C012", *operation_frames(function), kernel=entry, attribute=attribute, problem=problem)

        def read(attribute: str, default: Any) -> Any:
            return plain_value(function.attributes[attribute]) if attribute in function.attributes else default

        def dimensions(attribute: str, default: Any) -> tuple[int, int, int]:
            sizes = read(attribute, default)
            if sizes is None:
                bad(attribute, "it is missing")
            if not isinstance(sizes, list) or len(sizes) != 3 or not all(isinstance(size, int) and size >= 1 for size in sizes):
                bad(attribute, f"it must be array<i32: x, y, z> with sizes of 1 or more, not {sizes}")
            return sizes[0], sizes[1], sizes[2]

        def count(attribute: str) -> int:
            value = read(attribute, 0)
            if not isinstance(value, int) or value < 0:
                bad(attribute, f"it must be a positive i32, not {value}")
            return value

        fences = read("fa4.fences", "automatic")
        if fences not in ("automatic", "manual"):
            bad("fa4.fences", f'it must be "automatic" or "manual", not {fences!r}')
        options = read("fa4.options", {})
        place = location_of(function.location)
        return cls(
            name=read("fa4.kernel", None) or entry,
            entry=entry,
            block=dimensions("fa4.block", None),
            cluster=dimensions("fa4.cluster", [1, 1, 1]),
            min_blocks=count("fa4.min_blocks"),
            max_registers=count("fa4.max_registers"),
            parameters=tuple(_parameter(item, bad) for item in _parameter_list(function, read("fa4.parameters", None), bad)),
            fences=fences,
            options=options if isinstance(options, dict) else {},
            file=read("fa4.file", place.file if place else ""),
            line=read("fa4.line", place.line if place else 0),
        )


def argument_types(function: ir.Operation) -> list[str]:
    return [str(argument.type) for argument in function.regions[0].blocks[0].arguments]


def _parameter_list(function: ir.Operation, listed: Any, bad: Any) -> list[dict[str, Any]]:
    """`fa4.parameters`, or names and kinds from the argument types where a hand-written kernel has none."""
    types = argument_types(function)
    for number, text in enumerate(types):
        if function.name == "func.func" and not any(type_matches(text, kind) for kind in ("scalar", "ptr1", "tensor_map")):
            bad("the function's arguments", f"argument {number} has type {text}; a kernel takes numbers, !llvm.ptr<1> and !fa4.tensor_map")
    if listed is None:
        kinds = ["pointer" if t.startswith("!llvm.ptr<") else "tensor_map" if t == "!fa4.tensor_map" else "scalar" for t in types]
        if function.name == "func.func" and "tensor_map" in kinds:
            bad("fa4.parameters", "it is missing, and a tensor map's box and swizzle cannot be guessed")
        return [{"name": f"arg{i}", "kind": kind, "dtype": "u8" if kind == "pointer" else types[i]} for i, kind in enumerate(kinds)]
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        bad("fa4.parameters", "it must be an array of dictionaries")
    if len(listed) != len(types):
        bad("fa4.parameters", f"it lists {len(listed)} parameters, the function has {len(types)} arguments")
    for item, text in zip(listed, types, strict=True):
        kind = item.get("kind")
        fits = {"pointer": text.startswith("!llvm.ptr<1>"), "scalar": "!" not in text, "tensor_map": text == "!fa4.tensor_map"}
        if kind not in fits:
            bad("fa4.parameters", f'the kind of {item.get("name")} must be "pointer", "scalar" or "tensor_map", not {kind!r}')
        if function.name == "func.func" and not fits[kind]:
            bad("fa4.parameters", f"{item.get('name')} is a {kind}, but its argument has type {text}")
    return list(listed)


def _parameter(item: dict[str, Any], bad: Any) -> Parameter:
    kind: Any = item["kind"]
    name, dtype = str(item.get("name") or ""), str(item.get("dtype") or "")
    if not name or not dtype:
        bad("fa4.parameters", "every parameter needs a name and a dtype")
    template = None
    if kind == "tensor_map" and item.get("tensor_map") is not None:
        fields = item["tensor_map"]
        if not isinstance(fields, dict) or not isinstance(fields.get("box"), list) or not isinstance(fields.get("dtype"), str):
            bad("fa4.parameters", f"the tensor_map of {name} needs dtype, rank and box")
        box = tuple(fields["box"])
        template = TensorMapTemplate(
            dtype=fields["dtype"],
            rank=fields.get("rank", len(box)),
            box=box,
            swizzle=fields.get("swizzle", "none"),
            oob_fill=fields.get("oob_fill", "zero"),
            form=fields.get("form", "tiled"),
        )
    extra = {key: item[key] for key in ("access", "alignment", "contiguous") if item.get(key) is not None}
    return Parameter(name, kind, dtype, template, **extra)


def role_of(operation: ir.Operation) -> Role | None:
    """The role on an `scf.execute_region`, or None. C013 where it is malformed."""
    if operation.name != "scf.execute_region" or "fa4.role" not in operation.attributes:
        return None
    fields = plain_value(operation.attributes["fa4.role"])
    if isinstance(fields, dict):
        name, first, warps = fields.get("name"), fields.get("first_warp"), fields.get("warps")
        registers = fields.get("registers", 0)
        if isinstance(name, str) and isinstance(first, int) and isinstance(warps, int) and isinstance(registers, int):
            return Role(name, first, warps, registers)
    raise Fa4dslError(diagnostic("C013", *operation_frames(operation), given=str(operation.attributes["fa4.role"])))
