"""ldmatrix, stmatrix, movmatrix and mma.sync: whole warps, in batches."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Operand, Sink, Vector
from fa4dsl.runtime.simulator.access import pieces
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.instructions.loads_stores import make_target, needs_watch, watch
from fa4dsl.runtime.simulator.instructions.warp import collective
from fa4dsl.runtime.simulator.numerics import warp_matrix
from fa4dsl.runtime.simulator.numerics.quad_matrix import QuadMma, parse_quad_mma
from fa4dsl.runtime.simulator.numerics.sparse import Sparsity, parse_sparse_mma
from fa4dsl.runtime.simulator.numerics.warp_matrix import parse_mma
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection, size


def whole_warps(decoder: Decoder, instruction: Instruction, threads: Selection) -> int:
    """The number of warps; a fault if one of them has lost lanes."""
    count = size(threads)
    numbers = decoder.grid.arange[threads]
    if count % 32 or (numbers[::32] & 31).any() or (numbers[31::32] - numbers[::32] != 31).any():
        lanes = np.bincount(numbers >> 5)
        warp = int(np.flatnonzero((lanes > 0) & (lanes < 32))[0])
        decoder.machine.fault(
            "S018",
            instruction,
            warp * 32,
            what=f"only {int(lanes[warp])} lanes of the warp are left",
            how="execute it with all 32 lanes: none may have exited",
        )
    return count // 32


def elements(decoder: Decoder, instruction: Instruction, operand: Operand, count: int, destination: bool, width: int = 4) -> list[Row]:
    """The register rows of a fragment."""
    items = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(items) != count:
        decoder.wrong(instruction, f"a fragment of {count} registers stands here, {len(items)} given")
    dtype = np.dtype(f"u{width}")
    rows = []
    for item in items:
        if destination and isinstance(item, Sink):
            rows.append(np.zeros(decoder.grid.width, dtype))
            continue
        row = decoder.register_of(instruction, item) if destination else decoder.source(instruction, item, dtype)
        if row.dtype != dtype:
            decoder.wrong(instruction, f"fragment registers must be {width * 8} bits wide")
        rows.append(row)
    return rows


def table(rows: list[Row], threads: Selection, groups: int, lanes: int = 32) -> Row:
    """Registers as ``[registers, groups, lanes]``."""
    return np.stack([row[threads].reshape(groups, lanes) for row in rows])


def _shape(decoder: Decoder, instruction: Instruction) -> tuple[int, bool]:
    words = [word for word in instruction.modifiers if word not in ("sync", "aligned", "shared", "shared::cta")]
    transposed = "trans" in words
    words = [word for word in words if word != "trans"]
    if (
        len(words) != 3
        or words[0] != "m8n8"
        or words[1] not in ("x1", "x2", "x4")
        or words[2] != "b16"
        or instruction.modifiers[:2] != ("sync", "aligned")
    ):
        decoder.unknown(instruction)
    return int(words[1][1]), transposed


def _rows(count: int, numbers: Ints) -> Ints:
    """The threads whose addresses are used."""
    return numbers[(numbers & 31) < 8 * count]


@handles("ldmatrix")
def ldmatrix(decoder: Decoder, instruction: Instruction) -> Step:
    """``ldmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}{.shared}.b16 {registers}, [row]``."""
    decoder.count(instruction, 2)
    count, transposed = _shape(decoder, instruction)
    outs = elements(decoder, instruction, instruction.operands[0], count, True)
    space = "shared" if {"shared", "shared::cta"} & set(instruction.modifiers) else None
    target = make_target(decoder, instruction, instruction.operands[1], space, 16)
    tell = watch(decoder, instruction, "read", "weak", "cta", 16) if needs_watch(decoder, target) else None
    grid = decoder.grid

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        addressing = _rows(count, grid.arange[threads])
        ((resolver, _),) = pieces(target, addressing)
        offsets = np.asarray(resolver.resolve(addressing), np.int64)
        if tell is not None:
            tell(resolver, addressing, offsets)
        rows = resolver.arena.bytes.reshape(-1, 16)[offsets >> 4].reshape(warps, count, 8, 16)
        registers = warp_matrix.load_matrices(rows, transposed)
        for row, values in zip(outs, registers, strict=True):
            row[threads] = values.reshape(-1)

    return collective(decoder, instruction, run, None)


@handles("stmatrix")
def stmatrix(decoder: Decoder, instruction: Instruction) -> Step:
    """``stmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}{.shared}.b16 [row], {registers}``."""
    decoder.count(instruction, 2)
    count, transposed = _shape(decoder, instruction)
    sources = elements(decoder, instruction, instruction.operands[1], count, False)
    space = "shared" if {"shared", "shared::cta"} & set(instruction.modifiers) else None
    target = make_target(decoder, instruction, instruction.operands[0], space, 16)
    machine, grid = decoder.machine, decoder.grid

    tell = watch(decoder, instruction, "write", "weak", "cta", 16) if needs_watch(decoder, target) else None

    def run(threads: Selection) -> None:
        machine.progress_marks += 1
        warps = whole_warps(decoder, instruction, threads)
        addressing = _rows(count, grid.arange[threads])
        ((resolver, _),) = pieces(target, addressing)
        offsets = np.asarray(resolver.resolve(addressing), np.int64)
        rows = warp_matrix.store_matrices(table(sources, threads, warps), transposed).reshape(-1, 16)
        if tell is not None:
            tell(resolver, addressing, offsets)
        resolver.arena.bytes.reshape(-1, 16)[offsets >> 4] = rows

    return collective(decoder, instruction, run, None)


@handles("movmatrix")
def movmatrix(decoder: Decoder, instruction: Instruction) -> Step:
    """``movmatrix.sync.aligned.m8n8.trans.b16 d, a``."""
    if instruction.modifiers != ("sync", "aligned", "m8n8", "trans", "b16"):
        decoder.unknown(instruction)
    decoder.count(instruction, 2)
    out = decoder.register_of(instruction, instruction.operands[0])
    row = decoder.source(instruction, instruction.operands[1], np.uint32)

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        out[threads] = warp_matrix.transpose_matrix(row[threads].reshape(warps, 32)).reshape(-1)

    return collective(decoder, instruction, run, None)


@handles("mma")
def mma(decoder: Decoder, instruction: Instruction) -> Step:
    """``mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype {d}, {a}, {b}, {c}``, and ``mma.sp`` with metadata and selector behind."""
    if instruction.modifiers[:1] in (("sp",), ("sp::ordered_metadata",)):
        return _sparse(decoder, instruction)
    form = parse_mma(instruction.mnemonic) or parse_quad_mma(instruction.mnemonic)
    if form is None:
        decoder.unknown(instruction)
    decoder.count(instruction, 4)
    width = 8 if form.d_type == "f64" else 4
    c_registers = form.c_registers if isinstance(form, QuadMma) else form.d_registers
    d = elements(decoder, instruction, instruction.operands[0], form.d_registers, True, width)
    a = elements(decoder, instruction, instruction.operands[1], form.a_registers, False, width)
    b = elements(decoder, instruction, instruction.operands[2], form.b_registers, False, width)
    c = elements(decoder, instruction, instruction.operands[3], c_registers, False, width)

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        result = form.multiply(table(a, threads, warps), table(b, threads, warps), table(c, threads, warps))
        for row, values in zip(d, result, strict=True):
            row[threads] = values.reshape(-1)

    return collective(decoder, instruction, run, None)


def selector(decoder: Decoder, instruction: Instruction, operand: Operand, sparsity: Sparsity) -> int:
    """The sparsity selector, a constant."""
    if not isinstance(operand, Immediate):
        decoder.wrong(instruction, "the sparsity selector is a constant")
    if operand.bits >= sparsity.selectors:
        decoder.wrong(instruction, f"the sparsity selector {operand.bits}: this shape has {sparsity.selectors}, counted from 0")
    return operand.bits


def kept_columns(
    decoder: Decoder, instruction: Instruction, sparsity: Sparsity, metadata: Row, chosen: int, threads: Selection, warps: int
) -> Row:
    """Where A's elements stand, ``[warps, 16, K / 2]``; reports metadata that means nothing."""
    nibbles = sparsity.nibbles(metadata[threads].reshape(warps, 32), chosen)
    good = sparsity.valid(nibbles)
    if not good.all():
        warp, row, chunk = (int(index[0]) for index in np.nonzero(~good))
        first = int(decoder.grid.arange[threads][warp * 32])
        decoder.machine.note("S060", instruction, first, row=row, chunk=chunk, bits=f"{int(nibbles[warp, row, chunk]):04b}")
    return sparsity.positions(nibbles)


def _sparse(decoder: Decoder, instruction: Instruction) -> Step:
    """``mma.sp{::ordered_metadata}... {d}, {a}, {b}, {c}, metadata, selector``."""
    form = parse_sparse_mma(instruction.mnemonic)
    if form is None:
        decoder.unknown(instruction)
    decoder.count(instruction, 6)
    d = elements(decoder, instruction, instruction.operands[0], form.d_registers, True)
    a = elements(decoder, instruction, instruction.operands[1], form.a_registers, False)
    b = elements(decoder, instruction, instruction.operands[2], form.b_registers, False)
    c = elements(decoder, instruction, instruction.operands[3], form.d_registers, False)
    (metadata,) = elements(decoder, instruction, instruction.operands[4], 1, False)
    chosen = selector(decoder, instruction, instruction.operands[5], form.sparsity)

    def run(threads: Selection) -> None:
        warps = whole_warps(decoder, instruction, threads)
        positions = kept_columns(decoder, instruction, form.sparsity, metadata, chosen, threads, warps)
        result = form.multiply(table(a, threads, warps), table(b, threads, warps), table(c, threads, warps), positions)
        for row, values in zip(d, result, strict=True):
            row[threads] = values.reshape(-1)

    return collective(decoder, instruction, run, None)
