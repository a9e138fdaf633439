// RUN: %opt --expect-error --split-input lower-fa4,fa4-to-llvm,emit-ptx %s | FileCheck %s

// CHECK: error[C015]: gpu.barrier is left after all lowering passes
module { gpu.module @kernels {
func.func @kernel(%i: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  gpu.barrier
  return
}
} }

// -----

// CHECK: error[C014]: there is no target 'sm_50' (known: sm_90a, sm_100a)
module { gpu.module @kernels [#nvvm.target<chip = "sm_50">] {
  func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { return }
} }

// -----

// CHECK: error[C017]: a compilation takes one gpu.module with one kernel function, 0 found
module { }
