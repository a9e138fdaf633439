"""The shape of the source: imports point down, modules stay small, nothing is left open, every code has its words and its test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from fa4dsl.runtime.diagnostics import CATALOGUE

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"fa4dsl": "fa4dsl", "passes": "fa4dsl.passes", "runtime": "fa4dsl.runtime"}
MODULE_LIMIT = 25_000
CODE = re.compile(r"[LCRS]\d{3}")
WORDS_LEFT_OPEN = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|NotImplemented" + r"Error)\b")
# Spelt in pieces, so that this file does not hold what it looks for.
MACHINE_PATHS = re.compile("|".join(["/wor" + "k/", "/far" + "m/", "/tmp/res" + "earch", "/root" + "/", "/hom" + "e/"]))


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def module_name(path: Path) -> str:
    folder, *rest = path.relative_to(ROOT).with_suffix("").parts
    parts = [FLOORS[folder], *rest]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Every module that a file imports anywhere, also by name through `import_module`."""
    found: set[str] = set()
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            found.update(argument.value for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str))
    return found


def reaches(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


ALL = sources(*FLOORS)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_imports_point_down(path: Path) -> None:
    allowed = {"fa4dsl": ("fa4dsl",), "passes": ("fa4dsl.passes", "fa4dsl.runtime"), "runtime": ("fa4dsl.runtime",)}
    floor = path.relative_to(ROOT).parts[0]
    own = {module for module in imports(path) if reaches(module, "fa4dsl")} - {"fa4dsl"}
    upward = {module for module in own if not any(reaches(module, package) for package in allowed[floor])}
    assert not upward, f"{name(path)} imports from a floor above it: {sorted(upward)}"
    assert not any(module.split(".")[0] in ("passes", "runtime") for module in imports(path)), "import through fa4dsl, not by folder name"


@pytest.mark.parametrize("path", sources("runtime"), ids=name)
def test_runtime_does_not_know_mlir(path: Path) -> None:
    assert not {module for module in imports(path) if reaches(module, "mlir")}


@pytest.mark.parametrize("path", [*ALL, *sources("tests")], ids=name)
def test_modules_are_small(path: Path) -> None:
    assert path.stat().st_size <= MODULE_LIMIT


@pytest.mark.parametrize("path", ALL, ids=name)
def test_nothing_is_left_open(path: Path) -> None:
    assert not WORDS_LEFT_OPEN.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ALL, ids=name)
def test_modules_say_what_they_are(path: Path) -> None:
    assert ast.get_docstring(tree(path)), f"{name(path)} has no docstring"


def test_every_folder_of_modules_is_a_package() -> None:
    """Packages are found by their `__init__.py`; a folder without one would be missing from the wheel."""
    bare = {name(path.parent) for path in ALL if not (path.parent / "__init__.py").exists()}
    assert not bare


def test_setup_names_every_package() -> None:
    program = (
        "import setuptools, runpy; setuptools.setup = lambda **words: print(*words['packages'], sep='\\n'); runpy.run_path('setup.py')"
    )
    printed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert set(printed) == {module_name(path) for path in ALL if path.name == "__init__.py"}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / line for line in listed.stdout.split("\0") if line and (ROOT / line).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not any(part.startswith(".") or part == "build" for part in path.parts)]


def test_no_machine_paths() -> None:
    leaks = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" in data[:4096]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATHS.search(line):
                leaks.append(f"{name(path)}:{number}: {line.strip()[:100]}")
    assert not leaks, "\n".join(leaks)


def test_import_is_light() -> None:
    """`import fa4dsl` compiles nothing and loads no compiler, driver or framework. The bound is generous: CI machines are slow."""
    program = "import time; t = time.perf_counter(); import fa4dsl; t = time.perf_counter() - t; import sys; print(t, *sys.modules)"
    seconds, *modules = min(
        (subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split() for _ in range(3)),
        key=lambda words: float(words[0]),
    )
    heavy = {"mlir", "cuda", "torch", "cupy", "rich", "hypothesis"} & {module.split(".")[0] for module in modules}
    assert not heavy
    assert float(seconds) < 0.5


def test_command_line_starts_fast() -> None:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "fa4dsl", "--version"], capture_output=True, check=True)
    assert time.perf_counter() - start < 15


# --- the catalogue


def codes_in(path: Path) -> set[str]:
    """Codes that a file can raise: text constants, but not the keys of tables about codes."""
    keys = {id(key) for node in ast.walk(tree(path)) if isinstance(node, ast.Dict) for key in node.keys}
    constants = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant) and id(node) not in keys)
    return {node.value for node in constants if isinstance(node.value, str) and CODE.fullmatch(node.value)}


def raising_sources() -> list[Path]:
    return [path for path in ALL if "catalogue" not in path.parts]


@pytest.mark.parametrize("path", raising_sources(), ids=name)
def test_codes_are_in_the_catalogue(path: Path) -> None:
    assert codes_in(path) <= set(CATALOGUE)


@cache
def raised_codes() -> frozenset[str]:
    return frozenset().union(*(codes_in(path) for path in raising_sources()))


@cache
def codes_with_tests() -> frozenset[str]:
    """Codes that a test names. Examples in the catalogue count: `tests/docs/test_codes.py` runs each and asserts its code."""
    texts = [path.read_text(encoding="utf-8") for pattern in ("*.py", "*.mlir", "*.json") for path in (ROOT / "tests").rglob(pattern)]
    return frozenset(CODE.findall("\n".join(texts))) | {code for code, entry in CATALOGUE.items() if entry.failing}


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_code_is_raised_and_tested(code: str) -> None:
    assert code in raised_codes(), f"nothing raises {code}"
    assert code in codes_with_tests(), f"no test names {code}"


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_entry_is_complete(code: str) -> None:
    entry = CATALOGUE[code]
    assert CODE.fullmatch(code)
    for words in (entry.title, entry.message, entry.mend, entry.explanation):
        assert words.strip(), f"{code} has an empty field"
    assert not entry.title.endswith("."), "a title is a headline"
    assert len(entry.explanation) > 40, "the explanation says why it is wrong, and by which rule"
    assert bool(entry.failing) >= bool(entry.fixed), "a fixed example mends a failing one"


def test_every_floor_has_its_letter() -> None:
    for letter, floor in (("L", "language"), ("C", "compiler"), ("R", "runtime"), ("S", "simulator")):
        module = __import__(f"fa4dsl.runtime.diagnostics.catalogue.{floor}", fromlist=["ENTRIES"])
        assert all(entry.code.startswith(letter) for entry in module.ENTRIES)
