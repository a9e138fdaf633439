// RUN: %opt lower-clusters %s | FileCheck %s

module { gpu.module @kernels {
func.func @kernel(%i: i32, %rank: i32, %v: vector<4xf32>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  %a = "fa4.shared_address"(%tile, %i) : (!fa4.shared, i32) -> !llvm.ptr<3>
  // CHECK: nvvm.mapa %{{.*}}, %arg1 : !llvm.ptr<3> -> !llvm.ptr<7>
  %peer = "fa4.peer_address"(%a, %rank) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
  // CHECK: llvm.store %arg2
  llvm.store %v, %peer : vector<4xf32>, !llvm.ptr<7>
  // CHECK: %[[OWN:.*]] = "fa4.mbarrier_address"(%{{.*}}, %arg0)
  // CHECK-NEXT: %[[REMOTE:.*]] = nvvm.mapa %[[OWN]], %arg1
  // CHECK-NEXT: "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0], 1;", "r,~{memory}" %[[REMOTE]]
  "fa4.mbarrier_arrive_remote"(%bar, %i, %rank) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  // CHECK: "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], $1;"
  "fa4.mbarrier_arrive_expect_tx_remote"(%bar, %i, %rank, %i) {order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32, i32) -> ()
  // CHECK: "barrier.cluster.arrive.release.aligned;"
  "fa4.cluster_arrive"() {order = "release"} : () -> ()
  // CHECK: "barrier.cluster.arrive.relaxed.aligned;"
  "fa4.cluster_arrive"() {order = "relaxed"} : () -> ()
  // CHECK: "barrier.cluster.wait.acquire.aligned;"
  "fa4.cluster_wait"() {order = "acquire"} : () -> ()
  // Array and barrier of one peer.
  // CHECK: nvvm.mapa %{{.*}}, %arg1
  // CHECK: nvvm.mapa %{{.*}}, %arg1
  // CHECK: "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$0], {{[{]}}$1, $2, $3, $4{{[}]}}, [$5];"
  "fa4.store_async"(%v, %tile, %i, %bar, %i, %rank) : (vector<4xf32>, !fa4.shared, i32, !fa4.mbarrier, i32, i32) -> ()
  return
}
} }
