"""What all tests share: no test touches the user's cache, GPU tests need a Hopper device, hypothesis repeats itself exactly."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# Deterministic, and patient with a slow shared machine; `--hypothesis-profile=explore` looks for new examples instead.
settings.register_profile("repeat", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeat")


def hopper_devices() -> int:
    """How many GPUs of compute capability 9.0 the driver shows; 0 where there is no driver."""
    try:
        from cuda.bindings import driver

        if driver.cuInit(0)[0] != driver.CUresult.CUDA_SUCCESS:
            return 0
        count = 0
        for index in range(driver.cuDeviceGetCount()[1]):
            major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
            count += driver.cuDeviceGetAttribute(major, driver.cuDeviceGet(index)[1])[1] == 9
        return count
    except (ImportError, RuntimeError):
        return 0


def pytest_configure(config: pytest.Config) -> None:
    # Set before any test module is imported and inherited by every process that a test starts.
    folder = tempfile.TemporaryDirectory(prefix="fa4dsl-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ["FA4DSL_CACHE_DIR"] = folder.name
    os.environ["NO_COLOR"] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves GPU tests out, as not collected rather than as skipped, unless they can run."""
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if on_gpu and not hopper_devices():
        config.hook.pytest_deselected(items=on_gpu)
        items[:] = [item for item in items if item not in set(on_gpu)]


@pytest.fixture
def cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for a test that looks at the cache itself; all others share the run's temporary one."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FA4DSL_CACHE_DIR", str(folder))
    yield folder
