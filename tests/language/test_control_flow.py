"""Control flow means what it means in Python: the same functions run as Python and as kernels must agree."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from language_running import integers, launch, load_text

from fa4dsl import DeviceFunction, Pointer, block, device_function, f32, grid, i32, kernel, registers, static_range, thread, u32
from fa4dsl.runtime.simulator.check.report import CheckFailed

THREADS = 32


@device_function
def early_return(a, b):
    if a > 3:
        if b > 2:
            return a * 10
        a = a + 1
    elif a == 2:
        return -1
    b = b + a
    return b - 100


@device_function
def nested_loops(a, b):
    total = 0
    for i in range(a):
        for j in range(i, b):
            if (i + j) % 3 == 0:
                continue
            total += i * j + 1
        total -= i
    return total


@device_function
def breaking(a, b):
    total = 0
    for i in range(10):
        if i == a:
            break
        for j in range(5):
            if j > b:
                break
            total += j + 1
        total += 100
    return total


@device_function
def while_loops(a, b):
    steps = 0
    while a != 1:
        a = a // 2 if a % 2 == 0 else 3 * a + 1
        steps += 1
        if steps > 40 + b:
            break
    while True:
        steps += 1
        if steps % 7 == b % 7:
            break
    return steps


@device_function
def counting_down(a, b):
    total = 0
    for i in range(a, -b, -2):
        total = total * 3 % 1009 + i
    for i in range(b, a, 3):
        total += i
    return total


@device_function
def run_time_steps(a, b):
    total = 0
    for i in range(b, 40, abs(a) + 1):
        total = total * 3 % 1009 + i
        for j in range(0, i, i * i + 1):
            total += j + 1
    return total


@device_function
def tuples(a, b):
    pair = (a, b)
    for _ in range(5):
        pair = (pair[1], pair[0] + pair[1])
        if pair[0] > 20:
            x, y = pair
            pair = (y - 7, x)
    return pair[0] * 1000 + pair[1]


@device_function
def short_circuit(a, b):
    result = 0
    if b != 0 and a // b > 1:
        result += 1
    if b == 0 or a % b == 1:
        result += 2
    if not (a > b) and 0 <= a < 10:
        result += 4
    return result if result or a > 2 else -result - 1


@device_function
def unrolled(a, b):
    total = 0
    for i in [1, 2, 3]:
        for name, weight in (("x", 2), ("y", 5)):
            if name == "y" and i == 2:
                continue
            if a > i:
                total += weight * i
            if weight * i > b:
                total -= 1
    return total


@device_function
def helper(value, limit):
    if value > limit:
        return limit, 1
    return value, 0


@device_function
def calls(a, b):
    clipped, over = helper(a * b, 17)
    again, _ = helper(clipped + over, b)
    return again * 5 + over


FUNCTIONS = [early_return, nested_loops, breaking, while_loops, counting_down, run_time_steps, tuples, short_circuit, unrolled, calls]


@kernel(threads=THREADS)
def apply(first: Pointer[i32], second: Pointer[i32], result: Pointer[i32], *, function: Any):
    i = thread.index()
    result[i] = function(first[i], second[i])


def as_python(function: DeviceFunction) -> Any:
    """The function as Python runs it, with the device functions it calls as Python too."""
    names = {name: value.function if isinstance(value, DeviceFunction) else value for name, value in function.function.__globals__.items()}
    text = inspect.getsource(function.function).replace("@device_function\n", "")
    exec(text, names)
    return names[function.name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_function_means_what_python_means(function: DeviceFunction) -> None:
    random = np.random.default_rng(1)
    first, second = random.integers(0, 12, THREADS, np.int32), random.integers(0, 9, THREADS, np.int32)
    first[:4], second[:4] = (0, 1, 2, 11), (0, 0, 8, 1)
    if function is while_loops:
        first += 1
    result = np.zeros(THREADS, np.int32)
    launch(apply.bind(function=function), first, second, result)
    python = as_python(function)
    assert result.tolist() == [python(int(a), int(b)) for a, b in zip(first, second, strict=True)]


# --- random programs

NAMES = ("a", "b", "c", "d")


def expressions() -> st.SearchStrategy[str]:
    leaf = st.sampled_from(NAMES) | st.integers(-3, 9).map(str)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]}) % 1009"),
            st.tuples(inner, st.sampled_from(["//", "%"]), st.integers(1, 7)).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            st.tuples(inner, conditions(inner), inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
            inner.map(lambda e: f"abs({e})"),
            st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        ),
        max_leaves=4,
    )


def conditions(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    single = st.tuples(values, st.sampled_from(["<", "<=", "==", "!=", ">"]), values).map(" ".join)
    return single | st.tuples(single, st.sampled_from(["and", "or"]), single).map(" ".join) | single.map(lambda c: f"not ({c})")


def blocks(depth: int, around: str) -> st.SearchStrategy[list[str]]:
    """Lines of statements. `around`: "" (the function, where it may return), "loop" (where it may jump) or "unrolled" (neither)."""
    return st.lists(statements(depth, around), min_size=1, max_size=3).map(lambda found: [line for lines in found for line in lines])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def statements(draw: Any, depth: int, around: str) -> list[str]:
    kinds = ["assign", "assign", "update"]
    if depth:
        kinds += ["if", "if", "for", "while", "unrolled"]
    if around == "loop":
        kinds += ["jump"]
    kind = draw(st.sampled_from(kinds))
    if kind == "assign":
        return [f"{draw(st.sampled_from(NAMES))} = {draw(expressions())}"]
    if kind == "update":
        return [f"{draw(st.sampled_from(NAMES))} += {draw(expressions())}"]
    if kind == "jump":
        return [f"if {draw(conditions(expressions()))}:", f"    {draw(st.sampled_from(['break', 'continue']))}"]
    if kind == "if":
        lines = [f"if {draw(conditions(expressions()))}:", *indented(draw(blocks(depth - 1, around)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(depth - 1, around)))]
        if draw(st.integers(0, 5)) == 0 and not around:
            lines += [f"if {draw(conditions(expressions()))}:", f"    return {draw(expressions())}"]
        return lines
    if kind == "for":
        bounds = draw(st.sampled_from(["3", "a % 4", "1, b % 5", "4, -1, -2", "c % 3, 7, 2"]))
        return [f"for i{depth} in range({bounds}):", *indented([f"d = (d + i{depth}) % 1009", *draw(blocks(depth - 1, "loop"))])]
    if kind == "while":
        return [f"n{depth} = 0", f"while n{depth} < 4:", *indented([f"n{depth} += 1", *draw(blocks(depth - 1, "loop"))])]
    return [f"for k{depth} in (1, 2):", *indented([f"c = (c + k{depth} * a) % 1009", *draw(blocks(depth - 1, "unrolled"))])]


@given(blocks(3, ""), st.integers(0, 2**31))
@settings(max_examples=25, phases=[Phase.generate])  # shrinking would compile hundreds of programs
def test_random_programs(tmp_path_factory: pytest.TempPathFactory, body: list[str], seed: int) -> None:
    wrapped = ["c = 0", "d = 1", *body, "return a + 3 * b + 5 * c + 7 * d"]
    text = "from fa4dsl import device_function\n\n@device_function\ndef program(a, b):\n" + "\n".join(indented(wrapped)) + "\n"
    program = load_text(tmp_path_factory.mktemp("programs"), text).program
    first, second = (np.random.default_rng(seed + k).integers(-20, 50, THREADS, np.int32) for k in range(2))
    result = np.zeros(THREADS, np.int32)
    launch(apply.bind(function=program), first, second, result)
    expected = [wrap(program.function(int(a), int(b))) for a, b in zip(first, second, strict=True)]
    assert result.tolist() == expected, text


def wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


# --- what Python has no word for


@kernel(threads=THREADS)
def carried_registers(result: Pointer[f32], n: i32):
    values = registers(f32, (2, 3), fill=1)
    for i in range(n):
        values[0, 2] += f32(i)
        if i % 2 == 0:
            values[1] = (f32(i), values[0, 2], 2.0)
        values *= 2.0
    for i in static_range(2):
        for j in static_range(3):
            result[3 * i + j] = values[i, j]


def test_register_arrays_are_carried_by_loops() -> None:
    result = np.zeros(6, np.float32)
    launch(carried_registers, result, 5)
    values = np.ones((2, 3), np.float32)
    for i in range(5):
        values[0, 2] += i
        if i % 2 == 0:
            values[1] = (i, values[0, 2], 2)
        values *= 2
    assert result.tolist() == values.ravel().tolist()


@kernel(threads=THREADS)
def carried_pointer(source: Pointer[i32], result: Pointer[i32], n: i32):
    place = source
    total = i32(0)
    for _ in range(n):
        total += place[0]
        place += 2
    if thread.index() == 0:
        place = result + 1
    else:
        place = result + 2
    if thread.index() < 2:
        place[0] = total + thread.index()


def test_pointers_are_carried_by_loops_and_branches() -> None:
    result = np.zeros(3, np.int32)
    launch(carried_pointer, np.arange(10, dtype=np.int32), result, 4)
    assert result.tolist() == [0, 0 + 2 + 4 + 6, 0 + 2 + 4 + 6 + 1]


@kernel(threads=THREADS)
def guarded(values: Pointer[i32], result: Pointer[i32], n: i32):
    i = thread.index()
    result[i] = values[i] if i < n and values[i] > 1 else -1


def test_and_does_not_evaluate_what_it_need_not() -> None:
    """The right side would read past the end; the simulator reports any access outside."""
    result = np.zeros(THREADS, np.int32)
    launch(guarded, integers(5, 1, 3), result, 3)
    assert result.tolist() == [5, -1, 3] + [-1] * (THREADS - 3)


@kernel(threads=THREADS)
def returns_early(result: Pointer[i32], n: i32):
    i = thread.index()
    if i >= n:
        return
    result[i] = i
    if i == 2:
        return
    result[i] += 10


def test_kernels_may_return_early() -> None:
    result = np.full(THREADS, -1, np.int32)
    launch(returns_early, result, 4)
    assert result.tolist() == [10, 11, 2, 13] + [-1] * (THREADS - 4)


@kernel(threads=THREADS)
def unsigned_range(result: Pointer[i32], n: i32):
    first = n.to(i32)
    total = 0
    for i in range(first.bitcast(u32), 0x80000004):
        total += (i - 0x80000000).to(i32)
    result[0] = total


def test_unsigned_loops_compare_unsigned() -> None:
    result = np.zeros(1, np.int32)
    launch(unsigned_range, result, -(2**31) + 1)
    assert result[0] == 1 + 2 + 3


def test_trial_of_a_loop_leaves_no_trace(tmp_path: Path) -> None:
    """A loop's body is traced once to learn what it changes; shared objects made in it exist once all the same."""
    text = """
from fa4dsl import *

@kernel(threads=32)
def example(n: i32):
    for i in range(n):
        for j in range(i):
            tile = shared(f32, 32)
            tile[thread.index()] = f32(j)
"""
    ir = str(load_text(tmp_path, text).example.bind().trace().module)
    assert ir.count("fa4.shared_alloc") == 1
    assert ir.count("scf.for") == 2
    assert "execute_region" not in ir


@kernel(threads=THREADS)
def stepping(x: Pointer[i32], step: i32):
    for i in range(0, 4, step):
        x[i] = i


def test_a_step_that_does_not_count_up_traps() -> None:
    launch(stepping, np.zeros(4, np.int32), 2)
    for step in (0, -1):
        with pytest.raises(CheckFailed, match="trap"):
            stepping.launch(1, [np.zeros(4, np.int32), step], device="simulator").report.require_clean()


@kernel(threads=THREADS)
def persistent(x: Pointer[i32], n: i32):
    for i in range(block.index(), n, grid.dim()):
        x[i] = i


def test_a_step_of_the_grid_needs_no_guard() -> None:
    x = np.full(10, -1, np.int32)
    launch(persistent, x, 10, grid=3)
    assert np.array_equal(x, np.arange(10))
    assert "trap" not in persistent.bind().stages.ptx and "trap" in stepping.bind().stages.ptx
