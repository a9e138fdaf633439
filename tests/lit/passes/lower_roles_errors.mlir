// RUN: %opt --expect-error --split-input lower-roles %s | FileCheck %s

// CHECK: error[C030]: role late has the warps 2 to 5, but the CTA has 4 warps
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "late", first_warp = 2 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK: error[C031]: the roles a and b both have the warps 3
// CHECK-NEXT: lower_roles_errors.mlir:[[# @LINE + 3]]:3 (a)
// CHECK: lower_roles_errors.mlir:[[# @LINE + 3]]:3 (b)
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 3 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK: error[C032]: role odd asks for 100 registers; setmaxnreg takes 24 to 256 in steps of 8
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "odd", first_warp = 0 : i32, warps = 4 : i32, registers = 100 : i32}}
  return
} } }

// -----

// CHECK: error[C033]: role half asks for 40 registers, but not all warps of its warpgroup do (warp 0: 40, warp 1: 40, warp 2: none, warp 3: none)
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "half", first_warp = 0 : i32, warps = 2 : i32, registers = 40 : i32}}
  return
} } }

// -----

// CHECK: error[C034]: the roles ask for 69,632 registers (a 4 x 32 x 80, b 8 x 32 x 232), but the launch allocates 64,512 (384 threads of 168)
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 4 : i32, registers = 80 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  return
} } }

// -----

// CHECK: error[C013]: a role needs a name, first_warp, warps and registers
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", warps = 4 : i32}}
  return
} } }

// -----

// CHECK: error[C022]: the CTA has 100 threads
module { gpu.module @kernels { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 100, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
  return
} } }
