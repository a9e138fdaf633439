// {"block": 32, "cluster": 1, "grid": 1, "kind": "race", "mend": ["lane"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 best;
  u32 t = threadIdx.x;
#ifdef FAULT
  best = t; // @1
#else
  if (t == 31) best = t;
#endif
  __syncthreads();
  out[t] = best + t;
}
