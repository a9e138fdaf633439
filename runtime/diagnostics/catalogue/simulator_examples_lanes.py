"""Examples of lanes: a shuffle from lanes that have exited, a copy that every lane issues."""

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples
from fa4dsl.runtime.diagnostics.catalogue.simulator_examples import THREAD, launch, program

_OUT = launch(32, buffers='"y": {"bytes": 128}', arguments='{"buffer": "y"}')
_LEAVE = "    @%gone bra out;  // lanes 24 to 31 leave\n"
_SHUFFLE = "    shfl.sync.down.b32 %other, %lane, 16, 31, 0xffffffff;  // lane 8 reads lane 24\n"

EXAMPLES: Examples = {
    "S106": program(
        f"""
    .reg .pred %gone;
    .reg .b32 %lane, %other;
    .reg .b64 %y;
    ld.param.u64 %y, [y];
    mov.u32 %lane, %laneid;
    setp.ge.u32 %gone, %lane, 24;
{_LEAVE}{_SHUFFLE}    mad.wide.u32 %y, %lane, 4, %y;
    st.global.u32 [%y], %other;
out:
""",
        (_LEAVE + _SHUFFLE, _SHUFFLE + _LEAVE),
        parameters=".param .u64 y",
        head=_OUT,
    ),
    "S107": program(
        f"""
    .shared .align 16 .b8 tile[128];
    .reg .pred %first;
    .reg .b32 %thread, %place;
    .reg .b64 %y;
    ld.param.u64 %y, [y];
{THREAD}    mov.u32 %place, tile;
    mad.lo.u32 %place, %thread, 4, %place;
    st.shared.u32 [%place], %thread;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%y], [tile], 128;  // who?
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
""",
        ("    cp.reduce.async", "    @%first cp.reduce.async"),
        ("  // who?", "  // thread 0"),
        parameters=".param .u64 y",
        head=_OUT,
    ),
}
