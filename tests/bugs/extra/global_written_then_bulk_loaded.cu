// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["scratch", "out"], "block": 64, "scratch": 256, "expected": "np.arange(64)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *scratch, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  scratch[t] = t; // @1
#ifndef FAULT
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 256);
    BULK_LOAD(tile, scratch, 256, &full); // @2
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  out[t] = tile[63 - t];
}
