"""The cluster split-K combine: P partial attention results of a tile become one, inside a cluster of P CTAs.

Each CTA of a cluster holds one partition's result for the same tile of rows: O (normalised, f32), and per row the maximum and the sum of
the softmax. The CTAs trade pieces through distributed shared memory (a reduce-scatter over bands of columns): every rank owns a band of
output blocks, stages the rest for its peers, and combines its own band from everybody's. The steps are in `splitk_epilogue`.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from fa4dsl import Pointer, RaggedTensorMap, block, cluster, device_function, f32, i32, i64, kernel, mbarrier, shared, thread, where
from fa4dsl.kernels.combine_config import QUAD, CombineConfig
from fa4dsl.kernels.softmax_weights import fold_sink, log_sum_exp
from fa4dsl.kernels.splitk_epilogue import splitk_reduce_scatter

__all__ = ["CombineConfig", "splitk_combine"]


@device_function
def read_partial(source, quad):
    """A quad of this row from global memory; zeros where the partition is empty, whatever memory holds there."""
    partial, own_sum = source
    return where(own_sum > 0.0, partial.load(QUAD * quad, width=QUAD), 0.0)


@kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.threads)
def splitk_combine(
    partial: Pointer[f32],
    statistics: Pointer[f32],
    row_offsets: Pointer[i32],
    output: RaggedTensorMap,
    total_rows: i32,
    heads: i32,
    scale_log2e: f32,
    sinks: Pointer[f32],
    lse: Pointer[f32],
    *,
    c: CombineConfig,
) -> None:
    """Combines the partials of every tile and head.

    Grid: (tiles * P, heads, 1), clusters of (P, 1, 1): one cluster for a tile of a head. Tile t holds rows row_offsets[t] up to
    row_offsets[t + 1], at most BM. With a group of G fused heads, rows are positions of which each has G rows of the tile: arrays have
    ``heads, G`` where they have ``heads`` here, and a tile takes at most BM / G positions.

    partial: f32 ``[P, total_rows, heads, D]``, each partition's O, normalised by its own sum; not read where the partition is empty. statistics:
    f32 ``[P, total_rows, heads, 2]``, maximum (raw scores; in log2 without `use_fma`) and sum; an empty partition has -inf and 0. output:
    ``[total_rows, heads, D]``. scale_log2e: softmax scale times log2(e). sinks: f32 ``[heads]``, natural logits, with `c.sink`. lse: f32
    ``[total_rows, heads]``, natural log of the sum of exponentials, with `c.lse`. A row that is empty in all partitions becomes 0, its lse -inf.
    """
    rank, tile = block.index() % c.partitions, block.index() // c.partitions
    head, row = block.index("y"), thread.index()
    stage = shared(f32, (c.blocks * c.sub_blocks, c.rows, QUAD), name="stage", alignment=1024)
    packed = shared(c.output_type, (c.blocks * c.packed_slots, c.rows, c.block), name="packed", swizzle=c.swizzle, overlay=stage)
    maxsum = shared(f32, (c.rows, 2), name="maxsum")
    publish = mbarrier(c.partitions * c.threads, scope="cluster", name="publish")
    cluster.sync()  # no peer arrives before the barrier exists

    first_row = row_offsets[tile]
    rows = row_offsets[tile + 1] - first_row
    own_row = min(row, rows * c.group - 1)  # rows past the end repeat the last one; the store drops them
    position = ((first_row + own_row // c.group) * heads + head) * c.group + own_row % c.group
    source = rank * total_rows * heads * c.group + position
    own_max, own_sum = statistics.load(2 * source, width=2)
    read_from = (partial + source.to(i64) * c.depth, own_sum)
    own_max, own_sum, scale = fold_sink(sinks, head * c.group + own_row % c.group, rank, own_max, own_sum, c=c)

    largest, total = splitk_reduce_scatter(
        stage,
        packed,
        maxsum,
        publish,
        [(read_partial, read_from, scale)],
        row,
        rank,
        own_max,
        own_sum,
        scale_log2e,
        output,
        (first_row, rows, head, heads),
        c=c,
    )
    if c.lse and rank == 0 and row == own_row:
        lse[position] = log_sum_exp(largest, total, scale_log2e, c=c)
    cluster.sync()  # peers may still be reading our stage
