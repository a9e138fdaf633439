"""The split-K combine: numbers in the simulator against float64, every shape of band, and what its configuration refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.kernels.combine import CombineArrays, combine_arguments
from fa4dsl.kernels.reference import (
    CombineInputs,
    combine_reference,
    combine_tolerance,
    is_untouched,
    poisoned_output,
    random_combine_inputs,
)
from fa4dsl.kernels.run_splitk_combine import run_splitk_combine
from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
from fa4dsl.runtime.diagnostics import Fa4dslError


def arguments_of(inputs: CombineInputs, output: Any, heads: int) -> tuple[Any, ...]:
    """The flagship's arguments."""
    arrays = CombineArrays(inputs.partial, inputs.statistics, inputs.row_offsets, output, inputs.total_rows, heads, inputs.scale_log2e)
    return combine_arguments(CombineConfig(), arrays)


SAMPLES = [
    # partitions, depth, rows, tiles, heads: full and partial tiles, the smallest tile, bands of 8, 4, 2, 1 and no blocks
    (2, 64, 1, 1, 1),
    (2, 128, 77, 1, 2),
    (4, 64, 128, 2, 1),
    (4, 128, 33, 1, 1),
    (8, 64, 128, 1, 1),
    (8, 128, 128, 2, 1),
    (16, 64, 77, 1, 1),
    (16, 128, 5, 1, 1),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: "-".join(map(str, sample)))
@pytest.mark.parametrize("schedule", ["eager", "late"])
def test_agrees_with_float64(sample: tuple[int, int, int, int, int], schedule: str) -> None:
    run = run_splitk_combine(*sample, seed=sum(sample), device="simulator", schedule=schedule, design="pull")
    assert run.verdict == "clean", str(run.report)
    assert run.worst_share <= 1.0
    assert run.max_abs_error <= run.tolerance
    assert run.relative_l2 < 3e-3
    assert run.neighbours_untouched
    assert run.ok


def test_schedule_does_not_change_a_bit() -> None:
    results = []
    for schedule in ("eager", "late", "random"):
        inputs = random_combine_inputs(4, 64, 40, 1, 1, seed=5)
        output, _ = poisoned_output(inputs.total_rows, 1, 64, 128)
        arguments = arguments_of(inputs, output, 1)
        splitk_combine.bind(c=CombineConfig(4, 64)).launch((4, 1, 1), arguments, device="simulator", schedule=schedule, seed=9)
        results.append(output.view(np.uint16).copy())
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def test_tiles_of_different_lengths() -> None:
    """Ragged tiles: row_offsets may leave any number of rows, 1 to 128, to each tile."""
    inputs = random_combine_inputs(2, 64, 103, 1, 2, seed=3)
    offsets = np.array([0, 1, 65, 103], np.int32)
    output, whole = poisoned_output(103, 2, 64, 128)
    arguments = arguments_of(replace(inputs, row_offsets=offsets), output, 2)
    result = splitk_combine.bind(c=CombineConfig(2, 64)).launch((6, 2, 1), arguments, device="simulator", schedule="late")
    assert result.report.verdict == "clean"
    assert (np.abs(output.astype(np.float64) - combine_reference(inputs)) <= combine_tolerance(inputs)).all()
    assert is_untouched(whole[:128])
    assert is_untouched(whole[128 + 103 :])


def test_all_partitions_empty_gives_zero() -> None:
    inputs = random_combine_inputs(8, 64, 32, 1, 1, seed=2)
    inputs.statistics[..., 0] = -np.inf
    inputs.statistics[..., 1] = 0.0
    output, _ = poisoned_output(32, 1, 64, 128)
    arguments = arguments_of(inputs, output, 1)
    splitk_combine.bind(c=CombineConfig(8, 64)).launch((8, 1, 1), arguments, device="simulator")
    assert (output.astype(np.float32) == 0.0).all()


