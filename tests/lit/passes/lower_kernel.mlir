// RUN: %opt lower-tma,lower-kernel %s | FileCheck %s

// Launch bounds become NVVM attributes; a tensor map becomes a 64-byte aligned grid constant; the fa4 attributes stay for the manifest.

// CHECK: llvm.func @kernel(%[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: i32, %{{.*}}: !llvm.ptr<1>)
// CHECK-SAME: fa4.block = array<i32: 64, 2, 1>
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxnreg = 128 : i32
// CHECK-SAME: nvvm.minctasm = 2 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 64, 2, 1>
module { gpu.module @kernels {
func.func @kernel(%map: !fa4.tensor_map, %i: i32, %p: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 64, 2, 1>, fa4.parameters = [{name = "map", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 2 : i64, box = array<i64: 32, 8>}}, {name = "i", kind = "scalar", dtype = "i32"}, {name = "p", kind = "pointer", dtype = "f32"}], fa4.cluster = array<i32: 2, 1, 1>, fa4.min_blocks = 2 : i32, fa4.max_registers = 128 : i32} {
  // CHECK: "prefetch.tensormap [$0];", "l,~{memory}" %[[MAP]]
  "fa4.tensor_map_prefetch"(%map) : (!fa4.tensor_map) -> ()
  // CHECK: llvm.return
  return
}
} }
