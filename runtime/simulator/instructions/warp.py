"""Instructions among the lanes of a warp: votes, shuffles, matches, reductions, elections, bar.warp.sync.

Each waits until the lanes of its member mask stand at the same instruction (`Machine.rendezvous`), then runs for all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Negated, Operand, Pair, Sink
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.numerics import warp as numerics
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection, compact, grouped

FULL = 0xFFFFFFFF


def collective(decoder: Decoder, instruction: Instruction, run: Callable[[Selection], None], mask: Row | None) -> Step:
    """A control step that runs `run` for the threads whose partners have come. `mask` None: all live lanes of the warp."""
    machine = decoder.machine

    def control(threads: Selection, pc: int) -> int | None:
        ready = machine.rendezvous(instruction, threads, pc, mask)
        if ready is None:
            return None
        run(ready)
        if ready is threads:
            return pc + 1
        machine.key[ready] = pc + 1
        return None

    return Step(control=control)


def member_mask(decoder: Decoder, instruction: Instruction, operand: Operand) -> Row | None:
    """The row of a member mask; None for the constant full mask."""
    if isinstance(operand, Immediate) and operand.bits & FULL == FULL:
        return None
    return decoder.source(instruction, operand, np.uint32)


class Lanes:
    """The whole warps of a set of threads, as tables ``[warps, 32]``."""

    def __init__(self, decoder: Decoder, threads: Selection, mask: Row | None) -> None:
        self.threads = threads
        self.aligned = isinstance(threads, slice) and not (threads.start | threads.stop) & 31
        if isinstance(threads, slice) and self.aligned:
            self.warps: Selection = slice(threads.start >> 5, threads.stop >> 5)
            self.members = np.ones(((threads.stop - threads.start) >> 5, 32), np.bool_)
            live = decoder.machine.live_lanes[self.warps]
            if not (live == FULL).all():
                self.members = numerics.mask_to_lanes(live)
        else:
            numbers = decoder.grid.arange[threads]
            warps, index = np.unique(numbers >> 5, return_inverse=True)
            self.warps = warps
            self.index, self.lane = index.reshape(-1), numbers & 31
            self.members = np.zeros((len(warps), 32), np.bool_)
            self.members[self.index, self.lane] = True
        self.masked = self.members if mask is None else self.members & numerics.mask_to_lanes(self.majority(mask))

    @property
    def first_lanes(self) -> Row:
        """The thread that is lane 0 of each warp."""
        warps: Row = np.arange(self.warps.start, self.warps.stop) if isinstance(self.warps, slice) else self.warps
        return warps * 32

    def table(self, row: Row) -> Row:
        """A register row as ``[warps, 32]``."""
        found: Row = row.reshape(-1, 32)[self.warps] if row.strides[0] else np.broadcast_to(row[:1], self.members.shape)
        return found

    def majority(self, mask: Row) -> Row:
        """One member mask a warp: that of its lowest lane here. Warps in which lanes hold different masks are split by the caller."""
        rows = self.table(mask)
        picked: Row = np.take_along_axis(rows, self.members.argmax(axis=1)[:, None], axis=1)[:, 0]
        return picked

    def put(self, row: Row, values: Row) -> None:
        """Writes a table back to the threads."""
        row[self.threads] = values.reshape(-1) if self.aligned else values[self.index, self.lane]


def by_mask(decoder: Decoder, threads: Selection, mask: Row | None) -> list[Lanes]:
    """The threads in sets whose warps each have one member mask only (several masks in a warp: disjoint groups of lanes)."""
    whole = Lanes(decoder, threads, mask)
    if mask is None:
        return [whole]
    rows = whole.table(mask)
    if ((rows == whole.majority(mask)[:, None]) | ~whole.members).all():
        return [whole]
    numbers = decoder.grid.arange[threads]
    values = mask[threads]
    return [Lanes(decoder, compact(numbers[values == one]), mask) for one in np.unique(values)]


@handles("activemask")
def activemask(decoder: Decoder, instruction: Instruction) -> Step:
    """``activemask.b32 d``: the lanes that run together right now."""
    decoder.count(instruction, 1)
    out = decoder.register_of(instruction, instruction.operands[0])

    def run(threads: Selection) -> None:
        lanes = Lanes(decoder, threads, None)
        lanes.put(out, np.broadcast_to(numerics.lanes_to_mask(lanes.members)[:, None], lanes.members.shape))

    return Step(run, visible=True)


@handles("vote")
def vote(decoder: Decoder, instruction: Instruction) -> Step:
    """``vote.sync.{all,any,uni}.pred p, {!}a, mask`` and ``vote.sync.ballot.b32 d, {!}a, mask``."""
    words = instruction.modifiers
    if len(words) != 3 or words[0] != "sync" or words[1] not in ("all", "any", "uni", "ballot"):
        decoder.unknown(instruction)
    decoder.count(instruction, 3)
    mode = words[1]
    out = decoder.register_of(instruction, instruction.operands[0])
    operand = instruction.operands[1]
    negated = isinstance(operand, Negated)
    row = decoder.source(instruction, operand.operand if isinstance(operand, Negated) else operand, np.bool_)
    mask = member_mask(decoder, instruction, instruction.operands[2])

    def run(threads: Selection) -> None:
        for lanes in by_mask(decoder, threads, mask):
            lanes.put(out, numerics.vote(mode, lanes.table(row) ^ negated, lanes.masked))

    return collective(decoder, instruction, run, mask)


@handles("shfl")
def shfl(decoder: Decoder, instruction: Instruction) -> Step:
    """``shfl.sync.{up,down,bfly,idx}.b32 d{|p}, a, b, c, mask``. A lane that does not take part gives 0, as measured (undefined in PTX)."""
    words = instruction.modifiers
    if len(words) != 3 or words[0] != "sync" or words[1] not in ("up", "down", "bfly", "idx") or words[2] != "b32":
        decoder.unknown(instruction)
    decoder.count(instruction, 5)
    mode = words[1]
    head = instruction.operands[0]
    target, predicate = (head.first, head.second) if isinstance(head, Pair) else (head, Sink())
    out = None if isinstance(target, Sink) else decoder.register_of(instruction, target)
    found = None if isinstance(predicate, Sink) else decoder.register_of(instruction, predicate)
    source, distance, clamp = (decoder.source(instruction, item, np.uint32) for item in instruction.operands[1:4])
    mask = member_mask(decoder, instruction, instruction.operands[4])
    machine = decoder.machine

    def run(threads: Selection) -> None:
        lanes = Lanes(decoder, threads, None)
        values, inside, read = numerics.shuffle(mode, lanes.table(source), lanes.table(distance), lanes.table(clamp))
        undefined = None
        if not lanes.members.all():
            present = np.take_along_axis(lanes.members, read, axis=-1)
            values = np.where(present, values, np.uint32(0))
            undefined = lanes.members & ~present
        if machine.undefined is not None:
            masks = None if mask is None else lanes.table(mask)
            if masks is not None and not (masks == FULL).all():
                outside = lanes.members & (masks >> read.astype(np.uint32) & 1 == 0)
                undefined = outside if undefined is None else undefined | outside
            if undefined is not None and undefined.any():
                values = machine.undefined.seen(machine, instruction, lanes.first_lanes, read, undefined, masks, values)
        if out is not None:
            lanes.put(out, values)
        if found is not None:
            lanes.put(found, inside)

    return collective(decoder, instruction, run, mask)


@handles("match")
def match(decoder: Decoder, instruction: Instruction) -> Step:
    """``match.any.sync.type d, a, mask`` and ``match.all.sync.type d{|p}, a, mask``."""
    words = instruction.modifiers
    if len(words) != 3 or words[0] not in ("any", "all") or words[1] != "sync" or words[2] not in ("b32", "b64"):
        decoder.unknown(instruction)
    decoder.count(instruction, 3)
    mode = words[0]
    head = instruction.operands[0]
    target, predicate = (head.first, head.second) if isinstance(head, Pair) else (head, Sink())
    out = None if isinstance(target, Sink) else decoder.register_of(instruction, target)
    flag = None if isinstance(predicate, Sink) else decoder.register_of(instruction, predicate)
    row = decoder.source(instruction, instruction.operands[1], np.uint32 if words[2] == "b32" else np.uint64)
    mask = member_mask(decoder, instruction, instruction.operands[2])

    def run(threads: Selection) -> None:
        for lanes in by_mask(decoder, threads, mask):
            same, agree = numerics.match(mode, lanes.table(row), lanes.masked)
            if out is not None:
                lanes.put(out, same)
            if flag is not None:
                lanes.put(flag, agree)

    return collective(decoder, instruction, run, mask)


@handles("redux")
def redux(decoder: Decoder, instruction: Instruction) -> Step:
    """``redux.sync.{add,min,max}.{u32,s32}`` and ``redux.sync.{and,or,xor}.b32 d, a, mask``."""
    words = instruction.modifiers
    if len(words) != 3 or words[0] != "sync":
        decoder.unknown(instruction)
    decoder.count(instruction, 3)
    operation, kind = words[1], words[2]
    if (operation in ("add", "min", "max") and kind in ("u32", "s32")) or (operation in ("and", "or", "xor") and kind == "b32"):
        out = decoder.register_of(instruction, instruction.operands[0])
        row = decoder.source(instruction, instruction.operands[1], np.uint32)
        mask = member_mask(decoder, instruction, instruction.operands[2])

        def run(threads: Selection) -> None:
            for lanes in by_mask(decoder, threads, mask):
                lanes.put(out, numerics.reduce(operation, kind, lanes.table(row), lanes.masked))

        return collective(decoder, instruction, run, mask)
    return decoder.unknown(instruction)


@handles("elect")
def elect(decoder: Decoder, instruction: Instruction) -> Step:
    """``elect.sync d|p, mask``: the lowest lane of the mask, as an H200 elects it."""
    if instruction.modifiers != ("sync",):
        decoder.unknown(instruction)
    decoder.count(instruction, 2)
    head = instruction.operands[0]
    if not isinstance(head, Pair):
        decoder.wrong(instruction, "needs two destinations d|p")
    out = None if isinstance(head.first, Sink) else decoder.register_of(instruction, head.first)
    flag = None if isinstance(head.second, Sink) else decoder.register_of(instruction, head.second)
    mask = member_mask(decoder, instruction, instruction.operands[1])

    def run(threads: Selection) -> None:
        for lanes in by_mask(decoder, threads, mask):
            leader, leads = numerics.elect(lanes.masked)
            if out is not None:
                lanes.put(out, leader)
            if flag is not None:
                lanes.put(flag, leads)

    return collective(decoder, instruction, run, mask)


def warp_sync(decoder: Decoder, instruction: Instruction) -> Step:
    """``bar.warp.sync mask``."""
    decoder.count(instruction, 1)
    mask = member_mask(decoder, instruction, instruction.operands[0])
    checker, grid = decoder.machine.checker, decoder.grid

    def run(threads: Selection) -> None:
        if checker is None:
            return
        numbers = grid.arange[threads]
        events = grid.event_thread[threads]
        members = None if mask is None else mask[threads].astype(np.int64)
        whole = isinstance(threads, slice) and not (threads.start | threads.stop) & 31
        if whole and (members is None or (members == FULL).all()):
            checker.warp_sync(instruction, events.reshape(-1, 32))
        else:
            key = numbers >> 5 if members is None else (numbers >> 5) << 32 | members
            checker.warp_sync(instruction, [events[where] for _, where in grouped(key)])

    return collective(decoder, instruction, run, mask)
