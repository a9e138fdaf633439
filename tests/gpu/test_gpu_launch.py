"""Launches on a GPU: streams, graphs, clusters, shared memory, scalars, threads, devices."""

from __future__ import annotations

import itertools
import resource
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import ptx_samples as samples
import pytest

from fa4dsl.runtime import load, max_cluster, occupancy
from fa4dsl.runtime.cuda.timing import seconds_per_call
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.launch import launch

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch() -> Any:
    import torch

    return torch


@pytest.fixture
def cupy() -> Any:
    import cupy

    return cupy


def code(error: pytest.ExceptionInfo[Fa4dslError]) -> str:
    return error.value.code


def test_torch_tensors_on_the_current_stream(torch: Any) -> None:
    kernel = samples.scale()[8]
    x = torch.rand(1024, device="cuda")
    out = torch.empty_like(x)
    side = torch.cuda.Stream()
    for stream in (torch.cuda.current_stream(), side):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for factor in (2.0, 3.0):
                out.fill_(-1)
                kernel(x, out, factor)
                # Copied on the same stream: right only if the launch was there as well.
                assert torch.equal(out.cpu(), (x * factor).cpu())
        torch.cuda.synchronize()


def test_cupy_arrays_on_the_current_stream(cupy: Any) -> None:
    kernel = samples.scale()[8]
    x = cupy.random.rand(1024, dtype=cupy.float32)
    out = cupy.empty_like(x)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True):
        for factor in (2.0, np.float32(0.5), 4.0):
            kernel(x, out, factor)
            np.testing.assert_array_equal(cupy.asnumpy(out), cupy.asnumpy(x) * np.float32(factor))


def test_explicit_streams(torch: Any, cupy: Any) -> None:
    kernel = samples.increment()[1]
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    own = torch.cuda.Stream()
    for stream in (own, own.cuda_stream, cupy.cuda.Stream.from_external(own)):
        kernel(x, 1, stream=stream)
    own.synchronize()
    assert x.tolist() == [3] * 128
    with pytest.raises(Fa4dslError) as error:
        kernel(x, 1, stream="the usual one")
    assert code(error) == "R078"


def test_named_arguments(torch: Any) -> None:
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    samples.increment()[1](n=4, x=x)
    result = launch(samples.increment(), 1, {"n": 5, "x": x})
    result.synchronize()
    assert result.device == "cuda" and x.tolist() == [9] * 128


def test_numpy_by_explicit_choice() -> None:
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    result = launch(samples.scale(), 2, (x, out, 3), copy=True)
    np.testing.assert_array_equal(out, x * 3)
    assert result.device == "cuda" and result.seconds is not None and 0 < result.seconds < 1
    with pytest.raises(Fa4dslError) as error:
        launch(samples.scale(), 2, (x, out, 3.0), device="cuda")
    assert code(error) == "R051"
    out.flags.writeable = False
    with pytest.raises(Fa4dslError) as error:
        launch(samples.scale(), 2, (x, out, 4.0), copy=True)
    assert code(error) == "R048"


def test_graph_capture(torch: Any) -> None:
    """The first launch of all, which loads the kernel, happens inside the capture; replays add up."""
    artifact = samples.increment()
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for n in (1, 10, 100):
            artifact[1](x, n)
    assert x.tolist() == [0] * 128
    for _ in range(5):
        graph.replay()
    assert x.tolist() == [555] * 128


def test_copying_launch_is_not_captured(torch: Any) -> None:
    x, there = np.zeros(128, np.int32), torch.zeros(128, dtype=torch.int32, device="cuda")
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
        there.add_(1)
        with pytest.raises(Fa4dslError) as error:
            launch(samples.increment(), 1, (x, 1), copy=True, stream=stream)
        samples.increment()[1](there, 1, stream=stream)
    assert code(error) == "R079"
    graph.replay()
    assert there.tolist() == [2] * 128 and not x.any()


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_clusters(torch: Any, size: int) -> None:
    out = torch.zeros(32, dtype=torch.int32, device="cuda")
    launch(samples.cluster_ranks(), 32, (out,), cluster=size)
    assert out.tolist() == [size * 100 + cta % size for cta in range(32)]


def test_launches_that_cannot_fit(torch: Any) -> None:
    out = torch.zeros(64, dtype=torch.int32, device="cuda")
    for expected, artifact, grid, options in (
        ("R061", samples.cluster_ranks(), 30, {"cluster": 4}),
        ("R062", samples.cluster_ranks(), 64, {"cluster": 32}),
        ("R063", samples.large_shared(), 1, {"dynamic_shared_bytes": 240_000}),
        ("R066", samples.large_shared(), 40_000, {"cooperative": True}),
    ):
        with pytest.raises(Fa4dslError) as error:
            launch(artifact, grid, (out,), **options)
        assert code(error) == expected, str(error.value)
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    narrow = samples.artifact("narrow", (samples.pointer("x", "i32"),), "ret;", directives=".maxntid 64, 1, 1")
    with pytest.raises(Fa4dslError) as error:
        narrow[1](x)
    assert code(error) == "R064"
    # The driver would fail after any of these if the context were lost.
    samples.increment()[1](x, 1)
    assert x.tolist() == [1] * 128


