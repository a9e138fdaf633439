"""Giving back a GPU's memory for kernels' code. Nothing is unloaded by itself: a CUDA graph may hold a launch, and nobody can ask it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fa4dsl.runtime.cuda.device import current_context
from fa4dsl.runtime.cuda.driver import call, driver, raise_status
from fa4dsl.runtime.cuda.kernel import loading, without_artifact
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.cuda.kernel import LoadedKernel

SECONDS = 10.0
"""To wait for another thread that is inside the driver with a launch of the kernel."""
CAPTURING = range(900, 910)
"""CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and its like."""


def unload(artifact: Artifact) -> int:
    """Unloads a kernel from every GPU where this process has loaded it; see `Artifact.unload`. Returns how many modules. Raises R075, R076, R102."""
    with loading:
        kernels = list(artifact._kernels.values())
        artifact._kernels.clear()
        artifact._launchers.clear()
        # What fails stays loaded, and is tried again with what has been collected.
        without_artifact.extend(kernels)
        for kernel in kernels:
            _release(kernel)
            without_artifact.remove(kernel)
    return len(kernels)


def unload_collected() -> int:
    """Unloads the kernels whose artifacts, kernels and launchers have all been collected as garbage; returns how many modules.

    Waits for the GPUs. No CUDA graph that launches one of them may be replayed afterwards. Raises R075, R076, R102.
    """
    count = 0
    with loading:
        while without_artifact:
            _release(without_artifact[-1])
            without_artifact.pop()
            count += 1
    return count


def _release(kernel: LoadedKernel) -> None:
    if kernel.process != os.getpid():
        return  # a forked child: the module is its parent's
    if not all(prepared.retire(SECONDS) for prepared in list(kernel.launches)):
        fail(
            "R102", kernel.manifest.place, kernel=kernel.manifest.name, problem=f"another thread has been launching it for {SECONDS:.0f} s"
        )
    with current_context(kernel.gpu):
        status = int(driver().cuCtxSynchronize()[0])
        if status in CAPTURING:
            fail("R102", kernel.manifest.place, kernel=kernel.manifest.name, problem="a stream is being captured into a graph")
        if status:
            raise_status("cuCtxSynchronize", status)
        call("cuModuleUnload", kernel.module)
