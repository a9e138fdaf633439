// RUN: %opt lower-barriers %s | FileCheck %s

// Order, scope and space are explicit in every instruction.

module { gpu.module @kernels {
func.func @kernel(%i: i32, %id: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  %other = "fa4.mbarrier_alloc"() {name = "other", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
  %zero = arith.constant 0 : i32
  // Neighbouring inits are one block of thread 0 with one fence.
  // CHECK: "fa4.index"() {what = "thread.x"}
  // CHECK: scf.if
  // CHECK-COUNT-2: mbarrier.init.shared::cta.b64 [$0], 3;
  // CHECK: mbarrier.init.shared::cta.b64 [$0], 1;
  // CHECK-NOT: scf.if
  // CHECK: "fence.mbarrier_init.release.cluster;", "~{memory}"
  "fa4.mbarrier_init"(%bar) : (!fa4.mbarrier) -> ()
  "fa4.mbarrier_init"(%other) : (!fa4.mbarrier) -> ()
  // CHECK: %[[ADDRESS:.*]] = "fa4.mbarrier_address"(%{{.*}}, %arg0)
  // CHECK-NEXT: llvm.inline_asm has_side_effects "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], 2;", "r,~{memory}" %[[ADDRESS]]
  "fa4.mbarrier_arrive"(%bar, %i) {count = 2 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
  // CHECK: "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
  "fa4.mbarrier_expect_tx"(%bar, %zero, %i) {scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
  // CHECK: "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [$0], $1;"
  "fa4.mbarrier_arrive_expect_tx"(%bar, %zero, %i) {order = "relaxed", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  // A wait asks until it is told yes.
  // CHECK: scf.while
  // CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 $0, [$1], $2;", "=b,r,r,~{memory}"
  // CHECK: arith.xori %[[DONE]]
  // CHECK: scf.condition
  "fa4.mbarrier_wait"(%bar, %zero, %i) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  // CHECK: "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 $0, [$1], $2;"
  %t = "fa4.mbarrier_test"(%bar, %zero, %i) {order = "acquire", scope = "cta", suspend = false} : (!fa4.mbarrier, i32, i32) -> i1
  // CHECK: "bar.sync 0;"
  "fa4.block_sync"() : () -> ()
  // A constant id is in the text, another in a register.
  // CHECK: "bar.sync 0, 64;", "~{memory}"
  "fa4.named_barrier_sync"(%zero) {threads = 64 : i64} : (i32) -> ()
  // CHECK: "bar.arrive $0, 64;", "r,~{memory}" %arg1
  "fa4.named_barrier_arrive"(%id) {threads = 64 : i64} : (i32) -> ()
  // CHECK: "bar.warp.sync $0;"
  "fa4.warp_sync"(%i) : (i32) -> ()
  // CHECK: "fence.acq_rel.cluster;"
  "fa4.fence"() {order = "acq_rel", scope = "cluster"} : () -> ()
  // CHECK: "fence.proxy.async.shared::cta;"
  "fa4.fence_proxy_async"() {space = "shared::cta"} : () -> ()
  // CHECK: "fence.proxy.async;"
  "fa4.fence_proxy_async"() {space = "all"} : () -> ()
  // CHECK: scf.if
  // CHECK-COUNT-2: mbarrier.inval.shared::cta.b64 [$0];
  "fa4.mbarrier_invalidate"(%bar) : (!fa4.mbarrier) -> ()
  // CHECK-NOT: "fa4.mbarrier_{{arrive|wait|test|init|inval}}
  return
}
} }
