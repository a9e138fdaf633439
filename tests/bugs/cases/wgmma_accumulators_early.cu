// {"block": 128, "cluster": 1, "grid": 1, "kind": "race", "mend": ["wgmma.wait_group 0"], "args": ["outf"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(128) k(float *out) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  u32 t = threadIdx.x;
  for (int i = t; i < 4096; i += 128) a[i] = 0x3f80;
  for (int i = t; i < 512; i += 128) b[i] = 0x3f80;
  FENCE_PROXY();
  __syncthreads();
  float d[4] = {0, 0, 0, 0};
  WG_FENCE();
  WGMMA_K64(d, DESC128(a), DESC128(b)); // @1
  WG_COMMIT();
#ifndef FAULT
  WG_WAIT(0);
#endif
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i]; // @2
#ifdef FAULT
  WG_WAIT(0);
#endif
}
