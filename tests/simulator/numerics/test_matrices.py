"""wgmma and mma in every type, with layouts written out element by element from the ISA's figures."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fa4dsl.runtime.simulator.numerics import descriptor, matrix, tensor, warp_matrix

NUMPY: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
    "f32": np.float32,
    "f64": np.float64,
    "s32": np.int32,
}
SPAN = {"none": 0, "32B": 32, "64B": 64, "128B": 128}


def small(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> np.ndarray[Any, Any]:
    """Small whole numbers: exact in every type and sum."""
    low = 0 if kind[0] == "u" else -4
    return rng.integers(low, 5, shape).astype(np.float32).astype(NUMPY[kind])


def element_bits(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def place(shared: np.ndarray[Any, Any], x: np.ndarray[Any, Any], start: int, swizzle: str, mn_major: bool) -> int:
    """Store ``x[rows, k]`` as TMA (or a careful thread) would, element by element; returns the descriptor."""
    rows, ks = x.shape
    size, span = x.dtype.itemsize, SPAN[swizzle]
    raw = x.view(np.uint8).reshape(rows, ks, size)
    across = 16 // size
    r, k = np.arange(rows, dtype=np.int64)[:, None], np.arange(ks, dtype=np.int64)[None, :]
    if not mn_major and span:
        # boxes of span bytes of k: here K is one box at most
        address = r * span + k * size
    elif not mn_major:
        # 8 x 16-byte blocks, those along k next to each other
        address = (r // 8) * (ks // across) * 128 + (k // across) * 128 + (r % 8) * 16 + (k % across) * size
    elif span:
        address = (r * size // span) * ks * span + k * span + r * size % span
    else:
        address = (r // across) * (ks // 8) * 128 + (k // 8) * 128 + (k % 8) * 16 + (r % across) * size
    address = tensor.swizzle_address(start + address, swizzle)
    shared[address[..., None] + np.arange(size)] = raw
    if not mn_major:
        leading, stride = (16, 8 * span) if span else (128, ks // across * 128)
    else:
        leading, stride = (ks * span, 8 * span) if span else (128, ks // 8 * 128)
    return descriptor.encode(start, leading, stride, swizzle)


def store_d(registers: np.ndarray[Any, Any], form: matrix.Wgmma) -> np.ndarray[Any, Any]:
    """Accumulator registers [R, 128] to the matrix, by the formula of the ISA."""
    out = np.zeros((64, form.n), NUMPY[form.d_type])
    thread = np.arange(128)
    w, g, t = thread // 32, thread % 32 // 4, thread % 4
    for i in range(form.n // 2):
        row, column = 16 * w + g + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * t + (i & 1)
        if form.d_type == "f16":
            out[row, column] = (registers[i // 2] >> np.uint32(16 * (i & 1))).astype(np.uint16).view(np.float16)
        else:
            out[row, column] = registers[i].view(NUMPY[form.d_type])
    return out


CASES = [
    ("f32", "bf16", "bf16", 16),
    ("f32", "f16", "f16", 16),
    ("f16", "f16", "f16", 16),
    ("f32", "tf32", "tf32", 8),
    ("f32", "e4m3", "e5m2", 32),
    ("f16", "e5m2", "e4m3", 32),
    ("s32", "s8", "u8", 32),
    ("s32", "u8", "s8", 32),
]


@pytest.mark.parametrize(("d", "a", "b", "k"), CASES)
@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
def test_wgmma_from_shared(d: str, a: str, b: str, k: int, swizzle: str) -> None:
    rng = np.random.default_rng(1)
    for n in (8, 64, 96):
        form = matrix.parse_wgmma(f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}")
        assert form is not None
        for a_mn, b_mn in ((False, False), (True, True), (False, True)) if form.has_transposes and n > 8 else ((False, False),):
            if b_mn and n * 2 % max(SPAN[swizzle], 16):
                continue
            x, y = small(rng, (2, 64, k), a), small(rng, (2, n, k), b)
            shared = np.zeros(131072, np.uint8)
            descriptors = [
                (place(shared, x[g], 1024 + 16384 * g, swizzle, a_mn), place(shared, y[g], 65536 + 16384 * g, swizzle, b_mn))
                for g in range(2)
            ]
            da, db = (np.array(column, np.uint64) for column in zip(*descriptors, strict=True))
            ta = form.tile(matrix.shared_pieces(shared, form.a_pieces(da, a_mn)), a, a_mn)
            tb = form.tile(matrix.shared_pieces(shared, form.b_pieces(db, b_mn)), b, b_mn)
            assert (ta == x.astype(np.float64)).all() and (tb == y.astype(np.float64)).all()
            zero = np.zeros((form.d_registers, 2, 128), np.uint32)
            once = form.multiply(ta, tb, zero, scale_d=False)
            twice = form.multiply(ta, tb, once, scale_d=np.array([True, False]))
            wanted = x.astype(np.float64) @ y.astype(np.float64).swapaxes(1, 2)
            assert (store_d(once[:, 1], form) == wanted[1]).all()
            assert (store_d(twice[:, 0], form) == 2 * wanted[0]).all()
            assert (store_d(twice[:, 1], form) == wanted[1]).all()
            if form.has_scales:
                assert (store_d(form.multiply(ta, tb, once, True, -1, 1)[:, 0], form) == 0).all()
                assert (form.multiply(ta, tb, once, True, -1, -1)[:, 0] == twice[:, 0]).all()


def a_place(i: int, thread: int, size: int) -> tuple[int, int]:
    """Row and column of the i-th element (of all four registers) of A, by the figures for 16-bit, 8-bit and 32-bit types."""
    w, g, t = thread // 32, thread % 32 // 4, thread % 4
    if size == 2:
        return 16 * w + g + 8 * (i >> 1 & 1), 2 * t + (i & 1) + 8 * (i >> 2)
    if size == 1:
        return 16 * w + g + 8 * (i >> 2 & 1), 4 * t + (i & 3) + 16 * (i >> 3)
    return 16 * w + g + 8 * (i & 1), t + 4 * (i >> 1)


@pytest.mark.parametrize(("d", "a", "b", "k"), CASES)
def test_wgmma_with_a_in_registers(d: str, a: str, b: str, k: int) -> None:
    rng = np.random.default_rng(2)
    form = matrix.parse_wgmma(f"wgmma.mma_async.sync.aligned.m64n16k{k}.{d}.{a}.{b}")
    assert form is not None
    x = small(rng, (64, k), a)
    bits, size = element_bits(x), x.dtype.itemsize
    registers = np.zeros((4, 128), np.uint32)
    for thread in range(128):
        for i in range(16 // size):
            per = 4 // size
            registers[i // per, thread] |= np.uint32(int(bits[a_place(i, thread, size)]) << 8 * size * (i % per))
    assert (form.a_from_registers(registers[:, None])[0] == x.astype(np.float64)).all()


def test_saturating_and_wrapping_integers() -> None:
    wrap, clamp = (matrix.parse_wgmma(f"wgmma.mma_async.sync.aligned.m64n8k32{s}.s32.u8.u8") for s in ("", ".satfinite"))
    assert wrap is not None and clamp is not None
    x, y = np.full((1, 64, 32), 255.0), np.full((1, 8, 32), 255.0)
    full = np.full((4, 1, 128), 2**31 - 1, np.uint32)
    assert (clamp.multiply(x, y, full) == 2**31 - 1).all()
    assert (wrap.multiply(x, y, full) == (2**31 - 1 + 32 * 255 * 255) % 2**32).all()


def test_one_bit() -> None:
    form = matrix.parse_wgmma("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc")
    assert form is not None
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (1, 64, 2, 16), np.uint8), rng.integers(0, 256, (1, 8, 2, 16), np.uint8)
    d = form.multiply(form.tile(a, "b1"), form.tile(b, "b1"), np.zeros((4, 1, 128), np.uint32))
    wanted = [[sum((int(p) & int(q)).bit_count() for p, q in zip(u.ravel(), v.ravel(), strict=True)) for v in b[0]] for u in a[0]]
    assert (store_d(d[:, 0], form) == wanted).all()
    xor = warp_matrix.parse_mma("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
    assert xor is not None
    ra, rb = rng.integers(0, 2**32, (4, 1, 32), np.uint32), rng.integers(0, 2**32, (2, 1, 32), np.uint32)
    got = xor.multiply(ra, rb, np.zeros((4, 1, 32), np.uint32))
    # element (g, 2t) of lane 4g + t: row g is in registers 0 and 2 of lanes 4g..4g+3, column n in both registers of lanes 4n..4n+3
    for lane in (0, 7, 30):
        g, n = lane // 4, 2 * (lane % 4)
        wanted_one = sum((int(ra[2 * r, 0, 4 * g + t]) ^ int(rb[r, 0, 4 * n + t])).bit_count() for r in range(2) for t in range(4))
        assert got[0, 0, lane] == wanted_one


def test_descriptors() -> None:
    bits = descriptor.encode(0x12340, 16, 1024, "64B", base_offset=5)
    assert descriptor.decode(bits) == descriptor.Descriptor(0x12340, 16, 1024, 5, "64B")
    assert bits >> 62 == 2
    # groups with different layouts in one call
    both = np.array([descriptor.encode(1024, 16, 1024, "128B"), descriptor.encode(2048, 128, 256)], np.uint64)
    pieces = descriptor.piece_addresses(both, 64, 32)
    assert pieces.shape == (2, 64, 2)
    assert pieces[0, 3].tolist() == [1024 + 384 + 16 * 3, 1024 + 384 + 16 * 2]
    assert pieces[1, 3].tolist() == [2048 + 48, 2048 + 48 + 128]
    # a pattern that begins 256 bytes off its boundary, named by the base offset, has its phase there
    off = np.array([descriptor.encode(1024 + 256, 16, 1024, "128B", base_offset=2)], np.uint64)
    assert (descriptor.piece_addresses(off, 8, 32)[0] - 256 == descriptor.piece_addresses(both[:1], 8, 32)[0]).all()


@pytest.mark.parametrize(
    "name",
    [
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16",
        "wgmma.mma_async.sync.aligned.m64n264k16.f32.bf16.bf16",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8",
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16",
        "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16",
        "wgmma.fence.sync.aligned",
    ],
)
def test_wgmma_forms_that_do_not_exist(name: str) -> None:
    assert matrix.parse_wgmma(name) is None


MMA = [
    ("m16n8k8", "f32", "f16", "f16"),
    ("m16n8k16", "f32", "f16", "f16"),
    ("m16n8k8", "f16", "f16", "f16"),
    ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k8", "f32", "bf16", "bf16"),
    ("m16n8k16", "f32", "bf16", "bf16"),
    ("m16n8k4", "f32", "tf32", "tf32"),
    ("m16n8k8", "f32", "tf32", "tf32"),
    ("m16n8k16", "f32", "e4m3", "e5m2"),
    ("m16n8k32", "f16", "e4m3", "e4m3"),
    ("m8n8k16", "s32", "s8", "u8"),
    ("m16n8k16", "s32", "u8", "u8"),
    ("m16n8k32", "s32", "s8", "s8"),
    ("m8n8k4", "f64", "f64", "f64"),
    ("m16n8k4", "f64", "f64", "f64"),
    ("m16n8k8", "f64", "f64", "f64"),
    ("m16n8k16", "f64", "f64", "f64"),
]


@pytest.mark.parametrize(("shape", "d", "a", "b"), MMA)
def test_mma(shape: str, d: str, a: str, b: str) -> None:
    form = warp_matrix.parse_mma(f"mma.sync.aligned.{shape}.row.col.{d}.{a}.{b}.{d}")
    assert form is not None
    rng = np.random.default_rng(3)
    x, y, z = small(rng, (form.m, form.k), a), small(rng, (8, form.k), b), small(rng, (form.m, 8), d)
    size = x.dtype.itemsize
    register = np.uint64 if d == "f64" else np.uint32
    bytes_ = 8 if d == "f64" else 4
    per = bytes_ // size
    ra, rb = np.zeros((form.a_registers, 32), register), np.zeros((form.b_registers, 32), register)
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for i in range(form.a_registers * per):
            r, e = divmod(i, per)
            block, lower = (divmod(r, 2)) if form.m == 16 else (r, 0)
            ra[r, lane] |= register(int(element_bits(x)[g + 8 * lower, 4 * per * block + per * t + e]) << 8 * size * e)
        for i in range(form.b_registers * per):
            r, e = divmod(i, per)
            rb[r, lane] |= register(int(element_bits(y)[g, 4 * per * r + per * t + e]) << 8 * size * e)
    rc = np.zeros((form.d_registers, 32), register)
    wanted = x.astype(np.float64) @ y.astype(np.float64).T + z.astype(np.float64)
    rd = np.zeros((form.d_registers, 32), register)
    for target, source in ((rc, z), (rd, wanted.astype(NUMPY[d]))):
        bits = element_bits(source)
        for lane in range(32):
            g, t = lane // 4, lane % 4
            for i in range(form.m // 4):
                value = int(bits[g + 8 * (i >> 1), 2 * t + (i & 1)])
                if d == "f16":
                    target[i >> 1, lane] |= register(value << 16 * (i & 1))
                else:
                    target[i, lane] = value
    two = form.multiply(np.stack([ra, ra], 1), np.stack([rb, rb], 1), np.stack([rc, np.zeros_like(rc)], 1))
    assert (two[:, 0] == rd).all()


def test_four_bit() -> None:
    form = warp_matrix.parse_mma("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32")
    assert form is not None
    ra, rb = np.full((4, 1, 32), 0xFFFFFFFF, np.uint32), np.full((2, 1, 32), 0x33333333, np.uint32)
    assert (form.multiply(ra, rb, np.zeros((4, 1, 32), np.uint32)).view(np.int32) == -1 * 3 * 64).all()


def test_mma_rounds_once() -> None:
    """2^24 + 1 + 1 in f32: the sum of one instruction is exact before it is rounded."""
    form = warp_matrix.parse_mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    assert form is not None
    ones = np.full((4, 1, 32), 0x3C003C00, np.uint32)
    c = np.full((4, 1, 32), np.float32(2.0**24).view(np.uint32), np.uint32)
    assert (form.multiply(ones, ones[:2], c).view(np.float32) == 2.0**24 + 16).all()
    nan = np.full((4, 1, 32), 0x7E007C01, np.uint32)
    assert (form.multiply(nan, ones[:2], c) == 0x7FFFFFFF).all()


@pytest.mark.parametrize(
    "name",
    [
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
    ],
)
def test_mma_forms_that_are_not_known(name: str) -> None:
    assert warp_matrix.parse_mma(name) is None


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_through_memory(count: int, transposed: bool) -> None:
    rng = np.random.default_rng(count)
    rows = rng.integers(0, 256, (3, count, 8, 16), np.uint8)
    registers = warp_matrix.load_matrices(rows, transposed)
    assert registers.shape == (count, 3, 32)
    halves = rows.view(np.uint16)
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for j in range(count):
            m = halves[1, j].T if transposed else halves[1, j]
            assert registers[j, 1, lane] == int(m[g, 2 * t]) | int(m[g, 2 * t + 1]) << 16
    assert (warp_matrix.store_matrices(registers, transposed) == rows).all()
    assert (warp_matrix.transpose_matrix(warp_matrix.transpose_matrix(registers[0])) == registers[0]).all()
