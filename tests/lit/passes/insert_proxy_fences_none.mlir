// RUN: %opt --split-input insert-proxy-fences %s | FileCheck %s --implicit-check-not inserted

// Cases that need no fence, or whose author took over.

// Only the async proxy: TMA writes, TMA reads.
// CHECK-LABEL: @async_only
#maps = [{name = "map", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 1 : i64, box = array<i64: 32>}}]
module { gpu.module @kernels {
  func.func @async_only(%map: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = #maps} {
    %zero = arith.constant 0 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.tma_load"(%map, %tile, %zero, %full, %zero, %zero) {bytes = 128 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%full, %zero, %zero) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.tma_store"(%map, %tile, %zero, %zero) {reduce = "none", bytes = 128 : i64} : (!fa4.tensor_map, !fa4.shared, i32, i32) -> ()
    return
  }
} }

// -----

// The author's own fence is there already.
// CHECK-LABEL: @by_hand
module { gpu.module @kernels {
  func.func @by_hand(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.fence_proxy_async"() {space = "shared::cta"} : () -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    return
  }
} }

// -----

// Two arrays that share no memory.
// CHECK-LABEL: @other_array
module { gpu.module @kernels {
  func.func @other_array(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %other = "fa4.shared_alloc"() {name = "other", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%other, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.block_sync"() : () -> ()
    "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    return
  }
} }

// -----

// The writes come after the async read.
// CHECK-LABEL: @after
module { gpu.module @kernels {
  func.func @after(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    "fa4.block_sync"() : () -> ()
    llvm.store %x, %p : f32, !llvm.ptr<3>
    return
  }
} }

// -----

// fences = manual.
// CHECK-LABEL: @manual
module { gpu.module @kernels {
  func.func @manual(%out: !llvm.ptr<1>, %x: f32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.fences = "manual"} {
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 128 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %p = "fa4.shared_address"(%tile, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
    llvm.store %x, %p : f32, !llvm.ptr<3>
    "fa4.block_sync"() : () -> ()
    "fa4.bulk_store"(%out, %tile, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
    return
  }
} }
