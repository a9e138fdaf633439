"""Every function and method of the language, with every argument replaced by something it cannot take: always an error of the catalogue
that names the argument, what was given and what is expected, with the caret under it. `tests/language_calls.py` has the valid calls."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from language_calls import CALLS, GROUPS, SAMPLES, SETUP
from language_running import load_text

import fa4dsl
from fa4dsl.frontend import specialise, state
from fa4dsl.frontend.statements import Statements
from fa4dsl.language import python_functions
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError

INDENT = "    "
TOGETHER = ("L010", "L013", "L073", "L079", "L090")
"""Errors about how arguments fit each other: they show all, under the whole call or another of them."""


@dataclass(frozen=True)
class Line:
    """One statement to try: a call, and which characters of it the error must be under."""

    text: str
    call: str
    argument: str = ""
    sample: str = ""
    first: int = 0
    last: int = 0


class Finished(BaseException):
    """All lines were tried; the kernel need not be finished."""


def outcomes(folder: Path, lines: list[Line], monkeypatch: pytest.MonkeyPatch) -> list[Diagnostic | None]:
    """What each line says, traced one after the other in one kernel, each as if the others had not been there."""
    text = SETUP + "".join(f"{INDENT}{line.text}\n" for line in lines)
    found: list[Diagnostic | None] = []

    def try_each(trace: Any, frame: Any) -> None:
        interpreter = Statements(trace, frame)
        statements = frame.source.node.body
        assert frame.source.name == "example", "a kernel was compiled by giving it as an argument"
        prepared = len(statements) - len(lines)
        interpreter.run(statements[:prepared])
        for statement in statements[prepared:]:
            before, mark = state.take(trace), trace.mark()
            aside = trace.create("scf.execute_region", regions=1)
            try:
                with trace.at_block(aside.regions[0].blocks.append()):
                    interpreter.run([statement])
                found.append(None)
            except Fa4dslError as error:
                found.append(error.diagnostic)
            aside.erase()
            trace.undo_to(mark)
            state.restore(trace, before)
        raise Finished

    monkeypatch.setattr(specialise, "run_function", try_each)
    with pytest.raises(Finished):
        load_text(folder, text).example.bind().trace()
    return found


def arguments_of(text: str) -> list[ast.expr]:
    """The arguments of a call as written, in order."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def sample_lines(valid: bool = False) -> Iterator[Line]:
    """Every call with each argument replaced by each sample that the table does not (or does) say it takes."""
    for text, accepted in CALLS:
        places = arguments_of(text)
        assert len(places) == len(accepted), text
        for place, groups in zip(places, accepted, strict=True):
            taken = {name for group in groups.split() for name in GROUPS.get(group, group).split()}
            assert taken <= set(SAMPLES), text
            for sample in SAMPLES:
                if (sample in taken) == valid:
                    written = SAMPLES[sample][0]
                    start, end = place.col_offset, place.end_col_offset or 0
                    changed = text[:start] + written + text[end:]
                    yield Line(changed, text, text[start:end], sample, start + len(INDENT), start + len(INDENT) + len(written))


def test_every_wrong_argument_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list(sample_lines())
    complaints = []
    codes: Counter[str] = Counter()
    for line, found in zip(lines, outcomes(tmp_path, lines, monkeypatch), strict=True):
        problem = complaint(line, found)
        codes[found.code if found else "none"] += 1
        if problem:
            complaints.append(
                f"{line.text}   [{line.argument} <- {line.sample}]: {problem}" + (f" :: {found.code} {found.message}" if found else "")
            )
    print(codes)
    assert not complaints, f"{len(complaints)} of {len(lines)}:\n" + "\n".join(complaints)


def complaint(line: Line, found: Diagnostic | None) -> str:
    """What is not as it should be about an error; "" where nothing."""
    if found is None:
        return "no error"
    if found.code in ("L099", "L007") or not found.code.startswith("L"):
        return "not an error of its own"
    place = found.frames[0].location
    if found.code in TOGETHER:
        return "" if len(INDENT) < place.column < place.end_column <= len(INDENT) + len(line.text) + 1 else "the caret is not in the call"
    if not line.first + 1 <= place.column <= place.end_column <= line.last + 1:
        return f"the caret is at {place.column}..{place.end_column}, not in {line.first + 1}..{line.last + 1}"
    said = "\n".join((found.message, *found.notes))
    if not re.search(r"`\*?\w+`", said):
        return "the argument is not named"
    if not re.search(SAMPLES[line.sample][1], said):
        return "what was given is not said"
    return ""


