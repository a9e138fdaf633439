"""Examples of races: accesses that nothing orders, or something too weak."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import BULK_PUSH, CLUSTER_SYNC, PAIR, program, script, wait

EXAMPLES: Examples = {
    "S020": script(
        "Pointer, block, f32, kernel, shared, thread",
        """
@kernel(threads=64)
def reverse(x: Pointer[f32], y: Pointer[f32]):
    tile = shared(f32, 64)
    i = thread.index()
    tile[i] = x[i]
    y[i] = tile[63 - i]


x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
reverse.bind().check(1, (x, y))[0].require_clean()
""",
        ("    tile[i] = x[i]\n", "    tile[i] = x[i]\n    block.sync()\n"),
    ),
    "S021": script(
        "TensorMap, block, elect, f32, fence_proxy_async, kernel, shared, thread, tma",
        """
warnings.simplefilter("ignore")  # the compiler says it too: C040


@kernel(threads=32, fences="manual")
def fill(target: TensorMap):
    tile = shared(f32, (8, 32))
    for i in range(8):
        tile[i, thread.index()] = 1.0
    block.sync()  # orders threads, not proxies
    with elect():
        target.store(tile, (0, 0))
        tma.commit_and_wait()


target = np.zeros((8, 32), np.float32)
fill.bind().check(1, (target,))[0].require_clean()
""",
        ("    block.sync()  # orders threads, not proxies\n", "    fence_proxy_async()\n    block.sync()\n"),
        before="import warnings\n\n",
    ),
    "S022": script(
        "Pointer, TensorMap, block, elect, f32, fence_proxy_async, kernel, mbarrier, shared, thread",
        """
@kernel(threads=32, fences="manual")
def column_sums(matrix: TensorMap, sums: Pointer[f32]):
    tile = shared(f32, (8, 32))
    full = mbarrier(1)
    block.sync()
    total = f32(0)
    for step in range(4):
        with elect():
            full.arrive(bytes=tile.bytes)
            matrix.load(tile, (8 * step, 0), full)  # refills the tile
        full.wait()
        for row in range(8):
            total += tile[row, thread.index()]
        block.sync()
    sums[thread.index()] = total


matrix, sums = np.ones((32, 32), np.float32), np.zeros(32, np.float32)
column_sums.bind().check(1, (matrix, sums))[0].require_clean()
""",
        ("        block.sync()\n", "        fence_proxy_async()\n        block.sync()\n"),
    ),
    "S023": script(
        "Pointer, block, i32, kernel",
        """
@kernel(threads=1)
def send(data: Pointer[i32], flag: Pointer[i32], out: Pointer[i32]):
    if block.index() == 0:
        data[0] = 42
        flag.store(0, 1, order="release", scope="cta")  # the reader is another CTA
    else:
        while flag.load(0, order="acquire", scope="gpu") == 0:
            pass
        out[0] = data[0]


data, flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
send.bind().check(2, (data, flag, out))[0].require_clean()
""",
        ('scope="cta")  # the reader is another CTA', 'scope="gpu")'),
    ),
    "S024": script(
        "Pointer, block, bulk_load, elect, f32, kernel, mbarrier, shared, thread",
        """
@kernel(threads=128)
def double(x: Pointer[f32], y: Pointer[f32]):
    tile = shared(f32, 128)
    loaded = mbarrier(1)
    block.sync()
    with elect():
        loaded.arrive(bytes=tile.bytes)
        bulk_load(tile, x, loaded)
    block.sync()  # waits for threads, not for the copy
    y[thread.index()] = 2.0 * tile[thread.index()]
    loaded.wait()


x, y = np.ones(128, np.float32), np.zeros(128, np.float32)
double.bind().check(1, (x, y))[0].require_clean()
""",
        ("    block.sync()  # waits for threads, not for the copy\n", "    loaded.wait()\n"),
        ("[thread.index()]\n    loaded.wait()\n", "[thread.index()]\n"),
    ),
    "S025": script(
        "Pointer, accumulator, bf16, block, f32, kernel, shared, static_range, thread, wgmma, wgmma_commit, wgmma_wait",
        """
