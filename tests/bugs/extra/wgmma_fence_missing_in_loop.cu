// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wgmma.fence"], "args": ["mapA", "mapB", "outf", 3], "block": 128, "out": 2048}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out, int n) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 9216);
    TMA_LOAD(a, &ma, 0, 0, &full);
    TMA_LOAD(b, &mb, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0};
#ifdef FAULT
  WG_FENCE();
#endif
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#ifndef FAULT
    WG_FENCE();
#endif
    WGMMA_K64(d, DESC128(a), DESC128(b)); // @1
    WG_COMMIT();
    WG_WAIT(0);
    for (int j = 0; j < 4; ++j) d[j] = d[j] * 0.5f; // @1
  }
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
