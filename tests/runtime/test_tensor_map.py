"""Tensor maps: every rule with its dimension and value, and the ragged map's arithmetic against a model of the store."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fa4dsl.runtime import TensorMap, TensorMapDescription, ragged, reinterpreted, tiled
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.manifest import TensorMapTemplate
from fa4dsl.runtime.tensor_map import check_template, from_template, reshaped

GOOD = TensorMapDescription("f32", (64, 32), (256,), (32, 8), (1, 1))


def error_of(action: Callable[[], object]) -> Fa4dslError:
    with pytest.raises(Fa4dslError) as error:
        action()
    return error.value


def test_a_plain_array() -> None:
    array = np.zeros((4, 32, 64), np.float16)
    made = tiled(array, (64, 16, 1), "128B", l2_promotion="128B")
    expected = TensorMapDescription("f16", (64, 32, 4), (128, 4096), (64, 16, 1), (1, 1, 1), "128B", l2_promotion="128B")
    assert made.description == expected and made.address == array.ctypes.data and made.form == "tiled"


def test_views() -> None:
    whole = np.zeros((8, 40), np.float32)
    assert tiled(whole[:, :30], (4, 8)).description.strides_bytes == (160,)
    assert tiled(whole[2:, 8:], (4, 4)).address == whole.ctypes.data + 2 * 160 + 32
    assert tiled(np.zeros(64, np.uint8), (16,)).description.strides_bytes == ()
    # A dimension of one element may have any stride, also one that the hardware would refuse.
    single = np.zeros((1, 30), np.float32)
    assert tiled(single, (4, 1)).description.strides_bytes == (128,)
    assert tiled(np.zeros((5, 1, 32), np.float32), (32, 1, 1)).description.strides_bytes == (128, 128)


def test_promotion() -> None:
    """L2 fetches as much at a time as a box takes in one piece."""
    cache = np.zeros((2, 128, 8, 2, 64), np.float16).transpose(
        0, 2, 1, 3, 4
    )  # [batch, heads, rows, panels, 64] of [batch, rows, heads, 128]
    assert tiled(cache, (64, 2, 64, 1, 1), "128B").description.l2_promotion == "128B"
    assert tiled(cache, (64, 1, 64, 1, 1), "128B").description.l2_promotion == "128B"
    assert tiled(np.zeros((8, 64), np.float16), (64, 4), "128B").description.l2_promotion == "128B"
    assert tiled(np.zeros((8, 64), np.float16), (32, 8), "64B").description.l2_promotion == "64B"
    assert tiled(np.zeros((8, 64), np.float16), (8, 8)).description.l2_promotion == "none"
    assert tiled(np.zeros((8, 64), np.float32), (64, 8), element_strides=(2, 1)).description.l2_promotion == "none"
    assert tiled(np.zeros((8, 64), np.float16), (64, 4), "128B", l2_promotion="none").description.l2_promotion == "none"


def test_element_types() -> None:
    for dtype, name in (
        (ml_dtypes.bfloat16, "bf16"),
        (ml_dtypes.float8_e4m3fn, "e4m3"),
        (ml_dtypes.float8_e5m2, "e5m2"),
        (np.int64, "i64"),
        (np.bool_, "bool"),
    ):
        assert tiled(np.zeros((8, 64), dtype), (16, 8)).description.dtype == name
    assert tiled(reinterpreted(np.zeros((8, 64), np.uint16), "bf16"), (8, 8)).description.dtype == "bf16"
    assert error_of(lambda: reinterpreted(np.zeros(4, np.float32), "bf16")).code == "R042"
    assert error_of(lambda: tiled(np.zeros(4, np.complex64), (4,))).code == "R042"


@pytest.mark.parametrize(
    ("code", "changes", "words"),
    [
        ("R020", {"sizes": (1,) * 6, "strides_bytes": (16,) * 5, "box": (4,) * 6, "element_strides": (1,) * 6}, "got 6"),
        ("R020", {"sizes": (), "strides_bytes": (), "box": (), "element_strides": ()}, "got 0"),
        ("R021", {"sizes": (64, 0)}, "dimension 1 (counted from the innermost, 0) has 0 elements"),
        ("R021", {"sizes": ((1 << 32) + 1, 32)}, "dimension 0"),
        ("R022", {"strides_bytes": (260,)}, "dimension 1 (counted from the innermost, 0) has a stride of 260 bytes (65 elements)"),
        ("R022", {"strides_bytes": (0,)}, "stride of 0 bytes"),
        ("R022", {"strides_bytes": (-256,)}, "stride of -256 bytes"),
        ("R022", {"strides_bytes": (1 << 40,)}, "below 2^40"),
        ("R023", {"box": (32, 257)}, "257 elements in dimension 1"),
        ("R023", {"box": (0, 8)}, "0 elements in dimension 0"),
        ("R024", {"box": (3, 8)}, "12 bytes"),
        ("R024", {"box": (3, 8)}, "multiple of 4 elements"),
        ("R025", {"swizzle": "64B"}, "128 bytes; swizzle 64B"),
        ("R025", {"swizzle": "32B", "box": (16, 8)}, "at most 8 elements"),
        ("R026", {"element_strides": (1, 9)}, "dimension 1 (counted from the innermost, 0) is 9"),
        ("R026", {"element_strides": (0, 1)}, "dimension 0"),
        ("R027", {"box": (32,)}, "box needs 2 entries for rank 2, got 1"),
        ("R027", {"strides_bytes": (4, 256)}, "strides_bytes needs 1 entries"),
        ("R029", {"dtype": "i32", "oob_fill": "nan"}, "i32"),
        ("R029", {"dtype": "e4m3", "oob_fill": "nan"}, "e4m3"),
        ("R031", {"interleave": "16B"}, "rank 3 to 5, got 2"),
        (
            "R031",
            {"interleave": "32B", "sizes": (8, 8, 8), "strides_bytes": (32, 256), "box": (8, 8, 8), "element_strides": (1, 1, 1)},
            "swizzle 32B, got none",
        ),
        ("R036", {"swizzle": "96B"}, "'96B'"),
        ("R036", {"dtype": "f24"}, "'f24'"),
        ("R036", {"oob_fill": "one"}, "'one'"),
        ("R036", {"l2_promotion": "1KB"}, "'1KB'"),
        ("R036", {"interleave": "8B"}, "'8B'"),
    ],
)
def test_rules(code: str, changes: dict[str, Any], words: str) -> None:
    error = error_of(lambda: replace(GOOD, **changes).check(0, "k_map"))
    assert error.code == code and words in str(error) and "k_map" in str(error)


def test_base_address() -> None:
    GOOD.check(1 << 20)
    assert "rest 8" in str(error_of(lambda: GOOD.check((1 << 20) + 8)))
    assert error_of(lambda: replace(GOOD, offset=-4).check(1 << 20)).code == "R028"
    assert error_of(lambda: replace(GOOD, offset=-(1 << 21)).check(1 << 20)).code == "R028"
    array = np.zeros((9, 64), np.float32)
    assert error_of(lambda: tiled(array[:, 1:], (4, 8))).code == "R028"


def test_not_dense() -> None:
    error = error_of(lambda: tiled(np.zeros((64, 8), np.float32).T, (32, 8), name="q"))
    assert error.code == "R030" and "32 bytes" in str(error) and "q:" in str(error)
    assert error_of(lambda: ragged(np.zeros((8, 2, 64), np.float32)[:, :, ::2], 8, 8)).code == "R030"


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.lists(st.integers(-2, 300), min_size=1, max_size=5),
    st.sampled_from(["none", "32B", "64B", "128B"]),
    st.sampled_from([np.uint8, np.float16, np.float32, np.float64]),
)
def test_any_box_is_accepted_or_told(shape: list[int], box: list[int], swizzle: Any, dtype: Any) -> None:
    """What is accepted keeps the rules, and what is not has a code of this chapter."""
    array = np.zeros(shape, dtype)
    try:
        description = tiled(array, box, swizzle).description
    except Fa4dslError as error:
        assert "R020" <= error.code <= "R036"
        return
    inner = description.box[0] * array.itemsize
    assert len(description.box) == array.ndim and all(1 <= extent <= 256 for extent in description.box)
    assert inner % 16 == 0 and all(stride % 16 == 0 for stride in description.strides_bytes)
    assert swizzle == "none" or inner <= int(swizzle[:-1])


def store(description: TensorMapDescription, coordinates: tuple[int, ...], itemsize: int) -> dict[tuple[int, ...], int]:
    """The tiled store by its definition: box index (innermost first) to byte offset from the array's start; elements out of bounds are dropped."""
    written = {}
    for index in itertools.product(*(range(extent) for extent in description.box)):
        position = [start + step for start, step in zip(coordinates, index, strict=True)]
        if all(0 <= at < size for at, size in zip(position, description.sizes, strict=True)):
            offset = position[0] * itemsize + sum(at * stride for at, stride in zip(position[1:], description.strides_bytes, strict=True))
            written[index] = offset + description.offset
    return written


