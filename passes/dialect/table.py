"""The operations of the fa4 dialect, as data: `definition.py` turns this table into IRDL, `docs/dialect.md` is printed from it.

Shapes of operations: an operand, result or attribute is written "name: constraint". A name that ends in "*" is variadic (at most
one of the operands of an operation is). Attributes that end in "?" may be absent.

Constraints: any; i1, i16, i32, i64, integer, float, scalar (integer or float), value (scalar, vector or pointer),
values (the same, variadic and of unlike types: up to 24; members of every other variadic slot have one type); ptr (any !llvm.ptr), ptr1 (global),
ptr3 (shared::cta), ptr7 (shared::cluster); shared, mbarrier, tensor_map (this dialect's types); str, int, bool, type, ints (i64 array) for attributes.

Byte offsets and indices are i32. "who" says which threads must execute the operation. Memory accesses that need no order are upstream
`llvm.load` and `llvm.store` on the pointers that these operations give; structured control flow is `scf`, arithmetic `arith` and `math`.
"""

from __future__ import annotations

from dataclasses import dataclass

ORDER = "relaxed | acquire | release | acq_rel | sc | volatile | weak"
SCOPE = "cta | cluster | gpu | sys"


@dataclass(frozen=True)
class Operation:
    """One operation of the dialect. `ptx` is what it becomes; `who` the threads that must execute it."""

    name: str
    summary: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    ptx: str = ""
    who: str = "any thread"


def _op(
    name: str, summary: str, operands: str = "", results: str = "", attributes: str = "", ptx: str = "", who: str = "any thread"
) -> Operation:
    def split(text: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())

    return Operation(name, summary, split(operands), split(results), split(attributes), ptx, who)


_BARRIER = "barrier: mbarrier, index: i32"
_REMOTE = "barrier: mbarrier, index: i32, rank: i32"
_DESTINATION = "array: shared, offset: i32"

