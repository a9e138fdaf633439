"""Instructions that a warp executes together (PTX 9.7.9.6, 9.7.13): shuffles, votes, matches, reductions, elect.

Arrays are ``[warps, 32]``. `members` is true for the lanes that execute together under one membermask; results of other lanes mean nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import Bits, signed, unsigned

LANES = np.arange(32, dtype=np.int64)
_WEIGHTS = (np.uint64(1) << np.arange(32, dtype=np.uint64)).astype(np.uint32)


def shuffle(mode: str, value: Bits, b: Bits, c: Bits) -> tuple[Bits, Bits, Bits]:
    """shfl.sync.`mode` (up, down, bfly, idx) of 32-bit values.

    `b` is the lane or distance, `c` the clamp (bits 0..4) and segment mask (bits 8..12). Returns ``(value, in_range, source)``: lanes out of range
    keep their own value; `source` is the lane read (the own one out of range), for the caller to check that it takes part.
    """
    distance = b.astype(np.int64) & 31
    control = c.astype(np.int64)
    segment, clamp = (control >> 8) & 31, control & 31
    low = LANES & segment
    limit = low | (clamp & ~segment)
    if mode == "up":
        source = LANES - distance
        valid = source >= limit
    elif mode == "down":
        source = LANES + distance
        valid = source <= limit
    elif mode == "bfly":
        source = LANES ^ distance
        valid = source <= limit
    elif mode == "idx":
        source = low | (distance & ~segment)
        valid = source <= limit
    else:
        raise ValueError(f"unknown shuffle mode {mode!r}")
    source = np.where(valid, source, LANES)
    shape = np.broadcast_shapes(value.shape, source.shape)
    source, valid = np.broadcast_to(source, shape), np.broadcast_to(valid, shape)
    return np.take_along_axis(np.broadcast_to(value, shape), source, axis=-1), valid, source


def mask_to_lanes(mask: Bits) -> Bits:
    """uint32 masks ``[...]`` to truth ``[..., 32]``."""
    lanes: Bits = (mask[..., None] & _WEIGHTS) != 0
    return lanes


def lanes_to_mask(lanes: Bits) -> Bits:
    """Truth ``[..., 32]`` to uint32 masks ``[...]``."""
    masks: Bits = np.where(lanes, _WEIGHTS, np.uint32(0)).sum(axis=-1, dtype=np.uint32)
    return masks


def _every_lane(results: Any) -> Bits:
    return np.broadcast_to(results[..., None], (*results.shape, 32))


def vote(kind: str, predicate: Bits, members: Bits) -> Bits:
    """vote.sync.`kind`: all, any, uni give truth ``[warps, 32]``; ballot gives uint32 ``[warps, 32]``."""
    yes = predicate & members
    if kind == "ballot":
        return _every_lane(lanes_to_mask(yes))
    if kind == "any":
        return _every_lane(yes.any(axis=-1))
    every = (predicate | ~members).all(axis=-1)
    if kind == "all":
        return _every_lane(every)
    if kind == "uni":
        return _every_lane(every | ~yes.any(axis=-1))
    raise ValueError(f"unknown vote {kind!r}")


def match(kind: str, value: Bits, members: Bits) -> tuple[Bits, Bits]:
    """match.sync.{any,all} of b32 or b64: ``(mask, predicate)``. any: the members with the own value, predicate unused.

    all: the members' mask and true when all values are equal, else 0 and false.
    """
    if kind == "any":
        same = (value[..., :, None] == value[..., None, :]) & members[..., None, :]
        return lanes_to_mask(same), members
    if kind != "all":
        raise ValueError(f"unknown match {kind!r}")
    first = np.take_along_axis(value, members.argmax(axis=-1)[..., None], axis=-1)
    agree = ((value == first) | ~members).all(axis=-1)
    return _every_lane(np.where(agree, lanes_to_mask(members), np.uint32(0))), _every_lane(agree)


def reduce(kind: str, type_name: str, value: Bits, members: Bits) -> Bits:
    """redux.sync: add, min, max of u32 or s32, and, or, xor of b32; the same result in every lane. uint32."""
    functions: dict[str, tuple[Any, int]] = {
        "add": (np.add, 0),
        "and": (np.bitwise_and, 0xFFFFFFFF),
        "or": (np.bitwise_or, 0),
        "xor": (np.bitwise_xor, 0),
        "min": (np.minimum, 0x7FFFFFFF if type_name == "s32" else 0xFFFFFFFF),
        "max": (np.maximum, -(2**31) if type_name == "s32" else 0),
    }
    function, neutral = functions[kind]
    dtype = (signed if type_name == "s32" and kind in ("min", "max") else unsigned)(32)
    chosen = np.where(members, value.view(dtype), dtype.type(neutral))
    return _every_lane(function.reduce(chosen, axis=-1).astype(dtype).view(np.uint32))


def elect(members: Bits) -> tuple[Bits, Bits]:
    """elect.sync: the lowest member leads, as measured on an H200. Returns ``(leader lane as uint32, is the leader)``, both ``[warps, 32]``."""
    leader = members.argmax(axis=-1)
    return _every_lane(leader.astype(np.uint32)), (leader[..., None] == LANES) & members
