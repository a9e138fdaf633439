"""The combine from the host: the kernel of a configuration, its grid and its arguments, one interface for every design."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.kernels.combine_config import CombineConfig

if TYPE_CHECKING:
    from fa4dsl.kernel_object import BoundKernel, Kernel


def combine_kernel(config: CombineConfig) -> BoundKernel:
    """The kernel of a configuration; compiles nothing yet."""
    kernel: Kernel
    if config.design == "pull":
        from fa4dsl.kernels.splitk_combine import splitk_combine

        kernel = splitk_combine
    else:
        from fa4dsl.kernels.splitk_exchange import splitk_exchange

        kernel = splitk_exchange(config.output)
    return kernel.bind(c=config)


def combine_grid(config: CombineConfig, tiles: int, heads: int) -> tuple[int, int, int]:
    """CTAs: a cluster, or `clusters` of them, for each piece of each tile of each head (each key head where heads are fused)."""
    return tiles * config.pieces * config.clusters * config.partitions, heads, 1


def workspace_elements(config: CombineConfig, tiles: int, heads: int) -> int:
    """f32 elements of the workspace of a launch; 0 with one cluster for a tile."""
    return 0 if config.clusters == 1 else tiles * config.pieces * heads * config.clusters * config.quads * 8


def counter_elements(config: CombineConfig, tiles: int, heads: int) -> int:
    """i32 counters of a launch, zero before the first; 0 with one cluster for a tile."""
    return 0 if config.clusters == 1 else tiles * config.pieces * heads * config.partitions


@dataclass(frozen=True)
class CombineArrays:
    """What a combine reads and writes. Shapes as `splitk_combine` has them; numpy, torch, cupy or any other array."""

    partial: Any
    statistics: Any
    row_offsets: Any
    output: Any
    total_rows: int
    heads: int
    scale_log2e: float
    sinks: Any = None
    lse: Any = None
    workspace: Any = None
    counters: Any = None


def combine_arguments(config: CombineConfig, arrays: CombineArrays) -> tuple[Any, ...]:
    """The kernel's arguments in order. What the configuration does not use is an empty place: a one-element array that nothing touches."""
    words = spare(arrays.statistics)
    numbers = spare(arrays.row_offsets)
    given: list[Any] = [
        arrays.partial,
        arrays.statistics,
        arrays.row_offsets,
        arrays.output,
        arrays.total_rows,
        arrays.heads,
        arrays.scale_log2e,
    ]
    given += [words if array is None else array for array in (arrays.sinks, arrays.lse)]
    if config.design != "pull":
        given.append(words if arrays.workspace is None else arrays.workspace)
        given.append(numbers if arrays.counters is None else arrays.counters)
    return tuple(given)


def spare(like: Any, dtype: str = "") -> Any:
    """One element where an array lies, of its type or of another ("float32")."""
    if isinstance(like, np.ndarray):
        return np.zeros(1, dtype or like.dtype)
    made = getattr(like, "new_empty", None)
    if made is not None:  # torch
        return made(1, dtype=getattr(sys.modules["torch"], dtype)) if dtype else made(1)
    return like.view(dtype).reshape(-1)[:1] if dtype else like[..., :1]
