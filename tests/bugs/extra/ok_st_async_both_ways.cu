// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "none", "args": ["out"], "block": 32, "expected": "np.concatenate([np.concatenate([np.arange(32)[::-1]+100*(1-r)+i for i in range(5)]) for r in range(2)])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[2][32];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { MB_INIT(&full[s], 1); MB_INIT(&empty[s], 32); }
    FENCE_MBAR_INIT();
  }
  CLUSTER_SYNC();
  for (int i = 0; i < 5; ++i) {
    int s = i & 1, ph = (i >> 1) & 1;
    MB_WAIT_CLUSTER(&empty[s], ph ^ 1);
    if (t == 0) MB_ARRIVE_EXPECT(&full[s], 128);
    ST_ASYNC(MAPA(&box[s][t], rank ^ 1), rank * 100 + t + i, MAPA(&full[s], rank ^ 1));
    MB_WAIT_CLUSTER(&full[s], ph);
    out[(rank * 5 + i) * 32 + t] = box[s][31 - t];
    RMB_ARRIVE(MAPA(&empty[s], rank ^ 1));
  }
  CLUSTER_SYNC();
}
