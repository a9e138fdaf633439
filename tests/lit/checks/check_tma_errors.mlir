// RUN: %opt --split-input --expect-error check-tma %s | FileCheck %s

// One fault each; check_tma.mlir holds the same kernels mended.

// CHECK: error[C160]: tensor map 'tiles' has rank 6 and the box 64 x 8 x 1 x 1 x 1 x 1; a rank is 1 to 5, and the box has as many entries
// CHECK: mend: fold dimensions until at most 5 are left, and give one box extent for each
module { gpu.module @kernels {
  func.func @a_tensor_map_s_rank(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 6 : i64, box = array<i64: 64, 8, 1, 1, 1, 1>, swizzle = "none"}}]} {
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

// CHECK: error[C161]: tensor map 'tiles' has rank 2, and the copy gives 3 coordinates
// CHECK: mend: give one coordinate for each dimension, innermost first
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
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C162]: tensor map 'tiles': the box has extent 512 in dimension 1; 1 to 256 is legal
// CHECK: mend: load the tile with several boxes of at most 256 elements a dimension
module { gpu.module @kernels {
  func.func @a_box_extent_outside_1_to_256(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 2 : i64, box = array<i64: 8, 512>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 512, 8>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 16384 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 16384 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C163]: tensor map 'tiles': a row of the box has 4 x bf16 = 8 bytes, which is no multiple of 16
// CHECK: mend: widen the box's innermost extent until its row is a multiple of 16 bytes
module { gpu.module @kernels {
  func.func @the_box_s_rows_are_no_multiple_of_16_bytes(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 4, 8>, swizzle = "none"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 4>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 64 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 64 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C164]: tensor map 'tiles': a row of the box has 256 bytes, and swizzle 128B spans 128
// CHECK: mend: make the innermost extent 64 elements and load several boxes for more, or choose another swizzle
module { gpu.module @kernels {
  func.func @the_box_s_rows_are_wider_than_the_swizzle(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 128, 8>, swizzle = "128B"}}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 128>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 2048 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 2048 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C165]: tensor map 'tiles': the copy says 512 bytes, and its box of 64 x 8 bf16 has 1024
// CHECK: mend: say bytes = 1024
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
    %bytes = arith.constant 512 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c0, %full, %c0, %c0, %c0) {bytes = 512 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C166]: tensor map 'tiles' writes with swizzle 64B, and array 'tile' is read with swizzle 128B
// CHECK: mend: give the map and the array one swizzle
module { gpu.module @kernels {
  func.func @the_map_s_swizzle_is_not_the_array_s(%tiles: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "tiles", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 32, 16>, swizzle = "64B"}}]} {
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

// CHECK: error[C167]: wgmma reads array 'tile' with swizzle 64B, and the array has swizzle 128B
// CHECK: mend: give the descriptor the array's swizzle
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
    %matrix = "fa4.wgmma_descriptor"(%tile, %c0) {leading = 16 : i64, stride = 1024 : i64, swizzle = "64B"} : (!fa4.shared, i32) -> i64
    "fa4.wgmma_fence"() : () -> ()
    %sums:4 = "fa4.wgmma"(%matrix, %matrix, %yes, %zero, %zero, %zero, %zero) {n = 8 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    "fa4.wgmma_commit"() : () -> ()
    %done:4 = "fa4.wgmma_wait"(%sums#0, %sums#1, %sums#2, %sums#3) {pending = 0 : i64} : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
    return
  }
} }

// -----

// CHECK: error[C168]: tma_load at byte 512 of 'tile' (swizzle 128B): the place must be a multiple of 1024
// CHECK: mend: put the tile at a multiple of 1024 bytes (make a ring's slot a multiple of it)
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
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 16, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 1024 : i32
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.tma_load"(%tiles, %tile, %c512, %full, %c0, %c0, %c0) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C169]: tma_load covers bytes 0 to 1024 of 'tile', which has 512
// CHECK: mend: make the array larger, or the copy smaller
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
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 4, 64>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
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
