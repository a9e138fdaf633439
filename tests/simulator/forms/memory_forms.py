"""Forms of the instructions that move data (PTX ISA 9.7.9), as in `arithmetic_forms`. d20 points to global memory, r50 and d21 to shared, d22 to local memory,
d18 to multicast memory; d23 and d24 to tensor maps."""

from __future__ import annotations

LOADS = """
ld<|.global>.<b8|u8|s8> r0, [d20]
ld<|.global>.<b16|u16|s16> h0, [d20+2]
ld<|.global>.<b32|u32|s32|f32> r0, [d20+4]
ld<|.global>.<b64|u64|s64|f64> d0, [d20+8]
ld<|.global>.b128 q0, [d20+16]
ld.global.v2.<u8|s16|b32|f32> {r0, r1}, [d20]
ld.global.v2.<u64|f64> {d0, d1}, [d20]
ld.global.v4.<u8|b16|b32|f32> {r0, r1, r2, r3}, [d20]
ld.global.v4.b32 {r0, _, _, r3}, [d20]
ld.global.<ca|cg|cs|lu|cv>.u32 r0, [d20]
ld.weak.global.u32 r0, [d20]
ld.<relaxed|acquire>.<cta|cluster|gpu|sys><|.global>.u32 r0, [d20]
ld.<relaxed|acquire>.gpu.global.<b16|b64> d0, [d20]
ld.relaxed.gpu.global.v2.b32 {r0, r1}, [d20]
ld.acquire.sys.global.b128 q0, [d20]
ld.relaxed.<cta|cluster>.shared.u32 r0, [r50]
ld.acquire.cluster.shared::cluster.u32 r0, [r50]
ld.volatile<|.global>.u32 r0, [d20]
ld.volatile.shared.<v2.f32|v2.u32> {r0, r1}, [r50]
ld.mmio.relaxed.sys.global.u32 r0, [d20]
ld.global.nc.<u8|s8|u16|b32|f32> r0, [d20]
ld.global.nc.<b64|f64> d0, [d20]
ld.global.nc.b128 q0, [d20]
ld.global.nc.<v2.u32|v2.f32> {r0, r1}, [d20]
ld.global.<ca|cg|cs>.nc.v4.<u32|f32> {r0, r1, r2, r3}, [d20]
ld.global.<L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate>.u32 r0, [d20]
ld.global.L1::no_allocate.L2::<64B|128B|256B>.u32 r0, [d20]
ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {r0, r1, r2, r3}, [d20]
ld.global.L2::cache_hint.u32 r0, [d20], d19
ld.global.L1::evict_last.L2::cache_hint.v4.b32 {r0, r1, r2, r3}, [d20], d19
ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.u32 r0, [d20], d19
ld.shared.<b8|u16|s16|b32|f32> r0, [r50]
ld.shared::<cta|cluster>.<b32|f32> r0, [r50]
ld.shared.v4.f32 {r0, r1, r2, r3}, [r50+16]
ld.shared.v2.b64 {d0, d1}, [tile]
ld.shared.b128 q0, [tile]
ld.u32 r0, [d21]
ld.local.b32 r0, [d22]
ld.local.v2.b16 {h0, h1}, [d22]
ld.const.u32 r0, [constants]
ld.const.v4.u32 {r0, r1, r2, r3}, [constants]
ld.const.b8 r0, [constants+3]
ld.param.u64 d0, [buf]
ld.param::entry.u64 d0, [buf]
ld.param.v4.u32 {r0, r1, r2, r3}, [map]
ld.param.u8 r0, [map+5]
ldu.global.<u8|b32|f32> r0, [d20]
ldu.global.v4.f32 {r0, r1, r2, r3}, [d20]
ldu.b64 d0, [d20]
ldu.global.b128 q0, [d20]
"""

