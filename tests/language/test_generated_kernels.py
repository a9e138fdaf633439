"""Kernels made by hypothesis from the language's own statements: valid ones compile without a word and compute what Python does; each with
one fault put in is refused by an error of the catalogue, at the faulty line, never by a traceback.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language_running import load_text

from fa4dsl.passes.checks import run_checks
from fa4dsl.passes.verify import verify
from fa4dsl.runtime.diagnostics import Fa4dslError

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
RUNS = settings(SETTINGS, max_examples=12)
HEAD = (
    "from fa4dsl import (Pointer, ballot, block, elect, f32, i32, kernel, lane, mbarrier, role, shared, shuffle, shuffle_xor, static_range, "
    "thread, u32, vote_any, warp_reduce, where)\n\n\n"
)
MASK = 0xFFFFFFFF
OUTPUTS = 256


# --- integer kernels that Python can follow


@dataclass(frozen=True)
class Made:
    """A kernel's body, one entry a line (indented by four), and its number of threads."""

    threads: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"{HEAD}@kernel(threads={self.threads})\ndef made(x: Pointer[i32], y: Pointer[i32], n: i32):\n{body}"

    def with_lines(self, *lines: str) -> Made:
        """The same with lines put before the last, which stores the result."""
        return Made(self.threads, (*self.lines[:-1], *lines, self.lines[-1]))


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...], depth: int = 2) -> str:
    """An i32 expression over `names`."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.one_of(st.sampled_from(names), st.integers(-50, 50).map(lambda value: f"i32({value})")))
    left, right = draw(expressions(names, depth - 1)), draw(expressions(names, depth - 1))
    kind = draw(st.sampled_from(["+", "-", "*", "&", "|", "^", "<<", "where"]))
    if kind == "where":
        compare = draw(st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
        return f"where({left} {compare} {right}, {left}, {right})"
    if kind == "<<":
        return f"({left} << {draw(st.integers(0, 4))})"
    return f"({left} {kind} {right})"


@st.composite
def statements(draw: st.DrawFn, names: tuple[str, ...], depth: int = 2) -> tuple[list[str], tuple[str, ...]]:
    """Lines, and the variables there are after them."""
    kind = draw(st.sampled_from(["assign", "update", "if", "for", "static"] if depth else ["assign", "update"]))
    if kind == "assign":
        fresh = f"v{len(names)}"
        return [f"{fresh} = {draw(expressions(names))}"], (*names, fresh)
    own = [name for name in names if name.startswith("v")]
    if kind == "update" or not own:
        if not own:
            return [f"v{len(names)} = i + n"], (*names, f"v{len(names)}")
        return [f"{draw(st.sampled_from(own))} = {draw(expressions(names))}"], names
    inner: list[str] = []
    known = names
    for _ in range(draw(st.integers(1, 2))):
        lines, known = draw(statements(known, depth - 1))
        inner += lines
    if kind == "if":
        compare = draw(st.sampled_from(["<", "==", ">="]))
        head = [f"if {draw(expressions(names, 1))} {compare} {draw(expressions(names, 1))}:"]
    elif kind == "for":
        head = [f"for _k in range({draw(st.sampled_from(['n', '3', 'i & 3']))}):"]
    else:
        head = [f"for _s in static_range({draw(st.integers(0, 3))}):"]
    return [*head, *(f"    {line}" for line in inner)], names


@st.composite
def kernels(draw: st.DrawFn) -> Made:
    """Reads x, mixes in the thread's index and n, stores one i32 a thread; between, any statements."""
    lines = ["i = thread.index()", "v1 = x[i]"]
    names: tuple[str, ...] = ("i", "v1", "n")
    for _ in range(draw(st.integers(1, 5))):
        made, names = draw(statements(names))
        # a variable first set in a branch is gone behind it
        lines += made
    own = [name for name in names if name.startswith("v")]
    if draw(st.booleans()):
        lines += ["tile = shared(i32, 128, name='tile')", f"tile[i] = {own[-1]}", "block.sync()", "v_read = tile[127 - i]"]
        return Made(128, (*lines, f"y[i] = v_read ^ {draw(st.sampled_from(own))}"))
    return Made(draw(st.sampled_from([32, 64, 128])), (*lines, f"y[i] = {draw(st.sampled_from(own))}"))


def wrapped(value: int) -> int:
    """An i32 as the machine has it."""
    value &= MASK
    return value - (1 << 32) if value >> 31 else value


def expected(made: Made, x: list[int], n: int) -> list[int]:
    """What the kernel stores, by running its lines as Python with 32-bit wrapping after each assignment's operations."""
    results = []
    tile: dict[int, int] = {}

    class Wrapped(int):
        def __new__(cls, value: int) -> Wrapped:
            return super().__new__(cls, wrapped(int(value)))

    for name in ("add", "sub", "mul", "and", "or", "xor", "lshift"):
        for prefix in ("__", "__r"):
            method = getattr(int, f"{prefix}{name}__")
            setattr(Wrapped, f"{prefix}{name}__", lambda self, other, method=method: Wrapped(method(int(self), int(other))))

    split = next((index for index, line in enumerate(made.lines) if line == "block.sync()"), None)
    scopes: list[dict[str, Any]] = []
    for thread in range(made.threads):
        scopes.append(
            {
                "i": Wrapped(thread), "v1": Wrapped(x[thread]), "n": Wrapped(n), "i32": Wrapped, "static_range": range,
                "where": lambda condition, a, b: a if condition else b, "tile": tile,
            }
        )  # fmt: skip
    parts = [made.lines[2:]] if split is None else [made.lines[2:split], made.lines[split + 1 :]]
    for part in parts:
        code = "\n".join(line for line in part if not line.startswith(("tile = ", "y[i]")))
        for scope in scopes:
            exec(code, scope)
    for scope in scopes:
        results.append(int(eval(made.lines[-1].partition(" = ")[2], scope)))
    return results


