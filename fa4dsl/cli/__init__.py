"""The command line: one module for each command, imported when that command runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its status."""
    from fa4dsl.cli.app import invoke

    sys.exit(invoke(arguments))
