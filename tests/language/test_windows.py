"""Windows of shared arrays, and register arrays in another shape."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl import Pointer, block, f32, i32, kernel, registers, shared, static_range, thread
from fa4dsl.runtime.diagnostics import Fa4dslError


@kernel(threads=32)
def windowed(x: Pointer[f32], first: i32):
    table = shared(f32, (8, 4), name="table")
    if thread.index() < 32:
        table[thread.index() // 4, thread.index() % 4] = f32(thread.index())
    block.sync()
    rows = table.window(first, 2)
    if thread.index() < 8:
        x[thread.index()] = rows[thread.index() // 4, thread.index() % 4]


@kernel(threads=32)
def window_too_long(x: Pointer[f32]):
    table = shared(f32, (8, 4), name="table")
    table.window(0, 9)


@kernel(threads=1)
def reshaped(x: Pointer[f32]):
    values = registers(f32, (2, 3))
    for i in static_range(2):
        for j in static_range(3):
            values[i, j] = f32(10 * i + j)
    other = values.reshape(3, 2)
    for i in static_range(3):
        x.store(2 * i, other[i])
    values[0, 0] = 99.0  # `other` keeps its own values
    x[6] = other[0, 0]
    pair = registers(f32, 2, fill=7.0)
    other[2] = pair  # a row takes a register array
    pair[0] = 0.0
    x.store(8, other[2])


@kernel(threads=1)
def reshaped_to_another_size(x: Pointer[f32]):
    registers(f32, (2, 3)).reshape(4, 2)


def test_window_at_run_time() -> None:
    for first in (0, 3, 6):
        x = np.zeros(8, np.float32)
        windowed[1](x, first)
        assert x.tolist() == [float(4 * first + i) for i in range(8)]


def test_register_array_in_another_shape() -> None:
    x = np.full(10, -1.0, np.float32)
    reshaped[1](x)
    assert x.tolist() == [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 0.0, -1.0, 7.0, 7.0]


@pytest.mark.parametrize(("wrong", "code"), [(window_too_long, "L074"), (reshaped_to_another_size, "L073")])
def test_refused(wrong: object, code: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        wrong.bind().trace()  # type: ignore[attr-defined]
    assert caught.value.code == code
