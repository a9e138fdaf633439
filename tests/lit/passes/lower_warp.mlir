// RUN: %opt --split-input lower-warp %s | FileCheck %s

// The warp index is made once, at the entry, where all lanes are; it is lane 0's, so uniform.
// CHECK-LABEL: func.func @kernel
// CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[W:.*]] = arith.shrui %[[X]]
// CHECK: nvvm.shfl.sync idx %{{.*}}, %[[W]]
// CHECK: scf.if
module { gpu.module @kernels {
func.func @kernel(%v: f32, %i: i32, %c: i1) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  scf.if %c {
    // CHECK-NOT: nvvm.shfl.sync
    %w = "fa4.index"() {what = "warp"} : () -> i32
    "fa4.nanosleep"(%w) : (i32) -> ()
  }
  // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
  %rank = "fa4.index"() {what = "cluster.rank"} : () -> i32
  // CHECK: nvvm.read.ptx.sreg.nctaid.y
  %g = "fa4.index"() {what = "grid_dim.y"} : () -> i32
  // CHECK: nvvm.elect.sync -> i1
  %e = "fa4.elect"() : () -> i1
  // Segments of 8 lanes: (32 - 8) << 8 | 31.
  // CHECK: %[[CLAMP:.*]] = arith.constant 6175 : i32
  // CHECK: nvvm.shfl.sync {{ *}}bfly %{{.*}}, %arg0, %arg1, %[[CLAMP]] : f32 -> f32
  %s = "fa4.shuffle"(%v, %i) {mode = "bfly", width = 8 : i64} : (f32, i32) -> f32
  // CHECK: nvvm.vote.sync {{ *}}ballot
  %b = "fa4.vote"(%c) {mode = "ballot"} : (i1) -> i32
  // CHECK: nvvm.redux.sync {{ *}}umax
  %r = "fa4.warp_reduce"(%i) {kind = "umax"} : (i32) -> i32
  // CHECK: nvvm.match.sync {{ *}}any
  %m = "fa4.match"(%i) {mode = "any"} : (i32) -> i32
  // CHECK: "setmaxnreg.dec.sync.aligned.u32 40;"
  "fa4.set_max_registers"() {count = 40 : i64, direction = "decrease"} : () -> ()
  // CHECK: "griddepcontrol.wait;"
  "fa4.wait_dependencies"() : () -> ()
  // CHECK: llvm.inline_asm "add.u32 $0, $1, 1;", "=r,r" %arg1
  %p = "fa4.inline_ptx"(%i) {text = "add.u32 $0, $1, 1;", constraints = "=r,r", pure = true, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (i32) -> i32
  return
}
} }

// -----

// A CTA of three dimensions counts its threads x first.
// CHECK-LABEL: func.func @kernel
// CHECK: nvvm.read.ptx.sreg.tid.y
// CHECK: arith.muli %{{.*}}, %c8_i32
// CHECK: nvvm.read.ptx.sreg.tid.z
// CHECK: arith.muli %{{.*}}, %c32_i32
module { gpu.module @kernels {
func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 8, 4, 2>} {
  %w = "fa4.index"() {what = "warp"} : () -> i32
  "fa4.nanosleep"(%w) : (i32) -> ()
  return
}
} }
