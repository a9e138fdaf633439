"""Examples of the diagnostics of debugging and releasing kernels: what a user writes."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_KERNEL = """import numpy as np

from fa4dsl import Pointer, block, f32, kernel, thread


@kernel(threads={threads}{options})
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * {threads} + thread.index()
    block.sync()
    if i < 128:
        x[i] = x[i] * factor


x = np.ones(128, np.float32)
"""


def _script(body: str, threads: int = 128, options: str = "") -> str:
    return _KERNEL.format(threads=threads, options=options) + body


_DEBUG = ", debug_waits=True"

_UNLOAD = """import cupy

from fa4dsl import Pointer, block, f32, kernel, thread


@kernel(threads=128)
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * 128 + thread.index()
    x[i] = x[i] * factor


x = cupy.ones(256, cupy.float32)
scale[2](x, 2.0)
stream = cupy.cuda.Stream(non_blocking=True)
{unloaded_before}stream.begin_capture()
scale[2](x, 2.0, stream=stream)
{unloaded_within}graph = stream.end_capture()
"""

EXAMPLES: Examples = {
    "R100": (
        _script("scale.launch(1 << 20, (x, 2.0))\n", 1024, _DEBUG),
        _script("scale.launch(1, (x, 2.0))\n", 1024, _DEBUG),
    ),
    "R101": (
        _script("print(scale.launch(1, (x, 2.0)).dump_waits())\n"),
        _script("print(scale.with_options(debug_waits=True).launch(1, (x, 2.0)).dump_waits())\n"),
    ),
    "R102": (
        _UNLOAD.format(unloaded_before="", unloaded_within="scale.compile().unload()\n"),
        _UNLOAD.format(unloaded_before="scale.compile().unload()\n", unloaded_within=""),
    ),
}
