// RUN: %opt record-waits %s | FileCheck %s
// RUN: %opt place-shared-memory,record-waits,lower-fa4,fa4-to-llvm,emit-ptx %s | FileCheck %s --check-prefix=PTX

module { gpu.module @kernels {
// Only a kernel that asks for records has them.
// CHECK-LABEL: func.func @plain(%arg0: i32)
// CHECK-NOT: fa4.waits
// CHECK: "fa4.block_sync"() : () -> ()
// CHECK-NEXT: "fa4.mbarrier_wait"(%{{.*}}, %{{.*}}, %arg0) {order = "acquire", scope = "cta"}
// CHECK-NEXT: return
// PTX-LABEL: .entry plain(
// PTX-NOT: plain_param_1
// PTX-NOT: volatile
// PTX: bar.sync 0;
// PTX-NOT: volatile
// PTX: mbarrier.try_wait
// PTX-NOT: volatile
// PTX: ret;
func.func @plain(%parity: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cta"} : () -> !fa4.mbarrier
  %zero = arith.constant 0 : i32
  "fa4.block_sync"() : () -> ()
  "fa4.mbarrier_wait"(%bar, %zero, %parity) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
  func.return
}

// CHECK-LABEL: func.func @recorded(%arg0: i32, %arg1: !llvm.ptr<1>)
// CHECK-SAME: fa4.parameters = [{dtype = "i32", kind = "scalar", name = "arg0"}, {alignment = 16 : i64, dtype = "u32", kind = "pointer", name = "wait_records"}]
// CHECK-SAME: fa4.waits = [{{.*}}kind = "block"{{.*}}kind = "mbarrier"{{.*}}name = "bar"{{.*}}kind = "named"{{.*}}name = "both"{{.*}}kind = "cluster"
func.func @recorded(%parity: i32) attributes {fa4.kernel, fa4.debug_waits, fa4.block = array<i32: 64, 2, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  %one = arith.constant 1 : i32
  // The first lane of each warp writes before a barrier that cannot be tried, and clears behind it.
  // CHECK: %[[LANE:.*]] = "fa4.index"() {what = "lane"}
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
  // CHECK: scf.if %[[FIRST]]
  // CHECK: "fa4.store"(%{{.*}}, %{{.*}}) {order = "volatile"} : (vector<4xi32>, !llvm.ptr<1>)
  // CHECK: "fa4.block_sync"
  // CHECK-NEXT: scf.if %[[FIRST]]
  // CHECK: "fa4.store"
  // PTX-LABEL: .entry recorded(
  // PTX: @%[[OTHERS:p[0-9]+]] bra
  // PTX: st.volatile.global.v4.b32
  // PTX: bar.sync 0;
  // PTX: @%[[OTHERS]] bra
  // PTX: st.volatile.global.v4.b32
  "fa4.block_sync"() : () -> ()
  // An mbarrier is tried, in order and scope as the author's wait; what is over soon writes nothing.
  // CHECK: %[[TRIED:.*]]:2 = scf.while
  // CHECK: "fa4.mbarrier_test"(%{{.*}}, %{{.*}}, %arg0) {order = "acquire", scope = "cluster", suspend = true}
  // CHECK: scf.condition
  // CHECK: %[[LATE:.*]] = arith.xori %[[TRIED]]#1
  // CHECK: scf.if %[[LATE]]
  // CHECK: "fa4.load"(%{{.*}}) {order = "volatile"} : (!llvm.ptr<3>) -> i64
  // CHECK: "fa4.store"
  // CHECK: "fa4.mbarrier_wait"(%{{.*}}, %{{.*}}, %arg0) {order = "acquire", scope = "cluster"}
  // CHECK: "fa4.store"
  // PTX: mbarrier.try_wait.parity.acquire.cluster
  // PTX: ld.volatile.shared::cta.b64
  // PTX: st.volatile.global.v4.b32
  // PTX: mbarrier.try_wait.parity.acquire.cluster
  // PTX: st.volatile.global.v4.b32
  "fa4.mbarrier_wait"(%bar, %one, %parity) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
  // PTX: bar.sync 1, 64;
  "fa4.named_barrier_sync"(%one) {threads = 64 : i64, name = "both"} : (i32) -> ()
  "fa4.cluster_arrive"() {order = "release"} : () -> ()
  // PTX: barrier.cluster.arrive
  // PTX: st.volatile.global.v4.b32
  // PTX: barrier.cluster.wait
  "fa4.cluster_wait"() {order = "acquire"} : () -> ()
  func.return
}

// What an ordinary load sees of a barrier is what memory holds: as many others are tested first. They are initialised where the kernel's own are.
// CHECK-LABEL: func.func @written_back(
// CHECK: %[[OTHERS:.*]] = "fa4.mbarrier_alloc"() {arrivals = 1 : i64, count = 64 : i64, {{.*}}name = "wait_records.others", scope = "cta"}
// CHECK: "fa4.mbarrier_init"(%[[OTHERS]])
// CHECK: scf.if
// CHECK: scf.while
// CHECK: "fa4.mbarrier_test"(%[[OTHERS]], %{{.*}}, %{{.*}}) {order = "acquire", scope = "cta", suspend = false}
// CHECK: "fa4.load"(%{{.*}}) {order = "volatile"} : (!llvm.ptr<3>) -> i64
// PTX-LABEL: .entry written_back(
// PTX: mbarrier.try_wait
// PTX: mbarrier.test_wait
// PTX: ld.volatile.shared::cta.b64
func.func @written_back(%parity: i32) attributes {fa4.kernel, fa4.debug_waits, fa4.block = array<i32: 128, 1, 1>} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cta"} : () -> !fa4.mbarrier
  %zero = arith.constant 0 : i32
  "fa4.mbarrier_init"(%bar) : (!fa4.mbarrier) -> ()
  "fa4.block_sync"() : () -> ()
  "fa4.mbarrier_wait"(%bar, %zero, %parity) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
  func.return
}
}}
