"""The runtime's catalogue: each failing example raises its code and no other, each fixed one runs.

Those that need a GPU stand in test_catalogue_examples_on_gpus.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from catalogue_examples import run
from example_server import ON_A_GPU, WITHOUT_A_DRIVER

from fa4dsl.runtime.diagnostics import CATALOGUE

HERE = sorted(code for code in CATALOGUE if code.startswith("R") and code not in {*ON_A_GPU, *WITHOUT_A_DRIVER})

AT_THE_KERNEL = {code for code in HERE if "R043" <= code < "R070"} - {"R067"} | {"R034", "R040"}
"""What is about a launch shows where the kernel is defined."""


@pytest.mark.parametrize("code", HERE)
def test_failing_example_raises_its_code(code: str, tmp_path: Path) -> None:
    outcome = run(CATALOGUE[code].failing, tmp_path)
    assert outcome.codes == [code], str(outcome)
    assert not outcome.unfilled, str(outcome)
    if code in AT_THE_KERNEL:
        assert outcome.diagnostics[0].frames[0].location.file == str(tmp_path / "example.py"), str(outcome)


@pytest.mark.parametrize("code", HERE)
def test_fixed_example_runs(code: str, tmp_path: Path) -> None:
    outcome = run(CATALOGUE[code].fixed, tmp_path)
    assert outcome.codes == [], str(outcome)
