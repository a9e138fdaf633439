"""cp.async and its groups, bulk copies without tensor maps, st.async and red.async."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Negated, Operand, Register, Vector
from fa4dsl.runtime.ptx.module import TYPE_BYTES
from fa4dsl.runtime.simulator.access import Resolver
from fa4dsl.runtime.simulator.asynchronous import Operation
from fa4dsl.runtime.simulator.copying import CopyBatch, groups_of, shared_range, start_stores
from fa4dsl.runtime.simulator.decoder import WIDTH_DTYPE, Decoder, handles
from fa4dsl.runtime.simulator.events import Range
from fa4dsl.runtime.simulator.instructions.mbarriers import offsets_of
from fa4dsl.runtime.simulator.numerics.atomic import supports, update_in_order
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.simulator.events import AsyncKind
    from fa4dsl.runtime.simulator.machine import Machine

_SHARED = ("shared", "shared::cta")


@handles("cp")
def cp(decoder: Decoder, instruction: Instruction) -> Step:
    """Everything that begins with ``cp.``."""
    words = instruction.modifiers
    if words[:1] == ("reduce",):
        if words[1:3] != ("async", "bulk"):
            decoder.unknown(instruction)
        if words[3:4] == ("tensor",):
            from fa4dsl.runtime.simulator.instructions.tensor_copies import tensor_copy

            return tensor_copy(decoder, instruction)
        from fa4dsl.runtime.simulator.instructions.bulk import bulk_copy

        return bulk_copy(decoder, instruction)
    if words[:1] != ("async",):
        decoder.unknown(instruction)
    if words[1:2] == ("bulk",):
        return _bulk(decoder, instruction)
    if words[1:] == ("commit_group",):
        return _commit(decoder, instruction)
    if words[1:] in (("wait_group",), ("wait_all",)):
        return _wait(decoder, instruction)
    if words[1:2] == ("mbarrier",):
        return _arrive_on(decoder, instruction)
    return _copy(decoder, instruction)


def constant_operand(decoder: Decoder, instruction: Instruction, operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        decoder.wrong(instruction, "needs a constant")
    return operand.bits


def _copy(decoder: Decoder, instruction: Instruction) -> Step:
    """``cp.async.{ca,cg}.shared.global [dst], [src], size{, src-size | ignore-src}{, policy}``."""
    words = [word for word in instruction.modifiers[1:] if not word.startswith("L2::")]
    if len(words) != 3 or words[0] not in ("ca", "cg") or words[1] not in _SHARED or words[2] != "global":
        decoder.unknown(instruction)
    operands = list(instruction.operands)
    if "L2::cache_hint" in instruction.modifiers:
        operands.pop()
    if len(operands) not in (3, 4):
        decoder.wrong(instruction, "takes a destination, a source, a size and at most a source size")
    size = constant_operand(decoder, instruction, operands[2])
    if size not in (4, 8, 16) or (words[0] == "cg" and size != 16):
        decoder.wrong(instruction, f"cannot copy {size} bytes")
    row, offset = decoder.address(instruction, operands[0])
    target = Resolver(decoder.machine, instruction, "shared", row, offset, size)
    row, offset = decoder.address(instruction, operands[1])
    source = Resolver(decoder.machine, instruction, "global", row, offset, 1, size)
    taken: Row | None = None
    ignore: Row | None = None
    negated = False
    if len(operands) == 4:
        last = operands[3]
        negated = isinstance(last, Negated)
        inner = last.operand if isinstance(last, Negated) else last
        if isinstance(inner, Register) and decoder.register(inner.name).dtype == np.bool_:
            ignore = decoder.register(inner.name)
        else:
            taken = decoder.source(instruction, inner, np.uint32)
    machine, grid = decoder.machine, decoder.grid
    columns = np.arange(size)
    memory = machine.memory

    def run(threads: Selection) -> None:
        numbers = grid.arange[threads]
        count = np.full(len(numbers), size, np.int64)
        if taken is not None:
            count = taken[threads].astype(np.int64)
            if (count > size).any():
                bad = int(numbers[count > size][0])
                machine.fault(
                    "S012",
                    instruction,
                    bad,
                    what=f"a source size of {int(taken[bad])} for a copy of {size} bytes",
                    how="the source size is at most the copy's size",
                )
        elif ignore is not None:
            count[ignore[threads] ^ negated] = 0
        destinations = np.asarray(target.resolve(threads), np.int64)
        sources = np.zeros(len(numbers), np.int64)
        reading = count > 0
        if reading.any():
            part = numbers[reading]
            sources[reading] = source.resolve(part)
            good = memory.buffers.inside(sources[reading], 1) & (memory.buffers.inside(sources[reading] + count[reading] - 1, 1))
            if not good.all():
                source.outside(part, ~good, memory.buffers.describe(int(sources[reading][~good][0]), size))
        data = np.zeros((len(numbers), size), np.uint8)

        def read() -> None:
            inside = columns < count[:, None]
            where = sources[:, None] + columns
            data[inside] = memory.globals.bytes[where[inside]]

        def write(token: Any) -> None:
            memory.shared.bytes[destinations[:, None] + columns] = data

        number = None
        if machine.checker is not None:
            events = grid.event_thread[threads]
            base = grid.first_cta * grid.shared_stride
            number = machine.checker.copy_begin(instruction, events, sources, destinations + base, size, int(count.max()))
        groups = groups_of(machine)
        operation = Operation(instruction, int(numbers[0]), read, write)
        if machine.measures is not None:
            machine.measures.thread_copy(instruction, threads, sources, count, size)
        if machine.trace is not None:
            landing = [shared_range(machine, destinations, size)]
            machine.trace.issued(operation, "cp_async", [Range("global", sources[reading], size)], landing)
        groups.batches.append(CopyBatch(operation, number, numbers, groups.committed[numbers].copy(), np.zeros(len(numbers), np.bool_)))
        machine.asynchronous.issue(operation)

    return Step(run, visible=True)


def _commit(decoder: Decoder, instruction: Instruction) -> Step:
    groups = groups_of(decoder.machine)

    def commit(threads: Selection) -> None:
        groups.committed[threads] += 1

    return Step(commit)


def _wait(decoder: Decoder, instruction: Instruction) -> Step:
    newest = constant_operand(decoder, instruction, instruction.operands[0]) if instruction.operands else None
    groups = groups_of(decoder.machine)
    grid = decoder.grid

    def wait(threads: Selection) -> None:
        groups.wait_copies(instruction, grid.arange[threads], newest)

    return Step(wait, visible=True)


def _arrive_on(decoder: Decoder, instruction: Instruction) -> Step:
    """``cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [a]``: an arrival once the thread's earlier cp.async are done."""
    words = instruction.modifiers[2:]
    if words[:1] != ("arrive",) or words[-1:] != ("b64",) or set(words[1:-1]) - {"noinc", *_SHARED}:
        decoder.unknown(instruction)
    decoder.count(instruction, 1)
    from fa4dsl.runtime.simulator.instructions.loads_stores import make_target

    target = make_target(decoder, instruction, instruction.operands[0], "shared" if set(words) & set(_SHARED) else None, 8)
    increment = "noinc" not in words
    machine, grid = decoder.machine, decoder.grid

    def run(threads: Selection) -> None:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads, local=True)
        if machine.checker is not None:
            machine.checker.mbarrier_access(
                instruction, grid.event_thread[numbers], addresses + grid.first_cta * grid.shared_stride, "arrive", remote
            )
        groups = groups_of(machine)
        for address in np.unique(addresses).tolist():
            part = numbers[addresses == address]
            barrier = machine.mbarriers.find(instruction, int(part[0]), address)
            if increment:
                barrier.pending += len(part)
            mine = np.zeros(grid.width, np.bool_)
            mine[part] = True
            earlier = [batch for batch in groups.batches if mine[batch.threads].any()]
            machine.asynchronous.issue(
                Operation(instruction, int(part[0]), lambda: None, _Arrival(decoder, instruction, part, address, earlier))
            )

    return Step(run, visible=True)


