"""fa4dsl's kernels as torch operators: `torch.ops.fa4dsl.splitk_combine` and its `out` form, with fake functions.

    import fa4dsl.torch
    output = torch.ops.fa4dsl.splitk_combine(partial, statistics, row_offsets, scale)

`torch.compile(fullgraph=True)` and `torch.export` take them, for the fake functions tell shapes without running. CUDA tensors run on their GPU in
torch's current stream and may be captured into a CUDA graph; CPU tensors run on the simulator. A kernel is compiled at the first use of its
configuration, or taken from artifacts given to `use_artifacts`, where no compiler is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import e, log2
from typing import TYPE_CHECKING, Any

from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    import os

    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.autotune import Trial, Tuning

try:
    import torch
except ImportError as error:
    fail("R095", reason=str(error))

NAME = "fa4dsl::splitk_combine"
ARGUMENTS = "Tensor partial, Tensor statistics, Tensor row_offsets, float scale"

_artifacts: dict[CombineConfig, Artifact] = {}


def use_artifacts(path: str | os.PathLike[str]) -> list[CombineConfig]:
    """Takes compiled variants of the combine from a container that `save_artifacts` wrote; returns their configurations.

    Raises R001 to R011 for a file that is none, R009 if it holds no combine.
    """
    from fa4dsl.runtime import load_all

    found = []
    for artifact in load_all(path):
        options = artifact.manifest.options
        if artifact.name == splitk_combine.name and set(options) == set(asdict(CombineConfig())):
            config = CombineConfig(**options)
            _artifacts[config] = artifact
            found.append(config)
    if not found:
        fail("R009", wanted=f"name={splitk_combine.name} and its options", there=str(path))
    return found


def save_artifacts(path: str | os.PathLike[str], configs: Sequence[CombineConfig]) -> None:
    """Compiles the combine for each configuration into one container, to be carried to a machine without a compiler."""
    from fa4dsl.runtime import save

    save(path, [combine_artifact(config) for config in configs])


def combine_artifact(config: CombineConfig) -> Artifact:
    """The combine for one configuration, compiled at its first use; its manifest's options are the configuration."""
    found = _artifacts.get(config)
    if found is None:
        found = _artifacts[config] = splitk_combine.bind(c=config).compile()
    return found


def _shape(partial: Any, statistics: Any, row_offsets: Any) -> tuple[Any, Any, Any, Any]:
    """(partitions, total rows, heads, depth). Raises R096."""
    problem = ""
    if partial.dim() != 4:
        problem = f"partial has {partial.dim()} dimensions, expected [partitions, total_rows, heads, depth]"
    elif statistics.dim() != 4 or tuple(statistics.shape) != (*partial.shape[:3], 2):
        problem = f"statistics has shape {list(statistics.shape)}, expected {[*partial.shape[:3], 2]}"
    elif row_offsets.dim() != 1 or row_offsets.shape[0] < 2:
        problem = f"row_offsets has shape {list(row_offsets.shape)}, expected one entry more than there are tiles"
    else:
        for name, tensor, dtype in (
            ("partial", partial, torch.float32),
            ("statistics", statistics, torch.float32),
            ("row_offsets", row_offsets, torch.int32),
        ):
            if tensor.dtype != dtype:
                problem = f"{name} has {tensor.dtype}, expected {dtype}"
            elif tensor.device != partial.device:
                problem = f"{name} lies on {tensor.device}, partial on {partial.device}"
    if problem:
        fail("R096", operator=NAME, problem=problem)
    partitions, total_rows, heads, depth = partial.shape
    return partitions, total_rows, heads, depth


def _launch(partial: Any, statistics: Any, row_offsets: Any, scale: float, rows: int, out: Any) -> None:
    partitions, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    if tuple(out.shape) != (total_rows, heads, depth) or out.dtype != torch.bfloat16 or out.device != partial.device:
        expected = f"bfloat16 {[total_rows, heads, depth]} on {partial.device}"
        fail("R096", operator=NAME, problem=f"out is {out.dtype} {list(out.shape)} on {out.device}, expected {expected}")
    artifact = combine_artifact(CombineConfig(partitions, depth, rows))
    tiles = row_offsets.shape[0] - 1
    launch = artifact[tiles * partitions, heads, 1]
    pairs = statistics.contiguous()
    # The kernel has neither sinks nor an LSE here, and touches nothing behind these two parameters.
    launch(partial.contiguous(), pairs, row_offsets.contiguous(), out, total_rows, heads, scale * log2(e), pairs, pairs)


