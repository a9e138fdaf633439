"""Every instruction of the table kernels, bit for bit against what an H200 gave (data/: inputs and `expected_*` outputs, one row of 128 per instruction)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fa4dsl.runtime.simulator.numerics import lookup, unpack_elements

DATA = Path(__file__).parent / "data"


def words(text: str) -> list[str]:
    return text.split()


def load(case: str, *names: str) -> list[np.ndarray[Any, Any]]:
    return [np.load(DATA / case / f"{name}.npy").ravel() for name in names]


def expected(case: str, name: str, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
    return np.load(DATA / case / f"expected_{name}.npy").view(dtype).reshape(-1, 128)


def fit(source: np.ndarray[Any, Any], container: str) -> np.ndarray[Any, Any]:
    """A source register read at the width of the instruction: its low bits."""
    return source.astype({"b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64}[container])


def execute(mnemonic: str, *sources: np.ndarray[Any, Any], width: int = 32) -> np.ndarray[Any, Any]:
    """First result, extended to `width` bits as a wider destination register would be; a predicate as 1 or 0."""
    operation = lookup(mnemonic)
    assert operation is not None, mnemonic
    assert len(sources) == len(operation.sources), mnemonic
    results = operation.run(*[fit(x, c) for x, c in zip(sources, operation.sources, strict=True)])
    assert len(results) == len(operation.results)
    result = results[0]
    if operation.results[0] == "pred":
        return result.astype(np.uint32)
    size = result.dtype.itemsize * 8
    if size < width and operation.result_signed:
        return result.view(f"i{size // 8}").astype(f"i{width // 8}").view(f"u{width // 8}")
    return result.astype(f"u{width // 8}")


def assert_rows(rows: list[tuple[str, np.ndarray[Any, Any]]], wanted: np.ndarray[Any, Any], nan_as: Any = None) -> None:
    wrong = []
    for index, (name, got) in enumerate(rows):
        same = got == wanted[index]
        if nan_as is not None:
            same |= np.isnan(got.view(nan_as)) & np.isnan(wanted[index].view(nan_as))
        if not same.all():
            at = int(np.argmin(same))
            wrong.append(f"{name}: {int((~same).sum())} lanes, lane {at} got {int(got[at]):#x}, hardware {int(wanted[index][at]):#x}")
    assert not wrong, "\n".join(wrong)


F32_TWO = words(
    "add.rn.f32 add.rz.f32 add.rm.f32 add.rp.f32 add.rn.ftz.f32 add.rn.sat.f32 sub.rn.f32 sub.rn.ftz.f32 mul.rn.f32 mul.rz.f32 mul.rm.f32 "
    "mul.rp.f32 mul.rn.ftz.f32 mul.rn.sat.f32"
)
F32_THREE = words("fma.rn.f32 fma.rz.f32 fma.rm.f32 fma.rp.f32 fma.rn.ftz.f32 fma.rn.sat.f32")
F32_MORE = words(
    "min.f32 max.f32 min.NaN.f32 max.NaN.f32 min.ftz.f32 max.ftz.f32 max.xorsign.abs.f32 min.NaN.xorsign.abs.f32 abs.f32 neg.f32 abs.ftz.f32 "
    "copysign.f32 setp.eq.f32 setp.ne.f32 setp.lt.f32 setp.le.f32 setp.gt.f32 setp.ge.f32 setp.equ.f32 setp.neu.f32 setp.ltu.f32 setp.geu.f32 "
    "setp.num.f32 setp.nan.f32 setp.lt.ftz.f32 testp.finite.f32 testp.infinite.f32 testp.notanumber.f32 testp.normal.f32 testp.subnormal.f32 "
    "set.lt.f32.f32 set.geu.u32.f32 cvt.rni.f32.f32 cvt.rzi.f32.f32 cvt.rmi.f32.f32 cvt.rpi.f32.f32 cvt.sat.f32.f32 cvt.ftz.f32.f32"
)


def test_f32() -> None:
    a, b, c = load("f32_ops", "a", "b", "c")
    rows = []
    for mnemonic in F32_TWO + F32_THREE + F32_MORE:
        operation = lookup(mnemonic)
        assert operation is not None, mnemonic
        rows.append((mnemonic, execute(mnemonic, *(a, b, c)[: len(operation.sources)])))
    wanted = expected("f32_ops", "o")
    # the hardware's own NaN too, but for sign operations, which keep the payload
    keep = [index for index, (name, _) in enumerate(rows) if name.split(".")[0] in ("abs", "neg", "copysign", "cvt")]
    arithmetic = [index for index in range(len(rows)) if index not in keep]
    assert_rows([rows[index] for index in arithmetic], wanted[arithmetic])
    assert_rows([rows[index] for index in keep], wanted[keep], np.float32)


def test_int32() -> None:
    a, b, c = load("int32_ops", "a", "b", "c")
    s = c & np.uint32(63)
    two, three = (a, b), (a, b, c)
    rows = [(m, two) for m in words("add.u32 sub.s32 mul.lo.u32 mul.hi.u32 mul.hi.s32")]
    rows += [(m, three) for m in words("mad.lo.u32 mad.hi.u32 mad.hi.s32")]
    rows += [("mul24.lo.u32", two), ("mul24.hi.s32", two), ("mad24.lo.s32", three)]
    rows += [(m, two) for m in words("div.u32 div.s32 rem.u32 rem.s32")] + [("abs.s32", (a,)), ("neg.s32", (a,))]
    rows += [(m, two) for m in words("min.s32 max.s32 min.u32 max.u32 add.sat.s32 sub.sat.s32")] + [("sad.u32", three), ("sad.s32", three)]
    rows += [(m, (a, s)) for m in words("shl.b32 shr.u32 shr.s32")]
    rows += [(m, (a, b, s)) for m in words("shf.l.wrap.b32 shf.r.wrap.b32 shf.l.clamp.b32 shf.r.clamp.b32")]
    rows += [(m, three) for m in words("dp4a.u32.u32 dp4a.s32.s32 dp4a.u32.s32 dp2a.lo.s32.s32 dp2a.hi.u32.u32")]
    rows += [(m, two) for m in words("and.b32 or.b32 xor.b32")] + [
        ("not.b32", (a,)),
        ("cnot.b32", (c & np.uint32(1),)),
        ("slct.u32.s32", three),
    ]
    rows += [(m, two) for m in words("setp.lt.s32 setp.lt.u32 setp.ge.s32 setp.hi.u32 setp.ls.u32 setp.eq.b32 setp.ne.s32 set.gt.u32.s32")]
    rows += [(m, two) for m in words("add.s16x2 min.s16x2 max.u16x2")]
    # 16-bit registers: stored by a zero-extending conversion
    narrow = [("add.u16", two), ("mul.hi.s16", two), ("min.s16", two), ("shr.s16", (a, s))]
    results = [(m, execute(m, *sources)) for m, sources in rows] + [
        (m, execute(m, *sources, width=16).astype(np.uint32)) for m, sources in narrow
    ]
    results.append(("mul.wide.s16", execute("mul.wide.s16", a, b)))
    assert_rows(results, expected("int32_ops", "o"))


def test_bits() -> None:
    a, b, c = load("bit_ops", "a", "b", "c")
    position, length = c & np.uint32(0xFF), (c >> np.uint32(8)) & np.uint32(0x3F)
    some = b & (np.uint32(0xFFFFFFFF) >> (c & np.uint32(31)))
    base, count = c & np.uint32(31), np.uint32(1) + ((c >> np.uint32(5)) & np.uint32(3))
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("bfe.u32", (a, position, length)),
        ("bfe.s32", (a, position, length)),
        ("bfi.b32", (a, b, position, length)),
    ]
    rows += [(f"prmt.b32{mode}", (a, b, c)) for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")]
    rows += [("lop3.b32", (a, b, c, np.array([table], np.uint32))) for table in (0xE8, 0x96, 0xCA, 0x1B)]
    rows += [
        ("popc.b32", (a,)),
        ("clz.b32", (some,)),
        ("brev.b32", (a,)),
        ("bfind.u32", (some,)),
        ("bfind.s32", (a,)),
        ("bfind.shiftamt.u32", (some,)),
    ]
    rows += [("fns.b32", (a, base, count)), ("fns.b32", (a, base, np.uint32(0) - count))]
    rows += [
        ("bmsk.clamp.b32", (position, length)),
        ("bmsk.wrap.b32", (position, length)),
        ("szext.clamp.s32", (a, length)),
        ("szext.wrap.u32", (a, length)),
    ]
    assert_rows([(m, execute(m, *sources)) for m, sources in rows], expected("bit_ops", "o"))


def test_conversions() -> None:
    a, b, wide = load("cvt_ops", "a", "b", "l")
    one = {
        "a": "cvt.rni.s32.f32 cvt.rzi.s32.f32 cvt.rmi.s32.f32 cvt.rpi.s32.f32 cvt.rni.u32.f32 cvt.rzi.u32.f32 cvt.rzi.ftz.s32.f32 cvt.rzi.s8.f32 "
        "cvt.rni.u8.f32 cvt.rni.s16.f32 cvt.rzi.u16.f32",
        "b": "cvt.rn.f32.s32 cvt.rz.f32.s32 cvt.rm.f32.s32 cvt.rp.f32.s32 cvt.rn.f32.u32 cvt.rn.f32.s8 cvt.rn.f32.u16",
    }
    rows = [(m, execute(m, a)) for m in one["a"].split()] + [(m, execute(m, b)) for m in one["b"].split()]
    to_half = "cvt.rn.f16.f32 cvt.rz.f16.f32 cvt.rn.bf16.f32 cvt.rz.bf16.f32 cvt.rn.relu.bf16.f32 cvt.rn.relu.f16.f32 cvt.rn.sat.f16.f32"
    rows += [(m, execute(m, a)) for m in to_half.split()] + [(m, execute(m, b)) for m in words("cvt.f32.f16 cvt.f32.bf16")]
    pairs = "cvt.rn.f16x2.f32 cvt.rz.f16x2.f32 cvt.rn.bf16x2.f32 cvt.rz.bf16x2.f32 cvt.rn.relu.bf16x2.f32 cvt.rn.relu.f16x2.f32"
    rows += [(m, execute(m, a, b)) for m in pairs.split()]
    rows += [(m, execute(m, a)) for m in words("cvt.rna.tf32.f32 cvt.rn.tf32.f32 cvt.rz.tf32.f32 cvt.rn.relu.tf32.f32")]
    halves = "cvt.rni.s32.f16 cvt.rzi.s32.bf16 cvt.rn.f16.s32 cvt.rn.f16.u16 cvt.rn.bf16.s32 cvt.rmi.f16.f16"
    rows += [(m, execute(m, b)) for m in halves.split()]
    integers = "cvt.sat.s8.s32 cvt.sat.u8.s32 cvt.sat.s16.s32 cvt.sat.u16.s32 cvt.sat.u32.s32 cvt.sat.s32.u32 cvt.s32.s8 cvt.u32.u8 cvt.s32.s16 cvt.u16.u32 cvt.s8.s32"
    rows += [(m, execute(m, b)) for m in integers.split()]
    rows += [(m, execute(m, a, b)) for m in words("cvt.pack.sat.s16.s32 cvt.pack.sat.u16.s32")]
    rows += [
        ("cvt.pack.sat.s8.s32.b32", execute("cvt.pack.sat.s8.s32.b32", a, b, a)),
        ("cvt.pack.sat.u8.s32.b32", execute("cvt.pack.sat.u8.s32.b32", a, b, b)),
    ]
    rows += [(m, execute(m, wide)) for m in words("cvt.sat.s32.s64 cvt.sat.u32.u64 cvt.u32.u64 cvt.rn.f32.u64 cvt.rz.f32.s64")]
    assert_rows(rows, expected("cvt_ops", "o32"))


def test_conversions_to_64_bits() -> None:
    a, b = load("cvt_ops", "a", "b")
    rows = [(m, execute(m, a, width=64)) for m in words("cvt.rni.s64.f32 cvt.rzi.u64.f32 cvt.f64.f32")]
    rows += [(m, execute(m, b, width=64)) for m in words("cvt.s64.s32 cvt.u64.u32 cvt.rn.f64.s32 cvt.f64.f16")]
    assert_rows(rows, expected("cvt_ops", "o64", np.uint64))


HALF_ROWS = words(
    "add.rn.f16x2 sub.rn.f16x2 mul.rn.f16x2 add.rn.ftz.f16x2 mul.rn.sat.f16x2 fma.rn.f16x2 fma.rn.relu.f16x2 fma.rn.sat.f16x2 min.f16x2 max.f16x2 "
    "min.NaN.f16x2 max.NaN.f16x2 neg.f16x2 abs.f16x2 add.rn.bf16x2 sub.rn.bf16x2 mul.rn.bf16x2 fma.rn.bf16x2 fma.rn.relu.bf16x2 min.bf16x2 max.bf16x2 "
    "max.NaN.bf16x2 neg.bf16x2 abs.bf16x2 set.lt.f16x2.f16x2 set.geu.f16x2.f16x2 add.rn.f16 fma.rn.f16 fma.rn.bf16 max.bf16 setp.gt.f16 setp.ltu.bf16"
)


def test_half() -> None:
    a, b, c = load("half_ops", "a", "b", "c")
    rows = []
    for mnemonic in HALF_ROWS:
        operation = lookup(mnemonic)
        assert operation is not None, mnemonic
        rows.append((mnemonic, execute(mnemonic, *(a, b, c)[: len(operation.sources)])))
    operation = lookup("setp.le.f16x2")
    assert operation is not None
    low, high = operation.run(a, b)
    rows.append(("setp.le.f16x2", low.astype(np.uint32) + 2 * high.astype(np.uint32)))
    rows.append(("mov.b32 low half", unpack_elements(c, 2)[0].astype(np.uint32)))
    assert_rows(rows, expected("half_ops", "o"))


@pytest.mark.parametrize(
    ("row", "mnemonic", "view", "relative", "absolute"),
    [
        (0, "ex2.approx.f16x2", np.float16, 2.0**-9, 2.0**-24),
        (1, "tanh.approx.f16x2", np.float16, 0.0, 2.0**-10),
        (2, "ex2.approx.ftz.bf16x2", ml_dtypes.bfloat16, 2.0**-7, 0.0),
        (3, "tanh.approx.bf16x2", ml_dtypes.bfloat16, 0.0, 2.0**-7),
    ],
)
def test_half_approximations(row: int, mnemonic: str, view: Any, relative: float, absolute: float) -> None:
    (a,) = load("half_ops", "a")
    got = execute(mnemonic, a).view(np.uint16).view(view).astype(np.float64)
    hardware = expected("half_ops", "apx")[row].view(np.uint16).view(view).astype(np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(hardware))
    infinite = np.isinf(hardware)
    assert np.array_equal(got[infinite], hardware[infinite])
    finite = np.isfinite(hardware)
    assert (np.abs(got[finite] - hardware[finite]) <= absolute + relative * np.abs(hardware[finite])).all()
