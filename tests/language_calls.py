"""One valid call of everything a kernel can call, and for each argument which of a set of sample values it takes.

`tests/language/test_wrong_arguments.py` puts every other sample in its place.
"""

from __future__ import annotations

SETUP = """\
import numpy as np

from fa4dsl import *


@device_function
def helper(value):
    return value


def plain(value):
    return value


@kernel(threads=128)
def other(x: Pointer[f32]):
    x[0] = 1.0


@kernel(threads=256, cluster=2)
def example(
    x: Pointer[f32], c: Pointer[i32], u: Pointer[u32], h: Pointer[bf16], n: i32, f: f32, w: i64, matrix: TensorMap, packed: RaggedTensorMap
):
    tile = shared(f32, (32, 32))
    row = shared(f32, 4)
    counts = shared(i32, 64)
    half = shared(bf16, (64, 64), swizzle=swizzle128)
    third = shared(bf16, (64, 64), swizzle=swizzle128)
    rows = shared(bf16, (64, 64))
    ragged = shared(bf16, (64, 32))
    square = shared(f32, (64, 64))
    done = mbarrier(1)
    remote = mbarrier(1, scope="cluster")
    group = mbarrier(1, count=16)
    meeting = named_barrier(64)
    dealt = pipeline(stages=2, slot={"part": (f32, (32, 32))}, readers=8)
    ring = pipeline(stages=2, slot={"part": (f32, (32, 32))})
    acc = accumulator(f32, 64)
    values = registers(f32, 4)
    grid4 = registers(f32, (2, 2))
    fragment = registers(bf16, 8)
    fragment_b = registers(bf16, 4)
    sums = registers(f32, 4)
    four = x.load(0, width=4)
    peer = tile.on(1)
    peers_barrier = remote.on(1)
    shared_pointer = tile.pointer((0, 0))
    h_shared = rows.pointer((0, 0))
    flag = n > 0
    block.sync()
"""
"""The start of the kernel in which the calls stand."""

SAMPLES = {
    "seven": ("7", "7"),
    "minus": ("-1", "-1"),
    "huge": ("10**12", "1000000000000"),
    "fraction": ("1.5", "1.5"),
    "truth": ("True", "True|bool"),
    "word": ('"word"', "'word'"),
    "none": ("None", "None"),
    "items": ('[1, "a"]', "list|str 'a'"),
    "pair": ("(None, 2.5)", "None|tuple|2 indices|2 coordinates|2 dimensions"),
    "table": ("{}", "dict"),
    "shared": ("tile", "the shared array 'tile'|a row of tile"),
    "peer": ("peer", "the shared array 'tile' of a peer"),
    "turned": ("half.T", "the transpose of the shared array 'half'"),
    "barrier": ("done", "the barrier 'done'"),
    "peers_barrier": ("peers_barrier", "the barrier 'remote' of a peer"),
    "named": ("meeting", "the named barrier 'meeting'"),
    "pointer": ("x", r"Pointer\[f32\]|elements of type f32"),
    "shared_pointer": ("shared_pointer", r"Pointer\[f32, shared\]|elements of type f32"),
    "map": ("matrix", "the tensor map 'matrix'"),
    "ring": ("ring", "the ring 'ring'"),
    "integer": ("n", "i32"),
    "wide": ("w", "i64"),
    "float": ("f", "f32"),
    "flag": ("flag", "bool"),
    "vector": ("four", "vector of 4 f32|not a run-time f32|f32x4"),
    "array": ("values", "register array of f32|not a run-time f32|f32"),
    "type": ("f64", "f64"),
    "kernel": ("other", "the kernel other"),
    "function": ("helper", "the device function helper"),
    "python": ("plain", "the Python function plain"),
    "module": ("np", "the module numpy"),
    "object": ("block", "the language's `block`"),
    "with_block": ("elect()", r"the block `with elect\(\)`"),
    "language": ("exp2", "the language's function exp2"),
}
"""Sample values: how each is written, and a pattern of what messages call it."""

GROUPS = {
    "nothing": "",
    "anything": " ".join(SAMPLES),
    "constant": "seven",
    "count": "seven truth",
    "index": "seven minus truth integer",  # of a pointer or a tensor map: may lie before the start
    "offset": "seven minus huge truth integer wide",
    "inside": "seven truth integer",  # of a shared array
    "rank": "truth integer",
    "number": "seven minus huge fraction truth",
    "f32": "seven minus huge fraction truth float",
    "math": "seven minus huge fraction truth float vector array",
    "floats": "float vector array",
    "stored": "seven minus huge fraction truth float vector array",
    "bool": "truth",
    "condition": "truth flag integer wide",
    "own": "shared",
    "either": "shared peer",
    "address": "pointer shared_pointer",
    "name": "word",
    "optional": "none",
}


PRINTED = "seven minus huge fraction truth integer wide float flag word items vector array pointer shared_pointer"


def call(text: str, *accepted: str) -> tuple[str, tuple[str, ...]]:
    """A valid call, and for each of its arguments the groups of samples that would be valid there as well."""
    return text, accepted


