"""Exchanges of partial results inside a cluster, as device functions that any kernel can end with: `pull_wide`, `push`, `push_bulk`.

The tile, rows x depth of f32, is cut into 16-byte quads; in row-major order each rank owns an equal run of them, its *share*. A run covers
whole rows where there are many (its results are long stretches of memory, and it needs few rows' statistics) and a piece of a row where there
are few. Thread t holds the quads t, t + threads, ... of its own CTA's partial result in registers, and combines the quads t, t + threads, ... of
its CTA's share.

* `pull_wide` stages all quads, publishes, and each rank reads its share from everybody.
* `push` sends each quad from registers into its owner's slots by st.async, which counts the bytes on the owner's mbarrier. Nobody's memory is
  read by a peer, so the kernel needs no barrier at its end.
* `push_bulk` stages all quads and sends each share with one bulk copy.

`quad_of(source, row, quad, c=c)` and `statistics_of(source, row, c=c)` are device functions that give this CTA's partial result: f32 x 4, normalised by
its own sum, and (maximum, sum) of a row. `c` is a `CombineConfig`. Executed by all threads of the CTA, thread index 0 to `c.threads` - 1.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs

from __future__ import annotations

from fa4dsl import (
    block,
    bulk_push,
    cluster,
    device_function,
    exp2,
    f32,
    mbarrier,
    registers,
    shared,
    static_range,
    store_async,
    thread,
    warp,
    where,
)
from fa4dsl.kernels.softmax_weights import reciprocal, softmax_weights

QUAD = 4


@device_function
def share_of(rank, valid_quads, *, c):
    """First quad, number of quads, first row and number of rows of the share of `rank`, of which `valid_quads` quads of the tile count."""
    first = rank * c.share
    count = max(min(valid_quads - first, c.share), 0)
    first_row = first // c.row_quads
    touched = (first + max(count, 1) - 1) // c.row_quads - first_row + 1
    return first, count, first_row, where(count > 0, touched, 0)


@device_function
def held_quad(k, rank, *, c):
    """The k-th quad that this thread holds: (owner, quad of the owner's share).

    The order begins behind our own share and ends with it, so that the ranks of a cluster do not all send to one owner at a time.
    """
    place = thread.index() + k * c.threads
    step = place // c.share
    owner = rank + 1 + step
    return where(owner >= c.partitions, owner - c.partitions, owner), place - step * c.share


@device_function
def is_local(k, *, c):
    """Whether the k-th quad of every thread (True), of none (False) or of some (at run time) is of our own share or past the tile."""
    first, last = k * c.threads, (k + 1) * c.threads
    others = (c.partitions - 1) * c.share
    if last <= others:
        return False
    if first >= others:
        return True
    return thread.index() + first >= others


@device_function
def last_row(valid_rows, *, c):
    """The last valid row. A cluster whose piece of a short tile is empty has none: it sends nothing, but may read its row 0."""
    return valid_rows - 1 if c.pieces == 1 else max(valid_rows - 1, 0)


@device_function
def load_tile(quad_of, source, rank, valid_rows, *, c):
    """This thread's quads of the CTA's partial result, in registers; quads of rows past the valid ones repeat the last row."""
    values = registers(f32, (c.quads_per_thread, QUAD))
    for k in static_range(c.quads_per_thread):
        owner, part = held_quad(k, rank, c=c)
        quad = owner * c.share + part
        row = quad // c.row_quads
        values[k] = quad_of(source, min(row, last_row(valid_rows, c=c)), quad - row * c.row_quads, c=c)
    return values


@device_function
def share_statistics(statistics_of, source, rank, valid_quads, *, c):
    """(maximum, sum) of the rows that this thread sends, before it may send them: one of each owner's rows at a time, our own last."""
    pairs = registers(f32, (c.statistics_per_thread, 2))
    for k in static_range(c.statistics_per_thread):
        owner, j = held_row(k, rank, c=c)
        row = min(owner * c.share // c.row_quads + j, last_row(valid_quads // c.row_quads, c=c))
        pairs[k] = statistics_of(source, row, c=c)
    return pairs


@device_function
def held_row(k, rank, *, c):
    """The k-th row whose statistics this thread sends: (owner, row of the owner's share)."""
    place = min(thread.index() + k * c.threads, c.partitions * c.share_rows - 1)
    step = place // c.share_rows
    owner = rank + 1 + step
    return where(owner >= c.partitions, owner - c.partitions, owner), place - step * c.share_rows


@device_function
def push_statistics(pairs, sums, arrived, rank, valid_quads, *, c):
    """Sends each row's (maximum, sum) to every rank whose share touches the row; our own share's by plain stores."""
    for k in static_range(c.statistics_per_thread):
        owner, j = held_row(k, rank, c=c)
        _, _, _, rows = share_of(owner, valid_quads, c=c)
        if thread.index() + k * c.threads < c.partitions * c.share_rows and j < rows:
            if owner == rank:
                sums[rank, j] = pairs[k]
            else:
                store_async(sums.on(owner), (rank, j), pairs[k], arrived.on(owner))


@device_function
def combine_quad(maxima, totals, values, scale_log2e, *, c):
    """One quad of the result from everybody's: the weighted sum, divided at the end so that the weights' sum is off the critical path."""
    weights, largest, total = softmax_weights(maxima, totals, scale_log2e, c=c)
    result = weights[0] * values[0]
    for slot in static_range(1, len(maxima)):
        result += weights[slot] * values[slot]
    return result * reciprocal(total), largest, total


@device_function
def combine_share(slots, sums, rank, valid_quads, write, sink, scale_log2e, *, c):
    """Combines this CTA's share from its slots (`push`, `push_bulk`) and hands each quad to `write(sink, row, quad, values, largest, total, c=c)`."""
    first, count, first_row, _ = share_of(rank, valid_quads, c=c)
    for k in static_range(c.share_per_thread):
        own = thread.index() + k * c.threads
        if own < count:
            row = (first + own) // c.row_quads
            maxima, totals, values = registers(f32, c.partitions), registers(f32, c.partitions), registers(f32, (c.partitions, QUAD))
            for slot in static_range(c.partitions):
                maxima[slot], totals[slot] = sums[slot, row - first_row]
                values[slot] = slots[slot, own]
            result, largest, total = combine_quad(maxima, totals, values, scale_log2e, c=c)
            write(sink, row, first + own - row * c.row_quads, result, largest, total, c=c)


@device_function
def weigh_rows(sums, weights, largest, rank, valid_quads, scale_log2e, *, c):
    """Each weight of the share's rows once, by one thread: weights f32 ``[rows, P]``, not divided; largest f32 ``[rows]``."""
    _, _, _, rows = share_of(rank, valid_quads, c=c)
    for k in static_range(c.statistics_per_thread):
        place = thread.index() + k * c.threads
        row = place // c.partitions
        slot = place - row * c.partitions
        if row < rows:
            maxima = registers(f32, c.partitions)
            for other in static_range(c.partitions):
                maxima[other] = sums[other, row, 0]
            most = max(*maxima)
            own_max, own_sum = sums[slot, row]
            difference = own_max - most
            scaled = own_sum * exp2(difference * scale_log2e if c.use_fma else difference, ftz=True)
            weights[row, slot] = where(own_sum > 0.0, scaled, 0.0)
            if slot == 0:
                largest[row] = most


@device_function
def combine_share_weighed_once(slots, sums, rank, valid_quads, write, sink, scale_log2e, *, c):
    """`combine_share` for shares of many quads a row, whose threads would compute the same weights again and again.

    The quads are read before the barrier that the weights need.
    """
    weights = shared(f32, (c.share_rows, c.partitions), name="weights")
    maxima = shared(f32, (c.share_rows,), name="maxima")
    first, count, first_row, _ = share_of(rank, valid_quads, c=c)
    weigh_rows(sums, weights, maxima, rank, valid_quads, scale_log2e, c=c)
    values = registers(f32, (c.share_per_thread, c.partitions, QUAD))
    for k in static_range(c.share_per_thread):
        own = thread.index() + k * c.threads
        if own < count:
            for slot in static_range(c.partitions):
                values[k, slot] = slots[slot, own]
    block.sync()
    for k in static_range(c.share_per_thread):
        own = thread.index() + k * c.threads
        if own < count:
            row = (first + own) // c.row_quads
            result, total = registers(f32, QUAD), f32(0.0)
            for pair in static_range(c.partitions // 2):
                two = weights.load(row - first_row, 2 * pair, width=2)
                for half in static_range(2):
                    total += two[half]
                    result += two[half] * values[k, 2 * pair + half]
            write(sink, row, first + own - row * c.row_quads, result * reciprocal(total), maxima[row - first_row], total, c=c)


@device_function
def prepare_push(rank, valid_rows, *, c):
    """The slots of a `push`, and their barrier armed: where a kernel begins, so that nobody has to wait when it ends. Gives what `finish_push` takes.

    All threads arrive at the cluster barrier here and wait for it there; between the two the kernel may use no other.
    """
    slots = shared(f32, (c.partitions, c.share, QUAD), name="slots")
    sums = shared(f32, (c.partitions, c.sums_rows, 2), name="sums")
    arrived = mbarrier(1, scope="cluster", name="arrived")
    _, count, _, rows = share_of(rank, valid_rows * c.row_quads, c=c)
    with thread(0):
        arrived.arrive(bytes=(c.partitions - 1) * (16 * count + 8 * rows), order="relaxed")
    cluster.arrive("relaxed")  # publishes nothing but the barrier, whose initialisation is fenced
    return slots, sums, arrived


@device_function
def push(quad_of, statistics_of, source, write, sink, rank, valid_rows, scale_log2e, *, c):
    """The exchange by st.async. The cluster barrier is arrived at before the partial result is made, and waited for after: its latency is hidden."""
    prepared = prepare_push(rank, valid_rows, c=c)
    finish_push(prepared, quad_of, statistics_of, source, write, sink, rank, valid_rows, scale_log2e, c=c)


@device_function
def finish_push(prepared, quad_of, statistics_of, source, write, sink, rank, valid_rows, scale_log2e, *, c):
    """`push` behind `prepare_push`."""
    slots, sums, arrived = prepared
    valid_quads = valid_rows * c.row_quads
    values = load_tile(quad_of, source, rank, valid_rows, c=c)
    pairs = share_statistics(statistics_of, source, rank, valid_quads, c=c)
    warp.sync()  # a fence to ptxas, which would wait first and compute then
    cluster.wait()  # everybody has armed the barrier
    push_statistics(pairs, sums, arrived, rank, valid_quads, c=c)
    for k in static_range(c.quads_per_thread):
        owner, part = held_quad(k, rank, c=c)
        if owner * c.share + part < valid_quads and thread.index() + k * c.threads < c.partitions * c.share:
            if is_local(k, c=c):
                slots[rank, part] = values[k]
            else:
                store_async(slots.on(min(owner, c.partitions - 1)), (rank, part), values[k], arrived.on(min(owner, c.partitions - 1)))
    block.sync()  # our own share's quads are there; then everybody else's
    arrived.wait()
    combine = combine_share_weighed_once if c.weigh_once else combine_share
    combine(slots, sums, rank, valid_quads, write, sink, scale_log2e, c=c)


@device_function
def push_bulk(quad_of, statistics_of, source, write, sink, rank, valid_rows, scale_log2e, *, c):
    """The exchange by bulk copies: one for each owner. The closing barrier keeps the stage alive until the copies have read it."""
    valid_quads = valid_rows * c.row_quads
    slots = shared(f32, (c.partitions, c.share, QUAD), name="slots")
    sums = shared(f32, (c.partitions, c.sums_rows, 2), name="sums")
    stage = shared(f32, (c.partitions, c.share, QUAD), name="stage")
    arrived = mbarrier(1, scope="cluster", name="arrived")
    _, count, _, rows = share_of(rank, valid_quads, c=c)
    with thread(0):
        arrived.arrive(bytes=(c.partitions - 1) * (16 * count + 8 * rows), order="relaxed")
    cluster.arrive("relaxed")  # publishes nothing but the barrier, whose initialisation is fenced
    values = load_tile(quad_of, source, rank, valid_rows, c=c)
    flat = stage.reshape(c.partitions * c.share, QUAD)
    pairs = share_statistics(statistics_of, source, rank, valid_quads, c=c)
    for k in static_range(c.quads_per_thread):
        owner, part = held_quad(k, rank, c=c)
        if owner * c.share + part < valid_quads and thread.index() + k * c.threads < c.partitions * c.share:
            if is_local(k, c=c):
                slots[rank, part] = values[k]  # a bulk copy within a CTA is not allowed
            else:
                flat[owner * c.share + part] = values[k]
    cluster.wait()
    push_statistics(pairs, sums, arrived, rank, valid_quads, c=c)
    block.sync()
    if thread.index() < c.partitions - 1:
        owner = (rank + 1 + min(thread.index(), c.partitions - 2)) % c.partitions
        _, theirs, _, _ = share_of(owner, valid_quads, c=c)
        if theirs > 0:
            bulk_push(slots.on(owner).part(rank), stage.part(owner), arrived.on(owner), bytes=16 * theirs)
    arrived.wait()
    cluster.arrive()
    combine_share(slots, sums, rank, valid_quads, write, sink, scale_log2e, c=c)
    cluster.wait()


@device_function
def pull_wide(quad_of, statistics_of, source, write, sink, rank, valid_rows, scale_log2e, *, c):
    """The exchange by DSMEM loads of all threads, every peer's quad in flight at once.

    The cluster barrier publishes, so all threads of the CTA take part; a kernel whose other warps are elsewhere uses `push`, or `splitk_epilogue`.
    """
    valid_quads = valid_rows * c.row_quads
    stage = shared(f32, (c.quads, QUAD), name="stage")
    maxsum = shared(f32, (c.cluster_rows, 2), name="maxsum")
    values = load_tile(quad_of, source, rank, valid_rows, c=c)
    for k in static_range(c.quads_per_thread):
        owner, part = held_quad(k, rank, c=c)
        if owner * c.share + part < valid_quads and thread.index() + k * c.threads < c.partitions * c.share:
            stage[owner * c.share + part] = values[k]
    for k in static_range(-(-c.cluster_rows // c.threads)):
        row = thread.index() + k * c.threads
        if row < valid_rows:
            maxsum[row] = statistics_of(source, row, c=c)
    cluster.sync()
    first, count, _, _ = share_of(rank, valid_quads, c=c)
    results, scales = registers(f32, (c.share_per_thread, QUAD)), registers(f32, (c.share_per_thread, 2))
    for k in static_range(c.share_per_thread):
        quad = first + thread.index() + k * c.threads
        if quad < first + count:
            row = quad // c.row_quads
            maxima, totals, parts = registers(f32, c.partitions), registers(f32, c.partitions), registers(f32, (c.partitions, QUAD))
            for slot in static_range(c.partitions):
                peer = (rank + slot) % c.partitions
                maxima[slot], totals[slot] = maxsum.on(peer)[row]
                parts[slot] = stage.on(peer)[quad]
            results[k], scales[k, 0], scales[k, 1] = combine_quad(maxima, totals, parts, scale_log2e, c=c)
    cluster.arrive()  # our reads are done; before the stores, so that the release does not wait for them
    for k in static_range(c.share_per_thread):
        quad = first + thread.index() + k * c.threads
        if quad < first + count:
            row = quad // c.row_quads
            write(sink, row, quad - row * c.row_quads, results[k], scales[k, 0], scales[k, 1], c=c)
    cluster.wait()  # peers may still be reading our stage
