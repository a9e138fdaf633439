"""Loads, stores, atomics, addresses, and the faults of bad ones."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernels import codes, run


def test_sign_and_zero_extension() -> None:
    body = """
    .shared .align 8 .b8 s[128];
    mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6;
    sub.s32 %r7, %r1, 16; st.shared.u32 [%r5], %r7;
    ld.shared.s8 %r8, [%r5]; ld.shared.u8 %r9, [%r5]; ld.shared.s16 %r10, [%r5]; ld.shared.s32 %rd5, [%r5];
    cvt.u32.u64 %r12, %rd5; shr.u64 %rd5, %rd5, 32; cvt.u32.u64 %r11, %rd5;
    add.u32 %r8, %r8, %r9; add.u32 %r8, %r8, %r10; add.u32 %r8, %r8, %r11; add.u32 %r8, %r8, %r12;
    st.global.u32 [%rd3], %r8;
    """
    out, report = run(body)
    t = np.arange(32) - 16
    expected = t + (t & 255) + t + np.where(t < 0, -1, 0) + t
    assert report.verdict == "clean"
    assert (out == expected.astype(np.uint32)).all()


def test_vectors_and_narrow_stores() -> None:
    body = """
    .shared .align 16 .b8 s[1024];
    mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.u32 %r5, %r5, %r6;
    mov.u32 %r7, 0x11223344;
    st.shared.v4.u32 [%r5], {%r1, %r7, %r2, %r4};
    st.shared.u8 [%r5+4], %r1; st.shared.u16 [%r5+6], %r1;
    ld.shared.v2.u64 {%rd5, %rd6}, [%r5];
    shr.u64 %rd5, %rd5, 32; cvt.u32.u64 %r8, %rd5; st.global.u32 [%rd3], %r8;
    """
    out, _ = run(body)
    t = np.arange(32)
    assert (out == (t << 16 | 0x3300 | t)).all()


def test_128_bit_registers() -> None:
    body = """
    .reg .b128 %q<3>; .shared .align 16 .b8 s[512];
    mov.u32 %r5, s; shl.b32 %r6, %r1, 4; add.u32 %r5, %r5, %r6;
    cvt.u64.u32 %rd5, %r1; mov.u64 %rd6, 7; mov.b128 %q1, {%rd5, %rd6};
    st.shared.b128 [%r5], %q1; ld.shared.b128 %q2, [%r5]; mov.b128 {%rd7, %rd8}, %q2;
    add.u64 %rd7, %rd7, %rd8; cvt.u32.u64 %r7, %rd7; st.global.u32 [%rd3], %r7;
    """
    out, _ = run(body)
    assert (out == np.arange(32) + 7).all()


def test_generic_addresses_of_every_window() -> None:
    body = """
    .shared .align 4 .b8 s[128]; .local .align 4 .b8 l[8];
    mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; cvt.u64.u32 %rd5, %r5; cvta.shared.u64 %rd5, %rd5;
    mov.u64 %rd6, l; cvta.local.u64 %rd6, %rd6; mov.u64 %rd7, out; cvta.param.u64 %rd7, %rd7; mov.u64 %rd8, c; cvta.const.u64 %rd8, %rd8;
    st.u32 [%rd5], 5; st.u32 [%rd6+4], %r1;
    ld.shared.u32 %r8, [%r5]; ld.u32 %r9, [%rd6+4]; ld.u64 %rd9, [%rd7]; ld.u32 %r10, [%rd8];
    sub.u64 %rd9, %rd9, %rd1; cvt.u32.u64 %r11, %rd9;
    isspacep.shared %p1, %rd5; isspacep.local %p2, %rd6; isspacep.global %p3, %rd1; isspacep.shared %p4, %rd6; isspacep.const %p5, %rd8;
    selp.u32 %r12, 100, 0, %p1; selp.u32 %r13, 200, 0, %p2; selp.u32 %r14, 400, 0, %p3; selp.u32 %r15, 10000, 0, %p4; selp.u32 %r16, 800, 0, %p5;
    add.u32 %r8, %r8, %r9; add.u32 %r8, %r8, %r10; add.u32 %r8, %r8, %r11;
    add.u32 %r8, %r8, %r12; add.u32 %r8, %r8, %r13; add.u32 %r8, %r8, %r14; add.u32 %r8, %r8, %r15; add.u32 %r8, %r8, %r16;
    setp.lt.u32 %p6, %r1, 16; selp.b64 %rd10, %rd5, %rd6, %p6; st.u32 [%rd10], %r8;
    @%p6 ld.shared.u32 %r8, [%r5]; @!%p6 ld.local.u32 %r8, [l];
    st.u32 [%rd3], %r8;
    """
    out, report = run(body, before=".const .u32 c = 3;")
    assert report.verdict == "clean", report.text()
    assert (out == 5 + np.arange(32) + 3 + 1500).all()


@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_peer_addresses(schedule: str) -> None:
    """mapa, getctarank, isspacep and a shared::cta address used as a cluster one."""
    body = """
    .shared .align 4 .b8 s[128];
    mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; add.u32 %r7, %r4, 1000; st.shared.u32 [%r5], %r7;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r8, %cluster_ctarank; xor.b32 %r9, %r8, 1;
    mapa.shared::cluster.u32 %r10, %r5, %r9; ld.shared::cluster.u32 %r11, [%r10];
    ld.shared::cluster.u32 %r12, [%r5]; getctarank.shared::cluster.u32 %r13, %r10;
    cvt.u64.u32 %rd5, %r5; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r9; ld.u32 %r14, [%rd6];
    isspacep.shared %p1, %rd6; isspacep.shared::cluster %p2, %rd6; selp.u32 %r15, 1, 0, %p1; selp.u32 %r16, 2, 0, %p2;
    sub.u32 %r11, %r11, %r14; sub.u32 %r12, %r12, %r7; xor.b32 %r13, %r13, %r9;
    or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, %r13; or.b32 %r11, %r11, %r15; or.b32 %r11, %r11, %r16;
    shl.b32 %r14, %r14, 4; or.b32 %r11, %r11, %r14; st.global.u32 [%rd3], %r11;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    out, report = run(body, blocks=4, cluster=2, schedule=schedule, check=True)
    assert report.verdict == "clean", report.text()
    peer = np.arange(128).reshape(2, 2, 32)[:, ::-1].reshape(-1) + 1000
    assert (out == peer << 4 | 2).all()


