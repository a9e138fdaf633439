// RUN: %opt place-shared-memory %s | FileCheck %s

// Large alignments first, barriers last; an overlay lies where its array lies, and the group takes the larger size.

module { gpu.module @kernels {
// CHECK: fa4.shared_bytes = 10304 : i64
func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} {
  // CHECK: fa4.offset = 10240 : i64, name = "full"
  %full = "fa4.mbarrier_alloc"() {name = "full", count = 2 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
  // CHECK: fa4.offset = 8192 : i64, name = "row"
  %row = "fa4.shared_alloc"() {name = "row", dtype = f32, shape = array<i64: 8>, alignment = 4 : i64, swizzle = "none"} : () -> !fa4.shared
  // CHECK: fa4.offset = 0 : i64, name = "tile"
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = bf16, shape = array<i64: 64, 64>, alignment = 16 : i64, swizzle = "128B"} : () -> !fa4.shared
  // CHECK: fa4.offset = 8192 : i64, name = "wide", overlay = "row"
  %wide = "fa4.shared_alloc"() {name = "wide", dtype = f32, shape = array<i64: 512>, alignment = 16 : i64, swizzle = "none", overlay = "row"} : () -> !fa4.shared
  // CHECK: fa4.offset = 10256 : i64, name = "empty"
  %empty = "fa4.mbarrier_alloc"() {name = "empty", count = 5 : i64, arrivals = 128 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  return
}
} }
