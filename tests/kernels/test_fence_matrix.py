"""The fence matrix: every synchronisation of the combine removed or weakened in its PTX, alone and in pairs. Reported must be what is broken, no more.

The truth for each change, by PTX ISA 9.1 (sections as in docs/memory-model.md):

* What is broken by itself is an error. A store still reading shared memory at exit is `review`: the ISA is silent there.
* The fence after mbarrier.init is not needed while the cluster barrier behind it releases; a relaxed barrier is enough while that fence is there. Only
  both together are broken (9.7.13.15; 9.7.13.3).
* `wait_group.read` is enough before the exit: the source has been read, and the end of the kernel publishes the result (9.7.9.25.6).
* Pack over the next rank's band, which peers read: a second round through the cluster makes it right again, unless its arrive is relaxed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_case import CombineCase
from fa4dsl.kernels.combine_config import CombineConfig

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEDULES = (("eager", 0), ("late", 0), ("random", 1), ("random", 2), ("adversarial", 0), ("adversarial", 1))
INIT_FENCE = "fence.mbarrier_init.release.cluster;"
ARRIVE, WAIT = "barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"
PUBLISH = "mbarrier.arrive.release.cluster.shared::cluster.b64"
OBSERVE = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
BULK_WAIT = "cp.async.bulk.wait_group 0;"


def sub(old: str, new: str, which: int | None = None) -> Callable[[str], str]:
    """Replaces `old`: its occurrence number `which`, or the only one there is."""

    def change(ptx: str) -> str:
        parts = ptx.split(old)
        assert len(parts) > 1, f"the kernel has no {old}"
        assert which is not None or len(parts) == 2, f"{len(parts) - 1} of {old}"
        at = 1 if which is None else which if which > 0 else len(parts) + which
        return old.join(parts[:at]) + new + old.join(parts[at:])

    return change


def publish(new: str) -> Callable[[str], str]:
    """Every arrive of the publication; for few ranks its loop is unrolled."""

    def change(ptx: str) -> str:
        assert PUBLISH in ptx
        return ptx.replace(PUBLISH, new)

    return change


def no_loop(ptx: str) -> str:
    """The wait for the peers' data succeeds at once."""
    return re.sub(r"mbarrier\.try_wait\S+\s+(%p\d+), \[[^;]*;", r"setp.eq.u32 \1, 0, 0;", ptx, count=1)


def no_arrive(ptx: str) -> str:
    return re.sub(r"mbarrier\.arrive\.release\.cluster\.shared::cluster\.b64 [^;]*;", "", ptx)


def publish_count(ptx: str) -> str:
    changed = re.sub(r"(mbarrier\.arrive\.release\.cluster\.shared::cluster\.b64 _, \[%r\d+\]), 1;", r"\1, 2;", ptx)
    assert changed != ptx
    return changed


def init_count(add: int) -> Callable[[str], str]:
    def change(ptx: str) -> str:
        return re.sub(r"(mbarrier\.init\S+ \[%r\d+\]), (\d+);", lambda found: f"{found[1]}, {int(found[2]) + add};", ptx, count=1)

    return change


def pack_over_peers(second_round: str) -> Callable[[str], str]:
    """The older design: the packed band goes over the next rank's band of the stage, which that rank reads."""

    def change(ptx: str) -> str:
        partitions = int(re.search(r"\.reqnctapercluster (\d+)", ptx)[1])  # type: ignore[index]
        stage = 4 * depth_of(partitions) * rows_of(partitions)
        fence = ptx.index("fence.proxy.async.shared::cta;")
        last_load = ptx.rindex("ld.shared::cluster", 0, fence)
        first_store = re.compile(r"\tst\.shared\S*\s+\[(%r\d+)").search(ptx, last_load)
        assert first_store is not None
        move = (
            "\t.reg .b32 %moved<4>;\n\tmov.u32 %moved0, %cluster_ctarank;\n\tadd.u32 %moved1, %moved0, 1;\n"
            f"\tand.b32 %moved1, %moved1, {partitions - 1};\n\tsub.s32 %moved1, %moved1, %moved0;\n\tmul.lo.s32 %moved1, %moved1, {stage // partitions};\n"
        )
        stores = re.sub(
            r"\t(st\.shared\S*\s+)\[(%r\d+)", r"\tadd.s32 %moved3, \2, %moved1;\n\t\1[%moved3", ptx[first_store.start() : fence]
        )
        copies = re.sub(
            r"(cp\.async\.bulk\.tensor\S+ \[[^\]]*\], )\[(%r\d+)\]",
            r"add.s32 %moved2, \2, %moved1;\n\t\1[%moved2]",
            ptx[fence:],
        )
        return ptx[: first_store.start()] + move + second_round + stores + copies

    return change