class _Arrival:
    """The arrival that follows a thread's copies."""

    def __init__(self, decoder: Decoder, instruction: Instruction, threads: Ints, address: int, earlier: list[CopyBatch]) -> None:
        self.machine, self.instruction = decoder.machine, instruction
        self.threads, self.address, self.earlier = threads, address, earlier

    def __call__(self, token: Any) -> None:
        machine = self.machine
        events = machine.grid.event_thread
        for batch in self.earlier:
            machine.asynchronous.complete(batch.operation)
            if machine.checker is not None and batch.number is not None:
                covered = batch.threads[np.isin(batch.threads, self.threads)]
                machine.checker.async_waited(self.instruction, events[covered], [batch.number], False)
        tokens = [] if machine.checker is None else [machine.checker.release(self.instruction, events[self.threads], "cta")]
        barrier = machine.mbarriers.find(self.instruction, int(self.threads[0]), self.address)
        machine.mbarriers.arrive(self.instruction, self.threads, barrier, np.ones(len(self.threads), np.int64), tokens)


def _bulk(decoder: Decoder, instruction: Instruction) -> Step:
    words = instruction.modifiers[2:]
    groups = groups_of(decoder.machine)
    grid = decoder.grid
    if words[:1] == ("tensor",) or words[:2] == ("prefetch", "tensor"):
        from fa4dsl.runtime.simulator.instructions.tensor_copies import tensor_copy

        return tensor_copy(decoder, instruction)
    if words == ("commit_group",):

        def commit(threads: Selection) -> None:
            for thread in grid.arange[threads].tolist():
                groups.commit_bulk(thread)

        return Step(commit, visible=True)
    if words in (("wait_group",), ("wait_group", "read")):
        decoder.count(instruction, 1)
        newest = constant_operand(decoder, instruction, instruction.operands[0])
        read_only = "read" in words

        def wait(threads: Selection) -> None:
            for thread in grid.arange[threads].tolist():
                groups.wait_bulk(instruction, thread, newest, read_only)

        return Step(wait, visible=True)
    from fa4dsl.runtime.simulator.instructions.bulk import bulk_copy

    return bulk_copy(decoder, instruction)


