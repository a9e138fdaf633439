"""The recorded run: who ran and waited when, who released whom, copies in flight, uses of shared memory, and what is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl.runtime.manifest import Manifest, Role, SharedObject
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument
from fa4dsl.runtime.simulator.recording import recording
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.simulator.timeline import Timeline
from fa4dsl.runtime.simulator.trace import Trace

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
.extern .shared .align 1024 .b8 s[];
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r4, s; add.u32 %r4, %r4, 1024;
setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %r1, 32; and.b32 %r5, %r1, 31;
@%p1 mbarrier.init.shared.b64 [%r4], 1; fence.mbarrier_init.release.cluster;
bar.sync 0;
@%p2 bra CONSUMER;
BODY
bra END;
CONSUMER:
W: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra W;
mad.lo.u32 %r6, %r5, 4, %r2;
ld.shared.u32 %r7, [%r6];
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r7;
END: ret;
}
"""
COPY = """@!%p1 bra END;
mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r4];"""
STORE = "mad.lo.u32 %r6, %r5, 4, %r2;\nst.shared.u32 [%r6], %r1;\nbar.warp.sync -1;\n@%p1 mbarrier.arrive.shared.b64 _, [%r4];"
MANIFEST = Manifest(
    "k",
    "k",
    "sm_90a",
    (),
    (64, 1, 1),
    dynamic_shared_bytes=1040,
    shared=(
        SharedObject("tile", "array", 0, 512, "f32", (4, 32), 1024),
        SharedObject("packed", "array", 0, 256, "bf16", (128,), 1024, overlay="tile"),
        SharedObject("full", "mbarrier", 1024, 8, "u64", (1,), 8, arrivals=1),
    ),
    roles=(Role("producer", 0, 1), Role("consumer", 1, 1)),
)


def record(body: str, schedule: str = "late", blocks: int = 1, **options: Any) -> Timeline:
    launch = Launch("k", (blocks, 1, 1), (64, 1, 1), (1, 1, 1), 1040, {"out": np.zeros(4096, np.uint8)}, [PointerArgument("out")])
    report = simulate(KERNEL.replace("BODY", body), launch, schedule=schedule, trace=True, manifest=MANIFEST, **options)
    assert report.timeline is not None
    timeline: Timeline = report.timeline
    return timeline


def test_rows_are_roles_that_cover_all_steps() -> None:
    """Every step of the machine is run by somebody, and no row runs two instructions in one step."""
    timeline = record(STORE, "eager")
    assert [(row.role, row.warps) for row in timeline.rows] == [("producer", (0,)), ("consumer", (1,))]
    steps: set[int] = set()
    for row in timeline.rows:
        mine = [run.begin + offset for run in row.runs for offset in range(run.count)]
        assert mine == sorted(set(mine))
        steps |= set(mine)
    assert steps == set(range(timeline.steps))


def test_a_wait_and_the_arrival_that_ended_it() -> None:
    """The consumer blocks at its wait until the producer's arrival; the arrow goes from there to the wait's end."""
    timeline = record(STORE, "adversarial", seed=0)  # warp 0 is held back
    (wait,) = (item for item in timeline.rows[1].waits if "full" in item.what)
    assert wait.what == "waits for full, phase 0"
    assert wait.begin < wait.end and not wait.open
    assert KERNEL.replace("BODY", STORE).splitlines()[wait.place[1] - 1].startswith("W: mbarrier.try_wait")
    (arrow,) = timeline.arrows
    assert (arrow.row, arrow.target, arrow.last) == (0, 1, True)
    assert wait.begin < arrow.begin <= arrow.end == wait.end
    (arrival,) = (item for release in timeline.releases if release.barrier[0] == "mbarrier" for item in release.arrivals)
    assert arrival.site.mnemonic == "mbarrier.arrive.shared.b64"
    assert arrow.begin == arrival.time


def test_a_wait_that_is_over_at_once_has_its_arrow_too() -> None:
    timeline = record(STORE, "eager")
    assert [(arrow.row, arrow.target) for arrow in timeline.arrows] == [(0, 1)]


