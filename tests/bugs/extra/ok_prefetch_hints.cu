// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "mend": [], "args": ["mapIn", "in", "out"], "block": 32, "expected": "inp[:32]+inp[32:64]"}
#include "fn.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, const uint32_t *in, uint32_t *out) {
  __shared__ alignas(128) uint32_t tile[256];
  __shared__ Mbar full;
  uint64_t policy; uint32_t v;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&m) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&m), "r"(0), "r"(0) : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 128;" ::"l"(in) : "memory");
    full.init(1);
    fence_barrier_init();
    full.arrive_and_expect_tx(1024);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(smem_u32(tile)), "l"(&m), "r"(smem_u32(&full.v)), "r"(0), "r"(0), "l"(policy) : "memory");
  }
  __syncwarp();
  full.wait(0);
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.L2::256B.u32 %0, [%1], %2;" : "=r"(v) : "l"(in + 32 + threadIdx.x), "l"(policy));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(in));
  asm volatile("prefetchu.L1 [%0];" ::"l"(in));
  out[threadIdx.x] = tile[threadIdx.x] + v;
}
