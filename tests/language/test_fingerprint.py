"""The digest under which a compiled kernel is kept: it changes with anything that reaches the kernel, or is not given at all."""

from __future__ import annotations

import dataclasses
import enum
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fa4dsl.fingerprint import kernel_fingerprint

KERNEL = """
import enum, math, os, random, time
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
import numpy as np
import helper_of_kernels as helper
from fa4dsl import Pointer, block, device_function, f32, i32, kernel, static_range, thread
from helper_of_kernels import Config, imported_device, imported_host

SCALE = 2.0
TABLE = [1, {"a": (2, 3)}]
ARRAY = np.arange(4, dtype=np.float32)
WORDS = {"x", "y"}

class Color(enum.Enum):
    RED = 1
    BLUE = 2

COLOR = Color.RED

def host(x, y=1):
    def inner(z):
        return z * SCALE_IN_HOST
    return inner(x) + y

SCALE_IN_HOST = 3

@lru_cache
def memoised(n):
    return n + OFFSET

OFFSET = 1
PARTIAL = partial(host, y=5)

@device_function
def inner_device(x, i):
    return x[i] * DEEP

DEEP = 7.0

@device_function
def device(x, i, factor=1.5):
    return inner_device(x, i) * factor

def make(captured):
    @kernel(threads=lambda c: c.threads)
    def closed(x: Pointer[f32], *, c: Config = Config()):
        x[thread.index()] = captured
    return closed

@kernel(threads=lambda c: c.threads * BLOCKS, min_blocks=1)
def example(x: Pointer[f32], n: i32, *, c: Config = Config()):
    i = block.index() * 64 + thread.index()
    if i < n:
        x[i] = device(x, i) * SCALE + host(2) + memoised(3) + PARTIAL(1) + TABLE[1]["a"][0] + float(ARRAY[2]) + c.doubled
        if COLOR is Color.RED:
            x[i] = imported_device(x[i]) + imported_host(1) + helper.constant + helper.sub.deep + math.pi + len(WORDS)

BLOCKS = 1

@kernel(threads=32)
def plain(x: Pointer[f32]):
    x[thread.index()] = 1.0
"""
HELPER = """
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from fa4dsl import device_function

constant = 11
sub = SimpleNamespace(deep=4)
FACTOR = 2

def sizes():
    return [FACTOR]

@dataclass(frozen=True)
class Config:
    threads: int = 64
    other: tuple = (1, 2)
    made: tuple = field(default_factory=tuple)

    @property
    def doubled(self):
        return self.threads * FACTOR

    @cached_property
    def slow(self):
        return 1

@device_function
def imported_device(x):
    return x + FACTOR

def imported_host(x):
    return x + sum(sizes())
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Loads the two modules anew, with changes to their texts, always at the same place."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def fresh(kernel: str = KERNEL, helper: str = HELPER) -> ModuleType:
        for name, text in (("helper_of_kernels", helper), ("kernels_of_test", kernel)):
            path = tmp_path / f"{name}.py"
            path.write_text(text)
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            exec(compile(text, str(path), "exec"), vars(module))
        return module

    return fresh


def digest(kernel: Any, **constants: Any) -> str | None:
    bound = kernel.bind(**constants)
    return kernel_fingerprint(kernel.function, kernel.options, bound.constants)


def test_equal_sources_have_equal_digests(load: Callable[..., Any]) -> None:
    first, second = load(), load()
    assert first is not second and digest(first.example) == digest(second.example) is not None
    assert digest(first.make(3)) == digest(second.make(3)) != digest(second.make(4))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("constant = 11", "constant = 12"),
        ("deep=4", "deep=5"),
        ("FACTOR = 2", "FACTOR = 3"),
        ("FACTOR = 2", "FACTOR = 2.0"),
        ("return [FACTOR]", "return [FACTOR, 1]"),
        ("threads: int = 64", "threads: int = 128"),
        ("other: tuple = (1, 2)", "other: tuple = (1, 3)"),
        ("default_factory=tuple", "default_factory=frozenset"),
        ("self.threads * FACTOR", "self.threads + FACTOR"),
        ("return 1", "return 2"),
        ("return x + FACTOR", "return x - FACTOR"),
        ("x + sum(sizes())", "x - sum(sizes())"),
        ("frozen=True", "frozen=True, order=True"),
    ],
)
def test_other_modules(load: Callable[..., Any], old: str, new: str) -> None:
    """The kernel's own file stays as it is."""
    assert HELPER.count(old) >= 1
    assert digest(load().example) != digest(load(helper=HELPER.replace(old, new)).example) is not None


def set_global(name: str, value: Any) -> Callable[[Any], None]:
    return lambda module: setattr(module, name, value)


