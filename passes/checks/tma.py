"""check-tma: boxes, swizzles and destinations of TMA and bulk copies, as far as the kernel decides them.

What depends on the tensor (sizes, strides, base address) is checked when the kernel is launched.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.execute import Execution, TooLong
from fa4dsl.passes.checks.inventory import Inventory, kernel_functions
from fa4dsl.passes.checks.lanes import Launch
from fa4dsl.passes.checks.program import Program, read_program
from fa4dsl.passes.checks.reporting import report
from fa4dsl.passes.checks.worlds import Choice, World
from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import KernelInfo
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.place_shared_memory import SWIZZLE_PERIOD, element_bytes
from fa4dsl.runtime.diagnostics import Diagnostic, diagnostic
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.manifest import TensorMapTemplate
from fa4dsl.runtime.tensor_map_rules import SWIZZLE_SPANS

if TYPE_CHECKING:
    from mlir import ir

TENSOR_COPIES = {"fa4.tma_load": 5, "fa4.tma_load_multicast": 6, "fa4.tma_store": 3}
"""Operations on tensor maps, with the number of operands before the coordinates."""
BULK_COPIES = ("bulk_load", "bulk_load_multicast", "bulk_store", "bulk_push", "tma_load", "tma_load_multicast", "tma_store")


def check_tma(
    module: ir.Module, events: dict[str, list[Event]] | None = None, inventories: dict[str, Inventory] | None = None
) -> list[Diagnostic]:
    """C160 to C169 of every kernel in the module. `events`: a run of the abstract execution by kernel, where there was one."""
    found: list[Diagnostic] = []
    for function in kernel_functions(module):
        info = KernelInfo.of(function)
        inventory = inventories[info.entry] if inventories else Inventory(function)
        copies = inventory.operations(*BULK_COPIES)
        seen: set[Any] = set()
        for operation in copies:
            if operation.name in TENSOR_COPIES:
                found += _tensor_copy(function, info, operation, seen)
        found += _descriptors(inventory)
        if copies:
            known = None if events is None else events.get(info.entry)
            found += _places(known if known is not None else _events(function))
    return found


def tma_pass(module: ir.Module) -> None:
    """Raises C160 to C169."""
    report(check_tma(module))


def _events(function: ir.Operation) -> list[Event]:
    program = read_program(function)
    return [] if program is None else copies_of(program)


def copies_of(program: Program) -> list[Event]:
    """The copies of one run; none where the kernel is too long to be followed."""
    execution = Execution(program, Launch.of(program.info), World(Choice(2)))
    try:
        execution.run()
    except TooLong:
        return []
    return execution.events


def _template(function: ir.Operation, info: KernelInfo, operation: Any) -> tuple[str, TensorMapTemplate] | None:
    for position, argument in enumerate(function.regions[0].blocks[0].arguments):
        if operation.operands[0] == argument and position < len(info.parameters):
            parameter = info.parameters[position]
            return (parameter.name, parameter.tensor_map) if parameter.tensor_map is not None else None
    return None


def _allocation(value: Any) -> Any:
    owner = value.owner
    plain = getattr(owner, "operation", owner)
    return plain if getattr(plain, "name", "") == "fa4.shared_alloc" else None


def _tensor_copy(function: ir.Operation, info: KernelInfo, operation: Any, seen: set[Any]) -> list[Diagnostic]:
    named = _template(function, info, operation)
    if named is None:
        return []
    name, template = named
    frames = operation_frames(operation)
    found: list[Diagnostic] = []
    if operation.operands[0] not in seen:
        seen.add(operation.operands[0])
        found += _box(name, template, frames)
        if found:
            return found
    coordinates = len(operation.operands) - TENSOR_COPIES[operation.name]
    if template.form == "tiled" and coordinates != template.rank:
        found.append(diagnostic("C161", *frames, map=name, rank=template.rank, coordinates=coordinates))
    size = DTYPES[template.dtype].size if template.dtype in DTYPES else 0
    moved = prod(template.box) * size
    if size and python_value(operation.attributes["bytes"]) != moved:
        given = python_value(operation.attributes["bytes"])
        box = " x ".join(map(str, template.box))
        found.append(diagnostic("C165", *frames, map=name, given=given, moved=moved, box=box, dtype=template.dtype))
    array = _allocation(operation.operands[1])
    if array is not None:
        swizzle = python_value(array.attributes["swizzle"])
        if swizzle != template.swizzle:
            places = (*operation_frames(operation, f"swizzle {template.swizzle}"), *operation_frames(array, f"swizzle {swizzle}"))
            array_name = python_value(array.attributes["name"])
            found.append(diagnostic("C166", *places, map=name, template=template.swizzle, array=array_name, swizzle=swizzle))
    return found


def _box(name: str, template: TensorMapTemplate, frames: list[Any]) -> list[Diagnostic]:
    if not 1 <= template.rank <= 5 or len(template.box) != template.rank:
        return [diagnostic("C160", *frames, map=name, rank=template.rank, box=" x ".join(map(str, template.box)))]
    for dimension, extent in enumerate(template.box):
        if not 1 <= extent <= 256:
            return [diagnostic("C162", *frames, map=name, dimension=dimension, extent=extent)]
    if template.dtype not in DTYPES:
        return []
    inner = template.box[0] * DTYPES[template.dtype].size
    if inner % 16:
        return [diagnostic("C163", *frames, map=name, extent=template.box[0], dtype=template.dtype, inner=inner)]
    span = SWIZZLE_SPANS.get(template.swizzle)
    if span is not None and inner != span:
        size = DTYPES[template.dtype].size
        return [diagnostic("C164", *frames, map=name, inner=inner, swizzle=template.swizzle, span=span, most=span // size)]
    return []


def _descriptors(inventory: Inventory) -> list[Diagnostic]:
    """The swizzle that wgmma reads an array with, against the array's own."""
    found = []
    told: set[str] = set()
    for operation in inventory.operations("wgmma_descriptor"):
        array = _allocation(operation.operands[0])
        if array is None:
            continue
        name = str(python_value(array.attributes["name"]))
        reads, swizzle = python_value(operation.attributes["swizzle"]), python_value(array.attributes["swizzle"])
        if reads != swizzle and name not in told:
            told.add(name)
            frames = (*operation_frames(operation, f"reads with swizzle {reads}"), *operation_frames(array, f"has swizzle {swizzle}"))
            found.append(diagnostic("C167", *frames, array=name, reads=reads, swizzle=swizzle))
    return found


