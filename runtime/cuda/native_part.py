"""The package's C part (`native/launch.c`), or None: it is left out where no C compiler was there at installation, and launches go through Python functions then."""

from __future__ import annotations

try:
    from fa4dsl.runtime.cuda import _native as native
except ImportError:
    native = None  # type: ignore[assignment]

__all__ = ["native"]
