// {"block": 32, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ volatile u32 n;
  u32 t = threadIdx.x;
  n = 7;
  __syncwarp();
  out[t] = n + t;
}
