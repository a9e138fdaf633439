// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.tensormap::generic.release"], "args": ["mapIn", "in", "out", "scratch"], "scratch": 512, "block": 32}
#include "fn.cuh"
// Block 0 patches a copy of the map in global memory; block 1 loads with it after a flag.
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, const uint32_t *in, uint32_t *out, uint32_t *scratch) {
  __shared__ alignas(128) uint32_t tile[256];
  __shared__ Mbar full;
  CUtensorMap *map = reinterpret_cast<CUtensorMap *>(scratch + 32);
  uint32_t t = threadIdx.x;
  if (blockIdx.x == 0) {
    reinterpret_cast<uint32_t *>(map)[t] = reinterpret_cast<const uint32_t *>(&m)[t];
    __syncwarp();
    if (t == 0) {
      asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(in + 32) : "memory"); // @1
#ifndef FAULT
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
#endif
      asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(scratch) : "memory");
    }
  } else if (t == 0) {
    full.init(1);
    fence_barrier_init();
    uint32_t v;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(scratch) : "memory"); while (!v);
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    full.arrive_and_expect_tx(1024);
    tma_2d(tile, map, 0, 0, full); // @2
    full.wait(0);
    out[0] = tile[0];
  }
}
