"""Diagnostics of the compiler floor."""

from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
