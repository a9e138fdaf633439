"""What the measures count, against counts made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, TensorMapArgument
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import TensorMapDescription

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out{parameters}) {{
.reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b16 %h<8>;
.shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 bar;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, bar;
setp.eq.u32 %p1, %r1, 0;
"""


def measure(
    body: str, threads: int = 32, blocks: int = 1, cluster: int = 1, tensor_map: TensorMapDescription | None = None, **options: Any
) -> dict[str, Any]:
    """The counts of a kernel body; %r1 thread, %r2 shared array, %r3 rank, %r4 mbarrier, %rd1 output, %p1 thread 0."""
    parameters = ", .param .align 64 .b8 map[128]" if tensor_map is not None else ""
    arguments: list[Any] = [PointerArgument("out")]
    if tensor_map is not None:
        arguments.append(TensorMapArgument(tensor_map, "out"))
    launch = Launch("k", (blocks, 1, 1), (threads, 1, 1), (cluster, 1, 1), 0, {"out": np.zeros(65536, np.uint8)}, arguments)
    report = simulate(HEAD.format(parameters=parameters) + body + "ret;\n}\n", launch, measure=True, check=False, **options)
    assert report.verdict == "clean", report.text()
    found: dict[str, Any] = report.measures.as_dict()
    return found


def shared_line(body: str, threads: int = 32) -> tuple[int, int, int]:
    """(requests, wavefronts, conflicts) of the one line that touches shared memory."""
    (line,) = measure(body, threads)["bank_conflicts"]
    return line["requests"], line["wavefronts"], line["conflicts"]


@pytest.mark.parametrize(
    ("stride", "wavefronts"),
    # lanes at a stride of w words: gcd(w, 32) of them share a bank
    [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1), (48, 16)],
)
def test_strided_words(stride: int, wavefronts: int) -> None:
    body = f"mad.lo.u32 %r5, %r1, {4 * stride}, %r2; ld.shared.u32 %r6, [%r5];"
    assert shared_line(body) == (1, wavefronts, wavefronts - 1)


def test_lanes_that_share_a_word_do_not_conflict() -> None:
    assert shared_line("ld.shared.u32 %r6, [%r2];") == (1, 1, 0)
    pairs = "shr.u32 %r5, %r1, 1; mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r6, [%r5];"
    assert shared_line(pairs) == (1, 1, 0)


def test_bytes_of_one_word() -> None:
    """32 neighbouring bytes are 8 words; bytes 128 apart are in one bank."""
    assert shared_line("add.u32 %r5, %r1, %r2; ld.shared.u8 %r6, [%r5];") == (1, 1, 0)
    assert shared_line("mad.lo.u32 %r5, %r1, 128, %r2; ld.shared.u8 %r6, [%r5];") == (1, 32, 31)


def test_eight_bytes_go_by_half_warps() -> None:
    """Neighbours: 16 lanes fill 32 banks. At a stride of 16 bytes, lane i and lane i + 8 of a half warp meet. At 128 bytes all 16 do."""
    load = "ld.shared.v2.u32 {%r6, %r7}, [%r5];"
    assert shared_line(f"mad.lo.u32 %r5, %r1, 8, %r2; {load}") == (1, 2, 0)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 16, %r2; {load}") == (1, 4, 2)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 128, %r2; {load}") == (1, 32, 30)


def test_sixteen_bytes_go_by_quarter_warps() -> None:
    """Neighbours: 8 lanes fill 32 banks. At 32 bytes, lanes i and i + 4 of a quarter meet; at 128 bytes all 8 do; at 144 bytes (a padded row) none."""
    load = "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];"
    assert shared_line(f"mad.lo.u32 %r5, %r1, 16, %r2; {load}") == (1, 4, 0)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 32, %r2; {load}") == (1, 8, 4)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 128, %r2; {load}") == (1, 32, 28)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 144, %r2; {load}") == (1, 4, 0)
    assert shared_line(f"mov.u32 %r5, %r2; {load}") == (1, 4, 0)


