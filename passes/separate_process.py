"""Runs a command-line tool's work in a forked process, so that MLIR ending over hand-written IR ends that process only."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable


def guarded(work: Callable[[], int], ended: Callable[[str], int]) -> int:
    """The exit status of `work`, run in a child process; `ended` makes one of the reason if the process is killed by a signal.

    Forks, so it must be called before MLIR (and its threads) are loaded; where that is too late, the system cannot fork, or the output
    does not go to the process' own, `work` runs here.
    """
    alone = threading.active_count() == 1 and sys.stdout is sys.__stdout__
    if not hasattr(os, "fork") or "mlir.ir" in sys.modules or not alone:
        return work()
    from fa4dsl.passes.code_generation import reason_of

    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            _finish(work, errors.fileno())
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGINT:
        return ended(reason_of(text, -os.WTERMSIG(status)))
    sys.stderr.write(text)
    return os.waitstatus_to_exitcode(status)


def _finish(work: Callable[[], int], errors: int) -> None:
    """What the forked process does: never returns."""
    status = 70
    try:
        os.dup2(errors, 2)
        status = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # whatever it is, it must not go on in a second copy of the parent
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)
