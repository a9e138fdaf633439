// RUN: %opt --split-input check-protocol %s | FileCheck %s

// The kernels of check_protocol_errors.mlir, mended: each passes and is printed as it was.

// CHECK-LABEL: @arrivals_do_not_match_the_barrier_s_count
module { gpu.module @kernels {
  func.func @arrivals_do_not_match_the_barrier_s_count() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @expected_bytes_are_not_the_bytes_that_come
module { gpu.module @kernels {
  func.func @expected_bytes_are_not_the_bytes_that_come(%source: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.bulk_load"(%tile, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @bytes_are_expected_but_nobody_arrives
module { gpu.module @kernels {
  func.func @bytes_are_expected_but_nobody_arrives(%source: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.bulk_load"(%tile, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_wait_that_nobody_can_satisfy
module { gpu.module @kernels {
  func.func @a_wait_that_nobody_can_satisfy() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_wait_with_the_wrong_parity
module { gpu.module @kernels {
  func.func @a_wait_with_the_wrong_parity(%source: !llvm.ptr<1>, %trips: i32, %other: i32) attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %slot = "fa4.shared_alloc"() {name = "slot", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%empty) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.execute_region {
      scf.if %first {
        scf.for %i = %c0 to %trips step %c1 : i32 {
          %phase = arith.andi %i, %c1 : i32
          %fresh = arith.xori %phase, %c1 : i32
          "fa4.mbarrier_wait"(%empty, %c0, %fresh) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.bulk_load"(%slot, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      scf.for %i = %c0 to %trips step %c1 : i32 {
        %phase = arith.andi %i, %c1 : i32
        %fresh = arith.xori %phase, %c1 : i32
        "fa4.mbarrier_wait"(%full, %c0, %phase) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        scf.if %second {
          "fa4.mbarrier_arrive"(%empty, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @the_two_ends_of_a_barrier_run_a_different_number_of_times
module { gpu.module @kernels {
  func.func @the_two_ends_of_a_barrier_run_a_different_number_of_times(%source: !llvm.ptr<1>, %trips: i32, %other: i32) attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %slot = "fa4.shared_alloc"() {name = "slot", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%empty) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.execute_region {
      scf.if %first {
        scf.for %i = %c0 to %trips step %c1 : i32 {
          %phase = arith.andi %i, %c1 : i32
          %fresh = arith.xori %phase, %c1 : i32
          "fa4.mbarrier_wait"(%empty, %c0, %fresh) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.bulk_load"(%slot, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      scf.for %i = %c0 to %trips step %c1 : i32 {
        %phase = arith.andi %i, %c1 : i32
        %fresh = arith.xori %phase, %c1 : i32
        "fa4.mbarrier_wait"(%full, %c0, %phase) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        scf.if %second {
          "fa4.mbarrier_arrive"(%empty, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @roles_wait_for_each_other_in_a_circle
module { gpu.module @kernels {
  func.func @roles_wait_for_each_other_in_a_circle() attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ping = "fa4.mbarrier_alloc"() {name = "ping", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %pong = "fa4.mbarrier_alloc"() {name = "pong", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ping) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%pong) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.execute_region {
      scf.if %first {
        "fa4.mbarrier_arrive"(%ping, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      }
      "fa4.mbarrier_wait"(%pong, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      scf.yield
    } {fa4.role = {name = "left", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.mbarrier_wait"(%ping, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      scf.if %second {
        "fa4.mbarrier_arrive"(%pong, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      }
      scf.yield
    } {fa4.role = {name = "right", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @a_phase_completes_before_anybody_has_waited_for_the_last_one
module { gpu.module @kernels {
  func.func @a_phase_completes_before_anybody_has_waited_for_the_last_one() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %step = "fa4.mbarrier_alloc"() {name = "step", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %seen = "fa4.mbarrier_alloc"() {name = "seen", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%step) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%seen) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive"(%step, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      "fa4.mbarrier_wait"(%seen, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.mbarrier_arrive"(%step, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    }
    scf.if %second {
      "fa4.mbarrier_wait"(%step, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.mbarrier_arrive"(%seen, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      "fa4.mbarrier_wait"(%step, %c0, %c1) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    }
    return
  }
} }

// -----

// CHECK-LABEL: @a_barrier_that_is_never_initialised
module { gpu.module @kernels {
  func.func @a_barrier_that_is_never_initialised() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_barrier_is_used_before_its_initialisation_is_known
module { gpu.module @kernels {
  func.func @a_barrier_is_used_before_its_initialisation_is_known() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_barrier_is_initialised_twice
module { gpu.module @kernels {
  func.func @a_barrier_is_initialised_twice() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_peer_s_barrier_is_used_before_its_initialisation_is_known
module { gpu.module @kernels {
  func.func @a_peer_s_barrier_is_used_before_its_initialisation_is_known() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 256 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @an_index_outside_a_group_of_barriers
module { gpu.module @kernels {
  func.func @an_index_outside_a_group_of_barriers() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 2 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c1) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c1, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_rank_outside_the_cluster
module { gpu.module @kernels {
  func.func @a_rank_outside_the_cluster() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 256 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_cta_barrier_that_not_all_threads_reach
module { gpu.module @kernels {
  func.func @a_cta_barrier_that_not_all_threads_reach() attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @a_named_barrier_s_count_is_not_its_number_of_threads
module { gpu.module @kernels {
  func.func @a_named_barrier_s_count_is_not_its_number_of_threads() attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @two_users_of_one_named_barrier
module { gpu.module @kernels {
  func.func @two_users_of_one_named_barrier() attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %c2 = arith.constant 2 : i32
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "left", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.named_barrier_sync"(%c2) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "right", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @cluster_arrive_and_wait_out_of_step
module { gpu.module @kernels {
  func.func @cluster_arrive_and_wait_out_of_step() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @not_an_id_of_a_named_barrier
module { gpu.module @kernels {
  func.func @not_an_id_of_a_named_barrier() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    "fa4.named_barrier_sync"(%c1) {threads = 128 : i64} : (i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_peer_may_not_have_started_yet
module { gpu.module @kernels {
  func.func @a_peer_may_not_have_started_yet() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %stage = "fa4.shared_alloc"() {name = "stage", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    %own = "fa4.shared_address"(%stage, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %there = "fa4.peer_address"(%own, %peer) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    %loaded = llvm.load %there : !llvm.ptr<7> -> f32
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_peer_may_have_exited
module { gpu.module @kernels {
  func.func @a_peer_may_have_exited() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %stage = "fa4.shared_alloc"() {name = "stage", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    %own = "fa4.shared_address"(%stage, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %there = "fa4.peer_address"(%own, %peer) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    %loaded = llvm.load %there : !llvm.ptr<7> -> f32
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @only_part_of_a_warp_at_a_warp_wide_operation
module { gpu.module @kernels {
  func.func @only_part_of_a_warp_at_a_warp_wide_operation() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "first", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @only_part_of_a_warpgroup_at_a_warpgroup_wide_operation
module { gpu.module @kernels {
  func.func @only_part_of_a_warpgroup_at_a_warpgroup_wide_operation() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    scf.execute_region {
      "fa4.wgmma_fence"() : () -> ()
      "fa4.wgmma_commit"() : () -> ()
      scf.yield
    } {fa4.role = {name = "first", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @a_slot_is_released_while_a_wgmma_still_reads_it
module { gpu.module @kernels {
  func.func @a_slot_is_released_while_a_wgmma_still_reads_it(%source: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 160, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %slot = "fa4.shared_alloc"() {name = "slot", dtype = bf16, shape = array<i64: 64, 64>, alignment = 1024 : i64, swizzle = "128B"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%empty) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    %bytes = arith.constant 8192 : i32
    %c128 = arith.constant 128 : i32
    %first4 = arith.cmpi eq, %thread, %c128 : i32
    scf.execute_region {
      scf.if %first4 {
        "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        "fa4.bulk_load"(%slot, %c0, %source, %bytes, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
        "fa4.mbarrier_wait"(%empty, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %bytes) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        "fa4.bulk_load"(%slot, %c0, %source, %bytes, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
      }
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 4 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      %zero = arith.constant 0.0 : f32
      %yes = arith.constant true
      %matrix = "fa4.wgmma_descriptor"(%slot, %c0) {leading = 16 : i64, stride = 1024 : i64, swizzle = "128B"} : (!fa4.shared, i32) -> i64
      "fa4.wgmma_fence"() : () -> ()
      %sums:4 = "fa4.wgmma"(%matrix, %matrix, %yes, %zero, %zero, %zero, %zero) {n = 8 : i64, a_type = "bf16", b_type = "bf16", d_type = "f32", a_major = "k", b_major = "k", negate_a = false, negate_b = false} : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
      "fa4.wgmma_commit"() : () -> ()
      %done:4 = "fa4.wgmma_wait"(%sums#0, %sums#1, %sums#2, %sums#3) {pending = 0 : i64} : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
      scf.if %first {
        "fa4.mbarrier_arrive"(%empty, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      }
      "fa4.mbarrier_wait"(%full, %c0, %c1) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @a_slot_is_filled_again_before_its_reader_has_let_go
module { gpu.module @kernels {
  func.func @a_slot_is_filled_again_before_its_reader_has_let_go(%source: !llvm.ptr<1>, %trips: i32, %other: i32) attributes {fa4.kernel, fa4.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %slot = "fa4.shared_alloc"() {name = "slot", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.mbarrier_init"(%empty) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.execute_region {
      scf.if %first {
        scf.for %i = %c0 to %c32 step %c1 : i32 {
          %phase = arith.andi %i, %c1 : i32
          %fresh = arith.xori %phase, %c1 : i32
          "fa4.mbarrier_wait"(%empty, %c0, %fresh) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
          "fa4.bulk_load"(%slot, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      scf.for %i = %c0 to %c32 step %c1 : i32 {
        %phase = arith.andi %i, %c1 : i32
        %fresh = arith.xori %phase, %c1 : i32
        "fa4.mbarrier_wait"(%full, %c0, %phase) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
        scf.if %second {
          "fa4.mbarrier_arrive"(%empty, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
        }
      }
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK-LABEL: @one_copy_issued_by_many_threads
module { gpu.module @kernels {
  func.func @one_copy_issued_by_many_threads(%source: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %thread = "fa4.index"() {what = "thread.x"} : () -> i32
    %first = arith.cmpi eq, %thread, %c0 : i32
    %second = arith.cmpi eq, %thread, %c32 : i32
    %full = "fa4.mbarrier_alloc"() {name = "full", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c512) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.bulk_load"(%tile, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_remote_arrive_at_cta_scope
module { gpu.module @kernels {
  func.func @a_remote_arrive_at_cta_scope() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 256 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK-LABEL: @a_wait_at_cta_scope_for_what_a_peer_did
module { gpu.module @kernels {
  func.func @a_wait_at_cta_scope_for_what_a_peer_did() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>} {
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 256 : i64, scope = "cluster"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    %stage = "fa4.shared_alloc"() {name = "stage", dtype = f32, shape = array<i64: 128>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    %own = "fa4.shared_address"(%stage, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %there = "fa4.peer_address"(%own, %peer) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    llvm.store %thread, %there : i32, !llvm.ptr<7>
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }
