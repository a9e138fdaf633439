"""The stand-alone combine of partials in global memory: any P up to 64, any rows, every way of sharing a row out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.kernels.combine_partials import PartialsConfig, combine_partials, partials_config
from fa4dsl.kernels.reference import ROUNDING, SMALLEST, STORED
from fa4dsl.runtime.diagnostics import Fa4dslError


def right(config: PartialsConfig, rows: int, seed: int = 0, schedule: str = "late") -> None:
    """Runs on random partials, of which some are empty (and NaN, unless the configuration says finite), one row everywhere."""
    random = np.random.default_rng(seed)
    partial = random.standard_normal((config.partitions, rows, config.depth)).astype(np.float32)
    scores = (4.0 * random.standard_normal((config.partitions, rows))).astype(np.float32)
    empty = random.random(scores.shape) < 0.2
    empty[:, -1] = True
    scores[empty] = -np.inf
    partial[empty] = 7.0 if config.finite else np.nan
    stored = np.dtype(STORED[config.output])
    whole = np.full(((rows + 2) * config.depth * stored.itemsize), 0xFF, np.uint8).view(stored).reshape(rows + 2, config.depth)
    lse = np.full(rows, np.nan, np.float32)
    arguments = (partial, scores, whole[1:-1], lse, rows)
    result = combine_partials(config.output).bind(c=config).launch(config.grid(rows), arguments, device="simulator", schedule=schedule)
    assert result.report.verdict == "clean", result.report.text()
    largest = np.maximum(scores.max(axis=0), -1e30).astype(np.float64)
    weight = np.exp(scores.astype(np.float64) - largest)
    total = weight.sum(axis=0)
    exact = np.einsum("pr,prd->rd", weight / np.where(total > 0.0, total, 1.0), np.where(empty[..., None], 0.0, partial).astype(np.float64))
    bound = np.abs(exact) * ROUNDING[config.output] + SMALLEST[config.output] + (2.0 * config.partitions + 40.0) * 2.0**-23 * 5.0
    assert (np.abs(whole[1:-1].astype(np.float64) - exact) <= bound).all()
    assert (whole[[0, -1]].view(np.uint8) == 0xFF).all()
    if config.lse:
        assert np.isneginf(lse[-1])
        assert np.allclose(lse[:-1], (largest + np.log(np.where(total > 0.0, total, 1.0)))[:-1], atol=2e-6)
    else:
        assert np.isnan(lse).all()


VARIANTS = [
    PartialsConfig(2, lse=True),
    PartialsConfig(8, rows_per_block=8, vectors=2),
    PartialsConfig(16, rows_per_block=2, groups=4, lse=True),
    PartialsConfig(64, rows_per_block=1, groups=8, vectors=2, lse=True),
    PartialsConfig(5, groups=2, rows_per_block=3),
    PartialsConfig(7, depth=72, rows_per_block=3, output="f16", lse=True),
    PartialsConfig(1, output="f32"),
    PartialsConfig(8, rows_per_block=4, streaming=True),
    PartialsConfig(4, depth=256, output="e4m3", finite=True),
    PartialsConfig(6, depth=80, output="e5m2", groups=2, dependent=True),
]


@pytest.mark.parametrize("config", VARIANTS, ids=lambda c: f"P{c.partitions}-D{c.depth}-g{c.groups}-v{c.vectors}-{c.output}")
def test_variants(config: PartialsConfig) -> None:
    right(config, 11)


@given(st.integers(1, 64), st.integers(1, 40), st.sampled_from([64, 72, 96, 128, 192]), st.integers(0, 2**31))
@settings(max_examples=8)
def test_any_shape(partitions: int, rows: int, depth: int, seed: int) -> None:
    right(partials_config(partitions, rows, depth, lse=True), rows, seed, "random")


def test_variant_of_a_shape_is_legal() -> None:
    for partitions in range(1, 65):
        for rows in (1, 32, 300, 5000, 100_000):
            for depth in (64, 72, 128, 256):
                assert partials_config(partitions, rows, depth).threads <= 1024


@pytest.mark.parametrize(
    "fields",
    [
        {"partitions": 0},
        {"partitions": 65},
        {"depth": 66},
        {"vectors": 3},
        {"groups": 3},
        {"partitions": 2, "groups": 4},
        {"rows_per_block": 64},
    ],
)
def test_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(Fa4dslError) as caught:
        PartialsConfig(**fields)
    assert caught.value.code == "L211"


def test_output_words() -> None:
    with pytest.raises(Fa4dslError) as caught:
        PartialsConfig(output="int4")
    assert caught.value.code == "L200"


def test_machine_code() -> None:
    """128-bit loads, all in flight before the first is used; nothing in local memory."""
    artifact = combine_partials("bf16").bind(c=PartialsConfig(8)).artifact
    assert artifact.manifest.spill_bytes == 0
    assert artifact.ptx.count("ld.global.nc.v4") == 8
