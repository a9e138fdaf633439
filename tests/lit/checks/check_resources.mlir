// RUN: %opt --split-input check-resources %s | FileCheck %s

// The kernels of check_resources_errors.mlir, mended: each passes and is printed as it was.

// CHECK-LABEL: @too_many_threads
module { gpu.module @kernels {
  func.func @too_many_threads() attributes {fa4.kernel, fa4.block = array<i32: 1024, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    return
  }
} }

// -----

// CHECK-LABEL: @cluster_too_large_for_the_target
module { gpu.module @kernels {
  func.func @cluster_too_large_for_the_target() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %rank = "fa4.index"() {what = "cluster.rank"} : () -> i32
    %peer = arith.subi %c1, %rank : i32
    return
  }
} }

// -----

// CHECK-LABEL: @an_alignment_too_small_for_the_swizzle
module { gpu.module @kernels {
  func.func @an_alignment_too_small_for_the_swizzle() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 64, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    return
  }
} }

// -----

// CHECK-LABEL: @setmaxnreg_in_the_wrong_direction
module { gpu.module @kernels {
  func.func @setmaxnreg_in_the_wrong_direction() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.set_max_registers"() {count = 40 : i64, direction = "decrease"} : () -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @more_registers_than_the_cta_has
module { gpu.module @kernels {
  func.func @more_registers_than_the_cta_has() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.set_max_registers"() {count = 24 : i64, direction = "decrease"} : () -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.set_max_registers"() {count = 240 : i64, direction = "increase"} : () -> ()
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 4 : i32, warps = 8 : i32, registers = 0 : i32}}
    return
  }
} }