SINGLES = {2: (("eager", 0), ("adversarial", 1)), 4: (("adversarial", 2),), 8: (("eager", 0),), 16: (("random", 1),)}
"""Schedules of the single changes, by P."""
CLEAN, REVIEW, ERROR = "clean", "review", "error"
TRUTH: dict[str, tuple[Callable[[str], str], str]] = {
    "no init fence": (sub(INIT_FENCE, ""), CLEAN),
    "first cluster barrier removed": (lambda ptx: sub(WAIT, "", 1)(sub(ARRIVE, "", 1)(ptx)), ERROR),
    "first cluster arrive relaxed": (sub(ARRIVE, "barrier.cluster.arrive.relaxed.aligned;", 1), CLEAN),
    "publish arrive removed": (no_arrive, ERROR),
    "publish arrive at cta scope": (publish(PUBLISH.replace("release.cluster", "release.cta")), ERROR),
    "publish arrive relaxed": (publish(PUBLISH.replace("release", "relaxed")), ERROR),
    "publish arrive counts 2": (publish_count, ERROR),
    "publish count one too low": (init_count(-1), ERROR),
    "publish count one too high": (init_count(1), ERROR),
    "wait removed": (no_loop, ERROR),
    "wait at cta scope": (sub(OBSERVE, OBSERVE.replace("acquire.cluster", "acquire.cta")), ERROR),
    "wait relaxed": (sub(OBSERVE, OBSERVE.replace("acquire", "relaxed")), ERROR),
    "no block barrier before the store": (sub("bar.sync 0;", ""), ERROR),
    "no proxy fence": (sub("fence.proxy.async.shared::cta;", ""), ERROR),
    "proxy fence of global memory": (sub("fence.proxy.async.shared::cta;", "fence.proxy.async.global;"), ERROR),
    "proxy fence spelled for the cluster": (sub("fence.proxy.async.shared::cta;", "fence.proxy.async.shared::cluster;"), CLEAN),
    "proxy fence of everything": (sub("fence.proxy.async.shared::cta;", "fence.proxy.async;"), CLEAN),
    "bulk wait for the read only": (sub(BULK_WAIT, "cp.async.bulk.wait_group.read 0;"), CLEAN),
    "bulk wait removed": (sub(BULK_WAIT, ""), REVIEW),
    "bulk commit removed": (sub("cp.async.bulk.commit_group;", ""), REVIEW),
    "last cluster barrier removed": (lambda ptx: sub(WAIT, "", -1)(sub(ARRIVE, "", -1)(ptx)), ERROR),
    "last cluster wait removed": (sub(WAIT, "", -1), ERROR),
    "last cluster arrive relaxed": (sub(ARRIVE, "barrier.cluster.arrive.relaxed.aligned;", -1), ERROR),
    "pack over peers' bytes, second round": (pack_over_peers(f"\t{ARRIVE}\n\t{WAIT}\n"), CLEAN),
    "pack over peers' bytes, no second round": (pack_over_peers(""), ERROR),
    "pack over peers' bytes, second round relaxed": (pack_over_peers(f"\tbarrier.cluster.arrive.relaxed.aligned;\n\t{WAIT}\n"), ERROR),
}
PAIRED = (
    "no init fence", "first cluster arrive relaxed", "first cluster barrier removed", "publish arrive at cta scope", "wait at cta scope",
    "no block barrier before the store", "no proxy fence", "bulk wait for the read only", "bulk wait removed", "last cluster barrier removed",
)  # fmt: skip
BROKEN_TOGETHER = {frozenset({"no init fence", "first cluster arrive relaxed"})}
"""Right alone, broken together."""
ONE_INSTRUCTION = (
    {"first cluster arrive relaxed", "first cluster barrier removed"},
    {"bulk wait for the read only", "bulk wait removed"},
)
"""Both change the same instruction."""
PAIRS = [pair for pair in combinations(PAIRED, 2) if set(pair) not in ONE_INSTRUCTION]


def truth_of(names: tuple[str, ...]) -> str:
    if frozenset(names) in BROKEN_TOGETHER:
        return ERROR
    return max((TRUTH[name][1] for name in names), key=[CLEAN, REVIEW, ERROR].index, default=CLEAN)


def depth_of(partitions: int) -> int:
    return 128 if partitions == 16 else 64


def rows_of(partitions: int) -> int:
    """A warp, or two: two make the barrier of the block one between warps."""
    return 64 if partitions == 2 else 32


@cache
def artifact_of(partitions: int) -> Any:
    return combine_kernel(config_of(partitions)).artifact


def config_of(partitions: int) -> CombineConfig:
    return CombineConfig(partitions, depth_of(partitions), rows_of(partitions))


def verdict(partitions: int, names: tuple[str, ...], schedule: str = "eager", seed: int = 0) -> tuple[str, str, bool]:
    """(verdict, report, numbers right)."""
    case = CombineCase(config_of(partitions), rows_of(partitions) - 3)
    artifact = artifact_of(partitions)
    ptx = artifact.ptx
    for name in names:
        ptx = TRUTH[name][0](ptx)
    result = replace(artifact, ptx=ptx).launch(case.grid, case.arguments, device="simulator", schedule=schedule, seed=seed)
    return result.report.verdict, result.report.text(), case.judge().ok


@pytest.mark.parametrize("partitions", [2, 4, 8, 16])
def test_intact_is_silent(partitions: int) -> None:
    for schedule, seed in SCHEDULES:
        found, text, right = verdict(partitions, (), schedule, seed)
        assert found == CLEAN, text
        assert right


@pytest.mark.parametrize("name", TRUTH)
@pytest.mark.parametrize("partitions", [2, 4, 8, 16])
def test_reported_is_what_is_broken(partitions: int, name: str) -> None:
    for schedule, seed in SINGLES[partitions]:
        found, text, right = verdict(partitions, (name,), schedule, seed)
        assert found == TRUTH[name][1], text
        assert right or found == ERROR


@pytest.mark.parametrize("pair", PAIRS, ids=" + ".join)
def test_pairs(pair: tuple[str, str]) -> None:
    for partitions in (2, 4, 8):
        found, text, _ = verdict(partitions, pair, "late")
        assert found == truth_of(pair), text
