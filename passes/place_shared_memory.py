"""place-shared-memory: gives every shared array and mbarrier its offset in the CTA's dynamic shared memory.

Arrays come first, those of the largest alignment before the rest (no gaps arise between them), then the mbarriers. An array's
alignment is the largest of what its author asked, its element's size, 16 bytes (vector accesses and bulk copies), 128 bytes
where a tensor map reads or writes it, and its swizzle's period. An overlay lies at the offset of the array it names; the
group is as large as its largest member.

Written: `fa4.offset` on each allocation, `fa4.shared` (the map, for the manifest) and `fa4.shared_bytes` on the kernel.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.dialect.rules import BITS
from fa4dsl.passes.kernel import fa4_operations, kernels, plain_value, symbol_name
from fa4dsl.passes.locations import location_of, operation_frames
from fa4dsl.passes.target import Target, target_of
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, diagnostic
from fa4dsl.runtime.manifest import SharedObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlir import ir

ALLOCATIONS = ("shared_alloc", "mbarrier_alloc")
"""The operations that take shared memory."""

SWIZZLE_PERIOD = {"none": 1, "32B": 256, "64B": 512, "128B": 1024}
"""Bytes after which a swizzle's pattern repeats; a tile must start at a multiple of it to begin at phase 0."""


@dataclass
class _Object:
    operation: ir.Operation
    name: str
    kind: str
    size: int
    dtype: str
    shape: tuple[int, ...]
    alignment: int
    swizzle: str = "none"
    overlay: str | None = None
    arrivals: int = 0
    scope: str = "cta"
    offset: int = 0


def place_shared_memory(module: ir.Module) -> None:
    """Raises C025 where a kernel needs more shared memory than the target has."""
    target = target_of(module)
    for function in kernels(module):
        _place(function, target)


def _place(function: ir.Operation, target: Target) -> None:
    objects, order, end = _laid_out(fa4_operations(function, *ALLOCATIONS))
    if end > target.shared_bytes_per_block:
        raise Fa4dslError(_over_capacity(function, order, end, target))
    _write(function, objects, end)


def check_capacity(function: ir.Operation, target: Target, allocations: Sequence[ir.Operation]) -> list[Diagnostic]:
    """C025 where a kernel, not yet placed, needs more shared memory for its `allocations` than the target has."""
    _, order, end = _laid_out(allocations)
    return [_over_capacity(function, order, end, target)] if end > target.shared_bytes_per_block else []


