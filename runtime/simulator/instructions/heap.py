"""malloc and free of device code: calls of functions that the driver provides."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Operand, Symbol
from fa4dsl.runtime.simulator.decoder import Decoder
from fa4dsl.runtime.simulator.instructions.printing import parameter_words
from fa4dsl.runtime.simulator.layout import GLOBAL_BASE, round_up
from fa4dsl.runtime.simulator.machine import Machine
from fa4dsl.runtime.simulator.memory import HEAP_ALIGNMENT, HEAP_BYTES
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection

HEAP_FUNCTIONS = {"malloc": ((8,), (8,)), "free": ((8,), ())}
"""By name the bytes of the arguments and of the results."""


class Heap:
    """Every allocation is memory of its own that is not given out again, so that what reads it after free is found."""

    def __init__(self, machine: Machine) -> None:
        self.buffers = machine.memory.buffers
        self.end = self.start = self.buffers.heap_start
        self.count = 0
        self.live: dict[int, int] = {}

    def take(self, size: int) -> int:
        """An arena offset, or None's stand-in -1 where the heap is full."""
        start = round_up(self.end, HEAP_ALIGNMENT)
        # a gap behind each, as between buffers
        end = start + size + HEAP_ALIGNMENT
        if end > self.start + HEAP_BYTES:
            return -1
        self.end = end
        self.count += 1
        self.live[start] = self.buffers.add(f"malloc {self.count}", start, size)
        return start

    def give(self, start: int) -> bool:
        """Whether an allocation began there; it ends."""
        index = self.live.pop(start, None)
        if index is None:
            return False
        self.buffers.end_of(index)
        return True


def _heap(machine: Machine) -> Heap:
    if machine.heap is None:
        machine.heap = Heap(machine)
    found = machine.heap
    assert isinstance(found, Heap)
    return found


def heap_call(decoder: Decoder, instruction: Instruction, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]) -> Step:
    """``call (pointer), malloc, (size)`` and ``call free, (pointer)``. A malloc that finds no memory gives a null pointer."""
    argument_sizes, result_sizes = HEAP_FUNCTIONS[name]
    (argument,) = parameter_words(decoder, instruction, arguments, argument_sizes)
    out = parameter_words(decoder, instruction, results, result_sizes)
    machine, grid = decoder.machine, decoder.grid
    written = machine.memory.local.written

    if name == "free":

        def give(threads: Selection) -> None:
            heap = _heap(machine)
            for thread, address in zip(grid.arange[threads].tolist(), argument[threads].tolist(), strict=True):
                if address and not heap.give(address - GLOBAL_BASE):
                    machine.fault("S065", instruction, thread, what=f"{address:#x} is no allocation that is in use")

        return Step(give, visible=True)

    result = out[0]
    assert isinstance(results[0], Symbol)
    start = decoder.storage.offset(decoder.function.name, decoder.variable(instruction, results[0].name))

    def take(threads: Selection) -> None:
        heap = _heap(machine)
        numbers = grid.arange[threads]
        for thread, size in zip(numbers.tolist(), argument[threads].tolist(), strict=True):
            place = heap.take(size) if size else -1
            result[thread] = np.uint64(GLOBAL_BASE + place if place >= 0 else 0)
        if written is not None:
            written.bytes.reshape(-1, machine.memory.local_stride)[threads, start : start + 8] = 255

    return Step(take, visible=True)
