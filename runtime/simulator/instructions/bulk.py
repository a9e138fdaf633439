"""cp.async.bulk and cp.reduce.async.bulk between plain addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Operand
from fa4dsl.runtime.simulator.access import Resolver
from fa4dsl.runtime.simulator.copying import Signal, shared_range, start
from fa4dsl.runtime.simulator.decoder import Decoder
from fa4dsl.runtime.simulator.events import Range
from fa4dsl.runtime.simulator.numerics.tensor import reduce_bytes
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection

_SPACES = {"shared::cluster": "shared::cluster", "shared::cta": "shared", "shared": "shared", "global": "global"}
_IGNORED = {"L2::cache_hint", "noftz", "bulk_group", "mbarrier::complete_tx::bytes", "cta_group::1"}
SHARED_REDUCTIONS = {
    "add": ("u32", "s32", "u64"), "min": ("u32", "s32"), "max": ("u32", "s32"), "inc": ("u32",), "dec": ("u32",), "and": ("b32",), "or": ("b32",), "xor": ("b32",),
}  # fmt: skip
GLOBAL_REDUCTIONS = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16"), "min": ("u32", "s32", "u64", "s64", "f16", "bf16"), "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",), "dec": ("u32",), "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
}  # fmt: skip


def masked_ranks(decoder: Decoder, instruction: Instruction, thread: int, mask: int) -> list[int]:
    """Ranks of a multicast mask; a fault if one is outside the cluster."""
    mask &= 0xFFFF
    size = decoder.grid.cluster_size
    if mask >> size or not mask:
        decoder.machine.fault(
            "S012",
            instruction,
            thread,
            what=f"the multicast mask {mask:#x} in a cluster of {size} blocks",
            how="set one bit for each rank of the cluster that receives, and no other",
        )
    return [rank for rank in range(size) if mask >> rank & 1]


class Words:
    """Destination and source space, completion, multicast and reduction of a bulk copy's mnemonic."""

    def __init__(self, decoder: Decoder, instruction: Instruction, words: list[str]) -> None:
        self.target = _SPACES.get(words[0], "") if words else ""
        self.source = _SPACES.get(words[1], "") if len(words) > 1 else ""
        if not self.target or not self.source:
            decoder.unknown(instruction)
        rest = words[2:]
        self.multicast = "multicast::cluster" in rest
        self.hint = "L2::cache_hint" in rest
        self.byte_mask = "cp_mask" in rest
        self.bulk_group = "bulk_group" in rest
        self.rest = [word for word in rest if word not in _IGNORED and word not in ("multicast::cluster", "cp_mask")]
        if self.bulk_group == ("mbarrier::complete_tx::bytes" in rest) or self.bulk_group != (self.target == "global"):
            decoder.unknown(instruction)


def bulk_copy(decoder: Decoder, instruction: Instruction) -> Step:
    """All forms of cp{.reduce}.async.bulk without a tensor map, and its L2 prefetch."""
    reducing = instruction.modifiers[0] == "reduce"
    words = list(instruction.modifiers[3 if reducing else 2 :])
    if words[:3] == ["prefetch", "L2", "global"]:
        # a hint; a wrong address is still an error
        row, offset = decoder.address(instruction, instruction.operands[0])
        target = Resolver(decoder.machine, instruction, "global", row, offset, 1, 16)

        def prefetch(threads: Selection) -> None:
            target.resolve(threads)

        return Step(prefetch)
    form = Words(decoder, instruction, words)
    kind = ""
    operation = ""
    if reducing:
        if len(form.rest) != 2:
            decoder.unknown(instruction)
        operation, kind = form.rest
        if kind not in (GLOBAL_REDUCTIONS if form.target == "global" else SHARED_REDUCTIONS).get(operation, ()):
            decoder.unknown(instruction)
    elif form.rest:
        decoder.unknown(instruction)
    operands = list(instruction.operands)
    policy = 1 if form.hint else 0
    needed = (3 if form.bulk_group else 4) + form.multicast + form.byte_mask + policy
    if len(operands) != needed:
        decoder.wrong(instruction, f"takes {needed} operands, has {len(operands)}")
    return _plain(decoder, instruction, form, operands, operation, kind)


