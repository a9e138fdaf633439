"""Split-K decode attention: every way of sharing the keys, in the simulator, right and clean; refused before launch where there is no such kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.kernels.combine_case import Judgement
from fa4dsl.kernels.decode import choose_decode, decode_config, decode_kernel
from fa4dsl.kernels.decode_case import DecodeCase
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.kernels.decode_measured import MEASURED
from fa4dsl.runtime.diagnostics import Fa4dslError


def right(case: DecodeCase, schedule: str = "late", seed: int = 0, launches: int = 1) -> Judgement:
    for _ in range(launches):
        result = decode_kernel(case.config).launch(case.grid, case.arguments, device="simulator", schedule=schedule, seed=seed)
        assert result.report.verdict == "clean", result.report.text()
        judged = case.judge()
        assert judged.worst_share <= 1.0 and judged.neighbours_untouched, judged
    return judged


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_schedules(partitions: int, schedule: str) -> None:
    right(DecodeCase(DecodeConfig(partitions, 4, stages=2, lse=True), (330, 64), 2, seed=partitions), schedule, seed=3)


@pytest.mark.parametrize("partitions", [1, 2, 8, 16])
@pytest.mark.parametrize("group", [1, 3, 8])
def test_partitions_and_groups(partitions: int, group: int) -> None:
    """Also more CTAs than tiles: the last ones have nothing."""
    right(DecodeCase(DecodeConfig(partitions, group, 64, stages=2, lse=True), (257,), seed=group))


@pytest.mark.parametrize("depth", [64, 128, 256])
def test_depths(depth: int) -> None:
    right(DecodeCase(DecodeConfig(2, 8, depth, stages=1), (200,), seed=depth))


def test_lengths() -> None:
    """No key, one, a tile less one, a tile, one more; what lies behind the keys is NaN, in a warp's sixteen and in whole tiles of the cache."""
    right(DecodeCase(DecodeConfig(2, 2, 64, stages=2, lse=True), (0, 1, 63, 64, 65, 130), seed=5))


@pytest.mark.parametrize("page", [64, 128])
def test_pages(page: int) -> None:
    right(DecodeCase(DecodeConfig(2, 8, 64, stages=2, page=page), (300, 17, 128), 2, seed=page))


@pytest.mark.parametrize("partitions", [2, 4])
def test_two_levels(partitions: int) -> None:
    """Twice over, to see that the counters reset."""
    case = DecodeCase(DecodeConfig(partitions, 4, 64, stages=2, clusters=3, lse=True), (500, 64, 0), 2, seed=partitions)
    right(case, "random", seed=1, launches=2)


def test_scores_that_grow() -> None:
    """Large scores move the maximum again and again, and past its slack of 2^8; small ones never."""
    for spread in (40.0, 0.01):
        right(DecodeCase(DecodeConfig(2, 8, 64, stages=2, lse=True), (320,), seed=1, spread=spread))


@pytest.mark.parametrize(("group", "depth"), [(16, 64), (12, 128), (32, 128), (64, 64), (16, 256)])
def test_many_heads(group: int, depth: int) -> None:
    """More than one mma takes; from a size on the queries lie in shared memory. Nothing is spilled, which the compiler would warn of."""
    right(DecodeCase(DecodeConfig(2, group, depth, stages=1, lse=True), (150, 3), seed=group))


