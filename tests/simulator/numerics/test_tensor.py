"""TMA boxes: against a direct loop over elements, and against an H200's loads, stores and reductions; swizzles."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.runtime.simulator.numerics import tensor

DATA = Path(__file__).parent / "data"


def slow_load(memory: bytes, base: int, record: dict[str, Any], coordinates: tuple[int, ...]) -> bytes:
    """The algorithm of the ISA's text, one element at a time."""
    width = np.dtype(record["dtype"]).itemsize
    strides = [width, *record["strides_bytes"]]
    counts = [record["box"][0]] + [-(-b // s) for b, s in zip(record["box"][1:], record["element_strides"][1:], strict=True)]
    fill = (b"\xf7\x7f" * 4)[:width] if record["oob_fill"] == "nan" else bytes(width)
    out = b""
    for index in itertools.product(*(range(n) for n in reversed(counts))):
        at = [
            c + i * (s if d else 1) for d, (c, i, s) in enumerate(zip(coordinates, reversed(index), record["element_strides"], strict=True))
        ]
        if all(0 <= c < size for c, size in zip(at, record["sizes"], strict=True)):
            start = base + sum(c * stride for c, stride in zip(at, strides, strict=True))
            out += memory[start : start + width]
        else:
            out += fill
    return out


@st.composite
def copies(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, ...]]:
    dtype = draw(st.sampled_from(["uint8", "uint16", "uint32", "float32", "uint64"]))
    width = np.dtype(dtype).itemsize
    rank = draw(st.integers(1, 5))
    step = 16 // width
    sizes = [draw(st.integers(1, 40))] + [draw(st.integers(1, 5)) for _ in range(rank - 1)]
    strides, pitch = [], -(-sizes[0] * width // 16) * 16
    for size in sizes[1:]:
        pitch += 16 * draw(st.integers(0, 1))
        strides.append(pitch)
        pitch *= size
    box = [step * draw(st.integers(1, 3))] + [draw(st.integers(1, 4)) for _ in range(rank - 1)]
    element_strides = [1] + [draw(st.integers(1, 3)) for _ in range(rank - 1)]
    record = {
        "dtype": dtype,
        "sizes": sizes,
        "strides_bytes": strides,
        "box": box,
        "element_strides": element_strides,
        "swizzle": "none",
        "oob_fill": "nan" if dtype == "float32" and draw(st.booleans()) else "zero",
    }
    coordinates = (step * draw(st.integers(-3, 6)), *[draw(st.integers(-4, 6)) for _ in range(rank - 1)])
    return record, coordinates


@settings(max_examples=150, deadline=None)
@given(copies())
def test_boxes_against_the_direct_loop(copy: tuple[dict[str, Any], tuple[int, ...]]) -> None:
    record, coordinates = copy
    base = 64
    end = record["strides_bytes"][-1] * record["sizes"][-1] if record["strides_bytes"] else record["sizes"][0] * 8
    memory = np.random.default_rng(0).integers(0, 256, base + end + 64, np.uint8)
    layout = tensor.TensorLayout.of(record)
    box = layout.at(coordinates)
    wanted = slow_load(memory.tobytes(), base, record, coordinates)
    assert box.size == layout.box_bytes == len(wanted)
    assert box.read(memory, base).tobytes() == wanted

    offsets, inside, places = tensor.box_elements(record, coordinates)
    width = np.dtype(record["dtype"]).itemsize
    for offset, there, place in zip(offsets, inside, places, strict=True):
        if there:
            assert memory[base + offset : base + offset + width].tobytes() == wanted[place : place + width]

    # what a load sees it also stores; a store goes on to the end of a row's last 16-byte chunk
    before = memory.copy()
    box.write(memory, base, ~np.frombuffer(wanted, np.uint8))
    touched = np.zeros(len(memory), bool)
    starts, length = box.global_ranges(base, True)
    touched[(starts[:, None] + np.arange(length)).reshape(-1)] = True
    assert (memory[~touched] == before[~touched]).all()
    loaded = np.zeros(len(memory), bool)
    starts, read = box.global_ranges(base)
    loaded[(starts[:, None] + np.arange(read)).reshape(-1)] = True
    assert (memory[loaded] == ~before[loaded]).all() and (touched | ~loaded).all()
    assert loaded.sum() == inside.sum() * width
    assert length == read if (box.first + read) % 16 == 0 else length == min(read - read % 16 + 16, box.row_bytes) or box.first


def test_rows_narrower_than_the_swizzle_begin_a_span_each() -> None:
    # rows of 16 bytes under 64B: measured on an H200 at offsets 32, 96, 176, 240 from a base that is a multiple of 256
    assert tensor.chunk_addresses(256, 64, "64B", 16).tolist() == [256 + offset for offset in (32, 96, 176, 240)]
    assert tensor.chunk_addresses(1024, 64, "none", 16).tolist() == [1024, 1040, 1056, 1072]


def test_stores_end_with_a_whole_chunk() -> None:
    layout = launch_map("float32", [3, 2], [32], [8, 2])
    memory = np.zeros(64, np.uint8)
    layout.at((0, 0)).write(memory, 0, np.full(64, 7, np.uint8))
    assert np.flatnonzero(memory).tolist() == [*range(16), *range(32, 48)]


@pytest.mark.parametrize(("mode", "span"), [("none", 0), ("32B", 32), ("64B", 64), ("128B", 128)])
def test_swizzle_is_an_involution_within_its_pattern(mode: str, span: int) -> None:
    addresses = np.arange(0, 8192, 16, dtype=np.int64) + 3 * 1024
    moved = tensor.swizzle_address(addresses, mode)
    assert (tensor.swizzle_address(moved, mode) == addresses).all()
    assert (moved // 128 == addresses // 128).all()
    if span:
        period = span * 8
        assert (moved // period == addresses // period).all()
        assert (tensor.swizzle_address(addresses + period, mode) == moved + period).all()
        # the chunks of one column of a tile of 8 rows of 128 bytes land in as many different chunk columns as the mode has
        column = tensor.swizzle_address(np.arange(8, dtype=np.int64) * 128, mode) % 128 // 16
        assert len(set(column.tolist())) == span // 16
    assert (tensor.swizzle_address(addresses.astype(np.uint32), mode) == moved).all()


def test_swizzle_example() -> None:
    # row 3 of a 128-byte-wide tile: chunk c goes to c ^ 3
    assert tensor.chunk_addresses(1024, 1024, "128B")[24:32].tolist() == [1024 + 384 + 16 * (c ^ 3) for c in range(8)]
    # a base 256 bytes off the pattern rotates it
    assert tensor.chunk_addresses(1024 + 256, 128, "128B").tolist() == [1280 + 16 * (c ^ 2) for c in range(8)]


def launch_map(
    dtype: str, sizes: list[int], strides: list[int], box: list[int], steps: list[int] | None = None, fill: str = "zero"
) -> tensor.TensorLayout:
    return tensor.TensorLayout.of(
        {
            "dtype": dtype,
            "sizes": sizes,
            "strides_bytes": strides,
            "box": box,
            "element_strides": steps or [1] * len(sizes),
            "oob_fill": fill,
        }
    )


def array(case: str, name: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(np.load(DATA / case / f"{name}.npy").tobytes(), np.uint8).copy()


def test_loads_of_the_hardware() -> None:
    m1 = launch_map("uint32", [100], [], [64])
    m2 = launch_map("float32", [20, 12], [80], [16, 8])
    m2n = launch_map("float32", [20, 12], [80], [16, 8], fill="nan")
    m3 = launch_map("uint16", [16, 6, 5], [32, 192], [16, 4, 2])
    m4 = launch_map("uint8", [32, 3, 4, 3], [32, 96, 384], [32, 2, 3, 1])
    ms = launch_map("float32", [20, 12], [80], [8, 8], [1, 2])
    loads: list[tuple[int, tensor.TensorLayout, str, tuple[int, ...]]] = [
        (0, m1, "a1", (0,)),
        (256, m1, "a1", (72,)),
        (512, m1, "a1", (-20,)),
        (1024, m2, "a2", (4, 3)),
        (1536, m2, "a2", (-4, -2)),
        (2048, m2, "a2", (16, 9)),
        (2560, m2, "a2", (100, 3)),
        (3072, m2n, "a2", (-4, 10)),
        (3584, m2n, "a2", (4, 2)),
        (4096, m3, "a3", (0, 1, 1)),
        (4352, m3, "a3", (-8, 3, -1)),
        (4608, m3, "a3", (8, -1, 4)),
        (5120, m4, "a4", (0, 1, 0, 1)),
        (5376, m4, "a4", (16, -1, 2, 2)),
        (6144, ms, "a2", (0, 1)),
        (6400, ms, "a2", (4, -3)),
    ]
    shared = np.full(10240, 0xCC, np.uint8)
    for place, layout, name, coordinates in loads:
        dense = layout.at(coordinates).read(array("tma_load", name), 0)
        shared[place : place + len(dense)] = dense
    assert shared.tobytes() == array("tma_load", "expected_o").tobytes()


def test_stores_and_reductions_of_the_hardware() -> None:
    x = array("tma_store", "x").reshape(4, 512)
    a, b3 = np.full(3200, 255, np.uint8), np.full(1728, 255, np.uint8)
    r, mx = array("tma_store", "r"), array("tma_store", "mx")
    flat = launch_map("uint32", [40, 20], [160], [16, 8])
    for tile, at in ((0, (4, 3)), (1, (32, 0)), (2, (32, 15)), (3, (40, 3))):
        flat.at(at).write(a, 0, x[tile])
    deep = launch_map("uint32", [12, 6, 6], [48, 288], [4, 4, 8])
    for tile, at3 in ((0, (4, 1, 1)), (1, (8, 3, 4))):
        deep.at(at3).write(b3, 0, x[tile])
    sums = launch_map("float32", [40, 20], [160], [16, 8])
    for k in range(3):
        sums.at((k * 12, k * 6)).reduce(r, 0, x[2], "add")
    flat.at((28, 14)).reduce(mx, 0, x[3], "max")
    for name, got in (("a", a), ("b3", b3), ("r", r), ("mx", mx)):
        assert got.tobytes() == array("tma_store", f"expected_{name}").tobytes(), name


def test_reductions_by_type() -> None:
    old = np.array([1.5, -2.0, 3.0, 60000.0], np.float16)
    value = np.array([0.25, 5.0, -7.0, 60000.0], np.float16)
    result = tensor.reduce_bytes(old.view(np.uint8), value.view(np.uint8), "add", "f16").view(np.float16)
    assert result.tolist() == [1.75, 3.0, -4.0, np.inf]
    small = np.array([1, 2, 0, 5], np.uint32)
    assert tensor.reduce_bytes(small.view(np.uint8), np.full(4, 2, np.uint32).view(np.uint8), "inc", "u32").view(np.uint32).tolist() == [
        2,
        0,
        1,
        0,
    ]
    assert tensor.reduce_bytes(small.view(np.uint8), np.full(4, 2, np.uint32).view(np.uint8), "dec", "u32").view(np.uint32).tolist() == [
        0,
        1,
        2,
        2,
    ]
    tiny = np.array([1, 2], np.uint32)
    kept = tensor.reduce_bytes(tiny.view(np.uint8), tiny.view(np.uint8), "add", "f32").view(np.uint32)
    assert kept.tolist() == [2, 4]
    assert tensor.reduce_bytes(tiny.view(np.uint8), tiny.view(np.uint8), "add", "f32", flush=True).view(np.uint32).tolist() == [0, 0]


def test_unknown_dtype() -> None:
    with pytest.raises(ValueError, match="int7"):
        tensor.element_bytes("int7")
