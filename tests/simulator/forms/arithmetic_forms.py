"""Forms of the arithmetic instructions that are legal for sm_90a (PTX ISA 9.7.1 to 9.7.8 and 9.7.19, video).

`<a|b|c>` stands for each of its alternatives in turn (one of them may be empty). Registers: p0.. predicates, h0.. 16, r0.. 32, d0.. 64 and q0.. 128 bits.
"""

from __future__ import annotations

INTEGER = """
add.<u16|s16> h0, h1, h2
add.<u32|s32|sat.s32|u16x2|s16x2> r0, r1, r2
add.<u64|s64> d0, d1, d2
add.s32 r0, r1, -5
sub.<u16|s16> h0, h1, h2
sub.<u32|s32|sat.s32> r0, r1, r2
sub.<u64|s64> d0, d1, d2
mul.<lo|hi>.<u16|s16> h0, h1, h2
mul.wide.<u16|s16> r0, h1, h2
mul.<lo|hi>.<u32|s32> r0, r1, r2
mul.wide.<u32|s32> d0, r1, r2
mul.<lo|hi>.<u64|s64> d0, d1, d2
mad.<lo|hi>.<u16|s16> h0, h1, h2, h3
mad.wide.<u16|s16> r0, h1, h2, r3
mad.<lo|hi>.<u32|s32> r0, r1, r2, r3
mad.hi.sat.s32 r0, r1, r2, r3
mad.wide.<u32|s32> d0, r1, r2, d3
mad.<lo|hi>.<u64|s64> d0, d1, d2, d3
mul24.<lo|hi>.<u32|s32> r0, r1, r2
mad24.<lo|hi>.<u32|s32> r0, r1, r2, r3
mad24.hi.sat.s32 r0, r1, r2, r3
sad.<u16|s16> h0, h1, h2, h3
sad.<u32|s32> r0, r1, r2, r3
sad.<u64|s64> d0, d1, d2, d3
<div|rem>.<u16|s16> h0, h1, h2
<div|rem>.<u32|s32> r0, r1, r2
<div|rem>.<u64|s64> d0, d1, d2
<abs|neg>.s16 h0, h1
<abs|neg>.s32 r0, r1
<abs|neg>.s64 d0, d1
<min|max>.<u16|s16> h0, h1, h2
<min|max>.<u32|s32|relu.s32|u16x2|s16x2|relu.s16x2> r0, r1, r2
<min|max>.<u64|s64> d0, d1, d2
<popc|clz>.b32 r0, r1
<popc|clz>.b64 r0, d1
bfind<|.shiftamt>.<u32|s32> r0, r1
bfind<|.shiftamt>.<u64|s64> r0, d1
fns.b32 r0, r1, r2, r3
fns.b32 r0, r1, 0, -1
brev.b32 r0, r1
brev.b64 d0, d1
bfe.<u32|s32> r0, r1, r2, r3
bfe.<u64|s64> d0, d1, r2, r3
bfi.b32 r0, r1, r2, r3, r4
bfi.b64 d0, d1, d2, r3, r4
szext.<clamp|wrap>.<u32|s32> r0, r1, r2
bmsk.<clamp|wrap>.b32 r0, r1, r2
dp4a.<u32|s32>.<u32|s32> r0, r1, r2, r3
dp2a.<lo|hi>.<u32|s32>.<u32|s32> r0, r1, r2, r3
add.cc.<u32|s32> r0, r1, r2
add.cc.<u64|s64> d0, d1, d2
addc<|.cc>.<u32|s32> r0, r1, r2
addc<|.cc>.<u64|s64> d0, d1, d2
sub.cc.<u32|s32> r0, r1, r2
sub.cc.<u64|s64> d0, d1, d2
subc<|.cc>.<u32|s32> r0, r1, r2
subc<|.cc>.<u64|s64> d0, d1, d2
mad.<lo|hi>.cc.<u32|s32> r0, r1, r2, r3
mad.<lo|hi>.cc.<u64|s64> d0, d1, d2, d3
madc.<lo|hi><|.cc>.<u32|s32> r0, r1, r2, r3
madc.<lo|hi><|.cc>.<u64|s64> d0, d1, d2, d3
"""

