"""A launch that is waited for, with its time, and a limit after which it counts as hung."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.cuda.driver import call, driver, raise_status, synchronize
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.cuda.launch import PreparedLaunch
    from fa4dsl.runtime.wait_records import LiveRecords

NOT_READY = 600


def timed_launch(
    prepared: PreparedLaunch, stream: int, values: Sequence[Any], limit: float | None, waiting: LiveRecords | None = None
) -> float:
    """Launches between two events, waits for the second and returns the seconds between them.

    With a `limit` in seconds, R077 tells a kernel that has not ended by then from one whose turn has not come, because work ahead of it in the stream
    is not done. A kernel that records its waits (`waiting`) then says who waits for what. The waiting thread sleeps, so other threads go on. Raises R074
    to R080.
    """
    before, after = call("cuEventCreate", 0), call("cuEventCreate", 0)
    hung = False
    try:
        call("cuEventRecord", before, stream)
        prepared.launch_values(stream, values)
        call("cuEventRecord", after, stream)
        if limit is not None and not _done_within(after, limit):
            hung = True
            began = _done(before)
            state = "it has begun" if began else "it has not begun: earlier work in the stream is not done"
            name = prepared.manifest.name
            fail(
                "R077",
                prepared.manifest.place,
                kernel=name,
                seconds=limit,
                state=state,
                arguments=prepared.told.describe(values),
                notes=(_barriers(prepared) if waiting is None else ("it waits as follows:", *waiting.lines())) if began else (),
            )
        synchronize(stream)
        return float(call("cuEventElapsedTime", before, after)) / 1000
    finally:
        if not hung:
            driver().cuEventDestroy(before)
            driver().cuEventDestroy(after)


def _barriers(prepared: PreparedLaunch) -> tuple[str, ...]:
    """What the kernel can be waiting for. The words themselves lie in the SMs, out of the host's reach; a kernel compiled with `debug_waits` tells them, and
    the simulator shows them."""
    barriers = [item for item in prepared.manifest.shared if item.kind == "mbarrier"]
    return tuple(
        f"it may wait on mbarrier {item.name} ({item.arrivals} arrivals a phase, {item.scope} scope)"
        + (f", {item.file}:{item.line}" if item.file else "")
        for item in barriers
    )


def _done(event: Any) -> bool:
    status = int(driver().cuEventQuery(event)[0])
    if status not in (0, NOT_READY):
        raise_status("cuEventQuery", status)
    return status == 0


def _done_within(event: Any, limit: float) -> bool:
    end = time.monotonic() + limit
    pause = 20e-6
    while not _done(event):
        now = time.monotonic()
        if now >= end:
            return False
        time.sleep(min(pause, end - now))
        # Short kernels are seen at once, long waits cost little.
        pause = min(pause * 1.5, 0.01)
    return True
