"""Warp and warpgroup matrix instructions and shuffles against what an H200 gave, with the kernels' loads and stores redone in numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.numerics import descriptor, matrix, warp, warp_matrix

DATA = Path(__file__).parent / "data"
LANE = np.arange(32)
G, T = LANE >> 2, LANE & 3


def load(case: str, name: str, dtype: Any) -> np.ndarray[Any, Any]:
    return np.load(DATA / case / f"{name}.npy").reshape(-1).view(dtype)


def mma(mnemonic: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], c: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Registers [count, 32] of one warp."""
    form = warp_matrix.parse_mma(mnemonic)
    assert form is not None, mnemonic
    assert (len(a), len(b), len(c)) == (form.a_registers, form.b_registers, form.d_registers)
    return form.multiply(a[:, None], b[:, None], c[:, None])[:, 0]


def test_mma() -> None:
    a_all, b_all = load("mma_sync", "A", np.uint32).reshape(-1, 16, 8), load("mma_sync", "B", np.uint32).reshape(-1, 8, 8)
    c_all, wanted = load("mma_sync", "C", np.float32).reshape(-1, 16, 8), load("mma_sync", "expected_o", np.float32).reshape(-1, 16, 8)
    forms = {
        0: "m16n8k16.row.col.f32.bf16.bf16.f32",
        1: "m16n8k16.row.col.f32.f16.f16.f32",
        2: "m16n8k8.row.col.f32.tf32.tf32.f32",
        3: "m16n8k32.row.col.s32.s8.s8.s32",
        4: "m16n8k16.row.col.f16.f16.f16.f16",
        5: "m16n8k16.row.col.f32.bf16.bf16.f32",
        6: "m16n8k8.row.col.f32.bf16.bf16.f32",
    }
    for w, shape in forms.items():
        a, b, c = a_all[w], b_all[w], c_all[w]
        ra = np.stack([a[G, T], a[G + 8, T], a[G, T + 4], a[G + 8, T + 4]])
        rb = np.stack([b[G, T], b[G, T + 4]])
        rc = np.stack([c[G, 2 * T], c[G, 2 * T + 1], c[G + 8, 2 * T], c[G + 8, 2 * T + 1]])
        if w == 6:
            ra, rb = ra[:2], rb[:1]
        if w == 3:
            rd = mma("mma.sync.aligned." + shape, ra, rb, rc.astype(np.int32).view(np.uint32)).view(np.int32).astype(np.float32)
        elif w == 4:
            halves = rc.astype(np.float16).view(np.uint16).astype(np.uint32)
            rd16 = mma("mma.sync.aligned." + shape, ra, rb, halves[0::2] | halves[1::2] << np.uint32(16))
            low, high = ((rd16 >> np.uint32(s)).astype(np.uint16).view(np.float16).astype(np.float32) for s in (0, 16))
            rd = np.stack([low[0], high[0], low[1], high[1]])
        else:
            rd = mma("mma.sync.aligned." + shape, ra, rb, rc.view(np.uint32)).view(np.float32)
        d = np.empty((16, 8), np.float32)
        d[G, 2 * T], d[G, 2 * T + 1], d[G + 8, 2 * T], d[G + 8, 2 * T + 1] = rd
        # warp 5 has random data: the hardware's way of adding shows in the last bits
        np.testing.assert_array_equal(d.view(np.uint32), wanted[w].view(np.uint32), err_msg=shape)


def test_ldmatrix_stmatrix_movmatrix() -> None:
    words = load("ldstmatrix", "x", np.uint32)
    shared = np.zeros((32, 80), np.uint8)
    shared[:, :16] = words[: 32 * 4].view(np.uint8).reshape(32, 16)
    addresses = ((LANE * 5) & 31)[None, :] * 80
    rows = []
    r: np.ndarray[Any, Any] = np.empty(0)
    for count in (1, 2, 4):
        for transposed in (False, True):
            used = warp_matrix.row_addresses(addresses, count)
            data = shared.reshape(-1)[used[..., None] + np.arange(16)]
            r = warp_matrix.load_matrices(data, transposed)[:, 0]
            rows.extend(r)
    moved = warp_matrix.transpose_matrix(r[0][None])[0]
    rows.append(moved)
    wanted = load("ldstmatrix", "expected_o", np.uint32).reshape(-1, 32)
    np.testing.assert_array_equal(np.stack(rows), wanted[: len(rows)])

    target = np.full(32 * 80, 0xDD, np.uint8)
    base = ((LANE * 3) & 31)[None, :] * 80
    for registers, offset, transposed in ((r, 0, False), (r[::-1], 16, True), (r[:2], 32, True), (moved[None], 48, False)):
        used = warp_matrix.row_addresses(base + offset, len(registers))
        target[used[..., None] + np.arange(16)] = warp_matrix.store_matrices(registers[:, None], transposed)
    np.testing.assert_array_equal(target.view(np.uint32), load("ldstmatrix", "expected_o2", np.uint32))


