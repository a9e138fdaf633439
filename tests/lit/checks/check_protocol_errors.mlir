// RUN: %opt --split-input --expect-error check-protocol %s | FileCheck %s

// One fault each; check_protocol.mlir holds the same kernels mended.

// CHECK: error[C100]: mbarrier 'ready' is declared for 128 arrivals a phase, and 1 come: 1 by thread 0
// CHECK: mend: declare the barrier with arrivals=1, or let exactly 128 threads arrive
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
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

// CHECK: error[C101]: mbarrier 'full' expects 256 bytes a phase, and 512 come (bulk_load)
// CHECK: mend: expect exactly the bytes that land in this CTA: 512
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
      "fa4.mbarrier_arrive_expect_tx"(%full, %c0, %c256) {order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.bulk_load"(%tile, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C102]: mbarrier 'full' is told of bytes, but none of its 1 arrivals ever comes
// CHECK: mend: use arrive with expect (one arrival and the bytes) instead of expect alone
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
      "fa4.mbarrier_expect_tx"(%full, %c0, %c512) {scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.bulk_load"(%tile, %c0, %source, %c512, %full, %c0) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
    }
    "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C103]: somebody waits for mbarrier 'ready', and no thread of the cluster ever arrives at it (it needs 1 arrivals)
// CHECK: mend: arrive at 'ready', or drop the wait
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
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C104]: the wait for mbarrier 'full' waits a second time for a phase that it has already seen: the parity does not alternate
// CHECK: mend: start a producer at parity 1 and a consumer at parity 0, and flip the parity each time the ring has gone round once
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
        "fa4.mbarrier_wait"(%full, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
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

// CHECK: error[C105]: mbarrier 'full' completes 1 phase, and all 32 threads of role 'consumer' wait for 2: the arriving side ends first
// CHECK: mend: give both roles the same trip count, or let the last turn neither wait nor arrive
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
        scf.for %i = %c0 to %c1 step %c1 : i32 {
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

// CHECK: error[C106]: nobody can go on: all 32 threads of role 'left' waits for 'pong'; all 32 threads of role 'right' waits for 'ping'
// CHECK: mend: let one of them go first: a producer waits for an empty slot with parity 1, which passes on a fresh barrier; or swap arrive and wait in one of the roles
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
      "fa4.mbarrier_wait"(%pong, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      scf.if %first {
        "fa4.mbarrier_arrive"(%ping, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      }
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

// CHECK: error[C107]: mbarrier 'step' completes a phase although nobody has waited for the one before it
// CHECK: mend: wait, before arriving again, for a barrier by which the waiters say that they have seen the phase
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
    "fa4.mbarrier_init"(%step) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    scf.if %first {
      "fa4.mbarrier_arrive"(%step, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      "fa4.mbarrier_arrive"(%step, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    }
    scf.if %second {
      "fa4.mbarrier_wait"(%step, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      "fa4.mbarrier_wait"(%step, %c0, %c1) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    }
    return
  }
} }

// -----

// CHECK: error[C108]: all 128 threads use mbarrier 'ready', which is never initialised
// CHECK: mend: initialise 'ready' at the kernel's start, then let all threads meet (a CTA barrier; a cluster barrier where peers arrive)
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
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C109]: all 128 threads use mbarrier 'ready' without having met thread 0 since it initialised the barrier
// CHECK: mend: let all threads meet between the two: a CTA barrier, or a cluster barrier where peers arrive too
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
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C110]: mbarrier 'ready' is initialised again while it lives
// CHECK: mend: invalidate it first, or initialise once before the loop and follow its phases
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
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C111]: all 128 threads of every CTA use mbarrier 'ready' of a peer CTA, and no cluster barrier lies between its initialisation and this use
// CHECK: mend: put a cluster barrier (arrive and wait by all threads) between the initialisation and the first remote use
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
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK: error[C112]: mbarrier 'ready' is a group of 1; index 1 is outside
// CHECK: mend: keep the index in 0 to 1 - 1 (a ring wraps round after its last slot)
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
    %ready = "fa4.mbarrier_alloc"() {name = "ready", count = 1 : i64, arrivals = 128 : i64, scope = "cta"} : () -> !fa4.mbarrier
    "fa4.mbarrier_init"(%ready) : (!fa4.mbarrier) -> ()
    "fa4.block_sync"() : () -> ()
    "fa4.mbarrier_arrive"(%ready, %c1) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C113]: 'ready' is reached in CTA 32 of a cluster of 2