def test_a_swizzle_spreads_a_column() -> None:
    """Column 0 of rows of 128 bytes, 16 bytes a lane: with the 128-byte swizzle chunk c of row r lies at c ^ (r % 8)."""
    column = "shl.b32 %r5, %r1, 7; and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; xor.b32 %r5, %r5, %r6; add.u32 %r5, %r5, %r2;"
    assert shared_line(f"{column} ld.shared.v4.u32 {{%r6, %r7, %r8, %r9}}, [%r5];") == (1, 4, 0)


def test_only_active_lanes_count() -> None:
    """Lanes 0 to 7 with 16 bytes: one quarter warp."""
    body = "setp.lt.u32 %p2, %r1, 8; mad.lo.u32 %r5, %r1, 128, %r2; @%p2 ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];"
    assert shared_line(body) == (1, 8, 7)


def test_warps_and_blocks_do_not_meet() -> None:
    body = "mad.lo.u32 %r5, %r1, 4, %r2; st.shared.u32 [%r5], %r1;"
    assert shared_line(body, threads=128) == (4, 4, 0)
    (line,) = measure(body, threads=128, blocks=3)["bank_conflicts"]
    assert (line["requests"], line["wavefronts"], line["bytes"]) == (12, 12, 3 * 512)


def test_matrix_rows() -> None:
    """ldmatrix.x4 reads four matrices of 8 rows: rows 16 bytes apart fill the banks, rows 128 bytes apart are all in the same four."""
    load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5];"
    assert shared_line(f"mad.lo.u32 %r5, %r1, 16, %r2; {load}") == (1, 4, 0)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 128, %r2; {load}") == (1, 32, 28)
    assert shared_line(f"mad.lo.u32 %r5, %r1, 128, %r2; {load.replace('x4', 'x1').replace(', %r7, %r8, %r9', '')}") == (1, 8, 7)


@pytest.mark.parametrize(
    ("address", "access", "sectors", "distinct"),
    [
        ("mul.wide.u32 %rd2, %r1, 4;", "ld.global.u32 %r6, [%rd2];", 4, 128),
        ("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, 4;", "ld.global.u32 %r6, [%rd2];", 5, 128),
        ("mul.wide.u32 %rd2, %r1, 16;", "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd2];", 16, 512),
        ("mul.wide.u32 %rd2, %r1, 32;", "st.global.u32 [%rd2], %r1;", 32, 128),
        ("mul.wide.u32 %rd2, %r1, 128;", "ld.global.v2.u32 {%r6, %r7}, [%rd2];", 32, 256),
        ("mov.u64 %rd2, 0;", "ld.global.u32 %r6, [%rd2];", 1, 4),
    ],
)
def test_sectors(address: str, access: str, sectors: int, distinct: int) -> None:
    (line,) = measure(f"{address} add.u64 %rd2, %rd2, %rd1; {access}")["global_requests"]
    assert (line["requests"], line["sectors"], line["distinct_bytes"]) == (1, sectors, distinct)


def test_bytes_by_warp_and_direction() -> None:
    """Warp 1 alone stores; every thread adds to one word."""
    body = "setp.ge.u32 %p2, %r1, 32; mad.lo.u32 %r5, %r1, 4, %r2; @%p2 st.shared.u32 [%r5], %r1; red.shared.add.u32 [%r2], 1;"
    found = measure(body, threads=64)
    assert found["bytes"] == {"shared.atomic": 256, "shared.write": 128}
    assert found["bytes_by_warp"] == {"shared.atomic": [128, 128], "shared.write": [0, 128]}


CLUSTER = "barrier.cluster.arrive; barrier.cluster.wait;"
PEER = "xor.b32 %r7, %r3, 1; mapa.shared::cluster.u32 %r8, %r2, %r7;"


