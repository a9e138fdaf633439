"""Turns instructions into closures over register rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.ptx.instruction import Address, Immediate, Instruction, Negated, Operand, Register, Sink, Special, Symbol
from fa4dsl.runtime.ptx.requirements import requirement, special_requirement, target_serves
from fa4dsl.runtime.simulator.fragments import WITHOUT_RESULT, registers
from fa4dsl.runtime.simulator.layout import GLOBAL_BASE
from fa4dsl.runtime.simulator.liveness import CLOCKS, deciding
from fa4dsl.runtime.simulator.numerics import lookup
from fa4dsl.runtime.simulator.program import Program, Step
from fa4dsl.runtime.simulator.selection import Row, Selection, narrow, size

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.module import Function, Module, Variable
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.numerics.operation import PureOp
    from fa4dsl.runtime.simulator.storage import Storage

REGISTER_DTYPE: dict[str, Any] = {
    "pred": np.bool_,
    "b8": np.uint8, "u8": np.uint8, "s8": np.uint8,
    "b16": np.uint16, "u16": np.uint16, "s16": np.uint16, "f16": np.uint16, "bf16": np.uint16,
    "b32": np.uint32, "u32": np.uint32, "s32": np.uint32, "f32": np.uint32, "f16x2": np.uint32, "bf16x2": np.uint32, "tf32": np.uint32,
    "b64": np.uint64, "u64": np.uint64, "s64": np.uint64, "f64": np.uint64, "f32x2": np.uint64,
    "b128": np.dtype([("low", np.uint64), ("high", np.uint64)]),
}  # fmt: skip

WIDTH_DTYPE: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

Handler: TypeAlias = "Callable[[Decoder, Instruction], Step | None]"
HANDLERS: dict[str, Handler] = {}
"""By the first part of the mnemonic. A handler that returns None leaves the instruction to the pure arithmetic."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Registers a handler for instruction names."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


