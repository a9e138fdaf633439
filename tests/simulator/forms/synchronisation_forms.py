"""Forms of the instructions that synchronise, vote and branch (PTX ISA 9.7.9.6, 9.7.11 to 9.7.13, 9.7.17, 9.7.19), as in `arithmetic_forms`."""

from __future__ import annotations

WARP = """
shfl.sync.<up|down|bfly|idx>.b32 r0, r1, r2, r3, -1
shfl.sync.<up|down|bfly|idx>.b32 r0|p0, r1, 1, 0x1f, 0xffffffff
vote.sync.<all|any|uni>.pred p0, <p1|!p1>, -1
vote.sync.ballot.b32 r0, p1, 0xffffffff
match.any.sync.b32 r0, r1, -1
match.any.sync.b64 r0, d1, -1
match.all.sync.b32 r0, r1, -1
match.all.sync.b32 r0|p0, r1, -1
match.all.sync.b64 r0|p0, d1, -1
activemask.b32 r0
redux.sync.<add|min|max>.<u32|s32> r0, r1, -1
redux.sync.<and|or|xor>.b32 r0, r1, -1
elect.sync r0|p0, -1
elect.sync _|p0, -1
bar.warp.sync -1
bar.warp.sync r51
"""

BARRIERS = """
bar<|.cta>.sync 0
bar<|.cta>.sync <1|r6>, 128
bar<|.cta>.red.popc.u32 r0, 0, p1
bar<|.cta>.red.<and|or>.pred p0, 1, 128, <p1|!p1>
barrier<|.cta>.sync<|.aligned> 2
barrier<|.cta>.sync<|.aligned> 3, 128
barrier<|.cta>.red.popc<|.aligned>.u32 r0, 4, 128, p1
barrier<|.cta>.red.<and|or><|.aligned>.pred p0, 4, p1
barrier.cluster.arrive<|.aligned>; barrier.cluster.wait<|.aligned>
barrier.cluster.arrive.<release|relaxed>; barrier.cluster.wait.acquire
barrier.cluster.arrive.<release|relaxed>.aligned; barrier.cluster.wait.acquire.aligned
membar.<cta|gl|sys>
fence<|.sc|.acq_rel|.acquire|.release>.<cta|cluster|gpu|sys>
fence.mbarrier_init.release.cluster
fence.acquire.sync_restrict::shared::cluster.cluster
fence.release.sync_restrict::shared::cta.cluster
fence.proxy.alias
fence.proxy.async<|.global|.shared::cta|.shared::cluster>
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster
fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster
fence.proxy.tensormap::generic.release.<cta|cluster|gpu|sys>
fence.proxy.tensormap::generic.acquire.<cta|cluster|gpu|sys> [d23], 128
membar.proxy.alias
griddepcontrol.<launch_dependents|wait>
"""

MBARRIERS = """
@p6 mbarrier.init<|.shared|.shared::cta>.b64 [bar+8], 1000; @p6 mbarrier.inval.b64 [bar+8]
@p6 mbarrier.init.shared.b64 [bar+16], 1; @p6 mbarrier.inval<|.shared>.b64 [bar+16]
mbarrier.expect_tx.relaxed.<cta|cluster>.<shared::cta|shared::cluster>.b64 [bar], 16
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16; mbarrier.complete_tx.relaxed.<cta|cluster>.<shared::cta|shared::cluster>.b64 [bar], 16
mbarrier.expect_tx.relaxed.cta.b64 [d25], 16
mbarrier.arrive<|.shared|.shared::cta>.b64 d0, [bar]
mbarrier.arrive.<release|relaxed>.<cta|cluster>.shared::cta.b64 d0, [bar], 2
mbarrier.arrive.shared.b64 _, [bar], r5
mbarrier.arrive<|.release.cluster|.relaxed.cluster>.shared::cluster.b64 _, [r52]
mbarrier.arrive.shared::cluster.b64 _, [r52], 2
mbarrier.arrive.expect_tx<|.release.cta|.relaxed.cluster>.shared::cta.b64 d0, [bar], 16
mbarrier.arrive.expect_tx<|.release.cluster>.shared::cluster.b64 _, [r52], 16
mbarrier.arrive.noComplete<|.shared>.b64 d0, [bar], 1
mbarrier.arrive.noComplete.release.cta.shared::cta.b64 d0, [bar], 1
mbarrier.arrive_drop<|.shared>.b64 d0, [bar]
mbarrier.arrive_drop.<release|relaxed>.<cta|cluster>.shared::cta.b64 d0, [bar], 1
mbarrier.arrive_drop.shared::cluster.b64 _, [r52], 1
mbarrier.arrive_drop.expect_tx.shared.b64 d0, [bar], 16
mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [r52], 16
mbarrier.arrive_drop.noComplete.shared.b64 d0, [bar], 1
mbarrier.arrive.b64 d0, [d25]
mbarrier.arrive.noComplete.b64 d0, [d25], 1
mbarrier.test_wait<|.shared|.shared::cta>.b64 p0, [bar], d0
mbarrier.test_wait.<acquire|relaxed>.<cta|cluster>.shared::cta.b64 p0, [bar], d0
mbarrier.test_wait.parity<|.shared|.acquire.cta.shared|.relaxed.cluster.shared::cta>.b64 p0, [bar], 1
mbarrier.test_wait.parity.b64 p0, [d25], r5
mbarrier.try_wait.parity<|.shared|.acquire.cluster.shared|.relaxed.cluster.shared::cta>.b64 p0, [bar+24], 1
mbarrier.try_wait.parity.shared::cta.b64 p0, [bar+24], 1, 1000
mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p0, [bar+24], r5, r11
mbarrier.try_wait.b64 p0, [bar+24], d26
mbarrier.try_wait.acquire.cluster.shared::cta.b64 p0, [bar+24], d26, r11
mbarrier.pending_count.b64 r0, d0
"""

CONTROL = """
bra<|.uni> next; next: add.u32 r0, r0, 1
@p3 bra skip; add.u32 r0, r0, 1; skip: add.u32 r0, r0, 2
@!p3 bra<|.uni> over; over: add.u32 r0, r0, 1
ts: .branchtargets t0, t1; brx.idx<|.uni> 1, ts; t0: t1: add.u32 r0, r0, 1
ts: .branchtargets t0, t1; brx.idx r5, ts; t0: t1: add.u32 r0, r0, 1
call.uni nothing
call nothing, ()
call.uni (r0), twice, (r1)
.param .b32 x; .param .b32 y; st.param.b32 [x], r1; call.uni (y), add_one, (x); ld.param.b32 r0, [y]
.param .align 8 .b8 x[16]; st.param.v2.b64 [x], {d0, d1}; call.uni (), takes_struct, (x)
pr: .callprototype (.param .b32 _) _ (.param .b32 _); .param .b32 x; .param .b32 y; st.param.b32 [x], r1; mov.u64 d0, add_one; call (y), d0, (x), pr
tt: .calltargets add_one; .param .b32 x; .param .b32 y; st.param.b32 [x], r1; mov.u64 d0, add_one; call (y), d0, (x), tt
@p3 call.uni nothing
@p4 exit
@p4 trap
@p4 ret
nanosleep.u32 <10|r5>
pmevent 7
pmevent.mask 0xff
@p4 brkpt
alloca.u32 r0, 64
alloca.u64 d0, 64, 16
alloca.u64 d0, d26
stacksave.u32 r0; stackrestore.u32 r0
stacksave.u64 d0; stackrestore.u64 d0
"""

TABLES = {"warp": WARP, "barriers": BARRIERS, "mbarriers": MBARRIERS, "control": CONTROL}
