"""Memory that few kernels use: im2col copies, multicast memory, the stack, the device heap; and what a file's target and version allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulator.machine.kernels import codes, kernel, launch, run

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.ptx.parser import parse
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, TensorMapArgument, load_launch
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import Im2col, TensorMapDescription

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"

IMAGES, DEPTH, HEIGHT, WIDTH, CHANNELS = 2, 3, 5, 6, 8
Map = tuple[TensorMapDescription, np.ndarray]


def images(rank: int) -> tuple[np.ndarray, tuple[int, ...], tuple[int, ...]]:
    """A batch as u16 [N, (D,) (H,) W, C], its sizes innermost first, and its strides in bytes."""
    shape = (IMAGES, *(DEPTH, HEIGHT, WIDTH)[5 - rank :], CHANNELS)
    batch = np.arange(1, 1 + int(np.prod(shape)), dtype=np.uint16).reshape(shape)
    sizes = tuple(reversed(shape))
    strides = tuple(int(np.prod(sizes[:dimension])) * 2 for dimension in range(1, rank))
    return batch, sizes, strides


def walk(batch: np.ndarray, coordinates: tuple[int, ...], offsets: tuple[int, ...], corners: Im2col, steps: tuple[int, ...]) -> np.ndarray:
    """The pixels of one column, by stepping a filter's base through its bounding box place by place. Zero where outside."""
    shape = batch.shape
    spatial = tuple(reversed(shape[1:-1]))
    base, image = list(coordinates[1:-1]), coordinates[-1]
    found = []
    for _ in range(corners.pixels):
        place = [at + shift for at, shift in zip(base, offsets or (0,) * len(base), strict=True)]
        inside = 0 <= image < shape[0] and all(0 <= at < size for at, size in zip(place, spatial, strict=True))
        channels = np.zeros(CHANNELS, np.uint16)
        if inside:
            channels = batch[(image, *reversed(place))]
        found.append(channels)
        dimension = 0
        while dimension < len(base):
            base[dimension] += steps[dimension + 1]
            if base[dimension] <= spatial[dimension] - 1 + corners.upper[dimension]:
                break
            base[dimension] = corners.lower[dimension]
            dimension += 1
        else:
            image += 1
    return np.stack(found)


def run_map(body: str, described: TensorMapDescription, batch: np.ndarray, out: int) -> tuple[np.ndarray, np.ndarray, Report]:
    """One thread; [map] is the map over `x`, [o] an output of `out` bytes. Returns o, x and the report."""
    ptx = f"""{HEAD}.shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 o) {{
.reg .pred p; .reg .b32 r<8>; .reg .b64 d<8>; .reg .b16 h<8>;
mov.b64 d0, map; cvta.param.u64 d0, d0; ld.param.u64 d1, [o];
{body}
ret; }}"""
    buffers = {"x": np.frombuffer(batch.tobytes(), np.uint8).copy(), "o": np.zeros(out, np.uint8)}
    described_launch = Launch(
        "k", (1, 1, 1), (1, 1, 1), buffers=buffers, arguments=[TensorMapArgument(described, "x"), PointerArgument("o")]
    )
    report = simulate(ptx, described_launch)
    return buffers["o"], buffers["x"], report