OPERATIONS: tuple[Operation, ...] = (
    # --- shared memory
    _op(
        "shared_alloc",
        "An array in shared memory. `overlay` names an earlier array whose memory it shares; `shape` and `dtype` give its size.",
        "",
        "array: shared",
        "name: str, dtype: type, shape: ints, alignment: int, swizzle: str, overlay?: str",
    ),
    _op("shared_address", "The address of byte `offset` of an array.", _DESTINATION, "address: ptr3", ptx="mov / add"),
    _op(
        "peer_address",
        "The same shared address in the CTA of rank `rank` of this cluster.",
        "address: ptr3, rank: i32",
        "peer: ptr7",
        ptx="mapa.shared::cluster",
    ),
    # --- ordered memory accesses (weak ones are llvm.load and llvm.store)
    _op(
        "load",
        "A load with an order and a scope, or with a cache hint.",
        "address: ptr",
        "result: value",
        "order: str, scope?: str, cache?: str",
        "ld{.relaxed|.acquire|.volatile|.nc}",
    ),
    _op(
        "store",
        "A store with an order and a scope, or with a cache hint.",
        "value: value, address: ptr",
        "",
        "order: str, scope?: str, cache?: str",
        "st{.relaxed|.release|.volatile}",
    ),
    _op(
        "atomic",
        "Atomic read-modify-write; returns the old value. kind: add sub and or xor exch min max umin umax inc dec fadd.",
        "address: ptr, value: scalar",
        "old: scalar",
        "kind: str, order: str, scope: str",
        "atom",
    ),
    _op(
        "compare_and_swap",
        "Atomic compare-and-swap; returns the old value.",
        "address: ptr, expected: scalar, desired: scalar",
        "old: scalar",
        "order: str, scope: str",
        "atom.cas",
    ),
    _op("reduce", "Atomic update without a result.", "address: ptr, value: scalar", "", "kind: str, order: str, scope: str", "red"),
    # --- mbarriers
    _op(
        "mbarrier_alloc",
        "`count` mbarriers side by side; each phase completes after `arrivals` arrivals and all expected bytes. scope: cta, or cluster if peers arrive.",
        "",
        "barrier: mbarrier",
        "name: str, count: int, arrivals: int, scope: str",
    ),
    _op(
        "mbarrier_init",
        "Initialises all barriers of the allocation with its arrival count; thread 0 of the CTA does it, then fences (cluster scope).",
        "barrier: mbarrier",
        ptx="mbarrier.init.shared::cta.b64; fence.mbarrier_init.release.cluster",
        who="all threads of the CTA reach it; thread 0 acts",
    ),
    _op(
        "mbarrier_invalidate",
        "Ends the barriers' life; the memory may be reused after a barrier.",
        "barrier: mbarrier",
        ptx="mbarrier.inval",
        who="all threads of the CTA reach it; thread 0 acts",
    ),
    _op(
        "mbarrier_address",
        "The address of barrier `index` (8 bytes each): what the lowering passes make of a barrier operand, and the way to hand one to inline PTX.",
        _BARRIER,
        "address: ptr3",
        ptx="mov / add",
    ),
    _op("mbarrier_arrive", "Arrives `count` times.", _BARRIER, "", "count: int, order: str, scope: str", "mbarrier.arrive"),
    _op(
        "mbarrier_arrive_remote",
        "Arrives on the same barrier of a peer CTA.",
        _REMOTE,
        "",
        "count: int, order: str, scope: str",
        "mapa; mbarrier.arrive.shared::cluster",
    ),
    _op(
        "mbarrier_expect_tx",
        "Adds expected bytes without arriving.",
        _BARRIER + ", bytes: i32",
        "",
        "scope: str",
        "mbarrier.expect_tx.relaxed",
    ),
    _op(
        "mbarrier_arrive_expect_tx",
        "Adds expected bytes, then arrives once.",
        _BARRIER + ", bytes: i32",
        "",
        "order: str, scope: str",
        "mbarrier.arrive.expect_tx",
    ),
    _op(
        "mbarrier_arrive_expect_tx_remote",
        "The same on a peer's barrier.",
        _REMOTE + ", bytes: i32",
        "",
        "order: str, scope: str",
        "mapa; mbarrier.arrive.expect_tx.shared::cluster",
    ),
    _op(
        "mbarrier_wait",
        "Blocks until the phase of `parity` has completed.",
        _BARRIER + ", parity: i32",
        "",
        "order: str, scope: str",
        "mbarrier.try_wait.parity in a loop",
    ),
    _op(
        "mbarrier_test",
        "Whether the phase of `parity` has completed. `suspend`: try_wait instead of test_wait.",
        _BARRIER + ", parity: i32",
        "done: i1",
        "order: str, scope: str, suspend: bool",
        "mbarrier.test_wait.parity | mbarrier.try_wait.parity",
    ),
    # --- barriers of CTA, warp, cluster
    _op("block_sync", "All threads of the CTA meet.", ptx="bar.sync 0", who="all threads of the CTA"),
    _op(
        "named_barrier_sync",
        "`threads` threads meet at barrier `id` (1..15).",
        "id: i32",
        "",
        "threads: int, name?: str",
        "bar.sync id, threads",
        "whole warps",
    ),
    _op(
        "named_barrier_arrive",
        "Arrives at barrier `id` without waiting.",
        "id: i32",
        "",
        "threads: int, name?: str",
        "bar.arrive id, threads",
        "whole warps",
    ),
    _op("warp_sync", "The lanes of the warp meet.", "mask: i32", ptx="bar.warp.sync", who="the lanes of the mask"),
    _op(
        "cluster_arrive",
        "Arrives at the cluster barrier. order: release or relaxed.",
        "",
        "",
        "order: str",
        "barrier.cluster.arrive",
        "all threads of the cluster, once a phase",
    ),
    _op(
        "cluster_wait",
        "Waits for the cluster barrier.",
        "",
        "",
        "order: str",
        "barrier.cluster.wait",
        "all threads of the cluster, once a phase",
    ),
    # --- indices: thread.{x,y,z} block.{x,y,z} block_dim.{x,y,z} grid_dim.{x,y,z} cluster.{rank,size} cluster_block.{x,y,z} cluster_id.{x,y,z} lane warp (warp is uniform: thread / 32 by a shuffle from lane 0)
    _op("index", "A special register.", "", "value: i32", "what: str", "mov.u32 %tid.x ..."),
    _op("clock", "The SM's cycle counter.", "", "value: i64", "", "mov.u64 %clock64"),
    # --- fences
    _op(
        "fence",
        "Orders the executing thread's accesses at a scope.",
        "",
        "",
        "order: str, scope: str",
        "fence.acq_rel | fence.sc | fence.acquire | fence.release",
    ),
    _op(
        "fence_mbarrier_init",
        "Makes this thread's mbarrier inits visible to the cluster, with a cluster barrier after it.",
        ptx="fence.mbarrier_init.release.cluster",
    ),
    _op(
        "fence_proxy_async",
        "Orders generic and async proxy accesses of the executing thread. space: shared::cta, shared::cluster, global or all. `inserted` marks the compiler's own.",
        "",
        "",
        "space: str, inserted?: bool",
        "fence.proxy.async",
    ),
    # --- TMA and bulk copies. `bytes` is what one execution moves to one CTA (the whole box).
    _op("tensor_map_prefetch", "Fetches the descriptor.", "map: tensor_map", ptx="prefetch.tensormap", who="one thread"),
    _op(
        "tma_load",
        "Loads a box into shared memory; its bytes complete on the barrier. coordinates innermost first.",
        "map: tensor_map, " + _DESTINATION + ", " + _BARRIER + ", coordinates*: i32",
        "",
        "bytes: int, cache?: str",
        "cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
        "one thread",
    ),
    _op(
        "tma_load_multicast",
        "Loads a box into the same place of every CTA in `mask` and completes on each one's barrier.",
        "map: tensor_map, " + _DESTINATION + ", " + _BARRIER + ", mask: i16, coordinates*: i32",
        "",
        "bytes: int, cache?: str",
        "cp.async.bulk.tensor...multicast::cluster",
        "one thread",
    ),
    _op(
        "tma_store",
        "Stores a box from shared memory. reduce: none add min max inc dec and or xor.",
        "map: tensor_map, " + _DESTINATION + ", coordinates*: i32",
        "",
        "reduce: str, bytes: int, cache?: str",
        "cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group",
        "one thread",
    ),
    _op(
        "bulk_load",
        "Copies contiguous bytes from global to shared memory.",
        _DESTINATION + ", source: ptr1, bytes: i32, " + _BARRIER,
        "",
        "cache?: str",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "one thread",
    ),
    _op(
        "bulk_load_multicast",
        "Copies contiguous bytes from global memory to every CTA in `mask`.",
        _DESTINATION + ", source: ptr1, bytes: i32, " + _BARRIER + ", mask: i16",
        "",
        "cache?: str",
        "cp.async.bulk...multicast::cluster",
        "one thread",
    ),
    _op(
        "bulk_store",
        "Copies contiguous bytes from shared to global memory.",
        "destination: ptr1, " + _DESTINATION + ", bytes: i32",
        "",
        "cache?: str",
        "cp.async.bulk.global.shared::cta.bulk_group",
        "one thread",
    ),
    _op(
        "bulk_push",
        "Copies contiguous bytes from shared memory to byte `destination_offset` of the array `destination` of a peer CTA; completes on the peer's barrier.",
        "destination: shared, destination_offset: i32, " + _DESTINATION + ", bytes: i32, " + _REMOTE,
        "",
        "",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
        "one thread",
    ),
    _op("bulk_commit", "Closes the executing thread's bulk group.", ptx="cp.async.bulk.commit_group", who="the thread that issued"),
    _op(
        "bulk_wait",
        "Waits until at most `pending` of this thread's groups are unfinished; `read`: only until their sources are read.",
        "",
        "",
        "pending: int, read: bool",
        "cp.async.bulk.wait_group{.read}",
        "the thread that issued",
    ),
    _op(
        "store_async",
        "Stores 4, 8 or 16 bytes into a peer's array; they complete on the peer's barrier.",
        "value: value, " + _DESTINATION + ", " + _REMOTE,
        "",
        "",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}",
    ),
    _op(
        "copy_async",
        "Copies 4, 8 or 16 bytes from global to shared memory (non-bulk).",
        _DESTINATION + ", source: ptr1",
        "",
        "bytes: int, cache: str",
        "cp.async.{ca,cg}.shared.global",
    ),
    _op("copy_async_commit", "Closes this thread's cp.async group.", ptx="cp.async.commit_group"),
    _op("copy_async_wait", "Waits until at most `pending` cp.async groups are unfinished.", "", "", "pending: int", "cp.async.wait_group"),
    # --- warp collectives
    _op(
        "elect",
        "True in one lane of the warp. `warp`: the only warp whose lane is meant; the kernel compares for it.",
        "",
        "elected: i1",
        "warp?: int",
        "elect.sync",
        "whole warps",
    ),
    _op(
        "shuffle",
        "Exchanges 32-bit values in the warp. mode: idx up down bfly.",
        "value: scalar, lane: i32",
        "result: scalar",
        "mode: str, width: int",
        "shfl.sync",
        "whole warps",
    ),
    _op("vote", "mode: any all uni (i1), ballot (i32).", "predicate: i1", "result: integer", "mode: str", "vote.sync", "whole warps"),
    _op(
        "warp_reduce",
        "kind: add min max umin umax and or xor, over i32.",
        "value: i32",
        "result: i32",
        "kind: str",
        "redux.sync",
        "whole warps",
    ),
    _op("match", "mode: any (mask of the lanes with my value).", "value: integer", "mask: i32", "mode: str", "match.sync", "whole warps"),
    # --- arithmetic without an upstream operation of the same meaning
    _op(
        "approximate",
        "function: exp2 log2 rcp rsqrt sqrt tanh sin cos, f32; the hardware's approximation. `ftz` flushes subnormals.",
        "value: float",
        "result: float",
        "function: str, ftz: bool",
        "ex2.approx ...",
    ),
    _op(
        "convert",
        "Conversion with a rounding and saturation that arith has no word for (fp8, packed, tf32, to integer). to: PTX's words, e.g. rn.satfinite.e4m3x2.f32 (`rules.CONVERSIONS` lists them with their types). Packed values are given lowest element first.",
        "values*: value",
        "result: value",
        "to: str",
        "cvt",
    ),
    _op("byte_permute", "prmt.b32.", "low: i32, high: i32, selector: i32", "result: i32", "", "prmt.b32"),
    # --- matrix operations
    _op("wgmma_fence", "Orders registers before wgmma.", ptx="wgmma.fence.sync.aligned", who="a whole warpgroup"),
    _op("wgmma_commit", "Closes the warpgroup's wgmma group.", ptx="wgmma.commit_group.sync.aligned", who="a whole warpgroup"),
    _op(
        "wgmma_wait",
        "Waits until at most `pending` wgmma groups are unfinished; the accumulators pass through it.",
        "accumulators*: value",
        "results*: value",
        "pending: int",
        "wgmma.wait_group.sync.aligned",
        "a whole warpgroup",
    ),
    _op(
        "wgmma_descriptor",
        "A matrix descriptor for byte `offset` of an array. leading, stride: byte offsets; swizzle: none 32B 64B 128B.",
        _DESTINATION,
        "descriptor: i64",
        "leading: int, stride: int, swizzle: str",
    ),
    _op(
        "wgmma",
        "D = A*B (+ D if `accumulate`), A and B by descriptor. shape m64nNkK by n and the types; major: k or mn.",
        "a: i64, b: i64, accumulate: i1, accumulators*: value",
        "results*: value",
        "n: int, a_type: str, b_type: str, d_type: str, a_major: str, b_major: str, negate_a: bool, negate_b: bool",
        "wgmma.mma_async.sync.aligned",
        "a whole warpgroup",
    ),
    _op(
        "wgmma_register_a",
        "The same with A in four registers of this thread.",
        "a0: i32, a1: i32, a2: i32, a3: i32, b: i64, accumulate: i1, accumulators*: value",
        "results*: value",
        "n: int, a_type: str, b_type: str, d_type: str, b_major: str, negate_a: bool, negate_b: bool",
        "wgmma.mma_async.sync.aligned",
        "a whole warpgroup",
    ),
    _op(
        "mma",
        "Warp-level matrix multiply-accumulate; `shape` as in PTX (m16n8k16 ...). Operands: A, B and C registers in PTX order, each as i32 (llvm.bitcast costs nothing), and so the results.",
        "registers*: i32",
        "results*: i32",
        "shape: str, a_type: str, b_type: str, c_type: str, d_type: str",
        "mma.sync.aligned",
        "whole warps",
    ),
    _op(
        "load_matrix",
        "ldmatrix: `count` (1, 2, 4) 8x8 b16 matrices.",
        "address: ptr3",
        "registers*: i32",
        "count: int, transpose: bool",
        "ldmatrix.sync.aligned.m8n8",
        "whole warps",
    ),
    _op(
        "store_matrix",
        "stmatrix: as many 8x8 b16 matrices as registers.",
        "address: ptr3, registers*: i32",
        "",
        "transpose: bool",
        "stmatrix.sync.aligned.m8n8",
        "whole warps",
    ),
    # --- control
    _op(
        "set_max_registers",
        "Changes the register count of a warpgroup. direction: increase or decrease.",
        "",
        "",
        "count: int, direction: str",
        "setmaxnreg",
        "a whole warpgroup",
    ),
    _op("launch_dependents", "Lets dependent grids start.", ptx="griddepcontrol.launch_dependents"),
    _op("wait_dependencies", "Waits for the grids this one depends on.", ptx="griddepcontrol.wait"),
    _op("nanosleep", "Sleeps about `duration` nanoseconds.", "duration: i32", ptx="nanosleep.u32"),
    _op("trap", "Aborts the kernel.", ptx="trap"),
    _op(
        "device_print",
        "Prints `format`, whose conversions take the values in order: i32, or i64 with ll, for integers, f64 for floats, !llvm.ptr for p.",
        "values*: values",
        "",
        "format: str",
        "call vprintf",
    ),
    _op(
        "inline_ptx",
        "The author's own PTX. $0.. are results then operands; `constraints` in LLVM's letters (=r,l,...,~{memory}).",
        "operands*: values",
        "results*: values",
        "text: str, constraints: str, pure: bool",
    ),
)

BY_NAME: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}
