"""What authors bring along from Python, CUDA and Triton works, or is answered: roles by their own counts, checks over several schedules, short errors."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from fa4dsl import (
    Fa4dslError,
    Pointer,
    bf16,
    block,
    f32,
    i32,
    kernel,
    named_barrier,
    reduce,
    role,
    shared,
    static_range,
    swizzle128,
    thread,
    u32,
    warp,
    wgmma,
)


def test_roles_with_a_gap_before_them_count() -> None:
    @kernel
    def counted(x: Pointer[i32]) -> None:
        with role("first", warps=1):
            x[thread.index()] = -1
        with role("second", warps=2, first_warp=4) as second:
            x[thread.index()] = 100 * second.warp() + second.thread() + 1000 * second.threads
        with role("second", warps=2, first_warp=4):
            x[thread.index()] = x[thread.index()] + 1

    x = np.zeros(192, np.int32)
    counted[1](x)
    assert (x[:32] == -1).all() and (x[32:128] == 0).all()
    i = np.arange(64)
    assert (x[128:] == 100 * (i // 32) + i + 64001).all()


def test_a_role_that_moves_is_refused() -> None:
    @kernel
    def moved(x: Pointer[i32]) -> None:
        with role("a", warps=1):
            x[0] = 1
        with role("a", warps=1, first_warp=2):
            x[0] = 2

    with pytest.raises(Fa4dslError) as caught:
        moved.bind().trace()
    assert caught.value.code == "L053"


@kernel(threads=64)
def count(values: Pointer[u32], total: Pointer[u32]) -> None:
    reduce.add(total, values[thread.index()])


def test_every_schedule_starts_from_the_same_arrays() -> None:
    values, total = np.ones(64, np.uint32), np.full(1, 5, np.uint32)
    reports = count.bind().check(1, (values, total), schedules=("eager", "random:3", "adversarial:4"))
    assert [(report.schedule, report.seed) for report in reports] == [("eager", 0), ("random", 3), ("adversarial", 4)]
    assert total[0] == 69


@pytest.mark.parametrize("schedule", ["fast", "random:x", "random:"])
def test_schedules_that_are_none(schedule: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        count.bind().check(1, (np.ones(64, np.uint32), np.zeros(1, np.uint32)), schedules=(schedule,))
    assert caught.value.code == "S103"


def test_python_on_run_time_values() -> None:
    @kernel(threads=32)
    def python(x: Pointer[i32], y: Pointer[i32]) -> None:
        i = thread.index()
        quotient, rest = divmod(i, 5)
        y[i] = 10 * quotient + rest
        if i in (1, 2, 30):
            y[i] += 1000
        if i not in (0, 1):
            y[i] += 2000
        if any(x[j] == i for j in range(3)):
            y[i] += 4000
        if all(x[j] > i for j in range(3)):
            y[i] += 8000
        position = i32(0)
        for j in reversed(range(3)):
            position = 4 * position + j
        for j in reversed(static_range(3)):
            position = 4 * position + j
        y[32 + i] = position

    x, y = np.array([3, 7, 11], np.int32), np.zeros(64, np.int32)
    python[1](x, y)
    expected = [
        10 * (i // 5) + i % 5 + 1000 * (i in (1, 2, 30)) + 2000 * (i not in (0, 1)) + 4000 * (i in (3, 7, 11)) + 8000 * (i < 3)
        for i in range(32)
    ]
    assert y[:32].tolist() == expected
    assert (y[32:] == int("210210", 4)).all()


def test_a_named_barrier_chosen_at_run_time() -> None:
    @kernel(threads=128)
    def pairs(x: Pointer[f32]) -> None:
        tile, meet, i = shared(f32, 128), named_barrier(64, count=2), thread.index()
        tile[i] = x[i]
        meet[warp.index() // 2].sync()  # the warps of one pair, not those of the other
        x[i] = tile[i ^ 32]

    x = np.arange(128, dtype=np.float32)
    for report in pairs.bind().check(1, (x,), schedules=("late", "random:1")):
        report.require_clean()
    assert (x == (np.arange(128) ^ 32)).all()


@kernel(threads=32)
def wrong(x: Pointer[f32]) -> None:
    x[0] = thread.index()


def test_an_error_in_a_kernel_is_no_long_traceback() -> None:
    with pytest.raises(Fa4dslError) as caught:
        wrong[1](np.zeros(1, np.float32))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len(frames) <= 5 and not [frame for frame in frames if "frontend" in frame.filename]
    assert caught.value.diagnostic.mend == "convert it first: value.to(f32)"


def test_what_unrolled_code_repeats_is_told_once() -> None:
    @kernel
    def misplaced(x: Pointer[f32]) -> None:
        from_a, to_b = shared(bf16, (64, 64), swizzle=swizzle128), shared(bf16, (64, 64), swizzle=swizzle128)
        block.sync()
        with role("load", warps=1):
            x[0] = 1.0
        with role("multiply", warps=3):
            wgmma(from_a, to_b.T)

    with pytest.raises(Fa4dslError) as caught:
        misplaced.compile()
    found = [(item.code, item.message, item.frames) for item in caught.value.diagnostics]
    assert ("C123" in {code for code, _, _ in found}) and len(found) == len(set(found))