@pytest.mark.parametrize(
    ("rank", "lower", "upper", "steps", "coordinates", "offsets", "swizzle"),
    [
        (4, (-1, -1), (-1, -1), (1, 1, 1, 1), (0, 3, 2, 0), (0, 0), "none"),
        (4, (0, 0), (-2, -2), (1, 1, 1, 1), (0, 1, 2, 0), (2, 1), "none"),
        (4, (-1, -1), (0, 0), (1, 2, 2, 1), (0, -1, -1, 1), (1, 1), "none"),
        (3, (-2,), (1,), (1, 1, 1), (0, 4, 0), (1,), "none"),
        (5, (-1, 0, -1), (-1, -1, 0), (1, 1, 2, 1, 1), (0, 2, 2, 1, 0), (1, 1, 0), "none"),
    ],
)
def test_im2col_load(
    rank: int,
    lower: tuple[int, ...],
    upper: tuple[int, ...],
    steps: tuple[int, ...],
    coordinates: tuple[int, ...],
    offsets: tuple[int, ...],
    swizzle: str,
) -> None:
    batch, sizes, strides = images(rank)
    corners = Im2col(lower, upper, 24)
    described = TensorMapDescription("u16", sizes, strides, (CHANNELS, *([1] * (rank - 1))), steps, im2col=corners)
    at = ", ".join(map(str, coordinates))
    shifts = "{" + ", ".join(f"h{index}" for index in range(rank - 2)) + "}" if rank > 3 else "{h0}"
    size = 24 * CHANNELS * 2
    body = f"""
{"".join(f"mov.u16 h{index}, {value};" for index, value in enumerate(offsets))}
mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], {size};
cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [d0, {{{at}}}], [bar], {shifts};
wait: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra wait;
mov.u64 d2, tile; mov.u32 r0, 0;
copy: ld.shared.u64 d3, [d2]; st.global.u64 [d1], d3; add.u64 d2, d2, 8; add.u64 d1, d1, 8; add.u32 r0, r0, 8;
setp.lt.u32 p, r0, {size}; @p bra copy;
"""
    o, _, report = run_map(body, described, batch, size)
    assert report.verdict == "clean", report.text()
    assert (o.view(np.uint16).reshape(-1, CHANNELS) == walk(batch, coordinates, offsets, corners, steps)).all()


