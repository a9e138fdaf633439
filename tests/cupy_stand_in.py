"""A stand-in for as much of cupy as the catalogue's examples use; its memory is the host's, its streams are the driver's."""

from __future__ import annotations

import sys
from typing import Any

import framework_stand_ins
import numpy as np


class Stream:
    """A stream that ends with its object, as cupy's do."""

    def __init__(self, non_blocking: bool = False) -> None:
        from cuda.bindings import driver

        self._driver = driver
        self._stream = driver.cuStreamCreate(int(non_blocking))[1]

    @property
    def ptr(self) -> int:
        return int(self._stream)

    def begin_capture(self) -> None:
        self._driver.cuStreamBeginCapture(self._stream, self._driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)

    def end_capture(self) -> Any:
        return self._driver.cuStreamEndCapture(self._stream)[1]

    def synchronize(self) -> None:
        self._driver.cuStreamSynchronize(self._stream)

    def __del__(self) -> None:
        self._driver.cuStreamDestroy(self._stream)


def ones(size: int, dtype: str) -> Any:
    return framework_stand_ins.NdArray((size,), np.dtype(dtype).name)


def install() -> None:
    """Puts it into `sys.modules`."""
    others = sys.modules.get("torch")
    framework_stand_ins.install()
    cupy: Any = sys.modules["cupy"]
    cupy.ones, cupy.float32, cupy.cuda.Stream = ones, np.float32, Stream
    # Only cupy was asked for.
    del sys.modules["torch"]
    if others is not None:
        sys.modules["torch"] = others
