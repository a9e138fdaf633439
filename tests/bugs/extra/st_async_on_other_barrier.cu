// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race", "mend": ["wait"], "args": ["out"], "block": 32, "expected": "np.arange(32)[::-1]*3"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar[2];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&bar[0], 1); MB_INIT(&bar[1], 1); FENCE_MBAR_INIT(); if (rank) { MB_ARRIVE_EXPECT(&bar[1], 128); MB_ARRIVE(&bar[0]); } }
  CLUSTER_SYNC();
  if (rank == 0) {
    ST_ASYNC(MAPA(&box[t], 1), 3 * t, MAPA(&bar[1], 1)); // @1
  } else {
#ifdef FAULT
    MB_WAIT(&bar[0], 0);
#else
    MB_WAIT(&bar[1], 0);
#endif
    out[t] = box[31 - t]; // @2
  }
  CLUSTER_SYNC();
}
