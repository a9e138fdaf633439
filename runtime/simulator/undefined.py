"""Shuffles that read a lane which does not take part: what they give is undefined (PTX ISA, shfl.sync).

An H200 gives 0 for a lane that has exited, and so does the simulator. Reading such a lane is no fault by itself: reductions of part of a warp read
past its end and throw the value away. So the run is repeated with other values in those places; where buffers, output or end differ, the
program depends on them.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.simulator.build import Build, run_waves
from fa4dsl.runtime.simulator.check.findings import KINDS, Finding
from fa4dsl.runtime.simulator.frames import line_words, outermost
from fa4dsl.runtime.simulator.machine import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fa4dsl.runtime.manifest import Manifest
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.ptx.module import Module
    from fa4dsl.runtime.simulator.launch import Launch
    from fa4dsl.runtime.simulator.machine import Machine
    from fa4dsl.runtime.simulator.printed import Printed
    from fa4dsl.runtime.simulator.schedule import Schedule
    from fa4dsl.runtime.simulator.selection import Row

FILLS = (0x7E00_0000, 0xFE00_0000)
"""Large and positive, large and negative, as integers and as floats; the low bits differ by lane."""
MOST_LINES = 12
"""Source lines that are tried one by one."""
EXTRA_STEPS = 100_000

Place = tuple[str, int]


@dataclass(frozen=True)
class Read:
    """The first such read of a source line."""

    site: Instruction
    thread: int
    lane: int
    mask: int
    exited_at: Instruction | None
    """Where the lane that was read has exited; None where it still runs or never existed."""
    exists: bool


class UndefinedReads:
    """Collects them; `fill` is what those at `places` (None: all) give instead of the hardware's value."""

    def __init__(self, fill: int | None = None, places: frozenset[Place] | None = None) -> None:
        self.fill = fill
        self.places = places
        self.found: dict[Place, Read] = {}

    def seen(
        self, machine: Machine, site: Instruction, first_lanes: Row, source: Row, undefined: Row, masks: Row | None, values: Row
    ) -> Row:
        """Tables ``[warps, 32]``: the lane read, where that is undefined, the member masks (None: all lanes) and the values; `first_lanes` has each warp's lane 0.
        Returns the values to go on with."""
        place = outermost(site)
        if place not in self.found:
            warp, lane = (int(found[0]) for found in np.nonzero(undefined))
            first = int(first_lanes[warp])
            target = first + int(source[warp, lane])
            grid = machine.grid
            exists = bool(grid.exists[target])
            gone = exists and machine.key[target] == machine.EXITED
            mask = 0xFFFFFFFF if masks is None else int(masks[warp, lane])
            self.found[place] = Read(
                site, first + lane, target & 31, mask, machine.exits[machine.exit_of[target]] if gone else None, exists
            )
        if self.fill is None or (self.places is not None and place not in self.places):
            return values
        garbage = np.uint32(self.fill) | (np.arange(32, dtype=np.uint32) * np.uint32(0x9E3779B1) & np.uint32(0xFFFFFF))
        return np.where(undefined, garbage, values)


@dataclass(frozen=True)
class Outcome:
    """What a run shows to the outside."""

    buffers: dict[str, bytes]
    printed: tuple[str, ...]
    end: str

    @classmethod
    def of(cls, launch: Launch, printed: Iterable[Printed], end: str) -> Outcome:
        return cls({name: array.tobytes() for name, array in launch.buffers.items()}, tuple(call.text for call in printed), end)


def outcome_of(launch: Launch, machine: Machine, raised: Iterable[str]) -> Outcome:
    """After a run: its buffers, its output, and how it ended."""
    end = machine.hang.reason if machine.hang is not None else ",".join(sorted(raised))
    return Outcome.of(launch, machine.output.calls, end)


class Judge:
    """Repeats a run from its first state. Make it before the run, as that changes the buffers."""

    def __init__(self, module: Module, launch: Launch, schedule: Schedule, manifest: Manifest | None) -> None:
        self.module, self.manifest = module, manifest
        self.launch = launch
        self.buffers = {name: array.copy() for name, array in launch.buffers.items()}
        self.schedule = deepcopy(schedule)
        self.reads = UndefinedReads()

    def _repeat(self, fill: int | None, places: frozenset[Place] | None, steps: int) -> Outcome:
        launch = replace(self.launch, buffers={name: array.copy() for name, array in self.buffers.items()})
        build = Build(self.module, launch, deepcopy(self.schedule), steps, lambda geometry, build: None)
        machine = build.machine
        machine.undefined = UndefinedReads(fill, places)
        if self.manifest is not None:
            machine.pool.set_entry(self.manifest.registers)
        raised: list[str] = []
        try:
            run_waves(build, None)
        except Stopped:
            pass
        except Fa4dslError as error:
            raised = [diagnostic.code for diagnostic in error.diagnostics]
        build.write_back()
        return outcome_of(launch, machine, raised)

    def findings(self, machine: Machine, outcome: Outcome, strict: bool) -> list[Finding]:
        """S106 for each source line whose undefined values change what the run that gave `outcome` shows."""
        limit = 4 * machine.steps + EXTRA_STEPS

        def matters(places: frozenset[Place] | None) -> bool:
            return any(self._repeat(fill, places, limit) != outcome for fill in FILLS)

        reads = self.reads.found
        if not reads or not matters(None) or self._repeat(None, None, limit) != outcome:
            return []  # where a plain repetition differs, as by a clock, nothing can be said
        guilty = list(reads)
        if 1 < len(reads) <= MOST_LINES:
            guilty = [place for place in reads if matters(frozenset({place}))] or guilty
        return [_finding(machine, reads[place], strict) for place in guilty]


def _finding(machine: Machine, read: Read, strict: bool) -> Finding:
    lane, mask = read.lane, f"{read.mask:#010x}"
    others = []
    if read.exited_at is not None:
        why = f"which has exited ({line_words(read.exited_at)})"
        how = f"keep lane {lane} until then (return behind the shuffle, {line_words(read.site)}), or read only lanes that are still there"
        others = [(read.exited_at, f"lane {lane} exits")]
    elif not read.exists:
        why = "which this block does not have"
        how = "launch whole warps, or read only lanes of threads that exist"
    elif not read.mask >> lane & 1:
        why = f"which is not in its member mask {mask}"
        how = f"put lane {lane} into the mask of all lanes that execute the shuffle, or read only lanes of the mask"
    else:
        why = "which does not execute it with the same mask"
        how = f"give all lanes that take part one mask, and let lane {lane} execute the shuffle with them"
    found = machine.finding(
        "S106",
        read.site,
        others,
        "reads another lane",
        mnemonic=read.site.mnemonic,
        thread=machine.grid.describe(read.thread),
        lane=lane,
        why=why,
        how=how,
    )
    return Finding(replace(found, severity="error") if strict else found, KINDS["S106"])
