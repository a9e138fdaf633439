// {"block": 64, "cluster": 1, "grid": 4, "kind": "none", "mend": [], "args": ["in", "out", "scratch"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0, "scratch": 256}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out, u32 *scratch) {
  __shared__ u32 s[64];
  __shared__ u32 last;
  u32 t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 32; d; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    scratch[1 + blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(scratch, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && t < gridDim.x) out[t] = scratch[1 + t] * 2;
}
