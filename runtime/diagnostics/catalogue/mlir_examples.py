"""Words for the small MLIR kernels that show what the static checks report."""

from __future__ import annotations

PRELUDE = (
    "%c0 = arith.constant 0 : i32",
    "%c1 = arith.constant 1 : i32",
    "%c32 = arith.constant 32 : i32",
    "%c256 = arith.constant 256 : i32",
    "%c512 = arith.constant 512 : i32",
    '%thread = "fa4.index"() {what = "thread.x"} : () -> i32',
    "%first = arith.cmpi eq, %thread, %c0 : i32",
    "%second = arith.cmpi eq, %thread, %c32 : i32",
)
"""Values that every example may use: numbers, `%first` (thread 0) and `%second` (thread 32)."""

PAIR = (
    '%rank = "fa4.index"() {what = "cluster.rank"} : () -> i32',
    "%peer = arith.subi %c1, %rank : i32",
)
"""The own rank and the other one of a cluster of two."""


def kernel(*body: str, threads: int = 128, cluster: int = 1, arguments: str = "", attributes: str = "") -> str:
    """A module with one kernel."""
    lines = (*PRELUDE, *(PAIR if cluster > 1 else ()), *body)
    text = "\n".join(f"    {line}" for part in lines for line in part.split("\n"))
    clusters = f", fa4.cluster = array<i32: {cluster}, 1, 1>" if cluster > 1 else ""
    header = f"  func.func @kernel({arguments}) attributes {{fa4.kernel, fa4.block = array<i32: {threads}, 1, 1>{clusters}{attributes}}} {{"
    return f"module {{ gpu.module @kernels {{\n{header}\n{text}\n    return\n  }}\n}} }}\n"


def barrier(name: str, arrivals: int = 1, count: int = 1, scope: str = "cta") -> str:
    attributes = f'name = "{name}", count = {count} : i64, arrivals = {arrivals} : i64, scope = "{scope}"'
    return f'%{name} = "fa4.mbarrier_alloc"() {{{attributes}}} : () -> !fa4.mbarrier'


def array(name: str, *shape: int, dtype: str = "f32", alignment: int = 16, swizzle: str = "none", more: str = "") -> str:
    sizes = ", ".join(map(str, shape))
    attributes = (
        f'name = "{name}", dtype = {dtype}, shape = array<i64: {sizes}>, alignment = {alignment} : i64, swizzle = "{swizzle}"{more}'
    )
    return f'%{name} = "fa4.shared_alloc"() {{{attributes}}} : () -> !fa4.shared'


def init(name: str) -> str:
    return f'"fa4.mbarrier_init"(%{name}) : (!fa4.mbarrier) -> ()'


def sync() -> str:
    return '"fa4.block_sync"() : () -> ()'


def cluster_arrive(order: str = "release") -> str:
    return f'"fa4.cluster_arrive"() {{order = "{order}"}} : () -> ()'


def cluster_wait() -> str:
    return '"fa4.cluster_wait"() {order = "acquire"} : () -> ()'


def cluster_sync() -> str:
    return f"{cluster_arrive()}\n{cluster_wait()}"


def arrive(name: str, index: str = "%c0", scope: str = "cta") -> str:
    return f'"fa4.mbarrier_arrive"(%{name}, {index}) {{count = 1 : i64, order = "release", scope = "{scope}"}} : (!fa4.mbarrier, i32) -> ()'


def arrive_remote(name: str, rank: str = "%peer", scope: str = "cluster", index: str = "%c0") -> str:
    operands = f"(%{name}, {index}, {rank})"
    return f'"fa4.mbarrier_arrive_remote"{operands} {{count = 1 : i64, order = "release", scope = "{scope}"}} : (!fa4.mbarrier, i32, i32) -> ()'


def expect(name: str, size: str = "%c512", index: str = "%c0") -> str:
    return f'"fa4.mbarrier_expect_tx"(%{name}, {index}, {size}) {{scope = "cta"}} : (!fa4.mbarrier, i32, i32) -> ()'


def arrive_expect(name: str, size: str = "%c512", index: str = "%c0") -> str:
    attributes = '{order = "release", scope = "cta"}'
    return f'"fa4.mbarrier_arrive_expect_tx"(%{name}, {index}, {size}) {attributes} : (!fa4.mbarrier, i32, i32) -> ()'


def wait(name: str, parity: str = "%c0", index: str = "%c0", scope: str = "cta") -> str:
    return f'"fa4.mbarrier_wait"(%{name}, {index}, {parity}) {{order = "acquire", scope = "{scope}"}} : (!fa4.mbarrier, i32, i32) -> ()'


def load(target: str, name: str, source: str = "%source", size: str = "%c512", offset: str = "%c0", index: str = "%c0") -> str:
    """A bulk copy from global memory."""
    types = "(!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()"
    return f'"fa4.bulk_load"(%{target}, {offset}, {source}, {size}, %{name}, {index}) : {types}'


