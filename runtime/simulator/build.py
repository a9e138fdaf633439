"""Puts a machine together from PTX and a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fa4dsl.runtime.simulator.instructions  # noqa: F401  (registers the handlers)
from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.ptx.instruction import Special
from fa4dsl.runtime.simulator.asynchronous import Asynchronous
from fa4dsl.runtime.simulator.barriers import Barriers
from fa4dsl.runtime.simulator.decoder import REGISTER_DTYPE, Decoder
from fa4dsl.runtime.simulator.events import Geometry
from fa4dsl.runtime.simulator.fragments import Fragments, is_product
from fa4dsl.runtime.simulator.grid import Grid
from fa4dsl.runtime.simulator.instructions.calls import called, reachable
from fa4dsl.runtime.simulator.instructions.heap import HEAP_FUNCTIONS
from fa4dsl.runtime.simulator.launch import PointerArgument, ScalarArgument, TensorMapArgument
from fa4dsl.runtime.simulator.layout import GLOBAL_BASE, MAXIMUM_SHARED, round_up
from fa4dsl.runtime.simulator.liveness import timed
from fa4dsl.runtime.simulator.machine import Machine
from fa4dsl.runtime.simulator.mbarrier import Mbarriers
from fa4dsl.runtime.simulator.measures import Measures
from fa4dsl.runtime.simulator.memory import Buffers, Memory
from fa4dsl.runtime.simulator.program import Program
from fa4dsl.runtime.simulator.registers import RegisterPool
from fa4dsl.runtime.simulator.storage import Storage
from fa4dsl.runtime.simulator.tensor_descriptor import SIZE as MAP_BYTES
from fa4dsl.runtime.simulator.tensor_descriptor import encode
from fa4dsl.runtime.simulator.validity import check_launch, find_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.ptx.module import Function, Module, Variable
    from fa4dsl.runtime.simulator.events import Checker
    from fa4dsl.runtime.simulator.launch import Launch
    from fa4dsl.runtime.simulator.schedule import Schedule

SIMULATED_MULTIPROCESSORS = 132
THREADS_PER_MULTIPROCESSOR = 2048
BLOCKS_PER_MULTIPROCESSOR = 32
SHARED_PER_MULTIPROCESSOR = 228 * 1024
WORKSPACE_BYTES = 64
WAVE_MEMORY = 1 << 30
"""Bytes of registers, local and shared memory that one wave may take."""


class Build:
    """A machine, ready to run. Raises `Fa4dslError` for everything that can be refused before running (S001 to S008, S102)."""

    def __init__(
        self,
        module: Module,
        launch: Launch,
        schedule: Schedule,
        step_limit: int,
        make_checker: Callable[[Geometry, Build], Checker | None],
        measure: bool = False,
    ) -> None:
        self.module = module
        self.launch = launch
        self.function = find_kernel(module, launch.kernel)
        functions = reachable(module, self.function)
        self.buffers = Buffers()
        self.starts = {name: self.buffers.place(name, len(array)) for name, array in launch.buffers.items() if name not in launch.multicast}
        for name, copies in launch.multicast.items():
            places = tuple(self.starts[copy] for copy in copies)
            self.starts[name] = self.buffers.place_multicast(name, len(launch.buffers[name]), places)
        self.maps: dict[int, int] = {}
        for index, (parameter, argument) in enumerate(zip(self.function.parameters, launch.arguments, strict=False)):
            if isinstance(argument, TensorMapArgument) and parameter.size == 8:
                self.maps[index] = self.buffers.place(f"tensor map {index}", MAP_BYTES, 128)
        self.storage = Storage(module, self.function, functions, launch.dynamic_shared_bytes, self.buffers)
        if any(name in HEAP_FUNCTIONS for function in functions for name in called(module.functions, function)):
            self.buffers.reserve_heap()
        # Grid-wide barriers of cooperative groups keep their counter where %envreg1 and %envreg2 point in a cooperative launch.
        cooperative = any(
            isinstance(operand, Special) and operand.name in ("%envreg1", "%envreg2")
            for function in functions
            for instruction in function.instructions
            for operand in instruction.operands
        )
        workspace = self.buffers.place("the workspace of the cooperative launch", WORKSPACE_BYTES) if cooperative else None
        check_launch(module, self.function, launch, self.storage.shared_bytes)
        self.buffers.finish()
        cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2]
        explicit = "explicitcluster" in self.function.directives or "reqnctapercluster" in self.function.directives or cluster > 1
        self.grid = Grid(
            launch.grid, launch.block, launch.cluster, self._wave_clusters(functions, cluster), self.storage.shared_bytes, explicit
        )
        self.grid.specials["%dynamic_smem_size"] = np.broadcast_to(np.uint32(launch.dynamic_shared_bytes), (self.grid.width,))
        geometry = Geometry(
            self.grid.ctas,
            self.grid.threads_per_cta,
            self.grid.cluster_size,
            self.grid.shared_stride,
            self.storage.shared_bytes,
            self.buffers.end + 64,
            self.grid.wave_ctas,
        )
        checker = make_checker(geometry, self)
        memory = Memory(self.grid, self.buffers, self.storage.constant_bytes, self.storage.local_bytes, shadow=checker is not None)
        measures = Measures(self.grid, module.name) if measure else None
        self.machine = Machine(self.grid, memory, schedule, checker, measures, step_limit)
        if workspace is not None:
            self.machine.workspace = GLOBAL_BASE + workspace
        self._fill(memory)
        self.machine.asynchronous = Asynchronous(self.machine)
        self.machine.barriers = Barriers(self.machine)
        self.machine.mbarriers = Mbarriers(self.machine)
        self.machine.pool = RegisterPool(self.machine, self.function)
        if checker is not None and any(is_product(instruction) for function in functions for instruction in function.instructions):
            self.machine.fragments = Fragments(self.machine)
        self.machine.program = self._decode(functions, schedule)
        hook = getattr(checker, "set_program", None)
        if hook is not None:
            hook(self.machine.program.sites, self.machine.program.jumps)

    def _wave_clusters(self, functions: list[Function], cluster: int) -> int:
        """How many clusters run at a time: as many as an H200 holds, less where the memory of this machine would not do."""
        threads = round_up(self.launch.block[0] * self.launch.block[1] * self.launch.block[2], 32)
        shared = self.storage.shared_bytes + 1024
        fit = min(
            THREADS_PER_MULTIPROCESSOR // threads,
            BLOCKS_PER_MULTIPROCESSOR,
            SHARED_PER_MULTIPROCESSOR // min(shared, MAXIMUM_SHARED + 1024),
        )
        resident = max(fit, 1) * SIMULATED_MULTIPROCESSORS // cluster
        registers = sum(np.dtype(REGISTER_DTYPE[kind]).itemsize for function in functions for kind in function.registers.values())
        bytes_per_cluster: int = cluster * (threads * (registers + self.storage.local_bytes + 64) + shared)
        return max(1, min(resident, WAVE_MEMORY // bytes_per_cluster))

    def _fill(self, memory: Memory) -> None:
        self.storage.initialise(memory)
        for name, start in self.starts.items():
            if name in self.launch.multicast:
                continue
            memory.globals.bytes[start : start + len(self.launch.buffers[name])] = self.launch.buffers[name]
        for index, (offset, argument) in enumerate(zip(self.storage.parameter_offsets, self.launch.arguments, strict=True)):
            if isinstance(argument, PointerArgument):
                data = (GLOBAL_BASE + self.starts[argument.buffer] + argument.offset).to_bytes(8, "little")
            elif isinstance(argument, ScalarArgument):
                data = argument.bits.to_bytes(argument.size, "little")
            else:
                data = self._map(argument)
                if index in self.maps:
                    at = self.maps[index]
                    memory.globals.bytes[at : at + MAP_BYTES] = np.frombuffer(data, np.uint8)
                    data = (GLOBAL_BASE + at).to_bytes(8, "little")
            memory.constants.bytes[offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def _map(self, argument: TensorMapArgument) -> bytes:
        base = GLOBAL_BASE + self.starts[argument.buffer] + argument.offset + argument.record.offset
        argument.record.check(GLOBAL_BASE + self.starts[argument.buffer] + argument.offset, argument.buffer)
        return encode(argument.record, base)

    def _decode(self, functions: list[Function], schedule: Schedule) -> Program:
        program = Program(self.module.name)
        self.machine.program = program
        decoder = Decoder(self.machine, self.module, self.storage, program)
        decoder.bases = self.storage.function_addresses
        position = sum(len(function.instructions) + 1 for function in functions)
        if position >= 1 << 20:
            fail(
                "S002",
                Location(self.module.name, self.function.line),
                what=f"a program of {position} instructions",
                line=self.function.line,
            )
        for function in functions:
            decoder.decode_function(function)
        times = {(function.name, register) for function in functions for register in timed(function.instructions)}
        self.machine.rows = lambda: [row for key, row in decoder.registers.items() if key not in times]
        self.machine.timed = bool(times)
        program.cut(schedule.fine, decoder.begins | set(decoder.bases.values()))
        return program

    def shared_variables(self) -> list[tuple[Variable, int]]:
        """The PTX's shared variables of known size, with their offsets in the block's shared memory."""
        found = []
        for (owner, symbol), offset in self.storage.offsets.items():
            item = self.module.functions[owner].variables.get(symbol) if owner else self.module.variables.get(symbol)
            if item is not None and item.space == "shared" and item.size:
                found.append((item, offset))
        return found

    def write_back(self) -> None:
        """Copies the buffers from the arena into the launch's arrays."""
        for name, start in self.starts.items():
            if name in self.launch.multicast:
                continue
            array = self.launch.buffers[name]
            array[:] = self.machine.memory.globals.bytes[start : start + len(array)]


def run_waves(build: Build, progress: Any = None) -> None:
    """Runs the whole grid."""
    machine, grid = build.machine, build.grid
    for first in range(0, grid.clusters, grid.wave_clusters):
        grid.set_wave(first)
        machine.start_wave()
        machine.schedule.start(machine)
        machine.progress = progress
        machine.run_wave()
        machine.mbarriers.finish_wave()
        if progress is not None:
            progress(min(first + grid.wave_clusters, grid.clusters) / grid.clusters)
