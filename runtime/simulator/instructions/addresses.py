"""Conversions between address spaces, and questions about addresses."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.layout import CONSTANT_WINDOW, GLOBAL_BASE, LOCAL_WINDOW, RANK_SHIFT, SHARED_WINDOW, WINDOW_BYTES
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection

_WINDOW_OF = {
    "global": 0,
    "const": CONSTANT_WINDOW,
    "param": CONSTANT_WINDOW,
    "param::func": LOCAL_WINDOW,
    "local": LOCAL_WINDOW,
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
}


@handles("cvta")
def cvta(decoder: Decoder, instruction: Instruction) -> Step:
    """``cvta{.to}.space.u64 d, a``."""
    words = [word.removesuffix("::entry") for word in instruction.modifiers]
    if not decoder.function.entry:
        # A function's own parameters lie in the thread's local memory.
        words = ["param::func" if word == "param" else word for word in words]
    back = words[:1] == ["to"]
    space = words[1 if back else 0]
    if space not in _WINDOW_OF:
        decoder.unknown(instruction)
    decoder.count(instruction, 2)
    out = decoder.register_of(instruction, instruction.operands[0])
    row = decoder.source(instruction, instruction.operands[1], out.dtype)
    window = _WINDOW_OF[space]
    if not window:

        def copy(threads: Selection) -> None:
            out[threads] = row[threads]

        return Step(copy)
    shift = np.uint64(window)

    def convert(threads: Selection) -> None:
        values = row[threads].astype(np.uint64)
        out[threads] = values - shift if back else values + shift

    return Step(convert)


@handles("isspacep")
def isspacep(decoder: Decoder, instruction: Instruction) -> Step:
    """``isspacep.space p, a``: shared is the own block's window only, shared::cluster all of the cluster's."""
    decoder.count(instruction, 2)
    space = instruction.modifiers[0].split("::entry")[0] if instruction.modifiers else ""
    out = decoder.register_of(instruction, instruction.operands[0])
    row = decoder.source(instruction, instruction.operands[1], np.uint64)
    bounds = {
        "global": (GLOBAL_BASE, CONSTANT_WINDOW), "const": (CONSTANT_WINDOW, LOCAL_WINDOW), "param": (CONSTANT_WINDOW, LOCAL_WINDOW),
        "local": (LOCAL_WINDOW, SHARED_WINDOW), "shared": (SHARED_WINDOW, SHARED_WINDOW + WINDOW_BYTES),
        "shared::cta": (SHARED_WINDOW, SHARED_WINDOW + WINDOW_BYTES), "shared::cluster": (SHARED_WINDOW, SHARED_WINDOW + WINDOW_BYTES),
    }  # fmt: skip
    if space not in bounds:
        decoder.unknown(instruction)
    low, high = (np.uint64(bound) for bound in bounds[space])
    own = space in ("shared", "shared::cta")
    rank = decoder.grid.rank
    size = decoder.grid.cluster_size

    def test(threads: Selection) -> None:
        values = row[threads].astype(np.uint64)
        inside = (values >= low) & (values < high)
        if low == SHARED_WINDOW:
            holder = (values.view(np.int64) - SHARED_WINDOW) >> RANK_SHIFT
            inside &= holder == rank[threads] if own else holder < size
        out[threads] = inside

    return Step(test)


@handles("mapa")
def mapa(decoder: Decoder, instruction: Instruction) -> Step:
    """``mapa{.shared::cluster}.u32|u64 d, a, rank``: the same offset in another block of the cluster."""
    decoder.count(instruction, 3)
    machine, grid = decoder.machine, decoder.grid
    out = decoder.register_of(instruction, instruction.operands[0])
    row = decoder.source(instruction, instruction.operands[1], out.dtype)
    ranks = decoder.source(instruction, instruction.operands[2], np.uint32)
    base = 0 if "shared::cluster" in instruction.modifiers else SHARED_WINDOW
    keep = (1 << RANK_SHIFT) - 1

    def run(threads: Selection) -> None:
        wanted = ranks[threads].astype(np.int64)
        if int(wanted.max()) >= grid.cluster_size:
            bad = int(grid.arange[threads][wanted >= grid.cluster_size][0])
            machine.fault(
                "S016",
                instruction,
                bad,
                what=f"rank {int(ranks[bad])} in a cluster of {grid.cluster_size}",
                how="keep the rank below %cluster_nctarank",
            )
        offsets = row[threads].astype(np.int64) - base
        if base and (offsets < 0).any():
            bad = int(grid.arange[threads][offsets < 0][0])
            machine.fault(
                "S016",
                instruction,
                bad,
                what=f"{int(row[bad]):#x} is no generic address of shared memory",
                how="use mapa.shared::cluster for 32-bit shared addresses, or cvta.shared first",
            )
        out[threads] = ((offsets & keep) | (wanted << RANK_SHIFT)) + base

    return Step(run)


@handles("getctarank")
def getctarank(decoder: Decoder, instruction: Instruction) -> Step:
    """``getctarank{.shared::cluster}.u32|u64 d, a``: the rank of the block that holds a shared address."""
    decoder.count(instruction, 2)
    out = decoder.register_of(instruction, instruction.operands[0])
    row = decoder.source(instruction, instruction.operands[1], np.uint64)
    base = 0 if "shared::cluster" in instruction.modifiers else SHARED_WINDOW

    def run(threads: Selection) -> None:
        out[threads] = (row[threads].astype(np.int64) - base) >> RANK_SHIFT

    return Step(run)
