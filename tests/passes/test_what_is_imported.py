"""A compilation imports what it uses and no more: imports are a third of a cold compile's time."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from fa4dsl.cli import main
try:
    main(["compile", "splitk-combine", "-o", sys.argv[1]])
except SystemExit as end:
    assert not end.code, end.code
unwanted = ("mlir.dialects", "rich", "cuda", "torch", "hypothesis", "fa4dsl.runtime.simulator")
print([name for name in sys.modules if name.startswith(unwanted)])
"""


def test_a_compilation_imports_no_dialect_classes_and_no_terminal(tmp_path: object) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, f"{tmp_path}/out.ptx"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
