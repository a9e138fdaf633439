// RUN: %opt --split-input --expect-error check-resources %s | FileCheck %s

// check-resources alone refuses what place-shared-memory and lower-roles would; capacity_and_roles.mlir holds the same kernels mended.

// CHECK: error[C025]: kernel too_much_shared_memory needs 240,000 bytes of shared memory, 7,552 more than the 232,448 that a CTA of sm_90a can have; largest: scores (160,000 bytes), tile (80,000 bytes)
module { gpu.module @kernels { func.func @too_much_shared_memory() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 20000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  %scores = "fa4.shared_alloc"() {name = "scores", dtype = f32, shape = array<i64: 40000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  return
} } }

// -----

// CHECK: error[C030]: role late has the warps 2 to 5, but the CTA has 4 warps
module { gpu.module @kernels { func.func @role_outside_the_block() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "late", first_warp = 2 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK: error[C031]: the roles a and b both have the warps 3
module { gpu.module @kernels { func.func @roles_that_overlap() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 3 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
} } }

// -----

// CHECK: error[C032]: role odd asks for 100 registers; setmaxnreg takes 24 to 256 in steps of 8
module { gpu.module @kernels { func.func @registers_off_the_step() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "odd", first_warp = 0 : i32, warps = 4 : i32, registers = 100 : i32}}
  return
} } }

// -----

// CHECK: error[C033]: role half asks for 40 registers, but not all warps of its warpgroup do (warp 0: 40, warp 1: 40, warp 2: none, warp 3: none)
module { gpu.module @kernels { func.func @half_a_warpgroup() attributes {fa4.kernel, fa4.block = array<i32: 256, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "half", first_warp = 0 : i32, warps = 2 : i32, registers = 40 : i32}}
  return
} } }

// -----

// CHECK: error[C034]: the roles ask for 69,632 registers (a 4 x 32 x 80, b 8 x 32 x 232), but the launch allocates 64,512 (384 threads of 168)
module { gpu.module @kernels { func.func @more_registers_than_the_launch() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 4 : i32, registers = 80 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  return
} } }

// -----

// CHECK: error[C022]: the CTA has 100 threads
module { gpu.module @kernels { func.func @roles_of_half_warps() attributes {fa4.kernel, fa4.block = array<i32: 100, 1, 1>} {
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 1 : i32, registers = 0 : i32}}
  return
} } }

// -----

// All of a kernel at once.

// CHECK-DAG: error[C025]: kernel several
// CHECK-DAG: error[C030]: role late
// CHECK-DAG: error[C031]: the roles a and b
module { gpu.module @kernels { func.func @several() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 60000>, alignment = 16 : i64, swizzle = "none"} : () -> !fa4.shared
  scf.execute_region { scf.yield } {fa4.role = {name = "a", first_warp = 0 : i32, warps = 2 : i32, registers = 0 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "b", first_warp = 1 : i32, warps = 2 : i32, registers = 0 : i32}}
  scf.execute_region { scf.yield } {fa4.role = {name = "late", first_warp = 3 : i32, warps = 2 : i32, registers = 0 : i32}}
  return
} } }