STORES = """
st<|.global>.<b8|u8|s8> [d20], r0
st<|.global>.<b16|u16|s16> [d20+2], h0
st<|.global>.<b32|u32|s32|f32> [d20+4], r0
st<|.global>.<b64|u64|s64|f64> [d20+8], d0
st<|.global>.b128 [d20+16], q0
st.global.v2.<u8|s16|b32|f32> [d20], {r0, r1}
st.global.v2.<u64|f64> [d20], {d0, d1}
st.global.v4.<u8|b16|b32|f32> [d20], {r0, r1, r2, r3}
st.global.v4.f32 [d20], {r0, 0f00000000, r2, 0f3F800000}
st.global.u32 [d20], 17
st.global.<wb|cg|cs|wt>.u32 [d20], r0
st.weak.global.u32 [d20], r0
st.<relaxed|release>.<cta|cluster|gpu|sys><|.global>.u32 [d20], r0
st.release.gpu.global.<b16|b64> [d20], d0
st.release.sys.global.b128 [d20], q0
st.relaxed.<cta|cluster>.shared.u32 [r50], r0
st.release.cluster.shared::cluster.u32 [r50], r0
st.volatile<|.global>.u32 [d20], r0
st.volatile.shared.v2.f32 [r50], {r0, r1}
st.mmio.relaxed.sys.global.u32 [d20], r0
st.global.<L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate>.u32 [d20], r0
st.global.L2::cache_hint.u32 [d20], r0, d19
st.global.L1::no_allocate.L2::cache_hint.v4.b32 [d20], {r0, r1, r2, r3}, d19
st.shared.<b8|u16|s16|b32|f32> [r50], r0
st.shared::<cta|cluster>.<b32|f32> [r50], r0
st.shared.v4.f32 [r50+16], {r0, r1, r2, r3}
st.shared.v2.b64 [tile], {d0, d1}
st.u32 [d21], r0
st.local.b32 [d22], r0
prefetch.<global|local>.<L1|L2> [d20]
prefetch.<L1|L2> [d20]
prefetch.global.L2::<evict_last|evict_normal> [d20]
prefetch<|.param>.tensormap [d23]
prefetchu.L1 [d20]
applypriority<|.global>.L2::evict_normal [d20], 128
discard<|.global>.L2 [d20+128], 128
createpolicy.fractional.L2::<evict_last|evict_normal|evict_first|evict_unchanged>.b64 d0, 1.0
createpolicy.fractional.L2::evict_last.L2::<evict_first|evict_unchanged>.b64 d0, 0.5
createpolicy.fractional.L2::evict_last.b64 d0
createpolicy.range<|.global>.L2::evict_last.L2::evict_unchanged.b64 d0, [d20], 1024, 2048
createpolicy.range.L2::evict_first.b64 d0, [d20], r5, r6
createpolicy.cvt.L2.b64 d0, 0x14f0000000000000
isspacep.<global|shared|shared::cta|shared::cluster|local|const|param|param::entry> p0, d20
cvta.<global|shared|local|const|param|shared::cta|shared::cluster|param::entry>.u64 d0, d1
cvta.to.<global|shared|local|const|param|shared::cta|shared::cluster|param::entry>.u64 d0, d1
cvta.global.u64 d0, table
cvta.shared.u64 d0, tile
mapa.shared::cluster.u32 r0, r50, 0
mapa.shared::cluster.u32 r0, tile, r10
mapa.u64 d0, d21, 0
getctarank.shared::cluster.u32 r0, r50
getctarank.u64 r0, d21
"""

