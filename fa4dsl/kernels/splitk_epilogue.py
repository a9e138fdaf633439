"""The cluster split-K combine as an epilogue: what `fa4_splitk_stage_partial`, `fa4_splitk_combine_write` and their orchestrator are in FlashAttention-4.

Executed by `c.rows` threads of each CTA of a cluster of P, one for each row of the tile (`row`). Every rank owns a band of output blocks. It stages
the other bands in shared memory as normalised f32, publishes, keeps its own band in registers, and combines it with what its peers staged.

`sources` is this row's partial result: `(read, array, scale)` once or twice, where the device function `read(array, quad)` gives f32 x 4 of the
columns 4 * quad on. Twice means O0 * scale0 + O1 * scale1, two accumulators merged by their scales; none at all means zeros, of a
partition that saw no key. `c` is a `CombineConfig` of the design "pull". docs/kernels.md maps the parameters to the original's.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from fa4dsl import block, device_function, elect, f32, fma, registers, static_range, tma, vector
from fa4dsl.kernels.softmax_weights import reciprocal, softmax_weights

QUAD = 4


@device_function
def band_of(rank, *, c):
    """First block and number of blocks of a rank's band; none for ranks past the last band."""
    first = rank * c.band
    return first, c.band if c.bands == c.partitions and c.even_bands else max(min(c.blocks - first, c.band), 0)


@device_function
def merged_quad(sources, quad):
    """O0 * s0 + O1 * s1 of one quad, O0 * s0 where there is one source, zeros where there is none."""
    if len(sources) == 0:
        return vector(0.0, 0.0, 0.0, 0.0, dtype=f32)
    read, array, scale = sources[0]
    value = read(array, quad) * scale
    for read, array, scale in sources[1:]:
        value = fma(read(array, quad), scale, value)
    return value


@device_function
def stage_partial(stage, sources, row, band, *, c):
    """Stages every block outside our own band, 16 bytes a store, conflict-free: stage f32 ``[quads, rows, 4]``, the same place in every CTA."""
    first, count = band
    for j in static_range(c.blocks):
        if j < first or j >= first + count:
            for quad in static_range(j * c.sub_blocks, min((j + 1) * c.sub_blocks, c.row_quads)):
                stage[quad, row] = merged_quad(sources, quad)


@device_function
def own_partial(sources, band, *, c):
    """Our own band in registers, f32 ``[band, sub_blocks, 4]``. Its loads come after the publishing and hide the cluster's latency."""
    first, count = band
    own = registers(f32, (c.band, c.sub_blocks, QUAD))
    for i in static_range(c.band):
        if i < count:
            for sub in static_range(c.sub_blocks):
                quad = (first + i) * c.sub_blocks + sub
                if c.depth % c.block == 0 or quad < c.row_quads:
                    own[i, sub] = merged_quad(sources, quad)
    return own


@device_function
def publish_partial(publish, *, c):
    """Every thread arrives at every rank, its own too: each arrival releases the row that its thread has staged, so no barrier of the CTA is needed."""
    for peer in range(c.partitions):
        publish.on(peer).arrive()


@device_function
def combine_write(stage, packed, maxsum, own, band, row, rank, own_max, own_sum, scale_log2e, output, place, *, c):
    """Combines the own band from all ranks, packs it and stores its valid rows. Returns the row's maximum and sum over all ranks.

    place: (first row or position, valid ones, head, heads) of the tile in the output. The packed band takes the own band's slots of the stage,
    which no peer reads, so no second round through the cluster is needed.
    """
    first, count = band
    maxima, sums = registers(f32, c.partitions), registers(f32, c.partitions)
    maxima[0], sums[0] = own_max, own_sum
    for slot in static_range(1, c.partitions):
        maxima[slot], sums[slot] = maxsum.on((rank + slot) % c.partitions)[row]
    weights, largest, total = softmax_weights(maxima, sums, scale_log2e, c=c)
    weights *= reciprocal(total)

    own *= weights[0]
    for slot in static_range(1, c.partitions):
        peer_stage = stage.on((rank + slot) % c.partitions)
        for i in static_range(c.band):
            if i < count:
                for sub in static_range(c.sub_blocks):
                    quad = (first + i) * c.sub_blocks + sub
                    if c.depth % c.block == 0 or quad < c.row_quads:
                        own[i, sub] += weights[slot] * peer_stage[quad, row]

    rounded = own.reshape(c.band, c.chunks, c.chunk).to(c.output_type)
    for i in static_range(c.band):
        if i < count:
            for k in static_range(c.chunks):
                packed.store((first * c.packed_slots + i, row, k * c.chunk), rounded[i, k])
    block.sync()
    with elect():
        store_band(packed, band, output, place, c=c)
        tma.commit_and_wait()
    return largest, total


@device_function
def store_band(packed, band, output, place, *, c):
    """One TMA store for each block, or for `c.blocks_per_store` blocks. Executed by one thread."""
    first, count = band
    top = first * c.packed_slots
    row, rows, head, heads = place
    step = max(c.blocks_per_store, 1)
    for i in static_range(0, c.band, step):
        if i < count:
            tile = packed.window(top + i, step)
            if c.blocks_per_store:
                boxes = tile.reshape(step, c.rows, 1, c.block)
                output.store(boxes, column=first + i, row=row, rows=rows, head=head, heads=heads)
            elif c.group > 1:
                fused = tile.reshape(c.positions, c.group, c.block)
                output.store(fused, column=c.block * (first + i), row=row, rows=rows, head=head, heads=heads)
            else:
                output.store(tile.reshape(c.rows, c.block), column=c.block * (first + i), row=row, rows=rows, head=head, heads=heads)


@device_function
def splitk_reduce_scatter(stage, packed, maxsum, publish, sources, row, rank, own_max, own_sum, scale_log2e, output, place, *, c):
    """The whole epilogue, in the order that hides the cluster's latency. Returns the row's maximum and sum; -inf and 0 where the rank owns no band.

    A `cluster.sync()` must stand before it (no peer arrives before the barrier exists) and after it (peers may still be reading our stage).
    """
    band = band_of(rank, c=c)
    stage_partial(stage, sources, row, band, c=c)
    maxsum[row] = own_max, own_sum
    publish_partial(publish, c=c)
    largest, total = f32(float("-inf")), f32(0.0)
    if c.bands == c.partitions or rank < c.bands:
        own = own_partial(sources, band, c=c)
        publish.wait()
        largest, total = combine_write(stage, packed, maxsum, own, band, row, rank, own_max, own_sum, scale_log2e, output, place, c=c)
    return largest, total
