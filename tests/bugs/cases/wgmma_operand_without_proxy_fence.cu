// {"block": 128, "cluster": 1, "grid": 1, "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["outf"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(128) k(float *out) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  u32 t = threadIdx.x;
  for (int i = t; i < 4096; i += 128) a[i] = 0x3f80; // @1
  for (int i = t; i < 512; i += 128) b[i] = 0x3f80; // @1
#ifndef FAULT
  FENCE_PROXY();
#endif
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  WG_FENCE();
  WGMMA_K64(d, DESC128(a), DESC128(b)); // @2
  WG_COMMIT();
  WG_WAIT(0);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
