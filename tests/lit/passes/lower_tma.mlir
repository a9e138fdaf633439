// RUN: %opt lower-tma %s | FileCheck %s

module { gpu.module @kernels {
func.func @kernel(%map: !fa4.tensor_map, %i: i32, %p: !llvm.ptr<1>) attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.parameters = [{name = "map", kind = "tensor_map", dtype = "f32", tensor_map = {dtype = "f32", rank = 2 : i64, box = array<i64: 32, 8>}}, {name = "i", kind = "scalar", dtype = "i32"}, {name = "p", kind = "pointer", dtype = "f32"}]} {
  %bar = "fa4.mbarrier_alloc"() {name = "bar", count = 2 : i64, arrivals = 3 : i64, scope = "cluster"} : () -> !fa4.mbarrier
  %tile = "fa4.shared_alloc"() {name = "tile", dtype = f32, shape = array<i64: 256>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
  %mask = arith.constant 3 : i16
  // CHECK: %[[MAP:.*]] = builtin.unrealized_conversion_cast %arg0 : !fa4.tensor_map to !llvm.ptr
  // CHECK: "prefetch.tensormap [$0];", "l,~{memory}" %[[MAP]]
  "fa4.tensor_map_prefetch"(%map) : (!fa4.tensor_map) -> ()
  // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {{[{]}}$2, $3{{[}]}}], [$4];", "r,l,r,r,r,~{memory}"
  "fa4.tma_load"(%map, %tile, %i, %bar, %i, %i, %i) {bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i32, i32) -> ()
  // A cache policy is made once and given as the last operand.
  // CHECK: %[[POLICY:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 0f3F800000;", "=l"
  // CHECK: .multicast::cluster.L2::cache_hint [$0], [$1, {{[{]}}$2, $3{{[}]}}], [$4], $5, $6;", "r,l,r,r,r,h,l,~{memory}"
  "fa4.tma_load_multicast"(%map, %tile, %i, %bar, %i, %mask, %i, %i) {bytes = 1024 : i64, cache = "evict_first"} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, i16, i32, i32) -> ()
  // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$0, {{[{]}}$1, $2{{[}]}}], [$3];"
  "fa4.tma_store"(%map, %tile, %i, %i, %i) {reduce = "none", bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, i32, i32) -> ()
  // CHECK: "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [$0,
  "fa4.tma_store"(%map, %tile, %i, %i, %i) {reduce = "add", bytes = 1024 : i64} : (!fa4.tensor_map, !fa4.shared, i32, i32, i32) -> ()
  // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
  "fa4.bulk_load"(%tile, %i, %p, %i, %bar, %i) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()
  // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1], $2, [$3], $4;"
  "fa4.bulk_load_multicast"(%tile, %i, %p, %i, %bar, %i, %mask) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32, i16) -> ()
  // CHECK: "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;"
  "fa4.bulk_store"(%p, %tile, %i, %i) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()
  // CHECK: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];"
  "fa4.bulk_push"(%tile, %i, %tile, %i, %i, %bar, %i, %i) : (!fa4.shared, i32, !fa4.shared, i32, i32, !fa4.mbarrier, i32, i32) -> ()
  // CHECK: "cp.async.bulk.commit_group;"
  "fa4.bulk_commit"() : () -> ()
  // CHECK: "cp.async.bulk.wait_group.read 1;"
  "fa4.bulk_wait"() {pending = 1 : i64, read = true} : () -> ()
  // CHECK: "cp.async.bulk.wait_group 0;"
  "fa4.bulk_wait"() {pending = 0 : i64, read = false} : () -> ()
  // CHECK: "cp.async.cg.shared.global [$0], [$1], 16;"
  "fa4.copy_async"(%tile, %i, %p) {bytes = 16 : i64, cache = "cg"} : (!fa4.shared, i32, !llvm.ptr<1>) -> ()
  // CHECK: "cp.async.commit_group;"
  "fa4.copy_async_commit"() : () -> ()
  // CHECK: "cp.async.wait_group 2;"
  "fa4.copy_async_wait"() {pending = 2 : i64} : () -> ()
  return
}
} }
