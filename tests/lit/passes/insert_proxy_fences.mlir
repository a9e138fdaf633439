// RUN: %opt --split-input insert-proxy-fences %s | FileCheck %s

// A store, a barrier of all, a TMA store by one thread: one fence, in every writing thread, before the barrier.
// CHECK-LABEL: @store_barrier_tma
// CHECK: llvm.store
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.block_sync"
// CHECK-NOT: fence_proxy_async
// CHECK: return
#tma = [{name = "map", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 1 : i64, box = array<i64: 32>}}, {name = "x", kind = "scalar", dtype = "f32"}]
module { gpu.module @kernels {
  func.func @store_barrier_tma(%map: !fa4.tensor_map, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = #tma} {
    %zero = arith.constant 0 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.block_sync"() : () -> ()
    %one = "fa4.elect"() : () -> i1
    scf.if %one {
      "fa4.tma_store"(%map, %tile, %zero, %zero) {reduce = "none", bytes = 128 : i64} : (!fa4.tensor_map, !fa4.shared, i32, i32) -> ()
    } {fa4.who = "elect"}
    return
  }
} }

// -----

// The flagship's order: staged stores and their publish round first, then the pack. One fence, before the last barrier, covers both.
// CHECK-LABEL: @two_rounds
// CHECK: llvm.store
// CHECK-NOT: fence_proxy_async
// CHECK: llvm.store
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.named_barrier_sync"
// CHECK-NOT: fence_proxy_async
// CHECK: return
module { gpu.module @kernels {
  func.func @two_rounds(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %publish = "fa4.mbarrier_alloc"() {name = "publish", count = 1 : i64, arrivals = 256 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.mbarrier_arrive_remote"(%publish, %zero, %one) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%publish, %zero, %zero) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.named_barrier_sync"(%one) {threads = 128 : i64} : (i32) -> ()
    %elected = "fa4.elect"() : () -> i1
    scf.if %elected {
      "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    }
    return
  }
} }

// -----

// Between roles: the writer's fence stands before the arrive that the reader waits for.
// CHECK-LABEL: @between_roles
// CHECK: llvm.store
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.mbarrier_arrive"
// CHECK-NOT: fence_proxy_async
// CHECK: return
module { gpu.module @kernels {
  func.func @between_roles(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    scf.execute_region {
      %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
      llvm.store %x, %p : f32, !llvm.ptr<3>
      "fa4.mbarrier_arrive"(%full, %zero) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      scf.yield
    } {fa4.role = {name = "writer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.mbarrier_wait"(%full, %zero, %zero) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      %elected = "fa4.elect"() : () -> i1
      scf.if %elected {
        "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
      }
      scf.yield
    } {fa4.role = {name = "storer", first_warp = 4 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// wgmma reads what threads wrote: the descriptor leads to the array. A loop's store meets the next iteration's wgmma too.
// CHECK-LABEL: @wgmma_in_a_loop
// CHECK: scf.for
// CHECK: "fa4.wgmma"
// CHECK: llvm.store
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.block_sync"
// CHECK-NOT: fence_proxy_async
// CHECK: return
module { gpu.module @kernels {
  func.func @wgmma_in_a_loop(%x: f32, %n: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %yes = arith.constant true
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 64, 64>, alignment = 128 : i64, swizzle = "128B"} : () -> !fa4.shared
    %d = "fa4.wgmma_descriptor"(%tile, %zero) {leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"} : (!fa4.shared, i32) -> i64
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %r:4 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %x, %c = %x, %e = %x) -> (f32, f32, f32, f32) : i32 {
      %s:4 = "fa4.wgmma"(%d, %d, %yes, %a, %b, %c, %e) {n = 8 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
      llvm.store %x, %p : f32, !llvm.ptr<3>
      "fa4.block_sync"() : () -> ()
      scf.yield %s#0, %s#1, %s#2, %s#3 : f32, f32, f32, f32
    }
    return
  }
} }

// -----

// A peer's array, written through DSMEM, is fenced in the cluster's window; the fence stands before the cluster barrier's arrive.
// CHECK-LABEL: @remote
// CHECK: llvm.store
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cluster"}
// CHECK-NEXT: "fa4.cluster_arrive"
module { gpu.module @kernels {
  func.func @remote(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %q = "fa4.peer_address"(%p, %one) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    llvm.store %x, %q : f32, !llvm.ptr<7>
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    return
  }
} }

// -----

// One warp writes and its elected lane stores: the warp's own barrier is enough, and the fence stands before it.
// CHECK-LABEL: @one_warp
// CHECK: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.warp_sync"
module { gpu.module @kernels {
  func.func @one_warp(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %all = arith.constant -1 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.warp_sync"(%all) : (i32) -> ()
    %elected = "fa4.elect"() : () -> i1
    scf.if %elected {
      "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    }
    return
  }
} }

// -----

// A ring's slot that is read by ordinary loads and refilled by another role: one fence for the release, where the reading lanes meet.
// CHECK-LABEL: @refilled_slot
// CHECK: llvm.load
// CHECK-NEXT: llvm.load
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.warp_sync"
// CHECK-NOT: fence_proxy_async
// CHECK: return
module { gpu.module @kernels {
  func.func @refilled_slot(%in: !llvm.ptr<1>, %n: i32) attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %all = arith.constant -1 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    scf.execute_region {
      scf.for %i = %zero to %n step %one : i32 {
        "fa4.mbarrier_wait"(%empty, %zero, %one) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        "fa4.bulk_load"(%tile, %zero, %in, %bytes, %full, %zero) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
      }
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
      scf.for %i = %zero to %n step %one : i32 {
        "fa4.mbarrier_wait"(%full, %zero, %zero) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        %x = llvm.load %p : !llvm.ptr<3> -> f32
        %y = llvm.load %p : !llvm.ptr<3> -> f32
        "fa4.warp_sync"(%all) : (i32) -> ()
        %elected = "fa4.elect"() : () -> i1
        scf.if %elected {
          "fa4.mbarrier_arrive"(%empty, %zero) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// A slot that the CTAs of a cluster fill for each other: lane r frees it in the CTA of rank r, after the fence of every reading lane.
// CHECK-LABEL: @refilled_by_the_cluster
// CHECK: llvm.load
// CHECK-NEXT: "fa4.fence_proxy_async"() {inserted = true, space = "shared::cta"}
// CHECK-NEXT: "fa4.warp_sync"
// CHECK-NOT: fence_proxy_async
// CHECK: return
module { gpu.module @kernels {
  func.func @refilled_by_the_cluster(%in: !llvm.ptr<1>, %n: i32) attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %both = arith.constant 3 : i16
    %all = arith.constant -1 : i32
    %bytes = arith.constant 64 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 2 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    scf.execute_region {
      scf.for %i = %zero to %n step %one : i32 {
        "fa4.mbarrier_wait"(%empty, %zero, %one) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
        "fa4.bulk_load_multicast"(%tile, %zero, %in, %bytes, %full, %zero, %both) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32, i16) -> ()
      }
      scf.yield
    } {fa4.role = {first_warp = 0 : i32, name = "producer", registers = 0 : i32, warps = 1 : i32}}
    scf.execute_region {
      %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
      %lane = "fa4.index"() {what = "lane"} : () -> i32
      %frees = arith.cmpi slt, %lane, %two : i32
      scf.for %i = %zero to %n step %one : i32 {
        "fa4.mbarrier_wait"(%full, %zero, %zero) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        %x = llvm.load %p : !llvm.ptr<3> -> f32
        "fa4.warp_sync"(%all) : (i32) -> ()
        scf.if %frees {
          "fa4.mbarrier_arrive_remote"(%empty, %zero, %lane) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {first_warp = 1 : i32, name = "consumer", registers = 0 : i32, warps = 1 : i32}}
    return
  }
} }