ATOMS = """
atom<|.global>.add.<u32|s32|f32> r0, [d20], r1
atom.global.add.<u64|f64> d0, [d20], d1
atom.<min|max>.<u32|s32> r0, [d20], r1
atom.<inc|dec>.u32 r0, [d20], r1
atom.global.<min|max>.<u64|s64> d0, [d20], d1
atom.global.<and|or|xor>.b32 r0, [d20], r1
atom.global.<and|or|xor>.b64 d0, [d20], d1
atom.global.exch.<b32> r0, [d20], r1
atom.global.exch.b64 d0, [d20], d1
atom.global.cas.b16 h0, [d20], h1, h2
atom.global.cas.b32 r0, [d20], r1, r2
atom.global.cas.b64 d0, [d20], d1, d2
atom<|.acq_rel.gpu>.global.<exch>.b128 q0, [d20], q1
atom<|.acq_rel.gpu>.global.cas.b128 q0, [d20], q1, q2
atom.<relaxed|acquire|release|acq_rel>.<cta|cluster|gpu|sys>.global.add.u32 r0, [d20], r1
atom.<shared|shared::cta|shared::cluster>.add.u32 r0, [r50], r1
atom.shared.<exch.b64|add.u64> d0, [r50], d1
atom.shared.cas.b32 r0, [r50], r1, r2
atom.shared.add.<f32> r0, [r50], r1
atom.shared.add.f64 d0, [r50], d1
atom.add.noftz.<f16|bf16> h0, [d20], h1
atom.global.add.noftz.<f16x2|bf16x2> r0, [d20], r1
atom.shared.add.noftz.f16x2 r0, [r50], r1
atom.global.v2.f32.add {r0, r1}, [d20], {r2, r3}
atom.global.add.v2.f32 {r0, r1}, [d20], {r2, r3}
atom.global.add.v4.f32 {r0, r1, r2, r3}, [d20], {r4, r5, r6, r7}
atom.global.v2.<add|min|max>.noftz.<f16|bf16> {h0, h1}, [d20], {h2, h3}
atom.global.v4.<add|min|max>.noftz.<f16|bf16> {h0, h1, h2, h3}, [d20], {h4, h5, h6, h7}
atom.global.v8.<add|min|max>.noftz.<f16|bf16> {h0, h1, h2, h3, h4, h5, h6, h7}, [d20], {h0, h1, h2, h3, h4, h5, h6, h7}
atom.global.v2.<add|min|max>.noftz.<f16x2|bf16x2> {r0, r1}, [d20], {r2, r3}
atom.global.v4.<add|min|max>.noftz.<f16x2|bf16x2> {r0, r1, r2, r3}, [d20], {r4, r5, r6, r7}
atom.global.gpu.L2::cache_hint.add.u32 r0, [d20], r1, d19
atom.global.add.L2::cache_hint.u32 r0, [d20], r1, d19
atom.add.u32 _, [d20], r1
red<|.global>.add.<u32|s32|f32> [d20], r1
red.global.add.<u64|f64> [d20], d1
red.<min|max>.<u32|s32> [d20], r1
red.<inc|dec>.u32 [d20], r1
red.global.<min|max>.<u64|s64> [d20], d1
red.global.<and|or|xor>.b32 [d20], r1
red.global.<and|or|xor>.b64 [d20], d1
red.<relaxed|release>.<cta|cluster|gpu|sys>.global.add.u32 [d20], r1
red.<shared|shared::cta|shared::cluster>.add.u32 [r50], r1
red.add.noftz.<f16|bf16> [d20], h1
red.global.add.noftz.<f16x2|bf16x2> [d20], r1
red.global.add.v2.f32 [d20], {r2, r3}
red.global.add.v4.f32 [d20], {r4, r5, r6, r7}
red.global.<add|min|max>.noftz.v4.<f16|bf16> [d20], {h4, h5, h6, h7}
red.global.v8.<add|min|max>.noftz.<f16|bf16> [d20], {h0, h1, h2, h3, h4, h5, h6, h7}
red.global.v4.<add|min|max>.noftz.<f16x2|bf16x2> [d20], {r4, r5, r6, r7}
red.global.add.L2::cache_hint.u32 [d20], r1, d19
"""

COPIES = """
cp.async.ca.shared<|::cta>.global.<L2::64B|L2::128B|L2::256B> [r50], [d20], <4|8|16>
cp.async.cg.shared.global [r50], [d20], 16
cp.async.ca.shared.global [r50], [d20], 16, r8
cp.async.ca.shared.global [r50], [d20], 8, p3
cp.async.cg.shared.global.L2::cache_hint [r50], [d20], 16, d19
cp.async.cg.shared.global.L2::cache_hint.L2::128B [r50], [d20], 16, r8, d19
cp.async.commit_group
cp.async.wait_group 0
cp.async.wait_all
cp.async.mbarrier.arrive<|.noinc><|.shared|.shared::cta>.b64 [bar]
cp.async.bulk.prefetch.L2.global [d20], 64
cp.async.bulk.prefetch.L2.global.L2::cache_hint [d20], 64, d19
cp.async.bulk.prefetch.tensor.2d.L2.global<|.tile> [d23, {r10, r11}]
cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [d23, {r10, r11}], d19
cp.async.bulk.commit_group
cp.async.bulk.wait_group<|.read> 0
"""

