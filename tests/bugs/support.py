"""Cases of faults and twins: where their files are, how they are launched, what a right report must say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument, TensorMapArgument, load_launch
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import TensorMapDescription

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.check.report import Report

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
CASES = HERE / "cases"
SCHEDULES = (
    ("eager", 0),
    ("late", 0),
    ("random", 1),
    ("random", 2),
    ("random", 3),
    ("adversarial", 0),
    ("adversarial", 1),
    ("adversarial", 2),
    ("adversarial", 3),
)


@dataclass(frozen=True)
class Case:
    """One kernel with its fault. `accept`: groups of source lines, of each of which a report must name one; `mend`: words, all of which its mend must hold."""

    name: str
    kind: str
    accept: tuple[tuple[int, ...], ...]
    mend: tuple[str, ...]
    review: bool = False
    """The twin may, or the fault will, be a review only."""
    meta: dict[str, Any] = field(default_factory=dict, compare=False)


# What the mends that the corpus asks for come down to: the words that tell a reader what to type.
CORPUS_MENDS = {
    "b01_fence_in_empty_loop": ("fence.proxy.async", "out of the loop"),
    "b01_nofence": ("fence.proxy.async",),
    "b05_elected_arrive": ("__syncwarp",),
    "b08_count_vs_arrivers": ("init", "with 1", "128"),
    "b10_wait_before_init": ("fence.mbarrier_init", "__syncthreads"),
    "b11_peer_not_started": ("cluster barrier",),
    "b12_peer_exited": ("cluster barrier", "before"),
    "b14_arrive_cta_scope": ("mbarrier.arrive.release.cluster",),
    "b14_wait_cta_scope": ("mbarrier.try_wait.acquire.cluster",),
    "b16_expect_no_arrive": ("mbarrier.arrive.expect_tx",),
    "b19_swizzle_unaligned": ("align", "1024"),
    "b21_expect_times_cluster": ("expect 1024 bytes",),
    "b22_release_before_wgmma_wait": ("wgmma.wait_group",),
    "b27_multicast_refill": ("cluster barrier",),
    "b30_early_return_touched": ("cluster barrier",),
}


def corpus_faults() -> list[Case]:
    found = []
    for folder in sorted(CORPUS.glob("b*")):
        expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
        found.append(Case(folder.name, expect["kind"], tuple(map(tuple, expect["accept"])), CORPUS_MENDS[folder.name], expect["either"]))
    return found


def corpus_twins() -> list[str]:
    return sorted(folder.name for folder in CORPUS.iterdir() if (folder / "twin.ptx").exists())


def own_cases() -> list[Case]:
    """Cases of this folder: the first line of NAME.cu describes the launch, ``// @N`` marks the lines of group N."""
    found = []
    for source in sorted(CASES.glob("*.cu")):
        lines = source.read_text(encoding="utf-8").splitlines()
        meta = json.loads(lines[0].removeprefix("// "))
        groups: dict[str, list[int]] = {}
        for number, line in enumerate(lines, 1):
            for mark in re.findall(r"@(\d)", line):
                groups.setdefault(mark, []).append(number)
        accept = tuple(tuple(groups[mark]) for mark in sorted(groups))
        found.append(Case(source.stem, meta["kind"], accept, tuple(meta["mend"]), meta["verdict"] == "review", meta))
    return found


def tiled(buffer: str, sizes: tuple[int, int], box: tuple[int, int], swizzle: Any, dtype: str = "bf16", item: int = 2) -> TensorMapArgument:
    return TensorMapArgument(TensorMapDescription(dtype, sizes, (sizes[0] * item,), box, (1, 1), swizzle), buffer)


def own_launch(meta: dict[str, Any]) -> Launch:
    """The launch that a case's first line describes: `args` names buffers (`in`, `out`, `outf`, `scratch`), tensor maps and integers."""
    buffers = {"in": np.arange(meta["inp"] // 4, dtype=np.uint32).view(np.uint8).copy(), "out": np.full(meta["out"], 255, np.uint8)}
    buffers["scratch"] = np.zeros(meta.get("scratch", 256), np.uint8)
    buffers["a"] = np.full(64 * 64, 0x3F80, np.uint16).view(np.uint8).copy()
    buffers["b"] = np.full(8 * 64, 0x3F80, np.uint16).view(np.uint8).copy()
    arguments: list[Any] = []
    for name in meta["args"]:
        if isinstance(name, int):
            arguments.append(ScalarArgument(name, 4))
        elif name.startswith("mapA"):
            arguments.append(tiled("a", (64, 64), (64, 64), f"{name[4:]}B" if name[4:] else "128B"))
        elif name == "mapB":
            arguments.append(tiled("b", (64, 8), (64, 8), "128B"))
        elif name == "mapOut":
            arguments.append(tiled("out", (32, 32), (32, 8), "none", "u32", 4))
        elif name == "mapIn":
            arguments.append(tiled("in", (32, 32), (32, 8), "none", "u32", 4))
        else:
            arguments.append(PointerArgument("out" if name == "outf" else name))
    grid = meta["grid"]
    return Launch("k", (grid, 1, 1), (meta["block"], 1, 1), (meta["cluster"], 1, 1), meta["smem"], buffers, arguments, {"out": "uint32"})


def run_own(case: Case, variant: str, schedule: str, seed: int) -> tuple[Report, Launch]:
    launch = own_launch(case.meta)
    return simulate((CASES / f"{case.name}.{variant}.ptx").read_text(encoding="utf-8"), launch, schedule=schedule, seed=seed), launch


def run_corpus(name: str, variant: str, schedule: str, seed: int) -> tuple[Report, Launch]:
    launch = load_launch(CORPUS / name / f"{variant}.launch.json")
    return simulate((CORPUS / name / f"{variant}.ptx").read_text(encoding="utf-8"), launch, schedule=schedule, seed=seed), launch


def complaint(report: Report, case: Case) -> str:
    """What a report of a fault lacks; empty if it is right."""
    if report.verdict not in (("review", "error") if case.review else ("error",)) and not (case.review and report.verdict == "clean"):
        return f"verdict {report.verdict}"
    for finding in report.findings:
        lines = {line for _, line in finding.as_dict()["lines"]}
        if (
            finding.kind == case.kind
            and all(lines & set(group) for group in case.accept)
            and all(word in finding.diagnostic.mend for word in case.mend)
        ):
            return ""
    return "no finding of the right kind, lines and mend"
