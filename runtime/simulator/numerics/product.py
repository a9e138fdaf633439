"""The multiply-accumulate of tensor cores.

Products are exact. In the model "nearest" one instruction's sum, its K products and the accumulator, is formed in float64 and rounded once to the
accumulator's type, nearest even. The ISA leaves order, intermediate rounding and subnormals open, so results may differ from a GPU's in the last
bits of an f32; integers and small whole numbers agree exactly. The model "hopper" forms f32 sums of f16 and bf16 products as the hardware does
(`aligned_sum`), at several times the cost.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fa4dsl.runtime.simulator.numerics.aligned_sum import aligned_sum
from fa4dsl.runtime.simulator.numerics.float32 import canonical
from fa4dsl.runtime.simulator.numerics.floats import E4M3_TABLE64, E5M2_TABLE64, F16_TABLE64, to_double
from fa4dsl.runtime.simulator.numerics.half import narrow
from fa4dsl.runtime.simulator.numerics.operation import Bits

Model = Literal["nearest", "hopper"]
ALIGNED_TYPES = ("f16", "bf16")
"""Operand types for which the model "hopper" is known."""

WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
    "f64": 64,
    "f32": 32,
    "s32": 32,
}
"""Bits of an element by type."""
_INTEGERS = ("s8", "u8", "s4", "u4", "b1")


def numbers(bits: Bits, kind: str) -> Bits:
    """Element bits to exact float64 numbers (tf32: the low 13 bits are ignored)."""
    if kind == "f16":
        return F16_TABLE64[bits]
    if kind == "e4m3":
        return E4M3_TABLE64[bits]
    if kind == "e5m2":
        return E5M2_TABLE64[bits]
    if kind == "s8":
        return bits.view(np.int8).astype(np.float64)
    if kind == "s4":
        return (((bits << np.uint8(4)).view(np.int8)) >> np.int8(4)).astype(np.float64)
    if kind in _INTEGERS:
        return bits.astype(np.float64)
    return to_double(bits, kind)


def multiply_accumulate(
    a: Bits, b: Bits, c: Bits | None, kind: str, *, saturate: bool = False, operation: str = "", aligned: bool = False, rounding: str = "rn"
) -> Bits:
    """``a @ b^T + c``: float64 numbers a ``[..., M, K]`` and b ``[..., N, K]``, accumulator bits c ``[..., M, N]`` of `kind` (f32, f16, f64, s32).

    c None means zero. Returns bits of `kind`. `saturate` clamps s32 instead of wrapping. `operation` "xor" or "and": one-bit operands, the count of
    ones of the combined bits. `aligned` chooses the model "hopper" for f32. `rounding` is that of f64.
    """
    with np.errstate(all="ignore"):
        total = np.matmul(a, b.swapaxes(-1, -2))
        if operation == "xor":
            # ones of x ^ y: each one that has no partner
            total = a.sum(-1)[..., :, None] + b.sum(-1)[..., None, :] - 2.0 * total
        if kind == "s32":
            whole = total.astype(np.int64)
            if c is not None:
                whole = whole + c.view(np.int32)
            if saturate:
                whole = np.clip(whole, -(2**31), 2**31 - 1)
            wrapped: Bits = whole.astype(np.uint32)
            return wrapped
        if kind == "f64":
            return _fused_chain(a, b, c, rounding)
        if c is not None:
            total += F16_TABLE64[c] if kind == "f16" else c.view(np.float32)
        if kind == "f16":
            return narrow(total, "f16")
        bits = canonical(total.astype(np.float32))
        if not aligned:
            return bits
        finite = np.isfinite(bits.view(np.float32))
        start = np.zeros(total.shape) if c is None else to_double(c, kind)
        if finite.all():
            return aligned_sum(a, b, start)
        # infinities, NaNs and overflow are decided by the plain sum
        clean = [np.where(np.isfinite(x), x, 0.0) for x in (a, b, start)]
        return np.where(finite, aligned_sum(*clean), bits)


def _fused_chain(a: Bits, b: Bits, c: Bits | None, rounding: str) -> Bits:
    """f64: one fused multiply-add for each k in order, as DMMA does."""
    from fa4dsl.runtime.simulator.numerics.float64 import fused

    shape = (*a.shape[:-1], b.shape[-2])
    total: Any = np.zeros(shape, np.uint64) if c is None else c
    for k in range(a.shape[-1]):
        total = fused(a[..., :, None, k], b[..., None, :, k], total.view(np.float64), rounding)
    return total  # type: ignore[no-any-return]