def test_im2col_store_and_reduction() -> None:
    batch, sizes, strides = images(4)
    corners = Im2col((0, 0), (0, 0), 10)
    described = TensorMapDescription("u16", sizes, strides, (CHANNELS, 1, 1, 1), (1, 1, 1, 1), im2col=corners)
    body = """
mov.u32 r0, 0; mov.u32 r1, tile; mov.b32 r2, 0x00640064;
fill: add.u32 r3, r1, r0; st.shared.u32 [r3], r2; add.u32 r0, r0, 4; setp.lt.u32 p, r0, 160; @p bra fill;
fence.proxy.async.shared::cta;
cp.reduce.async.bulk.tensor.4d.global.shared::cta.{form}im2col_no_offs.bulk_group [d0, {{0, 4, 3, 1}}], [tile];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
    where = walk(
        np.arange(batch.size // CHANNELS, dtype=np.int64).reshape(*batch.shape[:-1], 1).repeat(CHANNELS, -1),
        (0, 4, 3, 1),
        (),
        corners,
        (1, 1, 1, 1),
    )
    # eight pixels are left in the batch: the other two are dropped
    touched = where[:8, 0]
    _, x, report = run_map(body.format(form="add.").replace("{{", "{").replace("}}", "}"), described, batch, 8)
    assert report.verdict == "clean", report.text()
    expected = batch.reshape(-1, CHANNELS).copy()
    expected[touched] += 100
    assert (x.view(np.uint16).reshape(-1, CHANNELS) == expected).all()
    stored = body.format(form="").replace("cp.reduce.async", "cp.async").replace("{{", "{").replace("}}", "}")
    _, x, report = run_map(stored, described, batch, 8)
    assert report.verdict == "clean", report.text()
    expected = batch.reshape(-1, CHANNELS).copy()
    expected[touched] = 100
    assert (x.view(np.uint16).reshape(-1, CHANNELS) == expected).all()


def test_im2col_needs_its_map_and_its_bounding_box() -> None:
    batch, sizes, strides = images(4)
    load = (
        "cp.async.bulk.tensor.4d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes [tile], [d0, {{0, {w}, 0, 0}}], [bar]{offsets};"
    )
    start = "mbarrier.init.shared.b64 [bar], 1; mov.u16 h0, 0;"
    tiled = TensorMapDescription("u16", sizes, strides, (CHANNELS, 1, 1, 1), (1, 1, 1, 1))
    pixels = TensorMapDescription("u16", sizes, strides, (CHANNELS, 1, 1, 1), (1, 1, 1, 1), im2col=Im2col((0, 0), (-1, -1), 4))
    for described, mode, w, words in (
        (tiled, ".im2col", 0, "an im2col copy through a tiled map"),
        (pixels, "", 0, "a tiled copy through an im2col map"),
        (pixels, ".im2col", 5, "coordinate 1 is 5, outside the map's bounding box of 0 to 4"),
    ):
        body = start + load.format(mode=mode, w=w, offsets=", {h0, h0}" if mode else "")
        _, _, report = run_map(body, described, batch, 8)
        assert codes(report) == ["S012"]
        assert words in report.findings[0].diagnostic.message


def described(tmp_path: Path, **changes: Any) -> Path:
    entry = {"kernel": "k", "grid": [1, 1, 1], "block": [1, 1, 1], "buffers": {"x": {"bytes": 4096}}} | changes
    file = tmp_path / "launch.json"
    file.write_text(json.dumps(entry))
    return file


MAP = {"buffer": "x", "dtype": "uint16", "sizes": [8, 6, 5, 2], "strides_bytes": [16, 96, 480]}


def test_launch_describes_im2col_maps_and_multicast_buffers(tmp_path: Path) -> None:
    pixels = {"lower": [-1, 0], "upper": [0, -2], "pixels": 7, "channels": 8}
    buffers = {"x": {"bytes": 4096}, "y": {"bytes": 4096}, "all": {"multicast": ["y", "x"]}}
    found = load_launch(
        described(tmp_path, buffers=buffers, arguments=[{"tensor_map": MAP | {"im2col": pixels}}, {"buffer": "all", "offset": 8}])
    )
    argument = found.arguments[0]
    assert isinstance(argument, TensorMapArgument)
    assert argument.record.im2col == Im2col((-1, 0), (0, -2), 7)
    assert argument.record.box == (8, 1, 1, 1)
    assert found.multicast == {"all": ("y", "x")}
    assert len(found.buffers["all"]) == 4096


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arguments": [{"tensor_map": MAP | {"im2col": {"lower": [0, 0], "upper": [0, 200], "pixels": 1, "channels": 8}}}]}, "corners"),
        ({"arguments": [{"tensor_map": MAP | {"im2col": {"lower": [0], "upper": [0, 0], "pixels": 1, "channels": 8}}}]}, "list of 2"),
        ({"arguments": [{"tensor_map": MAP | {"im2col": {"lower": [0, 0], "upper": [0, 0], "pixels": 2000, "channels": 8}}}]}, "pixels"),
        ({"arguments": [{"tensor_map": MAP | {"box": [8, 1, 1, 1], "interleave": "16B"}}]}, "interleave"),
        ({"buffers": {"x": {"bytes": 16}, "y": {"bytes": 32}, "all": {"multicast": ["x", "y"]}}}, "different sizes"),
        ({"buffers": {"x": {"bytes": 16}, "all": {"multicast": ["z"]}}}, "unknown buffer"),
        ({"buffers": {"x": {"bytes": 16}, "all": {"multicast": []}}}, "list of buffers"),
    ],
)
def test_launch_mistakes(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Fa4dslError, match=words) as caught:
        load_launch(described(tmp_path, **changes))
    assert caught.value.code == "S009"


def run_multicast(body: str, one: np.ndarray, two: np.ndarray, threads: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, Report]:
    """[all] stands for the buffers one and two; [o] is an output of 64 bytes."""
    ptx = f"""{HEAD}.visible .entry k(.param .u64 all, .param .u64 o) {{ .reg .b32 r<16>; .reg .b64 d<8>; .reg .pred p;
ld.param.u64 d0, [all]; ld.param.u64 d1, [o];
{body}
ret; }}"""
    buffers = {name: np.frombuffer(array.tobytes(), np.uint8).copy() for name, array in (("one", one), ("two", two))}
    buffers |= {"all": np.zeros(len(buffers["one"]), np.uint8), "o": np.zeros(64, np.uint8)}
    described_launch = Launch(
        "k",
        (1, 1, 1),
        (threads, 1, 1),
        buffers=buffers,
        arguments=[PointerArgument("all"), PointerArgument("o")],
        multicast={"all": ("one", "two")},
    )
    report = simulate(ptx, described_launch)
    return buffers["o"], buffers["one"], buffers["two"], report


def test_multimem_reduces_over_all_copies() -> None:
    one, two = np.array([3, 0xF0F0, 7, 9], np.uint32), np.array([5, 0xFF00, 4, 0xFFFFFFFF], np.uint32)
    body = """
