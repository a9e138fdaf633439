// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "*", "mend": ["index"], "args": ["out"], "block": 32, "smem": 128, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern __shared__ u32 dyn[];
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  u32 t = threadIdx.x;
#ifdef FAULT
  dyn[t + 1] = t; // @1
  __syncwarp();
  out[t] = dyn[32 - t];
#else
  dyn[t] = t;
  __syncwarp();
  out[t] = dyn[31 - t];
#endif
}
