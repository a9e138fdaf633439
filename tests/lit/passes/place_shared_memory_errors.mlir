// RUN: %opt --expect-error --split-input fa4-verify,place-shared-memory %s | FileCheck %s

// CHECK: error[C025]: kernel big needs 240,016 bytes of shared memory, 7,568 more than the 232,448 that a CTA of sm_90a can have; largest: second (160,000 bytes), first (80,000 bytes), done (8 bytes)
// CHECK-NEXT: place_shared_memory_errors.mlir:[[# @LINE + 5]]:{{[0-9]+}} (the largest)
// CHECK: place_shared_memory_errors.mlir:[[# @LINE + 2]]:{{[0-9]+}} (the kernel)
module { gpu.module @kernels {
  func.func @big() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %a = "fa4.shared_alloc"() {name = "first", dtype = f32, shape = array<i64: 20000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %b = "fa4.shared_alloc"() {name = "second", dtype = f32, shape = array<i64: 40000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %c = "fa4.mbarrier_alloc"() {name = "done", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    return
  }
} }

// -----

// CHECK: error[C010]: the name 'tile' is given to two shared objects
module { gpu.module @kernels {
  func.func @twice() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %a = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 2>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %b = "fa4.mbarrier_alloc"() {name = "tile", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    return
  }
} }

// -----

// CHECK: error[C011]: 'tile' overlays 'stage', which is no array declared before it (known: none)
module { gpu.module @kernels {
  func.func @overlay() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %a = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 2>, alignment = 16 : i64, swizzle = "none", overlay = "stage"} : () -> !fa4.shared
    return
  }
} }
