// RUN: %opt --split-input check-tma %s | FileCheck %s

// The kernels of check_tma_errors.mlir, mended: each passes and is printed as it was.

// CHECK-LABEL: @a_tensor_map_s_rank
module { gpu.module @kernels {
  func.func @a_tensor_map_s_rank(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @coordinates_do_not_match_the_map_s_rank
module { gpu.module @kernels {
  func.func @coordinates_do_not_match_the_map_s_rank(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_box_extent_outside_1_to_256
module { gpu.module @kernels {
  func.func @a_box_extent_outside_1_to_256(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 2 : i64, box = array<i64: 8, 256>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256, 8>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 8192 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 8192 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @the_box_s_rows_are_no_multiple_of_16_bytes
module { gpu.module @kernels {
  func.func @the_box_s_rows_are_no_multiple_of_16_bytes(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 8, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 8>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 128 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 128 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @the_box_s_rows_are_wider_than_the_swizzle
module { gpu.module @kernels {
  func.func @the_box_s_rows_are_wider_than_the_swizzle(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "128B"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @the_copy_s_bytes_are_not_its_box
module { gpu.module @kernels {
  func.func @the_copy_s_bytes_are_not_its_box(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @the_map_s_swizzle_is_not_the_array_s
module { gpu.module @kernels {
  func.func @the_map_s_swizzle_is_not_the_array_s(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "128B"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @the_descriptor_s_swizzle_is_not_the_array_s
module { gpu.module @kernels {
  func.func @the_descriptor_s_swizzle_is_not_the_array_s() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 64, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %zero = arith.constant 0.0 : f32
    %yes = arith.constant true
    %matrix = "fa4.wgmma_descriptor"(%tile, %c0) {leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"} : (!fa4.shared, i32) -> i64
    "fa4.wgmma_fence"() : () -> ()
    %sums:4 = "fa4.wgmma"(%matrix, %matrix, %yes, %zero, %zero, %zero, %zero) {n = 8 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    "fa4.wgmma_commit"() : () -> ()
    %done:4 = "fa4.wgmma_wait"(%sums#0, %sums#1, %sums#2, %sums#3) {pending = 0 : i64} : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
    return
  }
} }

// -----

// CHECK-LABEL: @a_copy_to_a_place_that_is_not_aligned
module { gpu.module @kernels {
  func.func @a_copy_to_a_place_that_is_not_aligned(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "128B"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_copy_beyond_the_array
module { gpu.module @kernels {
  func.func @a_copy_beyond_the_array(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }
