"""wgmma: warpgroup matrix products in flight, their groups, and setmaxnreg, which is a matter of warpgroups too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Negated, Vector
from fa4dsl.runtime.simulator.asynchronous import Operation
from fa4dsl.runtime.simulator.copying import shared_range
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.events import SharedLayout
from fa4dsl.runtime.simulator.instructions.copies import constant_operand
from fa4dsl.runtime.simulator.instructions.matrices import elements, kept_columns, selector, table
from fa4dsl.runtime.simulator.instructions.warp import collective
from fa4dsl.runtime.simulator.layout import RESERVED_SHARED
from fa4dsl.runtime.simulator.machine import Machine
from fa4dsl.runtime.simulator.numerics import descriptor
from fa4dsl.runtime.simulator.numerics.matrix import Wgmma, parse_wgmma, shared_pieces
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection, compact, size


class Products:
    """By warpgroup: products not yet committed, and committed groups not yet waited for, oldest first."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.open: dict[int, list[Operation]] = {}
        self.groups: dict[int, list[list[Operation]]] = {}
        self.last: dict[int, Operation] = {}
        self.numbers: dict[tuple[Operation, int], int] = {}
        machine.wave_hooks.append(self.reset)

    def reset(self) -> None:
        self.open.clear()
        self.groups.clear()
        self.last.clear()
        self.numbers.clear()


def products_of(machine: Machine) -> Products:
    if machine.products is None:
        machine.products = Products(machine)
    found = machine.products
    assert isinstance(found, Products)
    return found


