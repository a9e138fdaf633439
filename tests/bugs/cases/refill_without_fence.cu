// {"block": 64, "cluster": 1, "grid": 1, "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["in", "out"], "verdict": "review", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full, empty;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full, 1); MB_INIT(&empty, 64); FENCE_MBAR_INIT(); }
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    if (t == 0) {
      if (i) MB_WAIT(&empty, (i - 1) & 1);
      MB_ARRIVE_EXPECT(&full, 256);
      BULK_LOAD(tile, in + i * 64, 256, &full); // @2
    }
    __syncwarp();
    MB_WAIT(&full, i & 1);
    out[i * 64 + t] = tile[63 - t]; // @1
#ifndef FAULT
    FENCE_PROXY();
#endif
    MB_ARRIVE(&empty);
  }
}
