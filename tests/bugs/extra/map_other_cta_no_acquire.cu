// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.tensormap::generic.acquire"], "args": ["mapIn", "scratch", "in", "out"], "block": 32, "scratch": 512}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, u64 *copy, const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[256];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  u32 *flag = (u32 *)(copy + 32);
  if (blockIdx.x == 0) {
    if (t < 16) copy[t] = ((const u64 *)&m)[t];
    __syncwarp();
    if (t == 0) {
      asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(copy), "l"(in + 256) : "memory"); // @1
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      ST_REL("gpu", flag, 1);
    }
  } else {
    INIT(&full, 1);
    if (t == 0) {
      while (LD_ACQ("gpu", flag) == 0) {}
#ifndef FAULT
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
#endif
      MB_ARRIVE_EXPECT(&full, 1024);
      TMA_LOAD(tile, copy, 0, 0, &full); // @2
    }
    __syncwarp();
    MB_WAIT(&full, 0);
    for (int r = 0; r < 8; ++r) out[r * 32 + t] = tile[r * 32 + t];
  }
}
