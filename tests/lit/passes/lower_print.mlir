// RUN: %opt --split-input lower-print %s | FileCheck %s

// Each value lies at the next multiple of its size; equal formats are one constant; one buffer of the largest print serves all.
// CHECK: llvm.mlir.global internal constant @fa4_format1("done\0A\00")
// CHECK: llvm.mlir.global internal constant @fa4_format0("%d %f %d\0A\00") {addr_space = 1 : i32, alignment = 1 : i64}
// CHECK: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: func.func @kernel
// CHECK: %[[BUFFER:.*]] = llvm.alloca %{{.*}} x !llvm.array<20 x i8> {alignment = 8 : i64}
// CHECK: scf.if
module { gpu.module @kernels {
func.func @kernel(%i: i32, %f: f64, %c: i1) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  scf.if %c {
    // CHECK: %[[FORMAT:.*]] = llvm.mlir.addressof @fa4_format0 : !llvm.ptr<1>
    // CHECK: %[[A:.*]] = llvm.getelementptr %[[BUFFER]][0]
    // CHECK: llvm.store %arg0, %[[A]] {alignment = 4 : i64} : i32
    // CHECK: %[[B:.*]] = llvm.getelementptr %[[BUFFER]][8]
    // CHECK: llvm.store %arg1, %[[B]] {alignment = 8 : i64} : f64
    // CHECK: %[[C:.*]] = llvm.getelementptr %[[BUFFER]][16]
    // CHECK: llvm.store %arg0, %[[C]]
    // CHECK: %[[GENERIC:.*]] = llvm.addrspacecast %[[FORMAT]]
    // CHECK: llvm.call @vprintf(%[[GENERIC]], %[[BUFFER]]) : (!llvm.ptr, !llvm.ptr) -> i32
    "fa4.device_print"(%i, %f, %i) {format = "%d %f %d\0A", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (i32, f64, i32) -> ()
  }
  // CHECK: llvm.mlir.addressof @fa4_format0
  "fa4.device_print"(%i, %f, %i) {format = "%d %f %d\0A", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (i32, f64, i32) -> ()
  // CHECK: llvm.mlir.addressof @fa4_format1
  // CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: llvm.call @vprintf(%{{.*}}, %[[NONE]])
  "fa4.device_print"() {format = "done\0A", operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : () -> ()
  return
}
} }

// -----

// A kernel that prints nothing declares nothing.
// CHECK-LABEL: func.func @quiet
module { gpu.module @kernels {
// CHECK-NOT: vprintf
func.func @quiet() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  return
}
} }
