"""The combine's exchanges on partial results that are on the chip already: made by the hash of `peers/floor_cluster.cu`, so that the two can be compared.

Each kernel is one of the library's exchanges (`fa4dsl.kernels.exchange`) around a partial result that costs no memory traffic.
"""

# mypy: ignore-errors

from __future__ import annotations

from fa4dsl import (
    Pointer,
    RaggedTensorMap,
    bf16,
    block,
    cluster,
    device_function,
    f32,
    i32,
    kernel,
    mbarrier,
    shared,
    static_range,
    thread,
    u32,
    vector,
)
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.exchange import held_quad, load_tile, pull_wide, push, push_bulk, share_of
from fa4dsl.kernels.splitk_epilogue import splitk_reduce_scatter

QUAD = 4


@device_function
def hashed(x):
    """A number in [-1, 1) from 32 bits."""
    x = x ^ (x >> 16)
    x = x * 0x7FEB352D
    x = x ^ (x >> 15)
    x = x * 0x846CA68B
    x = x ^ (x >> 16)
    return f32(x >> 8) * (2.0 / 16777216.0) - 1.0


@device_function
def hashed_quad(source, row, quad, *, c):
    base = ((source * 257 + row) * 128 + QUAD * quad + 17).to(u32)
    return vector(hashed(base), hashed(base + 1), hashed(base + 2), hashed(base + 3))


@device_function
def hashed_statistics(source, row, *, c):
    return 3.0 * hashed((source * 257 + row + 0x51ED27).to(u32)), f32(1.0)


@device_function
def write_quad(sink, row, quad, values, largest, total, *, c):
    output, first_row = sink
    output.store((first_row + row) * c.depth + QUAD * quad, values.to(bf16))


@kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.threads)
def onchip_exchange(output: Pointer[bf16], *, c: CombineConfig):
    """Grid: groups * P. output: bf16 [groups, rows, 128]."""
    rank, group = block.index() % c.partitions, block.index() // c.partitions
    exchange = {"push": push, "push_bulk": push_bulk, "pull_wide": pull_wide}[c.design]
    source = group * 131 + rank
    exchange(hashed_quad, hashed_statistics, source, write_quad, (output, group * c.rows), rank, i32(c.rows), 1.0, c=c)


@kernel(threads=lambda c: c.threads)
def onchip_base(output: Pointer[bf16], *, c: CombineConfig):
    """The same without an exchange: stages its partial result and writes its own share of it."""
    rank, group = block.index() % c.partitions, block.index() // c.partitions
    source = group * 131 + rank
    stage = shared(f32, (c.quads, QUAD), name="stage")
    weight = shared(f32, (c.rows,), name="weight")
    values = load_tile(hashed_quad, source, rank, i32(c.rows), c=c)
    for k in static_range(c.quads_per_thread):
        owner, part = held_quad(k, rank, c=c)
        if owner * c.share + part < c.quads:
            stage[owner * c.share + part] = values[k]
    for k in static_range(-(-c.rows // c.threads)):
        row = thread.index() + k * c.threads
        if row < c.rows:
            weight[row] = hashed_statistics(source, row, c=c)[0]
    block.sync()
    first, count, _, _ = share_of(rank, i32(c.quads), c=c)
    for k in static_range(c.share_per_thread):
        own = thread.index() + k * c.threads
        if own < count:
            row = (first + own) // c.row_quads
            write_quad((output, group * c.rows), row, first + own - row * c.row_quads, stage[first + own] * weight[row], 0.0, 0.0, c=c)


@device_function
def hashed_row(where, quad):
    """A quad of this thread's row."""
    source, row = where
    return hashed_quad(source, row, quad, c=None)


@kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.threads)
def onchip_pull(output: RaggedTensorMap, *, c: CombineConfig):
    """The original's exchange, a thread for each row. output: bf16 [groups * rows, 1, 128]."""
    rank, group, row = block.index() % c.partitions, block.index() // c.partitions, thread.index()
    stage = shared(f32, (c.blocks * c.sub_blocks, c.rows, QUAD), name="stage", alignment=1024)
    packed = shared(c.output_type, (c.blocks * c.packed_slots, c.rows, c.block), name="packed", swizzle=c.swizzle, overlay=stage)
    maxsum = shared(f32, (c.rows, 2), name="maxsum")
    publish = mbarrier(c.partitions * c.threads, scope="cluster", name="publish")
    cluster.sync()
    source = group * 131 + rank
    own_max, own_sum = hashed_statistics(source, row, c=c)
    sources = [(hashed_row, (source, row), 1.0)]
    place = (group * c.rows, i32(c.rows), 0, 1)
    splitk_reduce_scatter(stage, packed, maxsum, publish, sources, row, rank, own_max, own_sum, 1.0, output, place, c=c)
    cluster.sync()
