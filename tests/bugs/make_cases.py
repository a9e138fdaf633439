"""Compiles cases/*.cu and extra/*.cu to PTX, twice each: NAME.fault.ptx with -DFAULT, and NAME.twin.ptx. Needs nvcc; the PTX is committed, so the tests do not.

python tests/bugs/make_cases.py [NAME ...]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).parent / "cases"
EXTRA = Path(__file__).parent / "extra"


def compile_case(source: Path, fault: bool) -> None:
    target = source.with_suffix(".fault.ptx" if fault else ".twin.ptx")
    options = ["-DFAULT"] if fault else []
    subprocess.run(["nvcc", "-ptx", "-arch=compute_90a", "-lineinfo", "-O3", *options, str(source), "-o", str(target)], check=True)
    text = target.read_text(encoding="utf-8")
    # Only file names: the path of this machine is nobody's business.
    text = re.sub(r'(\.file\s+\d+\s+)"[^"]*/([^"/]+)"', r'\1"\2"', text)
    target.write_text(text, encoding="utf-8")


def main(names: list[str]) -> None:
    for source in sorted([*CASES.glob("*.cu"), *EXTRA.glob("*.cu")]):
        if not names or source.stem in names:
            if not source.name.startswith("ok_"):  # correct kernels that are easy to flag by mistake have no fault
                compile_case(source, True)
            compile_case(source, False)


if __name__ == "__main__":
    main(sys.argv[1:])
