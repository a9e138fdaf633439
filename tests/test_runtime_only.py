"""The ground floor works where MLIR is not installed: everything in it can be imported with the compiler's imports refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap

REFUSE = """
    import sys

    class Refuse:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in ("mlir", "torch", "cupy", "click", "rich") or name in ("fa4dsl.passes", "fa4dsl.frontend", "fa4dsl.language"):
                raise ModuleNotFoundError(f"{name} is not installed here", name=name)

    sys.meta_path.insert(0, Refuse())
"""


def run_without_compiler(program: str, *arguments: str) -> str:
    """Runs a program in a process where neither MLIR nor what is above the runtime can be imported; gives its output."""
    text = textwrap.dedent(REFUSE) + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_runtime_module_imports() -> None:
    printed = run_without_compiler(
        """
        import importlib, pkgutil
        import fa4dsl.runtime
        for module in pkgutil.walk_packages(fa4dsl.runtime.__path__, "fa4dsl.runtime."):
            importlib.import_module(module.name)
        from fa4dsl.runtime.diagnostics import CATALOGUE
        print(len(CATALOGUE), "mlir" in sys.modules)
        """
    )
    count, loaded = printed.split()
    assert int(count) > 0 and loaded == "False"


def test_the_refusal_refuses() -> None:
    program = "try:\n    import fa4dsl.passes\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    assert run_without_compiler(program).strip() == "fa4dsl.passes"