def test_reads_and_writes_between_blocks() -> None:
    """Rank 0 reads 128 bytes of rank 1 and writes 256 there; its own bytes through the cluster window are shared memory."""
    body = f"""{CLUSTER} {PEER} mad.lo.u32 %r9, %r1, 8, %r8; setp.eq.u32 %p2, %r3, 0; mapa.shared::cluster.u32 %r10, %r2, %r3;
    @%p2 ld.shared::cluster.u32 %r11, [%r8]; @%p2 st.shared::cluster.v2.u32 [%r9], {{%r1, %r1}}; @%p2 st.shared::cluster.u32 [%r10], %r1; {CLUSTER}"""
    found = measure(body, blocks=2, cluster=2)
    assert found["dsmem_reads"] == [[0, 128], [0, 0]]
    assert found["dsmem_writes"] == [[0, 256], [0, 0]]
    assert found["dsmem_traffic"] == [[0, 384], [0, 0]]
    assert found["bytes"] == {"dsmem.read": 128, "dsmem.write": 256, "shared.write": 128}


def test_lanes_of_one_store_that_go_to_two_blocks() -> None:
    """Even lanes stay at home, odd ones go to the peer: half the bytes each, and both halves have banks of their own."""
    body = f"""{CLUSTER} and.b32 %r7, %r1, 1; mapa.shared::cluster.u32 %r8, %r2, %r7; shr.u32 %r9, %r1, 1; mad.lo.u32 %r9, %r9, 4, %r8;
    setp.eq.u32 %p2, %r3, 0; @%p2 st.shared::cluster.u32 [%r9], %r1; {CLUSTER}"""
    found = measure(body, blocks=2, cluster=2)
    assert found["bytes"] == {"dsmem.write": 64, "shared.write": 64}
    assert found["dsmem_writes"] == [[0, 64], [0, 0]]
    assert found["bank_conflicts"][0]["conflicts"] == 0


INIT = "@%p1 mbarrier.init.shared.b64 [%r4], {count}; fence.mbarrier_init.release.cluster; bar.sync 0;"
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra W;"


def test_arrivals_at_a_peer() -> None:
    body = f"""{INIT.format(count=64)} {CLUSTER} mapa.shared::cluster.u32 %r8, %r4, 0; mapa.shared::cluster.u32 %r9, %r4, 1;
    mbarrier.arrive.shared::cluster.b64 _, [%r8]; mbarrier.arrive.shared::cluster.b64 _, [%r9]; {WAIT} {CLUSTER}"""
    assert measure(body, blocks=2, cluster=2)["remote_arrivals"] == [[0, 32], [32, 0]]


def test_bulk_push_and_st_async_are_traffic_between_blocks() -> None:
    """Rank 0 pushes 512 bytes and 4 more to rank 1."""
    body = f"""{INIT.format(count=1)} {CLUSTER} mapa.shared::cluster.u32 %r8, %r2, 1; mapa.shared::cluster.u32 %r9, %r4, 1; add.u32 %r10, %r8, 1024;
    setp.eq.u32 %p2, %r3, 0; setp.eq.and.u32 %p4, %r1, 0, %p2; setp.ne.u32 %p5, %r3, 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 516; {CLUSTER}
    @%p4 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r2], 512, [%r9];
    @%p4 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %r1, [%r9];
    @%p5 bra C; bra D; C: {WAIT} D: {CLUSTER}"""
    found = measure(body, blocks=2, cluster=2)
    assert found["dsmem_writes"] == [[0, 516], [0, 0]]
    assert found["bytes"]["dsmem.async.write"] == 516
    assert found["bytes"]["shared.async.read"] == 512
    assert found["multicast_traffic"] == [[0, 0], [0, 0]]


MAP = TensorMapDescription("f32", (32, 64), (128,), (32, 8), (1, 1))


def test_tma_load_and_multicast() -> None:
    """A box of 8 x 32 f32 (1024 bytes) is read once and lands in both blocks: the peer's part is multicast, not traffic between blocks."""
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    begin = f"{INIT.format(count=1)} {CLUSTER} @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 1024; {CLUSTER} mov.u64 %rd4, map; cvta.param.u64 %rd3, %rd4; mov.u32 %r5, 0; mov.u16 %h1, 3;"
    alone = measure(f"{begin} @%p1 {copy} [%r2], [%rd3, {{%r5, %r5}}], [%r4]; {WAIT} {CLUSTER}", blocks=2, cluster=2, tensor_map=MAP)
    assert alone["bytes"]["global.async.read"] == alone["bytes"]["shared.async.write"] == 2048
    assert alone["multicast_traffic"] == [[0, 0], [0, 0]]
    both = f"{begin} setp.eq.and.u32 %p4, %r3, 0, %p1; @%p4 {copy}.multicast::cluster [%r2], [%rd3, {{%r5, %r5}}], [%r4], %h1; {WAIT} {CLUSTER}"
    found = measure(both, blocks=2, cluster=2, tensor_map=MAP)
    assert found["bytes"]["global.async.read"] == 1024
    assert found["bytes"]["shared.async.write"] == 2048
    assert found["multicast_traffic"] == [[0, 1024], [0, 0]]
    assert found["dsmem_traffic"] == [[0, 0], [0, 0]]


