// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["mapOut"], "block": 64, "out": 4096, "expected": "np.concatenate([np.arange(256)+i for i in range(4)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const __grid_constant__ CUtensorMap m) {
  __shared__ alignas(128) u32 slot[2][256];
  u32 t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    if (t == 0) BULK_WAIT_READ(1);
    NB_SYNC(1, 64);
    for (int j = 0; j < 4; ++j) slot[i & 1][j * 64 + t] = j * 64 + t + i;
    FENCE_PROXY();
    NB_SYNC(1, 64);
    if (t == 0) { TMA_STORE(&m, 0, 8 * i, slot[i & 1]); BULK_COMMIT(); }
  }
  if (t == 0) BULK_WAIT_READ(0);
}
