// {"grid": 4, "cluster": 2, "verdict": "error", "kind": "none", "args": ["out", 3], "block": 64, "expected": "np.concatenate([np.arange(64)[::-1]]*3)"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(u32 *out, int n) {
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  if (blockIdx.x >= n) return;
  s[t] = t;
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[63 - t];
  CLUSTER_SYNC();
}
