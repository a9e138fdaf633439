"""Records of waits: a hung kernel says who waits for what, a good one says nothing and computes the same."""

from __future__ import annotations

import linecache
import re
from typing import Any

import numpy as np
import pytest
import waiting_kernels
from waiting_kernels import numbered, stuck, stuck_cluster

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.passes.assemble import assemble, disassemble
from fa4dsl.passes.target import TARGETS
from fa4dsl.runtime import dump_waits
from fa4dsl.runtime.arguments_arrays import reinterpreted
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.manifest import Manifest
from fa4dsl.runtime.wait_records import BarrierWord, decode, table


def test_a_hang_leaves_records() -> None:
    out = np.zeros(256, np.int32)
    result = stuck.launch(2, (out, 0), schedule="late")
    assert result.report.verdict == "error"
    waiting = result.waits()
    source = linecache.getlines(waiting_kernels.__file__)
    assert [(item.cta, item.warps, item.wait.name, item.wait.kind, item.index, item.parity) for item in waiting] == [
        (cta, warps, name, kind, index, 0)
        for cta in (0, 1)
        for warps, name, kind, index in (((0, 1), "ready", "mbarrier", 1), ((2, 3), "block barrier", "block", 0))
    ]
    assert {source[item.wait.line - 1].strip() for item in waiting} == {"ready[1].wait()", "block.sync()"}
    assert all(item.wait.file == waiting_kernels.__file__ and item.word is None for item in waiting)
    text = result.dump_waits()
    assert text.startswith("stuck over grid (2, 1, 1):\n") and "0-1" in text and "mbarrier ready[1]" in text and "parity 0" in text
    assert text in dump_waits()


def test_named_and_cluster_barriers_with_roles() -> None:
    out = np.zeros(128, np.int32)
    result = stuck_cluster.launch(2, (out, 0))
    assert result.report.verdict == "error"
    found = {(item.cta, item.warps, item.wait.kind, item.wait.name, item.wait.role) for item in result.waits()}
    assert found == {
        (0, (0, 0), "cluster", "cluster barrier", ""),
        (0, (1, 1), "named", "full", "consumer"),
        (1, (0, 1), "cluster", "cluster barrier", ""),
    }


@pytest.mark.parametrize(("kernel", "threads"), [(stuck, 128), (stuck_cluster, 64)])
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
def test_a_good_run_leaves_none(kernel: Any, threads: int, schedule: str) -> None:
    out = np.zeros(2 * threads, np.int32)
    result = kernel.launch(2, (out, 1), schedule=schedule)
    assert result.report.verdict == "clean" and result.waits() == () and out.all()
    assert "no wait is recorded" in result.dump_waits()


@pytest.mark.parametrize("design", ["pull", "push"])
def test_the_combine_computes_the_same(design: str) -> None:
    random = np.random.default_rng(3)
    partitions, rows, depth = 2, 32, 64
    partial = random.standard_normal((partitions, rows, 1, depth)).astype(np.float32)
    statistics = random.uniform(1, 2, (partitions, rows, 1, 2)).astype(np.float32)
    offsets = np.array([0, rows], np.int32)
    results = []
    for debug in (False, True):
        bound = combine_kernel(CombineConfig(partitions, depth, rows, design))
        if debug:
            bound = bound.kernel.with_options(debug_waits=True).bind(**bound.constants)
        out = np.zeros((rows, 1, depth), np.uint16)
        given = {
            "partial": partial,
            "statistics": statistics,
            "row_offsets": offsets,
            "output": reinterpreted(out, "bf16"),
            "total_rows": rows,
            "heads": 1,
            "scale_log2e": 0.1,
        }
        unused = {
            item.name: np.zeros(64, item.dtype.replace("i", "int").replace("u", "uint").replace("f", "float"))
            for item in bound.artifact.manifest.given_parameters
            if item.name not in given
        }
        result = bound.launch(partitions, given | unused)
        assert result.report.verdict == "clean", result.report
        results.append(out)
        assert (bound.artifact.manifest.waits is not None) == debug
        if debug:
            assert result.waits() == () and {item.kind for item in bound.artifact.manifest.waits} >= {"cluster"}
    np.testing.assert_array_equal(results[0], results[1])


def test_a_kernel_that_never_waits() -> None:
    out = np.zeros(32, np.int32)
    result = numbered.launch(1, (out,))
    assert result.waits() == () and out.tolist() == list(range(32))


