"""The memory through which a running kernel tells what it waits for: the host's own, mapped into the GPU's addresses."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.cuda.driver import call, driver
from fa4dsl.runtime.wait_records import LiveRecords, words_needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fa4dsl.runtime.launch import Extents
    from fa4dsl.runtime.manifest import Manifest

PORTABLE_AND_MAPPED = 1 | 2
DISABLE_TIMING = 2


class WaitBuffer:
    """Zeroed, page-locked memory for one launch; a context must be current. The kernel may write into it as long as it runs.

    Freeing page-locked memory waits for the GPU, for ever behind a kernel that hangs. So it is freed when a later launch of this kind finds that an event
    behind the launch has passed and that nobody can read the records any more; the buffer of a captured launch never is, for a graph may replay it.
    Raises R100.
    """

    def __init__(self, manifest: Manifest, grid: Extents) -> None:
        words = words_needed(manifest, grid)
        with _relaxed_capture():
            _sweep()
            host = int(call("cuMemHostAlloc", words * 4, PORTABLE_AND_MAPPED))
        ctypes.memset(host, 0, words * 4)
        self._host = host
        self.address = int(call("cuMemHostGetDevicePointer", host, 0))
        self._words = (ctypes.c_uint32 * words).from_address(host)
        self._event: Any = None
        live = LiveRecords(manifest, grid, lambda words=self._words: np.array(words, np.uint32), hardware=True)  # type: ignore[misc]
        self.live: LiveRecords | None = live
        self._reader = weakref.ref(live)
        with _guard:
            _in_use.append(self)

    def launched(self, stream: int) -> LiveRecords:
        """Marks the launch's end in its stream, and hands the records to their reader."""
        with _relaxed_capture():
            event = call("cuEventCreate", DISABLE_TIMING)
        call("cuEventRecord", event, stream)
        self._event = event
        live, self.live = self.live, None
        assert live is not None
        return live

    def freed(self) -> bool:
        """Frees the memory where that is safe, and tells whether it did."""
        if self.live is not None or self._reader() is not None or self._event is None or int(driver().cuEventQuery(self._event)[0]):
            return False
        driver().cuMemFreeHost(self._host)
        driver().cuEventDestroy(self._event)
        return True


_in_use: list[WaitBuffer] = []
_guard = threading.Lock()


def _sweep() -> None:
    with _guard:
        _in_use[:] = [buffer for buffer in _in_use if not buffer.freed()]


@contextlib.contextmanager
def _relaxed_capture() -> Iterator[None]:
    """Allocating, freeing and asking about an event belong to no stream: they are let through while a stream of this thread is being captured."""
    mode = call("cuThreadExchangeStreamCaptureMode", driver().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    try:
        yield
    finally:
        call("cuThreadExchangeStreamCaptureMode", mode)
