// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "*", "mend": ["rank"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  u32 t = threadIdx.x, rank = RANK();
  box[t] = t + 100 * rank;
  CLUSTER_SYNC();
#ifdef FAULT
  u32 a = MAPA(&box[t], rank + 1); // @1
#else
  u32 a = MAPA(&box[t], rank ^ 1);
#endif
  out[rank * 32 + t] = LD_CLUSTER(a); // @1
  CLUSTER_SYNC();
}
