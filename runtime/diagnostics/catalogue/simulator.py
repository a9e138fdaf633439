"""Diagnostics of the simulator floor."""

from fa4dsl.runtime.diagnostics.catalogue.check import CHECK
from fa4dsl.runtime.diagnostics.catalogue.hangs import HANGS
from fa4dsl.runtime.diagnostics.catalogue.machine import MACHINE
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (*MACHINE, *CHECK, *HANGS)
