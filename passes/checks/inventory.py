"""One walk of a module for all checks that look at single operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.kernel import walk

if TYPE_CHECKING:
    from mlir import ir


class Inventory:
    """A kernel's fa4 operations by name (without the dialect's), and its structure."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.order: dict[Any, int] = {}
        self.by_name: dict[str, list[Any]] = {}
        self.regions: list[Any] = []
        """Regions that may be roles."""
        for position, operation in enumerate(walk(function)):
            self.order[operation] = position
            name = operation.name
            if name.startswith("fa4."):
                self.by_name.setdefault(name[4:], []).append(operation)
            elif name == "scf.execute_region":
                self.regions.append(operation)

    def operations(self, *names: str) -> list[Any]:
        """The operations of these names, in program order."""
        found = [operation for name in names for operation in self.by_name.get(name, ())]
        return found if len(names) == 1 else sorted(found, key=lambda operation: self.order[operation])


def kernel_functions(module: ir.Module) -> list[Any]:
    """The kernels of a module that has not been lowered: functions of its GPU modules with `fa4.kernel`."""
    found = []
    for outer in module.body:
        plain = outer.operation
        inner = [item.operation for item in plain.regions[0].blocks[0]] if plain.name == "gpu.module" else [plain]
        found += [item for item in inner if item.name == "func.func" and "fa4.kernel" in item.attributes]
    return found