@given(
    total=st.integers(1, 9),
    heads=st.integers(1, 3),
    group=st.sampled_from([1, 2, 4]),
    positions=st.sampled_from([1, 4, 6]),
    data=st.data(),
)
def test_ragged_store_touches_exactly_the_valid_rows(total: int, heads: int, group: int, positions: int, data: st.DataObject) -> None:
    """Store `n` positions at row `r`, head `h`, column `c`: box position i < n lands at array[r + i, h, (g), c...], the rest nowhere."""
    depth, columns = 16, 8
    shape = (total, heads, depth) if group == 1 else (total, heads, group, depth)
    array = np.zeros(shape, np.float16)
    made = ragged(array, positions * group, columns, group=group)
    valid = data.draw(st.integers(1, min(positions, total)))
    row = data.draw(st.integers(0, total - valid))
    head = data.draw(st.integers(0, heads - 1))
    column = data.draw(st.sampled_from([0, 8]))
    middle = () if group == 1 else (0,)
    written = store(made.description, (column, *middle, positions - valid, (row + valid) * heads + head), 2)
    expected = {}
    for position, member, element in itertools.product(range(valid), range(group), range(columns)):
        at = (row + position, head, column + element) if group == 1 else (row + position, head, member, column + element)
        box = (element, position, 0) if group == 1 else (element, member, position, 0)
        expected[box] = int(np.ravel_multi_index(at, shape)) * 2
    assert written == expected


