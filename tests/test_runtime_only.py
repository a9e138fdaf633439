"""The ground floor works where MLIR is not installed: everything in it can be imported with the compiler's imports refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

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


def test_an_artifact_is_loaded_launched_and_checked(tmp_path: Path) -> None:
    """What a machine without a compiler does with a file that another machine compiled."""
    file = tmp_path / "cluster_sum.fa4"
    compiled = subprocess.run(
        [sys.executable, "-m", "fa4dsl", "compile", f"{ROOT / 'examples' / 'cluster_sum.py'}:cluster_sum", "-o", str(file)],
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    printed = run_without_compiler(
        """
        import numpy as np
        from fa4dsl.runtime import load
        from fa4dsl.runtime.launch import launch
        x, total = np.ones((8, 512), np.float32), np.zeros((2, 512), np.float32)
        result = launch(load(sys.argv[1]), 8, (x, total), device="simulator")
        print(total.min(), total.max(), result.report.verdict, "mlir" in sys.modules)
        """,
        str(file),
    )
    assert printed.split() == ["4.0", "4.0", "clean", "False"]


def test_foreign_ptx_is_simulated() -> None:
    printed = run_without_compiler(
        """
        from pathlib import Path
        from fa4dsl.runtime.simulator.launch import load_launch
        from fa4dsl.runtime.simulator.run import simulate
        folder = Path(sys.argv[1])
        for case in ("fault", "twin"):
            print(simulate((folder / f"{case}.ptx").read_text(), load_launch(folder / f"{case}.launch.json")).verdict)
        """,
        str(ROOT / "tests" / "bugs" / "corpus" / "b12_peer_exited"),
    )
    assert printed.split() == ["error", "clean"]
