// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "init", "mend": ["__syncthreads|barrier"], "args": ["out"], "block": 64, "expected": "np.arange(64)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  buf[t] = t;
#ifdef FAULT
  __syncthreads();
#endif
  INIT(&bar, 64); // @1
#ifndef FAULT
  __syncthreads();
#endif
  MB_ARRIVE(&bar); // @2
  MB_WAIT(&bar, 0); // @2
  out[t] = buf[63 - t];
}
