"""Pages of the catalogue: each is complete, and the examples of runtime and simulator do what their pages say.

The examples of the language and the compiler are run by tests/language and tests/passes, which also look at their carets.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from fa4dsl.runtime.diagnostics import CATALOGUE, Fa4dslError
from fa4dsl.runtime.diagnostics.page import example_kind, named, page

HERE = [code for code, entry in sorted(CATALOGUE.items()) if code[0] in "RS" and entry.failing]


def run(folder: Path, example: str) -> None:
    file = folder / "example.py"
    file.write_text(example, encoding="utf-8")
    runpy.run_path(str(file))


@pytest.mark.parametrize("code", HERE)
def test_failing_example_raises_its_code(code: str, tmp_path: Path) -> None:
    with pytest.raises(Fa4dslError) as caught:
        run(tmp_path, CATALOGUE[code].failing)
    assert code in [item.code for item in caught.value.diagnostics], str(caught.value)


@pytest.mark.parametrize("code", [code for code in HERE if CATALOGUE[code].fixed])
def test_fixed_example_runs(code: str, tmp_path: Path) -> None:
    run(tmp_path, CATALOGUE[code].fixed)


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_page(code: str) -> None:
    entry = CATALOGUE[code]
    text = page(entry)
    assert text.startswith(f"# {code}: {entry.title}\n")
    assert entry.explanation.strip() in text and "**Mend:**" in text
    assert text.count("```") == 2 * (bool(entry.failing) + bool(entry.fixed)), "an example may not close its own block"
    assert "{" not in named(entry.message), "fields are shown as names"


def test_kinds_of_examples() -> None:
    assert example_kind("$ fa4dsl run nothing") == "console"
    assert example_kind(".version 8.6\n.target sm_90a") == "ptx"
    assert example_kind("module {\n}") == "mlir"
    assert example_kind("from fa4dsl import kernel") == "python"
    assert named("{name!r} has {size:,} of {{}} bytes") == "‹name› has ‹size› of {} bytes"
