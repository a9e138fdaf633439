"""The way to the CUDA driver: imported and initialised on first use, every status turned into a catalogued error.

Importing this module, or anything in fa4dsl, loads no driver and makes no context.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.cuda.library import Library
from fa4dsl.runtime.cuda.native_part import native
from fa4dsl.runtime.diagnostics import Frame, fail

if TYPE_CHECKING:
    from fa4dsl.runtime.cuda.launch import LaunchWords

STICKY = frozenset({700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999})
"""Statuses after which the context is lost: a kernel faulted some time before. Illegal address, launch timeout, destroyed context, device assert,
hardware stack error, illegal instruction, misaligned address, wrong address space, bad program counter, launch failure, cluster fault, unknown."""


class _State:
    """What belongs to one process."""

    library: Library | None = None
    process: int = 0
    forked_from: int = 0
    lock = threading.Lock()


_state = _State()


class _Recent:
    """The launches since a synchronisation went well: a later fault is theirs.

    Each is a launch's words (`launch.LaunchWords`) and its (stream, packed values...); neither array nor kernel is held. Launches repeated with the very same
    values stand once.
    """

    last: Any = None
    """The values noted last; compared by identity."""
    launches: deque[tuple[LaunchWords, tuple[Any, ...]]] = deque(maxlen=16)

    def note(self, told: LaunchWords, values: tuple[Any, ...]) -> None:
        self.last = values
        self.launches.append((told, values))

    def clear(self) -> None:
        self.last = None
        self.launches.clear()

    def synchronized(self, stream: int) -> None:
        """Launches in other streams may still fail."""
        kept = [item for item in list(self.launches) if item[1][0] != stream]
        self.clear()
        self.launches.extend(kept)

    def places(self) -> list[Frame]:
        """Where the kernels of these launches are defined, the last one first."""
        found = [prepared.manifest.place for prepared, _ in reversed(self.launches)]
        return list(dict.fromkeys(place for place in found if place is not None))

    def describe(self) -> str:
        return "; ".join(told.describe(values[1:]) for told, values in self.launches) or "none by fa4dsl"


recent = _Recent()


def driver() -> Library:
    """The driver's functions and constants by the names of `cuda.bindings.driver`, initialised in this process. Raises R070 to R074."""
    if _state.library is not None and _state.process == os.getpid():
        return _state.library
    with _state.lock:
        if _state.forked_from:
            fail("R074", parent=_state.forked_from)
        if _state.library is None:
            _state.library = _initialise()
            _state.process = os.getpid()
    return _state.library


def _initialise() -> Library:
    library = Library()
    (code,) = library.cuInit(0)
    if code == 100:
        fail("R071")
    if code == 3:
        # The driver itself was initialised, by another library, before this process was forked.
        fail("R074", parent=os.getppid())
    if code:
        fail("R070", reason=f"cuInit failed with status {code}")
    return library


def _after_fork() -> None:
    """In a forked child whose parent used CUDA: the first use says so instead of hanging in the driver."""
    _state.lock = threading.Lock()
    if _state.library is not None:
        _state.forked_from = _state.process
        _state.library = None
        entry.launch = _refuse_after_fork
        if native is not None:
            native.set_launch_function(0)
        recent.clear()


def _refuse_after_fork(*_: Any) -> int:
    fail("R074", parent=_state.forked_from)


class _Entry:
    """The driver's launch function itself, called through ctypes: the config and the argument buffer are prepared memory, so a call passes four numbers."""

    launch: Any = None


entry = _Entry()


def raw_launch() -> Any:
    """`cuLaunchKernelEx(config, function, parameters, None) -> status`, with arguments that `pack.pointer_to` made."""
    if entry.launch is None:
        # A function object of its own: one that CDLL keeps would be shared with whoever sets its types.
        function = driver().exported["cuLaunchKernelEx"]
        function.restype = ctypes.c_int
        # No argtypes: what the callers pass needs no conversion.
        entry.launch = function
        if native is not None:
            native.set_launch_function(ctypes.cast(function, ctypes.c_void_p).value or 0)
    return entry.launch


os.register_at_fork(after_in_child=_after_fork)


def status_text(code: int) -> tuple[str, str]:
    """A status' name and the driver's words for it."""
    bindings = driver()
    try:
        status = bindings.CUresult(code)
    except ValueError:
        return f"status {code}", "unknown to these bindings"
    _, name = bindings.cuGetErrorName(status)
    _, text = bindings.cuGetErrorString(status)
    return (name or b"?").decode(), (text or b"?").decode()


def call(function: str, *arguments: Any) -> Any:
    """Calls a driver function by name and returns what follows its status: nothing, one value, or a tuple. Raises R075 or R076."""
    status, *values = getattr(driver(), function)(*arguments)
    if int(status):
        raise_status(function, int(status))
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def raise_status(function: str, code: int) -> None:
    """Turns a failed status into R075 (a kernel faulted before) or R076."""
    if code in STICKY:
        raise_fault(code)
    name, text = status_text(code)
    fail("R076", call=function, status=name, text=text)


def raise_fault(code: int) -> None:
    """R075 with the launches that can have caused it."""
    name, text = status_text(code)
    fail("R075", *recent.places(), status=name, text=text, launches=recent.describe())


def synchronize(stream: int = 0) -> None:
    """Waits for a stream. Raises R075, naming the kernels launched since the last good call, if one of them failed."""
    status = int(driver().cuStreamSynchronize(stream)[0])
    if status:
        raise_status("cuStreamSynchronize", status)
    recent.synchronized(stream)
