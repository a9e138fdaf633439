"""call and ret.

Registers are per function, not per activation: a function that can call itself has its rows saved for the calling threads and put back at the return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Operand, Register, Sink, Symbol, Vector
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.instructions.heap import HEAP_FUNCTIONS, heap_call
from fa4dsl.runtime.simulator.instructions.printing import PRINTING_FUNCTIONS, printing_call
from fa4dsl.runtime.simulator.instructions.stack import stack_pointer
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection, first

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.ptx.module import Function, Module, Variable

DEPTH_LIMIT = 64


class CallStack:
    """Return addresses of every thread, and the copies to make at each return."""

    def __init__(self, width: int) -> None:
        self.returns: Ints = np.zeros((DEPTH_LIMIT, width), np.int64)
        self.depth: Ints = np.zeros(width, np.int64)
        self.pointers: Ints = np.zeros((DEPTH_LIMIT, width), np.int64)
        """Stack pointers to go back to, kept only in programs with alloca."""
        self.at_return: dict[tuple[int, str], Callable[[Selection], None]] = {}
        """By return address and function returned from: moves results to the caller's variables."""


def stack(decoder: Decoder) -> CallStack:
    machine = decoder.machine
    if machine.call_stack is None:
        made = CallStack(decoder.grid.width)
        machine.call_stack = made

        def reset() -> None:
            made.depth[:] = 0

        machine.wave_hooks.append(reset)
    found = machine.call_stack
    assert isinstance(found, CallStack)
    return found


def called(module_functions: dict[str, Function], function: Function) -> set[str]:
    """Functions named in `function`'s calls and call tables, or whose address it takes."""
    names: set[str] = set()

    def visit(operand: Operand) -> None:
        if isinstance(operand, Symbol) and operand.name in module_functions:
            names.add(operand.name)
        elif isinstance(operand, Vector):
            for element in operand.elements:
                visit(element)

    for instruction in function.instructions:
        for operand in instruction.operands:
            visit(operand)
    for entries in function.tables.values():
        names.update(entry for entry in entries if entry in module_functions)
    return names


def reachable(module: Module, entry: Function) -> list[Function]:
    """The kernel and every function it can reach by calls, taken addresses or addresses in initialised variables."""
    functions = module.functions
    stored = {
        value.name.removeprefix("generic:")
        for variable in module.variables.values()
        for _, value, _ in variable.initial
        if isinstance(value, Symbol)
    }
    order = [entry]
    seen = {entry.name}
    for function in order:
        names = called(functions, function)
        if function is entry:
            names |= stored & set(functions)
        for name in sorted(names):
            if name not in seen and functions[name].defined:
                seen.add(name)
                order.append(functions[name])
    return order


def recursive(module_functions: dict[str, Function], name: str) -> bool:
    """Whether a function can reach itself."""
    todo = list(called(module_functions, module_functions[name]))
    seen: set[str] = set()
    while todo:
        current = todo.pop()
        if current == name:
            return True
        if current not in seen and current in module_functions:
            seen.add(current)
            todo += called(module_functions, module_functions[current])
    return False


def _items(operand: Operand | None) -> tuple[Operand, ...]:
    if operand is None:
        return ()
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _copy(decoder: Decoder, source_function: str, source: Variable, target_function: str, target: Variable) -> Callable[[Selection], None]:
    memory = decoder.machine.memory
    rows = memory.local.bytes.reshape(-1, memory.local_stride) if memory.local_bytes else memory.local.bytes.reshape(1, -1)
    start, end = decoder.storage.offset(source_function, source), decoder.storage.offset(target_function, target)
    size = min(source.size, target.size)

    def copy(threads: Selection) -> None:
        rows[threads, end : end + size] = rows[threads, start : start + size]
        if memory.local.written is not None:
            memory.local.written.bytes.reshape(-1, memory.local_stride)[threads, end : end + size] = 255

    return copy


