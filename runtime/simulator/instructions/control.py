"""Branches, exit and the instructions that only take time."""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Symbol
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection, first


@handles("bra")
def bra(decoder: Decoder, instruction: Instruction) -> Step:
    """``bra{.uni} label``."""
    decoder.count(instruction, 1)
    target = decoder.label(instruction, instruction.operands[0])
    machine = decoder.machine
    if instruction.guard is None:
        return Step(control=lambda threads, pc: target)
    predicate = decoder.register(instruction.guard)
    negated = instruction.guard_negated
    split = machine.split

    def branch(threads: Selection, pc: int) -> int | None:
        mask = predicate[threads]
        if mask.all():
            return pc + 1 if negated else target
        if not mask.any():
            return target if negated else pc + 1
        if negated:
            split(threads, mask, pc + 1, target)
        else:
            split(threads, mask, target, pc + 1)
        return None

    return Step(control=branch)


@handles("brx")
def brx(decoder: Decoder, instruction: Instruction) -> Step:
    """``brx.idx{.uni} index, table``."""
    decoder.count(instruction, 2)
    index = decoder.source(instruction, instruction.operands[0], np.uint32)
    name = instruction.operands[1]
    table = decoder.function.tables.get(name.name) if isinstance(name, Symbol) else None
    if table is None:
        decoder.wrong(instruction, "needs the label of a .branchtargets list")
    targets = np.array([decoder.label(instruction, Symbol(label)) for label in table], np.int64)
    machine = decoder.machine

    def branch(threads: Selection, pc: int) -> None:
        chosen = index[threads].astype(np.int64)
        if (chosen >= len(targets)).any():
            bad = int(machine.grid.arange[threads][chosen >= len(targets)][0])
            machine.fault(
                "S016",
                instruction,
                bad,
                what=f"branch index {int(index[bad])} in a table of {len(targets)} targets",
                how="bound the index before the branch",
            )
        machine.key[threads] = targets[chosen]

    def control(threads: Selection, pc: int) -> int | None:
        branch(threads, pc)
        return None

    inner = Step(control=control)
    if instruction.guard is None:
        return inner
    return decoder.guarded(inner, decoder.register(instruction.guard), instruction.guard_negated)


@handles("exit")
def leave(decoder: Decoder, instruction: Instruction) -> Step:
    """``exit``."""
    machine = decoder.machine

    def control(threads: Selection, pc: int) -> None:
        machine.exit(instruction, threads)

    return Step(control=control)


@handles("trap", "brkpt")
def trap(decoder: Decoder, instruction: Instruction) -> Step:
    """``trap`` ends the grid with an error; ``brkpt`` without a debugger does as well."""
    machine = decoder.machine

    def control(threads: Selection, pc: int) -> None:
        machine.given_up()
        machine.fault("S013", instruction, first(threads), what=instruction.name)

    return Step(control=control)


@handles("nanosleep")
def nanosleep(decoder: Decoder, instruction: Instruction) -> Step:
    """``nanosleep.u32 t``: the thread lets others go first."""
    decoder.count(instruction, 1)
    time = decoder.source(instruction, instruction.operands[0], np.uint32)
    machine = decoder.machine

    def control(threads: Selection, pc: int) -> None:
        machine.slept += min(int(time[first(threads)]), 1_000_000)
        machine.epoch += 1
        machine.key[threads] = pc + 1 + machine.epoch * machine.SPAN

    return Step(control=control)


@handles("griddepcontrol", "pmevent", "discard", "applypriority", "prefetch", "prefetchu")
def ignored(decoder: Decoder, instruction: Instruction) -> Step:
    """Hints, and programmatic dependent launch: a grid simulated alone has no predecessor to wait for and no dependents to start."""
    return Step(lambda threads: None)


@handles("createpolicy")
def createpolicy(decoder: Decoder, instruction: Instruction) -> Step:
    """A cache policy never changes values: any 64-bit number will do."""
    out = decoder.register_of(instruction, instruction.operands[0])

    def policy(threads: Selection) -> None:
        out[threads] = 0

    return Step(policy)
