// {"block": 32, "cluster": 2, "grid": 2, "kind": "lifetime", "mend": ["cluster barrier"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 full, empty;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&full, 32); MB_INIT(&empty, 32); FENCE_MBAR_INIT(); }
  CLUSTER_SYNC();
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) {
      if (i) MB_WAIT_CLUSTER(&empty, (i - 1) & 1);
      ST_CLUSTER(MAPA(&box[t], 1), i * 100 + t);
      RMB_ARRIVE(MAPA(&full, 1));
    } else {
      MB_WAIT_CLUSTER(&full, i & 1);
      out[i * 32 + t] = box[31 - t];
      RMB_ARRIVE(MAPA(&empty, 0)); // @1
    }
  }
#ifndef FAULT
  if (rank == 0) MB_WAIT_CLUSTER(&empty, 0);
#endif
}
