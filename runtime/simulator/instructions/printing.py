"""vprintf and __assertfail: functions without a body that the driver provides."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.printf_format import (
    FLOATS,
    MOST_ARGUMENTS,
    Conversion,
    Malformed,
    convert_float,
    convert_integer,
    convert_pointer,
    convert_text,
    parse_format,
)
from fa4dsl.runtime.ptx.instruction import Instruction, Operand, Sink, Symbol
from fa4dsl.runtime.simulator.frames import outermost
from fa4dsl.runtime.simulator.layout import (
    CONSTANT_WINDOW,
    GLOBAL_BASE,
    LOCAL_WINDOW,
    RANK_SHIFT,
    RESERVED_SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
)
from fa4dsl.runtime.simulator.printed import Printed
from fa4dsl.runtime.simulator.program import Step

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.decoder import Decoder
    from fa4dsl.runtime.simulator.memory import Arena
    from fa4dsl.runtime.simulator.selection import Row, Selection

PRINTING_FUNCTIONS = ("vprintf", "__assertfail")
NULL_FORMAT = -1
"""What printf returns without a format."""


def parameter_words(decoder: Decoder, instruction: Instruction, items: tuple[Operand, ...], sizes: tuple[int, ...]) -> list[Row]:
    """The parameter variables of a call in local memory: a view of each, one entry a thread."""
    memory = decoder.machine.memory
    rows = []
    if len(items) != len(sizes):
        decoder.wrong(instruction, f"takes {len(sizes)} such operands, has {len(items)}")
    for item, size in zip(items, sizes, strict=True):
        if not isinstance(item, Symbol):
            decoder.wrong(instruction, "call operands must be .param variables")
        variable = decoder.variable(instruction, item.name)
        if variable.size != size:
            decoder.wrong(instruction, f"the parameter has {variable.size} bytes instead of {size}")
        start = decoder.storage.offset(decoder.function.name, variable)
        rows.append(memory.local.views[size].reshape(-1, memory.local_stride // size)[:, start // size])
    return rows


class _Reader:
    """Reads bytes at generic addresses, one thread at a time."""

    def __init__(self, decoder: Decoder, instruction: Instruction) -> None:
        self.machine, self.instruction = decoder.machine, instruction
        storage = decoder.storage
        owners = [("", item) for item in decoder.module.variables.values()]
        owners += [(name, item) for name, function in decoder.module.functions.items() for item in function.variables.values()]
        self.locals = [
            (storage.offsets[owner, item.name], item.size)
            for owner, item in owners
            if item.space == "local" and (owner, item.name) in storage.offsets
        ]
        """Start and bytes of the variables in local memory."""

    def _past_its_variable(self, offset: int, size: int) -> bool:
        """Whether a read that begins in a local variable, or at its end, goes beyond it: there lies what this simulator keeps there, not data."""
        return any(start <= offset <= start + length < offset + size for start, length in self.locals) and not any(
            start <= offset and offset + size <= start + length for start, length in self.locals
        )

    def _find(self, thread: int, address: int) -> tuple[Arena | None, int, int, str]:
        """(arena, offset in it, bytes from there to the end of the object or window, space); no arena for an address that leads nowhere."""
        memory, grid = self.machine.memory, self.machine.grid
        if GLOBAL_BASE <= address < CONSTANT_WINDOW:
            start = address - GLOBAL_BASE
            index = memory.buffers.find(start)
            return (
                (None, 0, 0, "global") if index is None else (memory.globals, start, int(memory.buffers.end_array[index]) - start, "global")
            )
        if CONSTANT_WINDOW <= address < LOCAL_WINDOW:
            start, room = address - CONSTANT_WINDOW, memory.constant_bytes - (address - CONSTANT_WINDOW)
            return (memory.constants if room > 0 else None), start, room, "const"
        if LOCAL_WINDOW <= address < SHARED_WINDOW:
            start = address - LOCAL_WINDOW
            room = memory.local_bytes - start
            return (memory.local if room > 0 else None), thread * memory.local_stride + start, room, "local"
        if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
            rank, offset = divmod(address - SHARED_WINDOW, 1 << RANK_SHIFT)
            offset -= RESERVED_SHARED
            room = memory.shared_bytes - offset
            if rank < grid.cluster_size and offset >= 0 and room > 0:
                first = int(grid.cta[thread]) - int(grid.rank[thread])
                return memory.shared, (first + rank) * grid.shared_stride + offset, room, "shared"
        return None, 0, 0, "generic"

    def _stray(self, thread: int, address: int, size: int, space: str) -> None:
        where = "a null pointer" if address == 0 else "outside every buffer and memory window"
        self.machine.fault("S010", self.instruction, thread, space=space, address=hex(address), size=size, where=where)

    def read(self, thread: int, address: int, size: int) -> bytes:
        """`size` bytes; S101 where they are local and nothing has written them, as with a conversion too many."""
        arena, start, room, space = self._find(thread, address)
        if arena is None or room < size:
            self._stray(thread, address, size, space)
        assert arena is not None
        unwritten = arena.written is not None and not arena.written.bytes[start : start + size].all()
        if space == "local" and (unwritten or (arena.written is not None and self._past_its_variable(address - LOCAL_WINDOW, size))):
            self.machine.note("S101", self.instruction, thread, size=size, space=space, address=hex(address))
        return arena.bytes[start : start + size].tobytes()

    def text(self, thread: int, address: int, watch: bool = True) -> bytes:
        """The string at `address` up to its zero. `watch`: it is data, whose accesses the checker sees."""
        arena, start, room, space = self._find(thread, address)
        if arena is None:
            self._stray(thread, address, 1, space)
        assert arena is not None
        window = arena.bytes[start : start + room]
        zeros = np.flatnonzero(window[:256] == 0)
        if not len(zeros):
            zeros = np.flatnonzero(window == 0)
        if not len(zeros):
            self._stray(thread, address + room, 1, space)
        length = int(zeros[0])
        machine = self.machine
        if watch and machine.checker is not None and space in ("global", "shared"):
            grid = machine.grid
            base = 0 if space == "global" else grid.first_cta * grid.shared_stride
            threads = np.full(length + 1, grid.event_thread[thread], np.int64)
            remote = space == "shared" and start // grid.shared_stride != int(grid.cta[thread])
            addresses = np.arange(start, start + length + 1, dtype=np.int64) + base
            machine.checker.access(
                self.instruction, threads, "global" if space == "global" else "shared", addresses, 1, "read", "weak", "cta", remote
            )
        return window[:length].tobytes()


class _Arguments:
    """The argument buffer of one call: each argument at the next multiple of its size."""

    def __init__(self, reader: _Reader, thread: int, address: int) -> None:
        self.reader, self.thread, self.address = reader, thread, address
        self.offset = self.count = 0

    def take(self, size: int) -> bytes:
        self.offset = -(-self.offset // size) * size
        data = self.reader.read(self.thread, self.address + self.offset, size)
        self.offset += size
        self.count += 1
        return data


def _formatted(reader: _Reader, thread: int, form: int, buffer: int) -> tuple[bytes, int]:
    """The text of a call, and how many arguments it printed."""
    arguments = _Arguments(reader, thread, buffer)
    parts: list[bytes] = []
    for piece in parse_format(reader.text(thread, form, watch=False)):
        if not isinstance(piece, Conversion):
            parts.append(piece.text if isinstance(piece, Malformed) else piece)
            continue
        if arguments.count + 1 + (piece.width == -1) > MOST_ARGUMENTS:
            parts.append(piece.text)
            continue
        width = piece.width or 0
        if width == -1:
            (width,) = struct.unpack("<i", arguments.take(4))
            if width < 0:
                # a negative width means its absolute value, on the left
                piece = Conversion(piece.text, piece.flags + "-", -width, piece.precision, piece.size, piece.type)
                width = -width
        data = arguments.take(piece.bytes)
        bits = int.from_bytes(data, "little")
        if piece.type in FLOATS:
            parts.append(convert_float(piece, struct.unpack("<d", data)[0], width))
        elif piece.type == "s":
            parts.append(convert_text(piece, reader.text(thread, bits) if bits else b"(null)", width))
        elif piece.type == "c":
            parts.append(convert_text(piece, data[:1], width))
        elif piece.type == "p":
            parts.append(convert_pointer(piece, bits, width))
        else:
            parts.append(convert_integer(piece, bits, width))
    return b"".join(parts), arguments.count


def _vprintf(decoder: Decoder, instruction: Instruction, results: tuple[Operand, ...], arguments: tuple[Operand, ...]) -> Step:
    """``call (status), vprintf, (format, buffer)``: both generic addresses; the status is the number of arguments printed, or -1 without a format."""
    machine, grid = decoder.machine, decoder.grid
    form, buffer = parameter_words(decoder, instruction, arguments, (8, 8))
    outputs = tuple(item for item in results if not isinstance(item, Sink))
    status = parameter_words(decoder, instruction, outputs, (4,))[0] if outputs else None
    written = machine.memory.local.written
    reader = _Reader(decoder, instruction)
    start = 0
    if outputs:
        assert isinstance(outputs[0], Symbol)
        start = decoder.storage.offset(decoder.function.name, decoder.variable(instruction, outputs[0].name))
    file, line = outermost(instruction)
    place = (file or decoder.module.name, line)

    def run(threads: Selection) -> None:
        numbers = grid.arange[threads]
        for thread, at, data in zip(numbers.tolist(), form[threads].tolist(), buffer[threads].tolist(), strict=True):
            count = NULL_FORMAT
            if at:
                text, count = _formatted(reader, thread, at, data)
                block, index = ([int(grid.specials[f"{name}.{axis}"][thread]) for axis in "xyz"] for name in ("%ctaid", "%tid"))
                machine.output.add(
                    Printed(text.decode("utf-8", "replace"), (block[0], block[1], block[2]), (index[0], index[1], index[2]), place)
                )
            if status is not None:
                status[thread] = count & 0xFFFFFFFF
        if written is not None and status is not None:
            written.bytes.reshape(-1, machine.memory.local_stride)[threads, start : start + 4] = 255

    return Step(run, visible=True)


def _assertfail(decoder: Decoder, instruction: Instruction, arguments: tuple[Operand, ...]) -> Step:
    """``call __assertfail, (message, file, line, function, character size)``: ends the grid."""
    machine = decoder.machine
    reader = _Reader(decoder, instruction)
    rows = parameter_words(decoder, instruction, arguments[:1], (8,)) if arguments else []

    def failed(threads: Selection, pc: int) -> int | None:
        thread = int(machine.grid.arange[threads][0])
        address = int(rows[0][thread]) if rows else 0
        message = f" ({reader.text(thread, address, watch=False).decode('utf-8', 'replace')})" if address else ""
        machine.fault("S013", instruction, thread, what=f"a device assertion failed{message}:")

    return Step(control=failed)


def printing_call(
    decoder: Decoder, instruction: Instruction, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
) -> Step:
    """A call of one of `PRINTING_FUNCTIONS`."""
    if name == "__assertfail":
        return _assertfail(decoder, instruction, arguments)
    return _vprintf(decoder, instruction, results, arguments)