def _laid_out(allocations: Sequence[ir.Operation]) -> tuple[list[_Object], list[list[_Object]], int]:
    """The objects with their offsets, the groups that share bytes in the order of their places, and the bytes needed in all."""
    objects = [_described(item) for item in allocations]
    by_name = {item.name: item for item in objects}
    groups: dict[str, list[_Object]] = {}
    for item in objects:
        groups.setdefault(_root(item, by_name).name, []).append(item)
    order = sorted(groups.values(), key=lambda group: (group[0].kind == "mbarrier", -max(member.alignment for member in group)))
    end = 0
    for group in order:
        alignment = max(member.alignment for member in group)
        start = -(-end // alignment) * alignment
        for member in group:
            member.offset = start
        end = start + max(member.size for member in group)
    return objects, order, -(-end // 16) * 16


def _root(item: _Object, by_name: dict[str, _Object]) -> _Object:
    seen = set()
    while item.overlay is not None and item.overlay in by_name and item.name not in seen:
        seen.add(item.name)
        item = by_name[item.overlay]
    return item


def element_bytes(dtype: str) -> int:
    """Bytes of an element of MLIR type `dtype`."""
    bits = BITS.get(dtype) or (int(dtype[1:]) if dtype[:1] == "i" and dtype[1:].isdigit() else 0)
    return max(bits // 8, 1)


def _described(operation: ir.Operation) -> _Object:
    values: dict[str, Any] = {}
    for key in ("name", "count", "arrivals", "scope", "dtype", "shape", "alignment", "swizzle", "overlay"):
        if key in operation.attributes:
            values[key] = python_value(operation.attributes[key])
    if operation.name == "fa4.mbarrier_alloc":
        count = values["count"]
        return _Object(
            operation, values["name"], "mbarrier", 8 * count, "u64", (count,), 8, arrivals=values["arrivals"], scope=values["scope"]
        )
    dtype, shape = str(values["dtype"]), tuple(values["shape"])
    size = element_bytes(dtype)
    for extent in shape:
        size *= extent
    alignment = max(values["alignment"], 16, SWIZZLE_PERIOD[values["swizzle"]], 128 if _meets_tensor_map(operation) else 1)
    return _Object(
        operation, values["name"], "array", size, dtype, shape, alignment, swizzle=values["swizzle"], overlay=values.get("overlay")
    )


def _meets_tensor_map(operation: ir.Operation) -> bool:
    return any(use.owner.name in ("fa4.tma_load", "fa4.tma_load_multicast", "fa4.tma_store") for use in operation.results[0].uses)


def _over_capacity(function: ir.Operation, order: Sequence[list[_Object]], end: int, target: Target) -> Diagnostic:
    largest = sorted((max(group, key=lambda member: member.size) for group in order), key=lambda member: -member.size)[:3]
    listed = ", ".join(f"{member.name} ({member.size:,} bytes)" for member in largest)
    return diagnostic(
        "C025",
        *operation_frames(largest[0].operation, "the largest"),
        *operation_frames(function, "the kernel"),
        kernel=symbol_name(function),
        needed=f"{end:,}",
        limit=f"{target.shared_bytes_per_block:,}",
        target=target.name,
        largest=listed,
        over=f"{end - target.shared_bytes_per_block:,}",
    )


def _write(function: ir.Operation, objects: list[_Object], end: int) -> None:
    from mlir import ir

    i64 = ir.IntegerType.get_signless(64)
    listed = []
    for item in objects:
        item.operation.attributes["fa4.offset"] = ir.IntegerAttr.get(i64, item.offset)
        place = location_of(item.operation.location)
        entry: dict[str, ir.Attribute] = {}
        fields: dict[str, Any] = {
            key: getattr(item, key) for key in ("name", "kind", "offset", "size", "dtype", "alignment", "swizzle", "scope", "arrivals")
        }
        fields |= {"file": place.file if place else "", "line": place.line if place else 0}
        if item.overlay:
            fields["overlay"] = item.overlay
        for key, value in fields.items():
            entry[key] = ir.IntegerAttr.get(i64, value) if isinstance(value, int) else ir.StringAttr.get(value)
        entry["shape"] = ir.DenseI64ArrayAttr.get(list(item.shape))
        listed.append(ir.DictAttr.get(entry))
    function.attributes["fa4.shared"] = ir.ArrayAttr.get(listed)
    function.attributes["fa4.shared_bytes"] = ir.IntegerAttr.get(i64, end)


def shared_map(function: ir.Operation) -> tuple[int, tuple[SharedObject, ...]]:
    """(dynamic shared bytes, objects by offset) that the pass wrote on a kernel; (0, ()) where it has not run."""
    if "fa4.shared" not in function.attributes:
        return 0, ()
    listed = [SharedObject(**{**item, "shape": tuple(item["shape"])}) for item in plain_value(function.attributes["fa4.shared"])]
    listed.sort(key=lambda item: (item.offset, -item.size))
    return int(plain_value(function.attributes["fa4.shared_bytes"])), tuple(listed)


def shared_map_text(objects: Sequence[SharedObject], total: int) -> str:
    """The map as a table for people: offset, size, alignment, name."""
    lines = [f"{'offset':>8} {'bytes':>8} {'align':>6}  name"]
    for item in objects:
        note = f" (overlays {item.overlay})" if item.overlay else ""
        swizzle = f" swizzle {item.swizzle}" if item.swizzle != "none" else ""
        shape = "x".join(map(str, item.shape))
        fields = asdict(item)
        lines.append(
            f"{fields['offset']:>8} {fields['size']:>8} {fields['alignment']:>6}  {item.name}: {item.dtype} {shape}{swizzle}{note}"
        )
    lines.append(f"{total:>8} bytes in all")
    return "\n".join(lines)
