// RUN: %opt --expect-error lower-math %s | FileCheck %s

// CHECK: error[C023]: math.exp has no PTX instruction of its accuracy
// CHECK-NEXT: {{.*}}lower_math_errors.mlir:[[# @LINE + 4]]
// CHECK: error[C023]: math.tanh has no PTX instruction of its accuracy
module { gpu.module @kernels {
func.func @kernel(%x: f32, %p: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %y = math.exp %x : f32
  %z = math.tanh %y : f32
  llvm.store %z, %p : f32, !llvm.ptr<1>
  return
}
} }