def by_warpgroup(decoder: Decoder, instruction: Instruction, run: Callable[[Selection, Ints, int], int | None]) -> Step:
    """A step for whole warpgroups: `run(threads, warpgroups, pc)` gets complete ones only and returns the next program counter or None after setting keys."""
    machine, grid = decoder.machine, decoder.grid
    per_cta = max(-(-grid.stride // 128), 1)
    group_of: Ints = grid.cta * per_cta + grid.local_thread // 128

    def control(threads: Selection, pc: int) -> int | None:
        numbers = grid.arange[threads]
        machine.rendezvous_at[threads] = pc + 1
        groups = np.unique(group_of[numbers])
        firsts = groups // per_cta * grid.stride + groups % per_cta * 128
        if (grid.local_thread[firsts] + 128 > grid.stride).any():
            bad = int(firsts[grid.local_thread[firsts] + 128 > grid.stride][0])
            machine.fault(
                "S018",
                instruction,
                bad,
                what="the block's last warpgroup has fewer than four warps",
                how="let only whole warpgroups execute it: four consecutive warps, the first a multiple of 4",
            )
        members = firsts[:, None] + np.arange(128)
        here = (machine.rendezvous_at[members] == pc + 1).all(axis=1)
        ready = members[here].reshape(-1)
        machine.rendezvous_at[ready] = 0
        waiting = numbers[machine.rendezvous_at[numbers] == pc + 1]
        if len(waiting):
            machine.block(waiting, pc)
        if not len(ready):
            return None
        chosen = compact(ready)
        following = run(chosen, groups[here], pc)
        if following is not None and (len(waiting) or size(chosen) != len(numbers)):
            machine.key[chosen] = following
            return None
        return following

    return Step(control=control, visible=True)


@handles("wgmma")
def wgmma(decoder: Decoder, instruction: Instruction) -> Step:
    """``wgmma.{fence,commit_group,wait_group,mma_async}``."""
    words = instruction.modifiers
    if words == ("fence", "sync", "aligned"):
        return collective(decoder, instruction, _fence(decoder, instruction), None)
    if words == ("commit_group", "sync", "aligned"):
        return _commit(decoder, instruction)
    if words == ("wait_group", "sync", "aligned"):
        return _wait(decoder, instruction)
    form = parse_wgmma(instruction.mnemonic)
    if form is None:
        decoder.unknown(instruction)
    return _product(decoder, instruction, form)


def _fence(decoder: Decoder, instruction: Instruction) -> Callable[[Selection], None]:
    fragments = decoder.machine.fragments

    def fence(threads: Selection) -> None:
        if fragments is not None:
            fragments.fence(instruction, threads)

    return fence


def _commit(decoder: Decoder, instruction: Instruction) -> Step:
    products = products_of(decoder.machine)
    fragments = decoder.machine.fragments

    def run(threads: Selection, groups: Ints, pc: int) -> int:
        for group in groups.tolist():
            if fragments is not None:
                fragments.commit(group)
            products.groups.setdefault(group, []).append(products.open.pop(group, []))
        return pc + 1

    return by_warpgroup(decoder, instruction, run)


def _wait(decoder: Decoder, instruction: Instruction) -> Step:
    decoder.count(instruction, 1)
    newest = constant_operand(decoder, instruction, instruction.operands[0])
    machine, grid = decoder.machine, decoder.grid
    products = products_of(machine)

    def run(threads: Selection, groups: Ints, pc: int) -> int:
        members = grid.arange[threads].reshape(len(groups), 128)
        for index, group in enumerate(groups.tolist()):
            if machine.fragments is not None:
                machine.fragments.wait(group, newest)
            committed = products.groups.get(group, [])
            due = committed[: len(committed) - newest] if newest else list(committed)
            numbers = []
            for operations in due:
                for operation in operations:
                    machine.asynchronous.complete(operation)
                    number = products.numbers.pop((operation, group), None)
                    if number is not None:
                        numbers.append(number)
            products.groups[group] = committed[len(due) :]
            if machine.checker is not None and numbers:
                machine.checker.async_waited(instruction, grid.event_thread[members[index]], numbers, False)
        return pc + 1

    return by_warpgroup(decoder, instruction, run)


def _immediates(decoder: Decoder, instruction: Instruction, form: Wgmma, from_registers: bool) -> tuple[int, int, bool, bool]:
    """(scale a, scale b, transpose a, transpose b)."""
    rest = list(instruction.operands[6 if form.sparsity else 4 :])
    values = []
    for item in rest:
        if not isinstance(item, Immediate):
            decoder.wrong(instruction, "the scale and transpose operands are constants")
        values.append(item.bits - (1 << 64) if item.bits >> 63 else item.bits)
    scales = 2 if form.has_scales else 0
    transposes = (1 if from_registers else 2) if form.has_transposes else 0
    if len(values) != scales + transposes:
        decoder.wrong(instruction, f"takes {scales + transposes} constants at the end, has {len(values)}")
    scale_a, scale_b = values[:2] if scales else (1, 1)
    if abs(scale_a) != 1 or abs(scale_b) != 1:
        decoder.wrong(instruction, "a scale is 1 or -1")
    tail = values[scales:]
    transpose_b = bool(tail[-1]) if tail else False
    transpose_a = bool(tail[0]) if len(tail) == 2 else False
    return scale_a, scale_b, transpose_a, transpose_b


def _product(decoder: Decoder, instruction: Instruction, form: Wgmma) -> Step:
    operands = instruction.operands
    sparse = form.sparsity
    if len(operands) < (6 if sparse else 4):
        decoder.wrong(
            instruction, "takes at least accumulators, A, B" + (", metadata, sparsity selector" if sparse else "") + " and scale-d"
        )
    if sparse:
        (metadata,) = elements(decoder, instruction, operands[3], 1, False)
        chosen = selector(decoder, instruction, operands[4], sparse)
    d = elements(decoder, instruction, operands[0], form.d_registers, True)
    from_registers = isinstance(operands[1], Vector)
    a_rows = elements(decoder, instruction, operands[1], form.a_registers, False) if from_registers else []
    a_descriptor = None if from_registers else decoder.source(instruction, operands[1], np.uint64)
    b_descriptor = decoder.source(instruction, operands[2], np.uint64)
    scale_operand = operands[5 if sparse else 3]
    negated = isinstance(scale_operand, Negated)
    scale_d = decoder.source(instruction, scale_operand.operand if isinstance(scale_operand, Negated) else scale_operand, np.bool_)
    scale_a, scale_b, transpose_a, transpose_b = _immediates(decoder, instruction, form, from_registers)
    machine, grid = decoder.machine, decoder.grid
    products = products_of(machine)
    memory = machine.memory

    def fetchable(threads: Ints, pieces: Ints) -> Ints:
        """Physical addresses of pieces given by 18-bit shared addresses."""
        offsets = pieces - RESERVED_SHARED
        bad = (offsets < 0) | (offsets + 16 > memory.shared_bytes)
        if bad.any():
            group = int(np.flatnonzero(bad.reshape(len(pieces), -1).any(axis=1))[0])
            where = int(pieces.reshape(-1)[np.flatnonzero(bad.reshape(-1))[0]])
            if machine.checker is not None:  # a descriptor of another layout than the tile's is the likely cause
                thread = int(threads[group])
                layouts = _layouts(decoder, thread, [row for row in (a_descriptor, b_descriptor) if row is not None])
                machine.checker.async_begin(instruction, int(grid.event_thread[thread]), "wgmma", (), (), None, layouts)
            machine.fault(
                "S010",
                instruction,
                int(threads[group]),
                space="shared",
                address=hex(where),
                size=16,
                where=f"outside the block's {memory.shared_bytes} bytes, by a matrix descriptor",
            )
        base = grid.shared_base[threads].reshape(-1, *([1] * (pieces.ndim - 1)))
        physical: Ints = offsets + base
        return physical

    def run(threads: Selection, groups: Ints, pc: int) -> int:
        count = len(groups)
        firsts = grid.arange[threads].reshape(count, 128)[:, 0]
        for name, row in (("A", a_descriptor), ("B", b_descriptor), ("scale-d", scale_d)):
            if row is not None:
                values = row[threads].reshape(count, 128)
                if (values != values[:, :1]).any():
                    bad = int(np.flatnonzero((values != values[:, :1]).any(axis=1))[0])
                    machine.fault(
                        "S018",
                        instruction,
                        int(firsts[bad]),
                        what=f"the {name} operand differs between threads of the warpgroup",
                        how="give all threads the same descriptor and scale",
                    )
        b_places = fetchable(firsts, form.b_pieces(b_descriptor[firsts], transpose_b))
        a_places = None if a_descriptor is None else fetchable(firsts, form.a_pieces(a_descriptor[firsts], transpose_a))
        keep = scale_d[firsts] ^ negated
        fetched: list[Any] = []

        def read() -> None:
            b = form.tile(shared_pieces(memory.shared.bytes, b_places), form.b_type, transpose_b)
            if a_places is None:
                a = form.a_from_registers(table(a_rows, threads, count, 128))
            else:
                a = form.tile(shared_pieces(memory.shared.bytes, a_places), form.a_type, transpose_a)
            kept = None
            if sparse:
                columns = kept_columns(decoder, instruction, sparse, metadata, chosen, threads, 4 * count)
                kept = columns.reshape(count, 64, -1)
            fetched.append((a, b, kept))

        def write(token: Any) -> None:
            a, b, kept = fetched[0]
            result = form.multiply(a, b, table(d, threads, count, 128), keep, scale_a, scale_b, kept=kept)
            for row, values in zip(d, result, strict=True):
                row[threads] = values.reshape(-1)

        before = dict.fromkeys(products.last[group] for group in groups.tolist() if group in products.last)
        operation = Operation(instruction, int(firsts[0]), read, write, before=tuple(before))
        if machine.checker is not None:
            operation.vector = tuple(
                _begin(
                    decoder,
                    instruction,
                    int(group),
                    grid.arange[threads].reshape(count, 128)[index],
                    operation,
                    products,
                    a_places,
                    b_places,
                    index,
                    a_descriptor,
                    b_descriptor,
                )
                for index, group in enumerate(groups.tolist())
            )
        if machine.measures is not None:
            for index, first in enumerate(firsts.tolist()):
                places = [b_places] if a_places is None else [a_places, b_places]
                reads = [shared_range(machine, np.unique(item[index]), 16) for item in places]
                machine.measures.copy("wgmma", first, reads, ())
                if machine.trace is not None and not index:
                    machine.trace.issued(operation, "wgmma", reads, ())
        for index, group in enumerate(groups.tolist()):
            if machine.fragments is not None:
                machine.fragments.product(instruction, group, int(firsts[index]))
            products.open.setdefault(group, []).append(operation)
            products.last[group] = operation
        machine.asynchronous.issue(operation)
        return pc + 1

    return by_warpgroup(decoder, instruction, run)


def _layouts(decoder: Decoder, thread: int, rows: list[Row]) -> list[SharedLayout]:
    """What a thread's matrix descriptors say of the tiles that they start at."""
    grid = decoder.grid
    base = (grid.first_cta + int(grid.cta[thread])) * grid.shared_stride
    found = []
    for row in rows:
        fields = descriptor.decode(int(row[thread]))
        swizzle: Any = fields.swizzle
        offset = fields.start - RESERVED_SHARED
        if 0 <= offset < decoder.machine.memory.shared_bytes:
            found.append(SharedLayout(base + offset, swizzle, fields.base_offset))
    return found


def _begin(
    decoder: Decoder,
    instruction: Instruction,
    group: int,
    members: Ints,
    operation: Operation,
    products: Products,
    a_places: Ints | None,
    b_places: Ints,
    index: int,
    a_descriptor: Row | None,
    b_descriptor: Row,
) -> int:
    """Tells the checker what a warpgroup's product reads."""
    machine, grid = decoder.machine, decoder.grid
    checker = machine.checker
    assert checker is not None
    rows = [row for row in (a_descriptor, b_descriptor) if row is not None]
    reads = [shared_range(machine, np.unique(places[index]), 16) for places in (a_places, b_places) if places is not None]
    layouts = _layouts(decoder, int(members[0]), rows)
    number = checker.async_begin(instruction, int(grid.event_thread[members[0]]), "wgmma", reads, (), grid.event_thread[members], layouts)
    products.numbers[(operation, group)] = number
    return number


@handles("setmaxnreg")
def setmaxnreg(decoder: Decoder, instruction: Instruction) -> Step:
    """``setmaxnreg.{inc,dec}.sync.aligned.u32 n``: `inc` waits until the block's pool can give."""
    words = instruction.modifiers
    if words[:1] not in (("inc",), ("dec",)) or words[1:] != ("sync", "aligned", "u32"):
        decoder.unknown(instruction)
    decoder.count(instruction, 1)
    asked = constant_operand(decoder, instruction, instruction.operands[0])
    if not 24 <= asked <= 256 or asked % 8:
        decoder.wrong(instruction, f"{asked} is not a multiple of 8 from 24 to 256")
    increases = words[0] == "inc"
    machine, grid = decoder.machine, decoder.grid
    per_cta = max(-(-grid.stride // 128), 1)

    def run(threads: Selection, groups: Ints, pc: int) -> int | None:
        pool = machine.pool
        if not pool.known:
            return pc + 1
        members = grid.arange[threads].reshape(len(groups), 128)
        for index, group in enumerate(groups.tolist()):
            cta, within = divmod(group, per_cta)
            part = members[index]
            current = int(pool.current[cta, within])
            if (asked < current) if increases else (asked > current):
                machine.note("S100", instruction, int(part[0]), asked=asked, current=current)
                machine.key[part] = pc + 1
            elif not increases:
                machine.key[part] = pc + 1
                pool.release(cta, within, asked)
                machine.progress_marks += 1
            elif pool.acquire(cta, within, asked):
                machine.key[part] = pc + 1
                machine.progress_marks += 1
            else:
                machine.block(part, pc)
                pool.waiting.setdefault(cta, []).append(part)
        return None

    return by_warpgroup(decoder, instruction, run)