LONE_COPIES = """
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.async.bulk.shared::<cta|cluster>.global.mbarrier::complete_tx::bytes [r50], [d20], 64, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [r50], [d20], 64, [bar], d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r50], [d20], 64, [bar], h9
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [r50], [d20], 64, [bar], h9, d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [r50], [tile], 64, [bar]
cp.async.bulk.global.shared::cta.bulk_group [d20], [r50], 64
cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [d20], [r50], 64, d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.<and|or|xor>.b32 [r50], [tile], 64, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.<add|min|max>.<u32|s32> [r50], [tile], 64, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.<inc|dec>.u32 [r50], [tile], 64, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [r50], [tile], 64, [bar]
cp.reduce.async.bulk.global.shared::cta.bulk_group.<and|or|xor>.<b32|b64> [d20], [r50], 64
cp.reduce.async.bulk.global.shared::cta.bulk_group.<add.u32|add.s32|add.u64|add.f32|add.f64|inc.u32|dec.u32> [d20], [r50], 64
cp.reduce.async.bulk.global.shared::cta.bulk_group.<min|max>.<u32|s32|u64|s64|f16|bf16> [d20], [r50], 64
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.<f16|bf16> [d20], [r50], 64
cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [d20], [r50], 64, d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; cp.async.bulk.tensor.2d.shared::<cta|cluster>.global<|.tile>.mbarrier::complete_tx::bytes [r50], [d23, {r10, r11}], [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [r50], [d23, {r10, r11}], [bar], d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [r50], [d23, {r10, r11}], [bar], h9
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [r50], [d23, {r10, r11}], [bar], h9, d19
cp.async.bulk.tensor.2d.global.shared::cta<|.tile>.bulk_group [d23, {r10, r11}], [r50]
cp.async.bulk.tensor.2d.global.shared::cta<|.tile>.bulk_group.L2::cache_hint [d23, {r10, r11}], [r50], d19
cp.reduce.async.bulk.tensor.2d.global.shared::cta.<add|min|max|inc|dec|and|or|xor><|.tile>.bulk_group [d23, {r10, r11}], [r50]
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.L2::cache_hint [d23, {r10, r11}], [r50], d19
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4; st.async<|.weak>.shared::cluster.mbarrier::complete_tx::bytes.<b32|u32|s32|f32> [r50], r0, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8; st.async<|.weak>.shared::cluster.mbarrier::complete_tx::bytes.<b64|u64|s64|f64> [r50], d0, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.<b32|f32> [r50], {r0, r1}, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16; st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [r50], {d0, d1}, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.<b32|s32|f32> [r50], {r0, r1, r2, r3}, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.<inc.u32|dec.u32|min.u32|min.s32|max.u32|max.s32|add.u32|add.s32|and.b32|or.b32|xor.b32> [r50], r0, [bar]
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.<u64> [r50], d0, [bar]
"""

IM2COL = """
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 512; cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [r50], [d24, {r10, r11, r12, r13}], [bar], {h10, h11}
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 512; cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [r50], [d24, {r10, r11, r12, r13}], [bar], {h10, h11}, h9, d19
cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [d24, {r10, r11, r12, r13}], [r50]
cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [d24, {r10, r11, r12, r13}], [r50]
cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [d24, {r10, r11, r12, r13}], {h10, h11}
"""

MULTIMEM = """
multimem.ld_reduce<|.weak|.relaxed.sys|.acquire.gpu><|.global>.add.f32 r0, [d18]
multimem.ld_reduce.global.add.<u32|s32> r0, [d18]
multimem.ld_reduce.global.add.<u64|f64> d0, [d18]
multimem.ld_reduce.global.<min|max>.<u32|s32> r0, [d18]
multimem.ld_reduce.global.<min|max>.<u64|s64> d0, [d18]
multimem.ld_reduce.global.<and|or|xor>.b32 r0, [d18]
multimem.ld_reduce.global.<and|or|xor>.b64 d0, [d18]
multimem.ld_reduce.global.<add|min|max>.<f16x2|bf16x2> r0, [d18]
multimem.ld_reduce.global.<add|min|max>.v4.<f16x2|bf16x2> {r0, r1, r2, r3}, [d18]
multimem.ld_reduce.global.<add|min|max>.v2.<f16x2|bf16x2> {r0, r1}, [d18]
multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.<f16x2|bf16x2> {r0, r1, r2, r3}, [d18]
multimem.ld_reduce.weak.global.add.v4.f32 {r0, r1, r2, r3}, [d18]
multimem.ld_reduce.weak.global.add.v2.f32 {r0, r1}, [d18]
multimem.st<|.weak|.relaxed.sys|.release.gpu><|.global>.<f32|b32|u32|s32> [d18], r0
multimem.st.global.<b64|u64|f64> [d18], d0
multimem.st.global.<f16x2|bf16x2> [d18], r0
multimem.st.global.v4.<f32|f16x2|bf16x2> [d18], {r0, r1, r2, r3}
multimem.red<|.relaxed.sys|.release.gpu><|.global>.add.<u32|f32> [d18], r0
multimem.red.global.<add|min|max>.<u64> [d18], d0
multimem.red.global.<and|or|xor>.<b32> [d18], r0
multimem.red.global.add.<f16x2|bf16x2> [d18], r0
multimem.red.global.add.v4.<f32|f16x2|bf16x2> [d18], {r0, r1, r2, r3}
"""

TABLES = {
    "loads": LOADS,
    "stores": STORES,
    "atoms": ATOMS,
    "copies": COPIES,
    "lone copies": LONE_COPIES,
    "im2col": IM2COL,
    "multimem": MULTIMEM,
}
