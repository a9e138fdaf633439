// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "barrier-misuse|deadlock", "mend": ["wait"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  u32 t = threadIdx.x, rank = RANK();
  CLUSTER_ARRIVE();
#ifdef FAULT
  if (rank == 0) CLUSTER_ARRIVE(); // @1
#else
  CLUSTER_WAIT();
  CLUSTER_ARRIVE();
#endif
  CLUSTER_WAIT();
#ifdef FAULT
  if (rank == 1) { CLUSTER_ARRIVE(); CLUSTER_WAIT(); }
#endif
  out[rank * 32 + t] = t;
}
