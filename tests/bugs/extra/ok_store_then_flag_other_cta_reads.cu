// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "none", "args": ["scratch", "out"], "block": 32, "scratch": 1024, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t] = t;
    FENCE_PROXY();
    __syncwarp();
    if (t == 0) {
      BULK_STORE(scratch, tile, 128);
      BULK_COMMIT();
      BULK_WAIT(0);
      ST_REL("gpu", scratch + 128, 1);
    }
  } else {
    if (t == 0) while (LD_ACQ("gpu", scratch + 128) == 0) {}
    __syncwarp();
    out[t] = scratch[31 - t];
  }
}
