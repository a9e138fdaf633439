// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "none", "args": ["out"], "block": 64, "expected": "np.concatenate([np.arange(64)[::-1]+100+i for i in range(3)]+[np.arange(64)[::-1]+i for i in range(3)])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 box[2][64];
  u32 t = threadIdx.x, rank = RANK();
  for (int i = 0; i < 3; ++i) {
    box[i & 1][t] = rank * 100 + t + i;
    CLUSTER_ARRIVE();
    u32 own = i * rank;
    CLUSTER_WAIT();
    out[(rank * 3 + i) * 64 + t] = LD_CLUSTER(MAPA(&box[i & 1][63 - t], rank ^ 1)) + own - i * rank;
  }
  CLUSTER_ARRIVE();
  CLUSTER_WAIT();
}
