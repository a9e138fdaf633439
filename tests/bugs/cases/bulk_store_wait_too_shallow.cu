// {"block": 64, "cluster": 1, "grid": 1, "kind": "race", "mend": ["wait_group.read"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 tile[2][64];
  u32 t = threadIdx.x;
  for (int i = 0; i < 5; ++i) {
    if (t == 0 && i >= 2) {
#ifdef FAULT
      BULK_WAIT_READ(2);
#else
      BULK_WAIT_READ(1);
#endif
    }
    __syncthreads();
    tile[i & 1][t] = i * 100 + t; // @1
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + i * 64, tile[i & 1], 256); // @2
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT(0);
}
