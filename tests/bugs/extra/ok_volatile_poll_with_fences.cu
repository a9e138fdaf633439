// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "none", "args": ["out", "scratch"], "block": 64, "scratch": 1024, "expected": "np.arange(64)[::-1]*3"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out, u32 *scratch) {
  u32 t = threadIdx.x;
  volatile u32 *flag = scratch + 128;
  if (blockIdx.x == 0) {
    scratch[t] = 3 * t;
    __threadfence();
    __syncthreads();
    if (t == 0) { __threadfence(); *flag = 1; }
  } else {
    if (t == 0) { while (*flag == 0) __nanosleep(20); __threadfence(); }
    __syncthreads();
    out[t] = scratch[63 - t];
  }
}
