"""The manifest: what a launcher, the simulator and a reader must know about a kernel beside its PTX."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Swizzle = Literal["none", "32B", "64B", "128B"]


@dataclass(frozen=True)
class TensorMapTemplate:
    """How to make a tensor map from the array given at launch; absent where the caller passes a ready `TensorMap`."""

    dtype: str
    rank: int
    box: tuple[int, ...]
    """Innermost first, elements."""
    swizzle: Swizzle = "none"
    oob_fill: Literal["zero", "nan"] = "zero"
    form: Literal["tiled", "ragged"] = "tiled"


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter, in PTX order."""

    name: str
    kind: Literal["pointer", "scalar", "tensor_map"]
    dtype: str
    """Element type of a pointer, type of a scalar ("i32", "u64", "f32", "bf16", ...)."""
    tensor_map: TensorMapTemplate | None = None


@dataclass(frozen=True)
class SharedObject:
    """A named array or barrier in shared memory. `offset` and `size` in bytes from the start of the CTA's dynamic shared memory."""

    name: str
    kind: Literal["array", "mbarrier"]
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]
    alignment: int
    swizzle: Swizzle = "none"
    overlay: str | None = None
    arrivals: int = 0
    """mbarrier only: arrivals that complete a phase."""
    scope: Literal["cta", "cluster"] = "cta"
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Role:
    """Warps `first_warp` .. `first_warp + warps - 1`; `registers` 0 means no setmaxnreg."""

    name: str
    first_warp: int
    warps: int
    registers: int = 0


@dataclass(frozen=True)
class Manifest:
    """Everything beside the code. JSON in, JSON out; nothing in it is executed."""

    name: str
    """The kernel's name as its author wrote it."""
    entry: str
    """The PTX entry symbol."""
    target: str
    parameters: tuple[Parameter, ...]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    shared: tuple[SharedObject, ...] = ()
    roles: tuple[Role, ...] = ()
    named_barriers: dict[int, str] = field(default_factory=dict)
    registers: int = 0
    """Registers a thread, as ptxas reported; 0 where not assembled."""
    spill_bytes: int = 0
    file: str = ""
    line: int = 0
    sources: dict[str, str] = field(default_factory=dict)
    """Text of the source files that locations name, so that reports can show lines on another machine."""
    options: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
