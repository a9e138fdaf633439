"""What a kernel takes from the SM, as a table: its objects in shared memory with their lifetimes, and the registers of its roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.checks.inventory import Inventory
from fa4dsl.passes.checks.resources import lifetimes
from fa4dsl.passes.kernel import KernelInfo, kernels
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.lower_roles import launch_registers, roles_of
from fa4dsl.passes.place_shared_memory import ALLOCATIONS, place_shared_memory, shared_map
from fa4dsl.passes.target import target_of
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from mlir import ir

    from fa4dsl.runtime.diagnostics import Location
    from fa4dsl.runtime.manifest import Role, SharedObject


@dataclass(frozen=True)
class Placed:
    """An object of shared memory, and the places of its first and last use in program order (None: never used)."""

    object: SharedObject
    first: Location | None = None
    last: Location | None = None


@dataclass(frozen=True)
class ResourceMap:
    """Shared memory and registers of one kernel. Bytes of a CTA, registers of a thread unless said otherwise."""

    kernel: str
    file: str
    objects: tuple[Placed, ...]
    bytes: int
    capacity: int
    threads: int
    launch_registers: int
    """What each thread is allocated at launch when roles change their budgets."""
    roles: tuple[Role, ...]

    @property
    def pool(self) -> int:
        """Registers of the CTA at launch."""
        return self.launch_registers * self.threads

    def budget(self, role: Role) -> int:
        """Registers a thread of the role has: its own budget, or what the launch gave."""
        return role.registers or self.launch_registers

    @property
    def rest(self) -> int:
        """Threads in no role."""
        taken = {warp for role in self.roles for warp in range(role.first_warp, role.first_warp + role.warps)}
        return max(self.threads - 32 * len(taken), 0)

    @property
    def registers(self) -> int:
        """Registers of the CTA with all roles at their budgets."""
        by_warp: dict[int, int] = {}
        for role in self.roles:
            for warp in range(role.first_warp, role.first_warp + role.warps):
                by_warp[warp] = max(by_warp.get(warp, 0), self.budget(role))
        return 32 * sum(by_warp.values()) + self.rest * self.launch_registers


def _ends(first: Any, last: Any) -> tuple[Location | None, Location | None]:
    """The places of two operations as seen from the outermost function in which they differ."""
    begin, end = ([frame.location for frame in reversed(operation_frames(item))] for item in (first, last))
    for one, other in zip(begin, end, strict=False):
        if (one.file, one.line) != (other.file, other.line):
            return one, other
    return (begin[-1] if begin else None), (end[-1] if end else None)


def resource_map(module: ir.Module) -> ResourceMap:
    """The map of a module's kernel in the fa4 dialect; places its shared memory. Raises C017 unless there is exactly one kernel, C025 where it does not fit."""
    found = kernels(module)
    if len(found) != 1:
        fail("C017", *(frame for item in found for frame in operation_frames(item, "one")), count=len(found))
    function = found[0]
    target = target_of(module)
    info = KernelInfo.of(function)
    known = {item.name: item for item in lifetimes(Inventory(function), *ALLOCATIONS)}
    place_shared_memory(module)
    total, objects = shared_map(function)
    placed = []
    for item in sorted(objects, key=lambda each: (each.offset, -each.size)):
        life = known.get(item.name)
        ends = (None, None) if life is None else _ends(life.first_use, life.last_use)
        placed.append(Placed(item, *ends))
    launch = launch_registers(info, target)
    return ResourceMap(
        info.name, info.file, tuple(placed), total, target.shared_bytes_per_block, info.threads, launch, tuple(roles_of(function))
    )
