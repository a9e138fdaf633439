"""Examples of tensor maps, tiles and the registers of wgmma."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import THREAD, TMA_LOAD, WGMMA, bf16_map, launch, program, wait

_MAP = ".param .align 64 .b8 map[128]"

_PRODUCT = """
    .shared .align 128 .b8 tile[2048];
    .reg .pred %accumulate;
    .reg .b32 %thread, %place;
    .reg .b64 %matrix;
    .reg .f32 %d<4>;
    mov.u32 %thread, %tid.x;
    mov.u32 %place, tile;
    shr.u32 %place, %place, 4;
    cvt.u64.u32 %matrix, %place;
    or.b64 %matrix, %matrix, 0x0000001000080000;  // 64 x 16 without swizzle, both operands
    mad.lo.u32 %place, %thread, 16, tile;
    st.shared.v2.u64 [%place], {0, 0};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %accumulate, %thread, %thread;
""".replace("    mad.lo.u32 %place, %thread, 16, tile;", "    mov.u32 %place, tile;\n    mad.lo.u32 %place, %thread, 16, %place;")

EXAMPLES: Examples = {
    "S043": program(
        f"""
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 full;
    .reg .pred %done, %first;
    .reg .b32 %thread;
    .reg .b64 %from, %to, %copy, %word;
    ld.param.u64 %copy, [copy];
{THREAD}    mov.b64 %from, map;
    mad.wide.u32 %from, %thread, 8, %from;
    mad.wide.u32 %to, %thread, 8, %copy;
    ld.param.u64 %word, [%from];
    st.global.u64 [%to], %word;
    bar.warp.sync 0x0000ffff;
    @!%first bra end;
    ld.param.u64 %from, [other];
    tensormap.replace.tile.global_address.global.b1024.b64 [%copy], %from;
    fence.proxy.tensormap::generic.release.gpu;  // for whom?
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
    {TMA_LOAD} [tile], [%copy, {{0, 0}}], [full];
{wait("full")}end:
""",
        ("    mbarrier.init", "    fence.proxy.tensormap::generic.acquire.gpu [%copy], 128;\n    mbarrier.init"),
        parameters=f"{_MAP}, .param .u64 copy, .param .u64 other",
        head=bf16_map(
            8,
            "none",
            16,
            ', "copy": {"bytes": 128}, "other": {"bytes": 1024}',
            ',\n// launch:                {"buffer": "copy"}, {"buffer": "other"}',
        ),
    ),
    "S044": program(
        f"""
    .shared .align 1024 .b8 memory[2048];
    .shared .align 8 .b64 full;
    .reg .pred %done;
    .reg .b64 %map;
    mov.b64 %map, map;
    cvta.param.u64 %map, %map;
    mbarrier.init.shared::cta.b64 [full], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
    {TMA_LOAD} [memory+512], [%map, {{0, 0}}], [full];
{wait("full")}""",
        ("[memory+512]", "[memory+1024]"),
        parameters=_MAP,
        head=bf16_map(8, "128B", 1),
    ),
    "S045": program(
        f"""
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 full;
    .reg .pred %done, %first, %accumulate;
    .reg .b32 %thread, %place;
    .reg .b64 %map, %matrix;
    .reg .f32 %d<4>;
    mov.b64 %map, map;
    cvta.param.u64 %map, %map;
{THREAD}    @%first mbarrier.init.shared::cta.b64 [full], 1;
    bar.sync 0;
    @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
    @%first {TMA_LOAD} [tile], [%map, {{0, 0}}], [full];
{wait("full")}    mov.u32 %place, tile;
    shr.u32 %place, %place, 4;
    cvt.u64.u32 %matrix, %place;
    or.b64 %matrix, %matrix, 0x8000004000010000;  // bits 62-63: swizzle 64B
    setp.ne.u32 %accumulate, %thread, %thread;
    wgmma.fence.sync.aligned;
    {WGMMA}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
""",
        ("0x8000004000010000;  // bits 62-63: swizzle 64B", "0x4000004000010000;  // bits 62-63: swizzle 128B"),
        parameters=_MAP,
        head=bf16_map(64, "128B", 128),
    ),
    "S047": program(
        f"""{_PRODUCT}    wgmma.fence.sync.aligned;
    {WGMMA}
    wgmma.commit_group.sync.aligned;
    add.f32 %d0, %d0, %d1;
    wgmma.wait_group.sync.aligned 0;
""",
        (
            "    add.f32 %d0, %d0, %d1;\n    wgmma.wait_group.sync.aligned 0;\n",
            "    wgmma.wait_group.sync.aligned 0;\n    add.f32 %d0, %d0, %d1;\n",
        ),
        head=launch(128),
    ),
    "S048": program(
        f"""{_PRODUCT}    {WGMMA}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
""",
        ("    wgmma.mma_async", "    wgmma.fence.sync.aligned;\n    wgmma.mma_async"),
        head=launch(128),
    ),
}
