"""Gives every variable of a kernel its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.ptx.instruction import Immediate, Symbol
from fa4dsl.runtime.simulator.layout import (
    BUFFER_ALIGNMENT,
    CONSTANT_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    RESERVED_SHARED,
    SHARED_WINDOW,
    round_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fa4dsl.runtime.ptx.module import Function, Module, Variable
    from fa4dsl.runtime.simulator.memory import Buffers, Memory

STACK_INSTRUCTIONS = ("alloca", "stacksave", "stackrestore")
STACK_BYTES = 16 * 1024
"""What alloca can give to a thread; the driver's default limit for a whole stack is less, but can be raised."""


class Storage:
    """Offsets of variables in their spaces: shared and local from the start of the block's or thread's memory, global and const in their arenas.

    A function's locals, its parameters and the parameter variables of its calls all lie in the thread's local memory, at fixed offsets.
    """

    def __init__(self, module: Module, entry: Function, functions: Iterable[Function], dynamic_shared_bytes: int, buffers: Buffers) -> None:
        self.module = module
        self.entry = entry
        self.offsets: dict[tuple[str, str], int] = {}
        self.static_shared = 0
        functions = list(functions)
        self.function_addresses: dict[str, int] = {}
        """A function's address is the program counter of its first instruction."""
        position = 0
        for function in functions:
            self.function_addresses[function.name] = position
            position += len(function.instructions) + 1
        self.local_bytes = 0
        self.constant_bytes = 0
        self.parameter_offsets: list[int] = []
        for parameter in entry.parameters:
            self.constant_bytes = round_up(self.constant_bytes, max(parameter.alignment, 1))
            self.parameter_offsets.append(self.constant_bytes)
            self.offsets[(entry.name, parameter.name)] = self.constant_bytes
            self.constant_bytes += parameter.size
        self.parameter_bytes = self.constant_bytes
        self.constant_bytes = round_up(self.constant_bytes, BUFFER_ALIGNMENT)
        dynamic_alignment = 16
        dynamic: list[tuple[str, str]] = []
        owners: list[tuple[str, Variable]] = [("", item) for item in module.variables.values()]
        for function in functions:
            owners += [(function.name, item) for item in function.variables.values()]
        for owner, item in owners:
            if (owner, item.name) in self.offsets:
                continue
            name = (owner, item.name)
            if item.space == "shared":
                if item.external or not item.size:
                    dynamic_alignment = max(dynamic_alignment, item.alignment)
                    dynamic.append(name)
                    continue
                self.static_shared = round_up(self.static_shared, item.alignment)
                self.offsets[name] = self.static_shared
                self.static_shared += item.size
            elif item.space in ("local", "param"):
                self.local_bytes = round_up(self.local_bytes, max(item.alignment, 8))
                self.offsets[name] = self.local_bytes
                self.local_bytes += item.size
            elif item.space == "const":
                self.constant_bytes = round_up(self.constant_bytes, item.alignment)
                self.offsets[name] = self.constant_bytes
                self.constant_bytes += item.size
            elif item.space == "global":
                self.offsets[name] = buffers.place(item.name, item.size, item.alignment)
        self.stack_start: int | None = None
        """Where the memory of alloca begins in a thread's local memory; None where nothing asks for any."""
        if any(instruction.name in STACK_INSTRUCTIONS for function in functions for instruction in function.instructions):
            self.stack_start = round_up(self.local_bytes, 16)
            self.local_bytes = self.stack_start + STACK_BYTES
        # function-scope names are unique already; `owner` keeps the same name in two functions apart
        self.dynamic_offset = round_up(self.static_shared, dynamic_alignment)
        for name in dynamic:
            self.offsets[name] = self.dynamic_offset
        self.shared_bytes = self.dynamic_offset + dynamic_shared_bytes if dynamic_shared_bytes or dynamic else self.static_shared

    def offset(self, function: str, item: Variable) -> int:
        """Offset of a variable named in `function`."""
        found = self.offsets.get((function, item.name))
        return found if found is not None else self.offsets[("", item.name)]

    def initialise(self, memory: Memory) -> None:
        """Writes the initialisers of global and const variables."""
        for (owner, _), start, item in self._initialised():
            arena = memory.globals if item.space == "global" else memory.constants
            arena.bytes[start : start + item.size] = 0
            for at, value, width in item.initial:
                bits = value.bits if isinstance(value, Immediate) else self._address(owner, item, value)
                if isinstance(value, Immediate) and value.kind == "f64" and width == 4:
                    import struct

                    bits = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", bits))[0]))[0]
                arena.bytes[start + at : start + at + width] = list((bits & ((1 << 8 * width) - 1)).to_bytes(width, "little"))

    def _initialised(self) -> list[tuple[tuple[str, str], int, Variable]]:
        found = []
        for (owner, name), start in self.offsets.items():
            item = self.module.functions[owner].variables.get(name) if owner else self.module.variables[name]
            if item is not None and item.space in ("global", "const"):
                found.append(((owner, name), start, item))
        return found

    def _address(self, owner: str, item: Variable, value: Symbol) -> int:
        generic = value.name.startswith("generic:")
        name = value.name.removeprefix("generic:")
        target = self.module.variables.get(name) or (self.module.functions[owner].variables.get(name) if owner else None)
        if target is None and name in self.function_addresses:
            return self.function_addresses[name]
        if target is None:
            fail("S005", Location(self.module.name, item.line), line=item.line, name=name)
        start = self.offset(owner, target) + value.offset
        if target.space == "global":
            return GLOBAL_BASE + start
        if target.space == "const":
            return start + (CONSTANT_WINDOW if generic else 0)
        if target.space == "shared":
            return RESERVED_SHARED + start + (SHARED_WINDOW if generic else 0)
        return start + (LOCAL_WINDOW if generic else 0)
