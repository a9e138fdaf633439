"""Inputs, exact results and error bounds of the combine, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

LOG2_E = 1.4426950408889634
BF16_HALF_ULP = 2.0**-8
"""Largest relative error of rounding to bf16 (8 significant bits)."""
F32_EPSILON = 2.0**-23

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CombineInputs:
    """Partial results as the combine reads them; `R` rows in all, `H` heads."""

    partial: Array
    """f32 ``[P, R, H, D]``: each partition's O, divided by its own sum."""
    statistics: Array
    """f32 ``[P, R, H, 2]``: maximum (raw score units) and sum; -inf and 0 where a partition is empty."""
    row_offsets: Array
    """i32 ``[tiles + 1]``: first row of each tile, then the number of rows."""
    scale_log2e: float
    """Softmax scale times log2(e)."""

    @property
    def total_rows(self) -> int:
        return int(self.partial.shape[1])

    @property
    def heads(self) -> int:
        return int(self.partial.shape[2])


def random_combine_inputs(
    partitions: int, depth: int, rows: int, tiles: int, heads: int, seed: int, *, empty: float = 0.1, stale: float = 8.0
) -> CombineInputs:
    """Random partials as attention leaves them.

    `rows` valid rows in each of `tiles` tiles. A share `empty` of the partitions of a row has seen no key (never partition 0, but in the
    last tile's last row, which is empty everywhere when there is more than one row). Maxima lie up to `stale` (in log2) below the true
    maximum, as lazy rescaling leaves them, and the sums fit them.
    """
    random = np.random.default_rng(seed)
    total = rows * tiles
    scale = 1.0 / np.sqrt(depth)
    scale_log2e = float(np.float32(scale * LOG2_E))
    shape = (partitions, total, heads)
    partial = random.standard_normal((*shape, depth)).astype(np.float32)
    true_maximum = random.uniform(-8.0, 8.0, shape)
    below = random.uniform(0.0, stale, shape)
    maximum = (true_maximum - below / scale_log2e).astype(np.float32)
    total_weight = (random.uniform(1.0, 64.0, shape) * np.exp2(below)).astype(np.float32)
    is_empty = random.random(shape) < empty
    is_empty[0] = False
    if total > 1:
        is_empty[:, -1] = True
    partial[is_empty] = 0.0
    maximum[is_empty] = -np.inf
    total_weight[is_empty] = 0.0
    statistics = np.stack([maximum, total_weight], axis=-1)
    offsets = np.arange(tiles + 1, dtype=np.int32) * np.int32(rows)
    return CombineInputs(partial, np.ascontiguousarray(statistics, np.float32), offsets, scale_log2e)


def combine_reference(inputs: CombineInputs) -> Array:
    """float64 ``[R, H, D]``: sum over p of O_p * l_p * 2**((m_p - M) * c), over the sum of those weights; 0 where all are empty."""
    maximum = inputs.statistics[..., 0].astype(np.float64)
    weight = inputs.statistics[..., 1].astype(np.float64)
    largest = maximum.max(axis=0)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    weight = weight * np.exp2((maximum - largest) * float(np.float32(inputs.scale_log2e)))
    total = weight.sum(axis=0)
    weight = weight / np.where(total > 0.0, total, 1.0)
    return np.asarray(np.einsum("prh,prhd->rhd", weight, inputs.partial.astype(np.float64)))


def combine_tolerance(inputs: CombineInputs) -> Array:
    """Largest error of each element of the result that rounding explains, float64 ``[R, H, D]``.

    bf16 rounds the result once (half an ulp, relative 2**-8). Before that the f32 arithmetic is off, relative to the largest |O| that was
    weighted: (m - M) * c rounds twice at up to |x| in log2, which exp2 turns into a relative error of |x| * ln2 * 2**-23; ex2.approx and
    rcp.approx add 2 and 1 ulp; P products and sums one each.
    """
    exact = np.abs(combine_reference(inputs))
    maximum = inputs.statistics[..., 0].astype(np.float64)
    finite = np.isfinite(maximum)
    largest = np.where(finite, maximum, -np.inf).max(axis=0)
    exponent = np.abs(np.where(finite, maximum - np.where(np.isfinite(largest), largest, 0.0), 0.0)) * inputs.scale_log2e
    # Where a partition's exponent is large its weight is small: |x| * 2**-x is at most 0.54, so the bound need not grow with |x|.
    rounding = (2.0 * np.minimum(exponent.max(axis=0), 8.0) + 2.0 * len(inputs.partial) + 8.0) * F32_EPSILON
    scale = np.abs(inputs.partial).max(axis=(0, 3)).astype(np.float64)
    return np.asarray(exact * BF16_HALF_ULP + (rounding * scale)[..., None] * (1.0 + BF16_HALF_ULP))


def poisoned_output(total_rows: int, heads: int, depth: int, rows_in_front: int, rows_behind: int = 1) -> tuple[Array, Array]:
    """A bf16 output ``[total_rows, heads, depth]`` full of NaN, inside a larger array with mapped rows before and behind; both arrays."""
    whole = np.full((rows_in_front + total_rows + rows_behind, heads, depth), 0xFFFF, np.uint16).view(ml_dtypes.bfloat16)
    return whole[rows_in_front : rows_in_front + total_rows], whole


def is_untouched(guard: Array) -> bool:
    """Whether rows of `poisoned_output` still hold the poison."""
    return bool((guard.view(np.uint16) == 0xFFFF).all())
