"""Host time per launch of a 3-argument kernel: fa4dsl beside cuda-core's bare launch, Triton and a torch operator, in one run.

    python benchmarks/launch_overhead.py [--artifact K.fa4] [--json]

Needs a GPU, torch and cuda-core; Triton, cupy are measured where they are installed. Each figure is the median of many batches; the GPU is waited for
between batches, outside the time, so that a full launch queue is not measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

BATCH = 300
BATCHES = 60

PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<8>;
ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; ld.param.u32 %r4, [p2];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r0, %r2, %r3, %r1;
setp.ge.u32 %p1, %r0, %r4; @%p1 ret;
mul.wide.u32 %d3, %r0, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, %f1; st.global.f32 [%d2], %f1; ret;
}
.visible .entry mapped(.param .align 64 .b8 p0[128], .param .align 64 .b8 p1[128], .param .u64 p2, .param .u32 p3)
{
ret;
}
"""


def per_launch(launch: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Median microseconds of one call."""
    for _ in range(BATCH):
        launch()
    wait()
    times = []
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(BATCH):
            launch()
        times.append((time.perf_counter() - start) / BATCH * 1e6)
        wait()
    return statistics.median(times)


def ours() -> tuple[Any, Any]:
    from fa4dsl.runtime import Artifact, Manifest
    from fa4dsl.runtime.manifest import Parameter, TensorMapTemplate

    pointers = (Parameter("x", "pointer", "f32", access="in"), Parameter("out", "pointer", "f32"))
    plain = Manifest("scale", "scale", "sm_90a", (*pointers, Parameter("n", "scalar", "i32")), (128, 1, 1))
    template = TensorMapTemplate("f32", 2, (32, 8), "128B")
    maps = tuple(Parameter(name, "tensor_map", "f32", template) for name in ("a", "b"))
    mapped = Manifest("mapped", "mapped", "sm_90a", (*maps, pointers[1], Parameter("n", "scalar", "i32")), (128, 1, 1))
    return Artifact(plain, PTX), Artifact(mapped, PTX)


def cuda_core(x: Any, out: Any, n: int) -> Callable[[], Any]:
    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        from cuda.core.experimental import Device, LaunchConfig, ObjectCode, launch
    import numpy as np

    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(PTX.encode()).get_kernel("scale")
    config = LaunchConfig(grid=8, block=128)
    stream = device.create_stream()
    px, po, count = x.data_ptr(), out.data_ptr(), np.int32(n)
    return lambda: launch(stream, config, kernel, px, po, count)


def triton_launch(x: Any, out: Any, n: int) -> Callable[[], Any]:
    import triton
    import triton.language

    globals()["tl"] = triton.language

    @triton.jit
    def scale(x, out, n):  # type: ignore[no-untyped-def]
        offsets = tl.program_id(0) * 128 + tl.arange(0, 128)  # type: ignore[name-defined]  # noqa: F821
        value = tl.load(x + offsets, offsets < n)  # type: ignore[name-defined]  # noqa: F821
        tl.store(out + offsets, value + value, offsets < n)  # type: ignore[name-defined]  # noqa: F821

    return lambda: scale[(8,)](x, out, n)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--artifact", help="time loading and first launch of this artifact's 3-argument kernel too: (x, out, n)")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    import torch

    n = 1024
    x, out = torch.rand(n, device="cuda"), torch.zeros(n, device="cuda")
    wait = torch.cuda.synchronize
    rows: dict[str, float | str] = {}

    plain, mapped = ours()
    start = time.perf_counter()
    plain[8](x, out, n)
    wait()
    first = (time.perf_counter() - start) * 1e3
    assert torch.equal(out, x + x), "the kernel's result is wrong"

    kernel = plain[8]
    bare = cuda_core(x, out, n)

    def measure(name: str, make: Callable[[], Callable[[], Any]]) -> None:
        try:
            rows[name] = per_launch(make(), wait)
        except ImportError as error:
            rows[name] = f"not measured: {error}"

    measure("cuda-core launch, config and arguments ready", lambda: bare)
    measure("fa4dsl kernel(x, out, n), torch", lambda: lambda: kernel(x, out, n))
    measure("fa4dsl artifact[grid](x, out, n), torch", lambda: lambda: plain[8](x, out, n))

    def with_cupy() -> Callable[[], Any]:
        import cupy

        cx, cout = cupy.asarray(x), cupy.asarray(out)
        return lambda: kernel(cx, cout, n)

    measure("fa4dsl kernel(x, out, n), cupy", with_cupy)

    from fa4dsl.runtime import tiled

    square = x.view(32, 32)
    ready = tiled(square, (32, 8), "128B")
    four = mapped[8]
    measure("fa4dsl 2 tensor maps ready + pointer + scalar", lambda: lambda: four(ready, ready, out, n))
    measure("fa4dsl 2 tensors mapped at launch + pointer + scalar", lambda: lambda: four(square, square, out, n))
    measure("torch x.add_(1)", lambda: lambda: x.add_(1))
    measure("Triton kernel[grid](x, out, n)", lambda: triton_launch(x, out, n))
    # Again at the end: the machine may have drifted.
    measure("cuda-core launch, again", lambda: bare)

    if options.artifact:
        from fa4dsl.runtime import load

        start = time.perf_counter()
        load(options.artifact)[8](x, out, n)
        wait()
        rows["artifact from disk to result (ms)"] = (time.perf_counter() - start) * 1e3
    rows["first launch from PTX, driver's assembler included (ms)"] = first
    base = min(float(rows["cuda-core launch, config and arguments ready"]), float(rows["cuda-core launch, again"]))
    if options.json:
        print(json.dumps({"device": torch.cuda.get_device_name(), "python": sys.version.split()[0], "microseconds": rows}))
        return
    print(f"{torch.cuda.get_device_name()}, Python {sys.version.split()[0]}: host microseconds per launch, and times cuda-core's")
    for name, value in rows.items():
        if isinstance(value, str):
            print(f"{name:58} {value}")
        else:
            print(f"{name:58} {value:8.2f}" + ("" if "(ms)" in name else f" {value / base:8.2f}x"))


if __name__ == "__main__":
    main()
