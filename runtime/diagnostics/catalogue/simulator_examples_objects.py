"""Examples of lifetimes: of a peer's shared memory, of copies, and of mbarriers."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import (
    BULK_LOAD,
    BULK_PUSH,
    CLUSTER_SYNC,
    ONE_THREAD,
    PAIR,
    THREAD,
    launch,
    program,
    script,
    wait,
)

_PEER = """
    .shared .align 4 .b32 mail;
    .reg .b32 %rank, %peer, %remote, %value;
    mov.u32 %rank, %cluster_ctarank;
    xor.b32 %peer, %rank, 1;
    mapa.shared::cluster.u32 %remote, mail, %peer;
"""

_MEETING = f"""
    .shared .align 8 .b64 met;
    .reg .pred %done, %first;
    .reg .b32 %thread;
{THREAD}    @%first mbarrier.init.shared::cta.b64 [met], 64;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [met];
{wait("met")}"""

EXAMPLES: Examples = {
    "S030": program(
        f"{_PEER}    st.shared::cluster.u32 [%remote], %rank;  // has the peer started?\n{CLUSTER_SYNC}",
        (
            "    st.shared::cluster.u32 [%remote], %rank;  // has the peer started?",
            f"{CLUSTER_SYNC}    st.shared::cluster.u32 [%remote], %rank;",
        ),
        head=PAIR,
    ),
    "S031": program(
        f"{_PEER}    st.shared.u32 [mail], %rank;\n{CLUSTER_SYNC}    ld.shared::cluster.u32 %value, [%remote];  // does the peer still run?\n",
        ("  // does the peer still run?\n", f"\n{CLUSTER_SYNC}"),
        head=PAIR,
    ),
    "S032": script(
        "Pointer, block, bulk_store, elect, f32, kernel, shared, thread, tma",
        """
@kernel(threads=128)
def fill(y: Pointer[f32]):
    tile = shared(f32, 128)
    tile[thread.index()] = 1.0
    block.sync()
    with elect():
        bulk_store(y, tile)
        tma.commit()


y = np.zeros(128, np.float32)
fill.bind().check(1, (y,))[0].require_clean()
""",
        ("        tma.commit()\n", "        tma.commit()\n        tma.wait(read=True)\n"),
    ),
    "S033": program(
        f"""
    .shared .align 16 .b8 source[16];
    .shared .align 16 .b8 target[16];
    .shared .align 8 .b64 full;
    .reg .pred %done;
    .reg .b32 %rank, %peer, %to, %signal;
    mov.u32 %rank, %cluster_ctarank;
    xor.b32 %peer, %rank, 1;
    mapa.shared::cluster.u32 %to, target, %peer;
    mapa.shared::cluster.u32 %signal, full, %peer;
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;
    st.shared.v2.u64 [source], {{1, 2}};
    fence.proxy.async.shared::cta;
{CLUSTER_SYNC}    {BULK_PUSH} [%to], [source], 16, [%signal];
{wait("full")}    // the peer's copy has come; has the own one gone?
""",
        ("    // the peer's copy has come; has the own one gone?\n", CLUSTER_SYNC),
        head=PAIR,
    ),
    "S034": program(
        """
    .shared .align 8 .b8 memory[72];  // 64 bytes of data, then an mbarrier
    mbarrier.init.shared::cta.b64 [memory+64], 1;
    st.shared.u32 [memory+64], 7;
""",
        ("st.shared.u32 [memory+64]", "st.shared.u32 [memory+60]"),
        head=ONE_THREAD,
    ),
    "S035": program(
        f"""
    .shared .align 16 .b8 tile[128];
    .shared .align 8 .b64 full;
    .reg .pred %done;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 64;
    {BULK_LOAD} [tile], [%x], 64, [full];
    {BULK_LOAD} [tile+64], [%x+64], 64, [full];
{wait("full")}""",
        ("_, [full], 64;", "_, [full], 128;"),
        parameters=".param .u64 x",
        head=launch(1, buffers='"x": {"bytes": 128}', arguments='{"buffer": "x"}'),
    ),
    "S036": program(
        f"""
    .shared .align 8 .b64 met;
    .reg .pred %first;
    .reg .b32 %thread;
{THREAD}    @%first mbarrier.init.shared::cta.b64 [met], 64;
    mbarrier.arrive.shared::cta.b64 _, [met];  // has thread 0 initialised it?