def _new_output(partial: Any, statistics: Any, row_offsets: Any) -> Any:
    """bf16 `[total_rows, heads, depth]`. Raises R096."""
    _, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    return partial.new_empty((total_rows, heads, depth), dtype=torch.bfloat16)


def _combine(partial: Any, statistics: Any, row_offsets: Any, scale: float, rows: int = 128) -> Any:
    out = _new_output(partial, statistics, row_offsets)
    _launch(partial, statistics, row_offsets, scale, rows, out)
    return out


def _combine_out(partial: Any, statistics: Any, row_offsets: Any, scale: float, out: Any, rows: int = 128) -> None:
    _launch(partial, statistics, row_offsets, scale, rows, out)


def _fake_combine(partial: Any, statistics: Any, row_offsets: Any, scale: float, rows: int = 128) -> Any:
    return _new_output(partial, statistics, row_offsets)


def _fake_combine_out(partial: Any, statistics: Any, row_offsets: Any, scale: float, out: Any, rows: int = 128) -> None:
    _shape(partial, statistics, row_offsets)


combine = torch.library.custom_op(NAME, _combine, mutates_args=(), schema=f"({ARGUMENTS}, int rows=128) -> Tensor")
"""Combines split-K partials: see `fa4dsl.kernels.splitk_combine`.

partial: f32 ``[P, total_rows, heads, D]``, each partition's output, normalised by its own sum; P of 2, 4, 8, 16 and D of 64, 128. statistics: f32
``[P, total_rows, heads, 2]``, maximum and sum. row_offsets: i32 ``[tiles + 1]``; tile t holds rows ``row_offsets[t]`` up to ``row_offsets[t + 1]``, at
most `rows` of them (32, 64, 96 or 128), which is not checked, for that would wait for the GPU. scale: of the softmax. Returns bf16 ``[total_rows, heads, D]``.

Raises R096 for tensors that do not fit, L065 to L067 for a configuration the kernel does not have, and what a launch raises.
"""
combine.register_fake(_fake_combine)

# torch.library.custom_op takes no keyword-only tensors; `out=` works as for any argument.
combine_out = torch.library.custom_op(
    f"{NAME}_out", _combine_out, mutates_args=("out",), schema=f"({ARGUMENTS}, Tensor(a!) out, int rows=128) -> ()"
)
"""The same into `out`, bf16 ``[total_rows, heads, D]``."""
combine_out.register_fake(_fake_combine_out)


def tune_combine(
    partial: Any,
    statistics: Any,
    row_offsets: Any,
    scale: float,
    rows: Sequence[int] = (32, 64, 96, 128),
    progress: Callable[[int, int, Trial[int]], None] | None = None,
) -> Tuning[int]:
    """The fastest `rows` for these tensors on their device, kept for device and shape; pass `.best` to the operator.

    Only tile heights that hold the largest tile are tried; finding it waits for the GPU once. CUDA tensors are timed by CUDA events.
    """
    from fa4dsl.runtime.autotune import autotune

    partitions, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    offsets = row_offsets.cpu()
    largest = int((offsets[1:] - offsets[:-1]).max())
    on_gpu = partial.device.type == "cuda"
    device = torch.cuda.get_device_name(partial.device) if on_gpu else "simulator"
    out = _new_output(partial, statistics, row_offsets)

    def measure(height: int) -> float:
        if not on_gpu:
            import time

            start = time.perf_counter()
            _launch(partial, statistics, row_offsets, scale, height, out)
            return time.perf_counter() - start
        from fa4dsl.runtime.cuda.timing import seconds_per_call

        stream = torch.cuda.current_stream(partial.device)
        return seconds_per_call(
            lambda: _launch(partial, statistics, row_offsets, scale, height, out), stream=stream, device=partial.device.index
        )

    key = (splitk_combine.name, device, partitions, total_rows, heads, depth, len(offsets), largest)
    return autotune([height for height in rows if height >= largest], measure, key=key, progress=progress)
