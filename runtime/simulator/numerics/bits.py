"""Logic, shifts and bit fields (PTX 9.7.1.15 and on, 9.7.8, prmt), and scalar mov."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics.operation import (
    Bits,
    Container,
    Family,
    PureOp,
    Words,
    container,
    joined,
    pieces,
    repeated,
    signed,
    unsigned,
)

_BITS = ("b16", "b32", "b64")
_ZERO, _ONE, _ALL = np.uint32(0), np.uint32(1), np.uint32(0xFFFFFFFF)


def _logic(words: Words) -> PureOp | None:
    function: Any = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[words.name]
    kind = words.one("pred", *_BITS)
    if kind is None or words.left:
        return None
    register: Container = kind  # type: ignore[assignment]
    return PureOp(words.mnemonic, (register, register), (register,), lambda a, b: (function(a, b),))


def _not(words: Words) -> PureOp | None:
    kind = words.one(*_BITS) if words.name == "cnot" else words.one("pred", *_BITS)
    if kind is None or words.left:
        return None
    register: Container = kind  # type: ignore[assignment]
    if words.name == "cnot":
        raw = unsigned(int(kind[1:]))
        return PureOp(words.mnemonic, (register,), (register,), lambda a: ((a == 0).astype(raw),))
    return PureOp(words.mnemonic, (register,), (register,), lambda a: (~a,))


def _mov(words: Words) -> PureOp | None:
    kind = words.one("pred", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64")
    if kind is None or words.left:
        return None
    register: Container = "pred" if kind == "pred" else container(int(kind[1:]))
    return PureOp(words.mnemonic, (register,), (register,), lambda a: (a,))


def _shift(words: Words) -> PureOp | None:
    """shl, shr: the amount is an unsigned 32-bit value, clamped at the width."""
    left = words.name == "shl"
    kind = words.one(*_BITS) if left else words.one(*_BITS, "u16", "u32", "u64", "s16", "s32", "s64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])
    raw = unsigned(width)
    if kind[0] == "s":
        dtype = signed(width)

        def run(a: Bits, amount: Bits) -> tuple[Bits]:
            return ((a.view(dtype) >> np.minimum(amount, np.uint32(width - 1)).astype(dtype)).view(raw),)
    else:
        function: Any = np.left_shift if left else np.right_shift

        def run(a: Bits, amount: Bits) -> tuple[Bits]:
            # numpy gives 0 for unsigned shifts by the width and beyond, but only within the shifted dtype's own range
            return (function(a, np.minimum(amount, np.uint32(width)).astype(raw)),)

    return PureOp(words.mnemonic, (container(width), "b32"), (container(width),), run, kind[0] == "s")


def _funnel(words: Words) -> PureOp | None:
    """shf: {b:a} shifted; `l` gives the upper word, `r` the lower one."""
    direction, mode = words.one("l", "r"), words.one("clamp", "wrap")
    if not direction or not mode or words.one("b32") is None or words.left:
        return None

    def run(a: Bits, b: Bits, c: Bits) -> tuple[Bits]:
        amount = (np.minimum(c, np.uint32(32)) if mode == "clamp" else c & np.uint32(31)).astype(np.uint64)
        both = (b.astype(np.uint64) << np.uint64(32)) | a
        moved = (both << amount) >> np.uint64(32) if direction == "l" else both >> amount
        return (moved.astype(np.uint32),)

    return PureOp(words.mnemonic, ("b32", "b32", "b32"), ("b32",), run)


def lop3(a: Bits, b: Bits, c: Bits, table: int) -> Bits:
    """Any function of three bits: bit ``4a + 2b + c`` of `table` is the result."""
    result: Bits | None = None
    for index in range(8):
        if table >> index & 1:
            term = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
            result = term if result is None else result | term
    return result if result is not None else np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), np.uint32)


_FAST_LOP3: dict[int, Any] = {
    0xC0: lambda a, b, c: a & b,
    0xFC: lambda a, b, c: a | b,
    0x3C: lambda a, b, c: a ^ b,
    0x80: lambda a, b, c: a & b & c,
    0xFE: lambda a, b, c: a | b | c,
    0x96: lambda a, b, c: a ^ b ^ c,
    0xEA: lambda a, b, c: (a & b) | c,
    0xF8: lambda a, b, c: a | (b & c),
    0xE8: lambda a, b, c: (a & b) | (c & (a | b)),
    0xCA: lambda a, b, c: (a & b) | (~a & c),
    0xE2: lambda a, b, c: (b & a) | (~b & c),
}


def _lop3(words: Words) -> PureOp | None:
    """lop3.b32 d, a, b, c, table; lop3.{and,or}.b32 d|p, a, b, c, table, q. The table is an immediate: all its entries are equal."""
    combine = words.one("and", "or")
    if words.one("b32") is None or words.left:
        return None

    def value(a: Bits, b: Bits, c: Bits, table: Bits) -> Bits:
        number = int(table.flat[0]) & 0xFF
        fast = _FAST_LOP3.get(number)
        result: Bits = fast(a, b, c) if fast else lop3(a, b, c, number)
        return result

    if combine is None:
        return PureOp(words.mnemonic, repeated("b32", 4), ("b32",), lambda a, b, c, table: (value(a, b, c, table),))

    def run(a: Bits, b: Bits, c: Bits, table: Bits, q: Bits) -> tuple[Bits, Bits]:
        result = value(a, b, c, table)
        truth = result != 0
        return result, (truth & q if combine == "and" else truth | q)

    return PureOp(words.mnemonic, ("b32", "b32", "b32", "b32", "pred"), ("b32", "pred"), run)


def highest_bit(a: Bits) -> Bits:
    """Position of the highest set bit as uint32, 0xffffffff for zero; uint32 or uint64."""
    if a.dtype == np.uint32:
        # exact in float64: the exponent is the position
        return np.where(a == 0, _ALL, (np.frexp(a.astype(np.float64))[1] - 1).astype(np.uint32))
    upper = (a >> np.uint64(32)).astype(np.uint32)
    lower = a.astype(np.uint32)
    return np.where(upper != 0, highest_bit(upper) + np.uint32(32), highest_bit(lower))


def _count(words: Words) -> PureOp | None:
    kind = words.one("b32", "b64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])
    if words.name == "popc":
        return PureOp(words.mnemonic, (container(width),), ("b32",), lambda a: (np.bitwise_count(a).astype(np.uint32),))
    # highest_bit of 0 is -1, so the count of a zero is the width
    return PureOp(words.mnemonic, (container(width),), ("b32",), lambda a: (np.uint32(width - 1) - highest_bit(a),))


def _bfind(words: Words) -> PureOp | None:
    """Position of the highest bit that differs from the sign (0 for unsigned); 0xffffffff when there is none."""
    amount = words.one("shiftamt")
    kind = words.one("u32", "s32", "u64", "s64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])

    def run(a: Bits) -> tuple[Bits]:
        if kind[0] == "s":
            a = np.where(a.view(signed(width)) < 0, ~a, a)
        position = highest_bit(a)
        return (np.where(position == _ALL, _ALL, np.uint32(width - 1) - position) if amount else position,)

    return PureOp(words.mnemonic, (container(width),), ("b32",), run)


def find_nth_set(mask: Bits, base: Bits, offset: Bits) -> Bits:
    """fns: the `offset`-th set bit counted from `base` upwards (offset > 0) or downwards (< 0); offset 0: `base` itself if set."""
    mask, base, offset = np.broadcast_arrays(mask, base, offset)
    count = offset.view(np.int32) if offset.flags.c_contiguous else np.ascontiguousarray(offset).view(np.int32)
    positions = np.arange(32, dtype=np.int64)
    present = (mask[..., None] >> positions.astype(np.uint32)) & _ONE != 0
    start = base.astype(np.int64)[..., None]
    upward = np.cumsum(present & (positions >= start), axis=-1)
    downward = np.cumsum((present & (positions <= start))[..., ::-1], axis=-1)[..., ::-1]
    wanted = np.abs(count.astype(np.int64))[..., None]
    hit = present & np.where(count[..., None] > 0, (upward == wanted) & (positions >= start), (downward == wanted) & (positions <= start))
    hit = np.where(count[..., None] == 0, present & (positions == start), hit)
    return np.where(hit.any(axis=-1), hit.argmax(axis=-1).astype(np.uint32), _ALL)


def _fns(words: Words) -> PureOp | None:
    if words.one("b32") is None or words.left:
        return None
    return PureOp(words.mnemonic, ("b32", "b32", "b32"), ("b32",), lambda a, b, c: (find_nth_set(a, b, c),))


_REVERSED_BYTE = np.array([int(f"{value:08b}"[::-1], 2) for value in range(256)], np.uint8)


def _brev(words: Words) -> PureOp | None:
    kind = words.one("b32", "b64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])
    return PureOp(
        words.mnemonic, (container(width),), (container(width),), lambda a: (joined(_REVERSED_BYTE[pieces(a, 8)][..., ::-1], width),)
    )


def _field(value: Bits, width: int) -> Bits:
    """A position or length operand of bfe and bfi in the width of the field's register."""
    return value & np.uint32(0xFF) if width == 32 else value.astype(np.uint64)