ATOMICS = [
    ("atom.global.add.u32 %r5, [%rd1], 3;", 3 * 32, sorted(range(0, 96, 3))),
    ("atom.global.inc.u32 %r5, [%rd1], 4;", 32 % 5, sorted([0, 1, 2, 3, 4] * 6 + [0, 1])),
    ("atom.global.max.s32 %r5, [%rd1], %r1;", 31, None),
    ("atom.global.cas.b32 %r5, [%rd1], 0, %r4;", 1, None),
    ("atom.global.exch.b32 %r5, [%rd1], %r1;", 31, None),
    ("red.global.add.u32 [%rd1], 2; mov.u32 %r5, 0;", 64, None),
    ("red.relaxed.gpu.global.or.b32 [%rd1], %r1; mov.u32 %r5, 0;", 31, None),
    ("mov.f32 %f1, 0f3F800000; atom.global.add.f32 %f2, [%rd1], %f1; mov.b32 %r5, %f2;", 0x42000000, None),
    ("mov.b32 %r6, 0x3c003c00; atom.global.add.noftz.f16x2 %r5, [%rd1], %r6;", 0x50005000, None),
]


@pytest.mark.parametrize(("text", "final", "returned"), ATOMICS)
def test_atomics_take_turns(text: str, final: int, returned: list[int] | None) -> None:
    body = (
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], 0; bar.sync 0; add.u32 %r4, %r4, 1;"
        + text
        + "bar.sync 0; add.u64 %rd3, %rd3, 4; st.global.u32 [%rd3], %r5;"
    )
    out, report = run(body, words=33)
    assert report.verdict == "clean", report.text()
    assert out[0] == final
    if returned is not None:
        assert sorted(out[1:].tolist()) == returned


def test_vector_atomics() -> None:
    body = """
    mov.b32 %f1, 0f3F800000; mov.b32 %f2, 0f40000000;
    red.global.add.v2.f32 [%rd1], {%f1, %f2};
    """
    described, report = run("st.global.v2.u32 [%rd1], {0, 0}; bar.sync 0;" + body.replace("mov.b32", "mov.f32"), words=2)
    assert report.verdict == "clean", report.text()
    assert described.view(np.float32).tolist() == [32.0, 64.0]


FAULTS = [
    ("st.global.u32 [%rd3+4096], %r1;", "S010"),
    ("st.global.u32 [%rd1+1], %r1;", "S011"),
    ("mov.u64 %rd4, 0; ld.global.u32 %r5, [%rd4];", "S010"),
    ("mov.u64 %rd4, 8; ld.u32 %r5, [%rd4];", "S010"),
    (".shared .b8 s[64]; mov.u32 %r5, s; st.shared.u32 [%r5+64], %r1;", "S010"),
    (".shared .b8 s[64]; mov.u32 %r5, 16; st.shared.u32 [%r5], %r1;", "S010"),
    (".shared .align 16 .b8 s[64]; mov.u32 %r5, s; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5+8];", "S011"),
    (".local .align 4 .b8 l[8]; mov.u64 %rd4, l; st.local.u32 [%rd4+8], %r1;", "S010"),
    ("trap;", "S013"),
    (".shared .align 8 .b8 s[64]; mov.u32 %r5, s; mapa.shared::cluster.u32 %r6, %r5, 1;", "S016"),
]


@pytest.mark.parametrize(("text", "code"), FAULTS)
@pytest.mark.parametrize("check", [False, True])
def test_faults(text: str, code: str, check: bool) -> None:
    _, report = run(text, check=check)
    assert report.verdict == "error"
    assert code in codes(report)
    finding = next(f for f in report.findings if f.diagnostic.code == code)
    assert "thread 0 of block (0, 0, 0)" in finding.diagnostic.message


def test_out_of_bounds_names_the_buffer() -> None:
    _, report = run("st.global.u32 [%rd3+4], %r1;")
    message = report.findings[0].diagnostic.message
    assert "thread 31" in message
    assert "4 bytes past the end of 'out' (128 bytes)" in message


def test_unwritten_local_memory_is_reviewed() -> None:
    _, report = run(".local .align 4 .b8 l[8]; ld.local.u32 %r5, [l]; st.global.u32 [%rd3], %r5;", check=True)
    assert codes(report) == ["S101"]
    assert report.verdict == "review"


def test_shared_layout_with_dynamic_part() -> None:
    body = """
    .shared .align 4 .b8 small[4];
    mov.u32 %r5, small; mov.u32 %r6, big; mov.u32 %r7, %dynamic_smem_size; mov.u32 %r8, %total_smem_size;
    rem.u32 %r9, %r6, 1024; sub.u32 %r10, %r6, %r5; shl.b32 %r10, %r10, 8; or.b32 %r9, %r9, %r10; add.u32 %r9, %r9, %r7; st.global.u32 [%rd3], %r9;
    """
    out, _ = run(body, before=".extern .shared .align 1024 .b8 big[];", dynamic=64)
    assert (out == (1024 << 8) + 64).all()
