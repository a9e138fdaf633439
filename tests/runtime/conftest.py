"""Tests against the driver's stand-in need a C compiler and NVIDIA's header; without them they are not collected."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import stand_in_driver


def cuda_header() -> Path | None:
    """The folder of cuda.h, from the wheels that ptxas brings along or from an installed toolkit."""
    spec = find_spec("nvidia")
    folders = [Path(folder) / "cu13" / "include" for folder in (spec.submodule_search_locations or [])] if spec else []
    return next((folder for folder in [*folders, Path("/usr/local/cuda/include")] if (folder / "cuda.h").exists()), None)


over_the_stand_in = [
    "test_catalogue_examples_on_gpus.py",
    "test_cuda_device.py",
    "test_launch_plans.py",
    "test_launch_variants.py",
    "test_native_launch.py",
]
collect_ignore = [] if shutil.which("cc") and cuda_header() else over_the_stand_in


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the stand-in driver's library lies."""
    return stand_in_driver.build(tmp_path_factory.mktemp("driver"))
