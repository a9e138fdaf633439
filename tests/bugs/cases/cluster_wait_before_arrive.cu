// {"block": 32, "cluster": 2, "grid": 2, "kind": "deadlock", "mend": ["arrive"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  u32 t = threadIdx.x, rank = RANK();
  box[t] = t + rank;
#ifdef FAULT
  if (rank == 0) CLUSTER_ARRIVE();
#else
  CLUSTER_ARRIVE();
#endif
  CLUSTER_WAIT(); // @1
  out[rank * 32 + t] = LD_CLUSTER(MAPA(&box[t], rank ^ 1));
  CLUSTER_SYNC();
}
