"""The split-K combine from partial results in global memory, by the exchanges of `exchange`: wide pull, push by st.async, push by bulk copies.

The same inputs and results as `splitk_combine`, written from registers to a plain pointer: nothing outside the valid rows is touched, and any depth
and element type will do. With several clusters for a tile, each combines its own P partial results; what it finds goes to a workspace, and of the
CTAs with the same rank, which hold the same share of the tile, the last to arrive combines the clusters' results from there. A tile's rows may also be
cut into pieces, for each of which there are such clusters.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs
# Annotations are evaluated as written (no `from __future__ import annotations`): the kernel's output type is the factory's argument.

import functools
from typing import Any

from fa4dsl import (
    Pointer,
    atomic,
    block,
    device_function,
    f32,
    i32,
    i64,
    kernel,
    registers,
    shared,
    static_range,
    thread,
    where,
)
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.exchange import combine_quad, pull_wide, push, push_bulk, share_of
from fa4dsl.kernels.softmax_weights import fold_sink, log_sum_exp
from fa4dsl.types import SCALARS

QUAD = 4
STATISTICS = 2


@device_function
def piece_of(row_offsets, index, *, c):
    """First position and number of positions of a piece of a tile; of an empty piece, the tile's last position and 0."""
    tile = index // c.pieces
    first = row_offsets[tile]
    positions = row_offsets[tile + 1] - first
    if c.pieces == 1:
        return first, positions
    each = c.cluster_rows // c.group
    before = (index - tile * c.pieces) * each
    return first + min(before, max(positions - 1, 0)), max(min(positions - before, each), 0)


