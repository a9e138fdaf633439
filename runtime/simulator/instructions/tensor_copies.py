"""cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the tensor prefetch, in tiled and im2col mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fa4dsl.runtime.ptx.instruction import Address, Instruction, Operand, Vector
from fa4dsl.runtime.simulator.access import Generic, Resolver
from fa4dsl.runtime.simulator.copying import Signal, shared_range, start
from fa4dsl.runtime.simulator.decoder import Decoder
from fa4dsl.runtime.simulator.events import Range, SharedLayout
from fa4dsl.runtime.simulator.instructions.bulk import masked_ranks
from fa4dsl.runtime.simulator.layout import GLOBAL_BASE
from fa4dsl.runtime.simulator.numerics.im2col import Im2colLayout
from fa4dsl.runtime.simulator.numerics.tensor import CHUNK, TensorLayout, chunk_addresses, element_bytes
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Row, Selection
from fa4dsl.runtime.simulator.tensor_descriptor import SIZE as MAP_BYTES
from fa4dsl.runtime.simulator.tensor_descriptor import decode

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.numerics.im2col import Im2colLayout
from fa4dsl.runtime.simulator.numerics.tensor import Box

AnyLayout: TypeAlias = "TensorLayout | Im2colLayout"
REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


@dataclass(frozen=True)
class _Form:
    """What the mnemonic says."""

    rank: int
    direction: str
    """"load", "store", "reduce" or "prefetch"."""
    reduction: str = ""
    multicast: bool = False
    hint: bool = False
    cluster: bool = False
    im2col: bool = False


def _form(decoder: Decoder, instruction: Instruction) -> _Form:
    words = list(instruction.modifiers)
    reducing = words[0] == "reduce"
    words = words[3 if reducing else 2 :]
    prefetch = words[:1] == ["prefetch"]
    if prefetch:
        words = words[1:]
    if words[:1] != ["tensor"] or len(words) < 3 or len(words[1]) != 2 or words[1][1] != "d" or words[1][0] not in "12345":
        decoder.unknown(instruction)
    rank = int(words[1][0])
    rest = words[2:]
    hint = "L2::cache_hint" in rest
    im2col = "im2col" in rest or "im2col_no_offs" in rest
    if im2col and (rank < 3 or ("im2col" in rest) == (rest[:1] == ["global"])):
        decoder.unknown(instruction)
    rest = [word for word in rest if word not in ("L2::cache_hint", "tile", "cta_group::1", "im2col", "im2col_no_offs")]
    if prefetch:
        if rest != ["L2", "global"]:
            decoder.unknown(instruction)
        return _Form(rank, "prefetch", hint=hint, im2col=im2col)
    if rest[:2] == ["global", "shared::cta"]:
        rest = rest[2:]
        reduction = rest.pop(0) if reducing else ""
        if rest != ["bulk_group"] or (reducing and reduction not in REDUCTIONS):
            decoder.unknown(instruction)
        return _Form(rank, "reduce" if reducing else "store", reduction, hint=hint, im2col=im2col)
    if reducing or rest[:1] not in (["shared::cluster"], ["shared::cta"]) or rest[1:3] != ["global", "mbarrier::complete_tx::bytes"]:
        decoder.unknown(instruction)
    multicast = rest[3:] == ["multicast::cluster"]
    if rest[3:] and not multicast:
        decoder.unknown(instruction)
    return _Form(rank, "load", multicast=multicast, hint=hint, cluster=rest[0] == "shared::cluster", im2col=im2col)


class _Maps:
    """Reads tensor maps from memory; keeps the decoded ones."""

    def __init__(self, decoder: Decoder, instruction: Instruction, row: Row, offset: int) -> None:
        self.decoder, self.instruction = decoder, instruction
        self.target = Generic(decoder.machine, instruction, row, offset, MAP_BYTES, 64)
        self.known: dict[bytes, tuple[AnyLayout, int]] = {}

    def at(self, thread: int, form: _Form) -> tuple[AnyLayout, int]:
        """(layout, base as an offset in the global arena)."""
        machine = self.decoder.machine
        ((resolver, part),) = self.target.pieces(np.array([thread]))
        where = int(resolver.resolve(part)[0])
        if machine.checker is not None and resolver.event_space == "global":
            machine.checker.tensor_map_used(self.instruction, int(machine.grid.event_thread[thread]), where + int(resolver.event_base()))
        data = resolver.arena.bytes[where : where + MAP_BYTES].tobytes()
        found = self.known.get(data)
        if found is None:
            decoded = decode(data)
            if decoded is None:
                machine.fault(
                    "S012",
                    self.instruction,
                    thread,
                    what="the address does not hold a tensor map",
                    how="pass the tensor map as a __grid_constant__ parameter and give its address",
                )
            record, base = decoded
            if (record.im2col is not None) != form.im2col:
                mode, other = ("an im2col copy", "a tiled") if form.im2col else ("a tiled copy", "an im2col")
                machine.fault(
                    "S012",
                    self.instruction,
                    thread,
                    what=f"{mode} through {other} map",
                    how="encode the map for this mode (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col; `im2col` in a launch description's tensor_map)",
                )
            if record.rank != form.rank:
                machine.fault(
                    "S012",
                    self.instruction,
                    thread,
                    what=f"a {form.rank}d copy through a tensor map of rank {record.rank}",
                    how="use as many coordinates as the map has dimensions",
                )
            layout: AnyLayout = TensorLayout.of(record)
            if record.im2col is not None:
                layout = Im2colLayout(TensorLayout.of(record), record.im2col)
            found = self.known[data] = (layout, base - GLOBAL_BASE)
        return found


def tensor_copy(decoder: Decoder, instruction: Instruction) -> Step:
    """Loads, stores, reductions and prefetches of a box.

    Loads: ``[dst], [map, {coordinates}], [mbar]{, mask}{, policy}``. Stores and reductions: ``[map, {coordinates}], [src]{, policy}``.
    """
    form = _form(decoder, instruction)
    operands = list(instruction.operands)
    needed = {"load": 3, "store": 2, "reduce": 2, "prefetch": 1}[form.direction] + form.multicast + form.hint
    offsets: list[Row] = []
    if form.im2col and form.direction in ("load", "prefetch") and len(operands) > (at := 3 if form.direction == "load" else 1):
        item = operands.pop(at)
        parts = item.elements if isinstance(item, Vector) else (item,)
        if len(parts) != form.rank - 2:
            decoder.wrong(instruction, f"needs {form.rank - 2} im2col offsets")
        offsets = [decoder.source(instruction, part, np.uint16) for part in parts]
    if len(operands) != needed:
        decoder.wrong(instruction, f"takes {needed} operands, has {len(operands)}")
    machine, grid = decoder.machine, decoder.grid
    map_operand = operands[1] if form.direction == "load" else operands[0]
    if not isinstance(map_operand, Address) or len(map_operand.coordinates) != form.rank:
        decoder.wrong(instruction, f"needs [map, {{{form.rank} coordinates}}]")
    row, offset = decoder.address(instruction, Address(map_operand.base, map_operand.offset))
    maps = _Maps(decoder, instruction, row, offset)
    coordinates = [decoder.source(instruction, item, np.uint32) for item in map_operand.coordinates]
    if form.direction == "prefetch":
        return Step(lambda threads: None)
    tile_operand: Operand = operands[0] if form.direction == "load" else operands[1]
    row, offset = decoder.address(instruction, tile_operand)
    tile = Resolver(machine, instruction, "shared::cluster" if form.cluster else "shared", row, offset, 1, 1)
    barrier: Resolver | None = None
    if form.direction == "load":
        row, offset = decoder.address(instruction, operands[2])
        barrier = Resolver(machine, instruction, "shared::cluster" if form.cluster else "shared", row, offset, 8)
    mask = decoder.source(instruction, operands[3], np.uint16) if form.multicast else None

    def run(threads: Selection) -> None:
        numbers = grid.arange[threads]
        tiles = tile.resolve(threads)
        signals = barrier.resolve(threads) if barrier is not None else tiles
        for thread, place, signal in zip(numbers.tolist(), tiles.tolist(), signals.tolist(), strict=True):
            layout, base = maps.at(thread, form)
            corner = [int(row[thread].astype(np.uint32).view(np.int32)) for row in coordinates]
            _check(decoder, instruction, thread, form, layout, corner, place)
            box = (
                layout.at(corner, [int(row[thread]) & 0xFFFF for row in offsets]) if isinstance(layout, Im2colLayout) else layout.at(corner)
            )
            extent = box.extent(layout.swizzle)
            if extent + place % grid.shared_stride > machine.memory.shared_bytes:
                tile.size = extent
                tile.outside(
                    np.array([thread]),
                    np.ones(1, np.bool_),
                    f"the box reaches past the block's {machine.memory.shared_bytes} bytes of shared memory",
                )
            starts, length = box.global_ranges(base, form.direction != "load")
            if length and not (good := machine.memory.buffers.inside(starts, length)).all():
                worst = int(starts[~good][0])
                machine.fault(
                    "S010",
                    instruction,
                    thread,
                    space="global",
                    address=hex(worst + GLOBAL_BASE),
                    size=length,
                    where=machine.memory.buffers.describe(worst, length),
                )
            if form.direction == "load":
                if place // grid.shared_stride != signal // grid.shared_stride:
                    machine.fault(
                        "S012",
                        instruction,
                        thread,
                        what="the barrier lies in another block than the tile",
                        how="give both addresses of the same block",
                    )
                ranks = None if mask is None else masked_ranks(decoder, instruction, thread, int(mask[thread]))
                _load(decoder, instruction, thread, layout, box, base, place, signal, ranks)
            else:
                _store(decoder, instruction, thread, form, layout, box, base, place)

    return Step(run, visible=True)


def _check(decoder: Decoder, instruction: Instruction, thread: int, form: _Form, layout: AnyLayout, corner: list[int], place: int) -> None:
    """What an H200 answers with an illegal instruction (measured), and the alignment of the tile."""
    machine = decoder.machine
    width = element_bytes(layout.dtype)
    if corner[0] * width % 16:
        what = f"the innermost coordinate {corner[0]} lies {corner[0] * width} bytes from the row's start, which is not a multiple of 16"
        machine.fault(
            "S012", instruction, thread, what=what, how=f"use innermost coordinates that are multiples of {max(16 // width, 1)} elements"
        )
    if isinstance(layout, Im2colLayout):
        dimension = layout.outside(corner)
        if dimension is not None:
            low, high = layout.bounds[dimension - 1]
            machine.fault(
                "S012",
                instruction,
                thread,
                what=f"coordinate {dimension} is {corner[dimension]}, outside the map's bounding box of {low} to {high}",
                how="start within the bounding box: from its lower corner to the image's end plus the upper corner",
            )
    elif form.direction != "load" and min(corner) < 0:
        machine.fault(
            "S012",
            instruction,
            thread,
            what=f"a {form.direction} at the negative coordinates {tuple(corner)}",
            how="clip the tile by the end of the tensor, or shift the map's base address (a ragged map)",
        )
    if place % 128:
        machine.fault(
            "S012",
            instruction,
            thread,
            what=f"a tile at shared offset {place % decoder.grid.shared_stride}, which is not a multiple of 128",
            how="align the tile to 128 bytes, swizzled tiles to their pattern (256, 512 or 1024)",
        )


def _chunk_view(memory: Any) -> Row:
    chunks: Row = memory.shared.bytes.view(np.complex128)
    return chunks


def _layouts(decoder: Decoder, places: list[int], layout: AnyLayout) -> list[SharedLayout]:
    base = decoder.grid.first_cta * decoder.grid.shared_stride
    swizzle: Any = layout.swizzle
    return [SharedLayout(place + base, swizzle) for place in places]


def _load(
    decoder: Decoder,
    instruction: Instruction,
    thread: int,
    layout: AnyLayout,
    box: Box,
    base: int,
    place: int,
    signal: int,
    ranks: list[int] | None,
) -> None:
    machine, grid = decoder.machine, decoder.grid
    memory = machine.memory
    places, signals = [place], [Signal(signal, box.size)]
    if ranks is not None:
        first = int(grid.cta[thread]) - int(grid.rank[thread])
        places = [(first + rank) * grid.shared_stride + place % grid.shared_stride for rank in ranks]
        signals = [Signal((first + rank) * grid.shared_stride + signal % grid.shared_stride, box.size) for rank in ranks]
    chunks = [chunk_addresses(each, box.size, layout.swizzle, box.row_bytes) for each in places]
    dense: list[Row] = []

    def read() -> None:
        dense.append(box.read(memory.globals.bytes, base).view(np.complex128))

    def write() -> None:
        view = _chunk_view(memory)
        for addresses in chunks:
            view[addresses // CHUNK] = dense[0]

    starts, length = box.global_ranges(base)
    reads = [Range("global", starts, length)] if length else []
    writes = [shared_range(machine, addresses, CHUNK) for addresses in chunks]
    start(machine, instruction, thread, "tma_load", reads, writes, read, write, signals, layouts=_layouts(decoder, places, layout))


def _store(
    decoder: Decoder, instruction: Instruction, thread: int, form: _Form, layout: AnyLayout, box: Box, base: int, place: int
) -> None:
    machine = decoder.machine
    memory = machine.memory
    addresses = chunk_addresses(place, box.size, layout.swizzle, box.row_bytes)
    dense: list[Row] = []

    def read() -> None:
        dense.append(_chunk_view(memory)[addresses // CHUNK].view(np.uint8))

    def write() -> None:
        if form.reduction:
            box.reduce(memory.globals.bytes, base, dense[0], form.reduction, flush=box.element == "f64")
        else:
            box.write(memory.globals.bytes, base, dense[0])

    starts, length = box.global_ranges(base, True)
    writes = [Range("global", starts, length)] if length else []
    kind: Any = "tma_reduce" if form.reduction else "tma_store"
    start(
        machine,
        instruction,
        thread,
        kind,
        [shared_range(machine, addresses, CHUNK)],
        writes,
        read,
        write,
        (),
        True,
        _layouts(decoder, [place], layout),
    )