INTERNAL = {
    "adopt_name",
    "combine",
    "element_offset",
    "element_offset_value",
    "manifest_fields",
    "offset_value",
    "operands",
    "set_state",
    "state",
}
"""Methods that the language's own modules call."""


def expected_parameters() -> set[tuple[str, str]]:
    """Every parameter of every function and method that a kernel can call, with a pair of the name alone for each callable."""
    from fa4dsl.frontend import values
    from fa4dsl.language import memory, named_barriers, pipeline, tma

    owners: list[type] = [values.Value, values.Vector, memory.PointerValue, tma.MapValue, tma.RaggedMapValue]
    owners += [named_barriers.NamedBarrier, pipeline.Ring]
    callables: list[Any] = []
    for name in fa4dsl.__all__:
        item = getattr(fa4dsl, name)
        if inspect.isfunction(item) and item.__module__.startswith("fa4dsl.language"):
            callables.append(item)
        elif isinstance(item, type) and item.__module__.startswith("fa4dsl.language"):
            owners.append(item)
        elif type(item).__module__.startswith("fa4dsl.language"):
            owners.append(type(item))
    for owner in owners:
        named = [name for name in dir(owner) if not name.startswith("_") and name not in INTERNAL]
        callables += [item for name in named if inspect.isfunction(item := getattr(owner, name))]
        if "__call__" in vars(owner):
            callables.append(owner.__call__)
    found = set()
    for item in callables:
        found.add((item.__qualname__, ""))
        found |= {(item.__qualname__, name) for name in inspect.signature(item).parameters if name != "self"}
    return found


def test_the_calls_are_all_that_a_kernel_can_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parameter that no call gives would never be tried with anything wrong."""
    covered: set[tuple[str, str]] = set()

    def bind_all(trace: Any, frame: Any) -> None:
        interpreter = Statements(trace, frame)
        statements = frame.source.node.body
        prepared = len(statements) - len(CALLS)
        interpreter.run(statements[:prepared])
        for statement in statements[prepared:]:
            node = statement.value
            function = interpreter.evaluate(node.func)
            function = python_functions.REPLACEMENTS.get(function, function)
            method = function if inspect.isroutine(function) else type(function).__call__
            given = [None] * (len(node.args) + (method is not function)), {item.arg: None for item in node.keywords}
            names = inspect.signature(method).bind(*given[0], **given[1]).arguments
            covered.update((method.__qualname__, name) for name in ("", *names))
        raise Finished

    monkeypatch.setattr(specialise, "run_function", bind_all)
    with pytest.raises(Finished):
        load_text(tmp_path, SETUP + "".join(f"{INDENT}{text}\n" for text, _ in CALLS)).example.bind().trace()
    assert not expected_parameters() - covered


def test_valid_calls_stay_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [Line(text, text) for text, _ in CALLS]
    refused = [(line.text, found) for line, found in zip(lines, outcomes(tmp_path, lines, monkeypatch), strict=True) if found is not None]
    assert not refused, "\n".join(f"{text}: {found}" for text, found in refused)


def test_valid_samples_stay_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the table says an argument takes as well."""
    lines = [line for line in sample_lines(valid=True) if not line.call.startswith("static_assert")]
    found = zip(lines, outcomes(tmp_path, lines, monkeypatch), strict=True)
    refused = [(line.text, item) for line, item in found if item is not None and item.code not in TOGETHER]
    assert not refused, "\n".join(f"{text}: {found}" for text, found in refused)


