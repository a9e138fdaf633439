"""Diagnostics of the simulator floor."""

from fa4dsl.runtime.diagnostics.catalogue import (
    simulator_examples_coverage,
    simulator_examples_hangs,
    simulator_examples_lanes,
    simulator_examples_machine,
    simulator_examples_objects,
    simulator_examples_races,
    simulator_examples_tiles,
)
from fa4dsl.runtime.diagnostics.catalogue.check import CHECK
from fa4dsl.runtime.diagnostics.catalogue.coverage import COVERAGE
from fa4dsl.runtime.diagnostics.catalogue.hangs import HANGS
from fa4dsl.runtime.diagnostics.catalogue.illustrated import illustrated
from fa4dsl.runtime.diagnostics.catalogue.lanes import LANES
from fa4dsl.runtime.diagnostics.catalogue.machine import MACHINE
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = illustrated(
    (*MACHINE, *CHECK, *HANGS, *COVERAGE, *LANES),
    simulator_examples_machine.EXAMPLES,
    simulator_examples_races.EXAMPLES,
    simulator_examples_objects.EXAMPLES,
    simulator_examples_tiles.EXAMPLES,
    simulator_examples_hangs.EXAMPLES,
    simulator_examples_coverage.EXAMPLES,
    simulator_examples_lanes.EXAMPLES,
)
