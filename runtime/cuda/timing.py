"""The GPU's own time of calls, by events in the stream; what autotuning measures with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.cuda.driver import call, driver, synchronize
from fa4dsl.runtime.cuda.stream import handle_of

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds_per_call(action: Callable[[], Any], *, calls: int = 10, warmup: int = 1, stream: Any = 0, device: int | None = None) -> float:
    """Mean seconds of one call of `action`, which launches into `stream` (any framework's, or a handle) on a GPU (by default the current one).

    Calls that take the GPU less time than the host are host-bound: for those capture `calls` of them into a graph and pass its replay. Raises R075
    if a kernel failed.
    """
    handle = handle_of(stream)
    where = gpu(device)
    for _ in range(warmup):
        action()
    with current_context(where):
        before, after = call("cuEventCreate", 0), call("cuEventCreate", 0)
    try:
        with current_context(where):
            call("cuEventRecord", before, handle)
        for _ in range(calls):
            action()
        with current_context(where):
            call("cuEventRecord", after, handle)
            synchronize(handle)
            return float(call("cuEventElapsedTime", before, after)) / 1000 / calls
    finally:
        driver().cuEventDestroy(before)
        driver().cuEventDestroy(after)
