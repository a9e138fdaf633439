// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["a", "mapB", "outf"], "block": 128, "out": 2048}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const unsigned char *in, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) unsigned char a[8192];
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  for (int i = 0; i < 4; ++i) CP_ASYNC16(a + (i * 128 + t) * 16, in + (i * 128 + t) * 16); // @1
  CP_COMMIT();
  CP_WAIT(0);
#ifndef FAULT
  FENCE_PROXY();
#endif
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 1024);
    TMA_LOAD(b, &mb, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0};
  WG_FENCE();
  WGMMA_K64(d, DESC128(a), DESC128(b)); // @2
  WG_COMMIT();
  WG_WAIT(0);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