FLOAT = """
testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 p0, r1
testp.<finite|infinite|number|notanumber|normal|subnormal>.f64 p0, d1
copysign.f32 r0, r1, r2
copysign.f64 d0, d1, d2
<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 r0, r1, r2
<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 d0, d1, d2
add.f32 r0, r1, 0f3F800000
add.f32 r0, r1, 1.5
<fma|mad>.<rn|rz|rm|rp><|.ftz><|.sat>.f32 r0, r1, r2, r3
<fma|mad>.<rn|rz|rm|rp>.f64 d0, d1, d2, d3
div.<approx|full|rn|rz|rm|rp><|.ftz>.f32 r0, r1, r2
div.<rn|rz|rm|rp>.f64 d0, d1, d2
<abs|neg><|.ftz>.f32 r0, r1
<abs|neg>.f64 d0, d1
<min|max><|.ftz><|.NaN><|.xorsign.abs>.f32 r0, r1, r2
<min|max>.f64 d0, d1, d2
rcp.<approx|rn|rz|rm|rp><|.ftz>.f32 r0, r1
rcp.<rn|rz|rm|rp>.f64 d0, d1
rcp.approx.ftz.f64 d0, d1
sqrt.<approx|rn|rz|rm|rp><|.ftz>.f32 r0, r1
sqrt.<rn|rz|rm|rp>.f64 d0, d1
rsqrt.approx<|.ftz>.f32 r0, r1
rsqrt.approx<|.ftz>.f64 d0, d1
<sin|cos|lg2|ex2>.approx<|.ftz>.f32 r0, r1
tanh.approx.f32 r0, r1
"""

HALF = """
<add|sub|mul><|.rn><|.ftz><|.sat>.f16 h0, h1, h2
<add|sub|mul><|.rn><|.ftz><|.sat>.f16x2 r0, r1, r2
<add|sub|mul><|.rn>.bf16 h0, h1, h2
<add|sub|mul><|.rn>.bf16x2 r0, r1, r2
fma.rn<|.ftz><|.sat|.relu>.f16 h0, h1, h2, h3
fma.rn<|.ftz><|.sat|.relu>.f16x2 r0, r1, r2, r3
fma.rn<|.relu>.bf16 h0, h1, h2, h3
fma.rn<|.relu>.bf16x2 r0, r1, r2, r3
fma.rn.oob<|.relu>.<f16|bf16> h0, h1, h2, h3
fma.rn.oob<|.relu>.<f16x2|bf16x2> r0, r1, r2, r3
<neg|abs><|.ftz>.f16 h0, h1
<neg|abs><|.ftz>.f16x2 r0, r1
<neg|abs>.bf16 h0, h1
<neg|abs>.bf16x2 r0, r1
<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16 h0, h1, h2
<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16x2 r0, r1, r2
<min|max><|.NaN><|.xorsign.abs>.bf16 h0, h1, h2
<min|max><|.NaN><|.xorsign.abs>.bf16x2 r0, r1, r2
tanh.approx.<f16|bf16> h0, h1
tanh.approx.<f16x2|bf16x2> r0, r1
ex2.approx.f16 h0, h1
ex2.approx.f16x2 r0, r1
ex2.approx.ftz.bf16 h0, h1
ex2.approx.ftz.bf16x2 r0, r1
"""