multimem.ld_reduce.relaxed.sys.global.add.u32 r0, [d0]; st.global.u32 [d1], r0;
multimem.ld_reduce.weak.global.and.b32 r0, [d0+4]; st.global.u32 [d1+4], r0;
multimem.ld_reduce.global.min.u32 r0, [d0+8]; st.global.u32 [d1+8], r0;
multimem.ld_reduce.global.max.s32 r0, [d0+12]; st.global.u32 [d1+12], r0;
"""
    o, _, _, report = run_multicast(body, one, two)
    assert report.verdict == "clean", report.text()
    assert o.view(np.uint32)[:4].tolist() == [8, 0xF000, 4, 9]


def test_multimem_sums_of_halves() -> None:
    """2049 is no f16: a sum in f16 rounds it to 2048; one in f32 ends there as well, but 1 + 2048 + 1 would not."""
    one, two = np.array([2048, 0.5, -3, 8], np.float16), np.array([1, 0.25, 3, 1000], np.float16)
    body = """
multimem.ld_reduce.global.add.v2.f16x2 {r0, r1}, [d0]; st.global.v2.u32 [d1], {r0, r1};
multimem.ld_reduce.global.add.acc::f32.v2.f16x2 {r0, r1}, [d0]; st.global.v2.u32 [d1+8], {r0, r1};
"""
    o, _, _, report = run_multicast(body, one, two)
    assert report.verdict == "clean", report.text()
    assert o.view(np.float16)[:8].tolist() == [2048, 0.75, 0, 1008] * 2


def test_multimem_reaches_every_copy() -> None:
    one, two = np.array([1, 2, 3, 4], np.float32), np.array([10, 20, 30, 40], np.float32)
    body = """
mov.f32 r0, 0f3F800000; mov.f32 r1, 0f40000000;
multimem.st.relaxed.sys.global.v2.f32 [d0], {r0, r1};
multimem.red.release.gpu.global.add.f32 [d0+8], r1;
"""
    _, first, second, report = run_multicast(body, one, two)
    assert report.verdict == "clean", report.text()
    assert first.view(np.float32).tolist() == [1, 2, 5, 4]
    assert second.view(np.float32).tolist() == [1, 2, 32, 40]


def test_multimem_is_checked() -> None:
    """Stores by several threads race, reductions do not; an ordinary access finds no memory at a multicast address."""
    words = np.zeros(4, np.uint32)
    assert codes(run_multicast("mov.u32 r0, %tid.x; multimem.st.global.u32 [d0], r0;", words, words, 32)[3]) == ["S026"]
    _, first, second, report = run_multicast("multimem.red.global.add.u32 [d0], 1;", words, words, 32)
    assert report.verdict == "clean", report.text()
    assert first.view(np.uint32)[0] == second.view(np.uint32)[0] == 32
    assert codes(run_multicast("ld.global.u32 r0, [d0];", words, words)[3]) == ["S010"]
    assert codes(run_multicast("multimem.red.global.add.u32 [d1], 1;", words, words)[3]) == ["S064"]
    assert codes(run_multicast("multimem.red.global.add.u32 [d0+2], 1;", words, words)[3]) == ["S011"]


STACK = """
.func (.param .b32 result) sum(.param .b32 count)
{
    .reg .pred %p; .reg .b32 %n, %i, %x, %total; .reg .b64 %size, %block, %at;
    ld.param.u32 %n, [count];
    mul.wide.u32 %size, %n, 4;
    alloca.u64 %block, %size, 16;
    mov.u32 %i, 0;
    mov.u64 %at, %block;
fill:
    st.local.u32 [%at], %i; add.u64 %at, %at, 4; add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n; @%p bra fill;
    mov.u32 %total, 0;
add:
    sub.u64 %at, %at, 4; ld.local.u32 %x, [%at]; add.u32 %total, %total, %x; sub.u32 %i, %i, 1;
    setp.ne.u32 %p, %i, 0; @%p bra add;
    st.param.b32 [result], %total;
    ret;
}
"""


def test_alloca_ends_with_its_function() -> None:
    """Six calls of 4 kB each take the same memory; every thread has a stack of its own size."""
    body = """
.reg .b32 %call, %all; .reg .pred %more;
mov.u32 %call, 0; mov.u32 %all, 0;
again:
{ .param .b32 n; .param .b32 s; add.u32 %r5, %r1, 1000; st.param.b32 [n], %r5; call (s), sum, (n); ld.param.b32 %r6, [s]; }
add.u32 %all, %all, %r6; add.u32 %call, %call, 1; setp.lt.u32 %more, %call, 6; @%more bra again;
st.global.u32 [%rd3], %all;
"""
    words, report = run(body, before=STACK, check=True)
    assert report.verdict == "clean", report.text()
    assert words.tolist() == [6 * sum(range(1000 + thread)) for thread in range(32)]


def test_stackrestore_gives_back() -> None:
    body = """
