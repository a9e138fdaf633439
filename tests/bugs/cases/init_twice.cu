// {"block": 64, "cluster": 1, "grid": 1, "kind": "lifetime", "mend": ["inval"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    if (t == 0) {
      MB_INIT(&bar, 64); // @1
      FENCE_MBAR_INIT();
    }
    __syncthreads();
    buf[t] = t * (i + 1);
    MB_ARRIVE(&bar);
    MB_WAIT(&bar, 0);
    out[i * 64 + t] = buf[63 - t];
    __syncthreads();
#ifndef FAULT
    if (t == 0) MB_INVAL(&bar);
    __syncthreads();
#endif
  }
}
