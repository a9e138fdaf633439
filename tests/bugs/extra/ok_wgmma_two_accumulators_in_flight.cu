// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["mapA", "mapB", "outf", 4], "block": 128, "out": 4096}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out, int n) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) { MB_ARRIVE_EXPECT(&full, 9216); TMA_LOAD(a, &ma, 0, 0, &full); TMA_LOAD(b, &mb, 0, 0, &full); }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0}, e[4] = {0, 0, 0, 0}, sum = 0;
  WG_FENCE();
  WGMMA_K64(d, DESC128(a), DESC128(b));
  WG_COMMIT();
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    WG_FENCE();
    WGMMA_K64(e, DESC128(a), DESC128(b));
    WG_COMMIT();
    WG_WAIT(1);
    sum += d[0] + d[1] * d[2] - d[3];
    WG_FENCE();
    WGMMA_K64(d, DESC128(a), DESC128(b));
    WG_COMMIT();
    WG_WAIT(1);
    sum -= e[0] * 2.0f + e[3];
  }
  WG_WAIT(0);
  out[t] = sum + d[0];
}
