"""LAUNCH.json, launches that the driver would refuse, measures, progress."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument, TensorMapArgument, load_launch, save_outputs
from fa4dsl.runtime.simulator.run import simulate

sys.path.insert(0, str(Path(__file__).parent))
from kernels import kernel, launch, run

GOOD: dict[str, Any] = {
    "kernel": "k",
    "grid": [2, 1, 1],
    "block": [32, 1, 1],
    "buffers": {"x": {"file": "x.npy"}, "out": {"bytes": 256, "fill": 255}},
    "arguments": [
        {"buffer": "out", "offset": 16},
        {"scalar": -5, "dtype": "int32"},
        {"scalar": 1.5, "dtype": "float32"},
        {
            "tensor_map": {
                "buffer": "x",
                "dtype": "bfloat16",
                "sizes": [32, 4],
                "strides_bytes": [64],
                "box": [16, 2],
                "swizzle": "32B",
                "oob_fill": "nan",
                "offset": 128,
            }
        },
    ],
    "outputs": {"out": "uint32"},
}


def written(folder: Path, content: Any) -> Path:
    np.save(folder / "x.npy", np.arange(512, dtype=np.uint16).reshape(16, 32))
    path = folder / "launch.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_launch_is_read(tmp_path: Path) -> None:
    found = load_launch(written(tmp_path, GOOD))
    assert (found.kernel, found.grid, found.block, found.cluster, found.dynamic_shared_bytes) == ("k", (2, 1, 1), (32, 1, 1), (1, 1, 1), 0)
    assert (found.buffers["out"] == 255).all()
    assert (found.buffers["x"].view(np.uint16) == np.arange(512)).all()
    pointer, minus, half, tensor = found.arguments
    assert pointer == PointerArgument("out", 16)
    assert minus == ScalarArgument((1 << 32) - 5, 4)
    assert half == ScalarArgument(0x3FC00000, 4)
    assert isinstance(tensor, TensorMapArgument)
    assert (tensor.buffer, tensor.offset, tensor.record.dtype, tensor.record.box, tensor.record.element_strides) == (
        "x",
        128,
        "bf16",
        (16, 2),
        (1, 1),
    )
    assert (tensor.record.swizzle, tensor.record.oob_fill) == ("32B", "nan")


def test_outputs_are_saved(tmp_path: Path) -> None:
    found = load_launch(written(tmp_path, GOOD))
    (path,) = save_outputs(found, tmp_path / "deep" / "er")
    assert (np.load(path) == np.full(64, 0xFFFFFFFF, np.uint32)).all()


def changed(*keys: Any, value: Any) -> dict[str, Any]:
    content = json.loads(json.dumps(GOOD))
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return content


WRONG: list[tuple[Any, str]] = [
    ("{", "not JSON"),
    ("[" * 5000, "not JSON"),
    ('{"kernel": ' + "1" * 5000 + "}", "not JSON"),
    ("[]", "must be an object"),
    ({"kernel": "k"}, "lacks"),
    (changed("colour", value=1), "unknown key 'colour'"),
    (changed("grid", value=[1, 2]), "list of 3"),
    (changed("grid", value=[1, 2, 0]), "integer from 1"),
    (changed("kernel", value=5), "must be a name"),
    (changed("buffers", "x", value={}), "file or bytes"),
    (changed("buffers", "x", "file", value="none.npy"), "no file"),
    (changed("buffers", "x", "file", value="../../etc/passwd"), "leads out"),
    (changed("buffers", "x", "file", value="launch.json"), "not a readable .npy"),
    (changed("buffers", "out", "bytes", value=-1), "integer from 0"),
    (changed("buffers", "out", "fill", value=256), "integer from 0 to 255"),
    (changed("arguments", 0, "buffer", value="y"), "unknown buffer 'y'"),
    (changed("arguments", 0, "offset", value=4096), "integer from 0 to 256"),
    (changed("arguments", 1, "scalar", value=1 << 40), "does not fit"),
    (changed("arguments", 1, "dtype", value="int33"), "unknown dtype"),
    (changed("arguments", 3, "tensor_map", "swizzle", value="7B"), "unknown swizzle"),
    (changed("arguments", 3, "tensor_map", "box", value=[1]), "list of 2"),
    (changed("arguments", 3, "tensor_map", "buffer", value=["out"]), "unknown buffer"),
    (changed("outputs", value={"out": "uint24"}), "unknown dtype"),
    (changed("outputs", value={"y": "uint32"}), "unknown buffer"),
]


@pytest.mark.parametrize(("content", "words"), WRONG)
def test_wrong_descriptions(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(Fa4dslError) as raised:
        load_launch(written(tmp_path, content))
    assert raised.value.code == "S009"
    assert words in raised.value.diagnostic.message


def test_missing_description(tmp_path: Path) -> None:
    with pytest.raises(Fa4dslError) as raised:
        load_launch(tmp_path / "nothing.json")
    assert raised.value.code == "S009"


IMPOSSIBLE = [
    ({"block": (2048, 1, 1)}, "", "S008"),
    ({"block": (32, 32, 2)}, "", "S008"),
    ({"grid": (3, 1, 1), "cluster": (2, 1, 1)}, "", "S008"),
    ({"grid": (32, 1, 1), "cluster": (32, 1, 1)}, "", "S008"),
    ({"grid": (0, 1, 1)}, "", "S008"),
    ({"grid": (2**31 - 1, 65535, 65535)}, "", "S008"),
    ({"block": (64, 1, 1)}, ".reqntid 32", "S008"),
    ({"block": (64, 1, 1)}, ".maxntid 32", "S008"),
    ({}, ".explicitcluster .reqnctapercluster 2", "S008"),
    ({"dynamic_shared_bytes": 233_000}, "", "S008"),
    ({"kernel": "other"}, "", "S006"),
    ({"arguments": []}, "", "S007"),
    ({"arguments": [ScalarArgument(1, 4)]}, "", "S007"),
    ({"arguments": [PointerArgument("nowhere")]}, "", "S007"),
]


@pytest.mark.parametrize(("changes", "directives", "code"), IMPOSSIBLE)
def test_impossible_launches(changes: dict[str, Any], directives: str, code: str) -> None:
    described = launch()
    for name, value in changes.items():
        setattr(described, name, value)
    with pytest.raises(Fa4dslError) as raised:
        simulate(kernel("", directives=directives, before=".extern .shared .align 16 .b8 big[];"), described)
    assert raised.value.code == code
    assert (described.buffers["out"] == 255).all()


def test_largest_launch_is_possible() -> None:
    body = "mov.u32 %r5, big; st.shared.u32 [%r5+232444], 1; st.global.u32 [%rd3], 1;"
    out, report = run(body, threads=1024, blocks=16, cluster=16, dynamic=227 * 1024, before=".extern .shared .align 16 .b8 big[];")
    assert report.verdict == "clean", report.text()
    assert (out == 1).all()


def test_unknown_schedule() -> None:
    with pytest.raises(Fa4dslError) as raised:
        run("", schedule="sideways")
    assert raised.value.code == "S103"


def test_bad_tensor_map_is_refused_before_running() -> None:
    from fa4dsl.runtime.tensor_map import TensorMapDescription

    record = TensorMapDescription("f32", (20, 12), (88,), (8, 4), (1, 1))
    described = Launch(
        "k",
        (1, 1, 1),
        (32, 1, 1),
        buffers={"x": np.zeros(4096, np.uint8)},
        arguments=[PointerArgument("x"), TensorMapArgument(record, "x")],
    )
    with pytest.raises(Fa4dslError):
        simulate(kernel("", ".param .u64 out, .param .align 64 .b8 map[128]"), described)


def test_measures() -> None:
    """A stride of 32 words puts all lanes into one bank; a column of global memory needs a sector for each lane."""
    body = """
    .shared .align 16 .b8 s[8192]; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r1;
    shl.b32 %r6, %r1, 7; and.b32 %r6, %r6, 4095; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r1;
    st.global.u32 [%rd3], %r1;
    and.b32 %r8, %r1, 31; mul.wide.u32 %rd4, %r8, 32; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r1;
    """
    _, report = run(body, threads=64, words=256, measure=True)
    measures = report.measures.as_dict()
    first, second = measures["bank_conflicts"]
    assert (first["requests"], first["wavefronts"], first["conflicts"]) == (2, 2, 0)
    assert (second["requests"], second["wavefronts"], second["conflicts"]) == (2, 64, 62)
    rows, column = measures["global_requests"]
    assert (rows["requests"], rows["sectors"]) == (2, 8)
    assert (column["requests"], column["sectors"]) == (2, 64)
    assert measures["bytes"] == {"global.write": 512, "shared.write": 512}
    assert measures["bytes_by_warp"]["shared.write"] == [256, 256]
    assert measures["instructions"] > 10


def test_traffic_between_blocks() -> None:
    body = """
    .shared .align 4 .b8 s[128]; mov.u32 %r5, s; mov.u32 %r6, %cluster_ctarank; barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r7, %r6, 1; mapa.shared::cluster.u32 %r8, %r5, %r7; st.shared::cluster.u32 [%r8], %r1; barrier.cluster.arrive; barrier.cluster.wait;
    """
    _, report = run(body, blocks=2, cluster=2, measure=True)
    assert report.measures.as_dict()["dsmem_traffic"] == [[0, 128], [128, 0]]


def test_progress_grows() -> None:
    seen: list[float] = []
    run(
        "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r4; @%p1 bra L; st.global.u32 [%rd3], %r5;",
        threads=128,
        blocks=3,
        schedule="random",
        progress=seen.append,
    )
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == 1.0
