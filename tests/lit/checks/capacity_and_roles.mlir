// RUN: %opt --split-input check-resources %s | FileCheck %s

// The kernels of capacity_and_roles_errors.mlir, mended: each passes and is printed as it was.

// CHECK-LABEL: @too_much_shared_memory
module { gpu.module @kernels { func.func @too_much_shared_memory() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 18000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  %scores = "fa4.shared_alloc"() {name = "scores", dtype = f32, shape = array<i64: 40000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  return
} } }

// -----

// CHECK-LABEL: @role_outside_the_block
module { gpu.module @kernels { func.func @role_outside_the_block() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "late", first_warp = 2 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK-LABEL: @roles_that_overlap
module { gpu.module @kernels { func.func @roles_that_overlap() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 3 : i32, registers = 0 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 3 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK-LABEL: @registers_off_the_step
module { gpu.module @kernels { func.func @registers_off_the_step() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "odd", first_warp = 0 : i32, warps = 4 : i32, registers = 104 : i32}}
  return
} } }

// -----

// CHECK-LABEL: @half_a_warpgroup
module { gpu.module @kernels { func.func @half_a_warpgroup() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "half", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}}
  return
} } }

// -----

// CHECK-LABEL: @more_registers_than_the_launch
module { gpu.module @kernels { func.func @more_registers_than_the_launch() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  return
} } }

// -----

// CHECK-LABEL: @roles_of_half_warps
module { gpu.module @kernels { func.func @roles_of_half_warps() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
  return
} } }
