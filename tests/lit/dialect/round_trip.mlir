// RUN: %opt fa4-verify %s | %opt fa4-verify - | FileCheck %s

// The dialect's types and operations print and parse again.

module { gpu.module @kernels {
// CHECK-LABEL: func.func @kernel(%arg0: !llvm.ptr<1>, %arg1: !fa4.tensor_map)
func.func @kernel(%out: !llvm.ptr<1>, %map: !fa4.tensor_map) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>,
    fa4.parameters = [{name = "out", kind = "pointer", dtype = "f32"},
                      {name = "map", kind = "tensor_map", dtype = "bf16", tensor_map = {dtype = "bf16", rank = 2 : i64, box = array<i64: 64, 8>}}]} {
  %zero = arith.constant 0 : i32
  // CHECK: %[[TILE:.*]] = "fa4.shared_alloc"() {alignment = 128 : i64, dtype = bf16, name = "tile", shape = array<i64: 8, 64>, swizzle = "128B"} : () -> !fa4.shared
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 8, 64>, alignment = 128 : i64, swizzle = "128B"} : () -> !fa4.shared
  // CHECK: %[[FULL:.*]] = "fa4.mbarrier_alloc"() {{.*}} : () -> !fa4.mbarrier
  %full = "fa4.mbarrier_alloc"() {name = "full", count = 2 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
  // CHECK: "fa4.mbarrier_init"(%[[FULL]]) : (!fa4.mbarrier) -> ()
  "fa4.mbarrier_init"(%full) : (!fa4.mbarrier) -> ()
  // CHECK: "fa4.tma_load"(%arg1, %[[TILE]], %{{.*}}, %[[FULL]], %{{.*}}) {bytes = 1024 : i64}
  "fa4.tma_load"(%map, %tile, %zero, %full, %zero, %zero, %zero) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
  // CHECK: scf.execute_region
  scf.execute_region {
    // CHECK: "fa4.load"(%arg0) {order = "acquire", scope = "gpu"} : (!llvm.ptr<1>) -> i32
    %flag = "fa4.load"(%out) {order = "acquire", scope = "gpu"} : (!llvm.ptr<1>) -> i32
    scf.yield
  // CHECK: } {fa4.role = {first_warp = 0 : i32, name = "reader", registers = 0 : i32, warps = 4 : i32}}
  } {fa4.role = {name = "reader", first_warp = 0 : i32, warps = 4 : i32, registers = 0 : i32}}
  return
}
} }
