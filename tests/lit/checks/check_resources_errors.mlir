// RUN: %opt --split-input --expect-error check-resources %s | FileCheck %s

// One fault each; check_resources.mlir holds the same kernels mended.

// CHECK: error[C140]: kernel {{.*}} has 2048 threads a CTA; 1024 is the most
// CHECK: mend: use at most 1024 threads
module { gpu.module @kernels {
  func.func @too_many_threads() attributes {fa4.kernel, fa4.block = array<i32: 2048, 1, 1>} {
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

// CHECK: error[C141]: kernel {{.*}} has a cluster of 32 CTAs; sm_90a has at most 16
// CHECK: mend: use at most 16 CTAs, or split the work over two clusters
module { gpu.module @kernels {
  func.func @cluster_too_large_for_the_target() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 32, 1, 1>} {
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

// CHECK: error[C143]: array 'tile' asks for 512-byte alignment, and swizzle 128B needs 1024
// CHECK: mend: align the array to 1024 bytes, or leave the alignment out
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
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 64, 64>, alignment = 512 : i64, swizzle = "128B"} : () -> !fa4.shared
    return
  }
} }

// -----

// CHECK: error[C145]: set_max_registers increases to 40, and the threads have 168
// CHECK: mend: decrease instead, or choose another count
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
      "fa4.set_max_registers"() {count = 40 : i64, direction = "increase"} : () -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C146]: the registers set by hand sum to 81920 (producer 128 x 160 + consumer 256 x 240), and the CTA has 64512 (384 threads x 168 at launch)
// CHECK: mend: lower the counts until the sum fits 64512
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
      "fa4.set_max_registers"() {count = 160 : i64, direction = "decrease"} : () -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.set_max_registers"() {count = 240 : i64, direction = "increase"} : () -> ()
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 4 : i32, warps = 8 : i32, registers = 0 : i32}}
    return
  }
} }
