"""What a pure instruction is: registers in, registers out, nothing else.

Registers are arrays of raw bits, one entry for each thread. Sources may have any shapes that broadcast together: give an immediate as
an array of shape ``(1,)``, never as a numpy scalar (scalar integers warn on wrap-around).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]
Run = Callable[..., tuple[Bits, ...]]
Container = Literal["pred", "b8", "b16", "b32", "b64", "cc"]

CONTAINER_DTYPE: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    "b8": np.dtype(np.uint8),
    "b16": np.dtype(np.uint16),
    "b32": np.dtype(np.uint32),
    "b64": np.dtype(np.uint64),
    "cc": np.dtype(np.bool_),
}
"""The dtype of the raw bits of each container. "cc" is the carry flag CC.CF, kept by the machine for each thread."""

_BY_WIDTH: dict[int, Container] = {8: "b8", 16: "b16", 32: "b32", 64: "b64"}


@dataclass(frozen=True)
class PureOp:
    """One mnemonic, decoded.

    `sources` and `results` name the containers in operand order; ``run(*sources)`` returns a tuple of as many arrays as `results` has
    entries. A "cc" source comes last, a "cc" result too. `setp` always gives two predicates: drop the second when the instruction has no ``|q``.

    `result_signed`: a destination register wider than the result's container (allowed for `cvt`) is filled by sign extension, otherwise by zeros.
    A source register wider than its container is read at its low bits.
    """

    mnemonic: str
    sources: tuple[Container, ...]
    results: tuple[Container, ...]
    run: Run
    result_signed: bool = False

    @property
    def raw(self) -> Run:
        """`run` without the two microseconds of its own ``np.errstate``: for callers that hold ``np.errstate(all="ignore")`` themselves."""
        return getattr(self.run, "raw", self.run)


class Words:
    """The modifiers of a mnemonic, read from left to right."""

    def __init__(self, mnemonic: str) -> None:
        self.mnemonic = mnemonic
        self.name, *rest = mnemonic.split(".")
        self._rest = rest

    def one(self, *choices: str) -> str | None:
        """The next word when it is among `choices`."""
        if self._rest and self._rest[0] in choices:
            return self._rest.pop(0)
        return None

    def flags(self, *choices: str) -> frozenset[str]:
        """All next words that are among `choices`, each at most once."""
        found: set[str] = set()
        while self._rest and self._rest[0] in choices and self._rest[0] not in found:
            found.add(self._rest.pop(0))
        return frozenset(found)

    def any(self) -> str | None:
        """The next word, whatever it is."""
        return self._rest.pop(0) if self._rest else None

    @property
    def left(self) -> int:
        return len(self._rest)


Family = Callable[[Words], PureOp | None]


def container(width: int) -> Container:
    """The container of `width` bits."""
    return _BY_WIDTH[width]


def repeated(register: Container, count: int) -> tuple[Container, ...]:
    """`count` operands of one container."""
    return (register,) * count


def unsigned(width: int) -> np.dtype[Any]:
    """uint8..uint64 by width in bits."""
    return np.dtype(f"u{width // 8}")


def signed(width: int) -> np.dtype[Any]:
    """int8..int64 by width in bits."""
    return np.dtype(f"i{width // 8}")


def quiet(run: Run) -> Run:
    """`run` with numpy's floating-point warnings off: infinities, NaNs and division by zero are results here, not mistakes."""

    def quietly(*sources: Bits) -> tuple[Bits, ...]:
        with np.errstate(all="ignore"):
            return run(*sources)

    quietly.raw = run  # type: ignore[attr-defined]
    return quietly


def pieces(bits: Bits, width: int) -> Bits:
    """Shape ``[...]`` of registers to ``[..., count]`` of their `width`-bit pieces, lowest first."""
    whole = np.ascontiguousarray(bits)
    return whole.view(unsigned(width)).reshape(*whole.shape, whole.dtype.itemsize * 8 // width)


def joined(parts: Bits, width: int) -> Bits:
    """The inverse of `pieces`: ``[..., count]`` to ``[...]`` of `width`-bit registers."""
    whole = np.ascontiguousarray(parts)
    return whole.view(unsigned(width)).reshape(whole.shape[:-1])


def pack_elements(elements: tuple[Bits, ...]) -> Bits:
    """``mov.b64 d, {a, b}`` and its kin: elements of one width, lowest first, to one register."""
    first = elements[0]
    shape = first.shape
    for element in elements:
        if element.shape != shape:
            shape = np.broadcast_shapes(shape, element.shape)
    stacked = np.empty((*shape, len(elements)), first.dtype)
    for index, element in enumerate(elements):
        stacked[..., index] = element
    return joined(stacked, first.dtype.itemsize * 8 * len(elements))


def unpack_elements(bits: Bits, count: int) -> tuple[Bits, ...]:
    """``mov.b64 {a, b}, d`` and its kin: one register to `count` elements, lowest first."""
    parts = pieces(bits, bits.dtype.itemsize * 8 // count)
    return tuple(np.ascontiguousarray(parts[..., index]) for index in range(count))
