"""The manifest: what a launcher, the simulator and a reader must know about a kernel beside its PTX."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any, Literal

from fa4dsl.runtime.diagnostics import CATALOGUE, Diagnostic, Frame, Location, fail
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.records import RecordError, parse_json, read_record
from fa4dsl.runtime.targets import TARGET

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
    form: Literal["tiled", "ragged", "wrapped", "wrapped_blocks"] = "tiled"
    """How the array becomes a map: `runtime.tensor_map.tiled`, `ragged` or `wrapped`."""


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter, in PTX order."""

    name: str
    kind: Literal["pointer", "scalar", "tensor_map"]
    dtype: str
    """Element type of a pointer, type of a scalar ("i32", "u64", "f32", "bf16", ...)."""
    tensor_map: TensorMapTemplate | None = None
    access: Literal["in", "out", "inout"] = "inout"
    """What the kernel does with the memory behind a pointer or map: a copied numpy argument is written back unless "in"."""
    alignment: int = 0
    """Bytes the pointer must be aligned to, a power of two; 0 means the element's size. Vector accesses need more."""
    contiguous: bool = True
    """A pointer's array must be C-contiguous; False where the kernel is told the strides."""
    used: bool = True
    """Whether the kernel touches it. A pointer that it leaves alone is checked at the first launch of its types only, and passed as 0 after that."""


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


WaitKind = Literal["mbarrier", "named", "block", "cluster"]

WAIT_RECORDS = "wait_records"
"""The parameter through which a kernel compiled with `debug_waits` writes its records; the runtime gives it."""


@dataclass(frozen=True)
class Wait:
    """A place where a kernel waits, for its records (`runtime.wait_records`)."""

    kind: WaitKind
    name: str
    """The barrier's."""
    role: str = ""
    file: str = ""
    line: int = 0


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
    static_shared_bytes: int = 0
    """Shared memory the PTX declares itself, beside the dynamic part."""
    registers: int = 0
    """Registers a thread, as ptxas reported; 0 where not assembled."""
    spill_bytes: int = 0
    file: str = ""
    line: int = 0
    sources: dict[str, str] = field(default_factory=dict)
    """Text of the source files that locations name, so that reports can show lines on another machine."""
    options: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
    """What the compiler warned of, without the fields of its templates: told again when the kernel comes from the cache."""
    waits: tuple[Wait, ...] | None = None
    """Of a kernel compiled with `debug_waits`, by number from 1: such a kernel has `wait_records` as its last parameter. None for all others."""

    @property
    def given_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a caller gives: all but `wait_records`."""
        return self.parameters if self.waits is None else self.parameters[:-1]

    @property
    def place(self) -> Frame | None:
        """Where the kernel is defined, for messages about its launches; None for code without lines."""
        return Frame(Location(self.file, self.line), "the kernel") if self.file and self.line else None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_json(self) -> str:
        """One line of JSON with sorted keys: equal manifests give equal text. Raises R008 where `options` hold what JSON cannot."""
        try:
            text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            fail("R008", where="options", problem=str(error))
        return text

    @staticmethod
    def from_dict(value: Any) -> Manifest:
        """The manifest of a plain JSON object; checks every field, and the fields against each other. Raises R008 naming the field."""
        try:
            manifest = read_record(Manifest, value)
            check_manifest(manifest)
        except RecordError as error:
            fail("R008", where=error.where, problem=error.problem)
        return manifest

    @staticmethod
    def from_json(text: str) -> Manifest:
        """The manifest that `to_json` wrote. Raises R008 naming the field."""
        try:
            value = parse_json(text)
        except RecordError as error:
            fail("R008", where=error.where, problem=error.problem)
        return Manifest.from_dict(value)


_ENTRY = re.compile(r"[A-Za-z_$%][A-Za-z0-9_$]*")
"""A PTX identifier."""


def check_manifest(manifest: Manifest) -> None:
    """What the field types alone do not say. Raises `RecordError`; `Manifest.from_dict` makes it R008."""

    def need(condition: bool, where: str, problem: str) -> None:
        if not condition:
            raise RecordError(where, problem)

    need(bool(manifest.name) and manifest.name.isprintable() and len(manifest.name) <= 256, "name", "must be 1 to 256 printable characters")
    need(bool(_ENTRY.fullmatch(manifest.entry)), "entry", "is not a PTX identifier")
    need(bool(TARGET.fullmatch(manifest.target)), "target", "is not of the form sm_90a")
    for field_name, extents, limit in (("block", manifest.block, 1024), ("cluster", manifest.cluster, 16)):
        need(all(extent >= 1 for extent in extents), field_name, f"every extent must be at least 1, got {extents}")
        need(prod(extents) <= limit, field_name, f"at most {limit} in all, got {prod(extents)}")
    for field_name in ("dynamic_shared_bytes", "static_shared_bytes", "registers", "spill_bytes", "line"):
        need(0 <= getattr(manifest, field_name) < 1 << 31, field_name, f"out of range: {getattr(manifest, field_name)}")
    names: set[str] = set()
    for index, parameter in enumerate(manifest.parameters):
        where = f"parameters[{index}]"
        need(parameter.name.isidentifier(), f"{where}.name", f"{parameter.name!r} is not a name")
        need(parameter.name not in names, f"{where}.name", f"{parameter.name!r} stands twice")
        names.add(parameter.name)
        need(parameter.dtype in DTYPES, f"{where}.dtype", f"{parameter.dtype!r} is not one of {', '.join(DTYPES)}")
        alignment = parameter.alignment
        need(
            0 <= alignment <= 4096 and alignment & (alignment - 1) == 0, f"{where}.alignment", f"{alignment} is no power of two up to 4096"
        )
        template = parameter.tensor_map
        need(template is None or parameter.kind == "tensor_map", f"{where}.tensor_map", f"stands on a {parameter.kind}")
        if template is not None:
            need(template.dtype in DTYPES, f"{where}.tensor_map.dtype", f"{template.dtype!r} is not one of {', '.join(DTYPES)}")
            need(1 <= template.rank <= 5, f"{where}.tensor_map.rank", f"must be 1 to 5, got {template.rank}")
            need(len(template.box) == template.rank, f"{where}.tensor_map.box", f"needs {template.rank} entries, got {len(template.box)}")
    last = manifest.parameters[-1] if manifest.parameters else None
    recording = last is not None and (last.name, last.kind, last.dtype) == (WAIT_RECORDS, "pointer", "u32")
    need(recording or manifest.waits is None, "waits", f"stand there without the parameter {WAIT_RECORDS}")
    for index, warning in enumerate(manifest.warnings):
        need(warning.code in CATALOGUE, f"warnings[{index}].code", f"{warning.code!r} is not in the catalogue")
    for index, item in enumerate(manifest.shared):
        where = f"shared[{index}]"
        end = item.offset + item.size
        inside = item.offset >= 0 and item.size >= 0 and end <= manifest.dynamic_shared_bytes + manifest.static_shared_bytes
        need(inside, where, f"{item.name!r} lies at {item.offset}..{end}, outside the kernel's shared memory")
    for index, role in enumerate(manifest.roles):
        inside = role.first_warp >= 0 and role.warps >= 1 and (role.first_warp + role.warps - 1) * 32 < prod(manifest.block)
        need(inside, f"roles[{index}]", f"the warps of {role.name!r} are not in the block")
    need(all(0 <= number < 16 for number in manifest.named_barriers), "named_barriers", "hardware barriers are numbered 0 to 15")
