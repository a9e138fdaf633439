// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wait_group.read"], "args": ["mapOut"], "block": 32, "out": 4096}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m) {
  __shared__ alignas(128) u32 slot[3][256];
  u32 t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    if (i >= 3 && t == 0) {
#ifdef FAULT
      BULK_WAIT_READ(3);
#else
      BULK_WAIT_READ(2);
#endif
    }
    __syncwarp();
    for (int j = 0; j < 8; ++j) slot[i % 3][j * 32 + t] = i * 1000 + j * 32 + t; // @1
    FENCE_PROXY();
    __syncwarp();
    if (t == 0) {
      TMA_STORE(&m, 0, 8 * i, slot[i % 3]); // @2
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT(0);
}
