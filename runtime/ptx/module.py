"""What a PTX file says: its functions, variables and source files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Immediate, Instruction, Symbol

TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8,
    "b128": 16, "pred": 0,
    "texref": 8, "samplerref": 8, "surfref": 8,
}  # fmt: skip
"""Bytes of each fundamental type; predicates have no place in memory."""


@dataclass(frozen=True)
class Variable:
    """A variable or parameter. `size` in bytes; 0 for ``extern .shared x[]``, whose size is set by the launch."""

    name: str
    space: str
    """"reg", "param", "shared", "global", "const" or "local"."""
    type: str
    size: int
    alignment: int
    initial: tuple[tuple[int, Immediate | Symbol, int], ...] = ()
    """(byte offset, value, bytes) of each initialiser; the rest is zero."""
    external: bool = False
    line: int = 0


@dataclass
class Function:
    """A `.entry` or `.func`. Register and label names are made unique over its scopes (`P1'3` is the `P1` of the third inner scope)."""

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...] = ()
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    """Label to index of the instruction it stands before (may be `len(instructions)`)."""
    registers: dict[str, str] = field(default_factory=dict)
    """Register to type ("pred", "b32", ...)."""
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """`.branchtargets` and `.calltargets` lists."""
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """`.reqntid`, `.maxntid`, `.minnctapersm`, `.maxnreg`, `.reqnctapercluster`, `.explicitcluster`, `.maxclusterrank` with their numbers."""
    defined: bool = True
    line: int = 0


@dataclass
class Module:
    """A parsed PTX file."""

    name: str
    version: tuple[int, int] = (0, 0)
    target: str = ""
    address_size: int = 64
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)

    @property
    def entries(self) -> list[str]:
        """Names of the kernels, in order."""
        return [function.name for function in self.functions.values() if function.entry]
