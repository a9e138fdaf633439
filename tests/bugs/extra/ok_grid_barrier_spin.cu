// {"grid": 3, "cluster": 1, "verdict": "error", "kind": "none", "args": ["scratch", "out"], "block": 32, "scratch": 1024, "expected": "np.concatenate([np.arange(32)+100*((b+1)%3) for b in range(3)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  u32 t = threadIdx.x, b = blockIdx.x;
  scratch[32 + b * 32 + t] = t + 100 * b;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicAdd(scratch, 1);
    while (*(volatile u32 *)scratch < 3) {}
    __threadfence();
  }
  __syncthreads();
  out[b * 32 + t] = scratch[32 + (b + 1) % 3 * 32 + t];
}
