"""The container: what is written is read back; whatever else the bytes are, the answer is a catalogued error."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fa4dsl.runtime import Artifact, Manifest, load, load_all, save, select
from fa4dsl.runtime.artifact_container import CONTAINER_LIMIT, HEADER_LIMIT, MAGIC, from_bytes, to_bytes
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.manifest import Parameter

CODES = {"R002", "R003", "R004", "R005", "R006", "R007", "R008", "R011"}


def make(target: str = "sm_90a", name: str = "kernel", cubin: bytes | None = b"\x7fELF machine code", **options: Any) -> Artifact:
    manifest = Manifest(name, "kernel", target, (Parameter("x", "pointer", "f32"),), (128, 1, 1), options=options)
    return Artifact(manifest, f".version 8.6\n.target {target}\n.visible .entry kernel(.param .u64 p0) {{ ret; }} // é\n", cubin)


BOTH = (make(depth=64), make("sm_100a", cubin=None, depth=64), make(depth=128))
DATA = to_bytes(BOTH)


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(Fa4dslError) as error:
        action()
    return error.value.code


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "k.fa4"
    save(path, BOTH)
    assert load_all(path) == BOTH
    assert path.read_bytes() == DATA == to_bytes(load_all(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["k.fa4"]
    make().save(path)
    assert load(path) == make()
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_every_changed_byte_is_found() -> None:
    for position in range(len(DATA)):
        for flip in (0x01, 0x80):
            damaged = bytearray(DATA)
            damaged[position] ^= flip
            assert code_of(lambda data=bytes(damaged): from_bytes(data)) in CODES, position


def test_every_truncation_is_found() -> None:
    for size in range(len(DATA)):
        assert code_of(lambda size=size: from_bytes(DATA[:size])) in CODES
    assert code_of(lambda: from_bytes(DATA + b"\0")) == "R004"


@given(st.binary(max_size=300))
def test_random_bytes(data: bytes) -> None:
    assert code_of(lambda: from_bytes(data)) in CODES
    assert code_of(lambda: from_bytes(MAGIC + data)) in CODES


def container(header: Any, *parts: bytes, version: int = 1) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<8sII32s", MAGIC, version, len(text), hashlib.sha256(text).digest()) + text + b"".join(parts)


def part(body: bytes) -> dict[str, Any]:
    return {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["producer", "variants", "manifest", "ptx", "size"]), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_any_header_with_a_right_digest(header: Any) -> None:
    """A hostile header carries its own digest, so its content must be checked as well."""
    if header == {"producer": header.get("producer"), "variants": []} if isinstance(header, dict) else False:
        return
    assert code_of(lambda: from_bytes(container(header))) in CODES


def test_crafted_headers() -> None:
    ptx, manifest = make().ptx.encode(), make().manifest.to_json().encode()
    good = {"manifest": part(manifest), "ptx": part(ptx), "cubin": None}
    assert from_bytes(container({"producer": "x", "variants": [good]}, manifest, ptx)) == (make(cubin=None),)
    cases: list[tuple[str, bytes]] = [
        ("R003", container({"producer": "x", "variants": []}, version=2)),
        ("R006", struct.pack("<8sII32s", MAGIC, 1, HEADER_LIMIT + 1, bytes(32))),
        ("R006", container({"producer": "x", "variants": [good] * 257})),
        ("R006", container({"producer": "x", "variants": [{**good, "ptx": {"size": 1 << 40, "sha256": ""}}]}, manifest, ptx)),
        ("R007", container({"producer": "x", "variants": [{**good, "path": "../../etc/passwd"}]}, manifest, ptx)),
        ("R007", container({"producer": "x", "variants": [{**good, "ptx": {"size": -1, "sha256": ""}}]}, manifest, ptx)),
        ("R007", container(b"\xff\xfe")),
        ("R007", container(b"[" * 5000)),
        ("R004", container({"producer": "x", "variants": [good]}, manifest)),
        ("R005", container({"producer": "x", "variants": [good]}, manifest, ptx[::-1])),
        ("R007", container({"producer": "x", "variants": [{**good, "ptx": part(b"\xff")}]}, manifest, b"\xff")),
        ("R008", container({"producer": "x", "variants": [{**good, "manifest": part(b"{}")}]}, b"{}", ptx)),
    ]
    for expected, data in cases:
        assert code_of(lambda data=data: from_bytes(data)) == expected


def test_oversize_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "large.fa4"
    with path.open("wb") as file:
        file.truncate(CONTAINER_LIMIT + 10)  # sparse: takes no disk
    assert code_of(lambda: load(path)) == "R006"
    assert code_of(lambda: to_bytes([replace(make(), ptx=make().ptx + " " * (65 << 20))])) == "R006"


def test_code_and_manifest_must_agree() -> None:
    good = make()
    for wrong in (
        replace(good, ptx=good.ptx.replace("entry kernel", "entry other")),
        replace(good, ptx=good.ptx.replace("sm_90a", "sm_80")),
        replace(good, cubin=b"not ELF"),
    ):
        assert code_of(lambda wrong=wrong: to_bytes([wrong])) == "R011"


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    assert code_of(lambda: load(tmp_path / "absent.fa4")) == "R001"
    assert code_of(lambda: load(tmp_path)) == "R001"
    assert code_of(lambda: load("nul\0name")) == "R001"
    assert code_of(lambda: make().save(tmp_path / "absent" / "k.fa4")) == "R012"


def test_selecting_a_variant(tmp_path: Path) -> None:
    path = tmp_path / "k.fa4"
    save(path, BOTH)
    assert load(path, target="sm_100a") is not None
    assert load(path, target="sm_90a", depth=128) == BOTH[2]
    assert load(path, target="sm_90a", name="kernel", depth=64) == BOTH[0]
    assert code_of(lambda: load(path, target="sm_90a")) == "R010"
    assert code_of(lambda: load(path, depth=256)) == "R009"
    assert code_of(lambda: load(path, target="sm_90a", colour="red")) == "R009"
    assert code_of(lambda: load(path, target="hopper")) == "R013"
    assert code_of(lambda: select([])) == "R009"


@pytest.mark.parametrize(
    ("capability", "cubin", "expected"),
    [((9, 0), True, "sm_90a"), ((10, 0), True, "sm_100a"), ((10, 0), False, "sm_100a"), ((9, 0), False, "sm_90a")],
)
def test_the_newest_target_that_runs(capability: tuple[int, int], cubin: bool, expected: str) -> None:
    code = b"\x7fELF" if cubin else None
    artifacts = [make("sm_80", cubin=code), make("sm_90a", cubin=code), make("sm_100a", cubin=code)]
    assert select(artifacts, capability=capability).target == expected


def test_bound_to_an_architecture() -> None:
    assert code_of(lambda: select([make("sm_90a")], capability=(10, 0))) == "R009"
    assert select([make("sm_90")], capability=(10, 0)).target == "sm_90"
    assert select([make("sm_100f", cubin=None)], capability=(10, 3)).target == "sm_100f"
    assert code_of(lambda: select([make("sm_100f", cubin=None)], capability=(12, 0))) == "R009"


def test_loading_executes_nothing() -> None:
    """No module of the reading side uses pickle, eval or exec."""
    import ast

    import fa4dsl.runtime.artifact as artifact_module
    import fa4dsl.runtime.artifact_container as container_module
    import fa4dsl.runtime.manifest as manifest_module
    import fa4dsl.runtime.records as records_module

    for module in (artifact_module, container_module, manifest_module, records_module):
        assert module.__file__ is not None
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name):
                assert node.id not in ("eval", "exec", "compile", "__import__")
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "pickle" not in ast.unparse(node) and "marshal" not in ast.unparse(node)


def test_bound_launches_are_kept_by_grid() -> None:
    artifact = make()
    assert artifact[4] is artifact[4] and artifact[4] is not artifact[(4, 1)]
    for grid in range(3000):
        artifact[grid + 1]
    assert len(artifact._launchers) <= 1024