def _places(events: list[Event]) -> list[Diagnostic]:
    """Where copies land or start: inside the array, on the swizzle's period (128 bytes for a tensor copy, 16 for a bulk copy)."""
    found: list[Diagnostic] = []
    told: set[int] = set()
    for event in events:
        if event.kind not in ("copy", "store") or event.offset is None or event.node.number in told or event.node.name == "fa4.store_async":
            continue
        position = 0 if event.node.name.startswith("fa4.bulk") and event.kind == "copy" else 1
        array = _allocation(event.node.operation.operands[position])
        if array is None or not isinstance(event.bytes, int | numpy.ndarray):
            continue
        name, swizzle = (python_value(array.attributes[key]) for key in ("name", "swizzle"))
        period = max(SWIZZLE_PERIOD[swizzle], 128 if event.node.name in TENSOR_COPIES else 16)
        offsets = numpy.atleast_1d(event.offset)[event.mask if isinstance(event.offset, numpy.ndarray) else slice(None)]
        sizes = numpy.atleast_1d(event.bytes)
        limit = element_bytes(str(python_value(array.attributes["dtype"]))) * prod(python_value(array.attributes["shape"]))
        frames = (*operation_frames(event.node.operation, "the copy"), *operation_frames(array, "the array"))
        operation = event.node.name.removeprefix("fa4.")
        wrong = offsets[offsets % period != 0]
        if len(wrong):
            told.add(event.node.number)
            found.append(diagnostic("C168", *frames, operation=operation, array=name, offset=int(wrong[0]), swizzle=swizzle, period=period))
        elif bool((offsets < 0).any()) or int(offsets.max()) + int(sizes.max()) > limit:
            told.add(event.node.number)
            end = int(offsets.max()) + int(sizes.max())
            found.append(diagnostic("C169", *frames, operation=operation, array=name, start=int(offsets.max()), end=end, limit=limit))
    return found
