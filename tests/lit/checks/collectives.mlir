// RUN: %opt --split-input fa4-verify,check-protocol %s | FileCheck %s

// The kernels of collectives_errors.mlir with branches that take whole warps, or that only a run decides.

// CHECK-LABEL: @whole_shuffle
module { gpu.module @kernels { func.func @whole_shuffle() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.shuffle"(%thread, %c0) {mode = "idx", width = 32 : i64} : (i32, i32) -> i32
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_vote
module { gpu.module @kernels { func.func @whole_vote() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.vote"(%odd) {mode = "any"} : (i1) -> i1
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_warp_reduce
module { gpu.module @kernels { func.func @whole_warp_reduce() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.warp_reduce"(%thread) {kind = "add"} : (i32) -> i32
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_match
module { gpu.module @kernels { func.func @whole_match() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.match"(%thread) {mode = "any"} : (i32) -> i32
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_mma
module { gpu.module @kernels { func.func @whole_mma() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r:4 = "fa4.mma"(%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0) {shape = "m16n8k16", a_type = "bf16", b_type = "bf16", c_type = "f32", d_type = "f32"} : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32)
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_load_matrix
module { gpu.module @kernels { func.func @whole_load_matrix() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.load_matrix"(%row) {count = 1 : i64, transpose = false} : (!llvm.ptr<3>) -> i32
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_store_matrix
module { gpu.module @kernels { func.func @whole_store_matrix() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      "fa4.store_matrix"(%row, %thread) {transpose = false} : (!llvm.ptr<3>, i32) -> ()
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_warp_sync
module { gpu.module @kernels { func.func @whole_warp_sync() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %all = arith.constant -1 : i32
      "fa4.warp_sync"(%all) : (i32) -> ()
    }
    return
} } }

// -----

// CHECK-LABEL: @whole_elect
module { gpu.module @kernels { func.func @whole_elect() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c48 = arith.constant 48 : i32
    %c64 = arith.constant 64 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 1024>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    %row = "fa4.shared_address"(%tile, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %bit = arith.andi %thread, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %some = arith.cmpi ult, %thread, %c64 : i32
    scf.if %some {
      %r = "fa4.elect"() : () -> i1
    }
    return
} } }

// -----

// CHECK-LABEL: @decided_by_data
module { gpu.module @kernels { func.func @decided_by_data(%limit: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "limit", kind = "scalar", dtype = "i32"}]} {
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %some = arith.cmpi ult, %thread, %limit : i32
    scf.if %some {
      %r = "fa4.warp_reduce"(%thread) {kind = "add"} : (i32) -> i32
    }
    return
} } }
