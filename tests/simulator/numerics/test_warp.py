"""Votes, matches, reductions, elect, shuffles and atomics on whole warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl.runtime.simulator.numerics import atomic, warp


def members(*masks: int) -> np.ndarray[Any, Any]:
    return warp.mask_to_lanes(np.array(masks, np.uint32))


def test_masks() -> None:
    masks = np.array([0, 1, 0x80000001, 0xFFFFFFFF, 0x12345678], np.uint32)
    assert (warp.lanes_to_mask(warp.mask_to_lanes(masks)) == masks).all()
    assert warp.mask_to_lanes(masks)[2].nonzero()[0].tolist() == [0, 31]


def test_votes() -> None:
    lanes = members(0xFFFFFFFF, 0x0000000F, 0x0000000F, 0x000000F0)
    predicate = warp.mask_to_lanes(np.array([0xFFFFFFFE, 0xFFFFFFFF, 0x00000005, 0x0000000F], np.uint32))
    assert warp.vote("ballot", predicate, lanes)[:, 0].tolist() == [0xFFFFFFFE, 0xF, 5, 0]
    assert warp.vote("all", predicate, lanes)[:, 4].tolist() == [False, True, False, False]
    assert warp.vote("any", predicate, lanes)[:, 9].tolist() == [True, True, True, False]
    assert warp.vote("uni", predicate, lanes)[:, 31].tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match="most"):
        warp.vote("most", predicate, lanes)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_match(dtype: Any) -> None:
    value = (np.arange(64) % 3).astype(dtype).reshape(2, 32) << dtype(30)
    lanes = members(0xFFFFFFFF, 0x0000003F)
    mask, _ = warp.match("any", value, lanes)
    for w in range(2):
        for lane in range(32):
            assert mask[w, lane] == sum(1 << i for i in range(32) if lanes[w, i] and value[w, i] == value[w, lane])
    same = np.full((2, 32), 9, dtype)
    same[1, 3] = 1
    mask, agree = warp.match("all", same, members(0xFFFFFFFF, 0xFF))
    assert mask[:, 0].tolist() == [0xFFFFFFFF, 0] and agree[:, 5].tolist() == [True, False]
    mask, agree = warp.match("all", same, members(0xF0, 0xF0))
    assert mask[:, 4].tolist() == [0xF0, 0xF0] and agree.all()


def test_reductions() -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(0, 2**32, (2, 32), np.uint32)
    lanes = members(0xFFFFFFFF, 0x00F0F00F)
    chosen = [[int(v) for v, m in zip(value[w], lanes[w], strict=True) if m] for w in range(2)]

    def result(kind: str, name: str) -> list[int]:
        return [int(x) for x in warp.reduce(kind, name, value, lanes)[:, 7]]

    assert result("add", "u32") == [sum(c) % 2**32 for c in chosen]
    assert result("add", "s32") == [sum(c) % 2**32 for c in chosen]
    assert result("min", "u32") == [min(c) for c in chosen]
    assert result("max", "u32") == [max(c) for c in chosen]
    signed = [[c - 2**32 if c >> 31 else c for c in row] for row in chosen]
    assert result("min", "s32") == [min(c) % 2**32 for c in signed]
    assert result("max", "s32") == [max(c) % 2**32 for c in signed]
    for kind, function in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
        wanted = []
        for row in chosen:
            total = row[0]
            for x in row[1:]:
                total = function(total, x)
            wanted.append(total)
        assert result(kind, "b32") == wanted


def test_elect() -> None:
    leader, chosen = warp.elect(members(0xFFFFFFFF, 0xFFFFFF00, 0x80000000))
    assert leader[:, 0].tolist() == [0, 8, 31]
    assert chosen.sum(axis=1).tolist() == [1, 1, 1] and chosen[1, 8]


def test_shuffle_by_the_isa_text() -> None:
    rng = np.random.default_rng(1)
    value = rng.integers(0, 2**32, (1, 32), np.uint32)
    for mode in ("up", "down", "bfly", "idx"):
        for _ in range(40):
            b, c = int(rng.integers(0, 32)), int(rng.integers(0, 32)) | int(rng.integers(0, 32)) << 8
            got, valid, source = warp.shuffle(mode, value, np.array(b, np.uint32), np.array(c, np.uint32))
            segment, clamp = c >> 8 & 31, c & 31
            for lane in range(32):
                limit, low = lane & segment | clamp & ~segment, lane & segment
                j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": low | b & ~segment}[mode]
                inside = j >= limit if mode == "up" else j <= limit
                j = j if inside else lane
                assert (valid[0, lane], source[0, lane], got[0, lane]) == (inside, j, value[0, j]), (mode, b, c, lane)


@pytest.mark.parametrize(
    ("kind", "name", "old", "value", "result"),
    [
        ("add", "u32", 0xFFFFFFFF, 2, 1),
        ("add", "u64", 2**64 - 1, 2, 1),
        ("min", "s32", 5, 0xFFFFFFFE, 0xFFFFFFFE),
        ("min", "u32", 5, 0xFFFFFFFE, 5),
        ("max", "s64", 5, 2**64 - 2, 5),
        ("and", "b32", 0xF0F0, 0xFF00, 0xF000),
        ("or", "b64", 1 << 40, 1, 1 << 40 | 1),
        ("xor", "b32", 0xFF, 0x0F, 0xF0),
        ("exch", "b64", 1, 2, 2),
        ("inc", "u32", 4, 5, 5),
        ("inc", "u32", 5, 5, 0),
        ("inc", "u32", 6, 5, 0),
        ("dec", "u32", 0, 5, 5),
        ("dec", "u32", 6, 5, 5),
        ("dec", "u32", 3, 5, 2),
        ("add", "f32", 0x3F800000, 0x40000000, 0x40400000),
        ("add", "f64", 0x3FF0000000000000, 0x4000000000000000, 0x4008000000000000),
        ("add", "f16", 0x3C00, 0x4000, 0x4200),
        ("add", "bf16x2", 0x3F803F80, 0x40003F80, 0x40404000),
        ("add", "f16x2", 0x3C003C00, 0x40003C00, 0x42004000),
        ("max", "f16", 0x7E00, 0x4000, 0x4000),
        ("min", "bf16", 0x0000, 0x8000, 0x8000),
        ("min", "f32", 0x3F800000, 0xBF800000, 0xBF800000),
        ("max", "f16x2", 0x3C004000, 0x40003C00, 0x40004000),
    ],
)
def test_atomic_arithmetic(kind: str, name: str, old: int, value: int, result: int) -> None:
    assert atomic.supports(kind, name)
    width = 32 if name.endswith("x2") else int(name.lstrip("busf"))
    dtype = np.dtype(f"u{width // 8}")
    got = atomic.atomic_update(kind, name, np.array([old], dtype), np.array([value], dtype))
    assert got.dtype == dtype and int(got[0]) == result


def test_compare_and_swap() -> None:
    old = np.array([3, 4], np.uint32)
    assert atomic.atomic_update("cas", "b32", old, np.array([9, 9], np.uint32), np.array([3, 3], np.uint32)).tolist() == [9, 4]
    with pytest.raises(ValueError, match="compare"):
        atomic.atomic_update("cas", "b32", old, old)
    assert not atomic.supports("inc", "s32") and not atomic.supports("add", "b1")


def test_equal_slots_happen_one_after_the_other() -> None:
    cells = np.array([10, 20, 30], np.uint32)
    slots = np.array([1, 0, 1, 1, 2])
    seen = atomic.update_in_order("add", "u32", cells, slots, np.array([1, 2, 3, 4, 5], np.uint32))
    assert seen.tolist() == [20, 10, 21, 24, 30]
    assert cells.tolist() == [12, 28, 35]
    seen = atomic.update_in_order("cas", "b32", cells, np.array([0, 0]), np.array([7, 8], np.uint32), np.array([12, 12], np.uint32))
    assert seen.tolist() == [12, 7] and cells[0] == 7
    seen = atomic.update_in_order("exch", "b32", cells, np.array([2, 2, 2]), np.array([5], np.uint32))
    assert seen.tolist() == [35, 5, 5]
    assert atomic.update_in_order("add", "u32", cells, np.array([], np.int64), np.array([], np.uint32)).size == 0
