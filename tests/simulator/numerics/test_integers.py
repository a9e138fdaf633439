"""Integer, bit, comparison and selection instructions against Python's integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.runtime.simulator.numerics import lookup, pack_elements, unpack_elements

DTYPES: dict[str, Any] = {"b16": np.uint16, "b32": np.uint32, "b64": np.uint64, "pred": np.bool_, "cc": np.bool_}
TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")


def run(mnemonic: str, *operands: list[int]) -> list[list[int]]:
    operation = lookup(mnemonic)
    assert operation is not None, mnemonic
    return [[int(x) for x in r] for r in operation.run(*[np.array(x, DTYPES[c]) for x, c in zip(operands, operation.sources, strict=True)])]


def edges(width: int) -> list[int]:
    top = 1 << (width - 1)
    return [0, 1, 2, 3, 7, 10, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 0x5A5A5A5A5A5A5A5A & (2 * top - 1)]


def grid(*columns: list[int]) -> tuple[list[int], ...]:
    return tuple(list(c) for c in zip(*itertools.product(*columns), strict=True))


def typed(value: int, kind: str) -> int:
    width = int(kind[1:])
    value &= (1 << width) - 1
    return value - (1 << width) if kind[0] == "s" and value >> (width - 1) else value


def agree(mnemonic: str, kind: str, function: Callable[..., int], *columns: list[int], width: int = 0) -> None:
    mask = (1 << (width or int(kind[1:]))) - 1
    for *row, got in zip(*columns, run(mnemonic, *columns)[0], strict=True):
        assert got == function(*[typed(x, kind) for x in row]) & mask, (mnemonic, [hex(x) for x in row])


def quotient(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return -size if (a < 0) != (b < 0) else size


@pytest.mark.parametrize("kind", TYPES)
def test_arithmetic(kind: str) -> None:
    width = int(kind[1:])
    a, b = grid(edges(width), edges(width))
    agree(f"add.{kind}", kind, lambda x, y: x + y, a, b)
    agree(f"sub.{kind}", kind, lambda x, y: x - y, a, b)
    agree(f"mul.lo.{kind}", kind, lambda x, y: x * y, a, b)
    agree(f"mul.hi.{kind}", kind, lambda x, y: x * y >> width, a, b)
    if width < 64:
        agree(f"mul.wide.{kind}", kind, lambda x, y: x * y, a, b, width=2 * width)
    agree(f"min.{kind}", kind, min, a, b)
    agree(f"max.{kind}", kind, max, a, b)
    x, y, z = grid(edges(width), edges(width)[::2], edges(width)[::3])
    agree(f"mad.lo.{kind}", kind, lambda p, q, r: p * q + r, x, y, z)
    agree(f"mad.hi.{kind}", kind, lambda p, q, r: (p * q >> width) + r, x, y, z)
    agree(f"sad.{kind}", kind, lambda p, q, r: abs(p - q) + r, x, y, z)
    divisors = [v or 3 for v in b]
    agree(f"div.{kind}", kind, quotient, a, divisors)
    agree(f"rem.{kind}", kind, lambda p, q: p - quotient(p, q) * q, a, divisors)
    if kind[0] == "s":
        agree(f"abs.{kind}", kind, abs, edges(width))
        agree(f"neg.{kind}", kind, lambda p: -p, edges(width))


def test_division_by_zero_is_quiet() -> None:
    for kind in TYPES:
        width = int(kind[1:])
        assert run(f"div.{kind}", [7, 0], [0, 0])[0] == [(1 << width) - 1] * 2
        assert run(f"rem.{kind}", [7, 0], [0, 0])[0] == [(1 << width) - 1] * 2


def test_saturating_and_relu() -> None:
    a, b = grid(edges(32), edges(32))

    def clamp(value: int) -> int:
        return max(-(2**31), min(2**31 - 1, value))

    agree("add.sat.s32", "s32", lambda x, y: clamp(x + y), a, b)
    agree("sub.sat.s32", "s32", lambda x, y: clamp(x - y), a, b)
    agree("mad.hi.sat.s32", "s32", lambda x, y, z: clamp((x * y >> 32) + z), a, b, a[::-1])
    agree("min.relu.s32", "s32", lambda x, y: max(min(x, y), 0), a, b)
    agree("max.s32.relu", "s32", lambda x, y: max(x, y, 0), a, b)


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 2**128 - 1), min_size=8, max_size=8),
    st.lists(st.integers(0, 2**128 - 1), min_size=8, max_size=8),
    st.sampled_from([32, 64]),
)
def test_carry_chains(a: list[int], b: list[int], width: int) -> None:
    """Numbers of two words: the chain gives what long arithmetic gives."""
    mask, kind = (1 << width) - 1, f"u{width}"
    a, b = [x >> (128 - 2 * width) for x in a], [x >> (128 - 2 * width) for x in b]
    low_a, high_a, low_b, high_b = ([x & mask for x in a], [x >> width for x in a], [x & mask for x in b], [x >> width for x in b])
    whole = (1 << 2 * width) - 1
    low, carry = run(f"add.cc.{kind}", low_a, low_b)
    high, out = run(f"addc.cc.{kind}", high_a, high_b, carry)
    assert [x | y << width | c << 2 * width for x, y, c in zip(low, high, out, strict=True)] == [x + y for x, y in zip(a, b, strict=True)]
    low, borrow = run(f"sub.cc.{kind}", low_a, low_b)
    (high,) = run(f"subc.{kind}", high_a, high_b, borrow)
    assert [x | y << width for x, y in zip(low, high, strict=True)] == [(x - y) & whole for x, y in zip(a, b, strict=True)]
    # a.low * b.low + a, two words
    low, carry = run(f"mad.lo.cc.{kind}", low_a, low_b, low_a)
    (high,) = run(f"madc.hi.{kind}", low_a, low_b, high_a, carry)
    assert [x | y << width for x, y in zip(low, high, strict=True)] == [
        (p * q + x) & whole for p, q, x in zip(low_a, low_b, a, strict=True)
    ]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shifts_and_counts(width: int) -> None:
    a, n = grid(edges(width), [0, 1, 5, width - 1, width, width + 1, 255, 2**32 - 1])
    agree(f"shl.b{width}", f"u{width}", lambda x, s: x << min(s, width), a, n)
    for mnemonic, kind in ((f"shr.u{width}", "u"), (f"shr.b{width}", "u"), (f"shr.s{width}", "s")):
        for x, s, got in zip(a, n, run(mnemonic, a, n)[0], strict=True):
            assert got == (typed(x, f"{kind}{width}") >> min(s, width)) & ((1 << width) - 1), (mnemonic, hex(x), s)
    if width == 16:
        return
    values = edges(width)
    assert run(f"popc.b{width}", values)[0] == [x.bit_count() for x in values]
    assert run(f"clz.b{width}", values)[0] == [width - x.bit_length() for x in values]
    assert run(f"brev.b{width}", values)[0] == [int(f"{x:0{width}b}"[::-1], 2) for x in values]
    for kind in "us":
        found = [(~x & ((1 << width) - 1) if kind == "s" and x >> (width - 1) else x).bit_length() - 1 for x in values]
        assert run(f"bfind.{kind}{width}", values)[0] == [f & 0xFFFFFFFF for f in found]
        assert run(f"bfind.shiftamt.{kind}{width}", values)[0] == [0xFFFFFFFF if f < 0 else width - 1 - f for f in found]


@pytest.mark.parametrize("width", [32, 64])
def test_bit_fields(width: int) -> None:
    a, position, length = grid(edges(width), [0, 1, 9, width - 1, width, 200, 256 + 3], [0, 1, 8, width - 1, width, 255, 256 + 8])
    mask = (1 << width) - 1
    for kind in "us":
        for x, p, n, got in zip(a, position, length, run(f"bfe.{kind}{width}", a, position, length)[0], strict=True):
            p, n = (p & 255, n & 255) if width == 32 else (p, n)
            # the ISA's own loop: bits beyond the top read as the sign of the field
            sign = 0 if kind == "u" or n == 0 else x >> min(p + n - 1, width - 1) & 1
            wanted = sum((x >> (p + i) & 1 if i < n and p + i < width else sign) << i for i in range(width))
            assert got == wanted, (kind, hex(x), p, n)
    b = a[::-1]
    for x, y, p, n, got in zip(a, b, position, length, run(f"bfi.b{width}", a, b, position, length)[0], strict=True):
        p, n = (p & 255, n & 255) if width == 32 else (p, n)
        field = (((1 << n) - 1) << p) & mask
        assert got == (y & ~field) | (x << p & field), (hex(x), hex(y), p, n)


def test_funnel_shift_and_permute() -> None:
    a, b, c = grid(edges(32)[::2], edges(32)[1::2], [0, 1, 15, 31, 32, 33, 63, 2**31])
    for mode, amount in (("wrap", lambda s: s & 31), ("clamp", lambda s: min(s, 32))):
        agree(f"shf.l.{mode}.b32", "u32", lambda x, y, s, amount=amount: (y << 32 | x) << amount(s) >> 32, a, b, c)  # type: ignore[misc]
        agree(f"shf.r.{mode}.b32", "u32", lambda x, y, s, amount=amount: (y << 32 | x) >> amount(s), a, b, c)  # type: ignore[misc]

    def permute(x: int, y: int, selector: int) -> int:
        source = (y << 32 | x).to_bytes(8, "little")
        result = 0
        for i in range(4):
            pick = selector >> 4 * i & 15
            byte = source[pick & 7]
            result |= (0xFF * (byte >> 7) if pick & 8 else byte) << 8 * i
        return result

    agree("prmt.b32", "u32", permute, a, b, [(s * 0x9E3779B9) & 0xFFFFFFFF for s in range(len(a))])


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4),
    st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4),
    st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4),
)
def test_lop3_and_dot_products(a: list[int], b: list[int], c: list[int]) -> None:
    for table in (0x00, 0xFF, 0xC0, 0xFC, 0x3C, 0x80, 0xFE, 0x96, 0xEA, 0xF8, 0xE8, 0xCA, 0xE2, 0x1B, 0x57, 0x01):
        (got,) = run("lop3.b32", a, b, c, [table] * 4)
        for x, y, z, result in zip(a, b, c, got, strict=True):
            assert result == sum((table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)) & 1) << i for i in range(32)), hex(table)
    result, truth = run("lop3.or.b32", a, b, c, [0xC0] * 4, [1, 0, 0, 1])
    assert truth == [int(r != 0 or q == 1) for r, q in zip(result, [1, 0, 0, 1], strict=True)]

    def part(value: int, index: int, width: int, kind: str) -> int:
        return typed(value >> index * width, f"{kind}{width}")

    for first, second in itertools.product("us", "us"):
        (got,) = run(f"dp4a.{first}32.{second}32", a, b, c)
        for x, y, z, result in zip(a, b, c, got, strict=True):
            assert result == (z + sum(part(x, i, 8, first) * part(y, i, 8, second) for i in range(4))) & 0xFFFFFFFF
        for half, base in (("lo", 0), ("hi", 2)):
            (got,) = run(f"dp2a.{half}.{first}32.{second}32", a, b, c)
            for x, y, z, result in zip(a, b, c, got, strict=True):
                assert result == (z + sum(part(x, i, 16, first) * part(y, base + i, 8, second) for i in range(2))) & 0xFFFFFFFF


def test_packed_16() -> None:
    a, b = grid(edges(32), edges(32))
    for mnemonic, kind, function in (
        ("add.u16x2", "u16", lambda x, y: x + y),
        ("add.s16x2", "s16", lambda x, y: x + y),
        ("min.u16x2", "u16", min),
        ("max.s16x2", "s16", max),
        ("max.relu.s16x2", "s16", lambda x, y: max(x, y, 0)),
    ):
        for x, y, got in zip(a, b, run(mnemonic, a, b)[0], strict=True):
            halves = [function(typed(x >> s, kind), typed(y >> s, kind)) & 0xFFFF for s in (0, 16)]
            assert got == halves[0] | halves[1] << 16, (mnemonic, hex(x), hex(y))


def test_fns() -> None:
    mask, base, offset = grid([0, 1, 0x80000000, 0xFFFFFFFF, 0x0F0F00F1], [0, 4, 31], [v & 0xFFFFFFFF for v in (-3, -1, 0, 1, 2, 5)])

    def find(m: int, start: int, n: int) -> int:
        if n == 0:
            return start if m >> start & 1 else 0xFFFFFFFF
        order = range(start, 32) if n > 0 else range(start, -1, -1)
        hits = [i for i in order if m >> i & 1]
        return hits[abs(n) - 1] if len(hits) >= abs(n) else 0xFFFFFFFF

    agree("fns.b32", "u32", lambda m, s, n: find(m, s, typed(n, "s32")), mask, base, offset)


@pytest.mark.parametrize("kind", [*TYPES, "f32", "f64", "f16", "bf16"])
def test_comparisons(kind: str) -> None:
    if kind[0] in "us":
        width = int(kind[1:])
        values = edges(width)
        numbers: list[Any] = [typed(v, kind) for v in values]
        names = ["eq", "ne", "lt", "le", "gt", "ge"] + (["lo", "ls", "hi", "hs"] if kind[0] == "u" else [])
    else:
        values = {
            "f32": [0, 1 << 31, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF812345, 1],
            "f64": [0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF << 52) | 1, 1],
            "f16": [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFC01, 1],
            "bf16": [0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0xFF81, 1],
        }[kind]
        infinity, nan = float("inf"), float("nan")
        numbers = [0.0, -0.0, 1.0, -1.0, infinity, -infinity, nan, nan, 1e-300]
        names = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
    a, b = grid(values, values)
    lookup_number = dict(zip(values, numbers, strict=True))
    base: dict[str, Callable[[Any, Any], bool]] = {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x < y or x > y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }
    base |= {"lo": base["lt"], "ls": base["le"], "hi": base["gt"], "hs": base["ge"]}
    c = [i % 3 == 0 for i in range(len(a))]
    for name in names:
        for combine, function in ((None, None), ("and", lambda t, p: t and p), ("or", lambda t, p: t or p), ("xor", lambda t, p: t != p)):
            mnemonic = f"setp.{name}.{combine + '.' if combine else ''}{kind}"
            results = run(mnemonic, a, b, *([list(map(int, c))] if combine else []))
            for x, y, p, first, second in zip(a, b, c, *results, strict=True):
                u, v = lookup_number[x], lookup_number[y]
                unordered = u != u or v != v
                truth = (
                    not unordered
                    if name == "num"
                    else unordered
                    if name == "nan"
                    else (unordered or base[name[:2]](u, v))
                    if name in ("equ", "neu", "ltu", "leu", "gtu", "geu")
                    else base[name](u, v)
                )
                expected = (truth, not truth) if function is None else (function(truth, p), function(not truth, p))
                assert (bool(first), bool(second)) == expected, (mnemonic, hex(x), hex(y))


def test_set_select() -> None:
    assert run("set.lt.u32.s32", [1, 0xFFFFFFFF], [0, 0])[0] == [0, 0xFFFFFFFF]
    assert run("set.lt.f32.s32", [1, 0xFFFFFFFF], [0, 0])[0] == [0, 0x3F800000]
    assert run("set.gt.f16.f16", [0x3C00, 0], [0, 0])[0] == [0x3C00, 0]
    assert run("set.gt.u32.f16x2", [0x3C000000, 0x7E003C00], [0, 0])[0] == [0xFFFF0000, 0x0000FFFF]
    assert run("set.eq.xor.u32.u32", [1, 1], [1, 1], [0, 1])[0] == [0xFFFFFFFF, 0]
    assert run("selp.b64", [1 << 40, 2], [3, 4], [1, 0])[0] == [1 << 40, 4]
    assert run("slct.u32.s32", [1, 1, 1], [2, 2, 2], [0, 5, 0xFFFFFFFF])[0] == [1, 1, 2]
    assert run("slct.b32.f32", [1] * 4, [2] * 4, [0, 1 << 31, 0xBF800000, 0x7FC00000])[0] == [1, 1, 2, 2]
    assert run("slct.ftz.b32.f32", [1] * 2, [2] * 2, [0x80000001, 0xBF800000])[0] == [1, 2]
    truth = run("setp.lt.f16x2", [0x3C000000, 0x00003C00], [0x00003C00, 0x00004000])
    assert truth == [[1, 1], [0, 0]]


def test_pack_and_unpack() -> None:
    low, high = np.array([1, 2], np.uint32), np.array([3, 4], np.uint32)
    both = pack_elements((low, high))
    assert both.tolist() == [1 | 3 << 32, 2 | 4 << 32]
    assert [x.tolist() for x in unpack_elements(both, 2)] == [[1, 2], [3, 4]]
    assert [x.tolist() for x in unpack_elements(np.array([0x44332211], np.uint32), 4)] == [[0x11], [0x22], [0x33], [0x44]]


CORPUS = """
abs.bf16x2 abs.f16x2 abs.f32 abs.ftz.f32 abs.s32 add.f32 add.rm.f32 add.rn.bf16x2 add.rn.f16 add.rn.f16x2 add.rn.f32 add.rn.ftz.f16x2 add.rn.ftz.f32
add.rn.sat.f32 add.rp.f32 add.rz.f32 add.s16x2 add.s32 add.s64 add.sat.s32 add.u16 add.u32 add.u64 and.b16 and.b32 and.b64 and.pred bfe.s32 bfe.u32
bfi.b32 bfi.b64 bfind.s32 bfind.shiftamt.u32 bfind.u32 bmsk.clamp.b32 bmsk.wrap.b32 brev.b32 clz.b32 cnot.b32 copysign.f32 cvt.f32.bf16 cvt.f32.f16
cvt.f64.f16 cvt.f64.f32 cvt.ftz.f32.f32 cvt.pack.sat.s16.s32 cvt.pack.sat.s8.s32.b32 cvt.pack.sat.u16.s32 cvt.pack.sat.u8.s32.b32 cvt.rm.f32.s32
cvt.rmi.f16.f16 cvt.rmi.f32.f32 cvt.rmi.s32.f32 cvt.rn.bf16.f32 cvt.rn.bf16.s32 cvt.rn.bf16x2.f32 cvt.rn.f16.f32 cvt.rn.f16.s32 cvt.rn.f16.u16
cvt.rn.f16x2.f32 cvt.rn.f32.s32 cvt.rn.f32.s8 cvt.rn.f32.u16 cvt.rn.f32.u32 cvt.rn.f32.u64 cvt.rn.f64.s32 cvt.rn.relu.bf16.f32 cvt.rn.relu.bf16x2.f32
cvt.rn.relu.f16.f32 cvt.rn.relu.f16x2.f32 cvt.rn.relu.tf32.f32 cvt.rn.sat.f16.f32 cvt.rn.tf32.f32 cvt.rna.tf32.f32 cvt.rni.f32.f32 cvt.rni.s16.f32
cvt.rni.s32.f16 cvt.rni.s32.f32 cvt.rni.s64.f32 cvt.rni.u32.f32 cvt.rni.u8.f32 cvt.rp.f32.s32 cvt.rpi.f32.f32 cvt.rpi.s32.f32 cvt.rz.bf16.f32
cvt.rz.bf16x2.f32 cvt.rz.f16.f32 cvt.rz.f16x2.f32 cvt.rz.f32.s32 cvt.rz.f32.s64 cvt.rz.tf32.f32 cvt.rzi.f32.f32 cvt.rzi.ftz.s32.f32 cvt.rzi.s32.bf16
cvt.rzi.s32.f32 cvt.rzi.s8.f32 cvt.rzi.u16.f32 cvt.rzi.u32.f32 cvt.rzi.u64.f32 cvt.s32.s16 cvt.s32.s8 cvt.s64.s32 cvt.s8.s32 cvt.sat.f32.f32
cvt.sat.s16.s32 cvt.sat.s32.s64 cvt.sat.s32.u32 cvt.sat.s8.s32 cvt.sat.u16.s32 cvt.sat.u32.s32 cvt.sat.u32.u64 cvt.sat.u8.s32 cvt.u16.u32 cvt.u32.u16
cvt.u32.u64 cvt.u32.u8 cvt.u64.u32 div.rn.f32 div.s32 div.u32 dp2a.hi.u32.u32 dp2a.lo.s32.s32 dp4a.s32.s32 dp4a.u32.s32 dp4a.u32.u32 ex2.approx.f16x2
ex2.approx.ftz.bf16x2 fma.rm.f32 fma.rn.bf16 fma.rn.bf16x2 fma.rn.f16 fma.rn.f16x2 fma.rn.f32 fma.rn.ftz.f32 fma.rn.relu.bf16x2 fma.rn.relu.f16x2
fma.rn.sat.f16x2 fma.rn.sat.f32 fma.rp.f32 fma.rz.f32 fns.b32 lop3.b32 mad.hi.s32 mad.hi.u32 mad.lo.s32 mad.lo.u32 mad24.lo.s32 max.NaN.bf16x2
max.NaN.f16x2 max.NaN.f32 max.bf16 max.bf16x2 max.f16x2 max.f32 max.ftz.f32 max.s32 max.u16x2 max.u32 max.xorsign.abs.f32 min.NaN.f16x2 min.NaN.f32
min.NaN.xorsign.abs.f32 min.bf16x2 min.f16x2 min.f32 min.ftz.f32 min.s16 min.s16x2 min.s32 min.u32 mov.b32 mov.b64 mov.f32 mov.pred mov.u16 mov.u32
mov.u64 mul.f32 mul.hi.s16 mul.hi.s32 mul.hi.u32 mul.lo.s32 mul.lo.u32 mul.rm.f32 mul.rn.bf16x2 mul.rn.f16x2 mul.rn.f32 mul.rn.ftz.f32
mul.rn.sat.f16x2 mul.rn.sat.f32 mul.rp.f32 mul.rz.f32 mul.wide.s16 mul.wide.s32 mul.wide.u16 mul.wide.u32 mul24.hi.s32 mul24.lo.u32 neg.bf16x2
neg.f16x2 neg.f32 neg.s32 not.b32 not.pred or.b32 or.b64 or.pred popc.b32 prmt.b32 prmt.b32.b4e prmt.b32.ecl prmt.b32.ecr prmt.b32.f4e prmt.b32.rc16
prmt.b32.rc8 rem.s32 rem.u32 rsqrt.approx.f32 sad.s32 sad.u32 selp.b32 selp.b64 selp.f32 selp.u32 set.geu.f16x2.f16x2 set.geu.u32.f32 set.gt.u32.s32
set.lt.f16x2.f16x2 set.lt.f32.f32 setp.eq.b32 setp.eq.f32 setp.eq.s32 setp.ge.s32 setp.geu.f32 setp.gt.f32 setp.gt.s32 setp.gt.u32 setp.gtu.f32
setp.le.u32 setp.lt.and.u32 setp.lt.f32 setp.lt.s16 setp.lt.s32 setp.lt.u32 setp.ne.b32 setp.ne.s32 setp.ne.u32 setp.neu.f32 shf.l.clamp.b32
shf.l.wrap.b32 shf.r.clamp.b32 shf.r.wrap.b32 shl.b32 shl.b64 shr.s16 shr.s32 shr.u32 shr.u64 slct.u32.s32 sub.f32 sub.rn.bf16x2 sub.rn.f16x2
sub.rn.f32 sub.rn.ftz.f32 sub.s32 sub.s64 sub.sat.s32 szext.clamp.s32 szext.wrap.u32 tanh.approx.bf16x2 tanh.approx.f16x2 xor.b32 xor.b64 xor.pred
""".split()  # noqa: SIM905
"""The pure instructions of a collection of kernels compiled by nvcc: every one must be known."""


def test_names_in_compiled_kernels() -> None:
    assert len(CORPUS) > 250
    assert [name for name in CORPUS if lookup(name) is None] == []
