// RUN: %opt --expect-error --split-input fa4-verify %s | FileCheck %s

// Each module breaks one rule; what IRDL refuses is told in the table's words.

// CHECK: error[C007]: fa4.mbarrier_arrive: the operand barrier must be !fa4.mbarrier, not i32
func.func @wrong_type(%i: i32) {
  "fa4.mbarrier_arrive"(%i, %i) {count = 1 : i64, order = "release", scope = "cta"} : (i32, i32) -> ()
  return
}

// -----

// CHECK: error[C006]: fa4.peer_address takes 2 operands, 1 given
// CHECK: verification.mlir:[[# @LINE + 2]]:8
func.func @wrong_count(%p: !llvm.ptr<3>) {
  %q = "fa4.peer_address"(%p) : (!llvm.ptr<3>) -> !llvm.ptr<7>
  return
}

// -----

// CHECK: error[C003]: the fa4 dialect has no operation fa4.mbarrier_arive; did you mean fa4.mbarrier_arrive?
func.func @unknown() {
  "fa4.mbarrier_arive"() : () -> ()
  return
}

// -----

// CHECK: error[C004]: fa4.cluster_arrive lacks its attribute 'order'
// CHECK: verification.mlir:[[# @LINE + 2]]:3
func.func @missing_attribute() {
  "fa4.cluster_arrive"() : () -> ()
  return
}

// -----

// CHECK: error[C005]: fa4.bulk_wait: the attribute pending must be of kind int, not "0"
func.func @wrong_kind() {
  "fa4.bulk_wait"() {pending = "0", read = true} : () -> ()
  return
}

// -----

// CHECK: error[C008]: fa4.fence: scope is 'warp'; legal is one of cta, cluster, gpu, sys
func.func @illegal_value() {
  "fa4.fence"() {order = "acq_rel", scope = "warp"} : () -> ()
  return
}

// -----

// CHECK: error[C008]: fa4.named_barrier_sync: threads is 100; legal is 32 to 1024, a multiple of 32
func.func @partial_warp(%id: i32) {
  "fa4.named_barrier_sync"(%id) {threads = 100 : i64} : (i32) -> ()
  return
}

// -----

// CHECK: error[C009]: fa4.load: order = acquire needs a scope
func.func @scope(%p: !llvm.ptr<1>) {
  %x = "fa4.load"(%p) {order = "acquire"} : (!llvm.ptr<1>) -> i32
  return
}

// -----

// CHECK: error[C009]: fa4.load: one access moves 1, 2, 4, 8 or 16 bytes; vector<3xf32> has 12
func.func @size(%p: !llvm.ptr<1>) {
  %x = "fa4.load"(%p) {order = "weak", cache = "cg"} : (!llvm.ptr<1>) -> vector<3xf32>
  return
}

// -----

// CHECK: error[C009]: fa4.wgmma: m64n16 with d_type = f32 has 8 accumulators of f32 a thread, not 4 (f32)
func.func @accumulators(%a: i64, %c: i1, %x: f32) {
  %r:4 = "fa4.wgmma"(%a, %a, %c, %x, %x, %x, %x) {n = 16 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

// CHECK: error[C009]: fa4.tma_store: a tensor map has 1 to 5 dimensions, not 6 coordinates
func.func @rank(%m: !fa4.tensor_map, %s: !fa4.shared, %i: i32) {
  "fa4.tma_store"(%m, %s, %i, %i, %i, %i, %i, %i, %i) {reduce = "none", bytes = 16 : i64} : (!fa4.tensor_map, !fa4.shared, i32, i32, i32, i32, i32, i32, i32) -> ()
  return
}

// -----

// CHECK: error[C009]: fa4.convert: rn.satfinite.e4m3x2.f32 takes (f32, f32) and gives i16, not (f32) to i16
func.func @convert(%x: f32) {
  %r = "fa4.convert"(%x) {to = "rn.satfinite.e4m3x2.f32"} : (f32) -> i16
  return
}

// -----

// CHECK: error[C012]: kernel kernel: fa4.block: it is missing
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel} { return } } }

// -----

// CHECK: error[C012]: kernel kernel: fa4.parameters: it lists 0 parameters, the function has 1 arguments
module { gpu.module @kernels {
  func.func @kernel(%n: i32) attributes {fa4.kernel, fa4.block = array<i32: 32, 1, 1>, fa4.parameters = []} { return }
} }

// -----

// CHECK: error[C012]: kernel kernel: the function's arguments: argument 0 has type index; a kernel takes numbers, !llvm.ptr<1> and !fa4.tensor_map
module { gpu.module @kernels {
  func.func @kernel(%n: index) attributes {fa4.kernel, fa4.block = array<i32: 32, 1, 1>} { return }
} }

// -----

// CHECK: error[C009]: fa4.device_print: the format takes (i32, i64, f64), not (i32, i32, f64)
func.func @format(%i: i32, %d: f64) {
  "fa4.device_print"(%i, %i, %d) {format = "%d %lld %f", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (i32, i32, f64) -> ()
  return
}

// -----

// CHECK: error[C009]: fa4.device_print: a % of the format begins no conversion; %% prints one
func.func @percent() {
  "fa4.device_print"() {format = "50%", operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : () -> ()
  return
}
