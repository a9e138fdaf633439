"""wmma, sparse products and m8n8k4: through PTX, against matrix products of numpy on small whole numbers, in layouts written down here from the ISA's text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument
from fa4dsl.runtime.simulator.numerics import matrix
from fa4dsl.runtime.simulator.numerics.descriptor import encode
from fa4dsl.runtime.simulator.run import simulate

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[16384];\n"
REGISTERS = ".reg .pred p<4>; .reg .b32 r<64>; .reg .b64 d<16>; .reg .b64 w<8>;\n"
LOADS = "ld.param.u64 d0, [a]; ld.param.u64 d1, [b]; ld.param.u64 d2, [c]; ld.param.u64 d3, [o]; mov.u32 r60, %tid.x;\n"
LANE = np.arange(32)
GROUP, MEMBER = LANE >> 2, LANE & 3


def run(body: str, threads: int = 32, **buffers: np.ndarray) -> np.ndarray:
    """Runs on buffers a, b, c and the output o; returns o's bytes."""
    flat = {name: np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8).copy() for name, array in buffers.items()}
    parameters = ", ".join(f".param .u64 {name}" for name in ("a", "b", "c", "o"))
    ptx = f"{HEAD}.visible .entry k({parameters}) .maxntid 128, 1, 1\n{{\n{REGISTERS}{LOADS}{body}\nret;\n}}\n"
    report = simulate(ptx, Launch("k", (1, 1, 1), (threads, 1, 1), buffers=flat, arguments=[PointerArgument(name) for name in "abco"]))
    assert report.verdict == "clean", report.text()
    return flat["o"]


def bits(values: np.ndarray, kind: str) -> np.ndarray:
    """Small whole numbers as raw elements of a type."""
    if kind in ("f32", "tf32"):
        return values.astype(np.float32).view(np.uint32)
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    if kind == "f64":
        return values.astype(np.float64).view(np.uint64)
    if kind in ("e4m3", "e5m2"):
        import ml_dtypes

        dtype: Any = ml_dtypes.float8_e4m3fn if kind == "e4m3" else ml_dtypes.float8_e5m2
        return values.astype(dtype).view(np.uint8)
    return values.astype(np.int32).view(np.uint32) if kind == "s32" else values.astype(np.int8).view(np.uint8)


def numbers(raw: np.ndarray, kind: str) -> np.ndarray:
    return raw.view({"f32": np.float32, "f16": np.float16, "f64": np.float64, "s32": np.int32}[kind]).astype(np.float64)


def small(shape: tuple[int, ...], kind: str, seed: int) -> np.ndarray:
    low = 0 if kind[0] == "u" else -3
    return np.random.default_rng(seed).integers(low, 4, shape)


