"""Writes docs/comparison.md: public bugs, as this simulator and NumSim see them.

Our column is what ``fa4dsl simulate`` prints for the fault and its twin in tests/bugs, run anew each time; NumSim's is what its
released version 0.1.2 printed when each bug was written for it by hand in TIRx. ``--check`` says whether the page is current.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fa4dsl.runtime.simulator.launch import load_launch
from fa4dsl.runtime.simulator.run import simulate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "comparison.md"
CASES = Path("tests/bugs")


@dataclass(frozen=True)
class Row:
    """One bug: its folder in the corpus or its name below tests/bugs, who met it, and NumSim's answers for the fault and its twin."""

    folder: str
    title: str
    source: str
    numsim: str
    numsim_twin: str = "clean"


ROWS = (
    Row("b01_nofence", "tile written by `st`, then TMA store, no proxy fence", "MoonshotAI/FlashKDA#24", "error, both lines"),
    Row("b01_fence_in_empty_loop", "the fence stands in a loop that runs zero times", "MoonshotAI/FlashKDA#24", "not tried", "not tried"),
    Row("b05_elected_arrive", "32 lanes store, one elected lane arrives", "NVIDIA/cudnn-frontend#426", "error, lane 31"),
    Row("b08_count_vs_arrivers", "barrier waits for 128 arrivals, one thread arrives", "cutlass#2404, #2418", "error: deadlock"),
    Row("b10_wait_before_init", "wait not ordered after the barrier's init", "NVIDIA/Fuser#1552", "**clean** in its usual form"),
    Row("b11_peer_not_started", "store to a peer before it has started", "facebookexperimental/triton#2292", "**clean**"),
    Row("b12_peer_exited", "peer's memory read after it may have exited", "triton#10656, #11731", "**clean**"),
    Row("b14_arrive_cta_scope", "remote arrive at CTA scope", "Dao-AILab/quack#63", "**clean**"),
    Row("b14_wait_cta_scope", "wait at CTA scope for another CTA's arrive", "cutlass#3643", "**clean**"),
    Row("b16_expect_no_arrive", "bytes expected, nobody arrives", "tilelang#2566", "error: deadlock"),
    Row("b19_swizzle_unaligned", "128B swizzle on a base that is not 1024-aligned", "tilelang#2379, Fuser#4096", "not tried", "not tried"),
    Row("b21_expect_times_cluster", "bytes expected times the cluster's size", "tilelang#2644", "error: deadlock, 16/32 bytes"),
    Row("b22_release_before_wgmma_wait", "slot released before wgmma is done", "Fuser#3561", "incomplete: wgmma unsupported", "not tried"),
    Row(
        "b27_multicast_refill",
        "multicast refill while a peer still reads",
        "Pallas docs, collective_smem_reuse",
        "error",
        "clean or a **false error**, by the fence's spelling",
    ),
    Row("b30_early_return_touched", "early return, and the CTA's memory is touched", "sgl-project/sglang#25574", "not tried", "incomplete"),
    Row("cases/refill_without_fence", "slot read, then refilled by TMA, no proxy fence", "", "error"),
    Row("cases/bulk_store_wait_too_shallow", "bulk store's source rewritten: `wait_group.read` one too shallow", "", "error"),
    Row("extra/map_other_cta_no_acquire", "tensor map changed by another CTA, no acquire fence", "", "not tried", "not tried"),
    Row("cases/named_barrier_arrive_missing", "named barrier: the arrive is missing", "", "error: deadlock 32/64"),
    Row("cases/named_barrier_two_pairs", "one named barrier for two pairs of warps", "", "race check **clean**, sync check error"),
    Row("cases/multicast_mask_one_cta", "multicast mask leaves a CTA out", "", "error: deadlock, mask not shown"),
    Row("cases/live_barrier_overwritten", "TMA writes over a live mbarrier", "", "**clean**"),
    Row("cases/circular_wait", "two roles wait for each other", "", "error: deadlock, cycle not stated"),
    Row("cases/register_pool", "`setmaxnreg.inc` beyond the pool", "", "error, no register arithmetic"),
    Row("cases/swizzle_mismatch", "TMA's swizzle is not the wgmma descriptor's", "", "not tried: wgmma unsupported", "not tried"),
    Row("cases/phase_skipped", "a phase that nobody waited for", "", "error"),
    Row("cases/wgmma_accumulators_early", "accumulators read before `wgmma.wait_group`", "", "not tried: wgmma unsupported", "not tried"),
    Row("cases/relaxed_cluster_arrive", "cluster barrier with a relaxed arrive", "", "error"),
    Row("cases/st_async_not_awaited", "`st.async` that nobody waits for", "", "error"),
    Row("cases/uninitialised_shared", "shared memory read and never written", "", "review"),
)

HEAD = """\
<!-- Printed by docs/compare.py; change that, not this page. -->

# Public bugs: this simulator and NumSim

Each row is a bug that somebody reported in public (with who met it), or one of the kinds that NumSim was tried on, as small PTX (nvcc's, from the `.cu` beside it) with a correct twin. Our columns are
the output of `fa4dsl simulate`; run any of them yourself:

```console
$ fa4dsl simulate tests/bugs/corpus/b12_peer_exited/fault.ptx --launch tests/bugs/corpus/b12_peer_exited/fault.launch.json --output out
...
$ fa4dsl simulate tests/bugs/cases/live_barrier_overwritten.fault.ptx --launch tests/bugs/cases/live_barrier_overwritten.launch.json --output out
...
```

NumSim's columns are from its released version (tirx-harness 0.1.2.post2), tried on 2026-11-29 on a CPU, each bug written for it in
TIRx. NumSim checks TIRx IR for Blackwell, with more of that machine (tcgen05) and more schedules explored offline than here; this
simulator checks the PTX that runs on Hopper, with wgmma, and says how to mend what it finds. Other formulations may come
out otherwise on both sides; its unreleased rewrite checks scopes too.

| bug | met by | fa4dsl: fault | fa4dsl: twin | NumSim: fault | NumSim: twin |
|---|---|---|---|---|---|
"""


def files(folder: str, case: str) -> tuple[Path, Path]:
    """PTX and launch of a case, from the root of the repository."""
    if "/" in folder:
        return CASES / f"{folder}.{case}.ptx", CASES / f"{folder}.launch.json"
    return CASES / "corpus" / folder / f"{case}.ptx", CASES / "corpus" / folder / f"{case}.launch.json"


def verdict(folder: str, case: str) -> str:
    """What `fa4dsl simulate` says about one case: the verdict, with the codes of its findings."""
    ptx, launch = files(folder, case)
    report = simulate((ROOT / ptx).read_text(encoding="utf-8"), load_launch(ROOT / launch))
    codes = sorted({finding.diagnostic.code for finding in report.findings})
    links = ", ".join(f"[{code}](codes/{code}.md)" for code in codes)
    return f"{report.verdict}: {links}" if links else report.verdict


def page() -> str:
    lines = [
        f"| {row.title} | {row.source} | {verdict(row.folder, 'fault')} | {verdict(row.folder, 'twin')} | {row.numsim} | {row.numsim_twin} |"
        for row in ROWS
    ]
    return HEAD + "\n".join(lines) + "\n"


def main(check: bool) -> int:
    text = page()
    current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    if check:
        if not current:
            print("docs/comparison.md is not current: run python docs/compare.py")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