COMPARE = """
set.<eq|ne|lt|le|gt|ge>.<u32|s32>.<u16|s16> r0, h1, h2
set.<eq|ne|lt|le|gt|ge>.<u32|s32|f32>.<u32|s32> r0, r1, r2
set.<lo|ls|hi|hs>.<u32|s32|f32>.u32 r0, r1, r2
set.<eq|lo|ls|hi|hs>.<u32|s32|f32>.<u64> r0, d1, d2
set.<eq|ne>.<u32|f32>.<b16> r0, h1, h2
set.<eq|ne>.<u32|f32>.<b32> r0, r1, r2
set.<eq|ne>.<u32|f32>.<b64> r0, d1, d2
set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.<u32|s32|f32>.f32 r0, r1, r2
set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u32|s32|f32>.f64 r0, d1, d2
set.<lt|geu>.<and|or|xor>.<u32|f32>.f32 r0, r1, r2, p3
set.lt.and.u32.s32 r0, r1, r2, !p3
set.<lt|equ|nan><|.ftz>.<u16|s16|f16>.f16 h0, h1, h2
set.<lt|equ|nan><|.ftz>.<u32|s32>.f16 r0, h1, h2
set.<lt|equ|nan>.<u16|s16>.bf16 h0, h1, h2
set.<lt|equ|nan>.<u32|s32>.bf16 r0, h1, h2
set.<lt|equ|nan>.bf16.bf16 h0, h1, h2
set.<lt|equ|nan><|.ftz>.f16x2.f16x2 r0, r1, r2
set.<lt|equ|nan>.bf16x2.bf16x2 r0, r1, r2
set.lt.and.f16x2.f16x2 r0, r1, r2, p3
setp.<eq|ne|lt|le|gt|ge>.<u16|s16> p0, h1, h2
setp.<eq|ne|lt|le|gt|ge>.<u32|s32> p0, r1, r2
setp.<eq|ne|lt|le|gt|ge>.<u64|s64> p0|p1, d1, d2
setp.<lo|ls|hi|hs>.u32 p0, r1, r2
setp.<lo|ls|hi|hs>.u64 p0, d1, d2
setp.<eq|ne>.b16 p0, h1, h2
setp.<eq|ne>.b32 p0, r1, r2
setp.<eq|ne>.b64 p0, d1, d2
setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 p0|p1, r1, r2
setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64 p0, d1, d2
setp.<lt|geu>.<and|or|xor>.f32 p0|p1, r1, r2, p3
setp.<lt|ge>.<and|or|xor>.s32 p0|p1, r1, r2, p3
setp.<lt|geu>.and.f64 p0|_, d1, d2, !p3
setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16 p0, h1, h2
setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16x2 p0|p1, r1, r2
setp.<eq|lt|nan>.bf16 p0, h1, h2
setp.<eq|lt|nan>.bf16x2 p0|p1, r1, r2
setp.lt.and.<f16> p0, h1, h2, p3
setp.lt.xor.<f16x2|bf16x2> p0|p1, r1, r2, p3
selp.<b16|u16|s16> h0, h1, h2, p3
selp.<b32|u32|s32|f32> r0, r1, r2, p3
selp.<b64|u64|s64|f64> d0, d1, d2, p3
slct.<b16|u16|s16>.<s32> h0, h1, h2, r3
slct.<b32|u32|s32|f32>.<s32|f32|ftz.f32> r0, r1, r2, r3
slct.<b64|u64|s64|f64>.<s32> d0, d1, d2, r3
slct.ftz.b32.f32 r0, r1, r2, r3
"""

BITS = """
<and|or|xor>.pred p0, p1, p2
<and|or|xor>.b16 h0, h1, h2
<and|or|xor>.b32 r0, r1, r2
<and|or|xor>.b64 d0, d1, d2
not.pred p0, p1
<not|cnot>.b16 h0, h1
<not|cnot>.b32 r0, r1
<not|cnot>.b64 d0, d1
lop3.b32 r0, r1, r2, r3, 0x1b
lop3.<and|or>.b32 r0|p0, r1, r2, r3, 0x96, p1
lop3.<and|or>.b32 _|p0, r1, r2, r3, 0xe8, !p1
shf.<l|r>.<clamp|wrap>.b32 r0, r1, r2, r3
shl.b16 h0, h1, r2
shl.b32 r0, r1, r2
shl.b64 d0, d1, 7
shr.<b16|u16|s16> h0, h1, r2
shr.<b32|u32|s32> r0, r1, r2
shr.<b64|u64|s64> d0, d1, r2
prmt.b32<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> r0, r1, r2, r3
prmt.b32 r0, r1, r2, 0x4321
"""

