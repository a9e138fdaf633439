"""A run of decode attention from random inputs: what is chosen, what was asked for, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from fa4dsl.kernels.decode import choose_decode, with_stages
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.kernels.run_splitk_decode import DecodeRun, run_splitk_decode, variant
from fa4dsl.runtime.diagnostics import Fa4dslError


def run(**fields: Any) -> DecodeRun:
    return run_splitk_decode(**{"depth": 64, "device": "simulator"} | fields)


def test_right_and_clean() -> None:
    found = run(
        lengths=(300, 0, 65), key_heads=2, group=3, partitions=2, clusters=2, stages=2, page=64, lse=True, schedule="random", seed=3
    )
    assert found.ok and found.verdict == "clean" and found.worst_share <= 1.0, str(found.report)
    assert found.grid == (4, 2, 3) and found.cluster == (2, 1, 1)
    assert found.choice.reason == "asked for"
    shown = found.as_dict()
    assert shown["lengths"] == [300, 0, 65] and shown["key_heads"] == 2 and shown["grid"] == [4, 2, 3]
    assert (shown["partitions"], shown["clusters"], shown["stages"], shown["page"], shown["lse"]) == (2, 2, 2, 64, True)
    assert shown["ok"] is True and shown["seed"] == 3


def test_the_shape_chooses() -> None:
    found = run(lengths=[200], group=4)
    chosen = choose_decode(4, 1, 200)
    assert found.ok and found.choice == chosen
    assert (found.config.partitions, found.config.clusters, found.config.stages) == (chosen.partitions, chosen.clusters, chosen.stages)


def test_several_queries() -> None:
    found = run(lengths=(200, 2), group=4, queries=3)
    assert found.ok and found.verdict == "clean" and found.as_dict()["queries"] == 3


def test_no_key_at_all() -> None:
    found = run(lengths=(0,), lse=True, dependent=True)
    assert found.ok and found.max_abs_error == 0.0 and found.config.partitions == 1


def test_every_choice_is_a_kernel() -> None:
    """Whatever of P, clusters and stages is asked for, the rest goes with it."""
    for units in (1, 8, 300):
        for keys in (0, 64, 1000, 10**6):
            for depth in (64, 128, 256):
                for partitions in (0, 1, 2, 16):
                    for clusters in (0, 1, 3) if partitions != 1 else (0, 1):
                        for stages in (0, 1):
                            found = variant(8, units, keys, partitions, clusters, stages)
                            with_stages(DecodeConfig(found.partitions, 8, depth, 1, found.clusters), found.stages)
                            assert not partitions or found.partitions == partitions
                            assert not clusters or found.clusters == clusters
                            assert not stages or found.stages == stages


def test_reasons() -> None:
    measured = choose_decode(8, 1, 8192).reason
    assert variant(8, 1, 8192).reason == measured
    assert variant(8, 1, 8192, partitions=4, stages=2).reason == f"partitions and stages asked for, the rest {measured}"
    assert variant(8, 1, 8192, 4, 2, 2).reason == "asked for"
    # one tile of keys would have one CTA; two clusters have two each
    assert variant(8, 1, 20, clusters=2).partitions == 2
    # the measured 8 clusters of 8 would leave CTAs of 16 without a tile
    assert variant(8, 1, 4096, partitions=16).clusters == 4


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"lengths": ()}, "no sequence"),
        ({"lengths": (5, -1)}, "a sequence of -1 keys"),
        ({"lengths": (2**31,)}, "a sequence of 2147483648 keys"),
        ({"key_heads": 0}, "0 key heads"),
        ({"group": 65}, "65 rows"),
        ({"queries": 9}, "9 queries"),
        ({"group": 0}, "0 query heads"),
        ({"page": 48}, "pages of 48 rows"),
        ({"depth": 96}, "a depth of 96"),
        ({"depth": -64}, "a depth of -64"),
        ({"partitions": 3}, "3 partitions"),
        ({"partitions": -2}, "-2 partitions"),
        ({"clusters": -1}, "-1 clusters"),
        ({"partitions": 1, "clusters": 2}, "2 clusters of 1"),
        ({"stages": 60}, "60 stages"),
    ],
)
def test_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        run(**fields)
    assert caught.value.code == "L212" and words in str(caught.value)
