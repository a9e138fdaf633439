// {"grid": 1, "cluster": 1, "verdict": "review", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["mapIn", "out"], "block": 64, "expected": "np.concatenate([inp[:256].reshape(-1,64)[:,::-1].reshape(-1),inp[256:512].reshape(-1,64)[:,::-1].reshape(-1)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const __grid_constant__ CUtensorMap m, u32 *out) {
  __shared__ alignas(128) u32 tile[256];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    if (t == 0) {
      MB_ARRIVE_EXPECT(&full, 1024);
      TMA_LOAD(tile, &m, 0, 8 * i, &full); // @2
    }
    __syncwarp();
    MB_WAIT(&full, i);
    for (int j = 0; j < 4; ++j) out[i * 256 + j * 64 + t] = tile[j * 64 + 63 - t]; // @1
#ifndef FAULT
    FENCE_PROXY();
#endif
    __syncthreads();
  }
}