def test_ragged_shapes() -> None:
    two = ragged(np.zeros((10, 64), np.float16), 16, 8)
    three = ragged(np.zeros((10, 1, 64), np.float16), 16, 8)
    assert two.description == three.description and two.form == "ragged"
    assert two.description == TensorMapDescription("f16", (64, 16, 11), (128, 128), (8, 16, 1), (1, 1, 1), offset=-16 * 128)
    four = ragged(np.zeros((10, 3, 4, 64), np.float16), 32, 8, group=4)
    assert four.description == TensorMapDescription("f16", (64, 4, 8, 33), (128, 1536, 512), (8, 4, 8, 1), (1,) * 4, offset=-8 * 1536)
    for shape, group in (((10, 3, 4, 64), 1), ((10, 3, 64), 4), ((10, 3, 2, 64), 4), ((64,), 1)):
        assert error_of(lambda shape=shape, group=group: ragged(np.zeros(shape, np.float16), 32, 8, group=group)).code == "R032"
    gaps = np.zeros((10, 4, 64), np.float16)[:, :3]
    assert "merge" in str(error_of(lambda: ragged(gaps, 16, 8)))
    assert error_of(lambda: ragged(np.zeros((10, 3, 3, 64), np.float16), 32, 8, group=3)).code == "R033"
    assert error_of(lambda: ragged(np.zeros((10, 3, 64), np.float16), 0, 8)).code == "R033"


def test_empty_arrays() -> None:
    """numpy gives an empty array strides of 0; the size is what is wrong."""
    for shape in ((0, 16), (8, 0)):
        assert error_of(lambda shape=shape: tiled(np.zeros(shape, np.float32), (16, 8))).code == "R021"
    assert error_of(lambda: ragged(np.zeros((0, 0), np.float16), 8, 8)).code == "R021"


def test_templates() -> None:
    template = TensorMapTemplate("f16", 2, (64, 8), "128B")
    array = np.zeros((16, 64), np.float16)
    made = from_template(template, array, "k")
    assert made.description == tiled(array, (64, 8), "128B").description
    assert from_template(template, made, "k") is made
    assert error_of(lambda: from_template(template, np.zeros((16, 64), np.float32), "k")).code == "R042"
    assert error_of(lambda: from_template(template, np.zeros((2, 16, 64), np.float16), "k")).code == "R034"
    for changes in ({"box": (32, 8)}, {"swizzle": "none"}, {"oob_fill": "nan"}):
        error = error_of(lambda changes=changes: check_template(template, reshaped(made, **changes), "k"))
        assert error.code == "R034" and next(iter(changes)) in str(error)
    output = np.zeros((10, 2, 64), np.float16)
    shaped = from_template(TensorMapTemplate("f16", 3, (8, 16, 1), form="ragged"), output, "o")
    assert shaped.description == ragged(output, 16, 8).description
    fused = from_template(TensorMapTemplate("f16", 4, (8, 4, 8, 1), form="ragged"), np.zeros((10, 2, 4, 64), np.float16), "o")
    assert fused.description.sizes == (64, 4, 8, 22)
    assert error_of(lambda: check_template(template, ragged(output, 16, 8), "k")).code == "R034"


def test_the_same_map_over_another_array() -> None:
    first, second = np.zeros((16, 64), np.float16), np.zeros((16, 64), np.float16)
    made: TensorMap = tiled(first, (64, 8))
    assert made.over(second).description == made.description and made.over(second).address == second.ctypes.data
    assert error_of(lambda: made.over(np.zeros((8, 64), np.float16))).code == "R034"


def test_launch_json_form() -> None:
    record = ragged(np.zeros((10, 64), np.uint8), 16, 16).description.as_launch_json("out", 64)
    assert record == {
        "buffer": "out",
        "dtype": "uint8",
        "sizes": [64, 16, 11],
        "strides_bytes": [64, 64],
        "box": [16, 16, 1],
        "element_strides": [1, 1, 1],
        "swizzle": "none",
        "oob_fill": "zero",
        "offset": 64 - 16 * 64,
    }
