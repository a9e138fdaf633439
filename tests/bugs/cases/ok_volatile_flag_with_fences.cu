// {"block": 32, "cluster": 1, "grid": 2, "kind": "none", "mend": [], "args": ["out", "scratch"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0, "scratch": 256}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out, volatile u32 *scratch) {
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    ((u32 *)scratch)[32 + t] = t * 3;
    __syncwarp();
    if (t == 0) {
      __threadfence();
      scratch[0] = 1;
    }
  } else {
    if (t == 0) {
      while (scratch[0] == 0) {}
      __threadfence();
    }
    __syncwarp();
    out[t] = ((u32 *)scratch)[32 + 31 - t];
  }
}
