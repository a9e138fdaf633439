// {"block": 96, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ u32 buf[32];
  u32 t = threadIdx.x;
  if (t >= 64) return;
  if (t < 32) buf[t] = t;
  __syncthreads();
  out[t] = buf[t & 31];
}
