"""Examples of the machine's diagnostics: PTX and launches that cannot run, and faults that a GPU would raise too."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import (
    BULK_PUSH,
    CLUSTER_SYNC,
    ONE_THREAD,
    PAIR,
    launch,
    pair,
    program,
    script,
    wait,
)

_THREAD = """
    .reg .b32 %thread;
    mov.u32 %thread, %tid.x;
"""

_EXCHANGE = f"""
    .shared .align 16 .b8 source[16];
    .shared .align 16 .b8 target[16];
    .shared .align 8 .b64 full;
    .reg .pred %done;
    .reg .b32 %rank, %to, %signal;
    mov.u32 %rank, %cluster_ctarank;
    mapa.shared::cluster.u32 %to, target, %rank;
    mapa.shared::cluster.u32 %signal, full, %rank;
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
    st.shared.v2.u64 [source], {{1, 2}};
    fence.proxy.async.shared::cta;
{CLUSTER_SYNC}    {BULK_PUSH} [%to], [source], 16, [%signal];
{wait("full")}{CLUSTER_SYNC}"""

EXAMPLES: Examples = {
    "S001": program(_THREAD.replace("%tid.x;", "%tid.x"), ("%tid.x\n", "%tid.x;\n")),
    "S002": pair(program(_THREAD)[0].replace(".address_size 64", ".address_size 32"), (".address_size 32", ".address_size 64")),
    "S003": program(
        """
    .reg .b32 %place, %v<4>;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    mov.u32 %place, 0;
    tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%x, {%place}];  // valid PTX, but textures are not modelled
""",
        (
            "tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%x, {%place}];  // valid PTX, but textures are not modelled",
            "ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%x];",
        ),
        parameters=".param .u64 x",
        head=launch(buffers='"x": {"bytes": 16}', arguments='{"buffer": "x"}'),
    ),
    "S004": program(
        """
    .reg .b32 %sum, %thread;
    mov.u32 %thread, %tid.x;
    add.u32 %sum, %thread;
""",
        ("add.u32 %sum, %thread;", "add.u32 %sum, %thread, 1;"),
    ),
    "S005": program(
        """
    .shared .align 4 .b32 tile;
    st.shared.u32 [tiles], 7;
""",
        ("[tiles]", "[tile]"),
        head=ONE_THREAD,
    ),
    "S006": program(_THREAD, ('"kernel": "copy"', '"kernel": "k"'), head=launch().replace('"k"', '"copy"')),
    "S007": program(
        """
    .reg .b32 %n;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    ld.param.u32 %n, [n];
    st.global.u32 [%out], %n;
""",
        ('[{"buffer": "out"}]', '[{"buffer": "out"}, {"scalar": 5, "dtype": "int32"}]'),
        parameters=".param .u64 out, .param .u32 n",
        head=launch(1, buffers='"out": {"bytes": 4}', arguments='{"buffer": "out"}'),
    ),
    "S008": program(_THREAD, ("[2048, 1, 1]", "[1024, 1, 1]"), head=launch(2048)),
    "S009": program(_THREAD, ('"threads"', '"block"'), head=launch().replace("block", "threads")),
    "S010": script(
        "Pointer, f32, kernel, thread",
        """
@kernel(threads=128)
def double(x: Pointer[f32]):
    i = thread.index()
    x[i] = 2.0 * x[i]


x = np.ones(100, np.float32)
double.bind().check(1, (x,))[0].require_clean()
""",
        ("    x[i] = 2.0 * x[i]", "    if i < 100:\n        x[i] = 2.0 * x[i]"),
    ),
    "S011": script(
        "Pointer, f32, kernel, thread",
        """
@kernel(threads=32)
def shift(x: Pointer[f32], y: Pointer[f32]):
    first = 4 * thread.index()
    y.store(first, x.load(first + 1, width=4))  # 16 bytes, 4 behind a multiple of 16


x, y = np.ones(132, np.float32), np.zeros(128, np.float32)
shift.bind().check(1, (x, y))[0].require_clean()
""",
        (
            "x.load(first + 1, width=4))  # 16 bytes, 4 behind a multiple of 16",
            "(x[first + 1], x[first + 2], x[first + 3], x[first + 4]))",
        ),
    ),
    "S012": script(
        "TensorMap, block, elect, f32, i32, kernel, shared, thread, tma",
        """
@kernel(threads=32)
def fill(target: TensorMap, row: i32):
    tile = shared(f32, (8, 32))
    for i in range(8):
        tile[i, thread.index()] = 1.0
    block.sync()
    with elect():
        target.store(tile, (row, 0))
        tma.commit_and_wait()


