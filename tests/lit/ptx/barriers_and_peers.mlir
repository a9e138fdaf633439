// RUN: %opt fa4-verify,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-ptx %s | FileCheck %s
// RUN: %opt fa4-verify,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-llvm %s | %opt emit-ptx - | FileCheck %s
// RUN: %opt fa4-verify,place-shared-memory --locations %s | %opt insert-proxy-fences,lower-fa4 --locations - | %opt fa4-to-llvm,emit-ptx - | FileCheck %s

// Publish to a peer, wait, read through DSMEM: 32-bit shared addresses, explicit order and scope, source lines, a target without the
// word debug. Every stage is text that may be fed back in: all three ways give the same PTX.

// CHECK: .target sm_90a{{$}}
// CHECK: .extern .shared .align 1024 .b8 fa4_shared[];
// CHECK: .visible .entry kernel(
// CHECK: .reqntid 128, 1, 1
// CHECK: .reqnctapercluster 2, 1, 1
module { gpu.module @kernels {
func.func @kernel(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  %publish = "fa4.mbarrier_alloc"() {name = "publish", count = 1 : i64, arrivals = 128 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  // CHECK: mbarrier.init.shared::cta.b64 [%r{{[0-9]+}}], 128;
  // CHECK: fence.mbarrier_init.release.cluster;
  "fa4.mbarrier_init"(%publish) : (!fa4.mbarrier) -> ()
  // CHECK: barrier.cluster.arrive.release.aligned;
  // CHECK: barrier.cluster.wait.acquire.aligned;
  "fa4.cluster_arrive"() {order = "release"} : () -> ()
  "fa4.cluster_wait"() {order = "acquire"} : () -> ()
  %rank = "fa4.index"() {what = "cluster.rank"} : () -> i32
  %peer = arith.xori %rank, %one : i32
  %tid = "fa4.index"() {what = "thread.x"} : () -> i32
  %offset = arith.muli %tid, %four : i32
  %own = "fa4.shared_address"(%tile, %offset) : (!fa4.shared, i32) -> !llvm.ptr<3>
  // CHECK: .loc 1 [[# @LINE + 2]] {{[0-9]+}}
  // CHECK-NEXT: st.shared.b32
  llvm.store %x, %own : f32, !llvm.ptr<3>
  // CHECK: mapa.shared::cluster.u32
  // CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r{{[0-9]+}}], 1;
  "fa4.mbarrier_arrive_remote"(%publish, %zero, %peer) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  // CHECK: [[LOOP:\$L__BB[0-9_]+]]:
  // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p{{[0-9]+}}, [%r{{[0-9]+}}], %r{{[0-9]+}};
  // CHECK: bra [[LOOP]]
  "fa4.mbarrier_wait"(%publish, %zero, %zero) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  %remote = "fa4.peer_address"(%own, %peer) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
  // CHECK: ld.shared::cluster.b32
  %y = llvm.load %remote : !llvm.ptr<7> -> f32
  %place = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  llvm.store %y, %place : f32, !llvm.ptr<1>
  // CHECK: barrier.cluster.arrive.release.aligned;
  // CHECK: barrier.cluster.wait.acquire.aligned;
  // CHECK-NOT: .section
  "fa4.cluster_arrive"() {order = "release"} : () -> ()
  "fa4.cluster_wait"() {order = "acquire"} : () -> ()
  return
}
} }
