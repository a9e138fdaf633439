// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ unsigned short h[128];
  __shared__ unsigned char c[64];
  u32 t = threadIdx.x;
  h[2 * t] = t;
  h[2 * t + 1] = t * 2;
  c[t] = t;
  ((unsigned char *)out)[1024 + t] = t; // neighbours in one word, different warps
  __syncthreads();
  out[t] = h[127 - t] + c[63 - t];
}
