"""Split-K decode attention in one kernel: one new token, the CTAs of a cluster each attend to a part of the keys, `push` combines them.

Operands are exchanged, S^T = K Q^T and O^T = V^T P^T, so that the few query heads of a key head are the N of an mma and the keys, or the depth, its M:
nothing is padded to more than 8 heads. A producer warp loads tiles of 64 keys and values by TMA into two rings; each of four warps multiplies
16 keys of every tile with running maxima and sums of its own, and the four are merged as the epilogue asks for quads of the result.

* Keys of a tile go to rows of the mma in an order in which eight neighbouring lanes read 16 bytes each without a bank met twice; values are taken in the
  same order. Columns of Q and K go to the mma's K in an order in which a lane's columns are 16 neighbouring bytes of both.
* The maximum moves only where a score exceeds it by more than 2^8 (FlashAttention-4's lazy rescaling), which a vote of the warp tells.
* The exchange is prepared where the kernel begins; nobody waits for its barrier at the end (`exchange.prepare_push`).
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from fa4dsl import (
    Pointer,
    TensorMap,
    bf16,
    block,
    device_function,
    elect,
    exp2,
    f32,
    grid,
    i32,
    inline_ptx,
    kernel,
    lane,
    launch_dependents,
    load_matrix,
    mma,
    pipeline,
    registers,
    role,
    shared,
    shuffle_xor,
    static_range,
    swizzle128,
    thread,
    u32,
    vector,
    vote_any,
    wait_dependencies,
    warp,
    where,
)
from fa4dsl.kernels.decode_config import KEYS, MULTIPLIERS, DecodeConfig
from fa4dsl.kernels.exchange import finish_push, prepare_push
from fa4dsl.kernels.softmax_weights import EMPTY, reciprocal
from fa4dsl.kernels.splitk_exchange import combine_clusters, write_output, write_workspace

QUAD = 4
SLACK = 8.0
"""log2 by which a score may exceed the maximum it is weighed with."""


@device_function
def spread(row):
    """The key, of eight, that row `row` of an mma has: bits 0 and 1 exchanged, so that neighbouring rows' lines differ in the swizzle's third bit."""
    return row // 4 * 4 + row % 2 * 2 + row // 2 % 2


@device_function
def load_queries(q, first, *, c):
    """This lane's columns of the query heads, for all of a row: head lane // 4, of each 32 columns the 8 from 8 * (lane % 4) on; u32 ``[D / 32, 4]``."""
    queries = registers(u32, (c.depth // 32, 4))
    head = min(lane.index() // 4, c.group - 1)
    for j in static_range(c.depth // 32):
        words = q.load(first + head * c.depth + 32 * j + 8 * (lane.index() % 4), width=8, cache="nc").bitcast(u32)
        for i in static_range(4):
            queries[j, i] = where(lane.index() // 4 < c.group, words[i], u32(0))
    return queries


@device_function
def scores_of(keys, queries, *, c):
    """S^T of this warp's 16 keys: f32 x 4, (key r, heads 2i and 2i + 1), (key r + 8, the same), for lane 4r + i."""
    sums = registers(f32, (2, 4))
    key = 16 * warp.index() + spread(lane.index() // 4)
    for j in static_range(c.depth // 32):
        column = j % 2 * 32 + 8 * (lane.index() % 4)
        low = keys.load(key, j // 2, column, width=8).bitcast(u32)
        high = keys.load(key + 8, j // 2, column, width=8).bitcast(u32)
        for half in static_range(2):
            i = 2 * half
            a = vector(low[i], high[i], low[i + 1], high[i + 1]).bitcast(bf16)
            sums[half] = mma(a, vector(queries[j, i], queries[j, i + 1]).bitcast(bf16), sums[half])
    scores = registers(f32, 4)
    for n in static_range(4):
        scores[n] = sums[0, n] + sums[1, n]
    return scores


@device_function
def transposed(low, high):
    """Two f32 of an 8 x 8 matrix as bf16, the matrix transposed: movmatrix."""
    return inline_ptx("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", vector(low, high).to(bf16).bitcast(u32), results=u32)


@device_function
def online_softmax(scores, largest, totals, out, *, c):
    """Scores (in log2) become weights against the running maxima of this lane's two heads, which move first where they must."""
    new = registers(f32, 2)
    for h in static_range(2):
        new[h] = max(scores[h], scores[h + 2])
    if vote_any(new[0] > largest[0] + SLACK or new[1] > largest[1] + SLACK):
        for h in static_range(2):
            most = new[h]
            for mask in (4, 8, 16):
                most = max(most, shuffle_xor(most, mask))
            most = max(most, largest[h])
            correction = exp2(largest[h] - most, ftz=True)
            largest[h] = most
            totals[h] *= correction
            for k in static_range(c.depth // 16):
                out[k, h] *= correction
                out[k, h + 2] *= correction
    for n in static_range(4):
        scores[n] = exp2(scores[n] - largest[n % 2], ftz=True)
    for h in static_range(2):
        totals[h] += scores[h] + scores[h + 2]


@device_function
def add_values(values, scores, out, *, c):
    """O^T += V^T P^T for this warp's 16 keys."""
    weights = vector(transposed(scores[0], scores[1]), transposed(scores[2], scores[3])).bitcast(bf16)
    key = 16 * warp.index() + spread(lane.index() % 8) + 8 * (lane.index() // 16)
    for k in static_range(c.depth // 16):
        column = k % 4 * 16 + 8 * (lane.index() // 8 % 2)
        out[k] = mma(load_matrix(values.pointer((key, k // 4, column)), 4, transpose=True), weights, out[k])


@device_function
def blank_values(values, valid, *, c):
    """Rows of this warp's 16 that lie behind the last key become zeros: memory may hold NaN there, which a weight of 0 does not take away."""
    row = 16 * warp.index() + lane.index() // 2
    if row >= valid:
        for panel in static_range(c.panels):
            for piece in static_range(4):
                values.store((row, panel, 32 * (lane.index() % 2) + 8 * piece), vector(*[u32(0)] * 4).bitcast(bf16))
    warp.sync()


@device_function
def merged_statistics(source, row, *, c):
    """(maximum, sum) of a head over the CTA's four warps."""
    _, statistics = source
    maxima, totals = registers(f32, MULTIPLIERS), registers(f32, MULTIPLIERS)
    for w in static_range(MULTIPLIERS):
        maxima[w], totals[w] = statistics[w, row]
    largest, total = max(*maxima), f32(0.0)
    for w in static_range(MULTIPLIERS):
        total += totals[w] * exp2(maxima[w] - largest, ftz=True)
    return largest, total


@device_function
def merged_quad(source, row, quad, *, c):
    """A quad of the CTA's partial result, normalised: the four warps' merged."""
    parts, statistics = source
    largest, total = merged_statistics(source, row, c=c)
    result = registers(f32, QUAD)
    for w in static_range(MULTIPLIERS):
        result += exp2(statistics[w, row, 0] - largest, ftz=True) * parts.load(w, row, QUAD * quad, width=QUAD)
    return result * reciprocal(total)


@device_function
def write_alone(source, sink, *, c):
    """P = 1: the merged result is the result."""
    quads, row_quads = c.combine.quads, c.combine.row_quads
    for k in static_range(-(-quads // c.threads)):
        place = thread.index() + k * c.threads
        if place < quads:
            row, quad = place // row_quads, place % row_quads
            largest, total = merged_statistics(source, row, c=c)
            write_output(sink, row, quad, merged_quad(source, row, quad, c=c), largest, total, c=c.combine)


@kernel(cluster=lambda c: (c.partitions, 1, 1), threads=lambda c: c.threads)
def splitk_decode(
    q: Pointer[bf16],
    k: TensorMap,
    v: TensorMap,
    lengths: Pointer[i32],
    pages: Pointer[i32],
    output: Pointer[bf16],
    pages_of_row: i32,
    scale_log2e: f32,
    lse: Pointer[f32],
    workspace: Pointer[f32],
    counters: Pointer[i32],
    *,
    c: DecodeConfig,
) -> None:
    """Attention of one new token per sequence over its keys.

    Grid: (clusters * P, key heads, batch), clusters of (P, 1, 1). q, output: bf16 ``[batch, key heads, G, D]``. k, v: bf16 ``[batch, key heads, rows, D / 64,
    64]``, or, with pages, ``[pages, key heads, page, D / 64, 64]``, of any strides. lengths: i32 ``[batch]``, keys of each sequence; 0 gives zeros. pages:
    i32 ``[batch, pages_of_row]``, with `c.page`. scale_log2e: softmax scale times log2(e). lse: f32 ``[batch, key heads, G]``, with `c.lse`; -inf where there
    are no keys. workspace: f32 ``[batch, key heads, clusters, G * D / 4, 8]``; counters: i32 ``[batch, key heads, P]``, zero before the first launch
    and after each; neither is touched where `c.clusters` is 1.
    """
    head, heads, sequence = block.index("y"), grid.dim("y"), block.index("z")
    unit = sequence * heads + head
    number = block.index()  # of the CTAs that share this sequence and head
    part = number // c.partitions
    rank = number - part * c.partitions
    share = c.partitions * c.clusters
    prepared = prepare_push(rank, i32(c.group), c=c.combine) if c.partitions > 1 else None
    keys = pipeline(stages=c.stages, slot={"tile": (bf16, (KEYS, c.panels, 64), swizzle128)}, name="keys")
    values = pipeline(stages=c.stages, slot={"tile": (bf16, (KEYS, c.panels, 64), swizzle128)}, name="values")
    parts = shared(f32, (MULTIPLIERS, c.group, c.depth + QUAD), name="parts")
    statistics = shared(f32, (MULTIPLIERS, c.group, 2), name="statistics")
    block.sync()
    if c.dependent:
        wait_dependencies()
        launch_dependents()
    length = lengths[sequence]
    tiles = (length + KEYS - 1) // KEYS

    with role("multiply", warps=MULTIPLIERS):
        queries = load_queries(q, unit * c.group * c.depth, c=c)
        largest, totals, out = registers(f32, 2, fill=EMPTY), registers(f32, 2), registers(f32, (c.depth // 16, 4))
        for tile in range(number, tiles, share):
            valid = length - tile * KEYS
            with keys.use() as slot:
                scores = scores_of(slot.tile, queries, c=c)
            for n in static_range(4):
                scores[n] *= scale_log2e
            if valid < KEYS:
                key = 16 * warp.index() + spread(lane.index() // 4)
                for n in static_range(4):
                    scores[n] = where(key + n // 2 * 8 < valid, scores[n], float("-inf"))
            online_softmax(scores, largest, totals, out, c=c)
            with values.use() as slot:
                if valid < KEYS:
                    blank_values(slot.tile, valid, c=c)
                add_values(slot.tile, scores, out, c=c)

        for h in static_range(2):
            for mask in (4, 8, 16):
                totals[h] += shuffle_xor(totals[h], mask)
            row = 2 * (lane.index() % 4) + h
            if row < c.group:
                for k_tile in static_range(c.depth // 16):
                    for half in static_range(2):
                        parts[warp.index(), row, 16 * k_tile + 8 * half + lane.index() // 4] = out[k_tile, 2 * half + h]
                if lane.index() < 4:
                    statistics[warp.index(), row] = largest[h], totals[h]

    with role("load", warps=1), elect():
        k.prefetch()
        v.prefetch()
        for tile in range(number, tiles, share):
            place = (sequence, head, tile * KEYS, 0, 0)
            if c.page > 0:
                page = tile * KEYS // c.page
                place = (pages[sequence * pages_of_row + page], head, tile * KEYS - page * c.page, 0, 0)
            with keys.fill() as slot:
                k.load(slot.tile, place, cache="evict_first")
            with values.fill() as slot:
                v.load(slot.tile, place, cache="evict_first")

    block.sync()
    merged = (parts, statistics)
    where_to = (output, lse, (sequence, head, heads), scale_log2e)
    sink = (*where_to, (workspace, unit * c.clusters + part))
    if c.partitions == 1:
        write_alone(merged, sink, c=c)
    else:
        write = write_output if c.clusters == 1 else write_workspace
        finish_push(prepared, merged_quad, merged_statistics, merged, write, sink, rank, i32(c.group), scale_log2e, c=c.combine)
        if c.clusters > 1:
            whole = (*where_to, (workspace, unit * c.clusters))
            combine_clusters(whole, counters, unit * c.partitions + rank, rank, i32(c.combine.quads), c=c.combine)
