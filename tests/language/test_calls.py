"""Device functions, locations, and how errors look."""

from __future__ import annotations

from pathlib import Path

import pytest
from language_running import load_text

from fa4dsl.runtime.diagnostics import Fa4dslError

HEAD = "from fa4dsl import *\n\n"


def error_of(tmp_path: Path, text: str) -> Fa4dslError:
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, HEAD + text).example.bind().trace()
    return caught.value


def kernel_text(*lines: str, before: str = "", parameters: str = "x: Pointer[f32], n: i32") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"{before}@kernel(threads=128, cluster=2)\ndef example({parameters}):\n{body}\n"


def test_errors_in_device_functions_show_the_calls(tmp_path: Path) -> None:
    before = "@device_function\ndef inner(value):\n    return value + True\n\n@device_function\ndef outer(value):\n    return inner(value) * 2\n\n"
    shown = error_of(tmp_path, kernel_text("x[0] = f32(outer(n))", before=before)).diagnostic
    assert shown.code == "L010"
    assert [(frame.location.line, frame.label) for frame in shown.frames] == [
        (5, ""),
        (12, "i32 comes from here"),
        (9, "called from here"),
        (13, "called from here"),
    ]


def test_operations_carry_lines_columns_and_call_sites(tmp_path: Path) -> None:
    before = "@device_function\ndef twice(value):\n    return value * 2\n\n"
    module = load_text(tmp_path, HEAD + kernel_text("x[0] = f32(twice(n))", before=before)).example.bind().trace().module
    text = module.operation.get_asm(enable_debug_info=True)
    assert "callsite" in text
    assert ":5:12 to :21" in text.replace('"', ""), text
    assert "unknown" not in text


def test_columns_are_those_of_the_file_for_nested_functions_and_wide_characters(tmp_path: Path) -> None:
    text = """
def make():
    if True:
        @kernel(threads=32)
        def example(x: Pointer[f32]):
            x[0] = len("grüße") + wrong_name
        return example

example = make()
"""
    place = error_of(tmp_path, text).diagnostic.frames[0].location
    assert (place.line, place.column, place.end_column) == (8, 35, 45)


@pytest.mark.parametrize(
    ("line", "code", "mend"),
    [
        ("clutser.sync()", "L003", "did you mean 'cluster'?"),
        ("cluster.synk()", "L006", "did you mean .sync?"),
        ("x[0] = len(np)", "L003", "define it, or import it from fa4dsl"),
        ("barrier = mbarier(1)", "L003", "did you mean 'mbarrier'?"),
        ("ring.full.wait()", "L003", "define it, or import it from fa4dsl"),
        ("import math", "L005", "import at the top of the module"),
        ("del n", "L005", "let the name be; registers are freed when a value is no longer used"),
        ("y = lambda a: a", "L005", "define a function at module level with @device_function"),
        ("print(n)", "L005", "use device_print, which prints from the kernel"),
        ("x.y = 1", "L018", ""),
        ("value: i32", "L005", "give it its first value"),
        ("(a, b), c = (1, 2), 3, 4", "L025", ""),
        ("y = {1: n}[2]", "L007", "correct the compile-time values that are used here"),
        ("y = x @ x", "L005", "call wgmma(...) or mma(...)"),
        ("y = n in {1, 2}", "L021", ""),
        ("y = int(n)", "L005", "convert it: value.to(i32), which rounds towards zero"),
        ("y = [1, 2][n]", "L021", ""),
        ("y = x[0:4]", "L075", ""),
        ("x[n, 0] = 1.0", "L023", ""),
        ("y = float(n)", "L005", "convert it: value.to(f32)"),
        ("y = math.exp(x[0])", "L027", "use the operation of that name: from fa4dsl import exp"),
        ("y = math.atan(x[0])", "L027", "write it as a @device_function of the operations of fa4dsl"),
        ("y = n.astype(f32)", "L006", "write value.to(dtype)"),
        ("y = threadIdx.x", "L003", 'write thread.index("x")'),
        ("y = registers(float32, 4)", "L003", "the type is called f32 here: from fa4dsl import f32"),
        ("for i in reversed(range(n)): pass", "L005", "count down by hand: for i in range(n): j = n - 1 - i"),
        ("y = accumulator_place(n)", "L021", ""),
        ("y = store_accumulator(shared(bf16, (64, 64)), accumulator(f32, 64))", "L068", ""),
        ("y = pipeline(stages=2, slot={'a': (f32, 32)}).skip(1)", "L080", ""),
        ("y = pipeline(stages=2, slot={'a': (f32, 32)}, readers=3)", "L080", ""),
        ("named_barrier(64, count=2).sync()", "L082", ""),
        ("named_barrier(64, count=2)[2].sync()", "L074", ""),
        ("y = math_of(n)", "L027", "decorate math_of with @device_function"),
        ("y = (1).bit_length(3)", "L020", ""),
        ("for a, b in range(3): pass", "L005", "use one loop variable"),
        ("with len((1,)): pass", "L029", ""),
        ("y = n._hidden", "L006", ""),
        ("y = shared(f32, 8).on(n + True)", "L010", ""),
        ("match n:\n        case 1: pass", "L005", "use if / elif"),
        ("while n > 0:\n        pass\n    else:\n        pass", "L005", ""),
        ("def inner(): pass", "L005", ""),
        ("y = mbarrier(1, arrivals=2)", "L020", ""),
        ("y = range()", "L020", ""),
        ("y = range(0, 4, 0)", "L045", ""),
        ("y = max()", "L007", ""),
        ("y = where(n > 0, x[0], (1, 2))", "L100", ""),
        ("y = sum(f32)", "L007", ""),
        ("y = wgmma(n, n, into=block)", "L068", ""),
        ("y = role('a', warps=True)", "L100", ""),
        ("y = pipeline(stages=2, slot={1: (f32, 32)})", "L080", ""),
        ("y: f32 = n", "L011", ""),
    ],
)
def test_what_people_write_by_mistake(line: str, code: str, mend: str, tmp_path: Path) -> None:
    before = "import math\n\ndef math_of(value):\n    return value\n\n"
    error = error_of(tmp_path, kernel_text(line, before=before))
    assert error.code == code, str(error)
    assert not mend or error.diagnostic.mend == mend
    place = error.diagnostic.frames[0].location
    assert 10 <= place.line <= 13
    assert place.column >= 5
    assert "^" in str(error)


