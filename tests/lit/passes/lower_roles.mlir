// RUN: %opt lower-roles %s | FileCheck %s

// Two neighbouring roles become one chain. 384 threads start with 65536 / 384 = 170, rounded down to 168 registers.

// CHECK: fa4.min_blocks = 1 : i32
// CHECK-SAME: fa4.roles = [{first_warp = 0 : i64, name = "producer", registers = 40 : i64, warps = 4 : i64}, {first_warp = 4 : i64, name = "consumer", registers = 232 : i64, warps = 8 : i64}]
module { gpu.module @kernels {
func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 384, 1, 1>} {
  // CHECK: %[[WARP:.*]] = "fa4.index"() {what = "warp"} : () -> i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: "fa4.set_max_registers"() {count = 40 : i64, direction = "decrease"}
  // CHECK: "fa4.nanosleep"
  scf.execute_region {
    %t = arith.constant 1 : i32
    "fa4.nanosleep"(%t) : (i32) -> ()
    scf.yield
  } {fa4.role = {name = "producer", first_warp = 0 : i32, warps = 4 : i32, registers = 40 : i32}}
  // CHECK: } else {
  // CHECK: %[[SHIFTED:.*]] = arith.subi %[[WARP]]
  // CHECK: arith.cmpi ult, %[[SHIFTED]], %c8_i32
  // CHECK: "fa4.set_max_registers"() {count = 232 : i64, direction = "increase"}
  // CHECK-NEXT: "fa4.block_sync"
  // CHECK: } {fa4.role = {{.*}}"consumer"
  // CHECK: } {fa4.role = {{.*}}"producer"
  scf.execute_region {
    "fa4.block_sync"() : () -> ()
    scf.yield
  } {fa4.role = {name = "consumer", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  // CHECK: "fa4.block_sync"
  "fa4.block_sync"() : () -> ()
  // A second chain of the same roles changes no register count.
  // CHECK-NOT: set_max_registers
  scf.execute_region {
    "fa4.wait_dependencies"() : () -> ()
    scf.yield
  } {fa4.role = {name = "consumer", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  // Another block of a role that follows at once is a chain of its own: as an else it would never be executed.
  // CHECK: "fa4.wait_dependencies"
  // CHECK: } {fa4.role = {{.*}}"consumer"
  // CHECK: "fa4.index"() {what = "warp"} : () -> i32
  // CHECK: scf.if
  // CHECK-NEXT: "fa4.launch_dependents"
  scf.execute_region {
    "fa4.launch_dependents"() : () -> ()
    scf.yield
  } {fa4.role = {name = "consumer", first_warp = 4 : i32, warps = 8 : i32, registers = 232 : i32}}
  // CHECK: return
  return
}
} }
