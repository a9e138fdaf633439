"""wgmma.mma_async (PTX 9.7.15): decoding the mnemonic, and the product of warpgroups' tiles.

The caller reads the operands: `a_pieces` and `b_pieces` say which 16-byte pieces of shared memory to fetch, `tile` turns the fetched bytes into numbers,
`a_from_registers` does so for a register operand, and `multiply` forms the new accumulator registers. Everything is batched over warpgroups.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics import descriptor, fragments, product, sparse
from fa4dsl.runtime.simulator.numerics.operation import Bits, pieces
from fa4dsl.runtime.simulator.numerics.sparse import Sparsity

_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_INTEGER_N = (8, 16, 24, *range(32, 257, 16))


@dataclass(frozen=True)
class Wgmma:
    """One form of wgmma.mma_async. M is 64; a row of A or B holds 32 bytes of K elements; 64 bytes of B in sparse forms, whose `k` counts the left-out ones too."""

    n: int
    k: int
    d_type: str
    a_type: str
    b_type: str
    saturate: bool = False
    operation: str = ""
    sparsity: Sparsity | None = None

    @property
    def d_registers(self) -> int:
        """Accumulator registers of a thread."""
        return self.n // 4 if self.d_type == "f16" else self.n // 2

    @property
    def a_registers(self) -> int:
        """Registers of a thread that hold A when it does not come from shared memory."""
        return 4

    @property
    def has_scales(self) -> bool:
        """Whether imm-scale-a and imm-scale-b follow scale-d (float types)."""
        return self.d_type != "s32"

    @property
    def has_transposes(self) -> bool:
        """Whether imm-trans immediates follow, one for each operand in shared memory (f16 and bf16)."""
        return self.a_type in ("f16", "bf16")

    @property
    def element_bytes(self) -> int:
        return max(product.WIDTHS[self.a_type] // 8, 1)

    def a_pieces(self, descriptors: Bits, transposed: bool = False) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Shared addresses of A's 16-byte pieces by uint64 descriptors ``[groups]``: ``[groups, 64, 2]``, transposed ``[groups, K, 8]``."""
        return descriptor.piece_addresses(descriptors, 64, 32, transposed, self.element_bytes)

    def b_pieces(self, descriptors: Bits, transposed: bool = False) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Shared addresses of B's 16-byte pieces: ``[groups, N, 2]``, transposed ``[groups, K, N / 8]``."""
        return descriptor.piece_addresses(descriptors, self.n, 64 if self.sparsity else 32, transposed, self.element_bytes)

    def tile(self, data: Bits, kind: str, transposed: bool = False) -> Bits:
        """Fetched pieces, uint8 ``[groups, rows, pieces, 16]``, to numbers ``[groups, rows, K]``. `kind` is the element type."""
        raw = np.ascontiguousarray(data).reshape(*data.shape[:-2], -1)
        width = product.WIDTHS[kind]
        bits = raw.view(f"u{width // 8}") if width >= 8 else fragments.elements(raw, width).reshape(*raw.shape[:-1], -1)
        values = product.numbers(bits, kind)
        return values.swapaxes(-1, -2) if transposed else values

    def a_from_registers(self, registers: Bits) -> Bits:
        """A's registers, uint32 ``[4, groups, 128]``, to numbers ``[groups, 64, K]``."""
        return product.numbers(fragments.rows16(registers, product.WIDTHS[self.a_type]), self.a_type)

    def multiply(
        self,
        a: Bits,
        b: Bits,
        registers: Bits,
        scale_d: Bits | bool = True,
        scale_a: int = 1,
        scale_b: int = 1,
        model: product.Model = "nearest",
        kept: Bits | None = None,
    ) -> Bits:
        """New accumulator registers ``[d_registers, groups, 128]`` (uint32) from the old ones.

        a ``[groups, 64, K]`` and b ``[groups, N, K]`` are numbers; `scale_d` (one truth, or one for each group) false drops the old accumulator;
        `scale_a`, `scale_b` of -1 negate. `model`: see `product`. `kept`: the columns of A's elements in a sparse form, ``[groups, 64, K / 2]``.
        """
        old = fragments.accumulators(registers, product.WIDTHS[self.d_type], 64)
        keep = np.broadcast_to(np.asarray(scale_d, np.bool_), (registers.shape[1],))
        c: Bits | None = old
        if not keep.any():
            c = None
        elif not keep.all():
            c = np.where(keep[:, None, None], old, old.dtype.type(0))
        if scale_a * scale_b < 0:
            a = -a
        if kept is not None:
            total = sparse.multiply(a, kept, b, c, self.d_type, self.k, saturate=self.saturate)
            return fragments.to_accumulators(total, 128)
        result = product.multiply_accumulate(
            a,
            b,
            c,
            self.d_type,
            saturate=self.saturate,
            operation=self.operation,
            aligned=model == "hopper" and self.a_type in product.ALIGNED_TYPES,
        )
        return fragments.to_accumulators(result, 128)


_TYPES: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {
    ("f16", "f16"): (16, ("f16", "f32")),
    ("bf16", "bf16"): (16, ("f32",)),
    ("tf32", "tf32"): (8, ("f32",)),
    ("b1", "b1"): (256, ("s32",)),
    **{(a, b): (32, ("f16", "f32")) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
    **{(a, b): (32, ("s32",)) for a in ("s8", "u8") for b in ("s8", "u8")},
}


@cache
def parse_wgmma(mnemonic: str) -> Wgmma | None:
    """Decode ``wgmma.mma_async{.sp}.sync.aligned.m64nNkK...``; None when sm_90a has no such form."""
    words = mnemonic.split(".")
    is_sparse = words[2:3] == ["sp"]
    if is_sparse:
        words.pop(2)
    if words[:4] != ["wgmma", "mma_async", "sync", "aligned"] or len(words) < 8:
        return None
    shape = _SHAPE.fullmatch(words[4])
    rest = words[5:]
    saturate = "satfinite" in rest
    if saturate:
        rest.remove("satfinite")
    operation = ""
    if rest[-2:] in (["and", "popc"], ["xor", "popc"]):
        operation = rest[-2]
        rest = rest[:-2]
    if shape is None or len(rest) != 3:
        return None
    n, k = int(shape[1]), int(shape[2])
    d_type, a_type, b_type = rest
    known = _TYPES.get((a_type, b_type))
    if known is None or known[0] * (2 if is_sparse else 1) != k or d_type not in known[1] or n % 8 or not 8 <= n <= 256:
        return None
    if d_type == "s32" and n not in _INTEGER_N:
        return None
    if (saturate and a_type not in ("s8", "u8")) or (operation != "and" if a_type == "b1" else bool(operation)):
        return None
    if not is_sparse:
        return Wgmma(n, k, d_type, a_type, b_type, saturate, operation)
    if a_type == "b1":
        return None
    return Wgmma(n, k, d_type, a_type, b_type, saturate, operation, Sparsity(k, product.WIDTHS[a_type]))


def shared_pieces(memory: Bits, addresses: Bits) -> Bits:
    """Fetch 16-byte pieces at 16-aligned `addresses` of a byte array: uint8 ``[..., 16]``."""
    whole = memory[: len(memory) // 16 * 16].view(np.complex128)
    return pieces(whole[addresses >> 4].view(np.uint64), 8).reshape(*addresses.shape, 16)