@kernel(threads=128)
def product(c: Pointer[f32]):
    a = shared(bf16, (2, 64, 8))  # 64 x 16, in two panels of 8 columns
    b = shared(bf16, (2, 8, 8))
    i = thread.index()
    for k in static_range(8):
        a[i // 64, i % 64, k] = 1.0
        if i < 16:
            b[i // 8, i % 8, k] = 1.0
    block.sync()
    acc = wgmma(a, b.T, into=accumulator(f32, 8))
    wgmma_commit()
    a[i // 64, i % 64, 0] = 0.0  # the product may still read it
    wgmma_wait(acc)
    c[i] = acc[0]


c = np.zeros(128, np.float32)
product.bind().check(1, (c,))[0].require_clean()
""",
        (
            "    a[i // 64, i % 64, 0] = 0.0  # the product may still read it\n    wgmma_wait(acc)\n",
            "    wgmma_wait(acc)\n    a[i // 64, i % 64, 0] = 0.0\n",
        ),
    ),
    "S026": script(
        "Pointer, block, i32, kernel, shared, thread",
        """
@kernel(threads=32)
def find_positive(x: Pointer[i32], place: Pointer[i32]):
    found = shared(i32, 1)
    i = thread.index()
    if x[i] > 0:
        found[0] = i  # many lanes, each its own number
    block.sync()
    place[i] = found[0]


x, place = np.ones(32, np.int32), np.zeros(32, np.int32)
find_positive.bind().check(1, (x, place))[0].require_clean()
""",
        ("    if x[i] > 0:\n        found[0] = i  # many lanes, each its own number\n", "    if i == 0:\n        found[0] = i\n"),
    ),
    "S027": script(
        "Pointer, f32, kernel, lane, shared, warp",
        """
@kernel(threads=32)
def neighbour(x: Pointer[f32], y: Pointer[f32]):
    row = shared(f32, 32)
    i = lane.index()
    row[i] = x[i]
    y[i] = row[i ^ 1]  # another lane, in the same warp


x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
neighbour.bind().check(1, (x, y))[0].require_clean()
""",
        ("    row[i] = x[i]\n", "    row[i] = x[i]\n    warp.sync()\n"),
    ),
    "S028": script(
        "Pointer, block, copy_async, copy_async_commit, copy_async_wait, f32, kernel, shared, thread",
        """
@kernel(threads=64)
def reverse(x: Pointer[f32], y: Pointer[f32]):
    tile = shared(f32, 64)
    i = thread.index()
    copy_async(tile, i, x + i, bytes=4)
    copy_async_commit()
    block.sync()
    y[i] = tile[63 - i]


x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
reverse.bind().check(1, (x, y))[0].require_clean()
""",
        ("    copy_async_commit()\n", "    copy_async_commit()\n    copy_async_wait()\n"),
    ),
    "S029": program(
        f"""
    .shared .align 16 .b8 slot[16];
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .reg .pred %done, %producer;
    .reg .b32 %rank, %peer, %remote, %signal, %value;
    mov.u32 %rank, %cluster_ctarank;
    xor.b32 %peer, %rank, 1;
    setp.eq.u32 %producer, %rank, 0;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.init.shared::cta.b64 [empty], 1;
    fence.mbarrier_init.release.cluster;
    st.shared.v2.u64 [slot], {{1, 2}};
    fence.proxy.async.shared::cta;
{CLUSTER_SYNC}    @%producer bra produce;
    ld.shared.u32 %value, [slot];
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
    mapa.shared::cluster.u32 %remote, empty, %peer;
    mbarrier.arrive.shared::cluster.b64 _, [%remote];  // .release.cta by default
{wait("full")}    bra end;
{wait("empty", label="produce", form=".acquire.cluster")}    mapa.shared::cluster.u32 %remote, slot, %peer;
    mapa.shared::cluster.u32 %signal, full, %peer;
    {BULK_PUSH} [%remote], [slot], 16, [%signal];
end:
{CLUSTER_SYNC}""",
        (
            "mbarrier.arrive.shared::cluster.b64 _, [%remote];  // .release.cta by default",
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%remote];",
        ),
        head=PAIR,
    ),
    "S046": script(
        "Pointer, cluster, f32, kernel, shared, thread",
        """
@kernel(threads=32, cluster=2)
def exchange(x: Pointer[f32]):
    mine = shared(f32, 32)
    i, rank = thread.index(), cluster.rank()
    mine[i] = x[32 * rank + i]
    cluster.arrive(order="relaxed")
    cluster.wait()
    x[32 * rank + i] = mine.on(1 - rank)[i]
    cluster.sync()


x = np.arange(64, dtype=np.float32)
exchange.bind().check(2, (x,))[0].require_clean()
""",
        ('cluster.arrive(order="relaxed")', "cluster.arrive()"),
    ),
}