// CHECK: mend: take ranks from 0 to 2 - 1
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
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c32) {count = 1 : i64, order = "release", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK: error[C114]: all 32 threads of role 'producer' wait at the CTA barrier, and threads 32 to 63 never come to it
// CHECK: mend: use a named barrier with the number of threads that take part, or move the CTA barrier out of the role or branch
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
      "fa4.block_sync"() : () -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C115]: named barrier 1 (id 1): it counts 64 threads, and only 32 come to it
// CHECK: mend: give every user of this id the same count, the sum of the threads that sync and arrive
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
      "fa4.named_barrier_sync"(%c1) {threads = 64 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C116]: named barrier 1 (id 1) is used by all 32 threads of role 'right' and, with no order between them, by all 32 threads of role 'left'
// CHECK: mend: give each group of threads an id of its own (1 to 15)
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
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "left", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    scf.execute_region {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
      scf.yield
    } {fa4.role = {name = "right", first_warp = 1 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C117]: at the cluster barrier, all 128 threads of every CTA waits without having arrived
// CHECK: mend: pair them: every thread arrives once, then waits once
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
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    return
  }
} }

// -----

// CHECK: error[C118]: named barrier 0: the id must be 1 to 15, and 0 is the CTA barrier
// CHECK: mend: use an id from 1 to 15
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
    "fa4.named_barrier_sync"(%c0) {threads = 128 : i64} : (i32) -> ()
    return
  }
} }

// -----

// CHECK: error[C120]: all 128 threads of every CTA touch 'stage' of a peer CTA, and no cluster barrier before it says that the peer has started
// CHECK: mend: put a cluster barrier at the kernel's start, before the first remote access
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
    %own = "fa4.shared_address"(%stage, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %there = "fa4.peer_address"(%own, %peer) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    %loaded = llvm.load %there : !llvm.ptr<7> -> f32
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK: error[C121]: all 128 threads of every CTA touch 'stage' of a peer CTA, which may exit before the access: no cluster barrier follows
// CHECK: mend: end the kernel with a cluster barrier that all threads reach after the last remote access
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
    return
  }
} }

// -----

// CHECK: error[C122]: named_barrier_sync needs whole warps, and 1 of 32 threads of warp 0 execute it
// CHECK: mend: move it out of the branch that splits the warp
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
    scf.if %first {
      "fa4.named_barrier_sync"(%c1) {threads = 32 : i64} : (i32) -> ()
    }
    return
  }
} }

// -----

// CHECK: error[C123]: wgmma_commit needs whole warpgroups, and 32 of 128 threads of the warpgroup of warps 0 to 3 execute it
// CHECK: mend: let all four warps of the warpgroup execute it; a role that uses it starts at a warp that is a multiple of 4
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
    } {fa4.role = {name = "first", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C124]: the slot of 'slot' is released (arrive on 'empty') before the wgmma that reads it is waited for
// CHECK: mend: put wgmma_wait before the arrive, with a `pending` small enough to cover that wgmma
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
      scf.if %first {
        "fa4.mbarrier_arrive"(%empty, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
      }
      %done:4 = "fa4.wgmma_wait"(%sums#0, %sums#1, %sums#2, %sums#3) {pending = 0 : i64} : (f32, f32, f32, f32) -> (f32, f32, f32, f32)
      "fa4.mbarrier_wait"(%full, %c0, %c1) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
      scf.yield
    } {fa4.role = {name = "consumer", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
    return
  }
} }

// -----

// CHECK: error[C125]: a copy fills 'slot' of this CTA again, and nothing says that the last contents have been read
// CHECK: mend: wait, before the copy, for a barrier at which every reader arrives after its last read; readers in other CTAs arrive remotely
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

// CHECK: error[C127]: all 128 threads of every CTA arrive at mbarrier 'ready' of a peer with scope cta: what they did before is not released to the peer
// CHECK: mend: arrive with scope "cluster" (mbarrier.arrive.release.cluster)
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
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c0) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_arrive_remote"(%ready, %c0, %c1) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cluster"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }

// -----

// CHECK: error[C128]: the wait for mbarrier 'ready' has scope cta, and peers publish data by arriving at it
// CHECK: mend: wait with scope "cluster" (mbarrier.try_wait.acquire.cluster)
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
    "fa4.mbarrier_wait"(%ready, %c0, %c0) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()
    "fa4.cluster_arrive"() {order = "release"} : () -> ()
    "fa4.cluster_wait"() {order = "acquire"} : () -> ()
    return
  }
} }