def told(made: Made, folder: Path, check: bool = True) -> list[str]:
    """Traces and checks; the codes of what is raised or reported, notes left out."""
    try:
        traced = load_text(folder, made.text).made.bind().trace()
        with traced.context:
            verify(traced.module)
            return [item.code for item in run_checks(traced.module) if item.severity != "review"] if check else []
    except Fa4dslError as error:
        return [item.code for item in error.diagnostics]


@SETTINGS
@given(made=kernels())
def test_valid_kernels_are_silent(made: Made, tmp_path: Path) -> None:
    assert told(made, tmp_path) == [], made.text


@RUNS
@given(made=kernels(), n=st.integers(0, 5), seed=st.integers(0, 99))
def test_valid_kernels_compute_what_python_does(made: Made, n: int, seed: int, tmp_path: Path) -> None:
    x = np.random.default_rng(seed).integers(-(1 << 31), 1 << 31, OUTPUTS).astype(np.int32)
    y = np.zeros(OUTPUTS, np.int32)
    report = load_text(tmp_path, made.text).made.launch(1, [x, y, n], device="simulator").report
    assert report.verdict == "clean", report.text()
    assert y[: made.threads].tolist() == expected(made, x.tolist(), n), made.text


# --- faults: the lines that hold one, and the codes that may tell it

FAULTS: dict[str, tuple[tuple[str, ...], str | tuple[str, ...]]] = {
    "a name that is not there": (("w = no_such_name + 1",), "L"),
    "a misspelt function": (("w = wher(i < 1, i, n)",), "L"),
    "a misspelt attribute": (("w = thread.indx()",), "L"),
    "types that do not mix": (("w = i + f32(1.0)",), "L"),
    "an integer where a condition stands": (("w = u32(1) + i",), "L"),
    "an unsupported statement: try": (("try:", "    w = i", "except ValueError:", "    w = n"), "L"),
    "an unsupported statement: class": (("class Inner:", "    pass"), "L"),
    "an unsupported statement: del": (("w = i", "del w"), "L"),
    "an unsupported statement: import": (("import math",), "L"),
    "an unsupported statement: raise": (("raise ValueError(1)",), "L"),
    "an unsupported expression: dict": (("w = {i: n}[i]",), "L"),
    "too many arguments": (("w = warp_reduce(i, 'add', 32, 1)",), "L"),
    "a reduction that is not there": (("w = warp_reduce(i, 'avg')",), "L"),
    "a size known only at run time": (("more = shared(i32, n)",), "L"),
    "too much shared memory": (("more = shared(f32, 60000, name='more')", "more[i] = f32(1.0)"), "C025"),
    "an index of the wrong rank": (("more = shared(i32, (4, 32))", "w = more[i, 0, 0]"), "L"),
    "a role that the block has no warps for": (("with role('late', warps=40):", "    w = i + 1"), ("L", "C")),
    "a variable set in one branch only": (("if i < n:", "    w = i", "u = w + 1"), "L"),
    "a type that changes in a branch": (("w = i + 1", "if i < n:", "    w = f32(1.0)"), "L"),
    "a shuffle in half a warp": (("if i < 16:", "    v1 = shuffle(v1, 0)"), "C122"),
    "a vote in half a warp": (("if i < 16:", "    v1 = where(vote_any(i == 3), i32(1), v1)"), "C122"),
    "a ballot in half a warp": (("if (i & 1) == 0:", "    v1 = i32(ballot(i == 3))"), "C122"),
    "a butterfly in one lane": (("if lane.index() == 3:", "    v1 = shuffle_xor(v1, 1)"), "C122"),
    "a reduction in half a warp": (("if i < 16:", "    v1 = warp_reduce(v1, 'add')"), "C122"),
    "a CTA barrier in half a warp": (("if i < 16:", "    block.sync()"), "C"),
    "a wait that nobody ends": (("gate = mbarrier(1, name='gate')", "block.sync()", "gate.wait(phase=0)"), "C"),
    "an arrival too many": (("gate = mbarrier(1, name='gate')", "block.sync()", "gate.arrive()", "gate.wait()"), "C"),
    "an arrival before the barrier is there": (("gate = mbarrier(32, name='gate')", "gate.arrive()", "gate.wait()"), "C"),
}


@pytest.mark.parametrize("fault", FAULTS)
@settings(SETTINGS, max_examples=4)
@given(data=st.data())
def test_broken_kernels_are_refused(fault: str, data: st.DataObject, tmp_path: Path) -> None:
    """The same kernel is silent without the lines; with them, the catalogue names the fault, whatever stands around."""
    made = data.draw(kernels())
    lines, codes = FAULTS[fault]
    broken = made.with_lines(*lines)
    assert told(made, tmp_path) == []
    found = told(broken, tmp_path)
    assert found, broken.text
    assert "L099" not in found, broken.text
    assert all(code.startswith(codes) for code in found), (found, broken.text)