target = np.zeros((32, 32), np.float32)
fill.bind().check(1, (target, -4))[0].require_clean()  # a load may start above the first row, a store may not
""",
        ("(target, -4))[0].require_clean()  # a load may start above the first row, a store may not", "(target, 4))[0].require_clean()"),
    ),
    "S013": program(
        """
    .reg .pred %negative;
    .reg .s32 %value;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    ld.global.s32 %value, [%x];
    setp.lt.s32 %negative, %value, 0;
    @%negative trap;  // assert(value >= 0)
""",
        ('"fill": 255', '"fill": 0'),
        parameters=".param .u64 x",
        head=launch(1, buffers='"x": {"bytes": 4, "fill": 255}', arguments='{"buffer": "x"}'),
    ),
    "S014": program(
        """
    .shared .align 8 .b64 full[2];
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.arrive.shared::cta.b64 _, [full+8];
""",
        ("init.shared::cta.b64 [full]", "init.shared::cta.b64 [full+8]"),
        head=ONE_THREAD,
    ),
    "S015": program(
        """
    .shared .align 8 .b64 done;
    .reg .b32 %arrivals;
    mov.u32 %arrivals, 0;
    mbarrier.init.shared::cta.b64 [done], %arrivals;
""",
        ("%arrivals, 0;", "%arrivals, 1;"),
        head=ONE_THREAD,
    ),
    "S016": script(
        "Pointer, cluster, f32, i32, kernel, shared, thread",
        """
@kernel(threads=32, cluster=2)
def exchange(x: Pointer[f32], step: i32):
    mine = shared(f32, 32)
    i, rank = thread.index(), cluster.rank()
    mine[i] = x[32 * rank + i]
    cluster.sync()
    x[32 * rank + i] = mine.on(rank + step)[i]  # there is no rank 2
    cluster.sync()


x = np.arange(64, dtype=np.float32)
exchange.bind().check(2, (x, 1))[0].require_clean()
""",
        ("mine.on(rank + step)[i]  # there is no rank 2", "mine.on((rank + step) % 2)[i]"),
    ),
    "S017": program(
        """
    .reg .pred %consumer;
    .reg .b32 %thread;
    mov.u32 %thread, %tid.x;
    setp.ge.u32 %consumer, %thread, 32;
    @%consumer bra consume;
    bar.arrive 1, 64;
    ret;
consume:
    bar.sync 1, 96;  // the other warp says 64
""",
        ("bar.sync 1, 96;  // the other warp says 64", "bar.sync 1, 64;"),
        head=launch(64),
    ),
    "S018": program(
        """
    .reg .b32 %lane, %neighbour;
    mov.u32 %lane, %laneid;
    shfl.sync.bfly.b32 %neighbour, %lane, 1, 31, 0x0000ffff;  // executed by 32 lanes
""",
        ("0x0000ffff;  // executed by 32 lanes", "0xffffffff;"),
    ),
    "S100": program(
        """
    setmaxnreg.inc.sync.aligned.u32 40;  // from 64
""",
        ("setmaxnreg.inc", "setmaxnreg.dec"),
        directives="\n.maxntid 128, 1, 1\n.maxnreg 64",
        head=launch(128),
    ),
    "S101": script(
        "Pointer, block, i32, kernel, shared, thread",
        """
@kernel(threads=32)
def shift(x: Pointer[i32], y: Pointer[i32]):
    row = shared(i32, 33)
    i = thread.index()
    row[i + 1] = x[i]
    block.sync()
    y[i] = row[i]  # nobody has written row[0]


x, y = np.ones(32, np.int32), np.zeros(32, np.int32)
shift.bind().check(1, (x, y))[0].require_clean()
""",
        ("    row[i + 1] = x[i]\n", "    row[i + 1] = x[i]\n    if i == 0:\n        row[0] = 0\n"),
        ("  # nobody has written row[0]", ""),
    ),
    "S102": program(
        """
    call log_value;
""",
        (".extern .func log_value;", ".func log_value() { ret; }"),
        before=".extern .func log_value;\n",
        head=ONE_THREAD,
    ),
    "S103": script(
        "Pointer, f32, kernel, thread",
        """
@kernel(threads=32)
def double(x: Pointer[f32]):
    x[thread.index()] *= 2.0


x = np.ones(32, np.float32)
double.bind().check(1, (x,), schedules=("fast",))[0].require_clean()
""",
        ('"fast"', '"eager"'),
    ),
    "S105": program(
        _EXCHANGE, ("    mapa.shared::cluster.u32 %to", "    xor.b32 %rank, %rank, 1;\n    mapa.shared::cluster.u32 %to"), head=PAIR
    ),
}