def _signalling_together(machine: Machine, numbers: Ints, barriers: Ints) -> list[Ints]:
    """Positions of threads whose stores may land together: the same barrier; the same warp where the schedule may part warps, the same CTA where
    traffic is counted by it."""
    keys = barriers
    if machine.schedule.name not in ("eager", "late"):
        keys = barriers << 32 | numbers // 32
    elif machine.measures is not None or machine.trace is not None:
        keys = barriers << 32 | machine.grid.cta[numbers]
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _remote(
    decoder: Decoder,
    instruction: Instruction,
    kind: AsyncKind,
    size: int,
    width: int,
    prepare: Callable[[Ints, Ints], Callable[[], None]],
) -> Step:
    """st.async and red.async: `size` bytes, in words of `width`, land in a block of the cluster and are counted by a barrier there. `prepare` takes the
    values of some threads, for the cells (in words) that they go to, and returns what lands them."""
    row, offset = decoder.address(instruction, instruction.operands[0])
    target = Resolver(decoder.machine, instruction, "shared::cluster", row, offset, size)
    row, offset = decoder.address(instruction, instruction.operands[2])
    barrier = Resolver(decoder.machine, instruction, "shared::cluster", row, offset, 8)
    machine, grid = decoder.machine, decoder.grid
    shift = width.bit_length() - 1

    def run(threads: Selection) -> None:
        numbers = grid.arange[threads]
        places, barriers = target.resolve(threads), barrier.resolve(threads)
        homes, signalled = places // grid.shared_stride, barriers // grid.shared_stride
        if (homes != signalled).any():
            first = int(np.flatnonzero(homes != signalled)[0])
            ranks = (int(homes[first]) % grid.cluster_size, int(signalled[first]) % grid.cluster_size)
            machine.fault(
                "S012",
                instruction,
                int(numbers[first]),
                what=f"the data goes to rank {ranks[0]} but the barrier lies in rank {ranks[1]}",
                how="map both addresses to the same block",
            )
        for mine in _signalling_together(machine, numbers, barriers):
            write = prepare(numbers[mine], places[mine] >> shift)
            start_stores(machine, instruction, kind, numbers[mine], places[mine], size, int(barriers[mine[0]]), write)

    return Step(run, visible=True)


def store_async(decoder: Decoder, instruction: Instruction) -> Step:
    """``st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}.type [a], b, [mbar]``."""
    words = [word for word in instruction.modifiers[1:] if word not in ("weak", "shared::cluster", "mbarrier::complete_tx::bytes")]
    vector = 1
    if words[:1] in (["v2"], ["v4"]):
        vector = int(words.pop(0)[1])
    if len(words) != 1 or words[0] not in ("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64") or vector * TYPE_BYTES[words[0]] > 16:
        decoder.unknown(instruction)
    decoder.count(instruction, 3)
    width = TYPE_BYTES[words[0]]
    source = instruction.operands[1]
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != vector:
        decoder.wrong(instruction, f"needs {vector} source registers")
    rows = [decoder.source(instruction, item, WIDTH_DTYPE[width]) for item in elements]
    if any(row.dtype.itemsize != width for row in rows):
        decoder.wrong(instruction, "a source register has the wrong width")
    view = decoder.machine.memory.shared.views[width]

    def prepare(numbers: Ints, cells: Ints) -> Callable[[], None]:
        values = [row[numbers] for row in rows]

        def write() -> None:
            for index, value in enumerate(values):
                view[cells + index] = value

        return write

    return _remote(decoder, instruction, "st_async", width * vector, width, prepare)


def reduce_async(decoder: Decoder, instruction: Instruction) -> Step:
    """``red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b, [mbar]``."""
    known = ("relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes")
    words = [word for word in instruction.modifiers[1:] if word not in known]
    if len(words) != 2:
        decoder.unknown(instruction)
    operation, kind = words
    allowed = {
        "add": ("u32", "s32", "u64"),
        "min": ("u32", "s32"),
        "max": ("u32", "s32"),
        "inc": ("u32",),
        "dec": ("u32",),
        "and": ("b32",),
        "or": ("b32",),
        "xor": ("b32",),
    }
    if kind not in allowed.get(operation, ()) or not supports(operation, kind):
        decoder.unknown(instruction)
    decoder.count(instruction, 3)
    width = TYPE_BYTES[kind]
    row = decoder.source(instruction, instruction.operands[1], WIDTH_DTYPE[width])
    view = decoder.machine.memory.shared.views[width]

    def prepare(numbers: Ints, cells: Ints) -> Callable[[], None]:
        values = row[numbers]

        def write() -> None:
            update_in_order(operation, kind, view, cells, values)

        return write

    return _remote(decoder, instruction, "red_async", width, width, prepare)


__all__ = ["constant_operand", "cp", "reduce_async", "store_async"]
