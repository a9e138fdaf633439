// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "lifetime", "mend": ["barrier"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(8) u32 box[40];
  u32 t = threadIdx.x, rank = RANK();
  u64 *bar = (u64 *)(box + 32);
  if (t == 0) { MB_INIT(bar, 32); FENCE_MBAR_INIT(); } // @1
  CLUSTER_SYNC();
#ifdef FAULT
  u32 at = 2 * t;
#else
  u32 at = t;
#endif
  if (rank == 0) {
    if (at < 34) ST_CLUSTER(MAPA(&box[at], 1), t); // @2
    RMB_ARRIVE(MAPA(bar, 1));
  } else {
    MB_WAIT_CLUSTER(bar, 0);
    out[t] = box[t & 14];
  }
  CLUSTER_SYNC();
}
