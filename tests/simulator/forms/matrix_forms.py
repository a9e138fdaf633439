"""Forms of the matrix instructions (PTX ISA 9.7.14 and 9.7.15), as in `arithmetic_forms`. `r*8` stands for a vector of eight registers of that kind."""

from __future__ import annotations

WARP_MATRIX = """
ldmatrix.sync.aligned.m8n8.x1<|.trans>.b16 {r0}, [d21]
ldmatrix.sync.aligned.m8n8.x1<|.trans><.shared|.shared::cta>.b16 {r0}, [r50]
ldmatrix.sync.aligned.m8n8.x2<|.trans>.shared.b16 {r0, r1}, [tile]
ldmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 {r0, r1, r2, r3}, [r50]
stmatrix.sync.aligned.m8n8.x1<|.trans>.shared.b16 [r50], {r0}
stmatrix.sync.aligned.m8n8.x2<|.trans>.b16 [d21], {r0, r1}
stmatrix.sync.aligned.m8n8.x4<|.trans>.shared::cta.b16 [r50], {r0, r1, r2, r3}
movmatrix.sync.aligned.m8n8.trans.b16 r0, r1
mma.sync.aligned.m8n8k4.<row|col>.<row|col>.f16.f16.f16.f16 r*4, r*2, r*2, r*4
mma.sync.aligned.m8n8k4.<row|col>.<row|col>.f32.f16.f16.f16 r*8, r*2, r*2, r*4
mma.sync.aligned.m8n8k4.<row|col>.<row|col>.f32.f16.f16.f32 r*8, r*2, r*2, r*8
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 r*2, r*2, r*1, r*2
mma.sync.aligned.m16n8k8.row.col.f32.<f16.f16|bf16.bf16>.f32 r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 r*2, r*4, r*2, r*2
mma.sync.aligned.m16n8k16.row.col.f32.<f16.f16|bf16.bf16>.f32 r*4, r*4, r*2, r*4
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 r*4, r*4, r*2, r*4
mma.sync.aligned.m16n8k32.row.col.f32.<e4m3|e5m2>.<e4m3|e5m2>.f32 r*4, r*4, r*2, r*4
mma.sync.aligned.m16n8k32.row.col.f16.<e4m3|e5m2>.<e4m3|e5m2>.f16 r*2, r*4, r*2, r*2
mma.sync.aligned.m16n8k16.row.col.f32.<e4m3|e5m2>.<e4m3|e5m2>.f32 r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k16.row.col.f16.<e4m3|e5m2>.<e4m3|e5m2>.f16 r*2, r*2, r*1, r*2
mma.sync.aligned.m8n8k4.row.col<|.rn|.rz|.rm|.rp>.f64.f64.f64.f64 d*2, d*1, d*1, d*2
mma.sync.aligned.m16n8k4.row.col<|.rn|.rz|.rm|.rp>.f64.f64.f64.f64 d*4, d*2, d*1, d*4
mma.sync.aligned.m16n8k8.row.col<|.rn|.rz|.rm|.rp>.f64.f64.f64.f64 d*4, d*4, d*2, d*4
mma.sync.aligned.m16n8k16.row.col<|.rn|.rz|.rm|.rp>.f64.f64.f64.f64 d*4, d*8, d*4, d*4
mma.sync.aligned.m8n8k16.row.col<|.satfinite>.s32.<s8|u8>.<s8|u8>.s32 r*2, r*1, r*1, r*2
mma.sync.aligned.m16n8k16.row.col<|.satfinite>.s32.<s8|u8>.<s8|u8>.s32 r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k32.row.col<|.satfinite>.s32.<s8|u8>.<s8|u8>.s32 r*4, r*4, r*2, r*4
mma.sync.aligned.m8n8k32.row.col<|.satfinite>.s32.<s4|u4>.<s4|u4>.s32 r*2, r*1, r*1, r*2
mma.sync.aligned.m16n8k32.row.col<|.satfinite>.s32.<s4|u4>.<s4|u4>.s32 r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k64.row.col<|.satfinite>.s32.<s4|u4>.<s4|u4>.s32 r*4, r*4, r*2, r*4
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.<xor|and>.popc r*2, r*1, r*1, r*2
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.<xor|and>.popc r*4, r*2, r*1, r*4
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.<xor|and>.popc r*4, r*4, r*2, r*4
"""

