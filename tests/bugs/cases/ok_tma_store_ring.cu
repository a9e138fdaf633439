// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["mapOut"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const __grid_constant__ CUtensorMap m) {
  __shared__ alignas(128) u32 tile[2][8][32];
  u32 t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    if (t == 0) BULK_WAIT_READ(1);
    __syncthreads();
    for (int r = t >> 5; r < 8; r += 2) tile[i & 1][r][t & 31] = i * 1000 + r * 32 + (t & 31);
    FENCE_PROXY();
    __syncthreads();
    if (t == 0) {
      TMA_STORE(&m, 0, i * 8, tile[i & 1]);
      BULK_COMMIT();
    }
  }
  if (t == 0) BULK_WAIT_READ(0);
}