def test_both_rows_meet_at_the_block_barrier() -> None:
    timeline = record(STORE, "eager")
    assert [(item.rows, item.what) for item in timeline.meetings] == [((0, 1), "the CTA barrier")]


def test_a_copy_is_in_flight_until_somebody_needs_it() -> None:
    late = record(COPY)
    (copy,) = late.copies
    assert (copy.kind, copy.cta, copy.warp) == ("bulk_load", 0, 0)
    assert copy.what == "bulk load: out (512 bytes) to tile (512 bytes)"
    (wait,) = (item for item in late.rows[1].waits if "full" in item.what and item.end > item.begin)
    assert copy.begin < copy.end == wait.end
    landed = [arrow for arrow in late.arrows if arrow.copy == 0]
    assert [(arrow.target, arrow.last, arrow.begin) for arrow in landed] == [(1, True, copy.end)]
    eager = record(COPY, "eager")
    assert eager.copies[0].begin == eager.copies[0].end


def test_uses_of_shared_memory() -> None:
    """The copy writes the whole tile while it is in flight, the consumer reads its first row; the overlay shows the bytes that it shares."""
    timeline = record(COPY)
    tile, packed, full = timeline.memory
    assert [item.name for item in timeline.memory] == ["tile", "packed", "full"]
    assert (packed.overlay, packed.offset, full.kind) == ("tile", 0, "mbarrier")
    written, read = sorted(tile.uses, key=lambda use: use.begin)
    assert (written.access, written.by, written.low, written.high) == ("async write", "bulk load", 0, 512)
    assert (read.access, read.by, read.low, read.high, read.count, read.remote) == ("read", "consumer", 0, 128, 128, False)
    assert written.end == timeline.copies[0].end <= read.begin
    assert len(packed.uses) == 2


def test_a_hang_leaves_open_waits() -> None:
    timeline = record("mov.u32 %r6, 0;")
    assert [item.open for item in timeline.rows[1].waits if "full" in item.what][-1]
    assert not timeline.arrows


def test_what_is_recorded_is_bounded() -> None:
    timeline = record(STORE, "eager", blocks=40)
    assert timeline.ctas == 16
    assert timeline.cut == "the first 16 of 40 CTAs"
    assert {row.cta for row in timeline.rows} == set(range(16))


def test_recording_stops_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import fa4dsl.runtime.simulator.trace as module

    plain = record(STORE, "random")
    monkeypatch.setattr(module, "RECORDS", 10)
    monkeypatch.setattr(Trace.__init__, "__defaults__", ((), 10))
    cut = record(STORE, "random")
    assert cut.steps < plain.steps
    assert cut.cut == f"the first {cut.steps:,} steps (10 records)"


def test_a_run_without_trace_keeps_nothing() -> None:
    launch = Launch("k", (1, 1, 1), (64, 1, 1), (1, 1, 1), 1040, {"out": np.zeros(4096, np.uint8)}, [PointerArgument("out")])
    report = simulate(KERNEL.replace("BODY", STORE), launch)
    assert report.timeline is None and report.measures is None


def test_recording_collects_runs_of_others() -> None:
    launch = Launch("k", (1, 1, 1), (64, 1, 1), (1, 1, 1), 1040, {"out": np.zeros(4096, np.uint8)}, [PointerArgument("out")])
    with recording() as reports:
        first = simulate(KERNEL.replace("BODY", STORE), launch)
        simulate(KERNEL.replace("BODY", COPY), launch)
    assert reports[0] is first
    assert [len(report.timeline.copies) for report in reports] == [0, 1]
    assert simulate(KERNEL.replace("BODY", STORE), launch).timeline is None


def test_the_same_numbers_with_and_without_a_trace() -> None:
    """The recorder only watches."""
    results = []
    for trace in (False, True):
        launch = Launch("k", (2, 1, 1), (64, 1, 1), (1, 1, 1), 1040, {"out": np.zeros(4096, np.uint8)}, [PointerArgument("out")])
        report = simulate(KERNEL.replace("BODY", STORE), launch, schedule="random", seed=5, trace=trace)
        results.append((report.verdict, launch.buffers["out"].tobytes()))
    assert results[0] == results[1]
