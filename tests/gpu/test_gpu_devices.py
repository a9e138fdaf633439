"""Several GPUs in one process: each has its own modules, streams, maps and plans, and a launch runs where its arrays lie. Needs two GPUs."""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import ptx_samples as samples
import pytest

from fa4dsl.runtime import max_cluster, occupancy, tiled
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import launch

pytestmark = pytest.mark.gpu
DEVICES = (0, 1)


@pytest.fixture
def torch() -> Any:
    import torch

    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    return torch


def pair(torch: Any, device: int, n: int = 128) -> tuple[Any, Any]:
    return torch.rand(n, device=f"cuda:{device}"), torch.zeros(n, device=f"cuda:{device}")


@pytest.mark.parametrize("current", DEVICES)
def test_a_launch_runs_where_its_arrays_lie(torch: Any, current: int) -> None:
    """Whichever GPU is current, which stays so."""
    artifact = samples.scale()
    kernel = artifact[1]
    tensors = [pair(torch, device) for device in DEVICES]
    with torch.cuda.device(current):
        for number in range(20):
            for x, out in tensors:
                kernel(x, out, float(number))
        assert torch.cuda.current_device() == current
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
    for x, out in tensors:
        assert torch.equal(out, x * 19)
    assert sorted(artifact._kernels) == [0, 1]
    (x, _), (_, elsewhere) = tensors
    with pytest.raises(Fa4dslError, match="R043"):
        kernel(x, elsewhere, 1.0)


def test_each_gpu_has_its_own_current_stream(torch: Any) -> None:
    kernel = samples.scale()[1]
    for device in DEVICES:
        x, out = pair(torch, device)
        with torch.cuda.device(device):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for factor in (2.0, 3.0):
                    out.fill_(-1)
                    kernel(x, out, factor)
                    copied = out.cpu()  # on the same stream: right only if the launch was there as well
                    assert torch.equal(copied, (x * factor).cpu())


def test_tensor_maps(torch: Any) -> None:
    """Made at launch and beforehand, of equal shapes on both GPUs, by turns."""
    kernel = samples.tile_copy()[1]
    sources = [torch.rand(16, 32, device=f"cuda:{device}") for device in DEVICES]
    targets = [torch.zeros(16, 32, device=f"cuda:{device}") for device in DEVICES]
    template = samples.tile_copy().manifest.parameters[0].tensor_map
    assert template is not None
    assert sources[0].shape == targets[0].shape
    ready = [tiled(target, template.box, template.swizzle) for target in targets]
    for turn in range(6):
        for device in DEVICES:
            targets[device].zero_()
            kernel(sources[device], ready[device] if turn % 2 else targets[device], 0, 0)
            torch.cuda.synchronize(device)
            rows, columns = template.box[1], template.box[0]
            assert torch.equal(targets[device][:rows, :columns], sources[device][:rows, :columns])


def test_graphs(torch: Any) -> None:
    kernel = samples.scale()[1]
    for device in DEVICES:
        x, out = pair(torch, device)
        kernel(x, out, 1.0)
        with torch.cuda.device(device):
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            # torch's own capture stream is made once, for the first GPU that captures.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                kernel(x, out, 5.0)
            x.fill_(3)
            graph.replay()
            torch.cuda.synchronize()
        assert out.unique().tolist() == [15.0]


def test_a_thread_for_each(torch: Any) -> None:
    """Threads that have no current GPU of their own, at once from the first launch on."""
    artifact = samples.increment()
    tensors = [torch.zeros(128, dtype=torch.int32, device=f"cuda:{device}") for device in DEVICES for _ in range(3)]
    for device in DEVICES:
        torch.cuda.synchronize(device)

    def work(tensor: Any) -> None:
        for _ in range(500):
            artifact[1](tensor, 1)

    threads = [threading.Thread(target=work, args=(tensor,)) for tensor in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for device in DEVICES:
        torch.cuda.synchronize(device)
    assert [tensor.unique().tolist() for tensor in tensors] == [[500]] * 6
    assert artifact.unload() == 2


def test_cupy_and_numpy(torch: Any) -> None:
    import cupy

    kernel = samples.increment()[1]
    for device in DEVICES:
        with cupy.cuda.Device(device):
            words = cupy.zeros(128, dtype=cupy.int32)
            for _ in range(3):
                kernel(words, 2)
            assert words.get().tolist() == [6] * 128
        host = np.zeros(128, np.int32)
        with torch.cuda.device(device):
            launch(samples.increment(), 1, (host, 7), device="cuda", copy=True)
        assert host.tolist() == [7] * 128


def test_occupancy_of_each(torch: Any) -> None:
    for device in DEVICES:
        with torch.cuda.device(device):
            assert max_cluster(samples.scale()) >= 8 and occupancy(samples.scale()).clusters > 0


def test_the_operators(torch: Any) -> None:
    import fa4dsl.torch as module

    if find_spec("mlir") is None:
        default = Path(__file__).parent.parent.parent / "build" / "gpu"
        module.use_artifacts(Path(os.environ.get("FA4DSL_GPU_FOLDER", default)) / "torch_combine.fa4")
    results = []
    for device in DEVICES:
        generator = torch.Generator("cpu").manual_seed(3)
        partial = torch.randn(8, 100, 2, 128, generator=generator).to(f"cuda:{device}")
        statistics = (torch.rand(8, 100, 2, 2, generator=generator) * 4 + 1).to(f"cuda:{device}")
        offsets = torch.tensor([0, 60, 100], dtype=torch.int32, device=f"cuda:{device}")
        found = torch.ops.fa4dsl.splitk_combine(partial, statistics, offsets, 0.125)
        assert found.device.index == device
        results.append(found.cpu())
    assert torch.equal(*results)