stacksave.u64 %rd4; alloca.u64 %rd5, 100, 64; alloca.u64 %rd6, 8; stackrestore.u64 %rd4; alloca.u64 %rd7, 8, 64;
and.b64 %rd8, %rd5, 63; cvt.u32.u64 %r5, %rd8; sub.u64 %rd8, %rd6, %rd5; cvt.u32.u64 %r6, %rd8; setp.eq.u64 %p1, %rd5, %rd7;
selp.u32 %r7, 1, 0, %p1; shl.b32 %r6, %r6, 8; or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; st.global.u32 [%rd3], %r5;
"""
    words, report = run(body, check=True)
    assert report.verdict == "clean", report.text()
    # aligned to 64; the second lies 104 bytes behind it (8-byte steps); the third takes the first one's place
    assert (words == (0 | 104 << 8 | 1)).all()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("alloca.u64 %rd4, 20000, 8;", "S063"),
        ("mov.u64 %rd5, -8; alloca.u64 %rd4, %rd5;", "S063"),
        ("stacksave.u64 %rd4; add.u64 %rd4, %rd4, 64; stackrestore.u64 %rd4;", "S063"),
        ("alloca.u64 %rd4, 8; ld.local.u32 %r5, [%rd4]; st.global.u32 [%rd3], %r5;", "S101"),
        ("alloca.u64 %rd4, 8; stackrestore.u64 %rd4; alloca.u64 %rd4, 20000;", "S063"),
    ],
)
def test_stack_faults(body: str, code: str) -> None:
    _, report = run(body, check=True)
    assert codes(report) == [code]


HEAP = ".extern .func (.param .b64 result) malloc(.param .b64 size);\n.extern .func free(.param .b64 pointer);\n"
MALLOC = "{{ .param .b64 n; .param .b64 g; st.param.b64 [n], {size}; call (g), malloc, (n); ld.param.b64 {to}, [g]; }}\n"
FREE = "{{ .param .b64 q; st.param.b64 [q], {pointer}; call free, (q); }}\n"


def test_malloc_gives_each_thread_its_own() -> None:
    body = (
        MALLOC.format(size=64, to="%rd4")
        + "st.u32 [%rd4+60], %r1; ld.u32 %r5, [%rd4+60]; st.global.u32 [%rd3], %r5;"
        + FREE.format(pointer="%rd4")
    )
    words, report = run(body, before=HEAP, check=True)
    assert report.verdict == "clean", report.text()
    assert words.tolist() == list(range(32))


def test_malloc_without_memory_is_null() -> None:
    body = MALLOC.format(size=1 << 30, to="%rd4") + "cvt.u32.u64 %r5, %rd4; st.global.u32 [%rd3], %r5;" + FREE.format(pointer="%rd4")
    words, report = run(body, before=HEAP, check=True)
    assert report.verdict == "clean", report.text()
    assert (words == 0).all()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("st.u32 [%rd4+64], %r1;", "S010"),
        (FREE.format(pointer="%rd4") + "st.u32 [%rd4], %r1;", "S010"),
        (FREE.format(pointer="%rd4") + FREE.format(pointer="%rd4"), "S065"),
        (FREE.format(pointer="%rd3"), "S065"),
    ],
)
def test_heap_faults(body: str, code: str) -> None:
    _, report = run(MALLOC.format(size=64, to="%rd4") + body, threads=1, before=HEAP, check=True)
    assert codes(report) == [code]


@pytest.mark.parametrize(
    ("target", "version", "line", "code", "words"),
    [
        ("sm_70", "8.6", "redux.sync.add.u32 %r5, %r1, -1;", "S061", "sm_80"),
        ("sm_90", "8.6", "wgmma.fence.sync.aligned;", "S061", "sm_90a"),
        ("sm_80", "8.6", "mov.u32 %r5, %cluster_ctarank;", "S061", "sm_90"),
        ("sm_90a", "8.0", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r6, [%r7];", "S062", "8.1"),
        (
            "sm_90a",
            "8.3",
            "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, %r3, 0;",
            "S062",
            "8.5",
        ),
    ],
)
def test_older_targets_and_versions(target: str, version: str, line: str, code: str, words: str) -> None:
    text = kernel(line, version=version).replace("sm_90a", target)
    with pytest.raises(Fa4dslError, match=words) as caught:
        simulate(text, launch())
    assert caught.value.code == code


def test_a_target_needs_its_version() -> None:
    with pytest.raises(Fa4dslError, match=r"\.target sm_90a needs PTX ISA 8\.0, the file says \.version 7\.8") as caught:
        parse(".version 7.8\n.target sm_90a\n.address_size 64\n")
    assert caught.value.code == "S062"


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_90a"])
def test_newer_targets_serve(target: str) -> None:
    report = simulate(kernel("redux.sync.add.u32 %r5, %r1, -1; st.global.u32 [%rd3], %r5;").replace("sm_90a", target), launch())
    assert report.verdict == "clean", report.text()


def test_directives_may_stick_together() -> None:
    """cuda_bf16.h's inline PTX says ``.reg.b16`` without a blank."""
    words, report = run("{ .reg.b16 i,r; .reg.b32 t; cvt.u16.u32 i, %r1; mov.b16 r, i; mov.b32 t, {i, r}; st.global.u32 [%rd3], t; }")
    assert report.verdict == "clean"
    assert words.tolist() == [thread << 16 | thread for thread in range(32)]
    module = parse(f"{HEAD}.shared.align 16 .b8 tile[64];\n.visible.entry k() {{ ret; }}")
    assert module.variables["tile"].alignment == 16


