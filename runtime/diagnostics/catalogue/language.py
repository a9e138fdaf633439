"""Diagnostics of the language floor: L001..L029 names, syntax and calls; L030..L059 control flow, kernels and roles; L060..L099 objects; L100..L109 arguments; L110.. printing."""

from fa4dsl.runtime.diagnostics.catalogue import language_arguments, language_control, language_objects, language_printing, language_values
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *language_values.ENTRIES,
    *language_control.ENTRIES,
    *language_objects.ENTRIES,
    *language_arguments.ENTRIES,
    *language_printing.ENTRIES,
)
