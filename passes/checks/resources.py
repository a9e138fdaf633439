"""check-resources: what a kernel takes from the machine: CTA and cluster size, shared memory, swizzle alignment, overlays, the roles' warps and registers.

The rules of capacity (C025) and of roles (C030 to C034) stand beside the passes that need them, `place-shared-memory` and `lower-roles`,
which refuse the same kernels when they run alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.checks.inventory import Inventory, kernel_functions
from fa4dsl.passes.checks.reporting import report
from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import KernelInfo, role_of, symbol_name
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.lower_roles import check_roles, launch_registers
from fa4dsl.passes.place_shared_memory import ALLOCATIONS, SWIZZLE_PERIOD, check_capacity
from fa4dsl.passes.target import Target, target_of
from fa4dsl.runtime.diagnostics import Diagnostic, diagnostic

if TYPE_CHECKING:
    from mlir import ir


def check_resources(module: ir.Module, known: dict[str, Inventory] | None = None) -> list[Diagnostic]:
    """C022, C025, C030 to C034 and C140 to C146 of every kernel in the module."""
    target = target_of(module)
    found: list[Diagnostic] = []
    for function in kernel_functions(module):
        info = KernelInfo.of(function)
        inventory = known[info.entry] if known else Inventory(function)
        launch = _launch(function, info, target)
        found += launch
        found += check_capacity(function, target, inventory.operations(*ALLOCATIONS))
        if not any(item.severity == "error" for item in launch):
            found += check_roles(function, target, inventory.regions)
        found += _swizzles(inventory)
        found += _overlays(inventory)
        found += _registers(inventory, info, target)
    return found


def resources_pass(module: ir.Module) -> None:
    """Raises C022, C025, C030 to C034, C140, C141, C143, C145, C146."""
    report(check_resources(module))


def _launch(function: ir.Operation, info: KernelInfo, target: Target) -> list[Diagnostic]:
    frames, name = operation_frames(function), symbol_name(function)
    found = []
    if info.threads > target.threads_per_block:
        found.append(diagnostic("C140", *frames, kernel=name, threads=info.threads, limit=target.threads_per_block))
    if info.cluster_size > target.largest_cluster:
        found.append(diagnostic("C141", *frames, kernel=name, size=info.cluster_size, limit=target.largest_cluster, target=target.name))
    elif info.cluster_size > target.portable_cluster:
        found.append(diagnostic("C142", *frames, kernel=name, size=info.cluster_size, portable=target.portable_cluster))
    return found


def _swizzles(inventory: Inventory) -> list[Diagnostic]:
    found = []
    for operation in inventory.operations("shared_alloc"):
        swizzle, alignment = (python_value(operation.attributes[key]) for key in ("swizzle", "alignment"))
        needed = SWIZZLE_PERIOD[swizzle]
        if swizzle != "none" and alignment < needed:
            name = python_value(operation.attributes["name"])
            found.append(diagnostic("C143", *operation_frames(operation), array=name, alignment=alignment, swizzle=swizzle, needed=needed))
    return found


@dataclass(frozen=True)
class Lifetime:
    """The first and the last operation that uses an array, by order in the kernel; a use in a loop lasts for the whole loop where the
    array is used again in the next turn."""

    name: str
    overlay: str
    first: int
    last: int
    first_use: Any
    last_use: Any


def lifetimes(inventory: Inventory, *allocations: str) -> list[Lifetime]:
    """When each object of the kinds in `allocations` (shared arrays) is in use, in program order: what makes an overlay legal."""
    order = inventory.order
    found = []
    for operation in inventory.operations(*(allocations or ("shared_alloc",))):
        uses = sorted(((order[use], use) for use in _uses(operation.results[0]) if use in order), key=lambda item: item[0])
        if uses:
            name = str(python_value(operation.attributes["name"]))
            overlay = str(python_value(operation.attributes["overlay"])) if "overlay" in operation.attributes else ""
            found.append(Lifetime(name, overlay, uses[0][0], uses[-1][0], uses[0][1], uses[-1][1]))
    return found


def _uses(value: Any, depth: int = 0) -> list[Any]:
    """Operations that read or write through a value, and through the addresses made of it."""
    found: list[Any] = []
    for use in value.uses:
        owner = use.owner.operation if hasattr(use.owner, "operation") else use.owner
        found.append(owner)
        if depth < 8 and owner.name in (
            "fa4.shared_address",
            "fa4.peer_address",
            "llvm.getelementptr",
            "llvm.addrspacecast",
            "fa4.wgmma_descriptor",
        ):
            found += _uses(owner.results[0], depth + 1)
    return found


def _overlays(inventory: Inventory) -> list[Diagnostic]:
    """An overlay whose memory is still read under its first name after it has been written."""
    if not any("overlay" in operation.attributes for operation in inventory.operations("shared_alloc")):
        return []
    known = {item.name: item for item in lifetimes(inventory)}
    found = []
    for item in known.values():
        under = known.get(item.overlay)
        if under is not None and item.first < under.last and under.first < item.last:
            frames = (
                *operation_frames(item.first_use, f"{item.name} begins"),
                *operation_frames(under.last_use, f"{under.name} is still used"),
            )
            found.append(diagnostic("C144", *frames, array=item.name, under=under.name))
    return found


def _registers(inventory: Inventory, info: KernelInfo, target: Target) -> list[Diagnostic]:
    """setmaxnreg by hand: its direction against the registers that the threads have."""
    operations = inventory.operations("set_max_registers")
    if not operations:
        return []
    launch = launch_registers(info, target)
    found: list[Diagnostic] = []
    last: dict[str, tuple[int, int]] = {}
    whole = 0
    for operation in operations:
        count, direction = (python_value(operation.attributes[key]) for key in ("count", "direction"))
        role = _role_around(operation)
        name = role.name if role else ""
        threads = role.warps * 32 if role else info.threads
        current = last[name][0] if name in last else (role.registers if role and role.registers else launch)
        if (direction == "increase" and count < current) or (direction == "decrease" and count > current):
            right = "decrease" if direction == "increase" else "increase"
            found.append(diagnostic("C145", *operation_frames(operation), direction=direction, count=count, current=current, right=right))
        last[name] = (count, threads)
        whole += not name
    if not whole:
        found += _pool(operations, last, launch, info)
    return found


def _pool(operations: list[Any], last: dict[str, tuple[int, int]], launch: int, info: KernelInfo) -> list[Diagnostic]:
    rest = info.threads - sum(threads for _, threads in last.values())
    total = sum(count * threads for count, threads in last.values()) + rest * launch
    pool = launch * info.threads
    if total <= pool:
        return []
    listed = " + ".join(
        [*(f"{name} {threads} x {count}" for name, (count, threads) in last.items()), *([f"the rest {rest} x {launch}"] if rest else [])]
    )
    return [
        diagnostic("C146", *operation_frames(operations[0]), total=total, pool=pool, launch=launch, threads=info.threads, listed=listed)
    ]


def _role_around(operation: Any) -> Any:
    parent = operation.parent
    while parent is not None:
        plain = parent.operation
        role = role_of(plain)
        if role is not None:
            return role
        parent = plain.parent
    return None
