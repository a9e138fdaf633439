"""Pages of the catalogue: each is complete.

Their examples are run by tests/language/test_catalogue.py, tests/passes, tests/runtime and tests/simulator/test_catalogue_examples.py.
"""

from __future__ import annotations

import pytest

from fa4dsl.runtime.diagnostics import CATALOGUE
from fa4dsl.runtime.diagnostics.page import example_kind, named, page


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_page(code: str) -> None:
    entry = CATALOGUE[code]
    text = page(entry)
    assert text.startswith(f"# {code}: {entry.title}\n")
    assert entry.explanation.strip() in text and "**Mend:**" in text
    assert text.count("```") == 2 * (bool(entry.failing) + bool(entry.fixed)), "an example may not close its own block"
    assert "{" not in named(entry.message), "fields are shown as names"


@pytest.mark.parametrize("letter", ["L", "C", "R"])
def test_every_code_has_a_failing_and_a_fixed_example(letter: str) -> None:
    entries = [entry for code, entry in CATALOGUE.items() if code.startswith(letter)]
    assert [entry.code for entry in entries if not entry.failing or not entry.fixed] == []
    assert [entry.code for entry in entries if entry.failing.strip() == entry.fixed.strip()] == [], "the mend is to be seen"


def test_kinds_of_examples() -> None:
    assert example_kind("$ fa4dsl run nothing") == "console"
    assert example_kind(".version 8.6\n.target sm_90a") == "ptx"
    assert example_kind("module {\n}") == "mlir"
    assert example_kind("from fa4dsl import kernel") == "python"
    assert named("{name!r} has {size:,} of {{}} bytes") == "‹name› has ‹size› of {} bytes"
