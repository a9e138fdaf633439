// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wait_group.read"], "args": ["out"], "block": 64, "expected": "np.concatenate([np.arange(64)+i*1000 for i in range(3)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  u32 t = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    tile[t] = t + i * 1000; // @1
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + i * 64, tile, 256); // @2
      BULK_COMMIT();
#ifndef FAULT
      BULK_WAIT_READ(0);
#endif
    }
    __syncthreads();
  }
  if (t == 0) BULK_WAIT(0);
}