MOVES = """
mov.pred p0, p1
mov.<b16|u16|s16> h0, h1
mov.<b32|u32|s32|f32> r0, r1
mov.<b64|u64|s64|f64> d0, d1
mov.b128 q0, q1
mov.b32 r0, {h0, h1}
mov.b32 {h0, h1}, r0
mov.b64 d0, {r0, r1}
mov.b64 {r0, r1}, d0
mov.b64 {r0, _}, d0
mov.b64 d0, {h0, h1, h2, h3}
mov.b64 {h0, h1, h2, h3}, d0
mov.b128 q0, {d0, d1}
mov.b128 {d0, d1}, q0
mov.b16 h0, {b0, b1}
mov.b16 {b0, b1}, h0
mov.b32 r0, {b0, b1, b2, b3}
mov.b32 {b0, b1, b2, b3}, r0
mov.b32 {_, b1, b2, _}, r0
mov.pred p0, 1
mov.f32 r0, 0f7F800000
mov.f64 d0, 0d3FF0000000000000
mov.u64 d0, tile
mov.u32 r0, tile
mov.u64 d0, tile+16
mov.u64 d0, table
mov.u32 r0, %<tid|ntid|ctaid|nctaid>.<x|y|z>
mov.u32 r0, %<clusterid|nclusterid|cluster_ctaid|cluster_nctaid>.<x|y|z>
mov.u32 r0, %<laneid|warpid|nwarpid|smid|nsmid|cluster_ctarank|cluster_nctarank|clock|clock_hi>
mov.u32 r0, %<lanemask_eq|lanemask_le|lanemask_lt|lanemask_ge|lanemask_gt>
mov.u32 r0, %<total_smem_size|dynamic_smem_size|aggr_smem_size|globaltimer_lo|globaltimer_hi>
mov.u32 r0, %<envreg0|envreg1|envreg31|pm0|pm7>
mov.u64 d0, %<gridid|clock64|globaltimer|current_graph_exec>
mov.u64 d0, %<pm0_64|pm7_64>
mov.b32 r0, %<reserved_smem_offset_begin|reserved_smem_offset_end|reserved_smem_offset_cap|reserved_smem_offset_0|reserved_smem_offset_1>
mov.pred p0, %is_explicit_cluster
mov.u32 r0, WARP_SZ
"""

CONVERT = """
cvt.<u8|s8|u16|s16>.<u16|s16> h0, h1
cvt.<u32|s32|u64|s64>.<u8|s8> d0, r1
cvt.<u8|s8|u16|s16>.<u32|s32> h0, r1
cvt.<u32|s32>.<u8|s8|u16|s16> r0, h1
cvt.<u64|s64>.<u32|s32> d0, r1
cvt.<u32|s32|u16|s16|u8|s8>.<u64|s64> r0, d1
cvt.<u8|s8|u16>.sat.s32 h0, r1
cvt.sat.<u8|s8|u16|s16|u32>.s32 r0, r1
cvt.sat.<u8|s8|u16|s16|s32>.u32 r0, r1
cvt.sat.<u8|s8|u16|s16|u32|s32|u64>.s64 d0, d1
cvt.sat.<u8|s8|u16|s16|u32|s32|s64>.u64 d0, d1
cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.<u16|s16|u32|s32|u8|s8>.f32 r0, r1
cvt.<rni|rzi|rmi|rpi><|.ftz>.<u64|s64>.f32 d0, r1
cvt.<rni|rzi|rmi|rpi><|.sat>.<u16|s16|u32|s32|u64|s64>.f64 d0, d1
cvt.<rni|rzi|rmi|rpi>.<u16|s16|u32|s32|u8|s8>.f16 r0, h1
cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f16 d0, h1
cvt.<rni|rzi|rmi|rpi>.<u16|s16>.bf16 h0, h1
cvt.<rni|rzi|rmi|rpi>.<u32|s32>.bf16 r0, h1
cvt.<rni|rzi|rmi|rpi>.<u64|s64>.bf16 d0, h1
cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.f32.f32 r0, r1
cvt.<rni|rzi|rmi|rpi><|.sat>.f64.f64 d0, d1
cvt.<rni|rzi|rmi|rpi>.f16.f16 h0, h1
cvt.<rni|rzi|rmi|rpi>.bf16.bf16 h0, h1
cvt.<rn|rz|rm|rp><|.sat>.f32.<u32|s32> r0, r1
cvt.<rn|rz|rm|rp>.f32.<u8|s8|u16|s16> r0, h1
cvt.<rn|rz|rm|rp>.f32.<u64|s64> r0, d1
cvt.<rn|rz|rm|rp>.f64.<u32|s32> d0, r1
cvt.<rn|rz|rm|rp>.f64.<u64|s64> d0, d1
cvt.<rn|rz|rm|rp>.f16.<u8|s8|u16|s16> h0, h1
cvt.<rn|rz|rm|rp>.f16.<u32|s32> h0, r1
cvt.<rn|rz|rm|rp>.f16.<u64|s64> h0, d1
cvt.<rn|rz|rm|rp>.bf16.<u16|s16> h0, h1
cvt.<rn|rz|rm|rp>.bf16.<u32|s32> h0, r1
cvt.<rn|rz|rm|rp>.bf16.<u64|s64> h0, d1
cvt<|.ftz><|.sat>.f32.f16 r0, h1
cvt<|.ftz>.f32.bf16 r0, h1
cvt<|.ftz><|.sat>.f64.f32 d0, r1
cvt<|.sat>.f64.f16 d0, h1
cvt.f64.bf16 d0, h1
cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f32.f64 r0, d1
cvt.<rn|rz|rm|rp><|.sat>.f16.f64 h0, d1
cvt.<rn|rz|rm|rp>.bf16.f64 h0, d1
cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f16.f32 h0, r1
cvt.<rn|rz|rm|rp>.bf16.f32 h0, r1
cvt.<rn|rz><|.relu><|.satfinite>.<f16|bf16>.f32 h0, r1
cvt.<rn|rz|rm|rp>.bf16.f16 h0, h1
cvt.<rn|rz|rm|rp>.f16.bf16 h0, h1
cvt.<rn|rz><|.relu><|.satfinite>.<f16x2|bf16x2>.f32 r0, r1, r2
cvt.rna.<tf32|satfinite.tf32>.f32 r0, r1
cvt.<rn|rz><|.relu>.tf32.f32 r0, r1
cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32 h0, r1, r2
cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2 h0, r1
cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2> r0, h1
cvt.pack.sat.<u16|s16>.s32 r0, r1, r2
cvt.pack.sat.<u8|s8>.s32.b32 r0, r1, r2, r3
cvt.pack.sat.<u4|s4|u2|s2>.s32.b32 r0, r1, r2, r3
"""

