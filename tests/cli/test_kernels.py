"""KERNEL and --set: what they find, and what they say where there is nothing to find."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click
import pytest

from fa4dsl.cli.app import UNUSABLE, WRONG, invoke
from fa4dsl.cli.kernels import LIBRARY, Settings, bind, find_kernel, read_settings
from fa4dsl.kernel_object import Kernel

SCALE = """
    from dataclasses import dataclass
    from fa4dsl import Pointer, block, f32, i32, kernel, thread

    @dataclass(frozen=True)
    class Shape:
        threads: int = 64
        step: int = 1

    @kernel(threads=lambda shape: shape.threads)
    def scale(x: Pointer[f32], n: i32, *, factor: int = 2, shape: Shape):
        i = block.index() * shape.threads + thread.index()
        if i < n:
            x[i] = x[i] * float(factor)

    @kernel(threads=32)
    def misspelt(x: Pointer[f32]):
        x[thread.indx()] = 1.0

    not_a_kernel = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scale_example.py"
    path.write_text(textwrap.dedent(SCALE))
    return path


def settings(*given: str) -> Settings:
    return read_settings(None, None, given)  # type: ignore[arg-type]


def test_settings_are_literals_or_text() -> None:
    assert settings("a=8", "b=(1, 2)", "c=none", "a=16").values == {"a": (8, 16), "b": ((1, 2),), "c": ("none",)}
    assert list(settings("a=1", "a=2", "b=x").variants()) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    with pytest.raises(click.BadParameter, match="NAME=VALUE"):
        settings("a")
    with pytest.raises(click.BadParameter, match="more than once"):
        settings("a=1", "a=2").single()


@pytest.mark.parametrize("name", LIBRARY)
def test_library_kernels_are_there(name: str) -> None:
    assert isinstance(find_kernel(name), Kernel)


def test_fields_of_a_dataclass_and_plain_arguments(file: Path) -> None:
    kernel = find_kernel(f"{file}:scale")
    constants = bind(kernel, {"threads": 32, "factor": 5}).constants
    assert constants["factor"] == 5 and constants["shape"].threads == 32 and constants["shape"].step == 1
    assert bind(kernel, {}).constants["factor"] == 2, "defaults stay"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("splitk-combin", "Did you mean 'splitk-combine'?"),
        ("nothing.py:k", "There is no file nothing.py"),
        ("{file}:scal", "'scal' is not in it; {file} has these kernels: scale, misspelt. Did you mean 'scale'?"),
        ("{file}:not_a_kernel", "'not_a_kernel' is not a kernel"),
        ("{file}", "neither in the library"),
    ],
)
def test_a_kernel_that_is_not_there(file: Path, given: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", given.format(file=file)]) == UNUSABLE
    assert words.format(file=file) in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("def f(:\n", "line 1 cannot be imported: SyntaxError"),
        ("exit(3)\n", "SystemExit"),
    ],
)
def test_a_file_that_cannot_be_imported(tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken_example.py"
    path.write_text(text)
    assert invoke(["show", f"{path}:k"]) == UNUSABLE
    assert words in " ".join(capsys.readouterr().err.split())


def test_unknown_setting_suggests(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", f"{file}:scale", "--set", "thread=32"]) == UNUSABLE
    assert "Did you mean 'threads'?" in " ".join(capsys.readouterr().err.split())


def test_a_mistake_in_the_kernel_is_shown_at_its_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", f"{file}:misspelt"]) == WRONG
    printed = capsys.readouterr().err
    assert f"{file}:18" in printed and "x[thread.indx()] = 1.0" in printed and "^" in printed and "Traceback" not in printed


def test_values_a_configuration_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "splitk-combine", "--set", "partitions=3"]) == WRONG
    assert "[L065]" in capsys.readouterr().err
