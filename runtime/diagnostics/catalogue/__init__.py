"""Every error and warning that fa4dsl can raise, in one place.

A code's first letter is its floor: ``L`` language, ``C`` compiler, ``R`` runtime, ``S`` simulator. Each floor has its own
module here; `CATALOGUE` joins them.
"""

from fa4dsl.runtime.diagnostics.catalogue import checks, compiler, kernels, language, runtime, simulator
from fa4dsl.runtime.diagnostics.entry import Entry


def _joined() -> dict[str, Entry]:
    joined: dict[str, Entry] = {}
    for module in (language, kernels, compiler, checks, runtime, simulator):
        for entry in module.ENTRIES:
            if entry.code in joined:
                raise ValueError(f"the code {entry.code} stands twice in the catalogue")
            joined[entry.code] = entry
    return joined


CATALOGUE: dict[str, Entry] = _joined()
"""All entries by code."""
