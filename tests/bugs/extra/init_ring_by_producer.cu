// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "init", "mend": ["__syncthreads|barrier"], "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[:64].reshape(2,32)[:,::-1].reshape(-1)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[2][32];
  __shared__ alignas(8) u64 full[2];
  u32 t = threadIdx.x, lane = t & 31;
  if (t == 32) {
    for (int i = 0; i < 2; ++i) MB_INIT(&full[i], 1); // @1
    FENCE_MBAR_INIT();
  }
#ifndef FAULT
  __syncthreads();
#endif
  if (t >= 32) {
    if (lane == 0)
      for (int i = 0; i < 2; ++i) {
        MB_ARRIVE_EXPECT(&full[i], 128);
        BULK_LOAD(tile[i], in + 32 * i, 128, &full[i]);
      }
  } else {
    for (int i = 0; i < 2; ++i) {
      MB_WAIT(&full[i], 0); // @2
      out[i * 32 + lane] = tile[i][31 - lane];
    }
  }
}
