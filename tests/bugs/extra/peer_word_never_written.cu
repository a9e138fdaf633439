// {"grid": 2, "cluster": 2, "verdict": "review", "kind": "uninitialised", "mend": ["write|stor|init"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  u32 t = threadIdx.x, rank = RANK();
#ifdef FAULT
  if (t < 31)
#endif
  box[t] = t + 100 * rank;
  CLUSTER_SYNC();
  out[rank * 32 + t] = LD_CLUSTER(MAPA(&box[t], rank ^ 1)); // @1
  CLUSTER_SYNC();
}
