// RUN: %opt place-shared-memory,lower-memory %s | FileCheck %s

// One window for all of a kernel's shared memory; constant offsets fold.

// CHECK: llvm.mlir.global external @fa4_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
module { gpu.module @kernels {
func.func @kernel(%i: i32, %p: !llvm.ptr<1>, %v: vector<4xf32>, %h: bf16) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  // CHECK: %[[WINDOW:.*]] = llvm.mlir.addressof @fa4_shared : !llvm.ptr<3>
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  %four = arith.constant 4 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[A:.*]] = llvm.getelementptr %[[WINDOW]][4]
  %a = "fa4.shared_address"(%tile, %four) : (!fa4.shared, i32) -> !llvm.ptr<3>
  // Barriers begin behind the tile, at 1024, 8 bytes each.
  // CHECK: %[[B:.*]] = llvm.getelementptr %[[WINDOW]][1032]
  %b = "fa4.mbarrier_address"(%bar, %one) : (!fa4.mbarrier, i32) -> !llvm.ptr<3>
  // CHECK: %[[BASE:.*]] = llvm.getelementptr %[[WINDOW]][1024]
  // CHECK: %[[STEP:.*]] = arith.muli %arg0, %c8_i32
  // CHECK: llvm.getelementptr %[[BASE]][%[[STEP]]]
  %c = "fa4.mbarrier_address"(%bar, %i) : (!fa4.mbarrier, i32) -> !llvm.ptr<3>
  // CHECK: "ld.acquire.cta.shared::cta.b32 $0, [$1];", "=r,r,~{memory}" %[[A]]
  %x = "fa4.load"(%a) {order = "acquire", scope = "cta"} : (!llvm.ptr<3>) -> i32
  // A read-only load may be shared and moved.
  // CHECK: llvm.inline_asm "ld.global.nc.v4.b32 {{[{]}}$0, $1, $2, $3{{[}]}}, [$4];", "=f,=f,=f,=f,l" %arg1
  %y = "fa4.load"(%p) {order = "weak", cache = "nc"} : (!llvm.ptr<1>) -> vector<4xf32>
  // CHECK: "st.release.gpu.global.b16 [$0], $1;", "l,h,~{memory}"
  "fa4.store"(%h, %p) {order = "release", scope = "gpu"} : (bf16, !llvm.ptr<1>) -> ()
  // CHECK: "st.global.cs.v4.b32 [$0], {{[{]}}$1, $2, $3, $4{{[}]}};"
  "fa4.store"(%v, %p) {order = "weak", cache = "cs"} : (vector<4xf32>, !llvm.ptr<1>) -> ()
  // CHECK: "atom.acq_rel.gpu.global.min.s32 $0, [$1], $2;"
  %m = "fa4.atomic"(%p, %i) {kind = "min", order = "acq_rel", scope = "gpu"} : (!llvm.ptr<1>, i32) -> i32
  // CHECK: "atom.relaxed.cta.shared::cta.cas.b32 $0, [$1], $2, $3;"
  %n = "fa4.compare_and_swap"(%a, %i, %i) {order = "relaxed", scope = "cta"} : (!llvm.ptr<3>, i32, i32) -> i32
  // CHECK: "red.relaxed.gpu.global.add.u32 [$0], $1;"
  "fa4.reduce"(%p, %i) {kind = "add", order = "relaxed", scope = "gpu"} : (!llvm.ptr<1>, i32) -> ()
  // CHECK-NOT: fa4.shared_alloc
  // CHECK-NOT: fa4.mbarrier_alloc
  return
}
} }
