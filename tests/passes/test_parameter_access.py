"""Tensor maps that a kernel only loads from are "in": their arrays may be read-only, and stores' rules do not concern them."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl import Pointer, TensorMap, block, f32, i32, kernel, mbarrier, shared, thread, tma
from fa4dsl.runtime.diagnostics import Fa4dslWarning


@kernel(threads=32)
def through(source: TensorMap, target: TensorMap, plain: Pointer[f32]) -> None:
    tile = shared(f32, (1, 32))
    full = mbarrier(1)
    block.sync()
    with thread(0):
        full.arrive(bytes=128)
        source.load(tile, (0, 0), full)
    full.wait()
    plain[thread.index()] = tile[0, thread.index()]
    block.sync()
    with thread(0):
        target.store(tile, (0, 0))
        tma.commit_and_wait()


def test_access() -> None:
    parameters = through.compile().manifest.parameters
    assert [(item.name, item.access) for item in parameters] == [("source", "in"), ("target", "inout"), ("plain", "inout")]


@kernel(threads=32)
def some(written: Pointer[f32], left_alone: Pointer[f32], perhaps: Pointer[f32], n: i32) -> None:
    written[thread.index()] = 1.0
    if n > 0:
        written[thread.index()] = perhaps[0]


def test_pointers_that_are_left_alone() -> None:
    parameters = some.compile().manifest.parameters
    assert [(item.name, item.used) for item in parameters] == [("written", True), ("left_alone", False), ("perhaps", True), ("n", True)]


def test_loaded_maps_may_be_read_only_and_of_any_width() -> None:
    source = np.arange(60, dtype=np.float32).reshape(2, 30)
    wide = np.zeros((2, 32), np.float32)
    wide[:, :30] = source
    given = wide[:, :30]
    given.flags.writeable = False
    target, plain = np.zeros((1, 32), np.float32), np.full(32, np.nan, np.float32)
    through[1](given, target, plain)
    assert np.array_equal(plain, wide[0]) and np.array_equal(target[0], wide[0])


def test_stored_map_with_odd_rows_is_warned_of() -> None:
    wide = np.zeros((2, 32), np.float32)
    with pytest.raises(Fa4dslWarning, match=r"R037.*target: a row has 30 x f32 = 120 bytes.*the 8 bytes behind it"):
        through[1](wide, wide[:, :30], np.zeros(32, np.float32))
