"""Matrix instructions of one warp (PTX 9.7.14.5): mma.sync, ldmatrix, stmatrix, movmatrix. Batched over warps: registers are ``[registers, warps, 32]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from fa4dsl.runtime.simulator.numerics import fragments, product
from fa4dsl.runtime.simulator.numerics.operation import Bits

_SHAPE = re.compile(r"m(\d+)n8k(\d+)")
# (a, b) types to the accumulator types and the shapes (m, k)
_FORMS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[tuple[int, int], ...]]] = {
    ("f16", "f16"): (("f16", "f32"), ((16, 8), (16, 16))),
    ("bf16", "bf16"): (("f32",), ((16, 8), (16, 16))),
    ("tf32", "tf32"): (("f32",), ((16, 4), (16, 8))),
    ("f64", "f64"): (("f64",), ((8, 4), (16, 4), (16, 8), (16, 16))),
    ("b1", "b1"): (("s32",), ((8, 128), (16, 128), (16, 256))),
    **{(a, b): (("f16", "f32"), ((16, 16), (16, 32))) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
    **{(a, b): (("s32",), ((8, 16), (16, 16), (16, 32))) for a in ("s8", "u8") for b in ("s8", "u8")},
    **{(a, b): (("s32",), ((8, 32), (16, 32), (16, 64))) for a in ("s4", "u4") for b in ("s4", "u4")},
}


@dataclass(frozen=True)
class Mma:
    """One form of mma.sync with N = 8, A by rows and B by columns."""

    m: int
    k: int
    d_type: str
    a_type: str
    b_type: str
    saturate: bool = False
    operation: str = ""
    rounding: str = "rn"

    def _count(self, rows: int, kind: str) -> int:
        return rows * self.k * product.WIDTHS[kind] // (32 * (64 if kind == "f64" else 32))

    @property
    def a_registers(self) -> int:
        """Registers of a lane for A (64-bit ones for f64)."""
        return self._count(self.m, self.a_type)

    @property
    def b_registers(self) -> int:
        """Registers of a lane for B."""
        return self._count(8, self.b_type)

    @property
    def d_registers(self) -> int:
        """Registers of a lane for C and for D."""
        return self.m // 8 if self.d_type == "f16" else self.m // 4

    def multiply(self, a: Bits, b: Bits, c: Bits, model: product.Model = "hopper") -> Bits:
        """D registers from A, B, C registers ``[registers, warps, 32]``: uint32, for f64 uint64. `model`: see `product`; one instruction is small, so the hardware's own is the default."""
        width = product.WIDTHS[self.a_type]
        rows = fragments.rows16(a, width) if self.m == 16 else fragments.rows8(a, width)
        columns = fragments.rows8(b, product.WIDTHS[self.b_type])
        accumulator = fragments.accumulators(c, product.WIDTHS[self.d_type], self.m)
        result = product.multiply_accumulate(
            product.numbers(rows, self.a_type),
            product.numbers(columns, self.b_type),
            accumulator,
            self.d_type,
            saturate=self.saturate,
            operation=self.operation,
            aligned=model == "hopper" and self.a_type in product.ALIGNED_TYPES,
            rounding=self.rounding,
        )
        return fragments.to_accumulators(result, 32)


@cache
def parse_mma(mnemonic: str) -> Mma | None:
    """Decode ``mma.sync.aligned.mMn8kK.row.col...``; None for forms of other modules (`quad_matrix`: m8n8k4 of f16; `sparse`) or of other targets."""
    words = mnemonic.split(".")
    if words[:3] != ["mma", "sync", "aligned"] or len(words) < 10 or words[4:6] != ["row", "col"]:
        return None
    shape = _SHAPE.fullmatch(words[3])
    rest = words[6:]
    saturate = rest[0] == "satfinite"
    if saturate:
        rest = rest[1:]
    rounding = "rn"
    if rest[0] in ("rn", "rz", "rm", "rp"):
        rounding = rest[0]
        rest = rest[1:]
        if rest[:1] != ["f64"]:
            return None
    operation = ""
    if rest[-1] == "popc" and rest[-2] in ("and", "xor"):
        operation = rest[-2]
        rest = rest[:-2]
    if shape is None or len(rest) != 4:
        return None
    d_type, a_type, b_type, c_type = rest
    form = _FORMS.get((a_type, b_type))
    if form is None or c_type != d_type or d_type not in form[0] or (int(shape[1]), int(shape[2])) not in form[1]:
        return None
    if (saturate and a_type not in ("s8", "u8", "s4", "u4")) or (a_type == "b1") != bool(operation):
        return None
    return Mma(int(shape[1]), int(shape[2]), d_type, a_type, b_type, saturate, operation, rounding)


def row_addresses(addresses: Bits, count: int) -> Bits:
    """Of lane addresses ``[warps, 32]`` those that ldmatrix and stmatrix .x`count` use: ``[warps, count, 8]``, 16 bytes each."""
    return addresses[..., : 8 * count].reshape(*addresses.shape[:-1], count, 8)


def load_matrices(rows: Bits, transposed: bool) -> Bits:
    """ldmatrix: bytes of the rows, uint8 ``[warps, count, 8, 16]``, to registers uint32 ``[count, warps, 32]``."""
    halves = np.ascontiguousarray(rows).view(np.uint16)
    if transposed:
        halves = np.ascontiguousarray(halves.swapaxes(-1, -2))
    registers = halves.view(np.uint32).reshape(*rows.shape[:2], 32)
    return np.ascontiguousarray(registers.swapaxes(0, 1))


def store_matrices(registers: Bits, transposed: bool) -> Bits:
    """stmatrix: registers uint32 ``[count, warps, 32]`` to the bytes of the rows, uint8 ``[warps, count, 8, 16]``."""
    count, warps, _ = registers.shape
    halves = np.ascontiguousarray(registers.swapaxes(0, 1)).reshape(warps, count, 8, 4).view(np.uint16)
    if transposed:
        halves = np.ascontiguousarray(halves.swapaxes(-1, -2))
    rows: Bits = halves.view(np.uint8)
    return rows


def transpose_matrix(register: Bits) -> Bits:
    """movmatrix.trans: uint32 ``[warps, 32]``."""
    moved: Bits = load_matrices(store_matrices(register[None], False), True)[0]
    return moved
