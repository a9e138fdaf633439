// RUN: %opt --expect-error --split-input lower-memory %s | FileCheck %s

// CHECK: error[C020]: 'tile' has no offset in shared memory
module { gpu.module @kernels {
func.func @kernel(%i: i32) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  %a = "fa4.shared_address"(%tile, %i) : (!fa4.shared, i32) -> !llvm.ptr<3>
  return
}
} }

// -----

// CHECK: error[C021]: an address is taken of a shared array or barrier that is not directly an allocation's result
module { gpu.module @kernels {
func.func @kernel(%i: i32, %c: i1) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  %other = arith.select %c, %tile, %tile : !fa4.shared
  %a = "fa4.shared_address"(%other, %i) : (!fa4.shared, i32) -> !llvm.ptr<3>
  return
}
} }