""",
        ("    mbarrier.arrive", "    bar.sync 0;\n    mbarrier.arrive"),
        head=launch(64),
    ),
    "S037": program(
        f"""{_MEETING}    bar.sync 0;
    @%first mbarrier.inval.shared::cta.b64 [met];
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [met];
""",
        (
            "    @%first mbarrier.inval.shared::cta.b64 [met];\n    bar.sync 0;\n    mbarrier.arrive.shared::cta.b64 _, [met];\n",
            "    mbarrier.arrive.shared::cta.b64 _, [met];\n    bar.sync 0;\n    @%first mbarrier.inval.shared::cta.b64 [met];\n",
        ),
        head=launch(64),
    ),
    "S038": program(
        """
    .shared .align 8 .b64 met;
    mbarrier.init.shared::cta.b64 [met], 1;
    mbarrier.arrive.shared::cta.b64 _, [met];
    mbarrier.init.shared::cta.b64 [met], 2;  // for another use
""",
        (
            "    mbarrier.init.shared::cta.b64 [met], 2;",
            "    mbarrier.inval.shared::cta.b64 [met];\n    mbarrier.init.shared::cta.b64 [met], 2;",
        ),
        head=ONE_THREAD,
    ),
    "S039": program(
        f"{_MEETING}    @%first mbarrier.inval.shared::cta.b64 [met];  // others may still wait\n",
        (
            "    @%first mbarrier.inval.shared::cta.b64 [met];  // others may still wait",
            "    bar.sync 0;\n    @%first mbarrier.inval.shared::cta.b64 [met];",
        ),
        head=launch(64),
    ),
    "S040": program(
        f"""
    .shared .align 8 .b64 met;
    .reg .pred %done;
    mbarrier.init.shared::cta.b64 [met], 1;
    mbarrier.arrive.shared::cta.b64 _, [met];
    mbarrier.arrive.shared::cta.b64 _, [met];  // the next phase
{wait("met", 1)}""",
        (
            "    mbarrier.arrive.shared::cta.b64 _, [met];  // the",
            f"{wait('met', 0, 'first')}    mbarrier.arrive.shared::cta.b64 _, [met];  // the",
        ),
        head=ONE_THREAD,
    ),
    "S041": program(
        """
    .reg .pred %second;
    .reg .b32 %thread;
    mov.u32 %thread, %tid.x;
    setp.ge.u32 %second, %thread, 64;
    @%second bra others;
    bar.sync 1, 64;  // warps 0 and 1
    ret;
others:
    bar.sync 1, 64;  // warps 2 and 3
""",
        ("bar.sync 1, 64;  // warps 2 and 3", "bar.sync 2, 64;  // warps 2 and 3"),
        head=launch(128),
    ),
    "S042": program(
        """
    .shared .align 8 .b64 met;
    mbarrier.init.shared::cta.b64 [met], 2;
    mbarrier.arrive.shared::cta.b64 _, [met], 3;  // of 2
""",
        ("[met], 3;  // of 2", "[met], 2;"),
        head=ONE_THREAD,
    ),
    "S049": program(
        """
    .shared .align 8 .b64 met;
    .reg .pred %over;
    .reg .b64 %token, %next;
    mbarrier.init.shared::cta.b64 [met], 1;
    mbarrier.arrive.shared::cta.b64 %token, [met];
    mbarrier.test_wait.shared::cta.b64 %over, [met], %token;
    mbarrier.arrive.shared::cta.b64 %next, [met];
    mbarrier.test_wait.shared::cta.b64 %over, [met], %token;  // of two phases ago
""",
        ("%token;  // of two phases ago", "%next;"),
        head=ONE_THREAD,
    ),
}
