// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "lifetime", "mend": ["cluster barrier"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  u32 t = threadIdx.x, rank = RANK();
  box[t] = t;
  CLUSTER_SYNC();
  out[rank * 32 + t] = box[31 - t];
#ifndef FAULT
  CLUSTER_SYNC();
#endif
  if (rank == 0) ST_CLUSTER(MAPA(&box[t], 1), t); // @1
#ifndef FAULT
  CLUSTER_SYNC();
#endif
}