def _extract(words: Words) -> PureOp | None:
    """bfe: field of `length` bits at `position`; beyond the top bit, and for signed types above the field, the sign is copied.

    Beyond 255, where the ISA allows nothing, 32-bit forms take both modulo 256 and 64-bit forms take them whole, as measured.
    """
    kind = words.one("u32", "s32", "u64", "s64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])
    raw, dtype = unsigned(width), signed(width)
    top = raw.type(width - 1)

    def run(a: Bits, position: Bits, length: Bits) -> tuple[Bits]:
        start, count = _field(position, width), _field(length, width)
        keep = np.minimum(count, raw.type(width))
        drop = raw.type(width) - keep
        if kind[0] == "u":
            # shifts are limited by hand: numpy leaves a shift by more than the width to the compiler
            field = np.where(start > top, raw.type(0), a >> np.minimum(start, top))
            mask = np.where(keep == 0, raw.type(0), ~raw.type(0) >> np.minimum(drop, top))
            return (field & mask,)
        moved = a.view(dtype) >> np.minimum(start, top).astype(dtype)
        # past the top the field is all sign, which the arithmetic shift has already copied in
        up = np.minimum(drop, top).astype(dtype)
        return (np.where(keep == 0, raw.type(0), ((moved << up) >> up).view(raw)),)

    return PureOp(words.mnemonic, (container(width), "b32", "b32"), (container(width),), run, kind[0] == "s")


def _insert(words: Words) -> PureOp | None:
    """bfi f, a, b, position, length: the low bits of a replace a field of b."""
    kind = words.one("b32", "b64")
    if kind is None or words.left:
        return None
    width = int(kind[1:])
    raw = unsigned(width)
    top = raw.type(width - 1)

    def run(a: Bits, b: Bits, position: Bits, length: Bits) -> tuple[Bits]:
        start, count = _field(position, width), np.minimum(_field(length, width), raw.type(width))
        mask = np.where(count == 0, raw.type(0), ~raw.type(0) >> np.minimum(raw.type(width) - count, top))
        shift = np.minimum(start, top)
        mask = np.where(start > top, raw.type(0), mask << shift)
        return ((b & ~mask) | ((a << shift) & mask),)

    register = container(width)
    return PureOp(words.mnemonic, (register, register, "b32", "b32"), (register,), run)


def _extend(words: Words) -> PureOp | None:
    """szext: keep the low `b` bits, extend by zero or sign. clamp: b beyond 32 keeps all; wrap: b modulo 32."""
    mode, kind = words.one("clamp", "wrap"), words.one("u32", "s32")
    if mode is None or kind is None or words.left:
        return None

    def run(a: Bits, b: Bits) -> tuple[Bits]:
        count = np.minimum(b, np.uint32(32)) if mode == "clamp" else b & np.uint32(31)
        drop = np.minimum(np.uint32(32) - count, np.uint32(31))
        if kind == "u32":
            kept = (a << drop) >> drop
        else:
            kept = ((a << drop).view(np.int32) >> drop.view(np.int32)).view(np.uint32)
        return (np.where(count == 0, _ZERO, kept),)

    return PureOp(words.mnemonic, ("b32", "b32"), ("b32",), run, kind == "s32")


def _mask(words: Words) -> PureOp | None:
    """bmsk: `b` ones from bit `a` upwards."""
    mode = words.one("clamp", "wrap")
    if mode is None or words.one("b32") is None or words.left:
        return None

    def run(a: Bits, b: Bits) -> tuple[Bits]:
        if mode == "clamp":
            start, count = np.minimum(a, np.uint32(32)).astype(np.uint64), np.minimum(b, np.uint32(32)).astype(np.uint64)
        else:
            start, count = (a & np.uint32(31)).astype(np.uint64), (b & np.uint32(31)).astype(np.uint64)
        one = np.uint64(1)
        return ((((one << count) - one) << start).astype(np.uint32),)

    return PureOp(words.mnemonic, ("b32", "b32"), ("b32",), run)


# Byte picked for each result byte and selector value 0..3 (PTX 9.7.9.7); {b:a} has bytes 7..0.
_PERMUTE_MODES: dict[str, np.ndarray[Any, Any]] = {
    "f4e": np.array([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]),
    "b4e": np.array([[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]]),
    "rc8": np.array([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]),
    "ecl": np.array([[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]]),
    "ecr": np.array([[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]),
    "rc16": np.array([[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]]),
}


def permute(a: Bits, b: Bits, selector: Bits, mode: str | None) -> Bits:
    """prmt. Without a mode each selector nibble picks a byte of {b:a}; its top bit spreads that byte's sign."""
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    if mode is None:
        if selector.size == 1:
            return _permute_by(both, int(selector.flat[0]))
        picks = selector[..., None] >> np.array([0, 4, 8, 12], np.uint32)
        chosen = (both[..., None] >> ((picks & np.uint32(7)) << np.uint32(3)).astype(np.uint64)).astype(np.uint8)
        spread = np.where(chosen & np.uint8(0x80), np.uint8(0xFF), np.uint8(0))
        return joined(np.where(picks & np.uint32(8), spread, chosen), 32)
    order = _PERMUTE_MODES[mode][(selector & np.uint32(3)).astype(np.intp)]
    return joined((both[..., None] >> (order * 8).astype(np.uint64)).astype(np.uint8), 32)


def _permute_by(both: Bits, selector: int) -> Bits:
    """`permute` with one selector for all."""
    source = pieces(both, 8)
    result = np.empty((*both.shape, 4), np.uint8)
    for index in range(4):
        pick = selector >> 4 * index
        byte = source[..., pick & 7]
        result[..., index] = (byte.view(np.int8) >> np.int8(7)).view(np.uint8) if pick & 8 else byte
    return joined(result, 32)


def _prmt(words: Words) -> PureOp | None:
    if words.one("b32") is None:
        return None
    mode = words.one(*_PERMUTE_MODES)
    if words.left:
        return None
    return PureOp(words.mnemonic, ("b32", "b32", "b32"), ("b32",), lambda a, b, c: (permute(a, b, c, mode),))


FAMILIES: dict[str, Family] = {
    "and": _logic,
    "or": _logic,
    "xor": _logic,
    "not": _not,
    "cnot": _not,
    "mov": _mov,
    "shl": _shift,
    "shr": _shift,
    "shf": _funnel,
    "lop3": _lop3,
    "popc": _count,
    "clz": _count,
    "bfind": _bfind,
    "fns": _fns,
    "brev": _brev,
    "bfe": _extract,
    "bfi": _insert,
    "szext": _extend,
    "bmsk": _mask,
    "prmt": _prmt,
}
