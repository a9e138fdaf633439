// RUN: %opt lower-matrix %s | FileCheck %s

module { gpu.module @kernels {
func.func @kernel(%i: i32, %d: i64, %c: i1, %x: f32, %h: vector<2xf16>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  // Start address >> 4, leading 16 >> 4 in bits 29..16, stride 1024 >> 4 in bits 45..32, 128B in bits 63..62 as 1.
  // CHECK: arith.andi %{{.*}}, %c262143
  // CHECK: arith.constant 4611686293305360384 : i64
  %desc = "fa4.wgmma_descriptor"(%tile, %i) {leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"} : (!fa4.shared, i32) -> i64
  // CHECK: "wgmma.fence.sync.aligned;"
  "fa4.wgmma_fence"() : () -> ()
  // The accumulators are read and written in place.
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{[{]}}$0, $1, $2, $3{{[}]}}, $4, $5, $6, 1, -1, 0, 1;", "=f,=f,=f,=f,l,l,b,0,1,2,3,~{memory}"
  %r:4 = "fa4.wgmma"(%desc, %d, %c, %x, %x, %x, %x) {n = 8 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "mn", negate_a = false, negate_b = true} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  // A in registers; f16 accumulators are pairs in 32-bit registers.
  // CHECK: "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {{[{]}}$0, $1{{[}]}}, {{[{]}}$2, $3, $4, $5{{[}]}}, $6, $7, 1, 1, 0;", "=r,=r,r,r,r,r,l,b,0,1,~{memory}"
  %s:2 = "fa4.wgmma_register_a"(%i, %i, %i, %i, %d, %c, %h, %h) {n = 8 : i64, a_type = "f16", b_type = "f16", d_type = "f16", b_major = "k", negate_a = false, negate_b = false} : (i32, i32, i32, i32, i64, i1, vector<2xf16>, vector<2xf16>) -> (vector<2xf16>, vector<2xf16>)
  // CHECK: "wgmma.commit_group.sync.aligned;"
  "fa4.wgmma_commit"() : () -> ()
  // CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,0,1,~{memory}"
  %w:2 = "fa4.wgmma_wait"(%r#0, %r#1) {pending = 0 : i64} : (f32, f32) -> (f32, f32)
  // CHECK: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{[{]}}$0, $1, $2, $3{{[}]}}, {{[{]}}$4, $5, $6, $7{{[}]}}, {{[{]}}$8, $9{{[}]}}, {{[{]}}$10, $11, $12, $13{{[}]}};"
  %m:4 = "fa4.mma"(%i, %i, %i, %i, %i, %i, %i, %i, %i, %i) {shape = "m16n8k8", a_type = "tf32", b_type = "tf32", c_type = "f32", d_type = "f32"} : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
  %a = "fa4.shared_address"(%tile, %i) : (!fa4.shared, i32) -> !llvm.ptr<3>
  // CHECK: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{[{]}}$0, $1, $2, $3{{[}]}}, [$4];", "=r,=r,=r,=r,r,~{memory}"
  %l:4 = "fa4.load_matrix"(%a) {count = 4 : i64, transpose = true} : (!llvm.ptr<3>) -> (i32, i32, i32, i32)
  // CHECK: "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$0], {{[{]}}$1, $2{{[}]}};"
  "fa4.store_matrix"(%a, %l#0, %l#1) {transpose = false} : (!llvm.ptr<3>, i32, i32) -> ()
  return
}
} }