VIDEO = """
<vadd|vsub|vabsdiff|vmin|vmax><|.sat>.<u32|s32>.<u32|s32>.<u32|s32> r0, r1, r2
<vadd|vsub|vabsdiff|vmin|vmax>.<u32|s32>.<u32|s32>.<u32|s32>.<add|min|max> r0, r1.b0, r2.h1, r3
<vadd|vsub|vabsdiff|vmin|vmax>.sat.s32.u32.s32 r0.<b0|b1|b2|b3|h0|h1>, r1.b3, r2.h0, r3
<vshl|vshr>.<u32|s32>.<u32|s32>.u32<|.sat>.<clamp|wrap> r0, r1, r2
<vshl|vshr>.u32.s32.u32.clamp.<add|min|max> r0, r1.h0, r2.b1, r3
<vshl|vshr>.u32.u32.u32.wrap r0.b2, r1.h0, r2.b1, r3
vmad.<u32|s32>.<u32|s32>.<u32|s32><|.sat><|.shr7|.shr15> r0, r1, r2, r3
vmad.u32.u32.u32.po r0, r1, r2, r3
vmad.s32.s32.s32 r0, -r1, r2, r3
vmad.s32.s32.u32.shr7 r0, r1.b1, -r2.h1, r3
vmad.s32.s32.s32 r0, r1, r2.b0, -r3
vset.<u32|s32>.<u32|s32>.<eq|ne|lt|le|gt|ge> r0, r1, r2
vset.u32.s32.lt.<add|min|max> r0, r1.b2, r2.h1, r3
vset.s32.s32.ge r0.h1, r1.b2, r2.h1, r3
<vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2>.<u32|s32>.<u32|s32>.<u32|s32><|.sat|.add> r0, r1, r2, r3
<vadd2|vavrg2>.s32.s32.u32.sat r0.<h0|h1|h10>, r1.h03, r2.h21, r3
vset2.<u32|s32>.<u32|s32>.<eq|ne|lt|le|gt|ge><|.add> r0, r1, r2, r3
vset2.u32.s32.lt r0.h1, r1.h10, r2.h32, r3
<vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4>.<u32|s32>.<u32|s32>.<u32|s32><|.sat|.add> r0, r1, r2, r3
<vadd4|vabsdiff4>.s32.s32.u32.sat r0.<b0|b31|b210|b3210>, r1.b0123, r2.b7654, r3
vset4.<u32|s32>.<u32|s32>.<eq|ne|lt|le|gt|ge><|.add> r0, r1, r2, r3
vset4.u32.s32.lt r0.b20, r1.b3210, r2.b0000, r3
"""

TABLES = {
    "integer": INTEGER,
    "float": FLOAT,
    "half": HALF,
    "compare": COMPARE,
    "bits": BITS,
    "moves": MOVES,
    "convert": CONVERT,
    "video": VIDEO,
}