def test_scale_zero_with_empty_partitions_is_no_nan() -> None:
    """-inf times zero is NaN; the weight of an empty partition must not be computed that way."""
    inputs = random_combine_inputs(2, 64, 16, 1, 1, seed=4, empty=0.5)
    output, _ = poisoned_output(16, 1, 64, 128)
    arguments = arguments_of(replace(inputs, scale_log2e=0.0), output, 1)
    splitk_combine.bind(c=CombineConfig(2, 64)).launch((2, 1, 1), arguments, device="simulator")
    assert np.isfinite(output.astype(np.float32)).all()


def test_the_bound_sees_swapped_bands() -> None:
    """A result whose bands are exchanged must not hide under the tolerance."""
    inputs = random_combine_inputs(4, 64, 128, 1, 1, seed=6)
    exact, bound = combine_reference(inputs), combine_tolerance(inputs)
    swapped = exact.reshape(128, 1, 4, 16)[:, :, [1, 0, 2, 3]].reshape(exact.shape)
    assert (np.abs(swapped - exact) > bound)[:, :, :32].mean() > 0.95


@given(st.integers(1, 4), st.sampled_from([64, 128]), st.integers(1, 128), st.integers(1, 2), st.integers(1, 3), st.integers(0, 2**31))
@settings(max_examples=8)
def test_any_shape(power: int, depth: int, rows: int, tiles: int, heads: int, seed: int) -> None:
    assert run_splitk_combine(2**power, depth, rows, tiles, heads, seed, device="simulator", design="pull").ok


def test_reference_is_a_softmax_over_everything() -> None:
    """Splitting keys into partitions and combining is the softmax over all keys."""
    random = np.random.default_rng(0)
    scores, values = random.standard_normal((4, 32)) * 3.0, random.standard_normal((32, 64))
    scale = 1.3
    direct = np.exp2((scores - scores.max(axis=1, keepdims=True)) * scale)
    direct = direct / direct.sum(axis=1, keepdims=True) @ values
    partial, statistics = np.zeros((2, 4, 1, 64), np.float32), np.zeros((2, 4, 1, 2), np.float32)
    for part in range(2):
        keys = slice(16 * part, 16 * part + 16)
        maximum = scores[:, keys].max(axis=1)
        weights = np.exp2((scores[:, keys] - maximum[:, None]) * scale)
        partial[part, :, 0] = weights @ values[keys] / weights.sum(axis=1, keepdims=True)
        statistics[part, :, 0] = np.stack([maximum, weights.sum(axis=1)], axis=1)
    combined = combine_reference(CombineInputs(partial, statistics, np.array([0, 4], np.int32), scale))
    assert np.allclose(combined[:, 0], direct, atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"partitions": 3}, "L065"), ({"partitions": 32}, "L065"), ({"depth": 68}, "L066"), ({"rows": 160}, "L067"), ({"rows": 0}, "L067")],
)
def test_configuration_refuses(fields: dict[str, int], code: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        CombineConfig(**fields)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("fields", "code"), [({"rows": 0}, "L096"), ({"rows": 129}, "L096"), ({"tiles": 0}, "L097"), ({"heads": 0}, "L097")]
)
def test_run_refuses(fields: dict[str, int], code: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        run_splitk_combine(device="simulator", **fields)
    assert caught.value.code == code


def test_machine_code_is_what_a_kernel_engineer_expects() -> None:
    artifact = splitk_combine.bind(c=CombineConfig(8, 128)).artifact
    assert artifact.manifest.spill_bytes == 0
    assert artifact.manifest.cluster == (8, 1, 1)
    assert artifact.manifest.dynamic_shared_bytes <= 65536 + 1024 + 128
    assert artifact.ptx.count("ld.shared::cluster.v4.b32") == 7 * 4  # (P - 1) peers, two quads for each of two blocks
    assert artifact.ptx.count("ld.shared::cluster.v2.b32") == 7
    assert artifact.ptx.count("mbarrier.arrive.release.cluster.shared::cluster.b64") == 1  # one lane for each rank
    assert artifact.ptx.count("fence.proxy.async.shared::cta") == 1
    assert artifact.ptx.count("cp.async.bulk.tensor.4d.global.shared::cta") == 2
    assert "ld.local" not in artifact.ptx
