"""How Hopper's tensor cores add f16 and bf16 products into an f32.

All products of one instruction and the accumulator are shifted to the greatest exponent among them, each cut to 25 bits below it (towards zero), added
exactly, and the sum is cut to an f32 (towards zero). A product's exponent is the sum of its factors'. Found by fitting this form, known from published
reverse engineering, to an H200's mma.sync.m16n8k16 on random bf16 data: 25 bits over the whole K = 16 gave every bit; other widths and smaller blocks did not.
"""

from __future__ import annotations

import numpy as np

from fa4dsl.runtime.simulator.numerics.floats import round_to_f32
from fa4dsl.runtime.simulator.numerics.operation import Bits

FRACTION_BITS = 25
_NOTHING = -8000


def _exponents(x: Bits) -> Bits:
    """floor(log2 |x|) as int16, far below everything for zero."""
    return np.where(x == 0, np.int16(_NOTHING), (np.frexp(x)[1] - 1).astype(np.int16))


def aligned_sum(a: Bits, b: Bits, c: Bits) -> Bits:
    """f32 bits of ``a @ b^T + c`` for finite float64 numbers a ``[..., M, K]``, b ``[..., N, K]``, c ``[..., M, N]``."""
    # one k at a time, so that the working set [..., M, N] stays in the cache
    a_columns, b_columns = np.ascontiguousarray(np.moveaxis(a, -1, 0)), np.ascontiguousarray(np.moveaxis(b, -1, 0))
    a_exponents, b_exponents = _exponents(a_columns), _exponents(b_columns)
    top = np.maximum(_exponents(c), np.int16(-900))
    for x, y in zip(a_exponents, b_exponents, strict=True):
        np.maximum(top, x[..., :, None] + y[..., None, :], out=top)
    scale = np.ldexp(1.0, FRACTION_BITS - top.astype(np.int32))
    total = np.trunc(c * scale)
    term = np.empty_like(total)
    for x, y in zip(a_columns, b_columns, strict=True):
        np.multiply(x[..., :, None], y[..., None, :], out=term)
        np.multiply(term, scale, out=term)
        np.trunc(term, out=term)
        total += term
    total /= scale
    # a sum of nothing but cut-off negatives is +0
    return round_to_f32(total + 0.0, "rz")
