"""Examples of hangs."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import BULK_LOAD, ONE_THREAD, THREAD, launch, program, script, wait

EXAMPLES: Examples = {
    "S050": program(
        f"""
    .shared .align 8 .b64 full[2];
    .reg .pred %done;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.init.shared::cta.b64 [full+8], 1;
    mbarrier.arrive.shared::cta.b64 _, [full];
{wait("full+8")}""",
        ("_, [full];", "_, [full+8];"),
        head=ONE_THREAD,
    ),
    "S051": program(
        f"""
    .shared .align 16 .b8 tile[128];
    .shared .align 8 .b64 full;
    .reg .pred %done;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 128;  // expects, but does not arrive
    {BULK_LOAD} [tile], [%x], 128, [full];
{wait("full")}""",
        (
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 128;  // expects, but does not arrive",
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;",
        ),
        parameters=".param .u64 x",
        head=launch(1, buffers='"x": {"bytes": 128}', arguments='{"buffer": "x"}'),
    ),
    "S052": script(
        "Pointer, block, bulk_load, elect, f32, i32, kernel, mbarrier, shared, thread",
        """
@kernel(threads=128)
def copy(x: Pointer[f32], y: Pointer[f32], bytes: i32):
    tile = shared(f32, 128)
    loaded = mbarrier(1)
    block.sync()
    with elect():
        loaded.arrive(bytes=bytes)
        bulk_load(tile, x, loaded)
    loaded.wait()
    y[thread.index()] = tile[thread.index()]


x, y = np.ones(128, np.float32), np.zeros(128, np.float32)
copy.bind().check(1, (x, y, 1024))[0].require_clean()  # the tile has 512 bytes
""",
        ("1024))[0].require_clean()  # the tile has 512 bytes", "512))[0].require_clean()"),
    ),
    "S053": script(
        "Pointer, block, f32, kernel, mbarrier, thread",
        """
@kernel(threads=64)
def meet(x: Pointer[f32]):
    met = mbarrier(64)
    block.sync()
    if x[thread.index()] > 0.0:  # some threads only
        met.arrive()
    met.wait()


x = np.linspace(-1, 1, 64, dtype=np.float32)
meet.bind().check(1, (x,))[0].require_clean()
""",
        ("    if x[thread.index()] > 0.0:  # some threads only\n        met.arrive()\n", "    met.arrive()\n"),
    ),
    "S054": program(
        """
    .reg .pred %consumer;
    .reg .b32 %thread;
    mov.u32 %thread, %tid.x;
    setp.ge.u32 %consumer, %thread, 128;
    @%consumer bra consume;
    setmaxnreg.dec.sync.aligned.u32 40;
    ret;
consume:
    setmaxnreg.inc.sync.aligned.u32 240;  // 128 x (40 + 240) is more than 256 x 128
""",
        ("240;  // 128 x (40 + 240) is more than 256 x 128", "216;"),
        directives="\n.maxntid 256, 1, 1\n.maxnreg 128",
        head=launch(256),
    ),
    "S055": script(
        "Pointer, f32, kernel, lane, named_barrier, role, shared",
        """
@kernel
def hand_over(x: Pointer[f32], y: Pointer[f32]):
    row = shared(f32, 32)
    ready = named_barrier(64)
    with role("write", warps=1):
        row[lane.index()] = x[lane.index()]
        if x[0] > 0.0:
            ready.arrive()
    with role("read", warps=1):
        ready.sync()
        y[lane.index()] = row[31 - lane.index()]


x, y = np.zeros(32, np.float32), np.zeros(32, np.float32)
hand_over.bind().check(1, (x, y))[0].require_clean()
""",
        ("        if x[0] > 0.0:\n            ready.arrive()\n", "        ready.arrive()\n"),
    ),
    "S056": program(
        f"""
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .reg .pred %done, %first;
    .reg .b32 %thread;
{THREAD}    @%first mbarrier.init.shared::cta.b64 [full], 32;
    @%first mbarrier.init.shared::cta.b64 [empty], 32;
    bar.sync 0;
    setp.lt.u32 %first, %thread, 32;
    @%first bra produce;
{wait("full", label="consume")}    mbarrier.arrive.shared::cta.b64 _, [empty];
    ret;
{wait("empty", label="produce")}    mbarrier.arrive.shared::cta.b64 _, [full];
""",
        ("[empty], 0;", "[empty], 1;"),
        head=launch(64),
    ),
    "S057": program(
        """
    barrier.cluster.wait.aligned;
""",
        ("    barrier.cluster.wait", "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait"),
        head=launch(32, 2, 2),
    ),
}
