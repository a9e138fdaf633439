"""The compiler's catalogue: each failing example raises its code and no other, each fixed one compiles. Codes from C100 are the checks'."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from catalogue_examples import run

from fa4dsl.runtime.diagnostics import CATALOGUE
from fa4dsl.runtime.diagnostics.page import example_kind

CODES = sorted(code for code in CATALOGUE if "C000" < code < "C100")
WITHOUT_A_PLACE = {"C001", "C002", "C016", "C019", "C057", "C060"}
"""What is wrong lies on the command line, in a call's argument, or in a text that does not parse."""


@pytest.mark.parametrize("code", CODES)
def test_failing_example(code: str, tmp_path: Path) -> None:
    outcome = run(CATALOGUE[code].failing, tmp_path)
    assert outcome.codes == [code], str(outcome)
    assert not outcome.unfilled, str(outcome)
    if example_kind(CATALOGUE[code].failing) != "console" and code not in WITHOUT_A_PLACE and outcome.diagnostics:
        place = outcome.diagnostics[0].frames[0].location
        assert Path(place.file).parent == tmp_path and place.line, str(outcome)


@pytest.mark.parametrize("code", CODES)
def test_fixed_example(code: str, tmp_path: Path) -> None:
    outcome = run(CATALOGUE[code].fixed, tmp_path)
    assert outcome.codes == [], str(outcome)
    if example_kind(CATALOGUE[code].fixed) == "mlir" and "fa4.kernel" in CATALOGUE[code].fixed:
        assert ".visible .entry kernel" in outcome.printed


def test_a_script_without_mlir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever imports MLIR first on the way, the error is the catalogue's."""
    monkeypatch.setitem(sys.modules, "mlir", None)
    for call in ("one.bind().trace()", "one.compile()", "one.bind().stages.fa4"):
        outcome = run(CATALOGUE["C051"].fixed.replace("one.compile()", call).replace("x[thread", "x[1 + thread"), tmp_path)
        assert outcome.codes == ["C002"], str(outcome)