def test_a_box_over_the_edge_reads_only_what_is_there() -> None:
    """Rows 60 to 67 of 64: four rows are read, all eight are written (with zeros)."""
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3, {%r5, %r6}], [%r4]"
    body = f"{INIT.format(count=1)} @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 1024; mov.u64 %rd4, map; cvta.param.u64 %rd3, %rd4; mov.u32 %r5, 0; mov.u32 %r6, 60; @%p1 {copy}; {WAIT}"
    found = measure(body, tensor_map=MAP)
    assert (found["bytes"]["global.async.read"], found["bytes"]["shared.async.write"]) == (512, 1024)


def test_cp_async_counts_what_it_reads_and_what_it_fills() -> None:
    """16 bytes a lane, of which the odd lanes read only 4: 16 x 16 + 16 x 4 bytes."""
    body = """mul.wide.u32 %rd2, %r1, 32; add.u64 %rd2, %rd2, %rd1; mad.lo.u32 %r5, %r1, 16, %r2; and.b32 %r6, %r1, 1; mov.u32 %r7, 16;
    setp.eq.u32 %p2, %r6, 1; @%p2 mov.u32 %r7, 4; cp.async.cg.shared.global [%r5], [%rd2], 16, %r7; cp.async.wait_all;"""
    found = measure(body)
    assert found["bytes"] == {"global.async.read": 320, "shared.async.write": 512}
    assert found["global_requests"][0]["sectors"] == 32


def test_instructions_are_counted_by_warp_and_class() -> None:
    """Warp 0 runs the three instructions of the branch, both run what is around it."""
    body = "setp.ge.u32 %p2, %r1, 32; @%p2 bra E; add.u32 %r5, %r1, 1; add.u32 %r5, %r5, 1; st.shared.u32 [%r2], 1; E: bar.sync 0;"
    found = measure(body, threads=64)["instructions_by_role"]["all warps"]
    # ld.param, mov x 4, setp, setp by two warps, add x 2 by one
    assert found["compute"] == 2 * 7 + 2
    assert (found["shared"], found["sync"], found["control"]) == (1, 2, 4)
    assert measure(body, threads=64)["instructions"] == sum(found.values())


def test_waits_tell_blocked_from_passed() -> None:
    """Warp 0 arrives behind a barrier that it waits at alone; warp 1 blocks until then."""
    body = f"""{INIT.format(count=1)} setp.ge.u32 %p2, %r1, 32; @%p2 bra G; bar.sync 1, 32; @%p1 mbarrier.arrive.shared.b64 _, [%r4]; bra F;
    G: {WAIT} F: bar.sync 0;
    X: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra X;"""
    found = measure(body, threads=64, schedule="adversarial", seed=16)
    rows = [item for item in found["barrier_waits"] if item["barrier"] == "bar"]
    assert sum(item["passed"] for item in rows) == 3  # warp 1 twice, warp 0 once
    assert all(item["blocked"] <= 1 for item in rows)
    first, last = sorted(rows, key=lambda item: item["line"])
    assert last["blocked"] == 0
    assert first["passed"] == 1


def test_several_waves_add_up() -> None:
    """More blocks than run at a time."""
    body = "mad.lo.u32 %r5, %r1, 4, %r2; st.shared.u32 [%r5], %r1;"
    found = measure(body, threads=1024, blocks=600)
    assert found["bytes"]["shared.write"] == 600 * 4096
    assert found["bank_conflicts"][0]["requests"] == 600 * 32
