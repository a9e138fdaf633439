// {"block": 128, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(128) k(u32 *out) {
  __shared__ u32 buf[128];
  u32 t = threadIdx.x;
  buf[t] = t;
  if (t < 64) NB_SYNC(1, 64);
  __syncthreads();
  if (t >= 64) NB_SYNC(1, 64); // ordered after the other pair's phase
  out[t] = buf[t ^ 64];
}
