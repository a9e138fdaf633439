"""One combine on random inputs: its arrays, and the verdict on what came out. Needs neither MLIR nor a GPU, so a carried artifact can be tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fa4dsl.kernels.combine import CombineArrays, combine_arguments, combine_grid, counter_elements, workspace_elements
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.reference import (
    CombineInputs,
    combine_reference,
    combine_tolerance,
    is_untouched,
    lse_reference,
    lse_tolerance,
    poisoned_output,
    random_combine_inputs,
)


@dataclass(frozen=True)
class Judgement:
    """How far a result is from the exact one."""

    max_abs_error: float
    """Largest |result - reference|; infinity where the result has a NaN."""
    tolerance: float
    """The bound at the element with the largest error; every element has its own (`worst_share`)."""
    worst_share: float
    """Largest error, of the output and of the LSE, as a share of its own element's bound; at most 1 when the result is right."""
    relative_l2: float
    """|result - reference| / |reference|, Euclidean."""
    worse_half: float
    """The larger of the relative L2 errors of the left and the right half of the columns, over the smaller: bands in the wrong place show here."""
    neighbours_untouched: bool
    """Rows before the first and behind the last still hold what they held, and counters are back at 0."""

    @property
    def ok(self) -> bool:
        return self.worst_share <= 1.0 and self.neighbours_untouched


@dataclass
class CombineCase:
    """A configuration on `rows` valid rows (positions, where heads are fused) in each of `tiles` tiles, and `heads` heads (key heads)."""

    config: CombineConfig
    rows: int
    tiles: int = 1
    heads: int = 1
    seed: int = 0
    rows_in_front: int = 3
    """Guard rows before the output."""
    empty: float = 0.1
    scale_log2e: float | None = None
    inputs: CombineInputs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        config = self.config
        self.inputs = random_combine_inputs(
            config.partitions * config.clusters,
            config.depth,
            self.rows,
            self.tiles,
            self.heads * config.group,
            self.seed,
            empty=self.empty,
            use_fma=config.use_fma,
            sink=config.sink,
            garbage=True,
        )

    @property
    def grid(self) -> tuple[int, int, int]:
        return combine_grid(self.config, self.tiles, self.heads)

    @cached_property
    def arrays(self) -> CombineArrays:
        """Poisoned output and LSE, NaN in the workspace."""
        config, inputs = self.config, self.inputs
        all_heads = self.heads * config.group
        self.output, self.whole = poisoned_output(inputs.total_rows, all_heads, config.depth, self.rows_in_front, 1, config.output)
        self.lse = np.full((inputs.total_rows, all_heads), np.nan, np.float32)
        output = self.output
        if config.group > 1:
            output = output.reshape(inputs.total_rows, self.heads, config.group, config.depth)
        many = config.clusters > 1
        return CombineArrays(
            inputs.partial,
            inputs.statistics,
            inputs.row_offsets,
            output,
            inputs.total_rows,
            self.heads,
            inputs.scale_log2e,
            inputs.sinks,
            self.lse if config.lse else None,
            np.full(workspace_elements(config, self.tiles, self.heads), np.nan, np.float32) if many else None,
            np.zeros(counter_elements(config, self.tiles, self.heads), np.int32) if many else None,
        )

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        return combine_arguments(self.config, self.arrays)

    def judge(self) -> Judgement:
        """The result in the arrays against the float64 reference."""
        result, exact = self.output.astype(np.float64), combine_reference(self.inputs)
        error, bound_at, share, l2 = compare(result, exact, combine_tolerance(self.inputs, self.config.output))
        if self.config.lse:
            share = max(share, lse_share(self.lse, self.inputs))
        halves = []
        for columns in (slice(None, self.config.depth // 2), slice(self.config.depth // 2, None)):
            norm = float(np.linalg.norm(exact[..., columns]))
            halves.append(float(np.linalg.norm(result[..., columns] - exact[..., columns])) / norm if norm else 0.0)
        front, counters = self.rows_in_front, self.arrays.counters
        untouched = is_untouched(self.whole[:front]) and is_untouched(self.whole[front + self.inputs.total_rows :])
        if counters is not None:
            untouched = untouched and not counters.any()
        worse = max(halves) / max(min(halves), 1e-12) if max(halves) > 0.0 else 1.0
        return Judgement(error, bound_at, share, l2, worse, untouched)


def compare(result: Any, exact: Any, bound: Any) -> tuple[float, float, float, float]:
    """Largest error, the bound there, the largest share of its own bound that an error takes, and the relative L2 error."""
    error = np.abs(result - exact)
    if not np.isfinite(error).all():
        return float("inf"), float(bound.max()), float("inf"), float("inf")
    share = np.divide(error, bound, out=np.zeros_like(error), where=bound > 0.0)
    share[(bound == 0.0) & (error > 0.0)] = np.inf
    largest = np.unravel_index(int(error.argmax()), error.shape)
    norm = float(np.linalg.norm(exact))
    l2 = float(np.linalg.norm(result - exact)) / norm if norm else 0.0
    return float(error[largest]), float(bound[largest]), float(share.max()), l2


def lse_share(lse: Any, inputs: CombineInputs) -> float:
    """Largest error of the LSE as a share of its bound; infinity for a NaN or a -inf that should be a number, or the other way round."""
    exact = lse_reference(inputs)
    infinite = np.isneginf(exact)
    if not (np.isneginf(lse) == infinite).all() or np.isnan(lse).any():
        return float("inf")
    with np.errstate(invalid="ignore"):
        error = np.where(infinite, 0.0, np.abs(lse - exact))
    return float((error / lse_tolerance(inputs)).max())
