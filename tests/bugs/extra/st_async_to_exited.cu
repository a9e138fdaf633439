// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "lifetime", "mend": ["cluster barrier|wait"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 1);
  if (t == 0 && rank) MB_ARRIVE_EXPECT(&bar, 128);
  CLUSTER_SYNC();
  if (rank == 0) {
    ST_ASYNC(MAPA(&box[t], 1), 3 * t, MAPA(&bar, 1)); // @1
  } else {
#ifndef FAULT
    MB_WAIT(&bar, 0);
#endif
    out[t] = t;
  }
}
