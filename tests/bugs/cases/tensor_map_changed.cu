// {"block": 32, "cluster": 1, "grid": 1, "kind": "proxy", "mend": ["fence.proxy.tensormap::generic.acquire"], "args": ["mapIn", "scratch", "in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0, "scratch": 256}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, u64 *copy, const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[8][32];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); }
  if (t < 16) copy[t] = ((const u64 *)&m)[t]; // @1
  __syncwarp();
  if (t == 0) {
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(copy), "l"(in + 256) : "memory"); // @1
#ifndef FAULT
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
#endif
    MB_ARRIVE_EXPECT(&full, 1024);
    TMA_LOAD(tile, copy, 0, 0, &full); // @2
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  for (int r = 0; r < 8; ++r) out[r * 32 + t] = tile[r][t];
}
