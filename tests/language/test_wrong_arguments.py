"""Every function and method of the language, with every argument replaced by something it cannot take: always an error of the catalogue
that names the argument, what was given and what is expected, with the caret under it. `tests/language_calls.py` has the valid calls."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from language_calls import CALLS, GROUPS, SAMPLES, SETUP
from language_running import load_text

from fa4dsl.frontend import specialise, state
from fa4dsl.frontend.statements import Statements
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


def wrong_lines() -> Iterator[Line]:
    for text, accepted in CALLS:
        places = arguments_of(text)
        assert len(places) == len(accepted), text
        for place, groups in zip(places, accepted, strict=True):
            valid = {name for group in groups.split() for name in GROUPS.get(group, group).split()}
            assert valid <= set(SAMPLES), text
            for sample in SAMPLES:
                if sample not in valid:
                    written = SAMPLES[sample][0]
                    start, end = place.col_offset, place.end_col_offset or 0
                    changed = text[:start] + written + text[end:]
                    yield Line(changed, text, text[start:end], sample, start + len(INDENT), start + len(INDENT) + len(written))


def test_every_wrong_argument_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list(wrong_lines())
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
