"""The file `k.fa4`: several variants of a kernel in one container.

Layout, little-endian, nothing compressed, nothing that names a path:

    offset  bytes
    0       8       magic, 89 46 41 34 0D 0A 1A 0A (a text-mode transfer breaks it)
    8       4       format version, 1
    12      4       header size H
    16      32      SHA-256 of the header
    48      H       header: UTF-8 JSON {"producer": text, "variants": [{"manifest": PART, "ptx": PART, "cubin": PART or null}, ...]}
    48 + H  ...     the parts, back to back in the header's order, up to the end of the file

PART is {"size": bytes, "sha256": hex digest}. A manifest is JSON (`Manifest.to_json`), PTX is UTF-8 text, a cubin is ELF. Every byte of the file is
covered by a digest, by the magic, or by the sum of the sizes, so any change is found before a part is looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.artifact import Artifact, select
from fa4dsl.runtime.diagnostics import Fa4dslError, fail
from fa4dsl.runtime.manifest import Manifest
from fa4dsl.runtime.records import RecordError, parse_json, read_record

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"\x89FA4\r\n\x1a\n"
VERSION = 1
_FIXED = struct.Struct("<8sII32s")

CONTAINER_LIMIT = 512 << 20
HEADER_LIMIT = 1 << 20
PART_LIMITS = {"manifest": 16 << 20, "ptx": 64 << 20, "cubin": 128 << 20}
VARIANT_LIMIT = 256


@dataclass(frozen=True)
class _Part:
    size: int
    sha256: str


@dataclass(frozen=True)
class _Variant:
    manifest: _Part
    ptx: _Part
    cubin: _Part | None


@dataclass(frozen=True)
class _Header:
    producer: str
    variants: tuple[_Variant, ...]


def to_bytes(artifacts: Sequence[Artifact]) -> bytes:
    """A container of these variants, in this order. Equal variants give equal bytes. Raises R011 or R008 for an inconsistent one."""
    from fa4dsl.runtime.version import version

    variants: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    for artifact in artifacts:
        artifact.check()
        # What is written must be readable: the reader's own checks run here.
        Manifest.from_json(artifact.manifest.to_json())
        parts: list[tuple[str, bytes | None]] = [
            ("manifest", artifact.manifest.to_json().encode()),
            ("ptx", artifact.ptx.encode()),
            ("cubin", artifact.cubin),
        ]
        record: dict[str, Any] = {}
        for kind, body in parts:
            if body is None:
                record[kind] = None
                continue
            _need_size(kind, len(body), PART_LIMITS[kind])
            record[kind] = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
            bodies.append(body)
        variants.append(record)
    _need_size("list of variants", len(variants), VARIANT_LIMIT)
    header = json.dumps({"producer": f"fa4dsl {version()}", "variants": variants}, separators=(",", ":")).encode()
    _need_size("header", len(header), HEADER_LIMIT)
    data = b"".join([_FIXED.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest()), header, *bodies])
    _need_size("container", len(data), CONTAINER_LIMIT)
    return data


def _need_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        fail("R006", what=what, size=size, limit=limit)


def from_bytes(data: bytes) -> tuple[Artifact, ...]:
    """The variants of a container. Raises R002 to R008 and R011, never anything else, whatever the bytes are."""
    _need_size("container", len(data), CONTAINER_LIMIT)
    if data[: len(MAGIC)] != MAGIC:
        fail("R002", start=repr(data[:8])[1:] if data else "none")
    if len(data) < _FIXED.size:
        fail("R004", problem=f"{len(data)} bytes are too few for the fixed part of {_FIXED.size}")
    _, version, header_size, header_digest = _FIXED.unpack_from(data)
    if version != VERSION:
        fail("R003", found=version, known=VERSION)
    _need_size("header", header_size, HEADER_LIMIT)
    start = _FIXED.size + header_size
    if start > len(data):
        fail("R004", problem=f"the header should end at byte {start}, the file ends at {len(data)}")
    text = data[_FIXED.size : start]
    if hashlib.sha256(text).digest() != header_digest:
        fail("R005", part="header")
    return _read_variants(_read_header(text), data, start)


def _read_header(text: bytes) -> _Header:
    try:
        header = read_record(_Header, parse_json(text.decode()))
    except RecordError as error:
        fail("R007", where=error.where, problem=error.problem)
    except UnicodeDecodeError:
        fail("R007", where="the header", problem="is not UTF-8")
    _need_size("list of variants", len(header.variants), VARIANT_LIMIT)
    return header


def _read_variants(header: _Header, data: bytes, position: int) -> tuple[Artifact, ...]:
    total = position
    for variant in header.variants:
        for kind, part in (("manifest", variant.manifest), ("ptx", variant.ptx), ("cubin", variant.cubin)):
            if part is not None:
                if part.size < 0:
                    fail("R007", where=f"a {kind}'s size", problem=f"is {part.size}")
                _need_size(kind, part.size, PART_LIMITS[kind])
                total += part.size
    if total != len(data):
        fail("R004", problem=f"the parts should end at byte {total}, the file ends at {len(data)}")
    artifacts = []
    for number, variant in enumerate(header.variants):
        bodies: dict[str, bytes] = {}
        for kind, part in (("manifest", variant.manifest), ("ptx", variant.ptx), ("cubin", variant.cubin)):
            if part is not None:
                bodies[kind] = data[position : position + part.size]
                position += part.size
                if hashlib.sha256(bodies[kind]).hexdigest() != part.sha256:
                    fail("R005", part=f"{kind} of variant {number}")
        try:
            manifest, ptx = bodies["manifest"].decode(), bodies["ptx"].decode()
        except UnicodeDecodeError:
            fail("R007", where=f"variant {number}", problem="its manifest or PTX is not UTF-8")
        artifact = Artifact(Manifest.from_json(manifest), ptx, bodies.get("cubin"))
        artifact.check()
        artifacts.append(artifact)
    return tuple(artifacts)


def save(path: str | os.PathLike[str], artifacts: Sequence[Artifact]) -> None:
    """Writes a container atomically: a reader sees the old file or the new one. Raises R012 where the file cannot be written."""
    data = to_bytes(artifacts)
    target = Path(path)
    try:
        write_atomically(target, data)
    except OSError as error:
        fail("R012", path=str(target), reason=error.strerror or str(error))


def write_atomically(target: Path, data: bytes) -> None:
    """Writes beside the target and renames. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # mkstemp makes a private file; an artifact has the permissions of any other new file.
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), 0o666 & ~mask)
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def load_all(path: str | os.PathLike[str]) -> tuple[Artifact, ...]:
    """Every variant of a container on disk. Raises R001 to R008 and R011."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            # What has no size of its own, such as a FIFO, is bounded by reading one byte more than allowed.
            data = file.read(CONTAINER_LIMIT + 1) if size <= CONTAINER_LIMIT else b""
    except (OSError, ValueError) as error:
        fail("R001", path=str(path), reason=getattr(error, "strerror", None) or str(error))
    try:
        _need_size("container", size, CONTAINER_LIMIT)
        return from_bytes(data)
    except Fa4dslError as error:
        raise Fa4dslError(*(replace(item, notes=(*item.notes, f"the file is {path}")) for item in error.diagnostics)) from None


def load(path: str | os.PathLike[str], *, target: str | None = None, name: str | None = None, **options: Any) -> Artifact:
    """The variant of a container that matches `target`, `name` and the compile-time `options`.

    Where several targets of one kernel remain and this machine has a GPU, the newest that runs on it is taken. Raises R001 to R011.
    """
    artifacts = load_all(path)
    if target is None and len({artifact.target for artifact in artifacts}) > 1:
        from fa4dsl.runtime.cuda.device import capability_if_any

        capability = capability_if_any()
        if capability is not None:
            return select(artifacts, name=name, capability=capability, **options)
    return select(artifacts, target=target, name=name, **options)
