// PTX as inline functions, in the manner of the usual libraries: what a fault names is the line that calls them.
#pragma once
#include <cuda.h>
#include <stdint.h>
#include <cuda_bf16.h>
#define DEV __device__ __forceinline__
DEV uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
DEV uint32_t cta_rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
DEV bool elect_one() {
  uint32_t p = 0;
  asm volatile("{\n .reg .pred P;\n .reg .b32 L;\n elect.sync L|P, 0xffffffff;\n selp.b32 %0, 1, 0, P;\n}" : "=r"(p));
  return p;
}
DEV uint32_t map_rank(uint32_t a, uint32_t rank) { uint32_t r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
DEV void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
DEV void cluster_sync() { cluster_arrive(); cluster_wait(); }
DEV void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEV void fence_view_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEV void named_sync(uint32_t n, uint32_t id) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
DEV void named_arrive(uint32_t n, uint32_t id) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

struct Mbar {
  uint64_t v;
  DEV void init(uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(&v)), "r"(n) : "memory"); }
  DEV void inval() { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_u32(&v)) : "memory"); }
  DEV void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(&v)) : "memory"); }
  DEV void arrive_and_expect_tx(uint32_t n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(&v)), "r"(n) : "memory"); }
  DEV void expect_tx(uint32_t n) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(&v)), "r"(n) : "memory"); }
  DEV bool try_wait(uint32_t parity) {
    uint32_t ok;
    asm volatile("{\n .reg .pred P;\n mbarrier.try_wait.parity.shared::cta.b64 P, [%1], %2;\n selp.b32 %0, 1, 0, P;\n}" : "=r"(ok) : "r"(smem_u32(&v)), "r"(parity) : "memory");
    return ok;
  }
  DEV bool try_wait_cluster(uint32_t parity) {
    uint32_t ok;
    asm volatile("{\n .reg .pred P;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P, [%1], %2;\n selp.b32 %0, 1, 0, P;\n}" : "=r"(ok) : "r"(smem_u32(&v)), "r"(parity) : "memory");
    return ok;
  }
  DEV void wait(uint32_t parity) { while (!try_wait(parity)) {} }
  DEV void wait_cluster(uint32_t parity) { while (!try_wait_cluster(parity)) {} }
  DEV void arrive_remote(uint32_t cta, uint32_t pred = 1) { // as ClusterBarrier::arrive(cta_id, pred)
    asm volatile("{\n .reg .pred p;\n .reg .b32 remAddr32;\n setp.eq.u32 p, %2, 1;\n @p mapa.shared::cluster.u32 remAddr32, %0, %1;\n @p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remAddr32];\n}"
                 ::"r"(smem_u32(&v)), "r"(cta), "r"(pred) : "memory");
  }
};
DEV void tma_2d(void *d, const CUtensorMap *m, int x, int y, Mbar &b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_u32(d)), "l"(m), "r"(smem_u32(&b.v)), "r"(x), "r"(y) : "memory");
}
DEV void tma_2d_mc(void *d, const CUtensorMap *m, int x, int y, Mbar &b, uint16_t mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(smem_u32(d)), "l"(m), "r"(smem_u32(&b.v)), "h"(mask), "r"(x), "r"(y) : "memory");
}
DEV void tma_store_2d(const CUtensorMap *m, const void *s, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(m), "r"(smem_u32(s)), "r"(x), "r"(y) : "memory");
}
DEV void tma_reduce_add_2d(const CUtensorMap *m, const void *s, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %3}], [%1];" ::"l"(m), "r"(smem_u32(s)), "r"(x), "r"(y) : "memory");
}
DEV void bulk_load(void *d, const void *s, uint32_t n, Mbar &b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_u32(d)), "l"(s), "r"(n), "r"(smem_u32(&b.v)) : "memory");
}
DEV void bulk_store(void *d, const void *s, uint32_t n) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(d), "r"(smem_u32(s)), "r"(n) : "memory"); }
DEV void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> DEV void store_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N> DEV void store_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
DEV void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void warpgroup_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
DEV uint64_t desc_sw128(const void *p) { return (1ull << 62) | (64ull << 32) | (1ull << 16) | ((smem_u32(p) & 0x3ffff) >> 4); }
DEV void mma_64x8x16(float (&d)[4], uint64_t a, uint64_t b, int scale = 1) {
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %6, 0;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(scale));
}
DEV void mma_k64(float (&d)[4], const void *a, const void *b, int scale = 1) {
#pragma unroll
  for (int k = 0; k < 4; ++k) mma_64x8x16(d, desc_sw128(a) + 2 * k, desc_sw128(b) + 2 * k, k ? 1 : scale);
}
template <int R> DEV void reg_alloc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R)); }
template <int R> DEV void reg_dealloc() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R)); }
DEV void store_acc(float *o, const float (&d)[4], int t) { // t: thread of the warpgroup
  int r = t / 32 * 16 + t % 32 / 4, c = t % 4 * 2;
  *reinterpret_cast<float2 *>(o + r * 8 + c) = make_float2(d[0], d[1]);
  *reinterpret_cast<float2 *>(o + (r + 8) * 8 + c) = make_float2(d[2], d[3]);
}
