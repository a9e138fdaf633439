"""`python -m fa4dsl.passes.opt PIPELINE [FILE]`: runs a pass pipeline on MLIR text, as lit tests and people at a terminal need it.

Errors go to the standard error as the catalogue renders them, with exit status 1; `--expect-error` turns that round, for
tests: the diagnostics are printed to the standard output and the status is 0 (1 where nothing was reported).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fa4dsl.runtime.diagnostics import Fa4dslError, fail


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fa4dsl.passes.opt", description="Runs a pass pipeline on MLIR text.")
    parser.add_argument("pipeline", help='passes parted by commas, such as "place-shared-memory,lower-fa4,fa4-to-llvm,emit-ptx"')
    parser.add_argument("file", nargs="?", default="-", help="MLIR or LLVM IR; - is the standard input")
    parser.add_argument("--locations", action="store_true", help="print source locations")
    parser.add_argument("--expect-error", action="store_true", help="succeed only where an error is reported")
    given = parser.parse_args(arguments)
    try:
        print(_run(given.pipeline, given.file, given.locations))
    except Fa4dslError as error:
        print(error, file=sys.stdout if given.expect_error else sys.stderr)
        return 0 if given.expect_error else 1
    return 1 if given.expect_error else 0


def _run(pipeline: str, file: str, locations: bool) -> str:
    from fa4dsl.passes.pipeline import run_pipeline

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        fail("C060", file=file, reason=str(error))
    return run_pipeline(text, pipeline, file, locations)


if __name__ == "__main__":
    sys.exit(main())