SPARSE = """
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 r*2, r*2, r*2, r*2, r9, <0|1|2|3>
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f32.<f16.f16|bf16.bf16>.f32 r*4, r*2, r*2, r*4, r9, 1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 r*2, r*4, r*4, r*2, r9, <0|1>
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col.f32.<f16.f16|bf16.bf16>.f32 r*4, r*4, r*4, r*4, r9, 1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 r*4, r*2, r*2, r*4, r9, 3
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 r*4, r*4, r*4, r*4, r9, 1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col<|.satfinite>.s32.<s8|u8>.<s8|u8>.s32 r*4, r*2, r*2, r*4, r9, 1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col<|.satfinite>.s32.<s8|u8>.<s8|u8>.s32 r*4, r*4, r*4, r*4, r9, 0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col.f32.<e4m3|e5m2>.<e4m3|e5m2>.f32 r*4, r*4, r*4, r*4, r9, 0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col<|.satfinite>.s32.<s4|u4>.<s4|u4>.s32 r*4, r*2, r*2, r*4, r9, 1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k128.row.col<|.satfinite>.s32.<s4|u4>.<s4|u4>.s32 r*4, r*4, r*4, r*4, r9, 0
"""

WMMA = """
wmma.load.<a|b>.sync.aligned.<row|col>.<m16n16k16|m8n32k16|m32n8k16><|.global>.f16 r*8, [d20]
wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k16.shared.f16 r*8, [r50], 24
wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k16.bf16 r*4, [d20], 32
wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k16.<s8|u8> r*2, [d20], 32
wmma.load.a.sync.aligned.row.m8n32k16.bf16 r*2, [d20]
wmma.load.a.sync.aligned.row.m8n32k16.s8 r*1, [d20]
wmma.load.b.sync.aligned.row.m8n32k16.bf16 r*8, [d20]
wmma.load.b.sync.aligned.row.m8n32k16.s8 r*4, [d20]
wmma.load.a.sync.aligned.row.m32n8k16.bf16 r*8, [d20]
wmma.load.a.sync.aligned.row.m32n8k16.s8 r*4, [d20]
wmma.load.b.sync.aligned.col.m32n8k16.bf16 r*2, [d20]
wmma.load.b.sync.aligned.col.m32n8k16.s8 r*1, [d20]
wmma.load.<a|b>.sync.aligned.<row|col>.m16n16k8.tf32 r*4, [d20], 8
wmma.load.<a|b>.sync.aligned.<row|col>.m8n8k4.f64 d*1, [d20], 8
wmma.load.a.sync.aligned.row.m8n8k32.<s4|u4> r*1, [d20], 32
wmma.load.b.sync.aligned.col.m8n8k32.<s4|u4> r*1, [d20], 32
wmma.load.a.sync.aligned.row.m8n8k128.b1 r*1, [d20], 128
wmma.load.b.sync.aligned.col.m8n8k128.b1 r*1, [d20], 128
wmma.load.c.sync.aligned.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.f16 r*4, [d20]
wmma.load.c.sync.aligned.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.<f32|s32> r*8, [d20]
wmma.load.c.sync.aligned.<row|col>.m16n16k8.f32 r*8, [d20]
wmma.load.c.sync.aligned.<row|col>.m8n8k4.f64 d*2, [d20]
wmma.load.c.sync.aligned.<row|col>.<m8n8k32|m8n8k128>.s32 r*2, [d20]
wmma.store.d.sync.aligned.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.f16 [d20], r*4
wmma.store.d.sync.aligned.<row|col>.<m16n16k16|m8n32k16|m32n8k16><|.global>.<f32|s32> [d20], r*8, 40
wmma.store.d.sync.aligned.<row|col>.m16n16k16.shared.f32 [r50], r*8, 20
wmma.store.d.sync.aligned.<row|col>.m16n16k8.f32 [d20], r*8
wmma.store.d.sync.aligned.<row|col>.m8n8k4.f64 [d20], d*2
wmma.store.d.sync.aligned.<row|col>.<m8n8k32|m8n8k128>.s32 [d20], r*2
wmma.mma.sync.aligned.<row|col>.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.f16.f16 r*4, r*8, r*8, r*4
wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k16.f32.f16 r*8, r*8, r*8, r*4
wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k16.f16.f32 r*4, r*8, r*8, r*8
wmma.mma.sync.aligned.<row|col>.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.f32.f32 r*8, r*8, r*8, r*8
wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k16.f32.bf16.bf16.f32 r*8, r*4, r*4, r*8
wmma.mma.sync.aligned.<row|col>.col.m8n32k16.f32.bf16.bf16.f32 r*8, r*2, r*8, r*8
wmma.mma.sync.aligned.<row|col>.col.m32n8k16.f32.bf16.bf16.f32 r*8, r*8, r*2, r*8
wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k8.f32.tf32.tf32.f32 r*8, r*4, r*4, r*8
wmma.mma.sync.aligned.<row|col>.<row|col>.m8n8k4<|.rn|.rz|.rm|.rp>.f64.f64.f64.f64 d*2, d*1, d*1, d*2
wmma.mma.sync.aligned.<row|col>.<row|col>.m16n16k16.s32.<s8.s8|u8.u8>.s32<|.satfinite> r*8, r*2, r*2, r*8
wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 r*8, r*1, r*4, r*8
wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32 r*8, r*4, r*1, r*8
wmma.mma.sync.aligned.row.col.m8n8k32.s32.<s4.s4|u4.u4>.s32<|.satfinite> r*2, r*1, r*1, r*2
wmma.mma.<xor|and>.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 r*2, r*1, r*1, r*2
"""

