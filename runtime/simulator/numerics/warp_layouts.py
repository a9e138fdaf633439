"""Where wmma keeps its matrices (PTX 9.7.14.4). The ISA leaves the layout open; these are the layouts of mma.sync, which Hopper's wmma is made of.

A matrix is two arrays ``[elements, 32]``, the row and the column of each element of each lane, elements counted through the registers from the lowest bits on. A fragment of
more registers than the matrix needs holds it several times (f16 operands: always eight registers).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from fa4dsl.runtime.simulator.numerics import product
from fa4dsl.runtime.simulator.numerics.operation import Bits

SHAPES: dict[str, tuple[int, int, int]] = {
    "m16n16k16": (16, 16, 16), "m8n32k16": (8, 32, 16), "m32n8k16": (32, 8, 16), "m16n16k8": (16, 16, 8), "m8n8k4": (8, 8, 4), "m8n8k32": (8, 8, 32),
    "m8n8k128": (8, 8, 128),
}  # fmt: skip
_WIDE = ("m16n16k16", "m8n32k16", "m32n8k16")
# (a, b) types to the shapes and the (d, c) types
FORMS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "f16": (_WIDE, (("f16", "f16"), ("f32", "f16"), ("f16", "f32"), ("f32", "f32"))),
    "bf16": (_WIDE, (("f32", "f32"),)),
    "s8": (_WIDE, (("s32", "s32"),)),
    "u8": (_WIDE, (("s32", "s32"),)),
    "tf32": (("m16n16k8",), (("f32", "f32"),)),
    "f64": (("m8n8k4",), (("f64", "f64"),)),
    "s4": (("m8n8k32",), (("s32", "s32"),)),
    "u4": (("m8n8k32",), (("s32", "s32"),)),
    "b1": (("m8n8k128",), (("s32", "s32"),)),
}
_GROUP, _IN_GROUP = np.arange(32) // 4, np.arange(32) % 4


@dataclass(frozen=True, eq=False)
class Fragment:
    """A matrix operand: `rows` and `columns` of its elements ``[elements, 32]``, `registers` of a lane, `per_register` elements in each."""

    rows: Bits
    columns: Bits
    registers: int
    per_register: int
    width: int
    """Bits of an element."""
    shape: tuple[int, int]
    copies: int = 1

    @property
    def register_bytes(self) -> int:
        return 8 if self.width == 64 else 4


def _operand(lines: int, k: int, width: int) -> tuple[Bits, Bits]:
    """(line, k) of an operand with 8, 16 or 32 lines: rows of A, or columns of B."""
    elements = 1 if width >= 32 else 32 // width
    line, column = [], []
    blocks = k // (4 * elements)
    for tile in range(max(lines // 16, 1)):
        for block in range(blocks):
            for half in range(2 if lines >= 16 else 1):
                for e in range(elements):
                    line.append(16 * tile + 8 * half + _GROUP)
                    column.append(4 * elements * block + elements * _IN_GROUP + e)
    return np.array(line), np.array(column)


def _columns(lines: int, k: int, width: int) -> tuple[Bits, Bits]:
    """(column, k) of B, made of parts of eight columns."""
    parts = [_operand(8, k, width) for _ in range(lines // 8)]
    return np.concatenate([part[0] + 8 * index for index, part in enumerate(parts)]), np.concatenate([part[1] for part in parts])


def _accumulator(m: int, n: int) -> tuple[Bits, Bits]:
    row, column = [], []
    for tile in range(max(m // 16, 1)):
        for part in range(n // 8):
            for half in range(2 if m >= 16 else 1):
                for e in range(2):
                    row.append(16 * tile + 8 * half + _GROUP)
                    column.append(8 * part + 2 * _IN_GROUP + e)
    return np.array(row), np.array(column)


@cache
def fragment(operand: str, shape: str, kind: str) -> Fragment | None:
    """The layout of operand "a", "b" or "c" (d is like c) with elements of `kind`; None where wmma has no such matrix."""
    size = SHAPES.get(shape)
    if size is None:
        return None
    m, n, k = size
    width = product.WIDTHS.get(kind, 0)
    if operand == "c":
        if not any(shape in shapes and any(kind in pair for pair in pairs) for shapes, pairs in FORMS.values()):
            return None
        # eight rows and 32 columns are 32 rows and eight columns seen from the side
        rows, columns = _accumulator(m, n) if n < 32 else _accumulator(n, m)[::-1]
        return _fragment(rows, columns, width, (m, n))
    if kind not in FORMS or shape not in FORMS[kind][0]:
        return None
    if operand == "a":
        rows, columns = _operand(m, k, width)
        return _fragment(rows, columns, width, (m, k), kind)
    columns, rows = _operand(n, k, width) if n == 32 else _columns(n, k, width)
    return _fragment(rows, columns, width, (k, n), kind)


def _fragment(rows: Bits, columns: Bits, width: int, shape: tuple[int, int], kind: str = "") -> Fragment:
    per_register = 1 if width >= 32 else 32 // width
    copies = 16 // len(rows) if kind == "f16" else 1
    return Fragment(rows, columns, len(rows) // per_register * copies, per_register, width, shape, copies)


def gather(layout: Fragment, registers: Bits) -> Bits:
    """Registers ``[registers, warps, 32]`` to element bits ``[warps, rows, columns]``."""
    from fa4dsl.runtime.simulator.numerics.fragments import elements

    parts = elements(registers[: layout.registers // layout.copies], layout.width)
    # [register, warp, lane, e] to [warp, element, lane]
    numbers = parts.transpose(1, 0, 3, 2).reshape(registers.shape[1], -1, 32)
    found = np.zeros((registers.shape[1], *layout.shape), numbers.dtype)
    found[:, layout.rows, layout.columns] = numbers
    return found


def spread(layout: Fragment, matrix: Bits) -> Bits:
    """The inverse for accumulators: element bits ``[warps, rows, columns]`` of 16, 32 or 64 to registers ``[registers, warps, 32]``."""
    from fa4dsl.runtime.simulator.numerics.operation import joined

    numbers = matrix[:, layout.rows, layout.columns].swapaxes(0, 1)
    if layout.width == 16:
        pairs = numbers.reshape(-1, 2, *numbers.shape[1:])
        return joined(np.moveaxis(pairs, 1, -1), 32)
    return np.ascontiguousarray(numbers)