def _plain(decoder: Decoder, instruction: Instruction, form: Words, operands: list[Operand], operation: str, kind: str) -> Step:
    machine, grid = decoder.machine, decoder.grid
    memory = machine.memory
    row, offset = decoder.address(instruction, operands[0])
    # with the size known only at run time, bounds are checked by hand
    target = Resolver(machine, instruction, form.target, row, offset, 1, 16)
    row, offset = decoder.address(instruction, operands[1])
    source = Resolver(machine, instruction, form.source, row, offset, 1, 16)
    sizes = decoder.source(instruction, operands[2], np.uint32)
    barrier: Resolver | None = None
    if not form.bulk_group:
        row, offset = decoder.address(instruction, operands[3])
        barrier = Resolver(machine, instruction, "shared::cluster" if form.target == "shared::cluster" else "shared", row, offset, 8)
    mask = decoder.source(instruction, operands[4], np.uint16) if form.multicast else None
    byte_mask = decoder.source(instruction, operands[-1], np.uint16) if form.byte_mask else None
    kind_name: Any = {
        ("shared", "global"): "bulk_load", ("shared::cluster", "global"): "bulk_load", ("shared::cluster", "shared"): "bulk_push", ("global", "shared"): "bulk_store",
    }.get((form.target, form.source))  # fmt: skip
    if kind_name is None:
        decoder.unknown(instruction)
    if operation:
        kind_name = "bulk_reduce"

    def check(resolver: Resolver, thread: int, at: int, size: int) -> None:
        one = np.array([thread])
        if resolver.space == "global":
            if not memory.buffers.inside(np.array([at]), size).all():
                resolver.size = size
                resolver.outside(one, np.ones(1, np.bool_), memory.buffers.describe(at, size))
        elif at % grid.shared_stride + size > memory.shared_bytes:
            resolver.size = size
            resolver.outside(
                one,
                np.ones(1, np.bool_),
                f"reaching {at % grid.shared_stride + size - memory.shared_bytes} bytes past the block's {memory.shared_bytes} bytes",
            )

    alike = kind_name == "bulk_load" and mask is None and byte_mask is None and grid.cluster_size == 1

    def begin(numbers: Ints, targets: Ints, sources: Ints, barriers: Ints) -> Sequence[int] | None:
        """Tells the checker of the copies of many blocks at once; None, with nothing done, where one of them is wrong, or they differ in kind."""
        size = int(sizes[numbers[0]])
        ctas = grid.cta[numbers]
        if (
            machine.checker is None
            or not size
            or size % 16
            or (sizes[numbers] != size).any()
            or (ctas[1:] <= ctas[:-1]).any()
            or (targets // grid.shared_stride != ctas).any()
            or (barriers // grid.shared_stride != ctas).any()
            or (targets % grid.shared_stride + size > memory.shared_bytes).any()
            or not memory.buffers.inside(sources, size).all()
            or any(signal not in machine.mbarriers.objects for signal in barriers.tolist())
        ):
            return None
        base = grid.first_cta * grid.shared_stride
        reads, writes = Range("global", sources, size), Range("shared", targets + base, size)
        return machine.checker.copies_begin(instruction, grid.event_thread[numbers], kind_name, reads, writes, barriers + base)

    def run(threads: Selection) -> None:
        numbers = grid.arange[threads]
        targets, sources = target.resolve(threads), source.resolve(threads)
        barriers = barrier.resolve(threads) if barrier is not None else targets
        begun = begin(numbers, targets, sources, barriers) if alike and len(numbers) > 1 else None
        for index, (thread, to, at, signal) in enumerate(
            zip(numbers.tolist(), targets.tolist(), sources.tolist(), barriers.tolist(), strict=True)
        ):
            size = int(sizes[thread])
            if size % 16:
                machine.fault(
                    "S012",
                    instruction,
                    thread,
                    what=f"a size of {size} bytes, which is not a multiple of 16",
                    how="copy a multiple of 16 bytes",
                )
            check(source, thread, at, size)
            check(target, thread, to, size)
            if kind_name == "bulk_push" and to // grid.shared_stride == grid.cta[thread]:
                machine.note("S105", instruction, thread)
            places = [to]
            signals = [] if form.bulk_group else [Signal(signal, size)]
            if signals and to // grid.shared_stride != signal // grid.shared_stride:
                machine.fault(
                    "S012",
                    instruction,
                    thread,
                    what="the barrier lies in another block than the destination",
                    how="map the destination and the barrier to the same block",
                )
            if mask is not None:
                first = int(grid.cta[thread]) - int(grid.rank[thread])
                ranks = masked_ranks(decoder, instruction, thread, int(mask[thread]))
                places = [(first + rank) * grid.shared_stride + to % grid.shared_stride for rank in ranks]
                signals = [Signal((first + rank) * grid.shared_stride + signal % grid.shared_stride, size) for rank in ranks]
            _issue(
                decoder,
                instruction,
                thread,
                form,
                kind_name,
                at,
                places,
                size,
                signals,
                operation,
                kind,
                None if byte_mask is None else int(byte_mask[thread]),
                None if begun is None else begun[index],
            )

    return Step(run, visible=True)


def _issue(
    decoder: Decoder,
    instruction: Instruction,
    thread: int,
    form: Words,
    kind_name: Any,
    at: int,
    places: list[int],
    size: int,
    signals: list[Signal],
    operation: str,
    kind: str,
    byte_mask: int | None,
    begun: int | None,
) -> None:
    machine = decoder.machine
    memory = machine.memory
    source = memory.globals.bytes if form.source == "global" else memory.shared.bytes
    target = memory.globals.bytes if form.target == "global" else memory.shared.bytes
    data: list[Row] = []

    def read() -> None:
        data.append(source[at : at + size].copy())

    def write() -> None:
        for place in places:
            if operation:
                flush = kind == "f64" and form.target == "global"
                target[place : place + size] = reduce_bytes(target[place : place + size], data[0], operation, kind, flush=flush)
            elif byte_mask is not None:
                keep = np.tile((byte_mask >> np.arange(16)) & 1 != 0, size // 16)
                target[place : place + size][keep] = data[0][keep]
            else:
                target[place : place + size] = data[0]

    reads = [Range("global", np.array([at]), size) if form.source == "global" else shared_range(machine, [at], size)]
    if form.target == "global":
        writes = [Range("global", np.array(places), size)]
    else:
        writes = [shared_range(machine, [place], size) for place in places]
    start(machine, instruction, thread, kind_name, reads, writes, read, write, signals, form.bulk_group, begun=begun)


__all__ = ["bulk_copy", "masked_ranks"]
