"""`python -m fa4dsl.passes.opt PIPELINE [FILE]`: runs a pass pipeline on MLIR text, as lit tests and people at a terminal need it.

Errors go to the standard error as the catalogue renders them, with exit status 1; `--expect-error` turns that round, for
tests: the diagnostics are printed to the standard output and the status is 0 (1 where nothing was reported). With
`--split-input`, lines of "// -----" part the file into modules that are taken one by one; line numbers stay those of the file.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from fa4dsl.passes.separate_process import guarded
from fa4dsl.runtime.diagnostics import Fa4dslError, diagnostic


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fa4dsl.passes.opt", description="Runs a pass pipeline on MLIR text.")
    parser.add_argument("pipeline", help='passes parted by commas, such as "place-shared-memory,lower-fa4,fa4-to-llvm,emit-ptx"')
    parser.add_argument("file", nargs="?", default="-", help="MLIR or LLVM IR; - is the standard input")
    parser.add_argument("--locations", action="store_true", help="print source locations")
    parser.add_argument("--expect-error", action="store_true", help="succeed only where an error is reported")
    parser.add_argument("--split-input", action="store_true", help='take the modules between lines of "// -----" one by one')
    given = parser.parse_intermixed_args(arguments)
    try:
        text = read_source(given.file)
    except Fa4dslError as error:
        print(error, file=sys.stderr)
        return 1
    status = 0

    def ended(reason: str) -> int:
        print(diagnostic("C024", operations=given.file, reason=reason), file=sys.stdout if given.expect_error else sys.stderr)
        return 0 if given.expect_error else 1

    for part in split_input(text) if given.split_input else [text]:
        work = partial(_run, given.pipeline, part, given.file, given.locations, given.expect_error)
        status = max(status, guarded(work, ended))
    return status


def split_input(text: str) -> list[str]:
    """The modules between lines of "// -----", each behind as many empty lines as stand before it."""
    parts: list[list[str]] = [[]]
    for number, line in enumerate(text.split("\n")):
        if line.strip() == "// -----":
            parts.append([""] * (number + 1))
        else:
            parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def read_source(file: str) -> str:
    """The text of a file, or of the standard input for "-". Raises C060."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Fa4dslError(diagnostic("C060", file=file, reason=str(error))) from None


def _run(pipeline: str, text: str, file: str, locations: bool, expect_error: bool) -> int:
    from fa4dsl.passes.pipeline import run_pipeline

    try:
        print(run_pipeline(text, pipeline, file, locations))
    except Fa4dslError as error:
        print(error, file=sys.stdout if expect_error else sys.stderr)
        return 0 if expect_error else 1
    return 1 if expect_error else 0


if __name__ == "__main__":
    sys.exit(main())