def test_large_shared_memory_is_opted_into(torch: Any) -> None:
    for dynamic in (100 << 10, 227 << 10, 48 << 10):
        out = torch.zeros(16, dtype=torch.int32, device="cuda")
        samples.large_shared(dynamic)[16](out)
        assert out.tolist() == [cta + 7 for cta in range(16)]


def test_cooperative_and_programmatic(torch: Any) -> None:
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    launch(samples.increment(), 1, (x, 2), cooperative=True)
    assert x.tolist() == [2] * 128
    for _ in range(4):
        # Without griddepcontrol.wait the launches may overlap, so each has words of its own.
        own = torch.zeros(128, dtype=torch.int32, device="cuda")
        launch(samples.increment(), 1, (own, 3), programmatic=True)
        assert own.tolist() == [3] * 128


def test_dependent_launches_overlap(torch: Any) -> None:
    """With the attribute a kernel begins while the one ahead still works, and waits for it only where it says so; without, it begins after."""
    artifact = samples.dependent()
    for programmatic in (False, True):
        times = torch.zeros(4, 2, dtype=torch.int64, device="cuda")
        count = torch.zeros(1, dtype=torch.int32, device="cuda")
        for slot in range(4):
            launch(artifact, 1, (times, count, slot, 3_000_000), programmatic=programmatic)
        spans = times.tolist()
        overlaps = [later[0] < earlier[1] for earlier, later in itertools.pairwise(spans)]
        assert count.item() == 4 and overlaps == [programmatic] * 3, spans


def test_dependent_launches_in_a_graph(torch: Any) -> None:
    artifact = samples.dependent()
    times, count = torch.zeros(3, 2, dtype=torch.int64, device="cuda"), torch.zeros(1, dtype=torch.int32, device="cuda")
    launch(artifact, 1, (times, count, 0, 0), programmatic=True).synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for slot in range(3):
            launch(artifact, 1, (times, count, slot, 2_000_000), programmatic=True)
    graph.replay()
    spans = times.tolist()
    assert count.item() == 4 and spans[1][0] < spans[0][1] and spans[2][0] < spans[1][1], spans


def test_cooperative_grid_meets(torch: Any) -> None:
    """As many CTAs as fit, each waiting for all others."""
    artifact = samples.meeting()
    ctas = occupancy(artifact).ctas
    count, met = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(ctas, dtype=torch.int32, device="cuda")
    launch(artifact, ctas, (count, met), cooperative=True, watchdog=10.0)
    assert met.sum().item() == ctas == count.item()
    with pytest.raises(Fa4dslError) as error:
        launch(artifact, ctas + 1, (count, torch.zeros(ctas + 1, dtype=torch.int32, device="cuda")), cooperative=True)
    assert code(error) == "R066" and str(ctas + 1) in str(error.value)


def test_resident_clusters(torch: Any) -> None:
    """Clusters resident with one CTA an SM. On an H200 they are known from measurements; a cluster of 16 leaves GPCs partly empty."""
    artifact = samples.large_shared(160 << 10)
    found = {size: occupancy(artifact, cluster=size).clusters for size in (2, 4, 8, 16)}
    if "H200" in torch.cuda.get_device_name():
        assert found == {2: 66, 4: 30, 8: 15, 16: 7}
    assert all(0 < size * clusters <= torch.cuda.get_device_properties(0).multi_processor_count for size, clusters in found.items())
    assert max_cluster(artifact) == 16


def test_occupancy() -> None:
    half = occupancy(samples.large_shared(100 << 10))
    assert half.ctas_per_sm == 2 and half.clusters == half.ctas == 2 * half.sms and half.shared_bytes == 100 << 10
    eight = occupancy(samples.cluster_ranks(), cluster=8)
    assert eight.ctas == 8 * eight.clusters > 0
    whole = occupancy(samples.large_shared(200 << 10), cluster=16)
    assert whole.ctas_per_sm == 1 and 0 < whole.ctas <= whole.sms
    assert max_cluster(samples.cluster_ranks()) == 16


