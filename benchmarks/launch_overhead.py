"""Host time per launch of a 3-argument kernel: fa4dsl beside cuda-core's bare launch, Triton and a torch operator, in one run.

    python benchmarks/launch_overhead.py [--combine COMBINE.fa4] [--python] [--json]

Needs a GPU, torch and cuda-core; Triton, cupy are measured where they are installed. `--combine` adds the split-K combine, from an artifact that
`fa4dsl compile splitk-combine -o COMBINE.fa4` made, `--python` measures the launches of an installation without the package's C part. The launchers take turns, a batch each, so that a machine that drifts drifts for all; each
figure is the median of a launcher's batches (all in one stream), each ratio the median of its ratios to cuda-core's batch of the same turn. The GPU is waited for between
batches, outside the time, so that a full launch queue is not measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

BATCH = 200
TURNS = 60
BARE = "cuda-core launch, config and arguments ready"

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


def in_turns(launchers: dict[str, Callable[[], Any]], wait: Callable[[], Any]) -> dict[str, list[float]]:
    """Microseconds of one call, a figure for each batch, by launcher."""
    times: dict[str, list[float]] = {name: [] for name in launchers}
    for turn in range(TURNS + 1):
        for name, launch in launchers.items():
            start = time.perf_counter()
            for _ in range(BATCH):
                launch()
            took = (time.perf_counter() - start) / BATCH * 1e6
            wait()
            if turn:  # the first warms up
                times[name].append(took)
    return times


def ours() -> tuple[Any, Any]:
    from fa4dsl.runtime import Artifact, Manifest
    from fa4dsl.runtime.manifest import Parameter, TensorMapTemplate

    pointers = (Parameter("x", "pointer", "f32", access="in"), Parameter("out", "pointer", "f32"))
    plain = Manifest("scale", "scale", "sm_90a", (*pointers, Parameter("n", "scalar", "i32")), (128, 1, 1))
    template = TensorMapTemplate("f32", 2, (32, 8), "128B")
    maps = tuple(Parameter(name, "tensor_map", "f32", template) for name in ("a", "b"))
    mapped = Manifest("mapped", "mapped", "sm_90a", (*maps, pointers[1], Parameter("n", "scalar", "i32")), (128, 1, 1))
    return Artifact(plain, PTX), Artifact(mapped, PTX)


def cuda_core(x: Any, out: Any, n: int, handle: int) -> Callable[[], Any]:
    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, Stream, launch
    except ImportError:
        from cuda.core.experimental import Device, LaunchConfig, ObjectCode, Stream, launch
    import numpy as np

    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(PTX.encode()).get_kernel("scale")
    config = LaunchConfig(grid=8, block=128)
    stream = Stream.from_handle(handle)
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


def combine_launchers(path: str) -> dict[str, Callable[[], Any]]:
    """The combine with its output's tensor map made beforehand, and made at launch from a tensor. One small tile: host time only."""
    import torch

    from fa4dsl.runtime import load
    from fa4dsl.runtime.tensor_map import from_template

    artifact = load(path)
    depth, rows = artifact.manifest.options["depth"], 16
    partitions = artifact.manifest.cluster[0]
    partial = torch.rand(partitions, rows, 1, depth, device="cuda")
    statistics = torch.rand(partitions, rows, 1, 2, device="cuda") + 1
    offsets = torch.tensor([0, rows], dtype=torch.int32, device="cuda")
    parameter = next(item for item in artifact.manifest.parameters if item.kind == "tensor_map")
    assert parameter.tensor_map is not None
    output = torch.zeros(rows, 1, depth, dtype=torch.bfloat16, device="cuda")
    ready = from_template(parameter.tensor_map, output, parameter.name)
    unused = statistics  # the sinks and the LSE, which this variant has not

    def with_output(given: Any) -> Callable[[], Any]:
        artifact[partitions](partial, statistics, offsets, given, rows, 1, 0.1, unused, unused)
        launch = artifact[partitions]  # made for these types
        return lambda: launch(partial, statistics, offsets, given, rows, 1, 0.1, unused, unused)

    return {"fa4dsl combine, tensor map ready": with_output(ready), "fa4dsl combine, tensor mapped at launch": with_output(output)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--combine", help="an artifact of the split-K combine")
    arguments.add_argument("--python", action="store_true", help="as installed without a C compiler")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    if options.python:
        sys.modules["fa4dsl.runtime.cuda._native"] = None  # type: ignore[assignment]
    import torch

    from fa4dsl.runtime.cuda.native_part import native

    # One stream for all: the legacy default stream costs the driver more.
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    n = 1024
    x, out = torch.rand(n, device="cuda"), torch.zeros(n, device="cuda")
    wait = torch.cuda.synchronize
    launchers: dict[str, Callable[[], Any]] = {}
    left_out: dict[str, str] = {}

    plain, mapped = ours()
    start = time.perf_counter()
    plain[8](x, out, n)
    wait()
    first = (time.perf_counter() - start) * 1e3
    assert torch.equal(out, x + x), "the kernel's result is wrong"
    kernel = plain[8]

    def add(name: str, make: Callable[[], Callable[[], Any]]) -> None:
        try:
            launchers[name] = make()
            launchers[name]()
        except ImportError as error:
            left_out[name] = f"not measured: {error}"

    def with_cupy() -> Callable[[], Any]:
        import cupy

        cupy.cuda.Stream.from_external(stream).use()
        cx, cout = cupy.asarray(x), cupy.asarray(out)
        plain[8](cx, cout, n)
        of_cupy = plain[8]
        return lambda: of_cupy(cx, cout, n)

    from fa4dsl.runtime import tiled

    square = x.view(32, 32)
    ready = tiled(square, (32, 8), "128B")

    def with_maps(a: Any, b: Any) -> Callable[[], Any]:
        mapped[8](a, b, out, n)
        four = mapped[8]
        return lambda: four(a, b, out, n)

    add(BARE, lambda: cuda_core(x, out, n, stream.cuda_stream))
    add("fa4dsl kernel(x, out, n), torch", lambda: lambda: kernel(x, out, n))
    add("fa4dsl artifact[grid](x, out, n), torch", lambda: lambda: plain[8](x, out, n))
    add("fa4dsl kernel(x, out, n), cupy", with_cupy)
    add("fa4dsl 2 tensor maps ready + pointer + scalar", lambda: with_maps(ready, ready))
    add("fa4dsl 2 tensors mapped at launch + pointer + scalar", lambda: with_maps(square, square))
    if options.combine:
        launchers |= combine_launchers(options.combine)
    add("torch x.add_(1)", lambda: lambda: x.add_(1))
    add("Triton kernel[grid](x, out, n)", lambda: triton_launch(x, out, n))

    times = in_turns(launchers, wait)
    figures = {
        name: {
            "microseconds": statistics.median(found),
            "times_cuda_core": statistics.median(one / bare for one, bare in zip(found, times[BARE], strict=True)),
        }
        for name, found in times.items()
    }
    device, python = torch.cuda.get_device_name(), sys.version.split()[0]
    path = "Python" if native is None else "C and DLPack's exchange table" if native.lends_view(x) else "C"
    if options.json:
        print(
            json.dumps(
                {"device": device, "python": python, "launches": path, "first_launch_ms": first, "figures": figures, "left_out": left_out}
            )
        )
        return
    print(
        f"{device}, Python {python}, torch {torch.__version__}, launches through {path}: host microseconds per launch, and times cuda-core's"
    )
    for name, figure in figures.items():
        print(f"{name:56} {figure['microseconds']:8.2f} {figure['times_cuda_core']:8.2f}x")
    for name, reason in left_out.items():
        print(f"{name:56} {reason}")
    print(f"{'first launch from PTX, with the driver assembling it (ms)':56} {first:8.2f}")


if __name__ == "__main__":
    main()
