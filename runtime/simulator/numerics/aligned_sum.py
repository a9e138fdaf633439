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
_BLOCK = 1 << 16


def _exponents(x: Bits) -> Bits:
    """floor(log2 |x|) as int32, far below everything for zero."""
    return np.where(x == 0, np.int32(_NOTHING), np.frexp(x)[1] - np.int32(1))


def aligned_sum(a: Bits, b: Bits, c: Bits) -> Bits:
    """f32 bits of ``a @ b^T + c`` for finite float64 numbers a ``[..., M, K]``, b ``[..., N, K]``, c ``[..., M, N]``."""
    m, k = a.shape[-2:]
    n = b.shape[-2]
    shape = (*a.shape[:-2], m, n)
    left, right, start = a.reshape(-1, m, k), b.reshape(-1, n, k), np.broadcast_to(c, shape).reshape(-1, m, n)
    result = np.empty(start.shape, np.uint32)
    step = max(_BLOCK // (n * k), 1)
    for batch in range(len(left)):
        columns, columns_exponent = right[batch], _exponents(right[batch])
        for row in range(0, m, step):
            some = slice(row, row + step)
            result[batch, some] = _one(left[batch, some], columns, columns_exponent, start[batch, some])
    return result.reshape(shape)


def _one(a: Bits, b: Bits, b_exponent: Bits, c: Bits) -> Bits:
    products = a[:, None, :] * b[None, :, :]
    top = (_exponents(a)[:, None, :] + b_exponent[None, :, :]).max(axis=-1)
    top = np.maximum(np.maximum(top, _exponents(c)), -900)
    scale = np.ldexp(1.0, FRACTION_BITS - top)
    products *= scale[..., None]
    total = np.trunc(products, out=products).sum(axis=-1) + np.trunc(c * scale)
    return round_to_f32(total / scale + 0.0, "rz")
