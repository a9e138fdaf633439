"""Diagnostics of printing from a kernel."""

from fa4dsl.runtime.diagnostics.catalogue.language_examples import kernel
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "L110",
        "A print that does not fit its format",
        "{what}",
        "{how}",
        "device_print takes a format of C's printf: one value for each conversion, d i u x X o c for integers, f e g a for floats, p for pointers, s for "
        "compile-time strings. On a GPU nobody checks them: a wrong one prints other bytes of memory.",
        failing=kernel('device_print("n is %f\\n", n)'),
        fixed=kernel('device_print("n is %d\\n", n)'),
    ),
)
