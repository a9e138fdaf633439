"""The litmus table of the memory model (section 15 of the notes on PTX) as PTX programs, run by the machine under several schedules.

T is a tile in the own shared memory, X the peer's, B and E mbarriers. Every program is a few instructions between a common head (addresses, barrier
initialisation, a cluster barrier) and a common tail.
"""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument
from fa4dsl.runtime.simulator.run import simulate

HEAD = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %t0, %t1, %t32, %lo, %hi, %r0, %r1, %q, %x;
.reg .b32 %tid, %rank, %T, %X, %B, %XB, %E, %Y, %v, %w;
.reg .b64 %g, %z;
.shared .align 128 .b8 T[256];
.shared .align 128 .b8 Y[256];
.shared .align 8 .b64 B;
.shared .align 8 .b64 E;
ld.param.u64 %g, [p];
mov.u32 %tid, %tid.x;
mov.u32 %rank, %cluster_ctarank;
shl.b32 %v, %tid, 2;
mov.u32 %T, T;
add.u32 %T, %T, %v;
mov.u32 %Y, Y;
add.u32 %Y, %Y, %v;
mov.u32 %B, B;
mov.u32 %E, E;
add.u32 %w, %rank, 1;
mov.u32 %v, %cluster_nctarank;
rem.u32 %w, %w, %v;
mapa.shared::cluster.u32 %X, %T, %w;
mapa.shared::cluster.u32 %XB, %B, %w;
setp.eq.u32 %t0, %tid, 0;
setp.eq.u32 %t1, %tid, 1;
setp.eq.u32 %t32, %tid, 32;
setp.lt.u32 %lo, %tid, 32;
setp.ge.u32 %hi, %tid, 32;
setp.eq.u32 %r0, %rank, 0;
setp.eq.u32 %r1, %rank, 1;
"""
TAIL = """
ret;
}
"""
READY = """
@%t0 mbarrier.init.shared::cta.b64 [%B], {count};
@%t0 mbarrier.init.shared::cta.b64 [%E], 64;
@%t0 fence.mbarrier_init.release.cluster;
"""
CTA = "bar.sync 0;\n"
CLUSTER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
ST = "st.shared.u32 [%T], %tid;\n"
LD = "mov.u32 %v, T;\nld.shared.u32 %w, [%v+124];\n"
STORE = "@%t0 cp.async.bulk.global.shared::cta.bulk_group [%g], [%T], 256;\n@%t0 cp.async.bulk.commit_group;\n"
STORED = "@%t0 cp.async.bulk.wait_group 0;\n"
LOAD = "@%t0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%T], [%g], 256, [%B];\n"
EXPECT = "@%t0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%B], 256;\n"
FENCE = "fence.proxy.async.shared::cta;\n"


def wait(barrier: str = "B", form: str = "", guard: str = "", parity: int = 0, label: str = "W") -> str:
    skip = f"@!{guard} bra {label}E;\n" if guard else ""
    return f"{skip}{label}:\nmbarrier.try_wait.parity{form}.shared::cta.b64 %q, [%{barrier}], {parity};\n@!%q bra {label};\n{label}E:\n"


def only(guard: str, body: str, label: str) -> str:
    """`body` by the threads of a guard."""
    return f"@!{guard} bra {label};\n{body}{label}:\n"


def single(body: str, count: int = 1) -> str:
    return HEAD + READY.format(count=count) + CTA + body + TAIL


def pair(body: str, count: int = 64, last: str = CLUSTER) -> str:
    """Two CTAs; rank 0 is the sender."""
    return HEAD + READY.format(count=count) + CLUSTER + body + last + TAIL


SEND = "st.shared::cluster.u32 [%X], %tid;\n"
GROUP = ".shared::cluster.b64 _, [%XB];\n"

PROGRAMS: dict[str, tuple[str, int, str]] = {
    "L1": (single(ST + CTA + STORE + STORED), 1, "S021"),
    "L2": (single(ST + FENCE + CTA + STORE + STORED), 1, ""),
    "L3": (single(ST + CTA + FENCE + STORE + STORED), 1, ""),
    "L4": (single(EXPECT + LOAD + wait() + LD), 1, ""),
    "L5": (
        single(
            EXPECT
            + LOAD
            + wait()
            + LD
            + "mbarrier.arrive.shared::cta.b64 _, [%E];\n"
            + wait("E", "", "%t0", 0, "R")
            + EXPECT
            + LOAD
            + wait(parity=1, label="V")
        ),
        1,
        "S022",
    ),
    "L6": (pair(only("%r0", SEND + "mbarrier.arrive" + GROUP, "S") + only("%r1", wait() + LD, "D")), 2, "S023"),
    "L7": (pair(only("%r0", SEND + "mbarrier.arrive.release.cluster" + GROUP, "S") + only("%r1", wait() + LD, "D")), 2, "S023"),
    "L8": (
        pair(only("%r0", SEND + "mbarrier.arrive.release.cluster" + GROUP, "S") + only("%r1", wait(form=".acquire.cluster") + LD, "D")),
        2,
        "",
    ),
    "L9": (
        pair(
            only("%r0", SEND + "fence.acq_rel.cluster;\nmbarrier.arrive.relaxed.cluster" + GROUP, "S")
            + only("%r1", wait(form=".relaxed.cluster") + "fence.acq_rel.cluster;\n" + LD, "D")
        ),
        2,
        "",
    ),
    "L10": (
        pair(
            only("%r1", EXPECT, "A")
            + CLUSTER
            + only("%r0", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%X], %tid, [%XB];\n", "S")
            + only("%r1", wait() + LD, "D"),
            1,
        ),
        2,
        "",
    ),
    "L11": (pair(SEND + CLUSTER.replace("arrive", "arrive.relaxed") + LD, last=CLUSTER), 2, "S046"),
    "L12": (pair(SEND + CLUSTER + LD), 2, ""),
    "L13": (single(ST + FENCE + CTA + STORE + "@%t0 cp.async.bulk.wait_group.read 0;\n" + CTA + ST + STORED), 1, ""),
    "L14": (single(ST + FENCE + CTA + STORE + "@%t1 cp.async.bulk.wait_group.read 0;\n" + CTA + ST + STORED), 1, "S024"),
    "L15": (HEAD + READY.format(count=1) + "@%t0 mbarrier.arrive.shared::cta.b64 _, [%B];\n" + wait(guard="%t32") + TAIL, 1, "S036"),
    "L16": (
        single("mbarrier.arrive.shared::cta.b64 _, [%B];\n" + wait(), 64).replace("@%t0 fence.mbarrier_init.release.cluster;\n", ""),
        1,
        "",
    ),
    "L17": (
        HEAD
        + READY.format(count=64)
        + CLUSTER.replace("arrive", "arrive.relaxed")
        + only("%r0", "mbarrier.arrive.release.cluster" + GROUP, "S")
        + only("%r1", wait(form=".acquire.cluster"), "D")
        + TAIL,
        2,
        "",
    ),
    "L19": (pair(only("%r1", "ret;\n", "D") + "ld.shared::cluster.u32 %v, [%X];\n", last="").replace(CLUSTER, ST + CLUSTER), 2, "S031"),
    "L20": (HEAD + only("%r1", "ret;\n", "D") + ST + CLUSTER + LD + TAIL, 2, ""),
    "L21": (
        single(
            only("%hi", ST.replace("%tid", "7") + "bar.sync 1, 64;\n", "D")
            + only("%lo", "bar.arrive 1, 64;\nld.shared.u32 %w, [%T+128];\n", "F")
        ),
        1,
        "S020",
    ),
    "L22": (
        single(
            "mul.wide.u32 %z, %tid, 4;\nadd.s64 %z, %g, %z;\ncp.async.ca.shared.global [%T], [%z], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
            + CTA
            + LD
        ),
        1,
        "",
    ),
    "L25": (
        single(
            only("%t0", ST + "st.relaxed.cta.shared.u32 [%Y], 1;\n", "S")
            + only("%t32", "F:\nld.relaxed.cta.shared.u32 %w, [Y];\nsetp.eq.u32 %q, %w, 0;\n@%q bra F;\nld.shared.u32 %w, [T];\n", "D")
        ).replace(CTA, "@%t0 st.shared.u32 [%Y], 0;\n" + CTA, 1),
        1,
        "S020",
    ),
    "L26": (
        pair("atom.shared::cluster.add.u32 %v, [%w], 1;\n").replace(
            CLUSTER, "@%t0 st.shared.u32 [%Y], 0;\nmov.u32 %v, Y;\nmapa.shared::cluster.u32 %w, %v, 1;\n" + CLUSTER, 1
        ),
        2,
        "",
    ),
    "L27": (single("@%t0 mbarrier.arrive.shared::cta.b64 _, [%B];\n@%t0 mbarrier.arrive.shared::cta.b64 _, [%B];\n"), 1, "S040"),
    "L28": (single(EXPECT.replace("256", "512") + LOAD + wait()), 1, "S052"),
    "L29a": (single("@%t0 st.shared.u32 [%Y], 5;\n" + EXPECT + LOAD + wait() + only("%t32", "ld.shared.u32 %w, [Y];\n", "D")), 1, ""),
    "L29b": (single(EXPECT + "@%t0 st.shared.u32 [%Y], 5;\n" + LOAD + wait() + only("%t32", "ld.shared.u32 %w, [Y];\n", "D")), 1, "S020"),
    "L30": (single(only("%lo", ST + only("%t1", "ld.shared.u32 %w, [T];\n", "F"), "D")), 1, "S027"),
    "L30 synchronised": (
        single(only("%lo", ST + "bar.warp.sync 0xffffffff;\n" + only("%t1", "ld.shared.u32 %w, [T];\n", "F"), "D")),
        1,
        "",
    ),
    "L31": (pair(ST + CLUSTER + "barrier.cluster.arrive.aligned;\n" + SEND + "barrier.cluster.wait.aligned;\n" + LD), 2, "S020"),
}
PROGRAMS["L18"] = (PROGRAMS["L17"][0].replace("@%t0 fence.mbarrier_init.release.cluster;\n", ""), 2, "S036")
PROGRAMS["L22 not waited"] = (PROGRAMS["L22"][0].replace("cp.async.wait_group 0;\n", ""), 1, "S028")
PROGRAMS["L25 released"] = (PROGRAMS["L25"][0].replace("st.relaxed", "st.release").replace("ld.relaxed", "ld.acquire"), 1, "")


def run(text: str, ctas: int, schedule: str, seed: int) -> Report:
    launch = Launch("k", (ctas, 1, 1), (64, 1, 1), (ctas, 1, 1), 0, {"g": np.arange(1024, dtype=np.uint8)}, [PointerArgument("g")])
    return simulate(text, launch, schedule=schedule, seed=seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_litmus(name: str) -> None:
    text, ctas, code = PROGRAMS[name]
    for schedule, seed in (("eager", 0), ("late", 0), ("random", 5), ("adversarial", 1)):
        report = run(text, ctas, schedule, seed)
        codes = {finding.diagnostic.code for finding in report.findings}
        assert codes == ({code} if code else set()), f"{schedule}: {report.text()}"
        assert report.verdict == ("clean" if not code else "review" if code == "S022" else "error")
