"""fa4dsl's kernels as torch operators: `torch.ops.fa4dsl.splitk_combine` and its `out` form, with fake functions.

    import fa4dsl.torch
    output = torch.ops.fa4dsl.splitk_combine(partial, statistics, row_offsets, scale)

`torch.ops.fa4dsl.splitk_decode` is in `torch_decode`.

`torch.compile(fullgraph=True)` and `torch.export` take them, for the fake functions tell shapes without running. CUDA tensors run on their GPU in
torch's current stream and may be captured into a CUDA graph; CPU tensors run on the simulator. A kernel is compiled at the first use of its
configuration, or taken from artifacts given to `use_artifacts`, where no compiler is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, log2
from typing import TYPE_CHECKING, Any

from fa4dsl.kernels.combine import CombineArrays, combine_arguments, combine_grid
from fa4dsl.kernels.combine_config import DESIGNS, CombineConfig
from fa4dsl.kernels.combine_design import choose, measured_shape
from fa4dsl.kernels.combine_measured import MEASURED
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    from fa4dsl.runtime.autotune import Trial, Tuning

try:
    import torch
except ImportError as error:
    fail("R095", reason=str(error))

from fa4dsl.torch_artifacts import artifact_of, save_artifacts, use_artifacts
from fa4dsl.torch_decode import decode, decode_out
from fa4dsl.torch_tensors import misfit

__all__ = [
    "CombineChoice",
    "combine",
    "combine_config",
    "combine_out",
    "decode",
    "decode_out",
    "save_artifacts",
    "tune_combine",
    "use_artifacts",
]

NAME = "fa4dsl::splitk_combine"
ARGUMENTS = "Tensor partial, Tensor statistics, Tensor row_offsets, float scale"
OPTIONS = 'int rows=128, str design="auto"'


def combine_config(partitions: int, depth: int, rows: int = 128, design: str = "auto") -> CombineConfig:
    """The configuration that the operator runs for tiles of at most `rows` rows; "auto" takes the design that measurements favour.

    Raises L065 to L067 and L200 to L209.
    """
    if design == "auto":
        chosen = choose(rows, partitions, depth)
        return CombineConfig(partitions, depth, _height(chosen.design, rows), chosen.design, chosen.threads, pieces=chosen.pieces)
    threads, pieces, _ = MEASURED[measured_shape(rows, partitions, depth)].get(design, (0, 1, 0.0))  # type: ignore[call-overload]
    if design == "pull":
        threads = 0  # one for each row
    return CombineConfig(partitions, depth, _height(design, rows), design, threads, pieces=min(pieces, rows))  # type: ignore[arg-type]


def _height(design: str, rows: int) -> int:
    """`pull` has a thread for each row, so it takes whole warps."""
    return -(-rows // 32) * 32 if design == "pull" else rows


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
        problem = misfit(
            ("partial", partial, torch.float32), ("statistics", statistics, torch.float32), ("row_offsets", row_offsets, torch.int32)
        )
    if problem:
        fail("R096", operator=NAME, problem=problem)
    partitions, total_rows, heads, depth = partial.shape
    return partitions, total_rows, heads, depth


def _launch(partial: Any, statistics: Any, row_offsets: Any, scale: float, out: Any, rows: int, design: str) -> None:
    partitions, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    if tuple(out.shape) != (total_rows, heads, depth) or out.dtype != torch.bfloat16 or out.device != partial.device:
        expected = f"bfloat16 {[total_rows, heads, depth]} on {partial.device}"
        fail("R096", operator=NAME, problem=f"out is {out.dtype} {list(out.shape)} on {out.device}, expected {expected}")
    config = combine_config(partitions, depth, rows, design)
    pairs, offsets = statistics.contiguous(), row_offsets.contiguous()
    # Sinks, LSE, workspace and counters are not used here: the kernel touches nothing behind those parameters.
    unused = {"sinks": pairs, "lse": pairs, "workspace": pairs, "counters": offsets}
    arrays = CombineArrays(partial.contiguous(), pairs, offsets, out, total_rows, heads, scale * log2(e), **unused)
    launch = artifact_of(config)[combine_grid(config, row_offsets.shape[0] - 1, heads)]
    launch(*combine_arguments(config, arrays))


def _new_output(partial: Any, statistics: Any, row_offsets: Any) -> Any:
    """bf16 `[total_rows, heads, depth]`. Raises R096."""
    _, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    return partial.new_empty((total_rows, heads, depth), dtype=torch.bfloat16)


def _combine(partial: Any, statistics: Any, row_offsets: Any, scale: float, rows: int = 128, design: str = "auto") -> Any:
    out = _new_output(partial, statistics, row_offsets)
    _launch(partial, statistics, row_offsets, scale, out, rows, design)
    return out


def _combine_out(partial: Any, statistics: Any, row_offsets: Any, scale: float, out: Any, rows: int = 128, design: str = "auto") -> None:
    _launch(partial, statistics, row_offsets, scale, out, rows, design)


def _fake_combine(partial: Any, statistics: Any, row_offsets: Any, scale: float, rows: int = 128, design: str = "auto") -> Any:
    return _new_output(partial, statistics, row_offsets)


def _fake_combine_out(
    partial: Any, statistics: Any, row_offsets: Any, scale: float, out: Any, rows: int = 128, design: str = "auto"
) -> None:
    _shape(partial, statistics, row_offsets)


combine = torch.library.custom_op(NAME, _combine, mutates_args=(), schema=f"({ARGUMENTS}, {OPTIONS}) -> Tensor")
"""Combines split-K partials: see `fa4dsl.kernels.splitk_combine`.

