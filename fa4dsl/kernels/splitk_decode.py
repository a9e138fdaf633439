"""Split-K decode attention in one kernel: one new token, or a few, the CTAs of a cluster each attend to a part of the keys, `push` combines them.

Operands are exchanged, S^T = K Q^T and O^T = V^T P^T, so that the few query heads of a key head are the N of an mma and the keys, or the depth, its M:
nothing is padded to more than 8 rows. The heads of several new tokens are rows beside each other; a block of 8 has its own mma, all blocks share what is loaded. A producer warp loads tiles of 64 keys and values by TMA into two rings; each of four warps multiplies
16 keys of every tile with running maxima and sums of its own, and the four are merged as the epilogue asks for quads of the result.

* Keys of a tile go to rows of the mma in an order in which eight neighbouring lanes read 16 bytes each without a bank met twice; values are taken in the
  same order. Columns of Q and K go to the mma's K in an order in which a lane's columns are 16 neighbouring bytes of K (`decode_tiles`).
* A cache of e4m3 halves what is read: it becomes f16 in registers, which has every value of e4m3, beside weights and queries in f16.
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
    mbarrier,
    mma,
    pipeline,
    registers,
    role,
    shared,
    shuffle_xor,
    static_range,
    thread,
    u32,
    vector,
    vote_any,
    wait_dependencies,
    warp,
    where,
)
from fa4dsl.kernels.decode_config import KEYS, MULTIPLIERS, DecodeConfig
from fa4dsl.kernels.decode_tiles import columns_of, key_words, row_of_output, spread, value_rows
from fa4dsl.kernels.exchange import finish_push, prepare_push
from fa4dsl.kernels.softmax_weights import EMPTY, reciprocal
from fa4dsl.kernels.splitk_exchange import combine_clusters, position_of, write_output, write_workspace

QUAD = 4
SLACK = 8.0
"""log2 by which a score may exceed the maximum it is weighed with."""


@device_function
def eight_of(q, tile, row, column, *, c):
    """Eight columns of a row of queries as u32 x 4; zeros for rows behind the last."""
    sequence, head, heads = tile
    place = position_of((sequence * c.queries, head, heads), min(row, c.rows - 1), c=c.combine)
    words = q.load(place * c.depth + column, width=8, cache="nc").to(c.multiplied).bitcast(u32)
    found = registers(u32, 4)
    for i in static_range(4):
        found[i] = where(row < c.rows, words[i], u32(0))
    return found


@device_function
def load_queries(q, tile, staged, *, c):
    """This lane's columns of the rows of queries, for all of a row: of block b row 8b + lane // 4, eight columns at a time (`columns_of`);
    u32 ``[blocks, D / 32, 4]``. Many rows: all of them in shared memory, `staged` with the barrier at which the four warps meet."""
    if staged is None:
        queries = registers(u32, (c.blocks, c.depth // 32, 4))
        for b in static_range(c.blocks):
            for j in static_range(c.depth // 32):
                queries[b, j] = eight_of(q, tile, 8 * b + lane.index() // 4, columns_of(j, c=c), c=c)
        return queries
    rows_of_queries, ready = staged
    for piece in static_range(c.blocks * c.depth // (32 * MULTIPLIERS)):
        place = thread.index() + 32 * MULTIPLIERS * piece
        row, column = place // (c.depth // 8), place % (c.depth // 8) * 8
        rows_of_queries.store((row, column), vector(*eight_of(q, tile, row, column, c=c)).bitcast(c.multiplied))
    ready.arrive()
    ready.wait(0)
    return rows_of_queries


@device_function
def query_words(queries, block, j, *, c):
    """The j-th eight columns of this lane's row of a block, from registers or from shared memory (`load_queries`)."""
    if not c.queries_in_shared:
        return queries[block, j]
    return queries.load(8 * block + lane.index() // 4, columns_of(j, c=c), width=8).bitcast(u32)


@device_function
def scores_of(keys, queries, *, c):
    """S^T of this warp's 16 keys: for each block f32 x 4, (key r, rows 2i and 2i + 1), (key r + 8, the same), for lane 4r + i."""
    # One block alone sums in two chains, for an mma waits for the one before it.
    chains = 2 if c.blocks == 1 else 1
    sums = registers(f32, (c.blocks, chains, 4))
    key = 16 * warp.index() + spread(lane.index() // 4, c=c)
    for group in static_range(c.depth // (4 * c.piece)):
        low, high = key_words(keys, key, group, c=c), key_words(keys, key + 8, group, c=c)
        for eight in static_range(c.piece // 8):
            j = c.piece // 8 * group + eight
            held = [query_words(queries, b, j, c=c) for b in range(c.blocks)]
            for half in static_range(2):
                i = 4 * eight + 2 * half
                a = vector(low[i], high[i], low[i + 1], high[i + 1]).bitcast(c.multiplied)
                for b in static_range(c.blocks):
                    own = vector(held[b][2 * half], held[b][2 * half + 1]).bitcast(c.multiplied)
                    sums[b, half % chains] = mma(a, own, sums[b, half % chains])
    scores = registers(f32, (c.blocks, 4))
    for b in static_range(c.blocks):
        for n in static_range(4):
            scores[b, n] = sums[b, 0, n] + sums[b, 1, n] if chains == 2 else sums[b, 0, n]
    return scores


@device_function
def mask(scores, valid, *, c):
    """Scores of keys behind a row's last one become -inf: of `valid` keys of the tile the last query sees all, each one before it a key less."""
    key = 16 * warp.index() + spread(lane.index() // 4, c=c)
    for b in static_range(c.blocks):
        for n in static_range(4):
            seen = valid
            if c.queries > 1:
                seen = valid - (c.queries - 1) + min((8 * b + 2 * (lane.index() % 4) + n % 2) // c.group, c.queries - 1)
            scores[b, n] = where(key + n // 2 * 8 < seen, scores[b, n], float("-inf"))


@device_function
def transposed(low, high, *, c):
    """Two f32 of an 8 x 8 matrix as 16 bits each, the matrix transposed: movmatrix."""
    return inline_ptx("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", vector(low, high).to(c.multiplied).bitcast(u32), results=u32)


@device_function
def online_softmax(scores, largest, totals, out, *, c):
    """Scores (in log2) become weights against the running maxima of this lane's two rows of each block, which move first where they must."""
    for b in static_range(c.blocks):
        new = registers(f32, 2)
        for h in static_range(2):
            new[h] = max(scores[b, h], scores[b, h + 2])
        if vote_any(new[0] > largest[b, 0] + SLACK or new[1] > largest[b, 1] + SLACK):
            for h in static_range(2):
                most = new[h]
                for distance in (4, 8, 16):
                    most = max(most, shuffle_xor(most, distance))
                most = max(most, largest[b, h])
                correction = exp2(largest[b, h] - most, ftz=True)
                largest[b, h] = most
                totals[b, h] *= correction
                for k in static_range(c.depth // 16):
                    out[b, k, h] *= correction
                    out[b, k, h + 2] *= correction
        for n in static_range(4):
            scores[b, n] = exp2(scores[b, n] - largest[b, n % 2], ftz=True)
        for h in static_range(2):
            totals[b, h] += scores[b, h] + scores[b, h + 2]


@device_function
def add_values(values, scores, out, *, c):
    """O^T += V^T P^T for this warp's 16 keys."""
    weights = registers(u32, (c.blocks, 2))
    for b in static_range(c.blocks):
        weights[b] = vector(transposed(scores[b, 0], scores[b, 1], c=c), transposed(scores[b, 2], scores[b, 3], c=c))
    for load in static_range(c.depth // (2 * c.piece)):
        fragments = value_rows(values, load, c=c)
        for part in static_range(len(fragments)):
            k = len(fragments) * load + part
            for b in static_range(c.blocks):
                out[b, k] = mma(fragments[part], vector(weights[b, 0], weights[b, 1]).bitcast(c.multiplied), out[b, k])


@device_function
def blank_values(values, valid, *, c):
    """Rows of this warp's 16 that lie behind the last key become zeros: memory may hold NaN there, which a weight of 0 does not take away."""
    row = 16 * warp.index() + lane.index() // 2
    if row >= valid:
        for panel in static_range(c.panels):
            for piece in static_range(c.panel // (2 * c.piece)):
                column = c.panel // 2 * (lane.index() % 2) + c.piece * piece
                values.store((row, panel, column), vector(*[u32(0)] * 4).bitcast(c.element))
    warp.sync()


@device_function
def merged_statistics(source, row, *, c):
    """(maximum, sum) of a head over the CTA's four warps."""
    _, statistics, _ = source
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
    parts, statistics, value_scale = source
    largest, total = merged_statistics(source, row, c=c)
    result = registers(f32, QUAD)
    for w in static_range(MULTIPLIERS):
        result += exp2(statistics[w, row, 0] - largest, ftz=True) * parts.load(w, row, QUAD * quad, width=QUAD)
    return result * (reciprocal(total) if value_scale is None else reciprocal(total) * value_scale)


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
    value_scale: f32,
    lse: Pointer[f32],
    workspace: Pointer[f32],
    counters: Pointer[i32],
    *,
    c: DecodeConfig,
) -> None:
    """Attention of the last `c.queries` tokens of each sequence over its keys.

    Grid: (clusters * P, key heads, batch), clusters of (P, 1, 1). q, output: bf16 ``[batch, queries, key heads, G, D]``. k, v: `c.element` ``[batch, key heads, rows, D / W,
    W]`` with W columns in a swizzled line, 64 of bf16, or, with pages, ``[pages, key heads, page, D / W, W]``, of any strides. lengths: i32 ``[batch]``, keys of each sequence, the new tokens' included; a query without keys
    gives zeros. pages:
    i32 ``[batch, pages_of_row]``, with `c.page`. scale_log2e: softmax scale times log2(e), and
    the keys' own scale if they are e4m3; value_scale: the values'. lse: f32 ``[batch, queries, key heads, G]``, with `c.lse`;
    -inf where there are no keys. workspace: f32 ``[batch, key heads, clusters, queries * G * D / 4, 8]``; counters: i32 ``[batch, key heads, P]``, zero before the first launch
    and after each; neither is touched where `c.clusters` is 1.
    """
    head, heads, sequence = block.index("y"), grid.dim("y"), block.index("z")
    unit = sequence * heads + head
    number = block.index()  # of the CTAs that share this sequence and head
    part = number // c.partitions
    rank = number - part * c.partitions
    share = c.partitions * c.clusters
    prepared = prepare_push(rank, i32(c.rows), c=c.combine) if c.partitions > 1 else None
    keys = pipeline(stages=c.stages, slot={"tile": (c.element, (KEYS, c.panels, c.panel), c.swizzle)}, name="keys")
    values = pipeline(stages=c.stages, slot={"tile": (c.element, (KEYS, c.panels, c.panel), c.swizzle)}, name="values")
    parts = shared(f32, (MULTIPLIERS, c.rows, c.depth + QUAD), name="parts")
    statistics = shared(f32, (MULTIPLIERS, c.rows, 2), name="statistics")
    staged = None
    if c.queries_in_shared:
        # An mbarrier, not a named barrier: compute-sanitizer's racecheck loses count behind those in a cluster.
        staged = (shared(c.multiplied, c.queries_shape, name="queries"), mbarrier(32 * MULTIPLIERS, name="queries_staged"))
    block.sync()
    if c.dependent:
        wait_dependencies()
        launch_dependents()
    length = lengths[sequence]
    tiles = (length + KEYS - 1) // KEYS

    with role("multiply", warps=MULTIPLIERS):
        queries = load_queries(q, (sequence, head, heads), staged, c=c)
        largest, totals = registers(f32, (c.blocks, 2), fill=EMPTY), registers(f32, (c.blocks, 2))
        out = registers(f32, (c.blocks, c.depth // 16, 4))
        for tile in range(number, tiles, share):
            valid = length - tile * KEYS
            with keys.use() as slot:
                scores = scores_of(slot.tile, queries, c=c)
            for b in static_range(c.blocks):
                for n in static_range(4):
                    scores[b, n] *= scale_log2e
            if valid - (c.queries - 1) < KEYS:
                mask(scores, valid, c=c)
            online_softmax(scores, largest, totals, out, c=c)
            with values.use() as slot:
                if valid < KEYS:
                    blank_values(slot.tile, valid, c=c)
                add_values(slot.tile, scores, out, c=c)

        for b in static_range(c.blocks):
            for h in static_range(2):
                for distance in (4, 8, 16):
                    totals[b, h] += shuffle_xor(totals[b, h], distance)
                row = 8 * b + 2 * (lane.index() % 4) + h
                if row < c.rows:
                    for k_tile in static_range(c.depth // 16):
                        for half in static_range(2):
                            parts[warp.index(), row, row_of_output(k_tile, half, c=c)] = out[b, k_tile, 2 * half + h]
                    if lane.index() < 4:
                        statistics[warp.index(), row] = largest[b, h], totals[b, h]

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
    merged = (parts, statistics, None if c.cache == "bf16" else value_scale)
    where_to = (output, lse, (sequence * c.queries, head, heads), scale_log2e)
    sink = (*where_to, (workspace, unit * c.clusters + part))
    if c.partitions == 1:
        write_alone(merged, sink, c=c)
    else:
        write = write_output if c.clusters == 1 else write_workspace
        finish_push(prepared, merged_quad, merged_statistics, merged, write, sink, rank, i32(c.rows), scale_log2e, c=c.combine)
        if c.clusters > 1:
            whole = (*where_to, (workspace, unit * c.clusters))
            combine_clusters(whole, counters, unit * c.partitions + rank, rank, i32(c.combine.quads), c=c.combine)