def when(condition: str, *body: str) -> str:
    inside = "\n".join(f"  {line}" for part in body for line in part.split("\n"))
    return f"scf.if {condition} {{\n{inside}\n}}"


def loop(upper: str, *body: str, variable: str = "%i") -> str:
    inside = "\n".join(f"  {line}" for part in body for line in part.split("\n"))
    return f"scf.for {variable} = %c0 to {upper} step %c1 : i32 {{\n{inside}\n}}"


def role(name: str, first_warp: int, warps: int, *body: str, registers: int = 0) -> str:
    inside = "\n".join(f"  {line}" for part in body for line in part.split("\n"))
    fields = f'name = "{name}", first_warp = {first_warp} : i32, warps = {warps} : i32, registers = {registers} : i32'
    return f"scf.execute_region {{\n{inside}\n  scf.yield\n}} {{fa4.role = {{{fields}}}}}"


def named_sync(threads: int, number: str = "%c1") -> str:
    return f'"fa4.named_barrier_sync"({number}) {{threads = {threads} : i64}} : (i32) -> ()'


def peer_load(name: str, rank: str = "%peer") -> str:
    """A load from the same array in a peer."""
    return (
        f'%own = "fa4.shared_address"(%{name}, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>\n'
        f'%there = "fa4.peer_address"(%own, {rank}) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>\n'
        "%loaded = llvm.load %there : !llvm.ptr<7> -> f32"
    )


def peer_store(name: str, rank: str = "%peer") -> str:
    """A store into the same array of a peer."""
    return (
        f'%own = "fa4.shared_address"(%{name}, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>\n'
        f'%there = "fa4.peer_address"(%own, {rank}) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>\n'
        "llvm.store %thread, %there : i32, !llvm.ptr<7>"
    )


def multiply(name: str, stride: int = 1024, swizzle: str = "128B", n: int = 8) -> str:
    """One wgmma whose operands lie at the start of an array."""
    accumulators = ", ".join(["%zero"] * (n // 2))
    floats = ", ".join(["f32"] * (n // 2))
    fields = (
        f'n = {n} : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false'
    )
    return (
        "%zero = arith.constant 0.0 : f32\n%yes = arith.constant true\n"
        f'%matrix = "fa4.wgmma_descriptor"(%{name}, %c0) {{leading = 16 : i64, stride = {stride} : i64, swizzle = "{swizzle}"}} : (!fa4.shared, i32) -> i64\n'
        '"fa4.wgmma_fence"() : () -> ()\n'
        f'%sums:{n // 2} = "fa4.wgmma"(%matrix, %matrix, %yes, {accumulators}) {{{fields}}} : (i64, i64, i1, {floats}) -> ({floats})\n'
        '"fa4.wgmma_commit"() : () -> ()'
    )


def multiply_wait(n: int = 8) -> str:
    floats = ", ".join(["f32"] * (n // 2))
    sums = ", ".join(f"%sums#{i}" for i in range(n // 2))
    names = f"%done:{n // 2}"
    return f'{names} = "fa4.wgmma_wait"({sums}) {{pending = 0 : i64}} : ({floats}) -> ({floats})'


SOURCE = "%source: !llvm.ptr<1>"
READY = (init("ready"), sync())


def fill(*body: str, arrivals: int = 1) -> str:
    """Thread 0 runs `body`; everybody waits for `full`."""
    start = (barrier("full", arrivals), array("tile", 128), init("full"), sync())
    return kernel(*start, when("%first", *body), wait("full"), arguments=SOURCE)


def ring(refill: str, release: str, trips: str = "%trips", consumer_trips: str = "%trips", parity: str = "%phase") -> str:
    """Two roles around one slot. `refill` runs before a copy, `release` after a use."""
    turn = "%phase = arith.andi %i, %c1 : i32\n%fresh = arith.xori %phase, %c1 : i32"
    produce = loop(trips, turn, refill, arrive_expect("full"), load("slot", "full"))
    consume = loop(consumer_trips, turn, wait("full", parity), release)
    return kernel(
        barrier("full"),
        barrier("empty"),
        array("slot", 128),
        init("full"),
        init("empty"),
        sync(),
        role("producer", 0, 1, when("%first", produce)),
        role("consumer", 1, 1, consume),
        threads=64,
        arguments="%source: !llvm.ptr<1>, %trips: i32, %other: i32",
    )


RELEASE = when("%second", arrive("empty"))
GOOD_RING = ring(wait("empty", "%fresh"), RELEASE)
PUBLISH = (barrier("ready", 256, scope="cluster"), init("ready"))
EVERYONE = (arrive_remote("ready", "%c0"), arrive_remote("ready", "%c1"), wait("ready", scope="cluster"))