def test_a_run_time_value_shows_where_it_comes_from(tmp_path: Path) -> None:
    shown = error_of(tmp_path, kernel_text("count = n // 2", "values = registers(f32, 4)", "x[0] = values[count]")).diagnostic
    assert shown.code == "L021"
    assert "registers have no addresses" in shown.message
    assert [(frame.location.line, frame.label) for frame in shown.frames] == [(7, ""), (5, "its value comes from here")]


def test_type_changes_show_both_places(tmp_path: Path) -> None:
    shown = error_of(tmp_path, kernel_text("value = x[0]", "for i in range(n):", "    value = i")).diagnostic
    assert shown.code == "L031"
    assert "'value' is a run-time f32 on one way and a run-time i32 on the other" in shown.message
    assert [frame.location.line for frame in shown.frames] == [6, 5, 6]


def test_faults_of_the_language_are_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fa4dsl.language import indices

    monkeypatch.setattr(indices, "special", lambda what: 1 // 0)
    error = error_of(tmp_path, kernel_text("x[thread.index()] = 0.0"))
    assert error.code == "L099"
    assert "ZeroDivisionError" in str(error)


def test_errors_of_other_floors_stand_at_the_authors_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fa4dsl.frontend import calls

    monkeypatch.setattr(calls, "check", lambda *call: None)
    error = error_of(tmp_path, kernel_text('x.store(0, 1.0, order="acquire")'))
    assert error.code.startswith("C")
    assert error.diagnostic.frames[0].location.line == 5


def test_keyword_arguments_defaults_and_starred_calls(tmp_path: Path) -> None:
    before = "@device_function\ndef total(a, b=2, *more, scale: f32 = 1):\n    return (a + b + sum(more)) * scale\n\n"
    lines = ("items = (x[0], x[1])", "x[2] = total(*items, x[3], 4.0, scale=3)", "x[3] = total(x[0], **{'scale': 2})")
    load_text(tmp_path, HEAD + kernel_text(*lines, before=before)).example.bind().trace().module.operation.verify()


def test_annotated_parameters_are_checked(tmp_path: Path) -> None:
    before = "@device_function\ndef weigh(p: Pointer[f32], a: f32):\n    return p[0] * a\n\n"
    load_text(tmp_path, HEAD + kernel_text("x[0] = weigh(x, 3)", before=before)).example.bind().trace()
    for call in ("weigh(x, n)", "weigh(n, 1.0)", "weigh(x, x.load(0, width=2))"):
        error = error_of(tmp_path, kernel_text(f"x[0] = {call}", before=before))
        assert error.code == "L011"


def test_compile_time_python_runs_at_compile_time(tmp_path: Path) -> None:
    before = (
        "import math\nfrom dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Shape:\n    rows: int\n    def padded(self, to):\n"
        "        return -(-self.rows // to) * to\n\nSHAPE = Shape(100)\n\ndef table(n):\n    return [k * k for k in range(n)]\n\n"
    )
    lines = (
        "size = SHAPE.padded(32) + math.isqrt(17) + max(3, 4)",
        "squares = {k: v for k, v in enumerate(table(4))}",
        "names = [f'{k}:{v:03d}' for k, v in squares.items() if k % 2]",
        "assert size == 136 and names == ['1:001', '3:009'] and {k % 2 for k in squares} == {0, 1}, f'{size} {names} {n}'",
        "first, *rest = [*table(3), *(k for k in range(2))]",
        "assert (first, rest) == (0, [1, 4, 0, 1]) and (y := size) == 136 and y",
    )
    module = load_text(tmp_path, HEAD + kernel_text(*lines, before=before)).example.bind().trace().module
    assert "arith" not in str(module)
