"""Examples of the diagnostics of instructions that compilers emit rarely."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import ONE_THREAD, launch, pair, program

_ELECTION = """
    .reg .pred %chosen;
    elect.sync _|%chosen, 0xffffffff;
"""

_OWN_BARRIER = """
    .shared .align 8 .b64 done;
    .reg .b64 %state;
    mbarrier.init.shared::cta.b64 [done], 1;
    mbarrier.arrive.relaxed.cta.shared::cta.b64 %state, [done];
"""

_HEAP = """.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 pointer);

"""

EXAMPLES: Examples = {
    "S060": program(
        """
    .reg .f32 %d0, %d1, %d2, %d3;
    .reg .b32 %a, %b, %metadata;
    mov.b32 %a, 0x3f803f80;
    mov.b32 %b, 0x3f803f80;
    mov.b32 %metadata, 0x44444440;  // the lowest chunk names its first element twice
    mov.f32 %d0, 0.0;
    mov.f32 %d1, 0.0;
    mov.f32 %d2, 0.0;
    mov.f32 %d3, 0.0;
    mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
        {%d0, %d1, %d2, %d3}, {%a, %a}, {%b, %b}, {%d0, %d1, %d2, %d3}, %metadata, 0;
""",
        ("0x44444440;  // the lowest chunk names its first element twice", "0x44444444;"),
    ),
    "S061": pair(program(_ELECTION)[0].replace(".target sm_90a", ".target sm_80"), (".target sm_80", ".target sm_90")),
    "S062": pair(program(_OWN_BARRIER, head=ONE_THREAD)[0].replace(".version 8.6", ".version 8.5"), (".version 8.5", ".version 8.6")),
    "S063": program(
        """
    .reg .b64 %block, %size;
    mov.u64 %size, 100000;
    alloca.u64 %block, %size, 16;
    st.local.u32 [%block], 1;
""",
        ("%size, 100000;", "%size, 4096;"),
        head=ONE_THREAD,
    ),
    "S064": program(
        """
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    multimem.red.relaxed.sys.global.add.u32 [%x], 1;
""",
        ('[{"buffer": "x"}]', '[{"buffer": "all"}]'),
        parameters=".param .u64 x",
        head=launch(1, buffers='"x": {"bytes": 4}, "y": {"bytes": 4}, "all": {"multicast": ["x", "y"]}', arguments='{"buffer": "x"}'),
    ),
    "S065": program(
        """
    .param .b64 asked;
    .param .b64 given;
    .param .b64 returned;
    .reg .b64 %pointer, %inside;
    st.param.b64 [asked], 64;
    call (given), malloc, (asked);
    ld.param.b64 %pointer, [given];
    add.u64 %inside, %pointer, 16;
    st.param.b64 [returned], %inside;
    call free, (returned);  // of a part
""",
        ("[returned], %inside;", "[returned], %pointer;"),
        before=_HEAP,
        head=ONE_THREAD,
    ),
    "S066": program(
        """
    .reg .b32 %thread, %value;
    .reg .b64 %x, %mine, %other;
    ld.param.u64 %x, [x];
    mov.u32 %thread, %tid.x;
    mad.wide.u32 %mine, %thread, 4, %x;
    st.global.u32 [%mine], %thread;
    xor.b32 %thread, %thread, 1;
    mad.wide.u32 %other, %thread, 4, %x;
    bar.sync 0;
    ld.global.nc.u32 %value, [%other];
    st.global.u32 [%mine+128], %value;
""",
        ("ld.global.nc.u32", "ld.global.u32"),
        parameters=".param .u64 x",
        head=launch(buffers='"x": {"bytes": 256}', arguments='{"buffer": "x"}'),
    ),
}
