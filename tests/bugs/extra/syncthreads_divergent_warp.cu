// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse|deadlock", "mend": ["warp|diverg|converge"], "args": ["out"], "block": 64}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  s[t] = t;
#ifdef FAULT
  if (t != 5) {
    __syncthreads(); // @1
    out[t] = s[63 - t];
  } else {
    __syncthreads(); // @1
    out[t] = s[0] + 1;
  }
#else
  __syncthreads();
  out[t] = t != 5 ? s[63 - t] : s[0] + 1;
#endif
}
