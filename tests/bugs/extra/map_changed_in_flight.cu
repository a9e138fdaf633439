// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race|proxy", "mend": ["wait"], "args": ["mapIn", "scratch", "in", "out"], "block": 32, "scratch": 256}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, u64 *copy, const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[2][256];
  __shared__ alignas(8) u64 full[2];
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full[0], 1); MB_INIT(&full[1], 1); FENCE_MBAR_INIT(); }
  if (t < 16) copy[t] = ((const u64 *)&m)[t];
  __syncwarp();
  if (t == 0) {
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    MB_ARRIVE_EXPECT(&full[0], 1024);
    TMA_LOAD(tile[0], copy, 0, 0, &full[0]); // @1
#ifndef FAULT
    MB_WAIT(&full[0], 0);
#endif
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(copy), "l"(in + 256) : "memory"); // @2
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    MB_ARRIVE_EXPECT(&full[1], 1024);
    TMA_LOAD(tile[1], copy, 0, 0, &full[1]);
  }
  __syncwarp();
  MB_WAIT(&full[0], 0);
  MB_WAIT(&full[1], 0);
  for (int r = 0; r < 8; ++r) out[r * 32 + t] = tile[0][r * 32 + t] + tile[1][r * 32 + t];
}
