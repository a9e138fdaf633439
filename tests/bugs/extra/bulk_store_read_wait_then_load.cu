// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wait_group 0"], "args": ["scratch", "out"], "block": 32, "scratch": 256, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  u32 t = threadIdx.x;
  tile[t] = t;
  FENCE_PROXY();
  __syncwarp();
  if (t == 0) {
    BULK_STORE(scratch, tile, 128); // @1
    BULK_COMMIT();
#ifdef FAULT
    BULK_WAIT_READ(0);
#else
    BULK_WAIT(0);
#endif
  }
  __syncwarp();
  out[t] = ((volatile u32 *)scratch)[31 - t]; // @2
}
