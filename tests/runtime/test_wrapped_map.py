"""Wrapped maps: the ragged store whose base is the array itself, against a model of the store with 64-bit addresses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.manifest import TensorMapTemplate
from fa4dsl.runtime.simulator.numerics.tensor import TensorLayout
from fa4dsl.runtime.tensor_map import WRAP_POSITIONS, TensorMapDescription, from_template, ragged, wrapped

WORD = 1 << 64


def stored(description: TensorMapDescription, coordinates: tuple[int, ...], itemsize: int) -> dict[tuple[int, ...], int]:
    """Box index of each element that is written, to its byte offset from the map's base, as the address unit has it: modulo 2**64."""
    written = {}
    for index in itertools.product(*(range(extent) for extent in description.box)):
        position = [start + step for start, step in zip(coordinates, index, strict=True)]
        if all(0 <= at < size for at, size in zip(position, description.sizes, strict=True)):
            offset = position[0] * itemsize + sum(at * stride for at, stride in zip(position[1:], description.strides_bytes, strict=True))
            written[index] = offset % WORD
    return written


@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from([1, 2, 4]), st.sampled_from([1, 4, 6]), st.booleans(), st.data())
def test_touches_exactly_the_valid_rows(total: int, heads: int, group: int, positions: int, batched: bool, data: st.DataObject) -> None:
    depth, columns = 32, 8
    batched = batched and group == 1
    array = np.zeros((total, heads, depth) if group == 1 else (total, heads, group, depth), np.float16)
    made = wrapped(array, positions * group, columns, group=group, blocks=2 if batched else 0)
    assert made.description.offset == 0 and made.address == array.ctypes.data
    valid = data.draw(st.integers(1, min(positions, total)))
    row, head = data.draw(st.integers(0, total - valid)), data.draw(st.integers(0, heads - 1))
    block = data.draw(st.sampled_from([0, 2]))
    outer = (WRAP_POSITIONS - valid, (row + valid) * heads + head, WRAP_POSITIONS)
    coordinates = (0, *outer, block) if batched else (8 * block, *(() if group == 1 else (0,)), *outer)
    expected = {}
    for position, member, element, extra in itertools.product(range(valid), range(group), range(columns), range(2 if batched else 1)):
        column = 8 * (block + extra) + element
        at = (row + position, head, column) if group == 1 else (row + position, head, member, column)
        inner = (element,) if group == 1 else (element, member)
        index = (*inner, position, 0, 0, *((extra,) if batched else ()))
        expected[index] = int(np.ravel_multi_index(at, array.shape)) * 2
    assert stored(made.description, coordinates, 2) == expected
    # The simulator's boxes agree, through its 64-bit integers.
    starts, length = TensorLayout.of(made.description).at(coordinates).global_ranges(0)
    assert length == 2 * columns
    assert sorted(starts.tolist()) == sorted({offset for index, offset in expected.items() if index[0] == 0})


def test_templates() -> None:
    output = np.zeros((10, 2, 64), np.float16)
    plain = from_template(TensorMapTemplate("f16", 4, (8, 16, 1, 1), form="wrapped"), output, "o")
    assert plain.description == wrapped(output, 16, 8).description and plain.form == "wrapped"
    fused = from_template(TensorMapTemplate("f16", 5, (8, 4, 8, 1, 1), form="wrapped"), np.zeros((10, 2, 4, 64), np.float16), "o")
    assert fused.description.sizes == (64, 4, WRAP_POSITIONS, 22, 0x7FFF0000)
    blocks = from_template(TensorMapTemplate("f16", 5, (8, 16, 1, 1, 4), form="wrapped_blocks"), output, "o")
    assert blocks.description == wrapped(output, 16, 8, blocks=4).description and blocks.form == "wrapped_blocks"


def test_same_rules_as_ragged() -> None:
    wrong = [
        (np.zeros((10, 3, 4, 64), np.float16), {}, "R032"),
        (np.zeros((10, 4, 64), np.float16)[:, :3], {}, "R032"),
        (np.zeros((10, 3, 3, 64), np.float16), {"group": 3}, "R033"),
        (np.zeros((8, 2, 64), np.float16)[:, :, ::2], {}, "R030"),
    ]
    for array, options, code in wrong:
        for make in (ragged, wrapped):
            with pytest.raises(Fa4dslError) as caught:
                make(array, 32, 8, **options)  # type: ignore[arg-type]
            assert caught.value.code == code
    for options in ({"group": 4, "blocks": 2}, {"blocks": 2}):
        shape = (10, 3, 4, 72) if "group" in options else (10, 3, 72)
        with pytest.raises(Fa4dslError) as caught:
            wrapped(np.zeros(shape, np.float16), 32, 16, **options)
        assert caught.value.code == "R032"