def test_without_the_option_nothing_changes() -> None:
    plain, debug = stuck.with_options(debug_waits=False).bind(), stuck.bind()
    assert plain.stages["recorded"] == plain.stages["fenced"]
    assert debug.stages["recorded"] != debug.stages["fenced"]
    assert "wait_records" not in plain.stages["recorded"] and "volatile" not in plain.stages["ptx"]
    with pytest.raises(Fa4dslError) as error:
        plain.launch(1, (np.zeros(128, np.int32), 1)).waits()
    assert error.value.code == "R101"


def test_the_manifest_travels() -> None:
    manifest = stuck.compile().manifest
    again = Manifest.from_json(manifest.to_json())
    assert again == manifest and [item.name for item in again.given_parameters] == ["out", "arrive"]
    assert [item.name for item in again.parameters] == ["out", "arrive", "wait_records"]
    broken = manifest.to_json().replace('"wait_records"', '"other"')
    with pytest.raises(Fa4dslError) as error:
        Manifest.from_json(broken)
    assert error.value.code == "R008"


def word(expected: int, pending: int, parity: int = 0) -> int:
    """As the code that ptxas makes of mbarrier.init writes it, with the phase's bit."""
    return ((1 << 20) - expected) << 1 | (((1 << 20) - pending) & 0xFFFFF) << 43 | parity << 63


def test_an_mbarriers_word() -> None:
    for expected, pending, parity in ((1, 1, 0), (3, 1, 1), (1024, 1000, 0), ((1 << 20) - 1, 7, 1)):
        found = BarrierWord(word(expected, pending, parity))
        assert (found.expected, found.pending, found.parity, found.outstanding) == (expected, pending, parity, 0)
    # As an H200 had them: 3 expected of which 2 have come; the next phase, with one of 3 left and 256 bytes.
    observed = [BarrierWord(bits) for bits in (0x7FFFF800001FFFFA, 0xFFFFFBFFE01FFFFA)]
    assert [(item.expected, item.pending, item.parity, item.outstanding) for item in observed] == [(3, 1, 0, 0), (3, 1, 1, 256)]
    assert BarrierWord(word(1, 1) | 512 << 21).outstanding == -512 and BarrierWord(word(1, 1) | ((1 << 21) - 512) << 21).outstanding == 512


def test_ptxas_still_lays_the_word_out_so() -> None:
    """Its code for mbarrier.init stores (2^20 - count) shifted by 1 and by 11, and pending_count takes 20 bits from bit 11 of the high half."""
    text = """.version 8.0
.target sm_90a
.address_size 64
.shared .align 8 .b64 barrier;
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r1, barrier; ld.param.u32 %r2, [n]; ld.param.u64 %d1, [p];
mbarrier.init.shared::cta.b64 [%r1], %r2;
mbarrier.arrive.shared::cta.b64 %d2, [%r1];
mbarrier.pending_count.b64 %r3, %d2;
st.global.u32 [%d1], %r3; ret;
}
"""
    sass = disassemble(assemble(text, TARGETS["sm_90a"], "k").cubin)
    assert "SYNCS.EXCH.64" in sass
    assert (
        re.search(r"-UR\d+, 0x100000, URZ", sass)
        and re.search(r"USHF\.L\.U32 .*0xb, URZ", sass)
        and re.search(r"USHF\.L\.U32 .*0x1, URZ", sass)
    )
    assert re.search(r"SHF\.R\.U32\.HI .*0xb", sass) and "0xfffff" in sass


def test_records_of_a_gpu() -> None:
    manifest = stuck.compile().manifest
    number = 1 + next(place for place, item in enumerate(manifest.waits) if item.kind == "mbarrier")
    words = np.zeros((3 * 128, 4), np.uint32)
    state = word(3, 1)
    for thread in (128, 129, 130, 256 + 7):
        words[thread] = number | 1 << 31, 1, state & 0xFFFFFFFF, state >> 32
    words[0] = 99, 0, 0, 0  # no such wait: torn or foreign
    found = decode(words, manifest, hardware=True)
    assert [(item.cta, item.first, item.last, item.parity) for item in found] == [(1, 0, 2, 1), (2, 7, 7, 1)]
    assert found[0].word is not None and found[0].word.pending == 1
    assert "1 of 3 arrivals pending, phase parity 0, 0 bytes outstanding" in table(found)[1]
    many = np.zeros((200 * 128, 4), np.uint32)
    many[::128] = number, 0, state & 0xFFFFFFFF, state >> 32
    lines = table(decode(many, manifest, hardware=True))
    assert len(lines) == 2 and lines[1].startswith("0-199  0  ")
