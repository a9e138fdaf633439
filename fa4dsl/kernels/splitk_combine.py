"""The cluster split-K combine: P partial attention results of a tile become one, inside a cluster of P CTAs.

Each CTA of a cluster holds one partition's result for the same tile of rows: O (normalised, f32), and per row the maximum and the sum of
the softmax. The CTAs trade pieces through distributed shared memory (a reduce-scatter over bands of columns): every rank owns a band of
8-column blocks, stages the rest for its peers, and combines its own band from everybody's.
"""

# The bodies below are fa4dsl's language, whose types (f32, Pointer[f32]) a Python type checker does not know.
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import dataclass

from fa4dsl import (
    Pointer,
    RaggedTensorMap,
    bf16,
    block,
    cluster,
    device_function,
    elect,
    exp2,
    f32,
    i32,
    i64,
    kernel,
    mbarrier,
    rcp,
    registers,
    shared,
    static_range,
    thread,
    tma,
    where,
)
from fa4dsl.runtime.diagnostics import fail

QUAD = 4
"""f32 of a 16-byte access."""
BLOCK = 8
"""Columns of an output block: 16 bytes of bf16, one box of the store."""


@dataclass(frozen=True)
class CombineConfig:
    """One specialisation of the combine."""

    partitions: int = 8
    """P: partial results of a tile, and CTAs of a cluster."""
    depth: int = 128
    """D: columns of the output."""
    rows: int = 128
    """BM: rows of a tile, one thread each; a tile may have fewer valid rows."""

    def __post_init__(self) -> None:
        if self.partitions not in (2, 4, 8, 16):
            fail("L065", partitions=self.partitions)
        if self.depth not in (64, 128):
            fail("L066", depth=self.depth)
        if not 32 <= self.rows <= 128 or self.rows % 32:
            fail("L067", rows=self.rows)

    @property
    def blocks(self) -> int:
        """Output blocks of 8 columns."""
        return self.depth // BLOCK

    @property
    def band(self) -> int:
        """Output blocks that a rank owns."""
        return -(-self.blocks // self.partitions)

    @property
    def bands(self) -> int:
        """Ranks that own a band; the others only stage."""
        return self.blocks // self.band


@device_function
def stage_peers_bands(stage, partial, row, rank, *, c):
    """Every band but our own: normalised f32, 16 bytes a store, at the place where its owner will look for it."""
    for step in static_range(c.bands):
        if step > 0 or (c.partitions > c.bands and rank >= c.bands):  # a rank beyond the bands owns none and stages all
            first_quad = (rank + step) % c.bands * (2 * c.band)
            for quad in static_range(2 * c.band):
                stage[first_quad + quad, row] = partial.load(QUAD * (first_quad + quad), width=QUAD)


@device_function
def softmax_weights(maxsum, row, rank, own_max, own_sum, scale_log2e, *, c):
    """Weight of each partition, own first: exp2((m - M) * scale) * l, normalised; zero where a partition is empty, all zero if every one is."""
    maxima, sums = registers(f32, c.partitions), registers(f32, c.partitions)
    maxima[0], sums[0] = own_max, own_sum
    for slot in static_range(1, c.partitions):
        maxima[slot], sums[slot] = maxsum.on((rank + slot) % c.partitions)[row]
    largest = max(*maxima)
    weights = registers(f32, c.partitions)
    for slot in static_range(c.partitions):
        scaled = sums[slot] * exp2((maxima[slot] - largest) * scale_log2e)
        weights[slot] = where(sums[slot] > 0.0, scaled, 0.0)
    total = sum(weights)
    weights *= where(total > 0.0, rcp(total), 0.0)
    return weights


@kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.rows)
def splitk_combine(
    partial: Pointer[f32],
    statistics: Pointer[f32],
    row_offsets: Pointer[i32],
    output: RaggedTensorMap,
    total_rows: i32,
    heads: i32,
    scale_log2e: f32,
    *,
    c: CombineConfig,
):
    """Combines the partials of every tile and head.

    Grid: (tiles * P, heads, 1), clusters of (P, 1, 1): one cluster for a tile of a head. Tile t holds rows row_offsets[t] up to
    row_offsets[t + 1], at most BM.

    partial: f32 ``[P, total_rows, heads, D]``, each partition's O, normalised by its own sum. statistics: f32 ``[P, total_rows, heads, 2]``,
    maximum (in units of raw scores) and sum; an empty partition has -inf and 0. output: bf16 ``[total_rows, heads, D]``. scale_log2e: softmax
    scale times log2(e). A row that is empty in all partitions becomes 0.
    """
    rank, tile, head, row = cluster.rank(), cluster.index(), block.index("y"), thread.index()
    stage = shared(f32, (c.depth // QUAD, c.rows, QUAD), name="stage")
    maxsum = shared(f32, (c.rows, 2), name="maxsum")
    publish = mbarrier(c.rows * c.partitions, scope="cluster", name="publish")
    cluster.sync()  # no peer arrives before the barrier exists

    first_row = row_offsets[tile]
    rows = row_offsets[tile + 1] - first_row
    source_row = first_row + min(row, rows - 1)  # rows past the end repeat the last one; the store drops them
    source = (rank * total_rows + source_row) * heads + head
    partial += source.to(i64) * c.depth
    own_max, own_sum = statistics.load(2 * source, width=2)

    stage_peers_bands(stage, partial, row, rank, c=c)
    maxsum[row] = own_max, own_sum
    for peer in static_range(c.partitions):
        publish.on(peer).arrive()  # releases this thread's stores to that peer

    if c.bands == c.partitions or rank < c.bands:
        first_block = rank * c.band
        first_quad = 2 * first_block
        own = registers(f32, (c.band, 2, QUAD))
        for i in static_range(c.band):
            for half in static_range(2):  # our own band stays in registers; its loads hide the cluster's latency
                own[i, half] = partial.load(QUAD * (first_quad + 2 * i + half), width=QUAD)
        publish.wait()

        weights = softmax_weights(maxsum, row, rank, own_max, own_sum, scale_log2e, c=c)
        own *= weights[0]
        for slot in static_range(1, c.partitions):
            peer_stage = stage.on((rank + slot) % c.partitions)
            for i in static_range(c.band):
                for half in static_range(2):
                    own[i, half] += weights[slot] * peer_stage[first_quad + 2 * i + half, row]

        packed = stage.as_(bf16)  # our own slice of the stage: no peer reads it, so no second round
        for i in static_range(c.band):
            packed[first_quad + i, row] = own[i].to(bf16)
        block.sync()
        with elect():
            for i in static_range(c.band):
                column = BLOCK * (first_block + i)
                output.store(packed.part(first_quad + i), column=column, row=first_row, rows=rows, head=head, heads=heads)
            tma.commit_and_wait()
    cluster.sync()  # peers may still be reading our stage
