"""Diagnostics of the language floor."""

from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