def test_arguments_too_many_too_few_and_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Line] = []
    takes_any = (
        "vector",
        "min",
        "max",
        "inline_ptx",
        "wgmma_wait",
        "tile.reshape",
        "values.reshape",
        "tile.load",
        "tile.part",
        "device_print",
    )
    for text, _ in CALLS:
        node = ast.parse(text, mode="eval").body
        assert isinstance(node, ast.Call)
        name, comma = ast.unparse(node.func), ", " if node.args or node.keywords else ""
        lines.append(Line(f"{text[:-1]}{comma}wrong_word=7)", text))
        if name not in (*takes_any, "range", "static_range") and not node.keywords:
            lines.append(Line(f"{text[:-1]}{comma}7, 7, 7, 7, 7, 7)", text))
    for name in (
        "shared",
        "mbarrier",
        "copy_async",
        "matrix.load",
        "atomic.add",
        "exp2",
        "fma",
        "x.store",
        "tile.on",
        "wgmma",
        "role",
        "pipeline",
    ):
        lines.append(Line(f"{name}()", f"{name}()"))
    for line, found in zip(lines, outcomes(tmp_path, lines, monkeypatch), strict=True):
        assert found is not None and found.code == "L020", f"{line.text}: {found}"
        assert line.text[: line.text.index("(")].rpartition(".")[2] in found.message + found.mend or "(" in found.mend, found


AROUND = {
    "one thread": ("with elect():", "{}"),
    "a thread by number": ("with thread(0):", "{}"),
    "a run-time branch": ("if n > 0:", "{}"),
    "a run-time loop": ("for i in range(n):", "{}"),
    "a role": ('with role("a", warps=4):', "{}"),
    "a small role": ('with role("b", warps=1):', "{}"),
    "a device function's argument": ("helper({})",),
    "a name": ("name = {}",),
    "an operand": ("name = 1 + {}",),
    "a condition": ("if {}:", "pass"),
    "a with statement": ("with {}:", "pass"),
    "a loop's range": ("for i in {}:", "pass"),
    "an index": ("x[{}] = 1.0",),
    "an element's owner": ("name = ({})[0]",),
    "unpacked": ("one, two = {}",),
    "called": ("({})(n)",),
}


@pytest.mark.parametrize("place", AROUND)
def test_calls_in_other_places(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a call stands and what its result is used for: valid, or an error of the language that is no fault of its own."""
    around = AROUND[place]
    lines = [Line(("\n" + 2 * INDENT).join(part.format(text) for part in around), text) for text, _ in CALLS]
    for line, found in zip(lines, outcomes(tmp_path, lines, monkeypatch), strict=True):
        assert found is None or (found.code.startswith("L") and found.code not in ("L099", "L007")), f"{line.text}: {found}"


def misspelt(name: str) -> str:
    """Two letters in the middle exchanged; a letter twice where they are the same."""
    middle = max(len(name) // 2, 1)
    changed = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :] if len(name) > 2 else name + name[-1]
    return changed if changed != name else name[:middle] + name[middle:].replace(name[middle], 2 * name[middle], 1)


def test_misspelt_attributes_suggest_the_right_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = ("tile", "peer", "done", "group", "meeting", "ring", "values", "four", "n", "x", "matrix", "packed", "f32", "role('a', 4)")
    objects += tuple(name for name in fa4dsl.__all__ if type(getattr(fa4dsl, name)).__module__.startswith("fa4dsl.language.indices"))
    objects += ("atomic", "reduce", "tma", "warpgroup")
    named: list[tuple[str, str]] = []

    def attributes(trace: Any, frame: Any) -> None:
        interpreter = Statements(trace, frame)
        statements = frame.source.node.body
        interpreter.run(statements[: -len(objects)])
        for text, statement in zip(objects, statements[-len(objects) :], strict=True):
            held = interpreter.evaluate(statement.value)
            named.extend((text, name) for name in dir(held) if not name.startswith("_") and len(name) > 1)
        raise Finished

    with monkeypatch.context() as patch, pytest.raises(Finished):
        patch.setattr(specialise, "run_function", attributes)
        load_text(tmp_path, SETUP + "".join(f"{INDENT}{text}\n" for text in objects)).example.bind().trace()
    owners = {text: {name for other, name in named if other == text} for text in objects}
    tried = [(text, name) for text, name in named if misspelt(name) not in owners[text] and not keyword.iskeyword(misspelt(name))]
    lines = [Line(f"{text}.{misspelt(name)}", text) for text, name in tried]
    wrong = []
    for (text, name), found in zip(tried, outcomes(tmp_path, lines, monkeypatch), strict=True):
        if found is None or found.code != "L006" or found.mend != f"did you mean .{name}?":
            wrong.append(f"{text}.{misspelt(name)}, not {name}: {found.mend if found else None}")
    assert len(tried) > 150
    assert not wrong, "\n".join(wrong)
