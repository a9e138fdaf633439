"""Examples of the runtime's catalogue that need a GPU, over the stand-in for the driver, which is told what the examples say of the GPU.

Those that use cupy or torch have stand-ins for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import stand_in_driver
from example_server import ON_A_GPU, WITHOUT_A_DRIVER, Server

from fa4dsl.runtime.diagnostics import CATALOGUE

AT_THE_KERNEL = {code for code in ON_A_GPU if code < "R070"} | {"R075", "R077", "R079", "R080"}
"""What is about a launch shows where the kernel is defined."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(stand_in_driver.build(tmp_path_factory.mktemp("driver"))) as running:
        yield running


@pytest.mark.parametrize("code", ON_A_GPU)
def test_failing_example_on_a_gpu(code: str, server: Server, tmp_path: Path) -> None:
    found = server.run(CATALOGUE[code].failing, tmp_path, **ON_A_GPU[code])
    assert found["codes"] == [code] and not found["unfilled"], found["text"]
    if code in AT_THE_KERNEL:
        (lines,) = found["lines"]
        assert lines[0][0] == str(tmp_path / "example.py"), found["text"]


@pytest.mark.parametrize("code", ON_A_GPU)
def test_fixed_example_on_a_gpu(code: str, server: Server, tmp_path: Path) -> None:
    found = server.run(CATALOGUE[code].fixed, tmp_path, **ON_A_GPU[code])
    assert found["codes"] == [], found["text"]


@pytest.mark.parametrize("code", WITHOUT_A_DRIVER)
def test_example_without_a_driver(code: str, tmp_path: Path) -> None:
    """The loader finds a file of the driver's name first, and it is no library."""
    (tmp_path / "libcuda.so.1").write_text("no driver")
    with Server(tmp_path) as bare:
        found = bare.run(CATALOGUE[code].failing, tmp_path)
        assert found["codes"] == [code] and not found["unfilled"], found["text"]
        found = bare.run(CATALOGUE[code].fixed, tmp_path)
        assert found["codes"] == [], found["text"]
