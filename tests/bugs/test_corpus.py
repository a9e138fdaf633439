"""Faulty kernels, their correct twins, and correct kernels that are easy to flag by mistake; PTX from nvcc.

A fault is reported if one finding has the right kind, names a line of every group and prescribes the mend. A twin is silent and computes what it should,
under every schedule.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import CORPUS, SCHEDULES, Case, complaint, corpus_faults, corpus_twins, own_cases, run_corpus, run_own

FAULTS = corpus_faults()
OWN_FAULTS = [case for case in own_cases() if case.kind != "none"]

# The catalogue code that explains each fault, under the eager schedule.
CODES = {
    "b01_fence_in_empty_loop": "S021",
    "b01_nofence": "S021",
    "b05_elected_arrive": "S027",
    "b08_count_vs_arrivers": "S053",
    "b10_wait_before_init": "S036",
    "b11_peer_not_started": "S030",
    "b12_peer_exited": "S031",
    "b14_arrive_cta_scope": "S023",
    "b14_wait_cta_scope": "S023",
    "b16_expect_no_arrive": "S051",
    "b19_swizzle_unaligned": "S044",
    "b21_expect_times_cluster": "S052",
    "b22_release_before_wgmma_wait": "S025",
    "b27_multicast_refill": "S020",
    "b30_early_return_touched": "S031",
    "barrier_zeroed_by_stores": "S034",
    "bulk_push_sender_exits": "S033",
    "bulk_store_wait_too_shallow": "S024",
    "bulk_wait_in_other_lane": "S024",
    "circular_wait": "S056",
    "cluster_wait_before_arrive": "S057",
    "cp_async_mbarrier": "S028",
    "cp_async_not_waited": "S028",
    "cta_atomics_across_ctas": "S023",
    "flag_in_global_memory": "S020",
    "init_fence_missing": "S036",
    "init_twice": "S038",
    "lanes_store_to_one_word": "S026",
    "last_remote_arrive": "S031",
    "live_barrier_overwritten": "S034",
    "multicast_mask_one_cta": "S052",
    "named_barrier_arrive_missing": "S055",
    "named_barrier_two_pairs": "S017",
    "phase_skipped": "S040",
    "refill_without_fence": "S022",
    "register_pool": "S054",
    "relaxed_cluster_arrive": "S046",
    "st_async_not_awaited": "S024",
    "swizzle_mismatch": "S045",
    "syncthreads_in_role": "S055",
    "tensor_map_changed": "S043",
    "uninitialised_shared": "S101",
    "use_after_inval": "S037",
    "wgmma_accumulators_early": "S047",
    "wgmma_operand_without_proxy_fence": "S021",
}


def short(value: object) -> str:
    return value.name if isinstance(value, Case) else str(value)


@pytest.mark.parametrize("case", FAULTS, ids=short)
def test_fault_of_the_corpus_is_reported(case: Case) -> None:
    for schedule, seed in SCHEDULES:
        report, _ = run_corpus(case.name, "fault", schedule, seed)
        if case.name == "b27_multicast_refill" and any(f.diagnostic.code == "S052" for f in report.findings):
            # Rank 1 was so late that its barrier got all three refills in one phase: it hangs before the reads that the refill races with.
            assert report.verdict == "error"
            assert any(f.kind == "race" and "line 15" in f.diagnostic.message for f in report.findings)
            continue
        assert complaint(report, case) == "", f"{schedule} {seed}: {report.text()}"


@pytest.mark.parametrize("name", corpus_twins())
def test_twin_of_the_corpus_is_silent(name: str) -> None:
    for schedule, seed in SCHEDULES:
        report, launch = run_corpus(name, "twin", schedule, seed)
        assert report.verdict == "clean", f"{schedule} {seed}: {report.text()}"
        for output, dtype in launch.outputs.items():
            expected = np.load(CORPUS / name / f"expected.{output}.npy")
            np.testing.assert_array_equal(launch.buffers[output].view(dtype), expected.view(dtype).reshape(-1))


@pytest.mark.parametrize("case", OWN_FAULTS, ids=short)
def test_fault_is_reported(case: Case) -> None:
    for schedule, seed in SCHEDULES[:7:2]:
        report, _ = run_own(case, "fault", schedule, seed)
        assert complaint(report, case) == "", f"{schedule} {seed}: {report.text()}"


@pytest.mark.parametrize("case", own_cases(), ids=short)
def test_twin_is_silent(case: Case) -> None:
    for schedule, seed in SCHEDULES[:7:2]:
        report, _ = run_own(case, "twin", schedule, seed)
        assert report.verdict == "clean", f"{schedule} {seed}: {report.text()}"


def test_report_as_json() -> None:
    report, _ = run_corpus("b01_nofence", "fault", "random", 3)
    result = json.loads(json.dumps(report.to_dict()))
    assert result["verdict"] == "error"
    assert result["schedule"] == "random (seed 3)"
    (finding,) = result["findings"]
    assert finding["code"] == "S021"
    assert finding["kind"] == "proxy"
    assert ["fault.cu", 6] in finding["lines"]
    assert "covers the paths" in result["covers"]


def test_one_root_cause_is_told_once() -> None:
    for case in FAULTS:
        report, _ = run_corpus(case.name, "fault", "eager", 0)
        assert len(report.findings) <= 2, report.text()


@pytest.mark.parametrize("name", CODES)
def test_code(name: str) -> None:
    case = next(case for case in (*FAULTS, *OWN_FAULTS) if case.name == name)
    report, _ = run_corpus(name, "fault", "eager", 0) if case in FAULTS else run_own(case, "fault", "eager", 0)
    assert CODES[name] in {finding.diagnostic.code for finding in report.findings}, report.text()


def test_every_fault_has_its_code() -> None:
    assert {case.name for case in (*FAULTS, *OWN_FAULTS)} == set(CODES)
