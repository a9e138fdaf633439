"""mma.sync.m8n8k4 of f16 (PTX 9.7.14.5.1): four quad pairs of a warp, each with a product of its own. Quad pair q is lanes 4q..4q+3 and 16+4q..16+4q+3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from fa4dsl.runtime.simulator.numerics import product
from fa4dsl.runtime.simulator.numerics.operation import Bits, joined, pieces

_LANE = np.arange(32)
_UPPER = np.where(_LANE < 16, 0, 4)
_ROW = _LANE % 4 + _UPPER


@dataclass(frozen=True)
class QuadMma:
    """One form. Registers come as ``[registers, warps, 32]``; lane l's element i is at (row, column) as `_places` says."""

    d_type: str
    c_type: str
    a_columns: bool
    """A is given by columns."""
    b_rows: bool
    """B is given by rows."""
    a_registers: int = 2
    b_registers: int = 2

    @property
    def d_registers(self) -> int:
        return 4 if self.d_type == "f16" else 8

    @property
    def c_registers(self) -> int:
        return 4 if self.c_type == "f16" else 8

    def multiply(self, a: Bits, b: Bits, c: Bits) -> Bits:
        """D registers from A, B, C registers."""
        left = _matrix(a, 4, _operand_places(not self.a_columns), (8, 4), 16)
        # B's rows are k: kept as [n, k]
        right = _matrix(b, 4, _operand_places(not self.b_rows), (8, 4), 16)
        before = _matrix(c, 8, _places(self.c_type), (8, 8), 16 if self.c_type == "f16" else 32)
        if self.c_type != self.d_type:
            # f16 to an f32 sum: exact
            before = product.numbers(before, "f16").astype(np.float32).view(np.uint32)
        result = product.multiply_accumulate(product.numbers(left, "f16"), product.numbers(right, "f16"), before, self.d_type)
        rows, columns = _places(self.d_type)
        warps = result.shape[0]
        quads = np.broadcast_to((_LANE // 4 % 4)[None, :], rows.shape)
        numbers = result[:, quads, rows, columns].transpose(1, 0, 2)
        if self.d_type == "f16":
            return joined(numbers.reshape(4, 2, warps, 32).transpose(0, 2, 3, 1), 32)
        return np.ascontiguousarray(numbers)


def _operand_places(by_lane: bool) -> tuple[Bits, Bits]:
    """(row or n, k) of element i of each lane, ``[4, 32]``. `by_lane`: the lane chooses the row and i is k; else the other way round."""
    i = np.broadcast_to(np.arange(4)[:, None], (4, 32))
    if by_lane:
        return np.broadcast_to(_ROW[None, :], (4, 32)), i
    return i + _UPPER[None, :], np.broadcast_to((_LANE % 4)[None, :], (4, 32))


def _places(kind: str) -> tuple[Bits, Bits]:
    """(row, column) of accumulator i of each lane, ``[8, 32]``."""
    i = np.broadcast_to(np.arange(8)[:, None], (8, 32))
    if kind == "f16":
        return np.broadcast_to(_ROW[None, :], (8, 32)), i
    return (_LANE & 1)[None, :] + (i & 2) + _UPPER[None, :], (i & 4) + (_LANE & 2)[None, :] + (i & 1)


def _matrix(registers: Bits, count: int, places: tuple[Bits, Bits], shape: tuple[int, int], width: int) -> Bits:
    """Registers to ``[warps, 4 quad pairs, rows, columns]`` element bits."""
    warps = registers.shape[1]
    if width == 16:
        # [register, warp, lane, e] to [element, warp, lane]
        numbers = pieces(registers, 16).transpose(0, 3, 1, 2).reshape(count, warps, 32)
    else:
        numbers = registers
    found = np.zeros((warps, 4, *shape), numbers.dtype)
    quads = np.broadcast_to((_LANE // 4 % 4)[None, :], (count, 32))
    found[:, quads, places[0], places[1]] = numbers.transpose(1, 0, 2)
    return found


@cache
def parse_quad_mma(mnemonic: str) -> QuadMma | None:
    """Decode ``mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype``; None for anything else."""
    words = mnemonic.split(".")
    if words[:4] != ["mma", "sync", "aligned", "m8n8k4"] or len(words) != 10 or words[7:9] != ["f16", "f16"]:
        return None
    a_layout, b_layout, d_type, c_type = words[4], words[5], words[6], words[9]
    if a_layout not in ("row", "col") or b_layout not in ("row", "col") or d_type not in ("f16", "f32") or c_type not in ("f16", "f32"):
        return None
    if (d_type, c_type) == ("f16", "f32"):
        return None
    return QuadMma(d_type, c_type, a_layout == "col", b_layout == "row")