def _transfer(
    decoder: Decoder, instruction: Instruction, caller_item: Operand, callee: Function, item: Variable, into_callee: bool
) -> Callable[[Selection], None]:
    """Moves one argument or result."""
    caller = decoder.function.name
    if item.space == "reg":
        key = (callee.name, item.name)
        from fa4dsl.runtime.simulator.decoder import REGISTER_DTYPE

        inner = decoder.registers.get(key)
        if inner is None:
            inner = decoder.registers[key] = np.zeros(decoder.grid.width, REGISTER_DTYPE[item.type])
        outer: Row = decoder.source(instruction, caller_item, inner.dtype)
        source, target = (outer, inner) if into_callee else (inner, outer)

        def move(threads: Selection) -> None:
            target[threads] = source[threads]

        return move
    if not isinstance(caller_item, Symbol):
        if not into_callee or not isinstance(caller_item, Register | Immediate):
            decoder.wrong(instruction, "call operands must be .param variables, or registers for register parameters")
        if item.size not in (1, 2, 4, 8):
            decoder.wrong(instruction, f"a register cannot carry the {item.size} bytes of parameter {item.name}")
        row = decoder.source(instruction, caller_item, f"u{item.size}")
        memory = decoder.machine.memory
        start = decoder.storage.offset(callee.name, item)
        words = memory.local.views[item.size].reshape(-1, memory.local_stride // item.size)

        def put(threads: Selection) -> None:
            words[threads, start // item.size] = row[threads]

        return put
    variable = decoder.variable(instruction, caller_item.name)
    if into_callee:
        return _copy(decoder, caller, variable, callee.name, item)
    return _copy(decoder, callee.name, item, caller, variable)


@handles("call")
def call(decoder: Decoder, instruction: Instruction) -> Step:
    """``call{.uni} (results), function, (arguments){, prototype}``; the function may be a register that holds its address."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    if operands and isinstance(operands[0], Vector):
        results = _items(operands.pop(0))
    if not operands:
        decoder.wrong(instruction, "names no function")
    target = operands.pop(0)
    arguments = _items(operands.pop(0)) if operands and isinstance(operands[0], Vector) else ()
    functions = decoder.module.functions
    if isinstance(target, Symbol):
        return _direct(decoder, instruction, target.name, results, arguments)
    if not isinstance(target, Register):
        decoder.wrong(instruction, "needs a function name or a register")
    # an indirect call may go to any function of the program with as many parameters
    row = decoder.source(instruction, target, np.uint64)
    choices = {
        decoder.bases[name]: _direct(decoder, instruction, name, results, arguments)
        for name in decoder.bases
        if not functions[name].entry and len(functions[name].parameters) == len(arguments) and len(functions[name].returns) == len(results)
    }
    machine, grid = decoder.machine, decoder.grid

    def indirect(threads: Selection, pc: int) -> int | None:
        values = row[threads].astype(np.int64)
        for value in np.unique(values):
            step = choices.get(int(value))
            part = grid.arange[threads][values == value]
            if step is None or step.control is None:
                machine.fault(
                    "S016",
                    instruction,
                    int(part[0]),
                    what=f"{int(value):#x} is not the address of a function with this signature",
                    how="call through the address of a function in this file",
                )
            following = step.control(part, pc)
            if following is not None:
                machine.key[part] = following
        return None

    return Step(control=indirect)


def _direct(decoder: Decoder, instruction: Instruction, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]) -> Step:
    functions = decoder.module.functions
    callee = functions.get(name)
    if callee is None:
        fail("S005", decoder.place(instruction), line=instruction.ptx_line, name=name)
    if not callee.defined:
        if name in HEAP_FUNCTIONS:
            return heap_call(decoder, instruction, name, results, arguments)
        if name in PRINTING_FUNCTIONS:
            return printing_call(decoder, instruction, name, results, arguments)
        fail("S102", decoder.place(instruction), line=instruction.ptx_line, what=f"the function {name} has no body in this file")
    if len(callee.parameters) != len(arguments) or len(callee.returns) != len(results):
        decoder.wrong(instruction, f"{name} takes {len(callee.parameters)} arguments and gives {len(callee.returns)} results")
    machine, grid = decoder.machine, decoder.grid
    calls = stack(decoder)
    ins = [
        _transfer(decoder, instruction, item, callee, parameter, True) for item, parameter in zip(arguments, callee.parameters, strict=True)
    ]
    outs = [
        _transfer(decoder, instruction, item, callee, parameter, False)
        for item, parameter in zip(results, callee.returns, strict=True)
        if not isinstance(item, Sink)
    ]
    entry = decoder.bases[name]
    saver = _Saver(decoder, decoder.function.name, results) if recursive(functions, name) else None

    pointer = stack_pointer(decoder) if decoder.storage.stack_start is not None else None

    def back(threads: Selection) -> None:
        for move in outs:
            move(threads)

    def control(threads: Selection, pc: int) -> int:
        numbers = grid.arange[threads]
        depth = calls.depth[threads]
        if int(depth.max()) >= DEPTH_LIMIT - 1:
            machine.fault("S013", instruction, first(threads), what=f"calls nested deeper than {DEPTH_LIMIT}")
        if saver is not None:
            saver.save(numbers, depth)
        if pointer is not None:
            calls.pointers[depth, numbers] = pointer[threads]
        calls.returns[depth, numbers] = pc + 1
        calls.depth[threads] = depth + 1
        if saver is None:
            calls.at_return.setdefault((pc + 1, name), back)
        else:
            frame = saver

            def restore(threads: Selection) -> None:
                frame.restore(grid.arange[threads], calls.depth[threads], back)

            calls.at_return.setdefault((pc + 1, name), restore)
        for move in ins:
            move(threads)
        return entry

    return Step(control=control)


class _Saver:
    """Keeps a function's registers and local variables of threads that call into it again."""

    def __init__(self, decoder: Decoder, function: str, results: tuple[Operand, ...]) -> None:
        self.decoder = decoder
        self.function = function
        self.result_names = {item.name for item in results if isinstance(item, Symbol)}
        self.result_rows = {id(decoder.register(item.name)) for item in results if isinstance(item, Register)}
        self.frames: dict[int, dict[Any, Row]] = {}
        """By depth of the call: each register row (by identity) and span of variables, as they were."""

    def _rows(self) -> list[Row]:
        return [row for (owner, _), row in self.decoder.registers.items() if owner == self.function]

    def _variables(self) -> tuple[Row, list[tuple[int, int, bool]]]:
        memory = self.decoder.machine.memory
        rows = memory.local.bytes.reshape(-1, memory.local_stride) if memory.local_bytes else memory.local.bytes.reshape(1, -1)
        spans = []
        for name, item in self.decoder.module.functions[self.function].variables.items():
            if item.space == "local" or (item.space == "param" and not self.decoder.module.functions[self.function].entry):
                start = self.decoder.storage.offset(self.function, item)
                spans.append((start, start + item.size, name in self.result_names))
        return rows, spans

    def save(self, numbers: Ints, depth: Ints) -> None:
        """Keeps the frames of `numbers`, which are `depth` calls deep."""
        rows = self._rows()
        data, spans = self._variables()
        for level in np.unique(depth).tolist():
            part = numbers[depth == level]
            frame = self.frames.setdefault(level, {})
            for row in rows:
                kept = frame.get(id(row))
                if kept is None:
                    kept = frame[id(row)] = np.zeros_like(row)
                kept[part] = row[part]
            for start, end, _ in spans:
                kept = frame.get((start, end))
                if kept is None:
                    kept = frame[(start, end)] = np.zeros((len(data), end - start), np.uint8)
                kept[part] = data[part, start:end]

    def restore(self, numbers: Ints, depth: Ints, results: Callable[[Selection], None]) -> None:
        """Moves the results out of the callee's frame, then puts everything else of the caller's back."""
        rows = self._rows()
        data, spans = self._variables()
        results(numbers)
        for level in np.unique(depth).tolist():
            part = numbers[depth == level]
            frame = self.frames[level]
            for row in rows:
                if id(row) not in self.result_rows:
                    row[part] = frame[id(row)][part]
            for start, end, is_result in spans:
                if not is_result:
                    data[part, start:end] = frame[(start, end)][part]


@handles("ret")
def ret(decoder: Decoder, instruction: Instruction) -> Step:
    """``ret{.uni}``: back to the caller; the end of the thread in a kernel."""
    machine, grid = decoder.machine, decoder.grid
    if decoder.function.entry:

        def leave(threads: Selection, pc: int) -> None:
            machine.exit(instruction, threads)

        return Step(control=leave)
    calls = stack(decoder)
    name = decoder.function.name
    pointer = stack_pointer(decoder) if decoder.storage.stack_start is not None else None

    def back(threads: Selection, pc: int) -> None:
        numbers = grid.arange[threads]
        depth = calls.depth[threads] - 1
        targets = calls.returns[depth, numbers]
        calls.depth[threads] = depth
        if pointer is not None:
            pointer[threads] = calls.pointers[depth, numbers]
        for target in np.unique(targets):
            part = numbers[targets == target]
            calls.at_return[(int(target), name)](part)
            machine.key[part] = target

    return Step(control=back)