partial: f32 ``[P, total_rows, heads, D]``, each partition's output, normalised by its own sum; P and D as `CombineConfig` allows. statistics: f32
``[P, total_rows, heads, 2]``, maximum and sum. row_offsets: i32 ``[tiles + 1]``; tile t holds rows ``row_offsets[t]`` up to ``row_offsets[t + 1]``, at
most `rows` of them, 1 to 128, which is not checked, for that would wait for the GPU. scale: of the softmax. design: how the CTAs exchange, see
`fa4dsl.kernels.combine_design`. Returns bf16 ``[total_rows, heads, D]``.

Raises R096 for tensors that do not fit, L065 to L067 and L200 to L209 for a configuration the kernel does not have, and what a launch raises.
"""
combine.register_fake(_fake_combine)

# torch.library.custom_op takes no keyword-only tensors; `out=` works as for any argument.
combine_out = torch.library.custom_op(
    f"{NAME}_out", _combine_out, mutates_args=("out",), schema=f"({ARGUMENTS}, Tensor(a!) out, {OPTIONS}) -> ()"
)
"""The same into `out`, bf16 ``[total_rows, heads, D]``."""
combine_out.register_fake(_fake_combine_out)


@dataclass(frozen=True)
class CombineChoice:
    """What `tune_combine` chooses: the operator's arguments of these names."""

    rows: int
    design: str


def tune_combine(
    partial: Any,
    statistics: Any,
    row_offsets: Any,
    scale: float,
    choices: Sequence[CombineChoice] | None = None,
    progress: Callable[[int, int, Trial[CombineChoice]], None] | None = None,
) -> Tuning[CombineChoice]:
    """The fastest design and tile height for these tensors on their device, kept for device and shape.

    `choices`: by default every design at the height of the largest tile, and `pull` at every height that holds it. Finding the largest tile waits for
    the GPU once. CUDA tensors are timed by CUDA events, the simulator by the clock. What cannot run is left out. `progress` as in `autotune`.
    Raises R090 where no choice is high enough, R091 where none runs.

        best = fa4dsl.torch.tune_combine(partial, statistics, row_offsets, scale).best
        torch.ops.fa4dsl.splitk_combine(partial, statistics, row_offsets, scale, rows=best.rows, design=best.design)
    """
    from fa4dsl.runtime.autotune import autotune

    partitions, total_rows, heads, depth = _shape(partial, statistics, row_offsets)
    offsets = row_offsets.cpu()
    largest = int((offsets[1:] - offsets[:-1]).max())
    on_gpu = partial.device.type == "cuda"
    device = torch.cuda.get_device_name(partial.device) if on_gpu else "simulator"
    out = _new_output(partial, statistics, row_offsets)
    if choices is None:
        choices = [
            CombineChoice(rows, design) for design in DESIGNS for rows in ((32, 64, 96, 128) if design == "pull" else (max(largest, 1),))
        ]

    def measure(choice: CombineChoice) -> float:
        def run() -> None:
            _launch(partial, statistics, row_offsets, scale, out, choice.rows, choice.design)

        if not on_gpu:
            import time

            start = time.perf_counter()
            run()
            return time.perf_counter() - start
        from fa4dsl.runtime.cuda.timing import seconds_per_call

        return seconds_per_call(run, stream=torch.cuda.current_stream(partial.device), device=partial.device.index)

    key = ("splitk_combine", device, partitions, total_rows, heads, depth, len(offsets), largest)
    return autotune([choice for choice in choices if choice.rows >= largest], measure, key=key, progress=progress)