def test_scalars_arrive_bit_by_bit(torch: Any) -> None:
    artifact = samples.scalars()
    values = {"bool": True, "i8": -3, "u16": 65535, "f16": 1.5, "bf16": -2.75, "e4m3": 0.4375, "i32": -70000, "f32": 0.1, "u8": 200}
    values |= {"i64": -(1 << 62), "f64": 0.1, "u32": 4_000_000_000, "u64": (1 << 64) - 1, "i16": -300, "e5m2": 1.25}
    out = torch.zeros(len(values), dtype=torch.uint64, device="cuda")
    arguments = [values[parameter.dtype] for parameter in artifact.manifest.parameters[1:]]
    for _ in range(2):
        artifact[1](out, *arguments)
        for parameter, got in zip(artifact.manifest.parameters[1:], out.cpu().numpy(), strict=True):
            dtype = DTYPES[parameter.dtype]
            expected = np.asarray(values[parameter.dtype], dtype.numpy).view(f"u{dtype.size}")
            assert int(got) == int(expected), parameter.name
        out.zero_()


def test_arguments_are_checked_on_the_prepared_path(torch: Any) -> None:
    kernel = samples.scale()[1]
    x, out = torch.rand(128, device="cuda"), torch.zeros(128, device="cuda")
    kernel(x, out, 2.0)
    kernel(x, out, 2.0)
    wide = torch.zeros(256, device="cuda")
    for expected, arguments in (
        ("R042", (x.double(), out, 2.0)),
        ("R043", (x, out.cpu(), 2.0)),
        ("R044", (x, wide[::2], 2.0)),
        ("R041", (None, out, 2.0)),
        ("R046", (x, out, "two")),
        ("R047", (x, out, 1e39)),
        ("R040", (x, out)),
        ("R040", (x, out, 1.0, 2.0)),
    ):
        with pytest.raises(Fa4dslError) as error:
            kernel(*arguments)
        assert code(error) == expected, str(error.value)
    kernel(x, out, 5.0)
    assert torch.equal(out, x * 5.0)


def test_many_threads(torch: Any) -> None:
    """Threads without a context of their own launch the same prepared kernel at once; no launch takes another's arguments."""
    kernel = samples.increment()[1]
    tensors = [torch.zeros(128, dtype=torch.int32, device="cuda") for _ in range(8)]
    torch.cuda.synchronize()

    def work(index: int) -> None:
        for _ in range(500):
            kernel(tensors[index], index + 1)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(tensors))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert [tensor.unique().tolist() for tensor in tensors] == [[500 * (index + 1)] for index in range(len(tensors))]


def test_every_device(torch: Any) -> None:
    artifact = samples.increment()
    tensors = [torch.zeros(128, dtype=torch.int32, device=f"cuda:{index}") for index in range(torch.cuda.device_count())]
    for _ in range(3):
        for tensor in tensors:
            artifact[1](tensor, 1)
    for index, tensor in enumerate(tensors):
        torch.cuda.synchronize(index)
        assert tensor.tolist() == [3] * 128
    if len(tensors) > 1:
        with pytest.raises(Fa4dslError) as error:
            samples.scale()[1](torch.rand(128, device="cuda:0"), torch.rand(128, device="cuda:1"), 1.0)
        assert code(error) == "R043"


def test_launches_do_not_grow_the_memory(torch: Any) -> None:
    kernel = samples.scale()[1]
    x, out = torch.rand(128, device="cuda"), torch.zeros(128, device="cuda")

    def run() -> None:
        for number in range(10_000):
            kernel(x, out, float(number))
        torch.cuda.synchronize()

    assert_no_growth(run)


def assert_no_growth(run: Callable[[], None]) -> None:
    """`run` makes 10,000 launches. The first time everything that is kept is made; the second must not add to it."""
    run()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048, "KiB"


def test_new_tensors_do_not_grow_the_memory(torch: Any) -> None:
    """Tensor maps made at launch are kept by address and shape, but not without end; nor are grids."""
    artifact = samples.tile_copy()
    memory = torch.rand(64, 4096, device="cuda")
    target = torch.zeros(16, 32, device="cuda")

    def run() -> None:
        for number in range(10_000):
            row, column = number % 48, number * 4 % 4000
            artifact[1 + number % 3](memory[row : row + 16, column : column + 32], target, 0, 0)
            if number % 500 == 499:
                torch.cuda.synchronize()

    assert_no_growth(run)


def test_timing(torch: Any) -> None:
    """A kernel that runs for two milliseconds is found to."""
    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    kernel = samples.spin()[1]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        seconds = seconds_per_call(lambda: kernel(flag, 2_000_000), calls=5, stream=stream)
    assert 0.002 <= seconds < 0.01


def test_artifact_from_disk(torch: Any, tmp_path: Path) -> None:
    samples.increment().save(tmp_path / "k.fa4")
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    load(tmp_path / "k.fa4")[1](x, 6)
    assert x.tolist() == [6] * 128
