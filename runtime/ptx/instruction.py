"""One PTX instruction as read from text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Register:
    name: str


@dataclass(frozen=True)
class Immediate:
    """An integer, or a float by its bits: `bits` is the two's complement or IEEE pattern; `kind` tells how it was written."""

    bits: int
    kind: Literal["integer", "f32", "f64"]


@dataclass(frozen=True)
class Symbol:
    """A variable, parameter, label or function name, with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """``[base + offset]``; `coordinates` for tensor copies ``[map, {c0, c1}]``."""

    base: Register | Symbol | Immediate
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Vector:
    """``{a, b, c, d}``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """``d|p``."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Special:
    """A special register such as ``%tid.x``."""

    name: str


@dataclass(frozen=True)
class Negated:
    """``!p`` or ``-r``."""

    operand: Operand


@dataclass(frozen=True)
class Selected:
    """A part of a register, ``r.b0``, ``r.h1``, ``r.h10``, ``r.b7531``: video instructions read and write them."""

    register: Register
    selector: str


@dataclass(frozen=True)
class Sink:
    """``_``."""


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Special | Negated | Selected | Sink


@dataclass(frozen=True)
class SourcePlace:
    """From ``.loc``: file, line, column; `inlined` is the call site where the PTX says so."""

    file: str
    line: int
    column: int = 0
    inlined: SourcePlace | None = None


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction. `mnemonic` is the whole dotted name; `name` its first part."""

    mnemonic: str
    operands: tuple[Operand, ...]
    guard: str | None
    """Predicate register name, or None."""
    guard_negated: bool
    ptx_line: int
    place: SourcePlace | None
    index: int = 0
    """Position in the function's instruction list."""

    @property
    def name(self) -> str:
        return self.mnemonic.split(".", 1)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(self.mnemonic.split(".")[1:])
