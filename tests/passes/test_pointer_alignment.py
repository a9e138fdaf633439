"""Pointers that vector accesses go through: their alignment is in the manifest where it can be proved, and arrays without it are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl import Pointer, block, bulk_load, f32, i32, i64, kernel, mbarrier, shared, thread
from fa4dsl.runtime.diagnostics import Fa4dslError


@kernel(threads=32)
def accesses(
    by_four: Pointer[f32], looped: Pointer[f32], pairs: Pointer[f32], anywhere: Pointer[f32], chosen: Pointer[f32], bulk: Pointer[f32],
    wide: Pointer[i64], hinted: Pointer[f32], n: i32, aligned: i32,
) -> None:  # fmt: skip
    i = thread.index()
    quad = by_four.load(4 * i, width=4)
    for j in range(0, n, 8):
        (looped + 16 * i + j).store(0, quad)
    (pairs + (i << 1)).store(2, (quad[0], quad[1]))
    anywhere.store(i * n, quad)
    if aligned != 0:
        chosen.store(4 * i, quad)
    else:
        chosen.store(i, quad[0])
    tile, full = shared(f32, 32), mbarrier(1)
    block.sync()
    with thread(0):
        full.arrive(bytes=128)
        bulk_load(tile, bulk + 32 * block.index(), full)
    full.wait()
    wide[i] = i64(i)
    if i < n:
        hinted.store(4 * (i64(i) * 8 - 4), quad, cache="cs")


def test_alignments() -> None:
    parameters = accesses.compile().manifest.parameters
    assert {item.name: item.alignment for item in parameters if item.kind == "pointer"} == {
        "by_four": 16,
        "looped": 16,
        "pairs": 8,
        "anywhere": 0,
        "chosen": 0,
        "bulk": 16,
        "wide": 0,
        "hinted": 16,
    }


@kernel(threads=8)
def copy(x: Pointer[f32], y: Pointer[f32]) -> None:
    y.store(4 * thread.index(), x.load(4 * thread.index(), width=4))


def memory(first: int) -> np.ndarray[Any, Any]:
    """32 floats whose first lies `first` floats behind a multiple of 64 bytes."""
    whole = np.zeros(64, np.float32)
    start = -whole.ctypes.data % 64 // 4 + first
    return whole[start : start + 32]


def test_a_slice_off_its_boundary_is_refused() -> None:
    source, target = memory(4), memory(0)
    source[:] = np.arange(32)
    copy[1](source, target)
    assert np.array_equal(target, np.arange(32))
    with pytest.raises(Fa4dslError, match=r"R045.*x: .*16"):
        copy[1](memory(1), target)
