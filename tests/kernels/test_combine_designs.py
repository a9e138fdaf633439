"""Every design of the combine over its parameters: sampled in the simulator, clean under every schedule, and refused before launch where illegal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_case import CombineCase, Judgement
from fa4dsl.kernels.combine_config import DEPTHS, OUTPUTS, PARTITIONS, CombineConfig
from fa4dsl.kernels.combine_design import choose, measured_shape
from fa4dsl.kernels.combine_measured import MEASURED
from fa4dsl.kernels.run_splitk_combine import run_splitk_combine
from fa4dsl.runtime.arguments import check_arguments, in_order
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import make_options
from fa4dsl.runtime.simulator.device import simulator_launch
from fa4dsl.runtime.simulator.run import simulate

WIDE = ("pull_wide", "push", "push_bulk")


def right(case: CombineCase, schedule: str = "late", seed: int = 0) -> Judgement:
    """Runs a case in the simulator; the result must be right and the verdict clean."""
    result = combine_kernel(case.config).launch(case.grid, case.arguments, device="simulator", schedule=schedule, seed=seed)
    assert result.report.verdict == "clean", result.report.text()
    judged = case.judge()
    assert judged.worst_share <= 1.0
    assert judged.neighbours_untouched
    # A band in the wrong place would spoil one half of the columns far more than the other.
    assert judged.worse_half < 5.0 or judged.relative_l2 < 1e-6
    return judged


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("design", ["pull", *WIDE])
def test_schedules(design: Any, schedule: str) -> None:
    rows = 32 if design == "pull" else 8
    right(CombineCase(CombineConfig(4, 64, rows, design, lse=True), 7, heads=2, seed=1), schedule, seed=5)


# Every P and D at least once with each kind of exchange, bands even, short and empty, with all outputs; few rows, so that each takes a second.
PAIRS = [(p, DEPTHS[i % len(DEPTHS)], OUTPUTS[i % len(OUTPUTS)]) for i, p in enumerate(PARTITIONS)] + [
    (16, 64, "f32"),
    (4, 72, "bf16"),
    (4, 80, "e4m3"),
    (8, 96, "f16"),
    (6, 128, "bf16"),
    (2, 192, "e5m2"),
    (10, 256, "bf16"),
]


@pytest.mark.parametrize(("partitions", "depth", "output"), PAIRS, ids=lambda item: str(item))
def test_pull_over_the_parameters(partitions: int, depth: int, output: str) -> None:
    if depth == 72 and output in ("e4m3", "e5m2"):
        output = "bf16"  # 72 bytes cannot be a row of a tensor map: test_refused
    right(CombineCase(CombineConfig(partitions, depth, 32, "pull", output=output, lse=True), 5, seed=partitions))


@pytest.mark.parametrize(("partitions", "depth", "output"), PAIRS, ids=lambda item: str(item))
def test_exchanges_over_the_parameters(partitions: int, depth: int, output: str) -> None:
    design: Any = WIDE[(partitions + depth // 8) % 3]
    right(CombineCase(CombineConfig(partitions, depth, 4, design, output=output, lse=True), 3, tiles=2, seed=depth))


@pytest.mark.parametrize("output", ["e4m3", "e5m2"])
def test_rows_that_tma_cannot_address(output: str) -> None:
    right(CombineCase(CombineConfig(4, 72, 4, "push", output=output), 4, heads=3))


@pytest.mark.parametrize("design", ["pull", *WIDE])
def test_sink_and_maxima_in_log2(design: Any) -> None:
    rows = 32 if design == "pull" else 8
    for seed in (1, 2):
        right(CombineCase(CombineConfig(4, 64, rows, design, use_fma=False, sink=True, lse=True), 6, heads=3, seed=seed))
    right(CombineCase(CombineConfig(4, 64, rows, design, use_fma=False), 6, seed=3))


@pytest.mark.parametrize("design", ["pull", *WIDE])
def test_fused_heads(design: Any) -> None:
    config = CombineConfig(4, 64, 32, design, group=4, lse=True, sink=True, use_fma=False)
    for positions in (1, 5, 8):
        right(CombineCase(config, positions, tiles=2, heads=2, seed=positions))


@pytest.mark.parametrize("design", ["pull", *WIDE])
def test_everything_empty_is_zero_and_minus_infinity(design: Any) -> None:
    case = CombineCase(CombineConfig(4, 64, 32 if design == "pull" else 4, design, lse=True), 4)
    case.inputs.partial[:] = np.nan
    case.inputs.statistics[..., 0], case.inputs.statistics[..., 1] = -np.inf, 0.0
    right(case)
    assert (case.output.astype(np.float32) == 0.0).all()
    assert np.isneginf(case.lse).all()


@pytest.mark.parametrize("design", ["pull", *WIDE])
def test_trailing_ranks_empty(design: Any) -> None:
    """As when there are fewer tiles of keys than partitions: whole ranks have nothing, and what memory holds for them does not matter."""
    case = CombineCase(CombineConfig(8, 64, 32 if design == "pull" else 4, design, lse=True), 3, empty=0.0)
    case.inputs.partial[3:] = np.nan
    case.inputs.statistics[3:, ..., 0], case.inputs.statistics[3:, ..., 1] = -np.inf, 0.0
    right(case)


@pytest.mark.parametrize("rows", [1, 33, 77, 128])
def test_rows_of_a_tile(rows: int) -> None:
    """Any number of valid rows, at any start, any head; the output begins its buffer, so nothing in front of it may be needed."""
    right(CombineCase(CombineConfig(2, 64, 128, "pull"), rows, tiles=2, heads=2, seed=rows, rows_in_front=0))


def test_rows_of_a_tile_with_the_other_designs() -> None:
    for rows, design in ((1, "push"), (13, "pull_wide"), (16, "push_bulk")):
        right(CombineCase(CombineConfig(6, 80, 16, design), rows, tiles=2, heads=2, seed=rows, rows_in_front=0))  # type: ignore[arg-type]


SWIZZLES = [
    ("32B", "bf16", 128),
    ("32B", "e4m3", 256),
    ("64B", "f32", 128),
    ("64B", "f16", 96),
    ("128B", "bf16", 96),
    ("128B", "e5m2", 256),
]


@pytest.mark.parametrize(("swizzle", "output", "depth"), SWIZZLES)
def test_swizzled_output(swizzle: Any, output: str, depth: int) -> None:
    right(CombineCase(CombineConfig(2, depth, 64, "pull", swizzle=swizzle, output=output), 50, heads=2, seed=7))
    right(CombineCase(CombineConfig(4, depth, 32, "pull", swizzle=swizzle, output=output, group=2), 9, seed=8))


@pytest.mark.parametrize(
    ("partitions", "depth", "swizzle", "blocks"),
    [
        (2, 128, "none", 1),
        (2, 128, "none", 8),
        (4, 128, "none", 2),
        (8, 128, "none", 2),
        (6, 80, "none", 2),
        (2, 256, "64B", 4),
        (2, 256, "128B", 2),
    ],
)
def test_batched_stores(partitions: int, depth: int, swizzle: Any, blocks: int) -> None:
    config = CombineConfig(partitions, depth, 32, "pull", swizzle=swizzle, blocks_per_store=blocks)
    right(CombineCase(config, 20, tiles=2, heads=2, seed=blocks))
    copies = combine_kernel(config).artifact.ptx.count("cp.async.bulk.tensor.5d.global")
    assert copies == config.band // blocks


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"partitions": 3}, "L065", "even number"),
        ({"partitions": 18}, "L065", "18"),
        ({"depth": 100}, "L066", "100"),
        ({"rows": 33}, "L067", "33"),
        ({"rows": 129, "design": "push"}, "L067", "129"),
        ({"design": "fastest"}, "L200", "pull_wide"),
        ({"output": "int8"}, "L200", "e4m3"),
        ({"swizzle": "16B"}, "L200", "128B"),
        ({"group": 3}, "L201", "3 fused heads"),
        ({"sink": True}, "L202", "use_fma=False"),
        ({"clusters": 2}, "L203", "pull"),
        ({"clusters": 17, "design": "push"}, "L203", "17"),
        ({"pieces": 2}, "L208", "pull"),
        ({"pieces": 0, "design": "push"}, "L208", "0 pieces"),
        ({"pieces": 17, "design": "push", "group": 8}, "L208", "16 positions"),
        ({"depth": 256, "design": "push_bulk"}, "L204", "232448"),
        ({"design": "push", "swizzle": "64B"}, "L205", "swizzle"),
        ({"design": "push", "blocks_per_store": 1}, "L205", "blocks_per_store"),
        ({"depth": 72, "output": "e4m3"}, "L206", "72 bytes"),
        ({"blocks_per_store": -1}, "L207", "-1"),
        ({"blocks_per_store": 2, "group": 4}, "L207", "five dimensions"),
        ({"partitions": 2, "depth": 72, "swizzle": "32B", "blocks_per_store": 1}, "L207", "whole number of blocks"),
        ({"partitions": 2, "blocks_per_store": 3}, "L207", "a band has 8 blocks"),
        ({"partitions": 6, "blocks_per_store": 3}, "L207", "the last band has 1 blocks"),
        ({"threads": 256}, "L209", "256"),
        ({"threads": 100, "design": "push"}, "L209", "100"),
    ],
)
def test_refused(fields: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        CombineConfig(**fields)
    assert caught.value.code == code
    assert words in str(caught.value)


@pytest.mark.parametrize("design", WIDE)
def test_two_levels(design: Any) -> None:
    """P beyond a cluster: the last CTA of each rank to arrive combines through L2, twice over to see that the counters reset."""
    config = CombineConfig(4, 64, 8, design, clusters=5, lse=True, sink=True, use_fma=False)
    case = CombineCase(config, 7, tiles=2, heads=2, seed=3)
    right(case, "random", seed=1)
    right(case, "random", seed=2)


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize("design", WIDE)
def test_pieces(design: Any, schedule: str) -> None:
    """The rows of a tile among several clusters: tiles that fill all pieces, leave some short, and leave some empty."""
    config = CombineConfig(4, 64, 16, design, pieces=4, lse=True)
    assert config.cluster_rows == 4
    for rows in (1, 4, 7, 16):
        right(CombineCase(config, rows, tiles=2, heads=2, seed=rows, rows_in_front=0), schedule, seed=rows)


@pytest.mark.parametrize("design", WIDE)
def test_pieces_with_fused_heads_and_clusters(design: Any) -> None:
    """A piece is made of whole positions, the last one shorter where they do not divide; each has clusters and counters of its own."""
    fused = CombineConfig(2, 64, 30, design, group=3, pieces=4, lse=True, sink=True, use_fma=False)
    assert fused.cluster_rows == 9
    for positions in (3, 10):
        right(CombineCase(fused, positions, tiles=2, heads=2, seed=positions))
    many = CombineConfig(2, 64, 8, design, clusters=3, pieces=4, lse=True)
    case = CombineCase(many, 5, tiles=2, heads=2, seed=4)
    right(case, "random", seed=1)
    right(case, "random", seed=2)


def test_choice_is_the_fastest_measured() -> None:
    for (rows, partitions), designs in MEASURED.items():
        found = choose(rows, partitions, 128)
        fits = [d for d in designs if d != "push_bulk" or rows < 128]
        assert found.design == min(fits, key=lambda d: designs[d][2])
        assert (found.threads, found.pieces) == designs[found.design][:2]
        assert f"{rows} rows" in found.reason and f"{designs[found.design][2]:.2f} us" in found.reason
        assert (f"cut into {found.pieces} pieces" in found.reason) == (found.pieces > 1)
        CombineConfig(partitions, 128, rows, found.design, found.threads, pieces=found.pieces)


def test_choice_for_what_was_not_measured() -> None:
    assert measured_shape(5, 6, 128) == (8, 8)
    assert measured_shape(4, 14, 256) == (8, 16)
    assert measured_shape(128, 2, 256) == (128, 2)
    assert choose(128, 16, 256).design != "push_bulk"  # its stage and slots do not fit
    assert choose(64, 8, 256, group=64).pieces == 1  # one position
    assert choose(4, 8, 128, swizzle="64B").design == "pull"
    assert "blocks_per_store" in choose(4, 8, 128, blocks_per_store=1).reason
    with pytest.raises(Fa4dslError):
        choose(4, 5, 128)


@given(
    st.sampled_from(PARTITIONS),
    st.sampled_from(DEPTHS),
    st.integers(1, 12),
    st.sampled_from(WIDE),
    st.sampled_from(OUTPUTS),
    st.sampled_from([0, 32, 96, 256]),
    st.integers(0, 2**31),
)
@settings(max_examples=4)
def test_any_exchange(partitions: int, depth: int, rows: int, design: str, output: str, threads: int, seed: int) -> None:
    run = run_splitk_combine(
        partitions, depth, rows, 1, 1, seed, device="simulator", design=design, threads=threads, output=output, schedule="random"
    )
    assert run.ok, run


@pytest.mark.parametrize(("design", "rows", "threads"), [("pull_wide", 64, 256), ("push", 8, 128)])
def test_machine_code(design: Any, rows: int, threads: int) -> None:
    """128-bit trips through the cluster, nothing in local memory."""
    artifact = combine_kernel(CombineConfig(8, 128, rows, design, threads)).artifact
    assert artifact.manifest.spill_bytes == 0
    assert "local" not in artifact.ptx
    if design == "push":
        assert "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32" in artifact.ptx
        assert artifact.ptx.count("barrier.cluster.wait") == 1  # none at the end
    else:
        assert artifact.ptx.count("ld.shared::cluster.v4") == 8


@pytest.mark.parametrize(("design", "rows"), [("pull", 128), ("pull_wide", 64), ("push", 64)])
def test_no_bank_conflicts(design: Any, rows: int) -> None:
    """Each shared access of a warp takes the passes that its bytes need, and no more: staging, slots, statistics and the packed output."""
    case = CombineCase(CombineConfig(4, 128, rows, design), rows)
    artifact = combine_kernel(case.config).artifact
    values = check_arguments(artifact.manifest, in_order(artifact.manifest, case.arguments), None)
    launch, _ = simulator_launch(artifact, case.grid, make_options(artifact), values)
    report = simulate(artifact.ptx, launch, manifest=artifact.manifest, measure=True, check=False)
    lines = report.measures.as_dict()["bank_conflicts"]
    assert sum(line["bytes"] for line in lines) >= rows * 128 * 4
    assert [line for line in lines if line["conflicts"]] == []