@device_function
def position_of(tile, row, *, c):
    """Row of the arrays, counted over positions, heads and fused heads, of a row of the tile."""
    first_row, head, heads = tile
    if c.rows == c.group:  # one position
        return (first_row * heads + head) * c.group + row
    return ((first_row + row // c.group) * heads + head) * c.group + row % c.group


@device_function
def global_quad(source, row, quad, *, c):
    """A quad of this CTA's partial result; zeros where the partition is empty, whatever memory holds there; with a sink, scaled by it."""
    partial, statistics, sinks, rank, tile = source
    position = position_of(tile, row, c=c)
    own_max, own_sum = statistics.load(STATISTICS * position, width=STATISTICS)
    values = partial.load(position.to(i64) * c.depth + QUAD * quad, width=QUAD)
    _, _, factor = fold_sink(sinks, head_of(tile, row, c=c), rank, own_max, own_sum, c=c)
    return where(own_sum > 0.0, values, 0.0) * factor


@device_function
def global_statistics(source, row, *, c):
    """(maximum, sum) of a row of this CTA's partial result, with the sink folded in by the first one."""
    _, statistics, sinks, rank, tile = source
    own_max, own_sum = statistics.load(STATISTICS * position_of(tile, row, c=c), width=STATISTICS)
    own_max, own_sum, _ = fold_sink(sinks, head_of(tile, row, c=c), rank, own_max, own_sum, c=c)
    return own_max, own_sum


@device_function
def head_of(tile, row, *, c):
    """Head, fused ones counted, of a row of the tile."""
    return tile[1] * c.group + row % c.group


@device_function
def write_output(sink, row, quad, values, largest, total, *, c):
    """A quad of the result, and the row's log of the sum of exponentials from whoever has its first quad."""
    output, lse, tile, scale_log2e, _ = sink
    position = position_of(tile, row, c=c)
    output.store(position.to(i64) * c.depth + QUAD * quad, values.to(c.output_type))
    if c.lse and quad == 0:
        lse[position] = log_sum_exp(largest, total, scale_log2e, c=c)


@device_function
def write_workspace(sink, row, quad, values, largest, total, *, c):
    """A quad of a cluster's result: f32, with its maximum and sum, at the place that the same quad has in every cluster's part."""
    workspace, part = sink[4]
    tile_quad = row * c.row_quads + quad
    record = (part * c.quads + tile_quad).to(i64) * (2 * QUAD)
    workspace.store(record, values)
    workspace.store(record + QUAD, (largest, total, f32(0.0), f32(0.0)))


@device_function
def combine_clusters(sink, counters, counter, rank, valid_quads, *, c):
    """The last CTA of a rank to arrive combines its share from all clusters' results, and leaves the counter at 0 for the next launch.

    Each thread reads what the same thread of the other clusters wrote; its own cluster's result comes from the workspace too.
    """
    last = shared(i32, (1,), name="last")
    block.sync()  # all threads' results are ordered before thread 0's arrival, which releases them
    with thread(0):
        arrived = atomic.add(counters + counter, 1, order="acq_rel", scope="gpu")
        last[0] = where(arrived == c.clusters - 1, 1, 0)
        if arrived == c.clusters - 1:
            counters.store(counter, 0, order="relaxed", scope="gpu")
    block.sync()  # what thread 0 acquired, all threads see
    if last[0] == 1:
        scale_log2e = sink[3]
        workspace, first_part = sink[4]
        first, count, _, _ = share_of(rank, valid_quads, c=c)
        for k in static_range(c.share_per_thread):
            tile_quad = first + thread.index() + k * c.threads
            if tile_quad < first + count:
                row = tile_quad // c.row_quads
                maxima, totals, parts = registers(f32, c.clusters), registers(f32, c.clusters), registers(f32, (c.clusters, QUAD))
                for other in static_range(c.clusters):
                    record = ((first_part + other) * c.quads + tile_quad).to(i64) * (2 * QUAD)
                    parts[other] = workspace.load(record, width=QUAD)
                    maxima[other], totals[other] = workspace.load(record + QUAD, width=2)
                result, largest, total = combine_quad(maxima, totals, parts, scale_log2e, c=c)
                write_output(sink, row, tile_quad - row * c.row_quads, result, largest, total, c=c)


@functools.cache
def splitk_exchange(output_type: str) -> Any:
    """The kernel for an output type ("bf16", "f16", "f32", "e4m3", "e5m2"); ``splitk_exchange("bf16").bind(c=config)``."""
    element = SCALARS[output_type]

    @kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.threads)
    def splitk_exchange(
        partial: Pointer[f32],
        statistics: Pointer[f32],
        row_offsets: Pointer[i32],
        output: Pointer[element],  # type: ignore[valid-type]
        total_rows: i32,
        heads: i32,
        scale_log2e: f32,
        sinks: Pointer[f32],
        lse: Pointer[f32],
        workspace: Pointer[f32],
        counters: Pointer[i32],
        *,
        c: CombineConfig,
    ) -> None:
        """Combines the partials of every tile and head; arguments as `splitk_combine`'s, with ``[clusters * P, ...]`` partial results.

        Grid: (tiles * pieces * clusters * P, heads, 1), clusters of (P, 1, 1). workspace: f32 ``[tiles * pieces, heads, clusters, quads, 8]``; counters:
        i32 ``[tiles * pieces, heads, P]``, zero before the first launch and after each; neither is touched where `c.clusters` is 1.
        """
        cluster_index, head = block.index() // c.partitions, block.index("y")  # %clusterid costs a division at run time
        rank = block.index() - cluster_index * c.partitions
        piece_index = cluster_index // c.clusters  # of all tiles' pieces
        part = cluster_index - piece_index * c.clusters
        number = part * c.partitions + rank
        first_row, positions = piece_of(row_offsets, piece_index, c=c)
        valid_rows = positions * c.group
        tile = (first_row, head, heads)
        before = number * total_rows * heads * c.group
        source = (partial + before.to(i64) * c.depth, statistics + before.to(i64) * STATISTICS, sinks, number, tile)
        first_part = (piece_index * heads + head) * c.clusters
        exchange = {"push": push, "push_bulk": push_bulk, "pull_wide": pull_wide}[c.design]
        write = write_output if c.clusters == 1 else write_workspace
        sink = (output, lse, tile, scale_log2e, (workspace, first_part + part))
        exchange(global_quad, global_statistics, source, write, sink, rank, valid_rows, scale_log2e, c=c)
        if c.clusters > 1:
            counter = (piece_index * heads + head) * c.partitions + rank
            whole = (output, lse, tile, scale_log2e, (workspace, first_part))
            combine_clusters(whole, counters, counter, rank, valid_rows * c.row_quads, c=c)

    return splitk_exchange
