"""Weights of partial softmax results, and their log of the sum of exponentials."""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from math import e
from math import log2 as host_log2

from fa4dsl import device_function, exp2, f32, log2, maximum, rcp, registers, static_range, where

LOG2_E = host_log2(e)
LN_2 = 1.0 / LOG2_E
EMPTY = -1e30
"""Below every score: the maximum of no scores, so that differences stay numbers."""


@device_function
def softmax_weights(maxima, sums, scale_log2e, *, c):
    """Weight of each partial result, l_i * exp2((m_i - M) * c), not yet divided by their sum; zero where it is empty.

    maxima, sums: register arrays of P f32; -inf and 0 mark an empty one. Returns the weights, M and the weights' sum, in slot order. The
    differences are multiplied by `scale_log2e` only with `c.use_fma`.
    """
    count = len(maxima)
    largest = max(*maxima)
    weights = registers(f32, count)
    for slot in static_range(count):
        difference = maxima[slot] - largest
        scaled = sums[slot] * exp2(difference * scale_log2e if c.use_fma else difference, ftz=True)
        weights[slot] = where(sums[slot] > 0.0, scaled, 0.0)
    return weights, largest, sum(weights)


@device_function
def reciprocal(total):
    """1 / total; 0 where nothing was summed, so that a row that is empty everywhere becomes 0."""
    return where(total > 0.0, rcp(total, ftz=True), 0.0)


@device_function
def log_sum_exp(largest, total, scale_log2e, *, c):
    """ln of the sum of all exponentials; -inf where there are none."""
    base = largest * scale_log2e if c.use_fma else largest
    return where(total > 0.0, (base + log2(total)) * LN_2, float("-inf"))


@device_function
def fold_sink(sinks, head, rank, own_max, own_sum, *, c):
    """With `c.sink`, rank 0's (maximum, sum) with the head's sink folded in, and the factor that keeps its O normalised; else as they are, and 1.

    sinks: natural logits, which take part in the softmax but have no value. Only one rank folds it, so it counts once.
    """
    factor = f32(1.0)
    if c.sink and rank == 0:
        sink = sinks[head] * LOG2_E
        largest = maximum(own_max, sink)
        kept = where(own_sum > 0.0, own_sum * exp2(own_max - largest), 0.0)
        own_max, own_sum = largest, kept + exp2(sink - largest)
        factor = kept * rcp(own_sum)
    return own_max, own_sum, factor