def test_wgmma_k_major() -> None:
    a, b = load("wgmma_k", "A", np.uint8).reshape(64, 8, 16), load("wgmma_k", "B", np.uint8).reshape(128, 8, 16)
    wanted = load("wgmma_k", "expected_o", np.uint32)
    shared = np.zeros(65536, np.uint8)
    base = 1024
    a1, b1, a0, b0 = base, base + 8192, base + 24576, base + 32768
    for source, swizzled, plain, pitch in ((a, a1, a0, 1024), (b, b1, b0, 2048)):
        for r in range(len(source)):
            for c in range(8):
                shared[swizzled + r * 128 + ((c ^ (r & 7)) << 4) :][:16] = source[r, c]
                shared[plain + c * pitch + r * 16 :][:16] = source[r, c]
    runs = [(n, True) for n in (8, 24, 64, 128)] + [(n, False) for n in (16, 32, 96)]
    offset = 0
    for n, swizzled in runs:
        form = matrix.parse_wgmma(f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16")
        assert form is not None
        if swizzled:
            da, db, step_a, step_b = descriptor.encode(a1, 16, 1024, "128B"), descriptor.encode(b1, 16, 1024, "128B"), 2, 2
        else:
            da, db, step_a, step_b = descriptor.encode(a0, 1024, 128), descriptor.encode(b0, 2048, 128), 128, 256
        d = np.zeros((form.d_registers, 1, 128), np.uint32)
        for k in range(4):
            tiles = [
                form.tile(matrix.shared_pieces(shared, pieces(np.array([start], np.uint64))), "bf16")
                for pieces, start in ((form.a_pieces, da + k * step_a), (form.b_pieces, db + k * step_b))
            ]
            d = form.multiply(*tiles, d, scale_d=k > 0)
        thread = np.arange(128)
        row, column = (thread >> 5) * 16 + ((thread & 31) >> 2), (thread & 3) * 2
        out = np.empty((64, n), np.uint32)
        for j in range(n // 8):
            for h in range(2):
                for e in range(2):
                    out[row + 8 * h, 8 * j + column + e] = d[4 * j + 2 * h + e, 0]
        np.testing.assert_array_equal(out.reshape(-1), wanted[offset : offset + 64 * n], err_msg=f"n={n}")
        offset += 64 * n
    assert offset == len(wanted)


def test_shuffles() -> None:
    v = load("shuffles", "x", np.uint32).reshape(2, 32)
    lane = np.arange(32, dtype=np.uint32)
    calls: list[tuple[str, Any, int]] = [
        ("up", 3, 0),
        ("down", 5, 31),
        ("bfly", 9, 31),
        ("idx", 17, 31),
        ("idx", v & np.uint32(31), 31),
        ("up", 2, 24 << 8),
        ("down", 3, (24 << 8) | 31),
        ("bfly", 6, (24 << 8) | 31),
        ("idx", lane * np.uint32(5), (16 << 8) | 31),
        ("bfly", 16, (28 << 8) | 3),
        ("down", lane & np.uint32(3), 20),
        ("up", lane & np.uint32(7), 6),
    ]
    wanted = load("shuffles", "expected_o", np.uint32).reshape(-1, 2, 32)
    for index, (mode, b, c) in enumerate(calls):
        result, valid, source = warp.shuffle(mode, v, np.asarray(b, np.uint32), np.asarray(c, np.uint32))
        np.testing.assert_array_equal(result, wanted[2 * index], err_msg=str((index, mode)))
        np.testing.assert_array_equal(valid.astype(np.uint32), wanted[2 * index + 1], err_msg=str((index, mode)))
        assert (source[~valid] == np.broadcast_to(np.arange(32), source.shape)[~valid]).all()