def packed(values: np.ndarray, width: int) -> np.ndarray:
    """Elements along the last axis into bytes, the first one lowest."""
    field = (values & ((1 << width) - 1)).reshape(*values.shape[:-1], -1, 8 // width)
    return (field << (np.arange(8 // width) * width)).sum(-1).astype(np.uint8)


def vector(first: int, count: int, letter: str = "r") -> str:
    return "{" + ", ".join(f"{letter}{index}" for index in range(first, first + count)) + "}"


WMMA = [
    ("m16n16k16", "f16", "f16", "f16", "row", "col"),
    ("m16n16k16", "f16", "f32", "f32", "col", "row"),
    ("m16n16k16", "f16", "f32", "f16", "row", "row"),
    ("m16n16k16", "f16", "f16", "f32", "col", "col"),
    ("m8n32k16", "f16", "f32", "f32", "row", "row"),
    ("m32n8k16", "f16", "f16", "f16", "col", "row"),
    ("m16n16k16", "bf16", "f32", "f32", "row", "row"),
    ("m8n32k16", "bf16", "f32", "f32", "col", "col"),
    ("m32n8k16", "bf16", "f32", "f32", "row", "col"),
    ("m16n16k16", "s8", "s32", "s32", "row", "row"),
    ("m8n32k16", "u8", "s32", "s32", "col", "row"),
    ("m32n8k16", "s8", "s32", "s32", "row", "row"),
    ("m16n16k8", "tf32", "f32", "f32", "col", "row"),
    ("m8n8k4", "f64", "f64", "f64", "row", "col"),
    ("m8n8k32", "s4", "s32", "s32", "row", "col"),
    ("m8n8k32", "u4", "s32", "s32", "row", "col"),
    ("m8n8k128", "b1", "s32", "s32", "row", "col"),
]


@pytest.mark.parametrize(("shape", "kind", "d_type", "c_type", "a_layout", "b_layout"), WMMA)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_wmma(shape: str, kind: str, d_type: str, c_type: str, a_layout: str, b_layout: str, space: str) -> None:
    m, n, k = (int(part) for part in shape[1:].replace("n", " ").replace("k", " ").split())
    a, b, c = small((m, k), kind, 1), small((k, n), kind, 2), small((m, n), c_type, 3)
    expected = a @ b + c
    width = {"s4": 4, "u4": 4, "b1": 1, "f64": 64, "tf32": 32, "s8": 8, "u8": 8}.get(kind, 16)
    operation = ""
    if kind == "b1":
        a, b = a & 1, b & 1
        expected = (a[:, :, None] ^ b[None]).sum(1) + c
        operation = ".xor.popc"

    def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
        lines = values if layout == "row" else values.T
        return packed(lines, width) if width < 8 else bits(lines, kind)

    def lines(rows: int, columns: int, layout: str) -> int:
        return columns if layout == "row" else rows

    count = {"f16": 8, "f64": 1}.get(kind, 0)
    a_count, b_count = (count or max(size * k * width // 1024, 1) for size in (m, n))
    c_count, d_count = (m * n // 64 if item == "f16" else m * n // 32 for item in (c_type, d_type))
    letter = "w" if kind == "f64" else "r"
    c_layout = "col" if a_layout == "col" else "row"
    c_stored = bits(c if c_layout == "row" else c.T, c_type)
    typed = f"{d_type}.{c_type}" if kind == "f16" else f"{d_type}.{kind}.{kind}.{c_type}"
    at = ("[d0]", "[d1]", f"{k if a_layout == 'row' else m}", f"{n if b_layout == 'row' else k}")
    copy = ""
    if space == "shared":
        copy = "mov.u64 d4, tile;\n" + "".join(
            f"mul.wide.u32 d5, r60, 64; add.u64 d6, d{source}, d5; add.u64 d7, d4, d5;\n"
            + "".join(
                f"ld.global.v4.u32 {{r0, r1, r2, r3}}, [d6+{16 * part}]; st.shared.v4.u32 [d7+{offset + 16 * part}], {{r0, r1, r2, r3}};\n"
                for part in range(4)
            )
            for source, offset in ((0, 0), (1, 2048))
        )
        copy += "bar.warp.sync -1;\n"
        at = ("[d4]", "[d4+2048]", *at[2:])
    first = 0
    registers = []
    for number in (a_count, b_count, c_count, d_count):
        registers.append(vector(first, number, letter))
        first += number
    body = f"""{copy}
wmma.load.a.sync.aligned.{a_layout}.{shape}.{space}.{kind} {registers[0]}, {at[0]}, {at[2]};
wmma.load.b.sync.aligned.{b_layout}.{shape}.{space}.{kind} {registers[1]}, {at[1]}, {at[3]};
wmma.load.c.sync.aligned.{c_layout}.{shape}.{c_type} {registers[2]}, [d2];
wmma.mma{operation}.sync.aligned.{a_layout}.{b_layout}.{shape}.{typed} {registers[3]}, {registers[0]}, {registers[1]}, {registers[2]};
wmma.store.d.sync.aligned.row.{shape}.{d_type} [d3], {registers[3]};
"""
    room = 2048
    a_bytes, b_bytes = (np.frombuffer(laid_out(values, layout).tobytes(), np.uint8) for values, layout in ((a, a_layout), (b, b_layout)))
    o = run(
        body,
        a=np.pad(a_bytes, (0, room - len(a_bytes))),
        b=np.pad(b_bytes, (0, room - len(b_bytes))),
        c=c_stored,
        o=np.zeros(8 * m * n, np.uint8),
    )
    size = {"f16": 2, "f64": 8}.get(d_type, 4)
    assert (numbers(o[: m * n * size], d_type).reshape(m, n) == expected).all()


def test_wmma_padded_rows_and_integer_saturation() -> None:
    """A leading dimension that is larger than the matrix; sums beyond 31 bits stop at the limits."""
    a, b = np.full((16, 16), 127), np.full((16, 16), 127)
    c = np.full((16, 16), 2**31 - 1000)
    wide = np.zeros((16, 32), np.uint8)
    wide[:, :16] = bits(a, "s8")
    body = f"""
wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {vector(0, 2)}, [d0], 32;
wmma.load.b.sync.aligned.col.m16n16k16.global.s8 {vector(2, 2)}, [d1];
wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {vector(4, 8)}, [d2];
wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite {vector(12, 8)}, {vector(0, 2)}, {vector(2, 2)}, {vector(4, 8)};
wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [d3], {vector(12, 8)}, 20;
"""
    o = run(body, a=wide, b=bits(b, "s8"), c=bits(c, "s32"), o=np.zeros((16, 20), np.int32)).view(np.int32).reshape(16, 20)
    assert (o[:, :16] == 2**31 - 1).all()
    assert (o[:, 16:] == 0).all()


def test_wmma_f64_rounding() -> None:
    """1 + 2^-53 lies halfway: up with .rp, down with .rz."""
    one, tiny = np.zeros((8, 4)), np.zeros((4, 8))
    one[:, 0], tiny[0] = 1.0, 2.0**-53
    found = []
    for rounding in ("rz", "rp"):
        body = f"""
wmma.load.a.sync.aligned.row.m8n8k4.f64 {{w0}}, [d0];
wmma.load.b.sync.aligned.row.m8n8k4.f64 {{w1}}, [d1];
wmma.load.c.sync.aligned.row.m8n8k4.f64 {{w2, w3}}, [d2];
wmma.mma.sync.aligned.row.row.m8n8k4.{rounding}.f64.f64.f64.f64 {{w4, w5}}, {{w0}}, {{w1}}, {{w2, w3}};
wmma.store.d.sync.aligned.row.m8n8k4.f64 [d3], {{w4, w5}};
"""
        found.append(run(body, a=one, b=tiny, c=np.ones((8, 8)), o=np.zeros((8, 8))).view(np.float64))
    assert (found[0] == 1.0).all()
    assert (found[1] == 1.0 + 2.0**-52).all()


@pytest.mark.parametrize(("a_layout", "b_layout"), [("row", "col"), ("col", "row"), ("row", "row"), ("col", "col")])
@pytest.mark.parametrize(("d_type", "c_type"), [("f16", "f16"), ("f32", "f16"), ("f32", "f32")])
def test_quad_pairs(a_layout: str, b_layout: str, d_type: str, c_type: str) -> None:
    """mma.m8n8k4: rows and columns of each lane's elements as PTX 9.7.14.5.1 gives them."""
    quad, upper = LANE // 4 % 4, np.where(LANE < 16, 0, 4)
    a, b, c = small((4, 8, 4), "f16", 4), small((4, 4, 8), "f16", 5), small((4, 8, 8), "f16", 6)

    def places(kind: str) -> list[tuple[np.ndarray, np.ndarray]]:
        if kind == "f16":
            return [(LANE % 4 + upper, np.full(32, i)) for i in range(8)]
        return [((LANE & 1) + (i & 2) + upper, np.full(32, i & 4) + (LANE & 2) + (i & 1)) for i in range(8)]

    a_lane = [a[quad, LANE % 4 + upper, i] if a_layout == "row" else a[quad, i + upper, LANE % 4] for i in range(4)]
    b_lane = [b[quad, LANE % 4, i + upper] if b_layout == "row" else b[quad, i, LANE % 4 + upper] for i in range(4)]
    c_lane = [c[quad, row, column] for row, column in places(c_type)]

    def stored(values: list[np.ndarray], kind: str) -> np.ndarray:
        """[lane, element]."""
        return bits(np.stack(values, axis=1), kind)

    c_count, d_count = (4 if kind == "f16" else 8 for kind in (c_type, d_type))
    body = f"""
mul.wide.u32 d4, r60, 8; add.u64 d0, d0, d4; add.u64 d1, d1, d4;
mul.wide.u32 d4, r60, {4 * c_count}; add.u64 d2, d2, d4; mul.wide.u32 d4, r60, {4 * d_count}; add.u64 d3, d3, d4;
ld.global.v2.u32 {vector(0, 2)}, [d0]; ld.global.v2.u32 {vector(2, 2)}, [d1];
{"".join(f"ld.global.u32 r{4 + i}, [d2+{4 * i}];" for i in range(c_count))}
mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{d_type}.f16.f16.{c_type} {vector(20, d_count)}, {vector(0, 2)}, {vector(2, 2)}, {vector(4, c_count)};
{"".join(f"st.global.u32 [d3+{4 * i}], r{20 + i};" for i in range(d_count))}
"""
    o = run(body, a=stored(a_lane, "f16"), b=stored(b_lane, "f16"), c=stored(c_lane, c_type), o=np.zeros(32 * 4 * d_count, np.uint8))
    got = numbers(o, d_type).reshape(32, 8)
    expected = a @ b + c
    for i, (row, column) in enumerate(places(d_type)):
        assert (got[:, i] == expected[quad, row, column]).all(), i


def sparse_matrix(rows: int, k: int, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A dense matrix with the right zeros, what is kept of it, and four bits of metadata for each chunk ``[rows, chunks]``."""
    source = np.random.default_rng(seed)
    chunk, group = {"tf32": (2, 1), "s4": (8, 2), "u4": (8, 2)}.get(kind, (4, 1))
    dense = np.zeros((rows, k), np.int64)
    kept = np.zeros((rows, k // 2), np.int64)
    meta = np.zeros((rows, k // chunk), np.int64)
    values = source.integers(1, 4, (rows, k // 2)) * (1 if kind[0] == "u" else source.choice([-1, 1], (rows, k // 2)))
    for row in range(rows):
        for index in range(k // chunk):
            if kind == "tf32":
                places = [int(source.integers(2))]
                meta[row, index] = 0b1110 if places[0] else 0b0100
            else:
                pair = sorted(source.choice(4, 2, replace=False).tolist())
                meta[row, index] = pair[0] | pair[1] << 2
                places = [group * item + part for item in pair for part in range(group)]
            for number, place in enumerate(places):
                at = index * len(places) + number
                kept[row, at] = values[row, at]
                dense[row, index * chunk + place] = values[row, at]
    return dense, kept, meta


def metadata_words(meta: np.ndarray, width: int, selector: int) -> np.ndarray:
    """The metadata register of each lane, by the figures of PTX 9.7.14.6.2: uint32 [warps, 32]. Lanes that the selector leaves out hold nonsense."""
    warps = len(meta) // 16
    words = np.full((warps, 32), 0x55555555, np.uint32)
    chunks = meta.shape[1]
    for warp in range(warps):
        rows = meta[16 * warp : 16 * warp + 16]
        for g in range(8):
            if width >= 16:  # four chunks of row g below those of row g + 8
                for part in range(chunks // 4):
                    low, high = (sum(int(rows[r, 4 * part + i]) << 4 * i for i in range(4)) for r in (g, g + 8))
                    words[warp, 4 * g + selector * (chunks // 4) + part] = low | high << 16
            else:  # eight chunks of one row
                for part in range(chunks // 8):
                    for half in range(2):
                        word = sum(int(rows[g + 8 * half, 8 * part + i]) << 4 * i for i in range(8))
                        words[warp, 4 * g + selector * 2 + 2 * part + half] = word
    return words


def fragment(values: np.ndarray, width: int, two_rows: bool) -> np.ndarray:
    """Registers of A (rows g and g + 8) or B (columns g, given as [n, k]): uint32 [32, registers]."""
    per_register = 32 // width
    found = []
    for block in range(values.shape[1] // (4 * per_register)):
        for half in range(2 if two_rows else 1):
            word = np.zeros(32, np.uint64)
            for e in range(per_register):
                word |= (values[GROUP + 8 * half, 4 * per_register * block + per_register * MEMBER + e] & ((1 << width) - 1)).astype(
                    np.uint64
                ) << np.uint64(width * e)
            found.append(word.astype(np.uint32))
    return np.stack(found, axis=1)


SPARSE = [
    ("m16n8k16", "f16", "f16", 2),
    ("m16n8k16", "f16", "f32", 0),
    ("m16n8k32", "f16", "f32", 1),
    ("m16n8k16", "bf16", "f32", 3),
    ("m16n8k32", "bf16", "f32", 0),
    ("m16n8k8", "tf32", "f32", 1),
    ("m16n8k16", "tf32", "f32", 1),
    ("m16n8k32", "s8", "s32", 1),
    ("m16n8k64", "s8", "s32", 0),
    ("m16n8k64", "u4", "s32", 1),
    ("m16n8k128", "s4", "s32", 0),
    ("m16n8k64", "e4m3", "f32", 0),
]
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8}


@pytest.mark.parametrize(("shape", "kind", "d_type", "selector"), SPARSE)
def test_sparse_mma(shape: str, kind: str, d_type: str, selector: int) -> None:
    k, width = int(shape.split("k")[1]), WIDTHS[kind]
    dense, kept, meta = sparse_matrix(16, k, kind, 11)
    b, c = small((k, 8), kind, 12), small((16, 8), d_type, 13)

    def raw(values: np.ndarray) -> np.ndarray:
        return values if width == 4 else bits(values, kind).astype(np.int64)

    a_registers, b_registers = fragment(raw(kept), width, True), fragment(raw(b.T), width, False)
    places = [(GROUP + 8 * (i >> 1), 2 * MEMBER + (i & 1)) for i in range(4)]
    c_lane = bits(np.stack([c[row, column] for row, column in places], axis=1), d_type)
    a_count, b_count, d_count = a_registers.shape[1], b_registers.shape[1], 2 if d_type == "f16" else 4
    left = np.concatenate([a_registers, metadata_words(meta, width, selector).T], axis=1)
    body = f"""
mul.wide.u32 d4, r60, {4 * (a_count + 1)}; add.u64 d0, d0, d4; mul.wide.u32 d4, r60, {4 * b_count}; add.u64 d1, d1, d4;
mul.wide.u32 d4, r60, {4 * d_count}; add.u64 d2, d2, d4; add.u64 d3, d3, d4;
{"".join(f"ld.global.u32 r{i}, [d0+{4 * i}];" for i in range(a_count + 1))}
{"".join(f"ld.global.u32 r{10 + i}, [d1+{4 * i}];" for i in range(b_count))}
{"".join(f"ld.global.u32 r{20 + i}, [d2+{4 * i}];" for i in range(d_count))}
mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{d_type}.{kind}.{kind}.{d_type} {vector(30, d_count)}, {vector(0, a_count)}, {vector(10, b_count)}, {vector(20, d_count)}, r{a_count}, {selector};
{"".join(f"st.global.u32 [d3+{4 * i}], r{30 + i};" for i in range(d_count))}
"""
    o = run(body, a=left, b=b_registers, c=c_lane, o=np.zeros(128 * d_count, np.uint8))
    got = numbers(o, d_type).reshape(32, 4)
    expected = dense @ b + c
    for i, (row, column) in enumerate(places):
        assert (got[:, i] == expected[row, column]).all(), i


@pytest.mark.parametrize(
    ("kind", "d_type", "selector", "n", "from_registers"),
    [
        ("f16", "f32", 0, 8, False),
        ("f16", "f16", 1, 16, False),
        ("bf16", "f32", 1, 24, True),
        ("tf32", "f32", 1, 8, False),
        ("s8", "s32", 0, 16, False),
        ("e4m3", "f32", 0, 8, True),
    ],
)
def test_sparse_wgmma(kind: str, d_type: str, selector: int, n: int, from_registers: bool) -> None:
    """Packed A and B row by row in shared memory without swizzle: 8 x 16-byte core matrices, B's rows twice as long as A's."""
    width = WIDTHS[kind]
    k = {16: 32, 32: 16, 8: 64}[width]
    dense, kept, meta = sparse_matrix(64, k, kind, 21)
    b = small((n, k), kind, 22)

    def cores(values: np.ndarray) -> np.ndarray:
        """Rows of elements to core matrices [row block, column block, 8, 16 bytes]."""
        raw = bits(values, kind)
        per = 16 // raw.itemsize
        return raw.reshape(len(values) // 8, 8, -1, per).swapaxes(1, 2)

    a_shared, b_shared = (np.frombuffer(np.ascontiguousarray(cores(values)).tobytes(), np.uint8) for values in (kept, b))
    a_start, b_start = 1024, 1024 + 4096
    words = metadata_words(meta, width, selector).reshape(128)
    a_registers = np.concatenate([fragment(bits(kept, kind).astype(np.int64)[16 * w : 16 * w + 16], width, True) for w in range(4)])
    d_count = n // 4 if d_type == "f16" else n // 2
    a_operand = vector(0, 4) if from_registers else "d5"
    scales = ", 1, 1" if d_type != "s32" else ""
    transposes = "" if kind not in ("f16", "bf16") else ", 0" if from_registers else ", 0, 0"
    zero = "".join(f"mov.b32 r{20 + i}, 0;" for i in range(d_count))
    body = f"""
mul.wide.u32 d4, r60, 64; mov.u64 d7, tile; add.u64 d7, d7, d4; add.u64 d6, d0, d4;
{"".join(f"ld.global.v4.u32 {vector(0, 4)}, [d6+{16 * i}]; st.shared.v4.u32 [d7+{16 * i}], {vector(0, 4)};" for i in range(4))}
fence.proxy.async.shared::cta; bar.sync 0;
mul.wide.u32 d4, r60, 20; add.u64 d1, d1, d4;
{"".join(f"ld.global.u32 r{i}, [d1+{4 * i}];" for i in range(5))}
mov.u64 d5, {encode(a_start, 128, 256)}; mov.u64 d8, {encode(b_start, 128, 512)};
setp.ne.b32 p0, 0, 0; {zero}
wgmma.fence.sync.aligned;
wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{d_type}.{kind}.{kind} {vector(20, d_count)}, {a_operand}, d8, r4, {selector}, p0{scales}{transposes};
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
mul.wide.u32 d4, r60, {4 * d_count}; add.u64 d3, d3, d4;
{"".join(f"st.global.u32 [d3+{4 * i}], r{20 + i};" for i in range(d_count))}
"""
    shared = np.zeros(8192, np.uint8)
    shared[: len(a_shared)] = a_shared
    shared[4096 : 4096 + len(b_shared)] = b_shared
    o = run(
        body,
        128,
        a=shared,
        b=np.concatenate([a_registers, words[:, None]], axis=1).astype(np.uint32),
        c=np.zeros(16, np.uint8),
        o=np.zeros(512 * d_count, np.uint8),
    )
    got = numbers(o, d_type).reshape(4, 32, -1)
    expected = dense @ b.T
    for warp in range(4):
        for i in range(n // 2):
            row, column = 16 * warp + GROUP + 8 * (i >> 1 & 1), 8 * (i >> 2) + 2 * MEMBER + (i & 1)
            assert (got[warp, :, i] == expected[row, column]).all(), (warp, i)


def test_left_out_infinities_do_not_count() -> None:
    """A zero that is not stored multiplies nothing: no NaN from an infinity of B across from it."""
    form = matrix.parse_wgmma("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16")
    assert form is not None
    a, kept = np.ones((1, 64, 16)), np.tile(np.arange(0, 32, 2), (1, 64, 1))
    b = np.ones((1, 8, 32))
    b[..., 1::2] = np.inf
    result = form.multiply(a, b, np.zeros((4, 1, 128), np.uint32), kept=kept)
    assert (result.view(np.float32) == 16).all()
    b[..., 0] = np.inf
    assert np.isinf(form.multiply(a, b, np.zeros((4, 1, 128), np.uint32), kept=kept).view(np.float32)).all()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (
            "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r4, r5, r6, r7}, {r0, r1, r2, r3}, r8, 2",
            "selector",
        )
    ],
)
def test_selectors_have_limits(line: str, named: str) -> None:
    from fa4dsl.runtime.diagnostics import Fa4dslError

    with pytest.raises(Fa4dslError, match=named):
        run(line + ";", a=np.zeros(4, np.uint8), b=np.zeros(4, np.uint8), c=np.zeros(4, np.uint8), o=np.zeros(4, np.uint8))
