"""The package's version, as its installed metadata has it."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """ "0.1.0"; "unknown" where the package runs from a bare source tree."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as metadata_version

    try:
        return metadata_version("fa4dsl")
    except PackageNotFoundError:
        return "unknown"