def test_modifiers_in_another_order() -> None:
    """ptxas takes them in any order."""
    words, report = run("mov.f32 %f1, 0f3FC00000; add.f32.rn %f2, %f1, %f1; mul.f32.ftz.rn %f2, %f2, %f1; st.global.f32 [%rd3], %f2;")
    assert report.verdict == "clean"
    assert (words.view(np.float32) == 4.5).all()


@pytest.mark.parametrize(
    "line",
    [
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];",
        "suld.b.1d.b32.zero {%r5}, [%rd1, {%r1}];",
        "txq.width.b32 %r5, [%rd1];",
        "tcgen05.wait::ld.sync.aligned;",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];",
    ],
)
def test_what_is_not_modelled_is_named(line: str) -> None:
    report = simulate(kernel(line), launch())
    assert report.verdict == "incomplete"
    assert line.split(" ")[0].rstrip(";") in report.findings[0].diagnostic.message
    assert report.findings[0].diagnostic.frames[0].location.line


def test_aliases_of_functions() -> None:
    """A second name, called directly and through a table of addresses."""
    before = """.func (.param .b32 y) once(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, 7; st.param.b32 [y], a; ret; }
.func (.param .b32 y) again(.param .b32 x);
.alias again, once;
.global .align 8 .u64 table[1] = {again};"""
    body = """
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), again, (x); ld.param.b32 %r5, [y]; }
mov.u64 %rd4, table; cvta.global.u64 %rd4, %rd4; ld.global.u64 %rd5, [%rd4];
{ how: .callprototype (.param .b32 _) _ (.param .b32 _);
  .param .b32 x; .param .b32 y; st.param.b32 [x], %r5; call (y), %rd5, (x), how; ld.param.b32 %r5, [y]; }
st.global.u32 [%rd3], %r5;
"""
    words, report = run(body, before=before)
    assert report.verdict == "clean", report.text()
    assert words.tolist() == [thread + 14 for thread in range(32)]


def test_wmma_is_checked() -> None:
    """The accesses of wmma.load and wmma.store are each lane's own: shared memory that another warp wrote needs a barrier."""
    body = """
    mov.u32 %r5, tile; shl.b32 %r6, %r1, 4; add.u32 %r7, %r5, %r6; mov.b32 %r8, 0; st.shared.v4.b32 [%r7], {{%r8, %r8, %r8, %r8}};
    {meet}
    setp.lt.u32 %p1, %r1, 32; @!%p1 bra done;
    wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}}, [tile];
    wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1], {{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}};
done:
"""
    before = ".shared .align 128 .b8 tile[1024];"
    _, report = run(body.format(meet="bar.sync 0;"), threads=64, words=256, before=before, check=True)
    assert report.verdict == "clean", report.text()
    _, report = run(body.format(meet=""), threads=64, words=256, before=before, check=True)
    assert codes(report) == ["S020"]
    _, report = run(body.format(meet="bar.sync 0;"), threads=64, words=255, before=before, check=True)
    assert codes(report) == ["S010"]