class Decoder:
    """Decodes the functions a kernel can reach. Register rows are shared by all closures."""

    def __init__(self, machine: Machine, module: Module, storage: Storage, program: Program) -> None:
        self.machine = machine
        self.grid = machine.grid
        self.module = module
        self.storage = storage
        self.program = program
        self.function: Function
        self.base = 0
        self.bases: dict[str, int] = {}
        self._computed: dict[str, set[str]] = {}
        self._deciding: dict[str, set[str]] = {}
        self.begins: set[int] = set()
        self.registers: dict[tuple[str, str], Row] = {}
        self.constants: dict[tuple[Any, int], Row] = {}
        self.symbols: dict[tuple[str, str, int], Row] = {}
        self.carry = np.zeros(self.grid.width, np.bool_)

    # -- errors

    def place(self, instruction: Instruction) -> Location:
        if instruction.place is not None:
            return Location(instruction.place.file, instruction.place.line, instruction.place.column)
        return Location(self.program.name, instruction.ptx_line)

    def wrong(self, instruction: Instruction, what: str) -> NoReturn:
        """Operands that do not fit."""
        fail("S004", self.place(instruction), line=instruction.ptx_line, mnemonic=instruction.mnemonic, what=what)

    def unknown(self, instruction: Instruction) -> NoReturn:
        fail("S003", self.place(instruction), line=instruction.ptx_line, mnemonic=instruction.mnemonic)

    # -- operands

    def constant(self, value: int, dtype: Any) -> Row:
        """A row that holds `value` (raw bits) for every thread, without storage of its own."""
        dtype = np.dtype(dtype)
        key = (dtype, value)
        row = self.constants.get(key)
        if row is None:
            if dtype == np.bool_:
                scalar = np.array(bool(value))
            else:
                scalar = np.array(value & ((1 << dtype.itemsize * 8) - 1), dtype)
            row = self.constants[key] = np.broadcast_to(scalar, (self.grid.width,))
        return row

    def register(self, name: str) -> Row:
        key = (self.function.name, name)
        row = self.registers.get(key)
        if row is None:
            row = self.registers[key] = np.zeros(self.grid.width, REGISTER_DTYPE[self.function.registers[name]])
        return row

    def variable(self, instruction: Instruction, name: str) -> Variable:
        found = self.function.variables.get(name) or self.module.variables.get(name)
        if found is None:
            fail("S005", self.place(instruction), line=instruction.ptx_line, name=name)
        return found

    def symbol_space(self, instruction: Instruction, name: str) -> str:
        return self.variable(instruction, name).space

    def symbol(self, instruction: Instruction, name: str, offset: int, dtype: Any) -> Row:
        """The address of a variable plus `offset`, in its own space, as a row."""
        if name in self.module.functions:
            return self.constant(self.bases.get(name, 0), dtype)
        item = self.variable(instruction, name)
        start = self.storage.offset(self.function.name, item) + offset
        if item.space == "shared":
            key = (np.dtype(dtype).name, "shared", start)
            row = self.symbols.get(key)
            if row is None:
                row = self.symbols[key] = (self.grid.shared_prefix + start).astype(dtype)
            return row
        if item.space == "global":
            return self.constant(GLOBAL_BASE + start, dtype)
        return self.constant(start, dtype)

    def is_kernel_parameter(self, name: str) -> bool:
        """Whether `name` is a parameter of the kernel (in the constant bank), not a parameter variable of a call (in local memory)."""
        return self.function.entry and any(parameter.name == name for parameter in self.function.parameters)

    def immediate(self, value: Immediate, dtype: Any) -> Row:
        dtype = np.dtype(dtype)
        with np.errstate(all="ignore"):
            return self.constant(self._converted(value, dtype), dtype)

    def _converted(self, value: Immediate, dtype: np.dtype[Any]) -> int:
        """A float literal's bits in the register's width."""
        bits = value.bits
        if value.kind == "f64" and dtype.itemsize == 4:
            bits = int(np.array(bits, np.uint64).view(np.float64).astype(np.float32).view(np.uint32))
        elif value.kind == "f64" and dtype.itemsize == 2:
            bits = int(np.array(bits, np.uint64).view(np.float64).astype(np.float16).view(np.uint16))
        elif value.kind == "f32" and dtype.itemsize == 8:
            bits = int(np.array(bits, np.uint32).view(np.float32).astype(np.float64).view(np.uint64))
        return bits

    def source(self, instruction: Instruction, operand: Operand, dtype: Any) -> Row:
        """The row of a source operand. A register keeps its own dtype, which may be wider than `dtype`."""
        if isinstance(operand, Register):
            return self.register(operand.name)
        if isinstance(operand, Immediate):
            return self.immediate(operand, dtype)
        if isinstance(operand, Special):
            row = self.grid.specials.get(operand.name)
            if row is None:
                self.wrong(
                    instruction,
                    f"the special register {operand.name} can only be read by mov"
                    if operand.name in DYNAMIC_SPECIALS
                    else f"{operand.name} is not supported",
                )
            return row
        if isinstance(operand, Symbol):
            return self.symbol(instruction, operand.name, operand.offset, dtype)
        return self.wrong(instruction, f"operand {operand} cannot stand here")

    def register_of(self, instruction: Instruction, operand: Operand) -> Row:
        """The row of a destination register."""
        if not isinstance(operand, Register):
            self.wrong(instruction, "the destination must be a register")
        return self.register(operand.name)

    def address(self, instruction: Instruction, operand: Operand) -> tuple[Row, int]:
        """An address as (row, offset to add). The row is uint32 or uint64."""
        if not isinstance(operand, Address):
            self.wrong(instruction, "expected an address in [ ]")
        base = operand.base
        if isinstance(base, Register):
            row = self.register(base.name)
            if row.dtype not in (np.uint32, np.uint64):
                self.wrong(instruction, "an address must be 32 or 64 bits wide")
            return row, operand.offset
        if isinstance(base, Symbol):
            return self.symbol(instruction, base.name, base.offset + operand.offset, np.uint64), 0
        return self.constant(base.bits + operand.offset, np.uint64), 0

    def address_space(self, instruction: Instruction, operand: Operand) -> str | None:
        """The space of the variable an address names, None for a register."""
        if isinstance(operand, Address) and isinstance(operand.base, Symbol):
            return self.symbol_space(instruction, operand.base.name)
        return None

    def label(self, instruction: Instruction, operand: Operand) -> int:
        """The program counter of a label."""
        if not isinstance(operand, Symbol) or operand.name not in self.function.labels:
            fail("S005", self.place(instruction), line=instruction.ptx_line, name=getattr(operand, "name", str(operand)))
        target = self.base + self.function.labels[operand.name]
        self.begins.add(target)
        self.program.jumps.setdefault(instruction, []).append(target)
        return target

    def count(self, instruction: Instruction, *allowed: int) -> None:
        """Checks the number of operands."""
        if len(instruction.operands) not in allowed:
            self.wrong(instruction, f"takes {' or '.join(map(str, allowed))} operands, has {len(instruction.operands)}")

    # -- pure arithmetic

    def fetcher(self, instruction: Instruction, operand: Operand, kind: str) -> tuple[Row, Callable[[Selection], Row] | None]:
        """A source as its row, and a function where reading it needs more than indexing."""
        from fa4dsl.runtime.simulator.numerics.operation import CONTAINER_DTYPE

        dtype = CONTAINER_DTYPE[kind]
        if isinstance(operand, Negated):
            row = self.source(instruction, operand.operand, dtype)
            if row.dtype == np.bool_ and dtype == np.bool_:
                return row, lambda threads: ~row[threads]
            self.wrong(instruction, "a negated operand must be a predicate")
        row = self.source(instruction, operand, dtype)
        if row.dtype == dtype:
            return row, None
        if dtype == np.bool_ or row.dtype == np.bool_ or row.dtype.itemsize < dtype.itemsize or row.dtype.fields:
            self.wrong(instruction, f"a register of {row.dtype.itemsize * 8} bits stands where {dtype.itemsize * 8} are needed")
        return row, lambda threads: row[threads].astype(dtype)

    def pure(self, instruction: Instruction, operation: PureOp) -> Step:
        """An instruction that only computes."""
        kinds = [kind for kind in operation.sources if kind != "cc"]
        results = [kind for kind in operation.results if kind != "cc"]
        operands = instruction.operands
        if not operands:
            self.wrong(instruction, "has no operands")
        from fa4dsl.runtime.ptx.instruction import Pair

        head = operands[0]
        targets: list[Operand] = [head.first, head.second] if isinstance(head, Pair) else [head]
        if len(operands) - 1 != len(kinds) or len(targets) > len(results):
            self.wrong(instruction, f"takes {len(kinds)} sources, has {len(operands) - 1}")
        fetch = [self.fetcher(instruction, operand, kind) for operand, kind in zip(operands[1:], kinds, strict=True)]
        outs: list[tuple[int, Row]] = []
        for index, target in enumerate(targets):
            if not isinstance(target, Sink):
                row = self.register_of(instruction, target)
                if (row.dtype == np.bool_) != (results[index] == "pred"):
                    self.wrong(instruction, "the destination register has the wrong type")
                if row.dtype.itemsize < _container_bytes(results[index]):
                    self.wrong(
                        instruction, f"a result of {_container_bytes(results[index]) * 8} bits does not fit the destination register"
                    )
                outs.append((index, row))
        run = operation.run
        carry = self.carry
        if "cc" in operation.sources or "cc" in operation.results:
            reads, writes = "cc" in operation.sources, "cc" in operation.results

            def with_carry(threads: Selection) -> None:
                sources = [get(threads) if get else row[threads] for row, get in fetch]
                values = run(*sources, carry[threads]) if reads else run(*sources)
                for index, row in outs:
                    row[threads] = values[index]
                if writes:
                    carry[threads] = values[-1]

            return Step(with_carry)
        if len(outs) == 1 and outs[0][0] == 0 and not any(get for _, get in fetch):
            out = outs[0][1]
            expected = WIDTH_DTYPE.get(_container_bytes(results[0]))
            if not (operation.result_signed and expected is not None and out.dtype.itemsize > np.dtype(expected).itemsize):
                rows = [row for row, _ in fetch]
                if len(rows) == 1:
                    (a,) = rows

                    def unary(threads: Selection) -> None:
                        out[threads] = run(a[threads])[0]

                    return Step(unary)
                if len(rows) == 2:
                    a, b = rows

                    def binary(threads: Selection) -> None:
                        out[threads] = run(a[threads], b[threads])[0]

                    return Step(binary)
                if len(rows) == 3:
                    a, b, c = rows

                    def ternary(threads: Selection) -> None:
                        out[threads] = run(a[threads], b[threads], c[threads])[0]

                    return Step(ternary)

        def general(threads: Selection) -> None:
            values = run(*[get(threads) if get else row[threads] for row, get in fetch])
            for index, row in outs:
                value = values[index]
                if operation.result_signed and row.dtype.itemsize > value.dtype.itemsize:
                    row.view(f"i{row.dtype.itemsize}")[threads] = value.view(f"i{value.dtype.itemsize}")
                else:
                    row[threads] = value

        return Step(general)

    # -- instructions

    def decode(self, instruction: Instruction) -> Step:
        """One instruction, with its guard."""
        handler = HANDLERS.get(instruction.name)
        step = handler(self, instruction) if handler is not None else None
        if step is None:
            operation = lookup(instruction.mnemonic)
            if operation is None:
                self.unknown(instruction)
            step = self.pure(instruction, operation)
        if self.machine.fragments is not None:
            step = self.machine.fragments.watch(instruction, step)
        if instruction.guard is None or instruction.name in ("bra", "brx"):
            return step
        return self.guarded(step, self.register(instruction.guard), instruction.guard_negated)

    def demands(self, instruction: Instruction) -> None:
        """S061 and S062 where the file's target or version is older than the instruction, as ptxas says."""
        target, version = self.module.target, self.module.version
        needs = [requirement(instruction.mnemonic)]
        needs += [special_requirement(item.name) for item in instruction.operands if isinstance(item, Special)]
        for need in needs:
            if not target_serves(target, need):
                fail(
                    "S061",
                    self.place(instruction),
                    line=instruction.ptx_line,
                    mnemonic=instruction.mnemonic,
                    needed=need.target_name,
                    target=target,
                )
            if need.version > version and version:
                needed, given = (f"{major}.{minor}" for major, minor in (need.version, version))
                fail(
                    "S062", self.place(instruction), line=instruction.ptx_line, mnemonic=instruction.mnemonic, needed=needed, version=given
                )

    def guarded(self, step: Step, predicate: Row, negated: bool) -> Step:
        """`step` for the threads whose predicate holds."""
        key = self.machine.key
        if step.straight is not None:
            inner = step.straight

            def straight(threads: Selection) -> None:
                mask = predicate[threads]
                if negated:
                    mask = ~mask
                if mask.all():
                    inner(threads)
                elif mask.any():
                    inner(narrow(threads, mask))

            return Step(straight, visible=step.visible)
        control = step.control
        assert control is not None

        def guarded_control(threads: Selection, pc: int) -> int | None:
            mask = predicate[threads]
            if negated:
                mask = ~mask
            active = narrow(threads, mask)
            count = size(active)
            if not count:
                return pc + 1
            if count == size(threads):
                return control(threads, pc)
            key[narrow(threads, ~mask)] = pc + 1
            following = control(active, pc)
            if following is not None:
                key[active] = following
            return None

        return Step(control=guarded_control, visible=step.visible)

    def decides(self, operand: Operand) -> bool:
        """Whether the current function does anything with a register but compute values that nothing is done with."""
        found = self._deciding.get(self.function.name)
        if found is None:
            found = self._deciding[self.function.name] = deciding(self.function.instructions)
        return not isinstance(operand, Register) or operand.name in found

    def computed_with(self) -> set[str]:
        """Registers of the current function that are used for more than to be stored outside global memory, perhaps with some bits replaced."""
        found = self._computed.get(self.function.name)
        if found is not None:
            return found
        found = self._computed[self.function.name] = set()
        passed: list[tuple[set[str], set[str]]] = []
        for instruction in self.function.instructions:
            used = instruction.operands
            if instruction.name == "st" and "global" not in instruction.modifiers and len(used) == 2 and isinstance(used[1], Register):
                used = used[:1]
            elif instruction.name in PASS_BITS:
                passed.append((set(registers(used[0])), {name for operand in used[1:] for name in registers(operand)}))
                used = ()
            elif instruction.name not in WITHOUT_RESULT:
                used = used[1:]
            for operand in used:
                found.update(registers(operand))
            if instruction.guard is not None:
                found.add(instruction.guard)
        while True:
            more = {name for results, sources in passed if results & found for name in sources} - found
            if not more:
                return found
            found |= more

    def decode_function(self, function: Function) -> None:
        """Appends a function to the program."""
        self.function = function
        self.base = self.bases[function.name]
        if self.machine.fragments is not None:
            self.machine.fragments.learn(function.instructions)
        for instruction in function.instructions:
            self.program.sites.append(instruction)
            self.demands(instruction)
            self.program.steps.append(self.decode(instruction))
        # running off the end of a function is a return
        final = Instruction(
            "ret",
            (),
            None,
            False,
            function.instructions[-1].ptx_line if function.instructions else function.line,
            None,
            len(function.instructions),
        )
        self.program.sites.append(final)
        self.program.steps.append(self.decode(final))


PASS_BITS = frozenset({"mov", "and", "or", "bfi", "cvt"})
"""Instructions that hand bits on, as code for bit fields does."""
DYNAMIC_SPECIALS = CLOCKS


def _container_bytes(kind: str) -> int:
    return {"pred": 0, "cc": 0, "b8": 1, "b16": 2, "b32": 4, "b64": 8}[kind]