@pytest.mark.parametrize(
    ("queries", "group", "page", "clusters"), [(2, 8, 0, 1), (3, 5, 64, 1), (8, 3, 0, 2), (4, 8, 64, 2), (17, 1, 0, 1)]
)
def test_several_queries(queries: int, group: int, page: int, clusters: int) -> None:
    """Each sees the keys up to its own; of a sequence shorter than they are the first ones see none."""
    lengths = (queries // 2, queries, 64, 64 + queries - 1, 129)
    right(DecodeCase(DecodeConfig(2, group, 64, 2, clusters, queries, page, lse=True), lengths, 1, seed=queries), "random", seed=2)


@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("depth", [64, 128, 256])
def test_caches_of_8_bits(depth: int, partitions: int) -> None:
    """With scales of keys and values, in pages, NaN behind the keys."""
    right(
        DecodeCase(DecodeConfig(partitions, 5, depth, stages=2, page=64 * (depth // 128), cache="e4m3", lse=True), (0, 9, 150), seed=depth)
    )


@pytest.mark.parametrize(("group", "queries", "depth"), [(32, 1, 128), (4, 3, 64)])
def test_caches_of_8_bits_and_many_rows(group: int, queries: int, depth: int) -> None:
    right(DecodeCase(DecodeConfig(2, group, depth, 2, queries=queries, cache="e4m3", lse=True), (130, 2), 1, seed=group), "random", seed=4)


@pytest.mark.parametrize("forgotten", ["key_scale", "value_scale"])
def test_forgotten_scales_are_seen(forgotten: str) -> None:
    case = DecodeCase(DecodeConfig(1, 4, 64, stages=2, cache="e4m3"), (100,))
    right(case)
    case.arrays = replace(case.arrays, **{forgotten: 1.0})
    del case.exact
    assert case.judge().worst_share > 1.0


def test_dependent_launch() -> None:
    right(DecodeCase(DecodeConfig(2, 8, 64, stages=2, dependent=True), (200,)))


@given(
    st.sampled_from([1, 2, 4]),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from([0, 64]),
    st.lists(st.integers(0, 300), min_size=1, max_size=3),
    st.integers(0, 2**31),
)
@settings(max_examples=4)
def test_any_shape(partitions: int, group: int, clusters: int, queries: int, page: int, lengths: list[int], seed: int) -> None:
    config = DecodeConfig(partitions, group, 64, 2, clusters if partitions > 1 else 1, queries, page, lse=True)
    right(DecodeCase(config, tuple(lengths), 1, seed), "random", seed)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"partitions": 3}, "3 partitions"),
        ({"depth": 96}, "depth of 96"),
        ({"group": 33}, "are 33 rows; at a depth of 128 it has at most 32"),
        ({"group": 0}, "0 query heads"),
        ({"queries": 0}, "0 queries"),
        ({"queries": 5}, "5 queries of 8 query heads for a key head are 40 rows"),
        ({"depth": 256, "group": 17, "stages": 1}, "at most 16"),
        ({"page": 48}, "pages of 48"),
        ({"cache": "f16"}, "keys and values of 'f16'"),
        ({"clusters": 17}, "17 clusters"),
        ({"partitions": 1, "clusters": 2}, "2 clusters of 1"),
        ({"stages": 0}, "0 stages"),
        ({"stages": 7}, "7 stages"),
    ],
)
def test_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        DecodeConfig(**fields)
    assert caught.value.code == "L212" and words in str(caught.value)


def test_choice() -> None:
    for (group, units, keys), (partitions, clusters, stages, microseconds) in MEASURED.items():
        found = choose_decode(group, units, keys)
        assert (found.partitions, found.clusters, found.stages) == (partitions, clusters, stages)
        assert f"{microseconds:.2f} us" in found.reason
    assert choose_decode(8, 1, 65536, two_levels=False).clusters == 1
    assert choose_decode(8, 1, 50).partitions == 1  # one tile
    for units in (1, 3, 40, 500):
        for keys in (1, 100, 3000, 10**6):
            for depth in (64, 128, 256):
                decode_config(5, units, keys, depth, lse=True)
                decode_config(4096 // depth, units, keys, depth)
                decode_config(5, units, keys, depth, queries=3)


def test_wrong_results_are_seen() -> None:
    case = DecodeCase(DecodeConfig(2, 4, 64, stages=2), (200,))
    right(case)
    for change in (lambda out: out * 1.02, lambda out: np.roll(out, 1, axis=-1), lambda out: np.where(np.arange(64) < 8, 0, out)):
        kept = case.arrays.output.copy()
        case.arrays.output[:] = change(kept.astype(np.float32)).astype(kept.dtype)
        assert case.judge().worst_share > 1.0
        case.arrays.output[:] = kept


def test_machine_code() -> None:
    """16-byte loads of keys, ldmatrix of values, st.async to the owners, nothing in local memory."""
    ptx = decode_kernel(DecodeConfig(8, 8, stages=3)).artifact.ptx
    assert ptx.count("st.async") > 0 and ".local" not in ptx
    assert ptx.count("ld.shared.v4.b32") + ptx.count("ld.shared::cta.v4") >= 8 and ptx.count("ldmatrix.sync.aligned.m8n8.x4.trans") == 8
    assert ptx.count("mma.sync.aligned.m16n8k16") == 16 and ptx.count("movmatrix") == 2
