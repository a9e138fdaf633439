"""Inputs, exact results and error bounds of the combine, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

LOG2_E = 1.4426950408889634
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "e4m3": 2.0**-4, "e5m2": 2.0**-3}
"""Largest relative error of rounding to a type, half an ulp."""
SMALLEST = {"bf16": 0.0, "f16": 2.0**-25, "f32": 0.0, "e4m3": 2.0**-10, "e5m2": 2.0**-17}
"""Half of a type's smallest subnormal, where values of this size occur."""
STORED = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
"""numpy's types of the outputs."""
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
    use_fma: bool = True
    """Maxima are raw scores; else they are in log2 and the scale is in them."""
    sinks: Array | None = None
    """f32 ``[H]``: natural logits that take part in the softmax without a value."""

    @property
    def unit(self) -> float:
        """What a difference of maxima is multiplied by to be in log2."""
        return float(np.float32(self.scale_log2e)) if self.use_fma else 1.0

    @property
    def total_rows(self) -> int:
        return int(self.partial.shape[1])

    @property
    def heads(self) -> int:
        return int(self.partial.shape[2])


def random_combine_inputs(
    partitions: int,
    depth: int,
    rows: int,
    tiles: int,
    heads: int,
    seed: int,
    *,
    empty: float = 0.1,
    stale: float = 8.0,
    use_fma: bool = True,
    sink: bool = False,
    garbage: bool = False,
) -> CombineInputs:
    """Random partials as attention leaves them.

    `rows` valid rows in each of `tiles` tiles. A share `empty` of the partitions of a row has seen no key (never partition 0, but in the
    last tile's last row, which is empty everywhere when there is more than one row). Maxima lie up to `stale` (in log2) below the true
    maximum, as lazy rescaling leaves them, and the sums fit them. With `garbage`, empty partials hold NaN instead of zeros.
    """
    random = np.random.default_rng(seed)
    total = rows * tiles
    scale = 1.0 / np.sqrt(depth)
    scale_log2e = float(np.float32(scale * LOG2_E))
    shape = (partitions, total, heads)
    partial = random.standard_normal((*shape, depth)).astype(np.float32)
    true_maximum = random.uniform(-8.0, 8.0, shape)
    below = random.uniform(0.0, stale, shape)
    maximum = true_maximum - below / scale_log2e
    if not use_fma:
        maximum = maximum * scale_log2e
    maximum = maximum.astype(np.float32)
    total_weight = (random.uniform(1.0, 64.0, shape) * np.exp2(below)).astype(np.float32)
    is_empty = random.random(shape) < empty
    is_empty[0] = False
    if total > 1:
        is_empty[:, -1] = True
    partial[is_empty] = np.nan if garbage else 0.0
    maximum[is_empty] = -np.inf
    total_weight[is_empty] = 0.0
    statistics = np.stack([maximum, total_weight], axis=-1)
    offsets = np.arange(tiles + 1, dtype=np.int32) * np.int32(rows)
    sinks = (random.integers(0, 8, heads) * 0.5 - 1.0).astype(np.float32) if sink else None
    return CombineInputs(partial, np.ascontiguousarray(statistics, np.float32), offsets, scale_log2e, use_fma, sinks)


def _weights(inputs: CombineInputs) -> tuple[Array, Array, Array]:
    """float64: weights ``[P, R, H]``, not divided, their sum ``[R, H]`` (with the sinks'), and the maximum in log2 that they refer to."""
    maximum = inputs.statistics[..., 0].astype(np.float64) * inputs.unit
    maximum[np.isneginf(inputs.statistics[..., 0])] = -np.inf  # also where the unit is 0
    largest = maximum.max(axis=0)
    sinks = None if inputs.sinks is None else inputs.sinks.astype(np.float64) * LOG2_E
    if sinks is not None:
        largest = np.maximum(largest, sinks)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    weight = inputs.statistics[..., 1].astype(np.float64) * np.exp2(maximum - largest)
    total = weight.sum(axis=0)
    if sinks is not None:
        total = total + np.exp2(sinks - largest)
    return weight, total, largest


def combine_reference(inputs: CombineInputs) -> Array:
    """float64 ``[R, H, D]``: sum over p of O_p * l_p * 2**((m_p - M) * c), over the sum of those weights; 0 where all are empty."""
    weight, total, _ = _weights(inputs)
    weight = weight / np.where(total > 0.0, total, 1.0)
    partial = np.where(weight[..., None] > 0.0, inputs.partial, 0.0).astype(np.float64)
    return np.asarray(np.einsum("prh,prhd->rhd", weight, partial))


def lse_reference(inputs: CombineInputs) -> Array:
    """float64 ``[R, H]``: natural log of the sum of exponentials; -inf where all partitions are empty and there is no sink."""
    _, total, largest = _weights(inputs)
    with np.errstate(divide="ignore"):
        return np.asarray((largest + np.log2(total)) / LOG2_E)


def lse_tolerance(inputs: CombineInputs) -> Array:
    """Largest error of the LSE: f32 rounds it and the maximum in log2 a few times; lg2.approx adds 2**-22."""
    exact = lse_reference(inputs)
    return np.asarray((np.abs(np.where(np.isfinite(exact), exact, 0.0)) + 16.0) * 16.0 * F32_EPSILON)


def combine_tolerance(inputs: CombineInputs, output: str = "bf16") -> Array:
    """Largest error of each element of the result that rounding explains, float64 ``[R, H, D]``.

    The output type rounds the result once (half an ulp; bf16 relative 2**-8). Before that the f32 arithmetic is off, relative to the largest |O|
    that was weighted: (m - M) * c rounds twice at up to |x| in log2, which exp2 turns into a relative error of |x| * ln2 * 2**-23; ex2.approx
    and rcp.approx add 2 and 1 ulp; P products and sums one each.
    """
    exact = np.abs(combine_reference(inputs))
    maximum = inputs.statistics[..., 0].astype(np.float64)
    finite = np.isfinite(maximum)
    largest = np.where(finite, maximum, -np.inf).max(axis=0)
    exponent = np.abs(np.where(finite, maximum - np.where(np.isfinite(largest), largest, 0.0), 0.0)) * inputs.unit
    # Where a partition's exponent is large its weight is small: |x| * 2**-x is at most 0.54, so the bound need not grow with |x|.
    rounding = (2.0 * np.minimum(exponent.max(axis=0), 8.0) + 2.0 * len(inputs.partial) + 8.0) * F32_EPSILON
    if inputs.sinks is not None:
        rounding = rounding + 8.0 * F32_EPSILON  # rank 0's fold: one exponential, one quotient
    scale = np.abs(np.where(finite[..., None], inputs.partial, 0.0)).max(axis=(0, 3)).astype(np.float64)
    half_ulp = ROUNDING[output]
    return np.asarray(exact * half_ulp + (rounding * scale)[..., None] * (1.0 + half_ulp) + SMALLEST[output])


def poisoned_output(
    total_rows: int, heads: int, depth: int, rows_in_front: int, rows_behind: int = 1, output: str = "bf16"
) -> tuple[Array, Array]:
    """An output ``[total_rows, heads, depth]`` full of NaN, inside a larger array with rows before and behind; both arrays."""
    stored = np.dtype(STORED[output])
    whole = np.full((rows_in_front + total_rows + rows_behind, heads, depth * stored.itemsize), 0xFF, np.uint8).view(stored)
    return whole[rows_in_front : rows_in_front + total_rows], whole


def is_untouched(guard: Array) -> bool:
    """Whether rows of `poisoned_output` still hold the poison."""
    return bool((guard.view(np.uint8) == 0xFF).all())
