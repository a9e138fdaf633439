// RUN: %opt fa4-verify,place-shared-memory,lower-fa4,fa4-to-llvm,emit-ptx %s | FileCheck %s

// The condition guards two stores around a barrier. LLVM could make two copies of the barrier, one for each outcome; a barrier that
// only some threads reach would hang. Inline PTX of collective instructions is marked convergent, so there is one copy.

// CHECK: bar.sync 1, 128;
// CHECK-NOT: bar.sync
module { gpu.module @kernels {
func.func @kernel(%p: !llvm.ptr<1>, %n: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tid = "fa4.index"() {what = "thread.x"} : () -> i32
  %few = arith.cmpi slt, %tid, %n : i32
  %id = arith.constant 1 : i32
  scf.if %few { llvm.store %tid, %p : i32, !llvm.ptr<1> }
  "fa4.named_barrier_sync"(%id) {threads = 128 : i64} : (i32) -> ()
  scf.if %few { llvm.store %n, %p : i32, !llvm.ptr<1> }
  return
}
} }
