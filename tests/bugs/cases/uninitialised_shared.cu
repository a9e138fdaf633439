// {"block": 64, "cluster": 1, "grid": 1, "kind": "uninitialised", "mend": ["write"], "args": ["out"], "verdict": "review", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[65];
  u32 t = threadIdx.x;
  buf[t] = t;
#ifndef FAULT
  if (t == 0) buf[64] = 9;
#endif
  __syncthreads();
  out[t] = buf[t + 1]; // @1
}
