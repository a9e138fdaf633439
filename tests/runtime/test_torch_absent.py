"""Without torch, fa4dsl.torch says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_torch_is_missing(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    program = "try:\n    import fa4dsl.torch\nexcept Exception as error:\n    print(error)\n"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert "R095" in done.stdout and "no torch here" in done.stdout, done.stdout + done.stderr