CALLS = [
    # Types
    call("f32(n)", "seven minus huge fraction truth integer wide float flag vector array"),
    call("i32(f)", "seven minus truth integer wide float flag vector array"),
    # Objects in memory
    call("shared(f32, (4, 4), name='a', swizzle='none', alignment=256)", "type", "constant huge", "name", "", ""),
    call("shared(f32, (4, 4), overlay=tile)", "type", "constant", "optional shared"),
    call("registers(f32, (2, 2), 0.0, 'r')", "type", "constant", "f32", "name"),
    call("vector(f, 1.0, dtype=f32)", "f32", "f32", "none type"),
    call("mbarrier(1, scope='cta', count=2, name='b')", "constant", "", "constant", "name"),
    call("named_barrier(64, 'm', count=1)", "", "name", "constant"),
    call(
        "pipeline(stages=2, slot={'a': (f32, (32, 32))}, name='p', multicast=False, readers=8)",
        "constant",
        "",
        "name",
        "bool",
        "optional constant",
    ),
    call("accumulator(f32, 64, 'd')", "", "", "name"),
    # Places
    call("thread.index('x')", ""),
    call("thread.count()"),
    call("thread(0)", "seven truth integer"),
    call("lane.index()"),
    call("warp.index()"),
    call("warp.sync(0xFFFFFFFF)", "constant"),
    call("warp(0)", "seven truth integer"),
    call("block.index('x')", ""),
    call("block.dim('x')", ""),
    call("block.sync()"),
    call("grid.dim('x')", ""),
    call("cluster.rank()"),
    call("cluster.size()"),
    call("cluster.index('x')", ""),
    call("cluster.block_index('x')", ""),
    call("cluster.sync()"),
    call("cluster.arrive('release')", ""),
    call("cluster.wait()"),
    call("warpgroup.index()"),
    call("warpgroup.thread()"),
    call("warpgroup.sync()"),
    call("role('load', 4, 40, 0)", "name", "constant", "", "optional constant"),
    call("elect(0, each_warp=False)", "optional seven", "bool"),
    # Pointers
    call("x.offset(1)", "offset"),
    call("x.load(0, 2, order='relaxed', scope='gpu', cache=None)", "offset", "", "", "optional", "optional"),
    call("x.load(0, 2, order='weak', scope=None, cache='nc')", "offset", "", "", "optional", "optional"),
    call("x.store(0, 1.0, order='relaxed', scope='gpu', cache=None)", "offset", "stored", "", "optional", "optional"),
    call("x.store(0, (1.0, f), cache='cs')", "offset", "stored", "optional"),
    # Shared arrays
    call("tile.on(1)", "rank"),
    call("tile.as_(bf16)", "type"),
    call("tile.reshape(16, 64)", "", ""),
    call("tile.reshape((16, 64))", ""),
    call("tile.pointer((0, 0))", "inside"),
    call("row.pointer((0,))", "truth integer"),
    call("tile.load(0, 0, width=4)", "inside", "inside", ""),
    call("tile.store((0, 0), 1.0)", "inside", "stored"),
    call("row.store(0, 1.0)", "truth integer", "stored"),
    call("tile.part(0)", "inside"),
    call("tile.window(0, 4)", "inside", "constant"),
    # Register arrays, vectors, scalars
    call("values.fill(1.0)", "f32"),
    call("values.reshape(2, 2)", "", ""),
    call("values.copy()"),
    call("values.to(f64)", "type"),
    call("values.bitcast(i32)", ""),
    call("four.to(f64)", "type"),
    call("four.bitcast(f64)", "type"),
    call("f.to(f64)", "type"),
    call("f.bitcast(i32)", ""),
    # Barriers
    call("remote.on(1)", "rank"),
    call("done.arrive(1, bytes=128, order='release')", "constant", "optional seven truth integer", ""),
    call("peers_barrier.arrive(1, bytes=128, order='release')", "constant", "optional seven truth integer", ""),
    call("done.expect(128)", "seven truth integer"),
    call("done.wait(0, order='acquire')", "optional huge seven minus truth integer", ""),
    call("done.wait()"),
    call("done.test(0, order='acquire', suspend=True)", "huge seven minus truth integer", "", "bool"),
    call("done.invalidate()"),
    call("meeting.sync()"),
    call("meeting.arrive()"),
    # Rings
    call("ring.fill()"),
    call("dealt.skip(2)", "seven huge truth integer"),
    call("ring.use(behind=1)", ""),
    # TMA
    call("matrix.prefetch()"),
    call(
        "matrix.load(tile, (0, 0), done, multicast='cluster', cache='evict_first', out_of_bounds='zero')",
        "own",
        "",
        "barrier",
        "optional constant",
        "optional",
        "optional",
    ),
    call("matrix.store(tile, (0, 0), reduce='add', cache='evict_first')", "own", "", "optional", "optional"),
    call(
        "packed.store(ragged, column=0, row=0, rows=1, head=0, heads=1, cache='evict_first')",
        "own",
        "index",
        "index",
        "seven truth integer",
        "index",
        "seven truth integer",
        "optional",
    ),
    call(
        "bulk_load(tile, x, done, bytes=64, multicast=1, cache='evict_first')",
        "own",
        "pointer",
        "barrier",
        "optional integer",
        "optional seven",
        "optional",
    ),
    call("bulk_store(x, tile, bytes=64, cache='evict_first')", "pointer", "own", "optional integer", "optional"),
    call("bulk_push(peer, tile, peers_barrier, bytes=64)", "peer", "own", "peers_barrier", "optional integer"),
    call("tma.commit()"),
    call("tma.wait(0, read=True)", "constant", "bool"),
    call("tma.commit_and_wait()"),
    call("copy_async(tile, (0, 0), x, 16, 'cg')", "own", "inside", "pointer", "", "optional"),
    call("copy_async_commit()"),
    call("copy_async_wait(0)", "constant"),
    call("store_async(peer, (0, 0), 1.0, peers_barrier)", "peer", "inside", "f32 vector array", "peers_barrier"),
    # Atomics
    *(call(f"atomic.{name}(x, 1.0, order='relaxed', scope='gpu')", "address", "f32", "", "") for name in ("add", "exchange")),
    *(
        call(f"atomic.{name}(u, 1, order='relaxed', scope='gpu')", "", "seven truth", "", "")
        for name in ("max", "min", "bit_and", "bit_or", "bit_xor", "increment", "decrement")
    ),
    call("atomic.compare_and_swap(c, 0, 1, order='relaxed', scope='gpu')", "address", "index", "index", "", ""),
    call("reduce.add(x, 1.0, order='relaxed', scope='gpu')", "address", "f32", "", ""),
    call("reduce.max(c, 1, order='relaxed', scope='gpu')", "", "index", "", ""),
    call("reduce.min(c, 1, order='relaxed', scope='gpu')", "", "index", "", ""),
    # Lanes
    *(
        call(f"{name}(f, 1, 32)", "integer wide float vector array", "seven truth integer", "")
        for name in ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down")
    ),
    *(call(f"{name}(flag)", "condition") for name in ("vote_any", "vote_all", "ballot")),
    call("match_any(n)", "integer wide"),
    call("redux(n, 'add')", "integer", ""),
    call("warp_reduce(f, 'add', 16)", "integer wide float vector array", "", ""),
    # Mathematics
    *(call(f"{name}(f, False)", "math", "bool") for name in ("exp", "exp2", "log", "log2", "rcp", "rsqrt", "sqrt")),
    *(call(f"{name}(f)", "math") for name in ("erf", "tanh", "sin", "cos")),
    *(call(f"{name}(f)", "float vector array") for name in ("floor", "ceil")),
    *(call(f"{name}(f, f, f)", "math", "math", "math") for name in ("fma", "max3", "min3")),
    *(call(f"{name}(f, f)", "math", "math") for name in ("maximum", "minimum")),
    call("where(flag, f, f)", "condition", "math", "math"),
    *(call(f"{name}(n)", "integer wide") for name in ("popcount", "leading_zeros")),
    # Matrices
    call("load_matrix(h_shared, 4, transpose=False, dtype=f16)", "", "", "bool", "optional"),
    call("store_matrix(h_shared, fragment, transpose=False)", "", "", "bool"),
    call("store_matrix(h_shared, [bf16(n), bf16(f)])", "", ""),
    call("mma(fragment, fragment_b, sums, 'm16n8k16')", "", "", "vector array", ""),
    call("wgmma(half, third.T, acc, accumulate=True)", "turned", "turned", "optional", "bool flag"),
    call("accumulator_place(3)", "constant"),
    call("store_accumulator(square, acc)", "", ""),
    call("wgmma_fence()"),
    call("wgmma_commit()"),
    call("wgmma_wait(acc, pending=0)", "array", "constant"),
    # Fences, control
    call("fence('acq_rel', 'gpu')", "", ""),
    call("fence_proxy_async('shared::cta')", ""),
    call("device_print('n =', n, f)", PRINTED, PRINTED, PRINTED),
    call("clock()"),
    call("nanosleep(20)", "seven truth integer"),
    call("trap()"),
    call("launch_dependents()"),
    call("wait_dependencies()"),
    call("static_assert(True, 'message')", "anything", "name"),
    call(
        "inline_ptx('add.s32 $0, $1, 1;', n, results=i32, pure=True)",
        "name",
        "seven minus huge fraction integer wide float pointer shared_pointer",
        "type",
        "bool",
    ),
    call("static_range(4)", "seven minus huge"),
    call("static_range(0, 4, 2)", "seven minus huge", "seven minus huge", "seven minus huge"),
    call("range(n)", "seven minus huge truth integer wide"),
    call("min(n, lane.index())", "seven minus integer wide", "seven minus integer wide"),
    call("max(n, lane.index())", "seven minus integer wide", "seven minus integer wide"),
    call("divmod(n, 4)", "seven minus huge truth integer wide", "seven minus truth integer wide"),
    call("abs(n)", "seven minus huge fraction truth integer wide float flag vector array"),
    call("helper(n)", "anything"),
]