WGMMA = """
wgmma.fence.sync.aligned
wgmma.commit_group.sync.aligned
wgmma.wait_group.sync.aligned 0
wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 r*2, d28, d29, p5, 1, 1, <0|1>, <0|1>
wgmma.mma_async.sync.aligned.m64n8k16.f32.<f16.f16|bf16.bf16> r*4, d28, d29, p5, 1, -1, 0, 0
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 r*4, r*4, d29, p5, 1, 1, 1
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 r*4, r*4, d29, 1, 1, 1, 1
wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 r*4, d28, d29, p5, 1, 1
wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 r*4, r*4, d29, p5, 1, 1
wgmma.mma_async.sync.aligned.m64n8k32.f32.<e4m3|e5m2>.<e4m3|e5m2> r*4, d28, d29, p5, 1, 1
wgmma.mma_async.sync.aligned.m64n8k32.f16.<e4m3|e5m2>.<e4m3|e5m2> r*2, r*4, d29, p5, 1, 1
wgmma.mma_async.sync.aligned.m64n8k32.s32.<s8|u8>.<s8|u8><|.satfinite> r*4, d28, d29, p5
wgmma.mma_async.sync.aligned.m64n8k32.s32.<s8|u8>.<s8|u8> r*4, r*4, d29, p5
wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc r*4, d28, d29, p5
wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc r*4, r*4, d29, p5
setmaxnreg.dec.sync.aligned.u32 128; setmaxnreg.inc.sync.aligned.u32 256
"""

SPARSE_WGMMA = """
wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 r*2, d28, d29, r9, 0, p5, 1, 1, 0, <0|1>
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.<f16.f16|bf16.bf16> r*4, d28, d29, r9, 1, p5, 1, -1, 0, 0
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 r*4, r*4, d29, r9, 0, p5, 1, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 r*4, d28, d29, r9, 1, p5, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 r*4, r*4, d29, r9, 1, p5, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.<e4m3|e5m2>.<e4m3|e5m2> r*4, d28, d29, r9, 0, p5, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e4m3.e4m3 r*2, r*4, d29, r9, 0, p5, 1, 1
wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.<s8|u8>.<s8|u8><|.satfinite> r*4, d28, d29, r9, 0, p5
wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 r*4, r*4, d29, r9, 0, p5
"""

TABLES = {"warp matrices": WARP_MATRIX, "sparse": SPARSE, "wmma": WMMA, "wgmma": WGMMA, "sparse wgmma": SPARSE_WGMMA}