CHANGES: dict[str, Callable[[Any], None]] = {
    "number": set_global("SCALE", 3.0),
    "sign of zero": lambda module: set_global("SCALE", -0.0)(module),
    "type of a number": set_global("SCALE", 2),
    "number to truth value": set_global("DEEP", True),
    "inside a list": lambda module: module.TABLE[1].update(a=(2, 4)),
    "order of a dictionary": lambda module: module.TABLE.__setitem__(1, {"b": 0, "a": (2, 3)}),
    "list to tuple": lambda module: setattr(module, "TABLE", tuple(module.TABLE)),
    "array element": lambda module: module.ARRAY.__setitem__(2, 9.0),
    "array type": lambda module: setattr(module, "ARRAY", module.ARRAY.astype(np.float64)),
    "array shape": lambda module: setattr(module, "ARRAY", module.ARRAY.reshape(2, 2)),
    "set": lambda module: module.WORDS.add("z"),
    "enumeration": lambda module: setattr(module, "COLOR", module.Color.BLUE),
    "global of a host function": set_global("SCALE_IN_HOST", 4),
    "global of a memoised function": set_global("OFFSET", 2),
    "default of a host function": lambda module: setattr(module.host, "__defaults__", (2,)),
    "partial": lambda module: setattr(module, "PARTIAL", lambda *_: 1),
    "device function two calls down": set_global("DEEP", 8.0),
    "default of a device function": lambda module: setattr(module.device.function, "__defaults__", (1.25,)),
    "global of the decorator's function": set_global("BLOCKS", 2),
    "decorator's option": lambda module: setattr(module.example, "options", dataclasses.replace(module.example.options, min_blocks=2)),
    "shadowed builtin": set_global("len", lambda _: 3),
    "shadowed module": set_global("math", enum),
}


@pytest.mark.parametrize("change", CHANGES)
def test_values_behind_the_same_text(load: Callable[..., Any], change: str) -> None:
    """All changes are different from one another, too: none is merely noticed."""
    before = digest(load().example)
    module = load()
    CHANGES[change](module)
    assert before is not None and digest(module.example) != before


def test_changes_are_told_apart(load: Callable[..., Any]) -> None:
    found = []
    for change in CHANGES.values():
        module = load()
        change(module)
        found.append(digest(module.example))
    assert None not in [value for name, value in zip(CHANGES, found, strict=True) if name != "shadowed module"]
    assert len(set(found)) == len(found)


def test_compile_time_arguments(load: Callable[..., Any]) -> None:
    module = load()
    config = module.Config(threads=32)
    assert digest(module.example, c=config) != digest(module.example)
    assert digest(module.example, c=module.Config(threads=32)) == digest(module.example, c=config)
    assert config.slow == 1
    assert digest(module.example, c=module.Config(threads=32)) == digest(module.example, c=config), "a cached property changes nothing"


def test_line_numbers_and_file(load: Callable[..., Any]) -> None:
    """They are in the artifact, as source lines and line information."""
    assert digest(load().plain) != digest(load(kernel="\n" + KERNEL).plain)


@pytest.mark.parametrize(
    "expression",
    [
        "len(open(__file__).read())",
        "getattr(helper, 'const' + 'ant')",
        "eval('1')",
        "os.getpid()",
        "time.time()",
        "random.random()",
        "float(np.random.rand())",
        "opaque.value",
        "reads(helper)",
        "globals()['SCALE']",
        "id(SCALE)",
    ],
)
@pytest.mark.parametrize("where", ["kernel", "host"])
def test_what_cannot_be_told_is_left_to_the_ir(load: Callable[..., Any], expression: str, where: str) -> None:
    text = (
        KERNEL + "class Opaque:\n    __slots__ = ()\n    value = 3\n\nopaque = Opaque()\n\ndef reads(module):\n    return module.constant\n"
    )
    if where == "kernel":
        text = text.replace("] = 1.0", f"] = {expression}")
    else:
        text = text.replace("] = 1.0", "] = computed()") + f"\ndef computed():\n    return {expression}\n"
    assert digest(load(kernel=text).plain) is None


PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
import kernels_of_test as kernels
artifact = kernels.{kernel}.compile()
from fa4dsl.runtime.cache import default_cache
cache = default_cache()
print(json.dumps([cache.hits, cache.misses, "mlir" in sys.modules, len(artifact.ptx)]))
"""


@pytest.mark.parametrize(("kernel", "by_source"), [("plain", True), ("dynamic", False)])
def test_two_processes_compile_once(load: Callable[..., Any], tmp_path: Path, cache_directory: Path, kernel: str, by_source: bool) -> None:
    """At the same time, and then a third, which imports MLIR only where the source does not tell all."""
    dynamic = "\n@kernel(threads=32)\ndef dynamic(x: Pointer[f32]):\n    x[thread.index()] = getattr(helper, 'constant')\n"
    module = load(kernel=KERNEL + dynamic)
    assert (digest(getattr(module, kernel)) is not None) == by_source
    program = PROGRAM.format(folder=str(tmp_path), kernel=kernel)
    environment = {**os.environ, "FA4DSL_CACHE_DIR": str(cache_directory), "PYTHONDONTWRITEBYTECODE": "1"}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment)

    both = [json.loads(process.communicate(timeout=120)[0]) for process in [start(), start()]]
    assert sorted(result[:2] for result in both) == [[0, 1], [1, 0]]
    third = json.loads(start().communicate(timeout=120)[0])
    assert third[:3] == [1, 0, not by_source] and third[3] == both[0][3]
